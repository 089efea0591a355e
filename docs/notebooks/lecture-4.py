# %% [markdown]
# # Lecture 4: the mean of one column, and what it costs not to know where it is
#
# The data are N(mu, 1) with mu somewhere in [-R, R]. The naive estimator pays for R;
# a histogram first brings that to log R; with delta > 0 nothing depends on R; and log
# R cannot be avoided without delta.

# %% tags=["parameters"]
RUNS = 60  # repetitions behind a point of a picture

# %%
import math

import matplotlib.pyplot as plt
import numpy as np

import discreet
from discreet import Seeded
from discreet.worlds.floors import packing

people = np.random.default_rng(4)
PUBLIC = {
    "neighbours": "replace",
    "missing": "keep",
}  # the lectures replace one person, and n is public

# %% [markdown]
# ## Error against R, four methods
#
# n = 1,000 and epsilon = 0.5. Where a method is refused by public numbers there is no
# point.

# %%
methods = {
    "naive clipping (Lemma 2.2)": {"method": "clipped", "sigma": 1.0},
    "two-stage (Theorem 2.5)": {"method": "two-stage", "sigma": 1.0},
    "stability (Theorem 2.8), delta": {
        "method": "stability",
        "sigma": 1.0,
        "delta": 1e-6,
    },
    "discreet.mean, no R": {},
}
reaches = [1e1, 1e2, 1e3, 1e4, 1e6]
figure, axes = plt.subplots(figsize=(6.5, 3.6))
for name, options in methods.items():
    errors = []
    for reach in reaches:
        known = {} if options.get("method") in (None, "stability") else {"reach": reach}
        found = []
        for run in range(RUNS):
            mu = people.uniform(-reach, reach)
            try:
                answer = discreet.mean(
                    people.normal(mu, 1, 1000),
                    epsilon=0.5,
                    **options,
                    **known,
                    **PUBLIC,
                    rng=Seeded(run),
                )
            except discreet.Refused:
                continue
            if answer.refusal is None:
                found.append(abs(answer.value - mu))
        errors.append(np.median(found) if len(found) > RUNS / 2 else np.nan)
    axes.plot(reaches, errors, marker="o", label=name)
axes.axhline(0.67 / math.sqrt(1000), color="k", ls="--", lw=0.8, label="sampling error")
axes.set(xscale="log", yscale="log", xlabel="R", ylabel="median error")
axes.legend(fontsize=7)
figure.tight_layout()

# %% [markdown]
# ## Success against n epsilon, beside the packing bound
#
# Theorem 2.6: no pure method finds the mean within a constant before n epsilon is of
# order log R. The shares of runs in which `discreet.median` (pure, no R given) is
# within 1 of mu, for mu of order R; vertical lines: the packing bound for that R.

# %%
products = [10, 20, 30, 45, 70, 110]
figure, axes = plt.subplots(figsize=(6.5, 3.4))
for colour, reach in zip(("C0", "C1", "C2"), (1e1, 1e4, 1e8), strict=True):
    shares = []
    for product in products:
        hits = 0
        for run in range(RUNS):
            mu = people.uniform(-reach, reach)
            x = people.normal(mu, 1, 10 * product)
            answer = discreet.median(
                x,
                epsilon=0.1,
                confidence=None,
                neighbours="replace",
                missing="keep",
                rng=Seeded(run),
            )
            hits += answer.refusal is None and abs(answer.value - mu) < 1
        shares.append(hits / RUNS)
    axes.plot(products, shares, marker="o", color=colour, label=f"R = {reach:g}")
    axes.axvline(packing(1 + reach, miss=0.5), color=colour, ls=":")
axes.set(xlabel="n epsilon", ylabel="share of runs within 1", ylim=(-0.02, 1.02))
axes.legend()
figure.tight_layout()

# %% [markdown]
# ## Histograms: Theorems 1.1 and 1.2
#
# With k public bins the largest error grows with log k. With delta, bins that nobody
# listed are found, and empty ones cost nothing: the error does not depend on how many
# there could be.

# %%
bins = [10, 100, 1000, 10_000]
public, open_ = [], []
for k in bins:
    worst_public, worst_open = [], []
    for run in range(max(4, RUNS // 4)):
        x = people.integers(0, min(k, 8), 4000)
        counts = np.bincount(x, minlength=k)
        told = discreet.histogram(
            x, epsilon=1.0, categories=range(k), **PUBLIC, rng=Seeded(run)
        ).value
        worst_public.append(
            np.abs(
                np.asarray(told.counts, dtype=float) - counts[: len(told.counts)]
            ).max()
        )
        shown = discreet.histogram(
            x, epsilon=1.0, delta=1e-6, **PUBLIC, rng=Seeded(run)
        ).value
        worst_open.append(
            max(
                abs(c - counts[int(b)])
                for b, c in zip(shown.bins, shown.counts, strict=True)
            )
        )
    public.append(np.quantile(worst_public, 0.9))
    open_.append(np.quantile(worst_open, 0.9))
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(bins, public, marker="o", label="k public bins, pure")
axes.plot(bins, open_, marker="s", label="open, delta = 1e-6")
axes.plot(
    bins,
    [2 * math.log(k / 0.1) for k in bins],
    "k--",
    label="2 log(k / 0.1): Theorem 1.1",
)
axes.set(
    xscale="log",
    xlabel="possible bins k",
    ylabel="largest error, 90% of runs",
    ylim=(0, None),
)
axes.legend()
figure.tight_layout()
