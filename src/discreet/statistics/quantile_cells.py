"""What the ends of a quantile's interval may land on: floats, cells or the points of a grid, and how a grid is found.

Promise
    [quantile_cells.1] The place of a record among cells or grid points is a fixed, monotone function of that record and
          of public numbers, and so is whether it lies on a grid.
    [quantile_cells.2] The scores of the scale move by at most 10 GRAINS if a record is replaced, and by at most 9 if
          one is added; those of the granularity by at most 2 GRAINS and by GRAINS.
    [quantile_cells.3] A record rounded down is at most the record, to within 2^-50 of it, and is itself if it is a
          multiple of the unit.
Why
    [quantile_cells.1] Each is a composition of a division by a public number, a rounding and a look-up in a public
    table, all monotone; no record is compared with another.
    [quantile_cells.2] Scale: a replaced record moves either count of a window by at most 1, which counts 10; an added
    one moves 9 n - 10 c by -1 or 9, and 10 c - n by 9 or -1; what a prior is worth is public. Granularity: a score
    is the number of records against it less the number of the others, so an added record moves it by 1 and a replaced
    one by at most 2: those against a grid are off it; those against none at all are all but one of each value, and an
    added record is one of them or is not.
    [quantile_cells.3] What is rounded down is x / unit and 2^-50 of it, up to 2^41 units. For a multiple of the unit as
    floats write it the quotient is off by at most 2^-52 of itself, so the result is that multiple. From 2^49 units on a
    record stays where it is ([choose_float.4]).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial, reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.noise.choose_float import (
    BINADES,
    LARGEST_KEY,
    Prior,
    Staircase,
    cell_tops,
    float_of,
    keys_of,
    scale_free,
    uniform,
)
from discreet.noise.float_cells import in_cells, multiples, quotients
from discreet.noise.order_statistics import Ordered
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.statistics.rank_cells import RankCells
from discreet.tables.streams import Stream, added, each, fold

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Requests = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]

MAX: Final = float(np.finfo(float).max)
SPAN: Final = 10  # the bulk of |x| is looked for in windows of so many binades,
STRIDE: Final = 2  # this far apart,
WINDOWS: Final = (BINADES + SPAN + 1) // STRIDE  # so many in all;
BACK: Final = 7  # the prior is flat up to this many binades below a window's end,
RISE: Final = 6  # and nearly flat for so many more
TINY: Final = 1e-300
BLOCK: Final = 1 << 16  # records that stay in the cache
NOT_ROUNDED, TIED = Fraction(0), Fraction(-1)  # no unit: values of their own, or values that many share
UNITS: Final = (  # what data may be rounded to, coarse ones first, and how much sooner that is believed, in nats
    (Fraction(1000), 3.0),
    (Fraction(100), 2.0),
    (Fraction(10), 1.0),
    (Fraction(1), 0.0),
    (Fraction(1, 2), -4.0),
    (Fraction(1, 10), -5.0),
    (Fraction(1, 100), -7.5),
    (Fraction(1, 1000), -9.5),
    (NOT_ROUNDED, -11.0),
    (TIED, -16.0),
)
MOST_DISTINCT: Final = 2**20  # records up to which the different ones are counted
BEYOND: Final = 64.0  # times as far as nine tenths of the records: an end there was drawn by chance
SPECK: Final = 1e-12  # the same, but 0 itself: an end so near to 0 was, where the other one is beyond
FAR_OFF: Final = (
    "at q = {} an end was drawn far beyond nine tenths of the data, by a private look: it tells nothing, and the "
    "value leaves it out. Give public bounds, or ask for a larger epsilon"
)
LOST: Final = (
    "at q = {} both ends of the interval were drawn by chance, far from nine tenths of the data by a private look: "
    "too few rows for what they hold. Give public bounds=(low, high), bring more rows, or ask for a larger epsilon"
)
FIRM: Final = 17.0  # nats that make the prior count as it stands
SURE: Final = 6.0  # nats by which units above 1 must be refutable if they are to be tried
GRAINS: Final = 64  # of a record, in the scores of the granularity
NEAR: Final = 2.0**-50  # a record this near to a multiple, in parts of itself, lies on the grid,
FAR_OUT: Final = 2.0**41  # and none does beyond so many units, where floats are too coarse to tell


def middle(low: float, high: float, far: float) -> float:
    """Half-way; on the log scale if both ends have one sign and differ by more than the factor `far`.

    >>> middle(1.0, 3.0, 4.0), middle(1.0, 1e6, 4.0), middle(-1.7e308, 1.7e308, 4.0)
    (2.0, 1000.0, 0.0)
    """
    small, large = sorted((abs(low), abs(high)))
    if (low > 0 or high < 0) and small < large / far:
        return math.copysign(math.sqrt(small) * math.sqrt(large), high)
    return (low + high) / 2 if abs(low + high) <= MAX else low / 2 + high / 2


def farthest(end: int, q: Number) -> float:
    """How far from 0 a q-quantile is expected at most, where nine tenths of |x| lie below a binade's end: 64 times as
    far, or as much more as if the tail had index 1/2.

    >>> farthest(1024, 0.5), round(farthest(1024, 0.99)), farthest(2046, 0.5) < 2e308
    (128.0, 12800, True)
    """
    steeper = max(1.0, 0.1 / float(min(q, 1 - q))) ** 2
    return min(math.ldexp(1.0, min(end - 1023, 1023)), MAX / BEYOND / steeper) * BEYOND * steeper


def values_of(
    ends: Sequence[tuple[float, float]], shares: Sequence[Number], most: Sequence[float], far: float
) -> tuple[list[float], list[Number]]:
    """The middles of pairs of ends, and the shares at which one end alone is farther from 0 than its `most`: there the
    value is the other end, or that of a share nearer to the far one, if this lies farther on.

    >>> values_of([(1.0, 3.0), (1.5, 1e150)], [0.5, 0.9], [50.0, 50.0], 4.0)
    ([2.0, 2.0], [0.9])
    """
    off = [(abs(low) > limit) - (abs(high) > limit) for (low, high), limit in zip(ends, most, strict=True)]
    found = [middle(*pair, far) for pair in ends]
    sound = [(q, value) for q, value, side in zip(shares, found, off, strict=True) if not side]
    for place, (q, (low, high), side) in enumerate(zip(shares, ends, off, strict=True)):
        if side < 0:
            found[place] = max([low, *(value for other, value in sound if other < q and value <= high)])
        elif side > 0:
            found[place] = min([high, *(value for other, value in sound if other > q and value >= low)])
    return found, [q for q, side in zip(shares, off, strict=True) if side]


def lost_at(ends: Sequence[tuple[float, float]], shares: Sequence[Number], most: Sequence[float]) -> str | None:
    """Why there is no answer where one end is farther from 0 than its `most`, and the other too or next to nothing.

    >>> lost_at([(1.0, 1e150), (0.0, 1e150), (999.0, 1001.0)], [0.2, 0.5, 0.8], [50.0] * 3)
    >>> lost_at([(-1e90, 1e150)], [0.5], [50.0])[:16]
    'at q = 0.5 both '
    """
    found = []
    for q, (low, high), limit in zip(shares, ends, most, strict=True):
        near, far = sorted((abs(low), abs(high)))
        chance = low < 0 < high or far / BEYOND > near if near > limit else 0 < near < SPECK * limit
        if far > limit and chance:
            found.append(show(q))
    return LOST.format(" and ".join(found)) if found else None


def floor_to(value: float, unit: Number) -> float:
    """The largest multiple of `unit`, as a float, that is not above `value`. Exact. [quantile.4]

    >>> floor_to(0.3, 0.1), floor_to(0.29, 0.1), floor_to(-0.25, 0.1)
    (0.3, 0.2, -0.3)
    """
    times = math.floor(Fraction(value) / exact(unit))
    above = _float((times + 1) * exact(unit))
    return above if above <= value else _float(times * exact(unit))  # 0.3 stands for 3/10, though it is a little less


def ceil_to(value: float, unit: Number) -> float:
    """The smallest multiple of `unit`, as a float, that is not below `value`. Exact. [quantile.4]

    >>> ceil_to(0.1, 0.1), ceil_to(0.11, 0.1)
    (0.1, 0.2)
    """
    return 0.0 - floor_to(-value, unit)


def nearest_to(value: float, unit: Number) -> float:
    """The nearest multiple of `unit`, as a float."""
    return _float(round(Fraction(value) / exact(unit)) * exact(unit))


def _float(number: Fraction) -> float:
    """The nearest float, at most the largest one."""
    return float(min(max(number, -Fraction(MAX)), Fraction(MAX)))


# --- a prior that is flat on the scale of the data ---


def magnitudes(values: Floats | Ordered, default: float) -> Integers:
    """How many records have each binary exponent."""
    if isinstance(values, Ordered):
        return values.binades()
    counts = np.zeros(BINADES, dtype=np.int64)
    for start in range(0, len(values), BLOCK):
        keys = keys_of(np.abs(values[start : start + BLOCK]), abs(default))
        counts += np.bincount(keys >> 52, minlength=BINADES)
    return counts


def scale_scores(counts: Integers, cost: Choice, move: int) -> Any:
    """How far each window of SPAN binades is from holding the bulk of |x|, in tenths of a record and GRAINS of those.

    0 if at least nine tenths of the records lie below its end and at most one tenth below its start, where zeros do
    not count: they have no scale. Less what its prior is worth, at this cost and for scores that move by `move` tenths:
    a scale of 2^k has weight 1 / (1 + (k / 12)^2)^2. [quantile_cells.2]
    """
    size, upto = int(counts.sum()), np.concatenate([[0], np.cumsum(counts)])
    ends = STRIDE * np.arange(WINDOWS)
    sooner = -2 * np.log1p(((ends - 1023) / 12) ** 2)
    below = np.maximum(upto[np.maximum(ends - SPAN, 0)] - counts[0], 0)
    scores = np.maximum(9 * size - 10 * upto[np.minimum(ends, BINADES)], 10 * below - size)
    prior = np.rint(sooner * 2 * move * GRAINS / float(exact(cost.epsilon))).astype(np.int64)
    return GRAINS * np.maximum(0, scores) - prior


def find_scale(values: Floats | Ordered, default: float, *, swap: bool, cost: Choice, rng: Randomness) -> int:
    """The binade at which the scale of the data ends, by the exponential mechanism."""
    move = 10 if swap else 9
    scores = scale_scores(magnitudes(values, default), cost, move)
    return STRIDE * rng.choose(scores, sensitivity=move * GRAINS, cost=cost)  # [quantile_cells.2]


@lru_cache(maxsize=64)
def flat_below(end: int) -> Prior:
    """The prior for a window that ends at a binade.

    Lebesgue measure up to BACK binades below the end, a density that falls by 7/10 a binade for RISE binades, a
    scale-free tail.

    A scale-free prior has a pole at 0, which draws the ends of an interval to it. This one is flat at 0 (down to
    weights of 1, where what is left does not matter).
    """
    binade, top = max(0, end - BACK), 2**54
    flat = [max(1, top >> (binade - e)) for e in range(min(binade, BINADES))]
    rising = [round(top * Fraction(7, 5) ** j) for j in range(RISE + 1)][: BINADES - len(flat)]
    falling = [round(Fraction(4 * rising[-1], 4 + j * j)) for j in range(1, BINADES - len(flat) - RISE)]
    return Prior((*flat, *rising, *falling))


# --- what data are rounded to ---


def against(values: Floats | Ordered, default: float, units: Sequence[Fraction]) -> list[int]:
    """How many records speak against each unit; against none at all, how many share their value with an earlier one."""
    given = values.stream if isinstance(values, Ordered) else values
    grids = [unit for unit in units if unit not in (TIED, NOT_ROUNDED)]
    found = dict(zip(grids, off_grids(given, default, grids), strict=True)) | {TIED: 0}
    if NOT_ROUNDED in units:
        found[NOT_ROUNDED] = len(values) - len(fold(partial(_different, default=default), np.union1d, given))
    return [found[unit] for unit in units]


def _different(given: Iterator[Floats], *, default: float) -> Floats:
    return reduce(np.union1d, (np.where(np.isnan(piece), default, piece) for piece in given), np.empty(0))


def off_grids(given: Floats | Stream, default: float, units: Sequence[Fraction]) -> tuple[int, ...]:
    """How many records are no multiples of each unit, or 0 where it is above 1, in one pass. [quantile_cells.1]"""
    return fold(partial(_off_grids, default=default, units=tuple(units)), added, given)


def _off_grids(given: Iterator[Floats], *, default: float, units: tuple[Fraction, ...]) -> tuple[int, ...]:
    found = [0] * len(units)
    with np.errstate(all="ignore"):
        for block in (piece[start : start + BLOCK] for piece in given for start in range(0, len(piece), BLOCK)):
            records = np.where(np.isnan(block), default, block)
            for place, unit in enumerate(units):
                times = quotients(records, unit)
                on = (np.abs(times) < FAR_OUT) & (np.abs(times - np.rint(times)) <= NEAR * np.abs(times))
                on &= (times != 0) | (unit <= 1)  # flags are mostly 0, and not multiples of 1000
                found[place] += len(block) - int(np.count_nonzero(on))
    return tuple(found)


def tried_units(nats: float, count: int) -> list[tuple[Fraction, float]]:
    """The units among which the data's is looked for, and how much sooner each is believed.

    `nats` is what all records together can say against one: where that is much, the prior is up to three times as firm.

    >>> [float(unit) for unit, _ in tried_units(14.0, 1000)]
    [1.0, 0.5, 0.1, 0.01, 0.001, 0.0, -1.0]
    """
    given = dict(UNITS)
    firm = min(3.0, max(1.0, nats / FIRM))
    priors = {unit: firm * prior for unit, prior in UNITS}
    priors[TIED] = priors[NOT_ROUNDED] + given[TIED] - given[NOT_ROUNDED]
    if nats < SURE + priors[Fraction(1000)] - priors[TIED]:
        priors = {unit: prior for unit, prior in priors.items() if unit <= 1}
    return [(unit, prior) for unit, prior in priors.items() if unit != NOT_ROUNDED or count <= MOST_DISTINCT]


def find_unit(
    values: Floats | Ordered, default: float, count: int, *, swap: bool, cost: Choice, rng: Randomness
) -> Any:
    """What data are rounded to, by the exponential mechanism; `count` is public. [quantile_cells.2]

    0 if to nothing, and TIED if that is not true either: many share their values. A weight is e^{prior - nats}, with so
    many nats for each record that speaks against a unit as the cost allows.
    """
    move = 2 if swap else 1
    a_record = float(exact(cost.epsilon)) / move  # nats
    tried, size = tried_units(a_record * count, count), len(values)
    counts = against(values, default, [unit for unit, _ in tried])
    scores = [
        GRAINS * (2 * count - size) - round(2 * GRAINS * prior / a_record)
        for count, (_, prior) in zip(counts, tried, strict=True)
    ]
    return tried[rng.choose(scores, sensitivity=move * GRAINS, cost=cost)][0]  # [quantile_cells.2]


def floored(values: Floats | Ordered, default: float, unit: Fraction, side: int, bounds: tuple[float, float]) -> Any:
    """Records within the bounds, rounded down to multiples of the unit; their mirror images for side -1.

    A fixed, monotone function of each record. [quantile_cells.1] [quantile_cells.3]
    """
    if isinstance(values, Ordered):
        return Ordered(
            each(partial(floored, default=default, unit=unit, side=side, bounds=bounds), values.stream), default
        )
    with np.errstate(all="ignore"):
        inside = side * np.clip(np.where(np.isnan(values), default, values), *bounds)
        times = quotients(inside, unit)
        down = np.floor(times + np.where(np.abs(times) < FAR_OUT, NEAR * np.abs(times), 0.0))
        return np.where(in_cells(inside, unit), multiples(down, unit), inside)  # [quantile_cells.3]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What two ends are drawn from, in public numbers: cells, the multiples of a unit, or floats.

    `end` is the binade at which the data's scale ends, where there are no bounds.
    """

    bounds: tuple[float, float] | None
    missing: float
    unit: Fraction
    end: int
    cells: RankCells | None

    def ends(self, values: Floats | Ordered, requests: Requests, cost: Choice, rng: Randomness) -> tuple[float, float]:
        """The two draws, in order; a request is a rank and how far one record moves a score."""
        if self.cells is not None:
            places = self.cells.places(values, self.missing)
            drawn = [self.cells.draw(places, rank, move, cost, rng) for rank, move in requests]  # [quantile.5]
            low, high = self.cells.edges(min(drawn))[0], self.cells.edges(max(drawn))[1]
            if self.unit == TIED:  # an end this small is 0
                low, high = (0.0 if abs(end) < TINY else end for end in (low, high))
            return (floor_to(low, self.unit), ceil_to(high, self.unit)) if self.unit > 0 else (low, high)
        prior = flat_below(self.end) if self.bounds is None else uniform()
        (low_rank, _), (high_rank, _) = requests
        first, last = self.bounds or (-MAX, MAX)
        if self.unit:  # the upper end is drawn in a mirror
            stairs = [self.grid(values, 1, low_rank, prior), self.grid(values, -1, len(values) - high_rank, prior)]
        else:
            shared: dict[str, Any] = {"low": first, "high": last, "prior": prior, "default": self.missing}
            stairs = [Staircase(values, rank, **shared) for rank in (low_rank, high_rank)]
        found = [
            rng.choose_float(one, sensitivity=move, cost=cost)  # [quantile.2] [quantile.3]
            for one, (_, move) in zip(stairs, requests, strict=True)
        ]
        if self.unit:  # [quantile.4]
            found = [max(first, floor_to(found[0], self.unit)), min(last, -floor_to(found[1], self.unit))]
        return min(found), max(found)

    def grid(self, values: Floats | Ordered, side: int, rank: Fraction, prior: Prior) -> Staircase:
        """Records rounded down to multiples of the unit, or their mirror images; whole cells, the bounds' included."""
        bounds = self.bounds or (-MAX, MAX)
        ends = floored(np.array(sorted(side * end for end in bounds)), 0.0, self.unit, 1, (-MAX, MAX))
        top = max(int(keys_of(ends[1:])[0]), int(cell_tops(ends[1:], self.unit)[0]))
        records = floored(values, self.missing, self.unit, side, bounds)
        high = float_of(min(LARGEST_KEY, top))
        return Staircase(records, rank, low=float(ends[0]), high=high, prior=prior, unit=self.unit)


def point_stairs(
    values: Any, missing: float, unit: Fraction, bounds: tuple[float, float] | None, rank: Fraction
) -> Staircase:
    """What a single value is drawn from: floats, or the multiples of a unit, with records rounded to the nearest."""
    prior = scale_free() if bounds is None else uniform()
    if not unit:
        low, high = bounds or (-MAX, MAX)
        return Staircase(values, rank, low=low, high=high, prior=prior, default=missing)
    half = float(unit) / 2
    inside = None if bounds is None else (bounds[0] + half, bounds[1] + half)
    stream = isinstance(values, Ordered)
    values = Ordered(each(partial(np.add, half), values.stream), missing + half) if stream else values + half
    return Candidates(inside, missing + half, unit, 0, None).grid(values, 1, rank, prior)
