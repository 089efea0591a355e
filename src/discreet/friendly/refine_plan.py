"""How a mean spends its budget: shares of mu squared for every stage, from public numbers alone.

Claims
    [refine_plan.1] Plans read the number of rows where it is public, or a noisy one, the number of columns, mu and
    nothing else.

For a known scale the shares of test, first centre, second centre and answer minimise the noise predicted for the
answer. For an unknown one they are fixed functions of n: finding a centre costs less and less of it.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from discreet.friendly.find_centre import MOST
from discreet.friendly.radius import CLEAR, comparisons, octave, r_clip, r_pair
from discreet.privacy.neighbours import Neighbours

PAIRS: Final = 1 << 12  # pairs whose distances are looked at
BULK: Final = 1e-3  # of rows, beyond the radius of a first refinement
FULL: Final = 0.59  # of the buckets of places hold a pair: 1 - 3 / e^2
COUNT: Final = Fraction(1, 100)  # the share for the number of rows, where it is private
LEAST: Final = 0.004
SURVIVORS: Final = 3  # rows of which there is a friendly centre, at the least
MOST_SCALE, ROBUST_SCALE = 0.35, 0.08
HEAVY: Final = 1.15  # times a normal's ratio of radii
TAIL: Final = 1.5  # deviations of its own noise by which the filter's bound usually is off, beyond its margin


def moved(neighbours: Neighbours) -> int:
    """By how many radii one row moves a sum of rows in a ball."""
    return 2 if neighbours is Neighbours.REPLACE else 1


@lru_cache(maxsize=256)
def known_scale(rows: int, width: int, mu: float, miss: float, neighbours: Neighbours) -> Mapping[str, float] | None:
    """The shares of test, centre, again and mean that are predicted to give the least noise; None: too few.
    [refine_plan.1]

    >>> plan = known_scale(10_000, 10, 0.2367, 1e-7, Neighbours.REPLACE)
    >>> plan["mean"] > 0.95
    True
    """
    if rows < SURVIVORS:
        return None
    test, centre, again = np.meshgrid(
        np.geomspace(0.002, 0.5, 24), np.geomspace(0.001, 0.6, 24), np.geomspace(0.0005, 0.3, 20), indexing="ij"
    )
    rest = 1 - test - centre - again
    noise = predicted(rows, width, mu, miss, neighbours, test, centre, again, np.maximum(rest, 1e-9))
    noise = np.where(rest > 0.02, noise, np.inf)
    best = np.unravel_index(int(np.argmin(noise)), noise.shape)
    if not np.isfinite(noise[best]):
        return None
    named = {"test": test, "centre": centre, "again": again, "mean": rest}
    return {name: float(share[best]) for name, share in named.items()}


def predicted(  # noqa: PLR0917
    rows: int, width: int, mu: float, miss: float, neighbours: Neighbours, test: Any, centre: Any, again: Any, last: Any
) -> Any:
    """The deviation of the answer's noise, for N(m, I) rows; infinite where too few would survive. [refine_plan.1]"""
    move, first = moved(neighbours), min(rows, MOST)
    with np.errstate(all="ignore"):
        short = (-NormalDist().inv_cdf(miss) + TAIL) / (mu * np.sqrt(test))
        left = first - move * short
        left = np.where(left >= max(SURVIVORS, 0.12 * first), left, np.nan)
        deviation = move * r_pair(first, width) / (left * mu * np.sqrt(centre))
        off = width * (deviation**2 + 1 / left)
        deviation = move * clip_near(width, off, BULK) / (rows * mu * np.sqrt(again))
        off = width * (deviation**2 + 1 / rows)
        noise = move * clip_near(width, off, 1 / rows) / (rows * mu * np.sqrt(last))
    return np.where(np.isfinite(noise), noise, np.inf)


def clip_near(width: int, off: Any, beyond: float) -> Any:
    """r_clip, nearly, for arrays (Patnaik 1949, Wilson and Hilferty 1931): for plans, never for a radius."""
    freedom = (width + off) ** 2 / (width + 2 * off)
    inner = 2 / (9 * freedom)
    quantile = freedom * (1 - inner - NormalDist().inv_cdf(beyond) * np.sqrt(inner)) ** 3
    return np.sqrt((width + 2 * off) / (width + off) * quantile)


@lru_cache(maxsize=256)
def unknown_scale(rows: int, width: int, mu: float, neighbours: Neighbours) -> Mapping[str, float] | None:
    """The shares where neither centre nor scale is known; None if the rows are too few for the scale. [refine_plan.1]

    >>> plan = unknown_scale(20_000, 100, 0.2367, Neighbours.REPLACE)
    >>> round(sum(plan.values()), 9), plan["mean"] > 0.8
    (1.0, True)
    """
    pairs = pairs_of(rows, neighbours) * (1.0 if neighbours is Neighbours.REPLACE else FULL)
    needed = math.sqrt(2) / (pairs * octave(width)[0] * mu)
    scale = max(0.002, (2 * CLEAR * needed) ** 2)
    if scale > MOST_SCALE:
        return None
    scale = max(scale, min(ROBUST_SCALE, (4 * CLEAR * needed) ** 2))  # half of the pairs may hold an outlier
    fade = min(1.0, 3000 / rows)
    parts = {"test": 0.06, "centre": 0.12, "first": 0.08, "again": 0.10, "last": 0.06, "square": 0.02}
    shares = {name: (1 - scale) * max(LEAST, share * fade) for name, share in parts.items()}
    rest = 1 - scale - sum(shares.values())
    return {"scale": scale, **shares, "mean": rest}


def pairs_of(rows: int, neighbours: Neighbours) -> int:
    """How many pairs, or buckets of places that may hold one, are looked at."""
    return max(1, min(PAIRS, rows // 2 if neighbours is Neighbours.REPLACE else round(rows / 2)))


def fewest_rows(width: int, mu: float, neighbours: Neighbours) -> int:
    """The public number of rows from which on the scale is found."""
    full = 1.0 if neighbours is Neighbours.REPLACE else FULL
    return math.ceil(2 * math.sqrt(2) * 2 * CLEAR / (full * octave(width)[0] * mu * math.sqrt(MOST_SCALE)))


def first_radius(rows: int, width: int, upper: float) -> float:
    """The radius within which rows are friends, if `upper` ends the most common octave of their distances.
    [refine_plan.1]"""
    first = min(rows, MOST)
    return upper * r_pair(first, width) / (2 * math.sqrt(2) * octave(width)[1])


AFTER_BLOCKS: Final[Mapping[str, float]] = {"again": 0.2, "last": 0.2, "square": 0.04, "mean": 0.56}  # of what is left


def block_number(rows: int, width: int, mu: float) -> int:
    """How many blocks: enough for a private mean of their means to be near them, blocks of 64 rows at most.
    [refine_plan.1]"""
    return max(2, math.ceil(rows / 64), min(rows // 2, math.ceil(200 * math.sqrt(width) / mu)))


def tail(rows: int, mu: float, least: float, middle: bool = False) -> float:
    """The share of rows beyond a radius that can be told from none: 3 deviations of a comparison's noise.
    [refine_plan.1]"""
    return min(0.25, max(least, 3 * math.sqrt(comparisons(middle)) / (mu * rows)))


def stretched(radius: float, width: int, beyond: float, wanted: float) -> float:
    """The radius that leaves out `wanted`, for normal rows, where one that leaves out `beyond` was found."""
    return radius * r_clip(width, 0.0, wanted) / r_clip(width, 0.0, beyond)


def is_heavy(far: float, middle: float | None, width: int, beyond: float) -> bool:
    """Whether a radius beyond which few rows lie is far from that of half of them, more so than for normal rows.

    Where the noise leaves out more than one row in twenty, nothing is said.
    """
    if middle is None or beyond > 0.05:
        return False
    return far > HEAVY * middle * r_clip(width, 0.0, beyond) / r_clip(width, 0.0, 0.5)
