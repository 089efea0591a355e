"""A test of two means

NHANES, total cholesterol of men and women aged 20 and more. The p-value allows for the noise of privacy, so it is
larger than the plain one, and a true null hypothesis is still rejected in 5% of cases at most.
"""

import matplotlib.pyplot as plt
from scipy import stats

import discreet

adults = discreet.datasets.load_nhanes().to_pandas().query("age >= 20").dropna(subset=["total_cholesterol"])
men, women = (adults.loc[adults["sex"] == sex, "total_cholesterol"].to_numpy() for sex in ("Male", "Female"))
test = discreet.two_means_test(men, women, epsilon=1.0, unit="person", rng=discreet.Seeded(10))
plain = stats.ttest_ind(men, women, equal_var=False).pvalue
print(f"{len(men):,} men and {len(women):,} women")
print(f"private: p = {test.value.p_value:.2g}; without privacy: p = {plain:.2g}")

figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
test.plot(ax=ax).plot(max(plain, 1e-5), 0, "kx", label=f"without privacy, p = {plain:.2g}")
ax.legend(fontsize=8, frameon=False)
