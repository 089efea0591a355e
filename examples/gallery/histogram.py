"""A histogram of categories

NHANES, education of adults. One person is in one bar, so all bars together cost epsilon once, and the noise is a few
people whatever the size of a bar.
"""

import matplotlib.pyplot as plt

import discreet
from discreet.datasets import NHANES_CATEGORIES

people = discreet.datasets.load_nhanes()
levels = NHANES_CATEGORIES["education"]
counts = discreet.histogram(
    people["education"].drop_null().to_pylist(), categories=levels, epsilon=0.2, unit="person", rng=discreet.Seeded(4)
)
plain = people.to_pandas()["education"].value_counts()
for level in levels:
    print(f"{level}: {counts.value[level]:,} (without privacy {plain[level]:,})")

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
counts.plot(ax=ax).plot(range(len(levels)), plain[list(levels)], "kx", label="without privacy")
ax.legend(fontsize=8, frameon=False)
