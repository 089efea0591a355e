"""Choosing epsilon

What a larger epsilon buys, before anything is spent: the forecast for a mean of 6,714 people with a standard
deviation of about 20. Then one answer each on NHANES, to see that the forecast was right. From some epsilon on,
sampling is all that is left.
"""

import matplotlib.pyplot as plt
import numpy as np

import discreet

pressure = np.asarray(discreet.datasets.load_nhanes()["systolic_bp"].drop_null(), dtype=float)
epsilons = [0.1, 0.2, 0.5, 1.0, 2.0]
forecasts = [discreet.forecast("mean", rows=len(pressure), epsilon=epsilon, scale=20.0) for epsilon in epsilons]
answers = [discreet.mean(pressure, epsilon=epsilon, unit="person", rng=discreet.Seeded(30)) for epsilon in epsilons]
widths = [answer.interval().high - answer.interval().low for answer in answers]
plain = 3.92 * pressure.std() / np.sqrt(len(pressure))
for epsilon, said, width in zip(epsilons, forecasts, widths, strict=True):
    print(f"epsilon {epsilon}: expected error {said.error:.2f}; interval of width {width:.2f}")
print(f"without privacy: width {plain:.2f}")

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
ax.loglog(epsilons, widths, "o-", color="#1b5e8c", label="width of the released interval")
ax.loglog(epsilons, [said.error for said in forecasts], "s--", color="#b04a00", label="forecast of the error")
ax.axhline(plain, color="black", linewidth=0.8, label="width without privacy")
ax.set(xlabel="epsilon", ylabel="mm", xticks=epsilons, xticklabels=epsilons)
ax.legend(fontsize=8, frameon=False)
