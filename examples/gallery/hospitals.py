"""Several hospitals, one answer

Three hospitals publish a mean each and never share a row: here NHANES, dealt into three. Their answers are pooled,
weighted by precision. A person who is in one hospital pays one epsilon; one who may be in all three pays for three.
"""

import matplotlib.pyplot as plt
import numpy as np

import discreet

pressure = np.asarray(discreet.datasets.load_nhanes()["systolic_bp"].drop_null(), dtype=float)
shares = [pressure[place::3] for place in range(3)]
answers = [
    discreet.mean(share, epsilon=0.5, unit="patient", rng=discreet.Seeded(20 + at)) for at, share in enumerate(shares)
]
ends = np.array([tuple(answer.interval()) for answer in answers])
errors = (ends[:, 1] - ends[:, 0]) / 3.92
weights = errors**-2 / (errors**-2).sum()
pooled, reach = weights @ [answer.value for answer in answers], 1.96 * (errors**-2).sum() ** -0.5
print("hospitals:", ", ".join(f"{answer:.1f}" for answer in answers))
print(f"pooled {pooled:.2f}, 95% interval {pooled - reach:.2f} to {pooled + reach:.2f}")
print(f"without privacy {pressure.mean():.2f}")

figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
values = [*(answer.value for answer in answers), pooled]
ax.errorbar(values, [3, 2, 1, 0], xerr=[*(1.96 * errors), reach], fmt="o", color="#1b5e8c", capsize=4)
ax.axvline(pressure.mean(), color="black", linewidth=0.8, label="all rows, without privacy")
ax.set(yticks=[3, 2, 1, 0], yticklabels=["first", "second", "third", "pooled"], xlabel="mean systolic blood pressure")
ax.legend(fontsize=8, frameon=False)
