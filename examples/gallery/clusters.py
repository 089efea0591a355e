"""Clusters of people

NHANES, age and blood pressure of 6,714 people, in units of 20 years and 20 mm. Centres have no interval, and the
answer says so. Circles are what is released, crosses are k-means of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import discreet

table = discreet.datasets.load_nhanes().select(["age", "systolic_bp"]).drop_null()
rows, units = np.column_stack([table["age"], table["systolic_bp"]]).astype(float), np.array([20.0, 20.0])
private = discreet.kmeans(rows / units, 3, epsilon=1.0, delta=1e-6, unit="person", rng=discreet.Seeded(8))
plain = KMeans(3, n_init=10, random_state=0).fit(rows / units).cluster_centers_ * units
centres = private.value.centres * units
for centre, size in sorted(zip(centres.tolist(), private.value.sizes, strict=True)):
    print(f"about {size:,.0f} people around age {centre[0]:.0f} and pressure {centre[1]:.0f}")
print("without privacy", ", ".join(f"({age:.0f}, {pressure:.0f})" for age, pressure in sorted(plain.tolist())))

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.scatter(*centres.T, s=private.value.sizes / 4, alpha=0.5, color="#1b5e8c", label="released, by size")
ax.plot(*plain.T, "kx", label="without privacy")
ax.set(xlabel="age", ylabel="systolic blood pressure", xlim=(0, 85), ylim=(95, 165))
ax.legend(fontsize=8, frameon=False, loc="upper left")
