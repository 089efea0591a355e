"""How far apart rows are, and how far from a centre; and from public numbers, how a mean spends its budget.

Releases
    `pair_scale`: the least power of two below a common distance in disjoint pairs of rows. `radius_quantiles`: how
    many rows lie within a first radius, a smaller one beyond which few of them lie, and one that holds half of them.
Promise
    [radius.1] pair_scale costs its Gaussian loss under both relations; no delta is lost, however the distances fall.
    [radius.2] radius_quantiles costs its Gaussian loss under both relations.
    [radius.3] For rows N(m, s^2 I) no pair of k rows is farther apart than s r_pair(k, d), but with probability 0.05,
          and a row is farther than s r_clip(d, e, p) from a point at squared distance s^2 e of m with probability p.
    [radius.4] Plans read the number of rows where it is public, or a noisy one, the number of columns, mu and nothing
          else.
Why
    [radius.1] Each pair goes by its two rows alone to one of a fixed list of bins: the exponent of the float distance,
    with one bin for distance 0 and one for distances that are no number. One row changes one pair (REPLACE: pairs by a
    public order; ADD_OR_REMOVE: [sample.1]): one count falls by 1, one rises by 1, or one of them alone. In L2 that is
    sqrt 2 at most. All bins are blurred, so there is no secret about which are empty; to pick one is post-processing.
    [radius.2] k noisy counts of rows between two radii, each of sensitivity 1 by [taper.5], each at the
    loss's mu over sqrt(k); which radii are asked for next is decided by the noisy counts before. Squares of mu add up
    adaptively: [filter.3].
    [radius.3] |x - y|^2 / (2 s^2) is chi-squared with d degrees of freedom, and there are k (k - 1) / 2 pairs.
Needs
    pair_scale: about 9 noise deviations in the fullest bin. radius_quantiles: a first radius that holds the bulk.
Accuracy
    For a known scale the shares of test, first centre, second centre and answer minimise the noise predicted for the
    answer. For an unknown one they are fixed functions of n: finding a centre costs less and less of it.
    The most common octave of a normal's pair distances holds a share of 0.29 (d = 1) to 0.5 (large d) of them. The
    least octave with a third of the fullest one's pairs is taken: a crowd of outliers far away makes a full octave too.
    The radius found is within a cell of one whose count is off by the noise of a comparison.
Source
    Karwa and Vadhan 2018 for a scale by a histogram of log distances of pairs, there over unknown bins and for d = 1;
    here the exponents of float64 are the bins. Noisy binary search: folklore.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from discreet.accounting.allocation import Allocation, Share
from discreet.friendly.average import blurred, noisy_count
from discreet.friendly.find_centre import MOST
from discreet.friendly.taper import cells
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Floats, Rows

LOWEST, HIGHEST = -1074, 1023  # the exponents of float64
ZERO, NONE = HIGHEST - LOWEST + 1, HIGHEST - LOWEST + 2  # the bins of distance 0 and of none
WHOLE: Final = 19  # bits of a scaled difference: 2^15 squares of them fit in float64
STEPS: Final = 6  # comparisons
CELLS: Final = 2**STEPS
UNFRIENDLY: Final = 0.05  # expected number of pairs beyond r_pair
CLEAR: Final = 4.5  # noise deviations by which one of 2100 bins must stand out from nothing
COMMON: Final = 1 / 3  # of the fullest bin: as common as that


def pair_bins(rows: Floats) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The bin of the distance of each two rows that follow each other. [radius.1]"""
    with np.errstate(all="ignore"):
        apart = np.abs(rows[0::2] - rows[1::2])
        most = apart.max(axis=1, initial=0.0)
        usual = np.isfinite(most) & (most > 0)
        shift = np.frexp(np.where(usual, most, 1.0))[1]
        scaled = np.rint(np.ldexp(apart, WHOLE - shift[:, None]))  # up to 2^19: d squares add up exactly in any order
        square = np.where(usual, np.einsum("ij,ij->i", scaled, scaled), 1.0)
        exponent = np.floor_divide(np.frexp(square)[1] - 1, 2) + shift - WHOLE
    found = np.clip(exponent, LOWEST, HIGHEST) - LOWEST
    found = np.where(most == 0, ZERO, found)
    return np.asarray(np.where(np.isfinite(most), found, NONE), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PairScale:
    """The octave [2^exponent, 2^(exponent + 1)) of a common distance; or why there is none."""

    exponent: int = 0
    refusal: str | None = None

    @property
    def upper(self) -> float:
        """The upper end of the octave."""
        return math.ldexp(1.0, min(self.exponent + 1, HIGHEST))


def pair_scale(rows: Floats, *, cost: Gaussian, rng: Randomness) -> PairScale:
    """The least common octave of distances in pairs: rows 0 and 1, 2 and 3, ... [radius.1]"""
    counts = np.bincount(pair_bins(rows), minlength=NONE + 1)
    noisy, deviation = blurred(counts, square=2, cost=cost, rng=rng)  # [radius.1]
    bar = max(CLEAR * deviation, COMMON * float(noisy[:ZERO].max()))
    common = np.flatnonzero(noisy[:ZERO] >= bar)
    if len(common):
        return PairScale(int(common[0]) + LOWEST)
    if noisy[ZERO] >= CLEAR * deviation:
        return PairScale(refusal="nearly all rows seem to be one and the same: there is no scale to be found")
    if noisy[NONE] >= CLEAR * deviation:
        return PairScale(refusal="most rows seem to hold something that is no number")
    return PairScale(refusal="no distance between rows is common enough to be seen through the noise")


@dataclass(frozen=True, slots=True)
class FoundRadius:
    """A radius beyond which few rows lie, one that holds half if that was asked, and how many the widest one holds."""

    far: float
    held: float
    middle: float | None


def radius_quantiles(
    rows: Rows,
    centre: Floats,
    widest: float,
    few: float,
    *,
    cost: Gaussian,
    rng: Randomness,
    middle: bool = False,
    octave: int = 6,
) -> FoundRadius:
    """The least radii widest 2^(-j / octave) beyond which `few` rows seem to lie within `widest`, or half of them.

    One pass over the rows. [radius.2]
    """
    radii = widest * 2.0 ** (-np.arange(CELLS - 1, -1, -1) / octave)
    within = np.cumsum(cells(rows.blocks(), centre, radii))[:-1]
    times = comparisons(middle)
    shared = Allocation("gdp", exact(cost.mu), exact(cost.slack), times).split(each=Share(times=times))  # [radius.2]
    each = shared.part("each", Gaussian)
    held = float(noisy_count(int(within[-1]), each, rng))  # [radius.2]

    def search(enough: Callable[[int], bool]) -> float:
        low, high = 0, CELLS - 1
        for _ in range(STEPS):
            place = (low + high) // 2
            low, high = (low, place) if enough(place) else (min(place + 1, high), high)
        return float(radii[high])

    far = search(lambda place: noisy_count(int(within[-1] - within[place]), each, rng) <= few)  # [radius.2]
    # [radius.2]
    half = search(lambda place: noisy_count(int(within[place]), each, rng) >= held / 2) if middle else None
    return FoundRadius(far, held, half)


def comparisons(middle: bool) -> int:
    """How many counts are drawn."""
    return 1 + STEPS * (2 if middle else 1)


@cache
def r_pair(rows: int, width: int) -> float:
    """The radius that at most 0.05 pairs of N(m, I) rows are expected to exceed. [radius.3]

    >>> round(r_pair(1000, 1), 2), round(r_pair(4096, 100), 1)
    (7.53, 20.1)
    """
    from scipy.stats import chi2

    pairs = max(1.0, rows * (rows - 1) / 2)
    return math.sqrt(2 * float(chi2.isf(min(0.5, UNFRIENDLY / pairs), width)))  # [radius.3]


def r_clip(width: int, off: float, beyond: float) -> float:
    """The radius that an N(m, I) row exceeds with probability `beyond`, around a point at squared distance `off`.
    [radius.3]

    >>> round(r_clip(1, 0.0, 0.001), 3), round(r_clip(10, 0.0, 0.0005), 3)
    (3.291, 5.605)
    """
    from scipy.stats import chi2, ncx2

    square = float(chi2.isf(beyond, width) if off < 1e-9 else ncx2.isf(beyond, width, off))  # [radius.3]
    if not math.isfinite(square):  # beyond what scipy can invert: a normal approximation from above
        square = width + off + 6 * math.sqrt(2 * (width + 2 * off)) + 36
    return math.sqrt(square)


@cache
def octave(width: int) -> tuple[float, float]:
    """Of |x - y| for N(m, I) rows: the share of its fullest octave, and the least lower end that a common one may have.

    Both over all scales; the lower end is of an octave with at least 0.27 of that share, in units of sqrt 2.

    >>> [round(number, 2) for number in octave(1)], [round(number, 2) for number in octave(10)]
    ([0.29, 0.1], [0.5, 1.16])
    """
    from scipy.stats import chi

    starts = math.sqrt(width) * 2.0 ** np.linspace(-4, 2, 769)  # 128 to an octave
    mass = chi.cdf(2 * starts, width) - chi.cdf(starts, width)
    best = np.stack([mass[shift : shift + 128 * 5 + 1 : 128] for shift in range(128)]).max(axis=1)
    least = float(best.min())
    return least, float(starts[np.flatnonzero(mass >= 0.8 * COMMON * least)[0]])


PAIRS: Final = 1 << 12  # pairs whose distances are looked at, or more
COMPARED, PAIRED = 110.0, 150.0  # rows and pairs times mu, which outweigh the noise of the test and of the scale
MARGIN: Final = 29.0  # compared rows, times the test's mu, of which enough survive
BULK: Final = 1e-3  # of rows, beyond the radius of a first refinement
FULL: Final = 0.59  # of the buckets of places hold a pair: 1 - 3 / e^2
COUNT: Final = Fraction(1, 100)  # the share for the number of rows, where it is private
LEAST: Final = 0.004
SURVIVORS: Final = 3  # rows of which there is a friendly centre, at the least
MOST_SCALE, ROBUST_SCALE = 0.35, 0.08
HEAVY: Final = 1.15  # times a normal's ratio of radii
TAIL: Final = 1.5  # deviations of its own noise by which the filter's bound usually is off, beyond its margin


def compared(rows: int, mu: float) -> int:
    """How many rows are compared with each other: the more, the smaller mu. Public. [radius.4]"""
    return min(rows, max(MOST, math.ceil(min(COMPARED / mu, 8 * MOST))))


def moved(neighbours: Neighbours) -> int:
    """By how many radii one row moves a sum of rows in a ball."""
    return 2 if neighbours is Neighbours.REPLACE else 1


@lru_cache(maxsize=256)
def known_scale(rows: int, width: int, mu: float, miss: float, neighbours: Neighbours) -> Mapping[str, float] | None:
    """The shares of test, centre, again and mean that are predicted to give the least noise; None: too few.
    [radius.4]

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
    """The deviation of the answer's noise, for N(m, I) rows; infinite where too few would survive. [radius.4]"""
    move, first = moved(neighbours), compared(rows, mu)
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
    """The shares where neither centre nor scale is known; None if the rows are too few for the scale. [radius.4]

    >>> plan = unknown_scale(20_000, 100, 0.2367, Neighbours.REPLACE)
    >>> round(sum(plan.values()), 9), plan["mean"] > 0.8
    (1.0, True)
    """
    pairs = pairs_of(rows, mu, neighbours) * (1.0 if neighbours is Neighbours.REPLACE else FULL)
    needed = math.sqrt(2) / (pairs * octave(width)[0] * mu)
    scale = max(0.002, (2 * CLEAR * needed) ** 2)
    if scale > MOST_SCALE:
        return None
    scale = max(scale, min(ROBUST_SCALE, (4 * CLEAR * needed) ** 2))  # half of the pairs may hold an outlier
    fade, least = min(1.0, 3000 / rows), (MARGIN / (mu * compared(rows, mu))) ** 2
    parts = {"test": 0.06, "centre": 0.12, "first": 0.08, "again": 0.10, "last": 0.06, "square": 0.02}
    shares = {name: (1 - scale) * max(LEAST, share * fade) for name, share in parts.items()}
    for name in ("test", "centre"):  # the rows that are compared do not grow with the others: nor may these shrink
        shares[name] = max(shares[name], (1 - scale) * min(parts[name], least * parts[name] / parts["test"]))
    rest = 1 - scale - sum(shares.values())
    return {"scale": scale, **shares, "mean": rest}


def pairs_of(rows: int, mu: float, neighbours: Neighbours) -> int:
    """How many pairs, or buckets of places that may hold one, are looked at."""
    most = max(PAIRS, math.ceil(PAIRED / mu))
    return max(1, min(most, rows // 2 if neighbours is Neighbours.REPLACE else round(rows / 2)))


def fewest_rows(width: int, mu: float, neighbours: Neighbours) -> int:
    """The public number of rows from which on the scale is found."""
    full = 1.0 if neighbours is Neighbours.REPLACE else FULL
    return math.ceil(2 * math.sqrt(2) * 2 * CLEAR / (full * octave(width)[0] * mu * math.sqrt(MOST_SCALE)))


def first_radius(rows: int, width: int, mu: float, upper: float) -> float:
    """The radius within which rows are friends, if `upper` ends the most common octave of their distances.
    [radius.4]"""
    return upper * r_pair(compared(rows, mu), width) / (2 * math.sqrt(2) * octave(width)[1])


AFTER_BLOCKS: Final[Mapping[str, float]] = {"again": 0.2, "last": 0.2, "square": 0.04, "mean": 0.56}  # of what is left


def block_number(rows: int, width: int, mu: float) -> int:
    """How many blocks: enough for a private mean of their means to be near them, blocks of 64 rows at most.
    [radius.4]"""
    return max(2, math.ceil(rows / 64), min(rows // 2, math.ceil(200 * math.sqrt(width) / mu)))


def tail(rows: int, mu: float, least: float, middle: bool = False) -> float:
    """The share of rows beyond a radius that can be told from none: 3 deviations of a comparison's noise.
    [radius.4]"""
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
