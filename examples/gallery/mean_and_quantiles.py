"""A mean and three quantiles

NHANES, 8,366 people, a fifth of the blood pressures missing. Nothing is declared: no bounds, no model. Crosses are
the table's own values, which nobody but the steward sees.
"""

import matplotlib.pyplot as plt
import numpy as np

import discreet

people = discreet.datasets.load_nhanes()
pressure = people["systolic_bp"]
mean = discreet.mean(pressure, epsilon=0.5, unit="person", rng=discreet.Seeded(1))
quartiles = discreet.quantile(pressure, [0.25, 0.5, 0.75], epsilon=0.5, unit="person", rng=discreet.Seeded(2))
print(f"mean {mean:.1f}, 95% interval {mean.interval().low:.1f} to {mean.interval().high:.1f}")
print("quartiles", quartiles.value, "from", quartiles.interval().low, "to", quartiles.interval().high)

known = np.asarray(pressure.drop_null())
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
mean.plot(ax=left).plot(known.mean(), 0, "kx", label="without privacy")
quartiles.plot(ax=right).plot(np.quantile(known, [0.75, 0.5, 0.25]), range(3), "kx", label="without privacy")
right.legend(fontsize=8, frameon=False)
