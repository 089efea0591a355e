# %% [markdown]
# # Lecture 3: FriendlyCore for the mean of a Gaussian
#
# The theorem: n of order d / alpha^2 + d sqrt(log(1/delta)) / (alpha epsilon) +
# log(1/delta) / epsilon is enough for an error of alpha, with no bound on where the
# mean is. The package's `method="refine"` is that algorithm with its constants
# corrected.

# %% tags=["parameters"]
RUNS = 8  # repetitions behind a point of a picture

# %%
import matplotlib.pyplot as plt
import numpy as np

import discreet
from discreet import Seeded
from discreet.lectures import basic_filter, erratum

people = np.random.default_rng(3)
DELTA = 1e-6


def far_off(size: int, columns: int, epsilon: float) -> tuple[float, float, float]:
    """The median error with privacy and without, and the share of refusals."""
    private, plain, refused = [], [], 0
    for run in range(RUNS):
        place = people.normal(0, 1e4, columns)
        rows = people.normal(place, 1.0, (size, columns))
        answer = discreet.mean(
            rows, epsilon=epsilon, delta=DELTA, method="refine", rng=Seeded(run)
        )
        plain.append(np.linalg.norm(rows.mean(axis=0) - place))
        if answer.refusal is None:
            private.append(np.linalg.norm(answer.value - place))
        else:
            refused += 1
    return (
        (float(np.median(private)) if private else np.nan),
        float(np.median(plain)),
        refused / RUNS,
    )


def terms(size: float, columns: float, epsilon: float) -> tuple[float, float]:
    """The theorem's error, without constants: its sampling and its privacy term."""
    return np.sqrt(columns / size), columns * np.sqrt(np.log(1 / DELTA)) / (
        size * epsilon
    )


# %% [markdown]
# ## Error against n, d and epsilon
#
# The mean lies thousands of standard deviations from 0, which nobody was told.
# Dashed: the theorem's two terms that depend on alpha. The third says from which n on
# there is an answer at all. The lower bound of the lecture has the same terms, but
# for the logarithm: no private method does better by more than that.

# %%
sweeps = {
    "n": ([500, 1000, 2000, 8000], lambda v: (v, 5, 1.0)),
    "d": ([2, 5, 10, 20, 40], lambda v: (8000, v, 1.0)),
    "epsilon": ([0.25, 0.5, 1.0, 2.0], lambda v: (8000, 5, v)),
}
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
for axes, (name, (values, case)) in zip(panels, sweeps.items(), strict=True):
    found = [far_off(*case(value)) for value in values]
    axes.plot(values, [one[0] for one in found], marker="o", label="private")
    axes.plot(values, [one[1] for one in found], marker="s", label="not private")
    parts = np.array([terms(*case(value)) for value in values])
    axes.plot(values, parts[:, 0], "k--", lw=0.8, label="sqrt(d/n)")
    axes.plot(values, parts[:, 1], "k:", label="d sqrt(log 1/delta) / (n epsilon)")
    axes.set(xscale="log", yscale="log", xlabel=name)
panels[0].set_ylabel("median error")
panels[0].legend(fontsize=7)
figure.tight_layout()

# %% [markdown]
# ## Why division by n fails
#
# Algorithm 2 prints the sum of w x over n, and Claim 3 bounds its move by sqrt(d) /
# n, after shifting the data to 0. But the weights do not sum to n: where the data are
# far from 0, a small change of the total weight is a large change of the sum. At a
# distance of a million:

# %%
printed, found = erratum("divided by n").run()
print(f"printed: one person moves it by at most {printed:g}; found: {found:g}")


def near(a: float, b: float) -> bool:
    return abs(a - b) <= 1


moves = []
for place in (0.0, 10.0, 1e3, 1e5):
    by_n, by_weight = [], []
    for last in (place, place + 50):
        rows = np.array([place] * 99 + [last])
        weights = np.array([float(w) for w in basic_filter(rows, near)])
        by_n.append(weights @ rows / 100)
        by_weight.append(weights @ rows / weights.sum())
    moves.append((place, abs(by_n[0] - by_n[1]), abs(by_weight[0] - by_weight[1])))
print("place     over n     over the weights")
for place, one, other in moves:
    print(f"{place:8g}  {one:9.4g}  {other:9.4g}")

# %% [markdown]
# Divided by the sum of the weights, the average is inside the friendly rows wherever
# they are, and its move is that of a distribution (Claim 1). That is what the package
# does.
#
# ## Beyond Gaussians
#
# Nothing in the privacy proof knows of Gaussians. The average of rows with heavy
# tails, with a few far rows among them:

# %%
shapes = {
    "normal": lambda size: people.normal(0, 1, (size, 3)),
    "Laplace": lambda size: people.laplace(0, 1 / np.sqrt(2), (size, 3)),
    "Student, 4 degrees": lambda size: people.standard_t(4, (size, 3)) / np.sqrt(2),
    "normal, 1% at 1e6": lambda size: np.where(
        np.arange(size)[:, None] < size // 100, 1e6, people.normal(0, 1, (size, 3))
    ),
}
for name, make in shapes.items():
    errors = []
    for run in range(RUNS):
        answer = discreet.mean(
            make(6000), epsilon=1.0, delta=DELTA, method="refine", rng=Seeded(run)
        )
        errors.append(np.nan if answer.refusal else np.linalg.norm(answer.value))
    off, refused = np.nanmedian(errors), np.isnan(errors).mean()
    print(f"{name:20} median error {off:.3f}, refused {refused:.0%}")
