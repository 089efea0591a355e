"""Survival, by any estimator

How long 1,808 political leaders stayed in power (lifelines). `fit` runs the Kaplan-Meier estimator on blocks of
people and combines them. At epsilon 1 so few people are refused; 2.5 was chosen because the refusal asks for 2.3.
"""

import matplotlib.pyplot as plt
from lifelines import KaplanMeierFitter
from lifelines.datasets import load_dd

import discreet

leaders = load_dd()[["duration", "observed"]].astype(float)


def still_there(table, years=5.0):
    """The share that stays for longer."""
    return float(KaplanMeierFitter().fit(table["duration"], table["observed"]).predict(years))


few = discreet.fit(still_there, leaders, epsilon=1.0, delta=1e-5, rng=discreet.Seeded(9))
print("epsilon 1:", few.refusal)
answer = discreet.fit(still_there, leaders, epsilon=2.5, delta=1e-5, rng=discreet.Seeded(9))
print(f"epsilon 2.5: {answer:.3f} of them after 5 years, 95% interval {answer.interval().low:.3f} to", end=" ")
print(f"{answer.interval().high:.3f}; without privacy {still_there(leaders):.3f}")

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
curve = KaplanMeierFitter().fit(leaders["duration"], leaders["observed"])
ax.step(curve.timeline, curve.survival_function_.iloc[:, 0], "k", where="post", linewidth=0.8, label="without privacy")
low, high = answer.interval()
ax.errorbar(5, answer.value, yerr=[[answer.value - low], [high - answer.value]], fmt="o", color="#1b5e8c", capsize=4,
            label="released, 95% interval")  # fmt: skip
ax.set(xlabel="years", ylabel="share still in power", xlim=(0, 30), ylim=(0, 1))
ax.legend(fontsize=8, frameon=False)
