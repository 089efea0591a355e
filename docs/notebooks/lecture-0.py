# %% [markdown]
# # Lecture 0: votes, a filter, and an attack on a ramp
#
# *Subsample and aggregate* runs any algorithm on blocks of people and combines what
# comes back. *FriendlyCore* is a way to combine: keep what has many friends. This
# notebook votes, filters, and then finds a privacy break in the filter as it is
# printed, without reading its proof: by looking at outputs only.

# %% tags=["parameters"]
RUNS = 400  # repetitions behind a point of a picture
TRIALS = 500  # runs of the attack on each of two tables

# %%
import matplotlib.pyplot as plt
import numpy as np

import discreet
from discreet import Seeded, audit
from discreet.lectures import (
    basic_filter,
    exponential_mechanism,
    is_friendly,
    laplace_mechanism,
)

people = np.random.default_rng(0)

# %% [markdown]
# ## Votes
#
# Are these numbers from N(0, 1) or from N(0.2, 1)? The best test looks at the mean of
# a block. Each of k blocks votes; one person is in one block, so changes one vote,
# whatever the test does. The votes are counted with Laplace noise, or the winner is
# drawn by the exponential mechanism.


# %%
def votes(size: int, k: int, truth: float) -> list[str]:
    blocks = people.normal(truth, 1.0, size).reshape(k, -1)
    return ["Q" if block.mean() > 0.1 else "P" for block in blocks]


count = laplace_mechanism(
    lambda rows: rows.count("Q"), 1, epsilon=0.5, neighbours="replace"
)
draw = exponential_mechanism(
    lambda rows, who: rows.count(who), ["P", "Q"], 1, epsilon=0.5, neighbours="replace"
)
ks = [3, 5, 9, 15, 25, 45]
right: dict[str, list[float]] = {
    "Laplace": [],
    "exponential": [],
    "majority, not private": [],
}
for k in ks:
    counted, drawn, plain = 0, 0, 0
    for run in range(RUNS):
        cast = votes(450 // k * k, k, 0.2)
        counted += count.release(cast, Seeded(run)).value > k / 2
        drawn += draw.release(cast, Seeded(run)).value == "Q"
        plain += cast.count("Q") > k / 2
    for name, found in zip(right, (counted, drawn, plain), strict=True):
        right[name].append(found / RUNS)
figure, axes = plt.subplots(figsize=(6, 3.2))
for name, shares in right.items():
    axes.plot(ks, shares, marker="o", label=name)
axes.set(
    xlabel="blocks k, of 450 people in all",
    ylabel="share of right answers",
    xscale="log",
)
axes.set_xticks(ks, [str(k) for k in ks])
axes.minorticks_off()
axes.legend()
figure.tight_layout()

# %% [markdown]
# With few blocks the noise decides; with many, each block is too small to know. In
# between, privacy costs little. `discreet.fit(..., aggregator=...)` does the same with
# any estimator.
#
# ## The filter
#
# Rows are friends if they are close. A row's weight grows with the number of its
# friends, and rows with at most half of the others as friends have none (Algorithm 1,
# with the line of Figure 1).

# %%
rows = [*people.normal(0, 1, 40), *people.normal(9, 0.3, 6), -14.0]


def near(a: float, b: float) -> bool:
    return abs(a - b) <= 5


weights = [float(weight) for weight in basic_filter(rows, near, ramp="figure")]
kept = [row for row, weight in zip(rows, weights, strict=True) if weight > 0]
print(
    "all rows are friendly:", is_friendly(rows, near, among=np.linspace(-20, 20, 401))
)
print(
    "those with weight are:", is_friendly(kept, near, among=np.linspace(-20, 20, 401))
)
figure, axes = plt.subplots(figsize=(6, 2.6))
axes.vlines(rows, 0, weights, lw=2)
axes.plot(rows, np.zeros(len(rows)), "k|", ms=12)
axes.set(xlabel="row", ylabel="weight")
figure.tight_layout()

# %% [markdown]
# ## The printed ramp
#
# Step 3 of the algorithm prints the weight as (c - n/2) / n, which ends at 1/2 and
# then jumps to 1 at c = n. Figure 1 draws a line up to 1, and the proof of stability
# (Claim 3.9: one person moves the weights by at most 3 in all) uses the figure's
# slope.

# %%
n = 100
line, jump = [], []
for friends in range(n + 1):
    table = [0.0] * friends + [100.0] * (n - friends)
    line.append(float(basic_filter(table, near, ramp="figure")[0]) if friends else 0.0)
    jump.append(float(basic_filter(table, near, ramp="printed")[0]) if friends else 0.0)
figure, axes = plt.subplots(figsize=(6, 2.8))
axes.plot(line, label="Figure 1: 2c/n - 1")
axes.plot(jump, label="printed: (c - n/2) / n, and 1 at c = n", drawstyle="steps-post")
axes.set(xlabel="friends c of n = 100", ylabel="weight")
axes.legend()
figure.tight_layout()

# %% [markdown]
# Does it matter? Algorithm 2 of lecture 3 publishes the sum of the weights with noise
# for a sensitivity of 3. Take two tables that differ in one person, and let a machine
# look for an event that tells them apart: on half of the runs it searches, on the
# other half it measures.

# %%
crowd, stranger = [0.0] * n, [0.0] * (n - 1) + [100.0]


def total(ramp: str) -> object:
    return laplace_mechanism(
        lambda rows: float(sum(basic_filter(rows, near, ramp=ramp))),
        3,
        epsilon=1.0,
        neighbours="replace",
    )


for ramp in ("figure", "printed"):
    print(f"{ramp:8}", audit.distinguish(total(ramp), crowd, stranger, runs=TRIALS))

# %% [markdown]
# The printed ramp is caught: one person moves the sum of the weights from 100 to 49,
# and noise for 3 cannot hide that. With the figure's line nothing is found. The
# package counts friends among the *other* rows as well (`ramp="others"`), which for
# an odd number of rows is needed too: see the errata.
#
# ## FriendlyCore in the package
#
# `discreet.mean(X, method="refine")` uses the filter inside. Far rows do not matter,
# and nobody gave bounds:

# %%
table = people.normal([3.0, -1.0], 1.0, (3000, 2))
table[:30] = 1e6
answer = discreet.mean(table, epsilon=1.0, delta=1e-6, method="refine", rng=Seeded(1))
print(
    np.round(answer.value, 2),
    "where the mean of all rows is",
    np.round(table.mean(axis=0), 0),
)
