"""Linear regression by a formula

Fair's survey of 6,366 married women (statsmodels): how they rate their marriage, from 1 to 5. The interval is one for
the population's least squares, with no model assumed. Crosses and thin lines are ordinary least squares with robust
errors. A column with rare, far values gives wider intervals: doctor visits of 20,190 people (randhie) left no sign
certain at this epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
import statsmodels.formula.api as smf

import discreet

women = sm.datasets.fair.load_pandas().data
formula = "rate_marriage ~ age + yrs_married + religious"
private = discreet.linear_regression(formula, women, epsilon=1.0, delta=1e-6, unit="person", rng=discreet.Seeded(6))
plain = smf.ols(formula, women).fit(cov_type="HC3")
low, high = private.interval()
print(f"{'':<14}{'private':>9}{'low':>9}{'high':>9}{'plain':>9}{'error':>9}")
for name, *row in zip(private.value.names, private.value.coef, low.coef, high.coef, strict=True):
    print(f"{name:<14}" + "".join(f"{number:9.4f}" for number in (*row, plain.params[name], plain.bse[name])))

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
private.plot(ax=ax)
names = [text.get_text() for text in ax.get_yticklabels()]
values = (
    plain.params.rename({"Intercept": "intercept"})[names],
    1.96 * plain.bse.rename({"Intercept": "intercept"})[names],
)
places = len(names) - 1 - np.arange(len(names)) - 0.18
ax.errorbar(values[0], places, xerr=values[1], fmt="kx", elinewidth=0.8, label="without privacy")
ax.legend(fontsize=8, frameon=False)
