"""A density without a support

NHANES, body mass index. Where the column lies, how wide the bins are and where they may be wide is found privately.
The band holds for all bins at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import discreet

index = discreet.datasets.load_nhanes()["bmi"]
curve = discreet.density(index, epsilon=1.0, unit="person", rng=discreet.Seeded(5))
print(f"{len(curve.value.heights)} bins from {curve.value.edges[0]:.1f} to {curve.value.edges[-1]:.1f}")
print(f"highest near {curve.value.edges[np.argmax(curve.value.heights)]:.0f}")

figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
curve.plot(ax=ax)
ax.hist(np.asarray(index.drop_null()), bins=80, density=True, histtype="step", color="black", label="without privacy")
ax.legend(fontsize=8, frameon=False)
