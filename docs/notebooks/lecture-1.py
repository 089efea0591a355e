# %% [markdown]
# # Lecture 1: privacy and statistical theory
#
# The promise of the talk: where the noise for privacy is smaller than the sampling
# error, privacy is free. Here are its two theorems, and the median, as pictures.

# %% tags=["parameters"]
RUNS = 60  # repetitions behind a point of a picture
FITS = 6  # private fits behind a point: each is many fits

# %%
import matplotlib.pyplot as plt
import numpy as np

import discreet
from discreet import Seeded
from discreet.lectures import laplace_mechanism
from discreet.stability.smooth_median import SmoothMedian

people = np.random.default_rng(1)

# %% [markdown]
# ## Noise against sampling
#
# A share of n people has a sampling error of order 1 / sqrt(n); the noise is of order
# 1 / (epsilon n). The lines cross at n = 1 / epsilon^2, up to a constant.

# %%
sizes = np.array([30, 100, 300, 1000, 3000, 10000])


def share(x: np.ndarray, epsilon: float, run: int) -> float:
    return discreet.proportion(
        x, epsilon=epsilon, neighbours="replace", missing="keep", rng=Seeded(run)
    ).value


figure, axes = plt.subplots(figsize=(6, 3.4))
axes.plot(sizes, np.sqrt(0.3 * 0.7 / sizes), "k--", label="sampling error")
for epsilon in (0.03, 0.1, 1.0):
    errors = []
    for size in sizes:
        x = people.random(size) < 0.3
        told = [share(x, epsilon, run) for run in range(RUNS)]
        errors.append(np.sqrt(np.mean((np.array(told) - x.mean()) ** 2)))
    axes.plot(sizes, errors, marker="o", label=f"noise at epsilon {epsilon}")
axes.set(xscale="log", yscale="log", xlabel="people", ylabel="root mean squared error")
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## Densities converge as fast as without privacy
#
# A histogram of a smooth density, with its bins chosen well, has an L2 error of order
# n^(-1/3). So has the private one.

# %%
grid = np.linspace(-4, 4, 801)
truth = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
sizes = np.array([2000, 8000, 32000, 128_000])


def error(height: np.ndarray) -> float:
    return float(np.sqrt(np.sum((height - truth) ** 2) * (grid[1] - grid[0])))


private, plain = [], []
for size in sizes:
    found = []
    for run in range(FITS):
        x = people.normal(0, 1, size)
        answer = discreet.density(x, epsilon=0.5, rng=Seeded(run))
        counts, edges = np.histogram(x, bins="fd", density=True)
        step = np.array([*counts, 0.0])[
            np.clip(np.searchsorted(edges, grid, side="right") - 1, -1, len(counts) - 1)
        ]
        step[(grid < edges[0]) | (grid > edges[-1])] = 0.0
        found.append((error(answer.value(grid)), error(step)))
    private.append(np.mean(found, axis=0)[0])
    plain.append(np.mean(found, axis=0)[1])
figure, axes = plt.subplots(figsize=(6, 3.2))
axes.plot(sizes, private, marker="o", label="private, epsilon 0.5")
axes.plot(sizes, plain, marker="s", label="histogram (Freedman-Diaconis), not private")
axes.plot(sizes, plain[0] * (sizes / sizes[0]) ** (-1 / 3), "k--", label="n^(-1/3)")
axes.set(xscale="log", yscale="log", xlabel="people", ylabel="L2 error")
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## An efficient private estimator
#
# For any well-behaved model, sample-and-aggregate with a bias-corrected maximum
# likelihood estimate has the variance of the best estimator in the limit. The ratio
# of the interval's width to that without privacy falls to 1 as n grows; the rate of
# an exponential distribution, at epsilon 1:

# %%
sizes = np.array([20_000, 80_000, 320_000])
ratios = []
for size in sizes:
    widths = []
    for run in range(FITS):
        x = people.exponential(1.0, size)
        low, high = discreet.maximum_likelihood(
            "exponential", x, epsilon=1.0, rng=Seeded(run)
        ).interval(0.95)
        widths.append((high["scale"] - low["scale"]) / (2 * 1.96 / np.sqrt(size)))
    ratios.append(np.mean(widths))
for size, ratio in zip(sizes, ratios, strict=True):
    print(f"n = {size:7,}: the private interval is {ratio:.2f} times as wide")

# %% [markdown]
# ## The median, three ways
#
# The median of numbers in [0, 1] has a global sensitivity of 1/2 and more: noise for
# that drowns it. Smooth sensitivity fits the noise to the data. The exponential
# mechanism, which `discreet.median` uses, needs neither bounds nor sensitivity.

# %%
sizes = np.array([100, 300, 1000, 3000])
ways = {
    "global sensitivity": lambda x, run: laplace_mechanism(
        lambda rows: float(np.median(rows)), 1, epsilon=1.0, neighbours="replace"
    ).release(x, Seeded(run)),
    "smooth sensitivity": lambda x, run: SmoothMedian(1.0, bounds=(0, 1)).release(
        x, Seeded(run)
    ),
    "exponential mechanism": lambda x, run: discreet.median(
        x,
        epsilon=1.0,
        confidence=None,
        neighbours="replace",
        missing="keep",
        rng=Seeded(run),
    ),
}
figure, axes = plt.subplots(figsize=(6, 3.2))
for name, way in ways.items():
    errors = []
    for size in sizes:
        found = [(way(x := people.beta(5, 5, size), run), x) for run in range(RUNS)]
        apart = [
            abs(float(r.value) - np.median(x)) for r, x in found if r.refusal is None
        ]
        errors.append(np.median(apart) if len(apart) > RUNS / 2 else np.nan)
    axes.plot(sizes, errors, marker="o", label=name)
axes.plot(sizes, 0.19 / np.sqrt(sizes), "k--", label="sampling error")
axes.set(
    xscale="log",
    yscale="log",
    xlabel="people",
    ylabel="median distance to the table's median",
)
axes.legend()
figure.tight_layout()
