"""A budget, spent question by question

NHANES behind a budget of epsilon 1. Each question is charged before a row is read, and the one that does not fit is
refused without being charged.
"""

import matplotlib.pyplot as plt

import discreet

people, spent = discreet.datasets.load_nhanes(), {}
with discreet.open(people, budget=1.0, ledger=":memory:", unit="person", rng=discreet.Seeded(12)) as session:
    questions = {
        "people with diabetes": lambda: session.proportion("diabetes", equals="Yes", epsilon=0.2),
        "mean of bmi": lambda: session.mean("bmi", epsilon=0.4),
        "median age": lambda: session.median("age", epsilon=0.2),
        "mean of cholesterol": lambda: session.mean("total_cholesterol", epsilon=0.4),
    }
    for name, ask in questions.items():
        before = session.balance.spent.epsilon
        try:
            answer = ask()
            print(f"{name}: {answer:.4g}, 95% interval {answer.interval().low:.4g} to {answer.interval().high:.4g}")
        except discreet.errors.OverBudget as refused:
            print(f"{name}: {refused}")
        spent[name] = float(session.balance.spent.epsilon - before)

figure, ax = plt.subplots(figsize=(8, 1.9), layout="constrained")
start = 0.0
for name, cost in spent.items():
    ax.barh(0, cost, left=start, edgecolor="white", height=0.5, label=name if cost else f"{name}: refused")
    start += cost
ax.axvline(1.0, color="black")
ax.set(xlabel="epsilon", yticks=[], xlim=(0, 1.05), ylim=(-0.4, 0.9))
ax.legend(fontsize=8, frameon=False, ncols=4, loc="upper left")
