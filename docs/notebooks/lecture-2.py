# %% [markdown]
# # Lecture 2: what epsilon means
#
# Composition, posteriors, and definitions that look alike and are not. Small worlds are
# counted out exactly; where something is drawn, the number of runs is in the next cell.

# %% tags=["parameters"]
RUNS = 300  # repetitions behind a point of a picture

# %%
import math

import matplotlib.pyplot as plt
import numpy as np

import discreet
from discreet import Seeded
from discreet.lectures import (
    additive_privacy,
    laplace_mechanism,
    name_and_shame,
    offset_of,
    posterior,
    pure_privacy,
    randomised_response,
    replicable,
    width_for,
)

people = np.random.default_rng(2)

# %% [markdown]
# ## An adaptive budget
#
# Theorem 3.2 adds up epsilons, even if each question depends on the answers so far. A
# session does the adding, exactly, and stops an analyst who follows the answers
# wherever they lead.

# %%
table = {"income": people.lognormal(10, 0.6, 5000)}
session = discreet.open(
    table, budget=1.0, ledger=":memory:", unit="person", rng=Seeded(1)
)
cut, asked = 20_000.0, 0
try:
    while True:  # halve the distance to the income that a tenth of the people exceed
        share = session.proportion(f"income >= {cut}", epsilon=0.1).value
        asked += 1
        cut *= 1.3 if share > 0.1 else 0.85
except discreet.OverBudget as stop:
    print(f"{asked} questions were answered, each chosen after the last; then:\n{stop}")
session.close()

# %% [markdown]
# ## Two hospitals
#
# One person is in the tables of two hospitals, which each publish at epsilon 0.5 and
# do not know of each other. Somebody who reads both has the guarantee of 1, no worse
# and, in this world, no better.

# %%
alone = pure_privacy(randomised_response(0.5), (0, 1), 1)


def both(table: tuple[int, ...]) -> dict[tuple[object, object], float]:
    one = randomised_response(0.5)(table)
    return {(a, b): p * q for a, p in one.items() for b, q in one.items()}


print(f"one hospital: epsilon {alone:.2f}; both: {pure_privacy(both, (0, 1), 1):.2f}")

# %% [markdown]
# ## The smoking study
#
# Theorem 3.7: whatever one believes beforehand, what is concluded from the answer
# with my data, and what would have been concluded without, differ by a factor of at
# most e^(2 epsilon). Three people; smoking and the disease go together (1) or not (0)
# for all of them, or for some. Both posteriors, for every output:

# %%
prior = {}
for table in [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]:
    agree = sum(table)
    prior[table] = (
        {0: 0.30, 1: 0.05, 2: 0.05, 3: 0.40}[agree]
        / math.comb(3, agree)
        * (1 if agree in (0, 3) else 3)
    )
total = sum(prior.values())
prior = {table: chance / total for table, chance in prior.items()}
epsilons, worst, learned = np.array([0.1, 0.25, 0.5, 1.0, 1.5]), [], []
for epsilon in epsilons:
    respond = randomised_response(float(epsilon))
    ratios, moved = [0.0], [0.0]
    for output in prior:
        used = posterior(respond, prior, output)
        left = posterior(respond, prior, output, without=0, default=None)
        ratios += [abs(math.log(used[one] / left[one])) for one in prior]
        moved += [abs(math.log(used[one] / prior[one])) for one in prior]
    worst.append(max(ratios))
    learned.append(max(moved))
figure, axes = plt.subplots(figsize=(6, 3.2))
axes.plot(epsilons, worst, marker="o", label="with my data against without")
axes.plot(epsilons, learned, marker="s", label="after the study against before")
axes.plot(epsilons, 2 * epsilons, "k--", label="2 epsilon")
axes.set(xlabel="epsilon", ylabel="log of the largest ratio of beliefs")
axes.legend()
figure.tight_layout()

# %% [markdown]
# A study may tell a lot about me: the upper line is about science. What the guarantee
# bounds is the lower one.
#
# ## Name and shame
#
# A definition that bounds the *difference* of probabilities by delta, and not their
# ratio, allows this: publish each person's row with probability delta. Every person
# alone is at risk delta; that somebody is shamed has the probability 1 - (1 -
# delta)^n.

# %%
shame = name_and_shame(0.01)
print(
    "additive privacy:",
    round(additive_privacy(shame, (0, 1), 3), 4),
    " epsilon:",
    pure_privacy(shame, (0, 1), 3),
)
sizes = np.arange(1, 1001)
figure, axes = plt.subplots(figsize=(6, 2.8))
for delta in (0.0001, 0.001, 0.01):
    axes.plot(sizes, 1 - (1 - delta) ** sizes, label=f"delta = {delta}")
axes.set(xlabel="people", ylabel="somebody's row is published")
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## Epsilon near 1/n
#
# Group privacy: k people together have k epsilon. With all n people the factor is
# e^(epsilon n), so at epsilon = 1/n a table of all "yes" and one of all "no" look
# alike, and nothing can be learned.

# %%
n = 200
figure, axes = plt.subplots(figsize=(6, 3))
shares = []
for factor in (0.1, 0.5, 1, 2, 4, 10, 20):
    count = laplace_mechanism(sum, 1, epsilon=factor / n, neighbours="replace")
    told = [
        [count.release([yes] * n, Seeded(run)).value > n / 2 for run in range(RUNS)]
        for yes in (1, 0)
    ]
    shares.append((factor, np.mean(told[0]), np.mean(told[1])))
axes.plot(
    *zip(*[(factor, yes) for factor, yes, _ in shares], strict=True),
    marker="o",
    label="all of them say yes",
)
axes.plot(
    *zip(*[(factor, no) for factor, _, no in shares], strict=True),
    marker="s",
    label="all of them say no",
)
axes.set(
    xscale="log",
    xlabel="epsilon times n",
    ylabel="share of answers above n / 2",
    ylim=(0, 1),
)
axes.legend()
figure.tight_layout()
print(str(discreet.explain(epsilon=0.5 / n, n=n)).splitlines()[-1])

# %% [markdown]
# ## Replicability
#
# An algorithm is replicable if, with the same internal coins, it returns the very
# same answer on a fresh sample, nearly always. Rounding to a grid with a shared
# random offset does it; noise stays fresh and secret, only the grid is shared.

# %%
width = width_for(0.1, differ=0.1)
same = 0
for run in range(RUNS):
    offset, answers = offset_of(f"public name of question {run}"), []
    for half in (0, 1):
        sample = people.normal(50, 3.0, 1000)
        answer = discreet.mean(sample, epsilon=1.0, rng=Seeded(2 * run + half))
        answers.append(replicable(answer, width=width, offset=offset).value)
    same += answers[0] == answers[1]
print(
    f"a grid of width {width:.2f}: {same / RUNS:.0%} of {RUNS} pairs of samples agree"
)
