"""Means by group

NHANES, blood pressure by self-reported health. Each person is in one group, so five means cost what one costs. The
groups are declared, as it is private who is in them. One group is small, and is refused.
"""

import matplotlib.pyplot as plt

import discreet

people = discreet.datasets.load_nhanes()
groups = ["Excellent", "Very good", "Good", "Fair", "Poor"]
with discreet.open(people, budget=1.0, ledger=":memory:", unit="person", rng=discreet.Seeded(3)) as session:
    means = session.mean("systolic_bp", epsilon=1.0, groupby="general_health", keys=groups)
    print("spent: epsilon", session.balance.spent.epsilon)
plain = people.to_pandas().groupby("general_health", observed=True)["systolic_bp"].mean()
for group, answer in means.items():
    print(
        f"{group} (without privacy {plain[group]:.1f}):", f"{answer:.1f}" if answer.refusal is None else answer.refusal
    )

figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
means.plot(ax=ax).plot(plain[groups[::-1]], range(5), "kx", label="without privacy")
ax.legend(fontsize=8, frameon=False)
