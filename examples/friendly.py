"""A mean of several columns of a real table, cell by cell."""

# %% [markdown]
# # A mean of several columns, without bounds
#
# Run this file as it is, or cell by cell in an editor that knows `# %%`. The people are those of a public health survey
# (see `discreet.datasets`); the strays further down are made up. `Seeded` noise makes the page repeatable, and its
# releases say that they must not be published. Leave `rng=` out for real work.

# %%
import numpy as np

import discreet
from discreet.friendly import FriendlyMean, Within, match_core

rng = discreet.Seeded(2)
names = ["age", "bmi", "systolic_bp", "total_cholesterol"]
table = discreet.datasets.load_nhanes().select(names).drop_null()
rows = np.column_stack([column.to_numpy() for column in table.columns])
print(f"{len(rows)} people, {len(names)} columns")

# %% [markdown]
# ## One release for all columns
#
# The noise is alike in all columns, so each is divided by a public scale first: here a sixth of the width that the
# codebook and physiology allow. None of these numbers comes from the rows.

# %%
bounds = np.array([discreet.datasets.NHANES_BOUNDS[name] for name in names])
scale = (bounds[:, 1] - bounds[:, 0]) / 6
release = discreet.mean(rows / scale, epsilon=1.0, delta=1e-6, method="refine", unit="person", rng=rng)
print(release)

# %% [markdown]
# Back in years, kg/m2, mmHg and mg/dL. That is post-processing and costs nothing.


# %%
def show(title: str, found: discreet.Release[np.ndarray]) -> None:
    """A line for each column."""
    middle, bar = found.value * scale, found.interval(0.95)
    print(title)
    for name, value, low, high in zip(names, middle, bar.low * scale, bar.high * scale, strict=True):
        print(f"  {name:18s} {value:8.2f}   95% confidence interval {low:8.2f} to {high:8.2f}")


show("private means", release)
print("the survey is public, so here we may look:", (rows.mean(axis=0)).round(2))

# %% [markdown]
# For all columns at once there is an ellipsoid. Does it hold the mean of the table?

# %%
region = release.spread.ellipsoid(0.95)  # type: ignore[union-attr]
print("the ellipsoid holds it:", region.holds(rows.mean(axis=0) / scale))

# %% [markdown]
# ## Ten in a hundred rows are nonsense
#
# Made-up rows replace every tenth person: missing values, which are left out, and numbers that no person has. The
# plain mean is lost.

# %%
spoilt = rows / scale
spoilt[::10] = 1e9
spoilt[::20] = np.nan
plain = np.nanmean(spoilt, axis=0) * scale
print("plain means:", [f"{value:.3g}" for value in plain])
show("private means of the spoilt table", discreet.mean(spoilt, epsilon=1.0, delta=1e-6, method="refine", rng=rng))

# %% [markdown]
# ## What happened to the strays
#
# Two rows are friends if they are at most a radius apart. Strangers leave in pairs until all who are left are friends.
# Here are 200 made-up people with 12 strays. Without noise these numbers may be shown of made-up people only.

# %%
made_up = np.random.default_rng(4).normal(size=(200, 2))
made_up[:12] += 50.0
core = match_core(Within(9.0).strangers(made_up))
print(f"{core.pairs} pairs dropped, {len(core.survivors)} of 200 survive")
print("a stray survives:", bool((core.survivors < 12).any()))

# %% [markdown]
# ## Refusals
#
# With too few rows there is no answer, and the release says how many are needed. With a radius that is too small hardly
# anybody has a friend.

# %%
few = discreet.mean(rows[:200] / scale, epsilon=0.5, delta=1e-6, method="refine", rng=rng)
print("refused:", few.refusal)
lonely = FriendlyMean(radius=0.1, epsilon=1.0, delta=1e-6).release(rows / scale, rng)
print("refused:", lonely.refusal)

# %% [markdown]
# ## How much noise for how much privacy
#
# The same table at three prices. Three releases cost the sum of their prices: on private data, ask once.

# %%
for epsilon in (0.5, 1.0, 2.0):
    found = discreet.mean(rows / scale, epsilon=epsilon, delta=1e-6, method="refine", rng=rng)
    noise = np.asarray(found.spread.privacy) * scale if found.spread else scale
    print(f"epsilon {epsilon}: standard deviation of the noise", noise.round(3))
