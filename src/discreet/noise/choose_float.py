"""The exponential mechanism over all float64 values: a quantile with no bounds, in pure privacy.

Releases
    One float64 t, drawn with probability proportional to W(t) exp(-epsilon s(t) / (2 D)), where the score
    s(t) = distance from the target rank tau to [#{x < t}, #{x <= t}] and W is a public prior. With a public unit, x < t
    means that t lies beyond the cell of x: the floats from x up to the next multiple of the unit.
Promise
    [choose_float.1] If one person's change moves s(t) by at most D for every t, the release is pure epsilon and bounded
         range epsilon (so epsilon^2 / 8 zCDP).
    [choose_float.4] Cells of different multiples do not overlap, however large they are.
    [choose_float.2] For a target rank fixed in advance, D = 1 under REPLACE. For tau = q n under ADD_OR_REMOVE, D =
    max(q, 1-q).
    [choose_float.3] The distribution is exact: every float64 is a candidate, no weight is rounded and none is cut off.
    [choose_float.5] A segment that floats tell is the one that the exact weights would tell, from the same random bits.
Why
    [choose_float.1] The exponential mechanism with a base measure; as [choose.3], the prior cancels.
    [choose_float.2] Replacing one record moves #{x < t} and #{x <= t} each by at most 1, and the distance of tau to an
    interval is 1-Lipschitz in its ends. Adding one moves each end by 0 or 1 (together, unless t is the new value, or in
    its cell) and tau by q: relative to tau an end moves by -q or 1 - q.
    [choose_float.3] float64 is a finite ordered set. Its order is that of integer keys; the score is a step function of
    the key, constant on each datum (or its cell) and on each gap between neighbouring data. W is a whole
    number, the same for each float of a binade but for those of few digits (ShortPrior), which are counted; so the
    W-measure of a gap is an exact integer. A segment is drawn by `pick` [choose.2], levels beyond the
    reach of the current precision standing together as one remainder; inside a segment the integer measure is
    inverted.
    [choose_float.4] k units as a float, over the unit as a float, are within 2^-51 k of k: four roundings of a relative
    2^-53. Up to 2^49 units k is therefore found again, and its cell ends before the float of k + 1. From there on, by
    the float of 2^49 units and not by a quotient, each float is a cell of its own. Were a float in two cells, it would
    be drawn by the sum of their weights, which a record more in one of them can double.
    [choose_float.5] [choose.5]: a share of the prior is rounded three times at most, a factor exp(-x) errs as there
    (x is rounded three times, and beyond 50 where one unit of score is); what is not listed weighs less than e^-50 <
    2^-72. Those listed are the first of the exact weights, in the same order; these, with 5 units for each power of a
    rung, err by less than 2^29 of 2^-bits.
Needs
    A public prior; optional public bounds, to which the data are clamped record by record.
Accuracy
    Where the density is smooth the rank error is two-sided exponential of scale 2 D / epsilon. With W-mass v on the
    points of score at most s0, P(s > S) <= exp(-epsilon (S - s0) / (2 D)) / v.
Source
    McSherry and Talwar 2007 with a base measure; Smith 2011 for quantiles on bounded intervals. Privacy rests on
    nothing newer.
"""

from bisect import bisect_right
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate
from math import ceil
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.choose import Bounds, clear_index, exp_bounds, exp_ladder, pick
from discreet.noise.distributions import BitSource, claimed
from discreet.noise.float_cells import in_cells, multiples, quotients
from discreet.noise.order_statistics import Ordered, order_statistics, ranked
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.loss import Choice, Loss
from discreet.tables.streams import Stream

NEAR: Final = 50  # times scores: how far floats are asked [choose_float.5]
TRIED: Final = 64  # keys that are looked at together
LIMB: Final = 27  # bits of the lower of two numbers that make a weight
TOGETHER: Final = 1 << 14  # keys weighed at once: short ones need 30 numbers for each
BINADES: Final = 2047
PER_BINADE: Final = 2**52
LARGEST_KEY: Final = BINADES * PER_BINADE - 1  # the key of the largest finite float
Keys = npt.NDArray[np.int64]
Whole = npt.NDArray[Any]  # whole numbers: int64, or Python's own where those would overflow


def keys_of(values: Any, default: float = 0.0) -> Keys:
    """The place of each float in their order: odd, order preserving. NaN -> default, +-inf -> the largest floats."""
    numbers = np.asarray(values, dtype=np.float64).ravel()
    numbers = np.where(np.isnan(numbers), default, numbers)
    bits = np.ascontiguousarray(np.clip(numbers, -np.finfo(float).max, np.finfo(float).max)).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def float_of(key: int) -> float:
    """The float at a key."""
    bits = np.uint64(key) if key >= 0 else np.uint64(2**63 + -key)
    return float(np.array([bits], dtype=np.uint64).view(np.float64)[0])


def cell_tops(values: Any, unit: Fraction) -> Keys:
    """The keys of the last floats before the next multiple of the unit, for values that are its multiples.

    Beyond the cells a value stands for itself. [choose_float.4]
    """
    after = keys_of(multiples(np.rint(quotients(values, unit)) + 1, unit))
    return np.where(in_cells(values, unit), after - 1, keys_of(values))  # [choose_float.4]


class Prior:
    """A public weight for each binade, the same for every float in it and for both signs."""

    def __init__(self, weights: tuple[int, ...]) -> None:
        if len(weights) != BINADES or min(weights) < 1:
            raise BadInput(f"a prior needs {BINADES} whole weights of at least 1, one for each binade")
        self.weights = weights
        self._before = [0, *accumulate(weight * PER_BINADE for weight in weights)]
        self._each = np.array([*weights, 0], dtype=object)
        self._sums = np.array(self._before, dtype=object)

    def up_to(self, keys: Keys) -> Whole:
        """The weight of all keys in [0, key); for a negative key minus that of [key, 0). As Python's integers."""
        mirrored = np.where(keys < 0, 1 - keys, keys)  # keys -1, ..., key mirror 1, ..., -key
        binades = mirrored // PER_BINADE
        found = self._sums[binades] + (mirrored % PER_BINADE).astype(object) * self._each[binades]
        weights: Whole = np.where(keys < 0, self.weights[0] - found, found)
        return weights

    def between(self, low: int, high: int) -> int:
        """The weight of all keys from low to high, both included."""
        before, upto = self.up_to(np.array([low, high + 1]))
        return int(upto - before)

    def between_all(self, low: Keys, high: Keys) -> Whole:
        """The same for many pairs of keys at once."""
        one, other = np.abs(low) // PER_BINADE, np.abs(high) // PER_BINADE
        weights: Whole = (high - low + 1).astype(object) * self._each[one]  # as many as there are, in one binade
        wide = np.flatnonzero((one != other) | ((low < 0) != (high < 0)))
        weights[wide] = self.up_to(high[wide] + 1) - self.up_to(low[wide])
        return weights

    def locate(self, low: int, offset: int) -> int:
        """The key at weight `offset` from the start of `low`."""
        place = int(self.up_to(np.array([low]))[0]) + offset
        if place >= 0:
            binade = bisect_right(self._before, place) - 1
            return binade * PER_BINADE + (place - self._before[binade]) // self.weights[binade]
        mirrored = self.weights[0] - place - 1  # the last unit of the mirrored key's weight, counted from 0
        return -self.locate(0, mirrored)


@cache
def scale_free(unit: int = 0) -> Prior:
    """Half-Cauchy on the binary exponent around 2^unit: binade k has weight about 1 / (31.4 (1 + (k / 10)^2))."""
    return Prior(tuple(max(1, round(Fraction(2**24 * 100, 100 + (e - 1023 - unit) ** 2))) for e in range(BINADES)))


class ShortPrior(Prior):
    """Half of the weight as before, half on numbers of few binary digits: 3, 40 or 0.25 weigh more than most floats.

    In each binade those of b digits or fewer, the multiples of 2^(53 - b) among its keys, share 1 / (b (b + 1)) of its
    weight, for b up to 30. 0, which many columns have for most, weighs as much as a ninth of all.
    """

    def __init__(self, weights: tuple[int, ...]) -> None:
        super().__init__(weights)
        digits = np.arange(1, 31)
        self._shares, self._bits = PER_BINADE // (digits * (digits + 1) << (digits - 1)), (53 - digits)[:, None]
        full = int(self._shares @ (PER_BINADE >> self._bits[:, 0]))
        short = accumulate(full * weight for weight in (0, 0, *weights[1:]))
        before = [one + other for one, other in zip(short, self._before, strict=True)]
        self._zero = self._before[-1] // 2
        if max(weights) >> LIMB - 2 or before[-1] >> LIMB + 60:  # products and sums below stay far below 2^62
            raise BadInput(f"weights of such a prior must be below 2^{LIMB - 2}, and sum to less than 2^34")
        self._starts = np.array([divmod(one, 1 << LIMB) for one in before], dtype=np.int64).T
        self._zeros = divmod(self._zero, 1 << LIMB), divmod(weights[0] + self._zero, 1 << LIMB)
        self._small = np.array([*weights, 0], dtype=np.int64)

    def up_to(self, keys: Keys) -> Whole:
        """The weight of all keys in [0, key); for a negative key minus that of [key, 0). As Python's integers."""
        above, below = self._in_parts(keys)
        weights: Whole = (above.astype(object) << LIMB) + below.astype(object)
        return weights

    def _in_parts(self, keys: Keys) -> tuple[Keys, Keys]:
        """The same as two numbers a and b for a 2^LIMB + b: whole numbers of Python's take ten times as long."""
        if len(keys) > TOGETHER:
            found = [self._in_parts(keys[at : at + TOGETHER]) for at in range(0, len(keys), TOGETHER)]
            return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])
        mirrored = np.where(keys < 0, 1 - keys, keys)
        binades, rest = mirrored // PER_BINADE, mirrored % PER_BINADE
        short = -np.einsum("i,ij->j", self._shares, -rest >> self._bits)  # each share as often as it has begun
        many, weight = rest + np.where(binades > 0, short, 0), self._small[binades]
        (zero, its_rest), (first, its_first) = self._zeros
        above = self._starts[0][binades] + (many >> LIMB) * weight + zero * (mirrored > 0)
        below = self._starts[1][binades] + (many & ((1 << LIMB) - 1)) * weight + its_rest * (mirrored > 0)
        return np.where(keys < 0, first - above, above), np.where(keys < 0, its_first - below, below)

    def between_all(self, low: Keys, high: Keys) -> Whole:
        """The weights of all keys from low to high, for many pairs."""
        (above, below), (less, least) = self._in_parts(high + 1), self._in_parts(low)
        weights: Whole = ((above - less).astype(object) << LIMB) + (below - least).astype(object)
        return weights

    def locate(self, low: int, offset: int) -> int:
        """The key at weight `offset` from the start of `low`: the last one that begins there or before."""
        place, high = int(self.up_to(np.array([low]))[0]) + offset, LARGEST_KEY + 1
        while high - low > 1:
            step = -(-(high - low) // TRIED)
            begun = int(np.count_nonzero(self.up_to(np.array(range(low + step, high, step))) <= place))
            low, high = low + begun * step, min(high, low + (begun + 1) * step)
        return low


@cache
def short_numbers() -> ShortPrior:
    """As `scale_free`, with half of the weight on numbers of few binary digits."""
    return ShortPrior(scale_free().weights)


@cache
def uniform() -> Prior:
    """Lebesgue measure: a float weighs as much as the room it has. For public bounds."""
    return Prior(tuple(2 ** max(e - 1, 0) for e in range(BINADES)))


@dataclass(frozen=True, eq=False)
class Staircase:
    """The score of every float64: how far the target rank is from the ranks that the float could have.

    `low` and `high` are public; data outside are clamped to them, one record at a time. With a public `unit`, data are
    its multiples, and each stands for all floats up to the next multiple.
    """

    values: Any
    rank: Number
    _: KW_ONLY
    low: float = -float(np.finfo(float).max)
    high: float = float(np.finfo(float).max)
    prior: Prior | None = None
    default: float = 0.0
    unit: Fraction | None = None

    def __post_init__(self) -> None:
        if not (is_number(self.low) and is_number(self.high) and self.low < self.high):
            raise BadInput(f"bounds are ({self.low!r}, {self.high!r}); give two finite numbers, the lower first")
        if not (is_number(self.rank) and is_number(self.default)):
            raise BadInput(f"rank is {self.rank!r}, default is {self.default!r}; give two finite numbers")

    @property
    def measure(self) -> Prior:
        """The prior in force."""
        return self.prior or scale_free()

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The keys of the bounds."""
        low, high = keys_of([self.low, self.high])
        return int(low), int(high)

    @cached_property
    def keys(self) -> Keys:
        """The data as keys within the bounds, unsorted."""
        return np.clip(keys_of(self._all), *self.ends)

    @cached_property
    def tops(self) -> Keys:
        """The last keys of their cells."""
        return self._tops(self._all, self.keys)

    @cached_property
    def _all(self) -> npt.NDArray[np.float64]:
        return order_statistics(self._numbers, 0, len(self._numbers))

    def _tops(self, values: npt.NDArray[np.float64], keys: Keys) -> Keys:
        return keys if self.unit is None else np.clip(cell_tops(values, self.unit), keys, self.ends[1])

    @cached_property
    def _numbers(self) -> npt.NDArray[np.float64] | Ordered:
        """The data as floats, missing ones as the default."""
        if isinstance(self.values, Ordered):
            return self.values
        given = self.values if isinstance(self.values, Stream) else np.asarray(self.values, dtype=np.float64).ravel()
        return ranked(given, self.default)

    @property
    def grain(self) -> int:
        """Scores are whole multiples of 1 / grain."""
        return exact(self.rank).denominator

    def segments(self, reach: int) -> list[tuple[Fraction, int, int]]:
        """(score, first key, last key) of every segment whose score is below `reach`, in a fixed order."""
        columns = (column.tolist() for column in self.levels(reach))
        return [(Fraction(level, self.grain), first, last) for level, first, last in zip(*columns, strict=True)]

    def levels(self, reach: int) -> tuple[Whole, Keys, Keys]:
        """The same in columns, with scores as whole numbers of grains.

        A rank beyond all records counts as the nearest one: that lowers all scores alike, and the distribution stays
        the same. Only order statistics within `reach` of the target rank are sorted: linear time in the number of
        records. Clamping and keys keep the order, so they are applied to those alone.
        """
        size, grain = len(self._numbers), self.grain
        tau = min(max(exact(self.rank), Fraction(0)), Fraction(size))
        target, limit = int(tau * grain), reach * grain
        start, stop = max(0, ceil(tau) - reach - 1), min(size, ceil(tau) + reach + 1)
        window = order_statistics(self._numbers, start, stop)
        low, high = self.ends
        distinct, one, times = np.unique(np.clip(keys_of(window), low, high), return_index=True, return_counts=True)
        tops = self._tops(window[one], distinct)
        places: Whole = np.concatenate([[start], start + np.cumsum(times)])
        if (size + 1) * grain >= 2**62:
            places = places.astype(object)  # Python's integers, which do not overflow
        upto = places * grain  # ties across an end of the window lie on the far side of tau: they change no score
        # gap, record, gap, record, ..., gap: where each begins, where it ends, and its score
        first, last = np.empty(2 * len(distinct) + 1, np.int64), np.empty(2 * len(distinct) + 1, np.int64)
        score = np.empty(len(first), upto.dtype)
        first[1::2], last[1::2] = distinct, tops
        first[0], first[2::2] = (distinct[0] if start else low), tops + 1
        last[:-1:2], last[-1] = distinct - 1, high
        score[::2] = abs(target - upto)
        score[1::2] = np.maximum(0, np.maximum(upto[:-1] - target, target - upto[1:]))
        kept = (first <= last) & (score < limit)
        kept[-1] &= stop == size
        order = np.flatnonzero(kept)[np.argsort(score[kept], kind="stable")]
        return score[order], first[order], last[order]

    def score(self, key: int) -> Fraction:
        """The score of one float, by its key: the definition, for audits."""
        below, upto = int(np.count_nonzero(self.tops < key)), int(np.count_nonzero(self.keys <= key))
        return max(Fraction(0), below - exact(self.rank), exact(self.rank) - upto)  # [choose_float.2]

    def scores(self, places: Keys) -> list[Fraction]:
        """The scores of many floats, by their keys. [choose_float.2]"""
        tau = exact(self.rank)
        below = np.searchsorted(np.sort(self.tops), places, side="left").tolist()
        upto = np.searchsorted(np.sort(self.keys), places, side="right").tolist()
        return [max(Fraction(0), low - tau, tau - high) for low, high in zip(below, upto, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class ChooseFloat:
    """The exponential mechanism over float64."""

    staircase: Staircase
    sensitivity: Number
    cost: Choice

    def __post_init__(self) -> None:
        claimed(self.sensitivity)

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: BitSource) -> float:
        """A segment, then a float inside it by its weight."""
        stairs = self.staircase
        unit = exact(self.cost.epsilon) / (2 * claimed(self.sensitivity))  # [choose_float.1]
        whole = stairs.measure.between(*stairs.ends)
        first = last = np.empty(0, np.int64)

        def weights(bits: int) -> Bounds:
            nonlocal first, last
            reach = ceil(bits * Fraction(7, 10) / unit)  # exp(-unit reach) < 2^-bits
            levels, first, last = stairs.levels(reach)
            masses = stairs.measure.between_all(first, last)
            distinct, which = np.unique(levels, return_inverse=True)
            rungs = exp_ladder(unit / stairs.grain, distinct.tolist(), bits)[which]
            least = masses * rungs[:, 0]
            low, high = least.tolist(), (least + masses * (rungs[:, 1] - rungs[:, 0])).tolist()  # sooner than a product
            rest = whole - int(masses.sum())
            if rest:
                low.append(0)
                # [choose_float.3]: the rest has a score of at least `reach`
                high.append(rest * exp_bounds(unit * reach, bits)[1])
            return low, high

        def sure(bits: int, uniform: int) -> int | None:
            nonlocal first, last
            levels, first, last = stairs.levels(ceil(NEAR / unit))
            masses = stairs.measure.between_all(first, last)
            short = whole.bit_length() < 1000  # else they are too large for floats
            shares = masses.astype(np.float64) / float(whole) if short else (masses / whole).astype(np.float64)
            factors = np.exp((levels / stairs.grain).astype(np.float64) * -float(unit))  # grains alone may be too many
            return clear_index(shares * factors, uniform, bits, 2.0**-72)  # [choose_float.5]

        # the lightest float against all the others
        chosen = pick(weights, source, bits=64 + whole.bit_length(), sure=sure)
        start, stop = int(first[chosen]), int(last[chosen])
        # [choose_float.3]
        return float_of(stairs.measure.locate(start, source.below(stairs.measure.between(start, stop))))

    def objection(self, neighbour: "ChooseFloat") -> str | None:
        """Different parameters, or a float whose score moves too far: looked for at every datum and gap of both."""
        mine, other = self.staircase, neighbour.staircase
        public = (self.sensitivity, self.cost, mine.ends, mine.unit)
        if public != (neighbour.sensitivity, neighbour.cost, other.ends, other.unit):
            return "the parameters of a choice depend on the data"
        if type(mine.measure) is not type(other.measure) or mine.measure.weights != other.measure.weights:
            return "the prior depends on the data"
        data = np.unique(np.concatenate([mine.keys, other.keys, mine.tops, other.tops, mine.ends]))
        places = np.clip(np.concatenate([data, data - 1, data + 1]), *mine.ends)
        moved = max(abs(a - b) for a, b in zip(mine.scores(places), other.scores(places), strict=True))
        if moved > exact(self.sensitivity):
            return f"a score moved by {float(moved):.6g}, claimed {float(exact(self.sensitivity)):.6g}"
        return None
