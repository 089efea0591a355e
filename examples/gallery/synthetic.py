"""A synthetic table, and what it knows

Five columns of NHANES at epsilon 1: which pairs of columns were measured, chosen privately, and the counts of one pair
with their intervals. Rows drawn from the model carry a warning: what was not measured has no error bar.
"""

import matplotlib.pyplot as plt

import discreet

people = discreet.datasets.load_nhanes().select(["sex", "age", "bmi", "general_health", "diabetes"])
release = discreet.synthetic(
    people,
    epsilon=1.0,
    delta=1e-6,
    levels={
        "sex": ["Female", "Male"],
        "diabetes": ["No", "Borderline", "Yes"],
        "general_health": ["Excellent", "Very good", "Good", "Fair", "Poor"],
    },
    edges={"age": [0, 20, 40, 60, 81], "bmi": [10, 18.5, 25, 30, 90]},
    missing="keep",
    unit="person",
    rng=discreet.Seeded(1),
)
model = release.value
print(model.describe())
print(model.to_frame(seed=7).round(1).head(3).to_string(index=False))

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", width_ratios=[1, 2])
places = {name: (at % 2, -at) for at, name in enumerate(model.columns)}
for one, other in model.measured:
    left.plot(*zip(places[one], places[other], strict=True), color="#a9c4de", linewidth=3)
for name, (x, y) in places.items():
    left.text(x, y, name, ha="center", va="center", bbox={"facecolor": "white", "edgecolor": "#1b5e8c"})
left.set_title("measured together", fontsize=10)
left.set(xlim=(-0.6, 1.6), ylim=(-4.5, 0.5))
left.axis("off")

shown, (low, high) = model.marginal("age", "diabetes"), release.interval()
ends = [part.marginal("age", "diabetes").counts[:4, 2] for part in (low, high)]
tall = shown.counts[:4, 2]
right.bar(range(4), tall, yerr=[tall - ends[0], ends[1] - tall], capsize=4, color="#a9c4de", ecolor="#b04a00")
right.set_xticks(range(4), [f"{low:g} to {high:g}" for low, high in shown.levels[0][:4]])
right.set(xlabel="age", title="people with diabetes, 95% interval of all counts at once")
