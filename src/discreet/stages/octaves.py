"""How far numbers reach, by noisy counts of their octaves: the unit of a column, the tail of a list of lengths,
and how far the records of a column reach from a centre.

Releases
    `column_unit`: the noisy number of rows in each octave of |x - centre|; from it a power of two that all but rows too
    few to be seen stay below. `tail_of`: the same for half octaves of lengths, and from it how long the k longest are.
    `distance_tail`: the same for quarters of octaves of |x - centre|; from it the distance at which the data are
    seen to end, and how many records lie how far beyond any other.
Promise
    [octaves.1] Gaussian(mu, slack) or Laplace(epsilon) under both relations: one row moves the counts by 1
          (ADD_OR_REMOVE), or (REPLACE) by sqrt(2) in L2 and 2 in L1.
    [octaves.2] What is made of the counts reads them, a public centre or one that was released, and a number of rows
          that is public or was released. No value raises.
Why
    [octaves.1] A row is in one bin or in none (where the number is missing, equal to the centre or more than 2^200 from
    it), by a fixed function of its own entry: a difference, and the bits of its exponent and fraction. Counts are whole
    numbers and leave in steps of 2^-bits: [additive.1], [additive.2]. Those beyond 2^27 are cut before, which enlarges
    no distance. Quarters of octaves likewise: a record's cell (stages/locate.py) is the exponent and two bits of
    |x - centre|; those below 2^-80 are in none, those above 2^80 are in the last.
    [octaves.2] As the code reads. A noisy median misses a value that most rows share by a distance that tells nothing:
    where that is the one octave that is seen, `place_of` finds no unit.
Needs
    Some 4 deviations of noise in a bin: 4 / mu rows, 6 / mu under REPLACE.
    Some 20 scales of Laplace noise in one octave: 80 records at an epsilon of 1/4, 160 under REPLACE.
Accuracy
    The tail is that of a logarithm of lengths which is linear in normal scores, as of a lognormal: exact there, too
    short for a Pareto tail, whose rows are seen last.
    Data that end abruptly are seen to do so within a quarter of an octave. Beyond an edge that 20 deviations of noise
    exceed the tail is taken as exponential, with the mean excess over that edge, raised by as much as it grew from the
    median distance on: about right for normal and Weibull tails, too short for Pareto's. An octave far above all
    records is seen by chance once in 1000 times; what follows from it is wide, not wrong.
Source
    Karwa and Vadhan 2018 (histograms of scales); Hill 1975 for slopes of tails, here by the counts of bins.
    Karwa and Vadhan 2018 (histograms of scales), Huang, Liang and Yi 2021 (a clip that balances noise and bias).
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from discreet.accounting.allocation import Allocation
from discreet.noise.additive import ROOM, slack
from discreet.noise.choose_float import short_numbers
from discreet.noise.distributions import LARGEST_SCALE
from discreet.privacy.exact import exact, root_above
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.declared import LARGEST
from discreet.stages.locate import COARSE, cells, middle
from discreet.stages.octave_counts import BIAS, BIASED, half_octaves_of
from discreet.tables.streams import Numbers, added, dense, fold

COUNT_BITS: Final = 34  # a count leaves in steps of 2^-34
COLUMN: Final = 200  # octaves of a column: 2^-200 to 2^200, those beyond in none
SHORT, LENGTH = -32, 40  # octaves of a length
SEEN, NEAR, FAR = 4.2, 5.0, 5.5  # deviations of noise: of a heaviest bin, of one of the next 12, of one beyond
SEEN_FAR, USUAL = 6.5, (-20, 40)  # and of a heaviest bin of numbers below 2^-20 or above 2^40, some 340 of 400
AROUND: Final = 12
HEAVIER: Final = 1.7  # deviations of Laplace noise for one of normal noise, so far out
MIDDLE: Final = 0.75  # of an octave's upper end
REACHED: Final = np.array([2.9, 2.9, 3.3, 3.3, 3.3])  # deviations by which the tail goes on, in each of the next bins
STEPS: Final = len(REACHED)
SHARED, HIDDEN = 0.7, 4.0  # of all rows in the one octave that is seen; deviations of noise: rows that are not in it
CERTAIN: Final = 400.0  # deviations of noise: of so many rows the centre is no other than a value that most share
LEAST: Final = 2.0  # deviations of noise: rows from the last bin that is seen on
MISSED: Final = 3.0  # deviations of noise: rows beyond the last bin that is seen
STEEP: Final = 10.0  # deviations of noise from which a number of rows tells the slope
STEEPER: Final = 1.5  # times the slope farther down
SLOPES: Final = (0.2, 2.5)
HALVES: Final = 2 * (LENGTH - SHORT + 1)  # half octaves of a length


def counts_cost(mu: Fraction, bins: int, neighbours: Neighbours) -> Gaussian:
    """The cost of so many counts with this mu, their slack included. [octaves.1]"""
    return Gaussian(mu, slack(bins, math.ceil(_moved(neighbours, 2) * 2 ** _bits(mu) / mu)))


def _moved(neighbours: Neighbours, norm: int) -> Fraction:
    if neighbours is not Neighbours.REPLACE:
        return Fraction(1)  # [octaves.1]
    return root_above(2) if norm == 2 else Fraction(2)  # [octaves.1]


def counts_noise(cost: Gaussian | Laplace, neighbours: Neighbours) -> float:
    """The standard deviation of the noise on a count: public."""
    if isinstance(cost, Gaussian):
        return float(_moved(neighbours, 2) / exact(cost.mu))
    return math.sqrt(2) * float(_moved(neighbours, 1) / exact(cost.epsilon))


def _bits(mu: Fraction) -> int:
    """How fine the steps of a count are: fewer where noise of this cost would be too wide for the integers."""
    bits = COUNT_BITS
    while bits > 8 and 2 ** (bits + 1) > LARGEST_SCALE * mu:
        bits -= 1
    return bits


def noisy_counts(
    found: Any, *, cost: Gaussian | Laplace, neighbours: Neighbours, rng: Randomness
) -> tuple[Floats, float]:
    """Counts of disjoint sets of rows plus noise, and its standard deviation. [octaves.1]"""
    size, norm = (cost.mu, 2) if isinstance(cost, Gaussian) else (cost.epsilon, 1)
    bits, moved = _bits(exact(size)), _moved(neighbours, norm)
    counted = np.minimum(np.asarray(found, dtype=np.int64), ROOM >> bits) << bits  # which else could wrap around
    blurred = rng.blur(counted, sensitivity=moved * 2**bits, cost=cost)  # [octaves.1]
    return np.asarray(blurred, dtype=np.float64) / 2.0**bits, counts_noise(cost, neighbours)


def noisy_size(size: int, *, cost: Gaussian, rng: Randomness) -> float:
    """A number of rows plus noise, at least 1: rows are added or removed. [octaves.1]"""
    found, _ = noisy_counts([size], cost=cost, neighbours=Neighbours.ADD_OR_REMOVE, rng=rng)
    return max(1.0, float(found[0]))


def column_cost(mu: Fraction, neighbours: Neighbours) -> Gaussian:
    """Of `column_unit`."""
    return counts_cost(mu, 2 * COLUMN + 1, neighbours)


def tail_cost(mu: Fraction, neighbours: Neighbours) -> Gaussian:
    """Of `tail_of`."""
    return counts_cost(mu, HALVES, neighbours)


def least_seen(cost: Gaussian | Laplace, neighbours: Neighbours) -> float:
    """So many rows must differ for a column to have a unit, or nearly so many: public. [octaves.2]"""
    return SEEN * (1.0 if isinstance(cost, Gaussian) else HEAVIER) * counts_noise(cost, neighbours)


def column_unit(
    values: Numbers, centre: float, *, cost: Gaussian | Laplace, neighbours: Neighbours, rng: Randomness
) -> tuple[float, float, float] | None:
    """A power of two above |x - centre| of all rows but a few, the root mean square of those that differ, and how many
    they are, more or less; None where too few do. [octaves.2]"""
    octaves = dense(cells(values, centre, 0), BIASED)  # missing, infinite and 0 at the ends
    counts = octaves[BIAS - COLUMN : BIAS + COLUMN + 1]  # [octaves.1]
    found, noise = noisy_counts(counts, cost=cost, neighbours=neighbours, rng=rng)
    odd = (np.arange(len(found)) - COLUMN < USUAL[0]) | (np.arange(len(found)) - COLUMN > USUAL[1])
    clear = np.where(odd, found * (SEEN / SEEN_FAR), found)  # a unit of 2^-100 made of noise would spoil everything
    usual = np.where(odd, -np.inf, found)  # and so would the many zeros of a column whose centre is nearly 0
    heaviest = int(np.argmax(usual if usual.max() >= least_seen(cost, neighbours) else clear))
    if clear[heaviest] < least_seen(cost, neighbours):  # [octaves.2]
        return None
    noise *= 1.0 if isinstance(cost, Gaussian) else HEAVIER
    least = np.where(np.arange(len(found)) <= heaviest + AROUND, NEAR, FAR) * noise
    seen = np.union1d(heaviest, np.flatnonzero(found > least))
    seen = seen[np.abs(seen - seen.max()) <= AROUND]
    top = 2.0 ** (int(seen.max()) - COLUMN)
    squares = (MIDDLE * 2.0 ** (seen - seen.max())) ** 2
    rows = float(found[seen].sum())
    return top, top * math.sqrt(float((found[seen] * squares).sum()) / rows), rows


def place_of(
    values: Numbers, costs: Allocation, *, neighbours: Neighbours, rng: Randomness, size: float | None = None
) -> tuple[float, float, float, float] | None:
    """Where a column is, by the parts "centre" (none: at 0) and "unit": the centre, and what `column_unit` finds.

    None where too few rows show; and, of about `size` rows, where only those show that share one value. [octaves.2]"""
    drawn: dict[str, Any] = {"neighbours": neighbours, "rng": rng}
    centre = 0.0
    if "centre" in costs:  # few digits first: 0 where most are 0, and no number beside it
        centre = middle(values, cost=costs.part("centre", Choice), prior=short_numbers(), **drawn)
    found = column_unit(values, centre, cost=costs.part("unit", Gaussian), **drawn)
    if found is None or not abs(centre) < LARGEST:
        return None
    noise = counts_noise(costs.part("unit", Gaussian), neighbours)
    return None if size is not None and _tied(centre, found, size, noise) else (centre, *found)


def _tied(centre: float, found: tuple[float, float, float], size: float, noise: float) -> bool:
    """Whether most rows may share one value, and `top` be no more than its distance from the centre: they are all that
    is seen, in one octave, and they may be 0, or others are missing.

    >>> _tied(0.001, (2.0**-9, 0.75 * 2.0**-9, 4300), 5000, 90), _tied(0.001, (4.0, 2.2, 4300), 5000, 90)
    (True, False)
    """
    top, usual, rows = found
    if rows < SHARED * size or usual < MIDDLE * top or size > CERTAIN * noise:  # two of three even grades may share one
        return False
    return top / 2 <= abs(centre) < top or size - rows > HIDDEN * noise  # [octaves.2]


@dataclass(frozen=True, slots=True)
class Tail:
    """How long the k longest of about `size` rows are: `beyond` of them exceed `edge`, and z(k) tells the rest.

    `typical` is a length that about half of the rows exceed, `fourth` no less than the mean of fourth powers."""

    size: float
    edge: float
    beyond: float
    slope: float
    typical: float
    fourth: float = math.inf

    def _score(self, k: Any) -> Any:
        return -ndtri(np.clip(np.asarray(k) / self.size, 1e-12, 0.98) / 2)

    def at(self, k: Any) -> Any:
        """The length that k rows exceed."""
        return self.edge * np.exp(self.slope * (self._score(k) - self._score(self.beyond)))

    def times(self, factor: float) -> "Tail":
        """The tail of lengths that are so many times as long."""
        longer = {"edge": self.edge * factor, "typical": self.typical * factor, "fourth": self.fourth * factor**4}
        return replace(self, **longer)

    def longer(self, other: "Tail", k: float) -> "Tail":
        """Of two tails the one whose k longest are longer."""
        return self if self.at(k) >= other.at(k) else other

    def excess(self, k: float, power: int = 1) -> float:
        """The sum over the k longest of length^power, less the same of the shortest of them."""
        score, shift = float(self._score(k)), power * self.slope
        # lengths are exp(a z) in units, z beyond its k: 2 n exp(a^2 / 2) Phi(a - z) by completing the square
        unit = self.edge**power * math.exp(-shift * float(self._score(self.beyond)))
        mean = 2 * self.size * math.exp(shift**2 / 2 + float(log_ndtr(shift - score)))
        return max(0.0, unit * (mean - 2 * self.size * float(ndtr(-score)) * math.exp(shift * score)))

    def most(self, low: float, high: float, share: float, power: int = 1) -> float:
        """The most rows, from `low` to `high`, whose excess is at most this many times the length that they exceed, or
        times its power."""
        tried = low * (high / low) ** (np.arange(16) / 15)
        return max(
            (float(k) for k in tried if self.excess(k, power) <= share * float(self.at(k)) ** power), default=low
        )


def tail_of(lengths: Numbers, size: float, *, cost: Gaussian, neighbours: Neighbours, rng: Randomness) -> Tail | None:
    """The tail of positive lengths, `size` a number of rows that is public or was released. [octaves.2]"""
    counts = fold(half_octaves_of, added, lengths)
    first = 2 * (BIAS + SHORT)
    inside = counts[first : 2 * (BIASED - 1)].copy()  # [octaves.1]: none that is missing or infinite
    inside[0] += counts[:first].sum()
    inside[HALVES - 1] += inside[HALVES:].sum()
    found, noise = noisy_counts(inside[:HALVES], cost=cost, neighbours=neighbours, rng=rng)
    top = int(np.argmax(found))
    if found[top] < SEEN * noise:  # [octaves.2]
        return None
    while (ahead := np.flatnonzero(found[top + 1 : top + 1 + STEPS] > REACHED[: HALVES - top - 1] * noise)).size:
        top += 1 + int(ahead.max())

    def beyond(start: int) -> float:
        return max(float(found[max(start, 0) : top + 1 + STEPS].sum()), LEAST * noise)

    def score(k: float) -> float:
        return float(-ndtri(min(k / size, 0.98) / 2))

    def slope_from(upper: int, lower: int) -> float:
        return (upper - lower) * math.log(2) / 2 / max(score(beyond(upper)) - score(beyond(lower)), 1e-6)

    here, base = score(beyond(top)), top - 1
    while base > 0 and beyond(base) < STEEP * noise:  # so far down that the slope is told well
        base -= 1
    slope = min(slope_from(top, base), STEEPER * slope_from(base, max(base - STEPS, 0)))
    above = max(float(found[top + 1 : top + 1 + STEPS].sum()), 0.0) + MISSED * noise  # rows that may be longer still
    slope = min(slope, math.log(2) / 2 / max(score(above) - here, 1e-6))
    slope = min(max(slope, SLOPES[0]), SLOPES[1])
    edge = 2.0 ** (top / 2 + SHORT - 1)
    risen = np.cumsum(np.where(found > noise, found, 0.0)[: top + 1])
    typical = 2.0 ** ((np.searchsorted(risen, risen[-1] / 2) + 0.5) / 2 + SHORT - 1)
    tail = Tail(size, edge, beyond(top), slope, float(typical))
    ends = 2.0 ** ((np.arange(top + 1) + 1) / 2 + SHORT - 1)  # of bins: nobody in them is longer
    fourth = float(np.maximum(found[: top + 1], 0.0) @ ends**4) + tail.excess(tail.beyond, 4)
    return replace(tail, fourth=fourth / size)


QUARTERS: Final = 1 << COARSE
DISTANCE: Final = 80  # octaves of a distance: 2^-80 to 2^80, those below in none, those above in the last
LOWEST: Final = (1023 - DISTANCE) << COARSE  # the cell of 2^-80
PLACES: Final = (2 * DISTANCE + 1) << COARSE
CHANCE, NEXT = math.log(1000), 6.0  # nats: that no octave far above all is seen, and that the next one is not by chance
LAST, FURTHER = 4.6, 0.9  # nats of the last quarter that is seen, and of each that it is further out
RISE: Final = np.linspace(0.05, 0.95, 19)  # of Chernoff's bound
MEASURED: Final = 21.0  # deviations of noise: so many rows tell how a tail goes on
ATOM, UNSEEN = 0.6, 10.0  # of all rows in one quarter, and deviations of noise: rows that are in none that is seen
THIN: Final = 3.5  # deviations of noise in some octaves together
STEEPEST, FLATTEST = 0.1, 1.0  # mean excess over an edge, in units of it
HALF, GROWN = 0.5, 2.0  # of the rows: an excess that grows from there on goes on to, at most by so much
CLEAR: Final = 6.5  # deviations of noise in a quarter that is not empty
MISSED_FAR: Final = 6.0  # deviations of noise: an octave's worth of records missed


@dataclass(frozen=True, slots=True, eq=False)
class DistanceTail:
    """How far the k furthest of some rows are: `beyond` of them exceed `edge`, by `excess` on average, and hardly more
    than `more` exceed `last`."""

    edge: float
    beyond: float
    excess: float
    last: float
    more: float
    counts: Floats
    noise: float

    def at(self, k: float) -> float:
        """The distance that k rows exceed, at least the last one at which some are seen."""
        by_edge, by_last = math.log(max(1.0, self.beyond / k)), math.log(max(1.0, self.more / k))
        return max(self.last, min(self.edge + self.excess * by_edge, self.last + self.excess * by_last))

    def many_beyond(self, limit: float) -> bool:
        """Whether more rows than the noise could feign lie in some of the octaves beyond a limit, thinly spread."""
        ahead = self.counts[int(np.searchsorted(_edges(np.arange(PLACES)), limit)) :]
        windows = (ahead[: octaves * QUARTERS] for octaves in (2, 4, 8))
        return any(part.sum() > THIN * math.sqrt(max(part.size, 1)) * self.noise for part in windows)

    def limit(self, noise: float, power: int) -> float:
        """The distance R beyond which the sum of |x|^power - R^power is about `noise` R^power."""
        found, a = self.last, self.excess
        for _ in range(8):  # an exponential tail of k rows beyond R exceeds R by k a, and R^2 by 2 k a (R + a)
            each = a / found if power == 1 else 2 * a * (found + a) / found**2
            found = self.at(noise / each)
        return found


def distance_tail(
    values: Numbers, *, centre: float, size: float, cost: Gaussian | Laplace, neighbours: Neighbours, rng: Randomness
) -> DistanceTail | None:
    """The tail of distances from a centre, `size` a number of rows that is public or was released; None where too few
    differ from the centre to be seen. [octaves.2]"""
    occupied, times = cells(values, centre, COARSE)
    place = np.minimum(occupied - LOWEST, PLACES - 1)  # [octaves.1]
    counts = np.zeros(PLACES, dtype=np.int64)
    np.add.at(counts, place[place >= 0], times[place >= 0])
    found, noise = noisy_counts(counts, cost=cost, neighbours=neighbours, rng=rng)
    octaves, exponent = found.reshape(-1, QUARTERS).sum(axis=1), np.arange(-DISTANCE, DISTANCE + 1)
    clear = np.flatnonzero(octaves >= _bar(CHANCE + np.log(31.4 * (1 + (exponent / 10) ** 2)), QUARTERS, noise, cost))
    if not clear.size:  # [octaves.2]
        return None
    atom = int(np.argmax(found))  # most rows are one and the same, and the others too thinly spread to be seen
    lost = size - float(found[found > CLEAR * noise].sum())
    if int(clear[-1]) == atom // QUARTERS and found[atom] > ATOM * size and lost > UNSEEN * noise:  # [octaves.2]
        return None
    top, near = int(clear[-1]), float(_bar(np.array([NEXT]), QUARTERS, noise, cost)[0])
    while top + 1 < len(octaves) and octaves[top + 1] >= near:
        top += 1
    start = top * QUARTERS
    ahead = found[start : start + 4 * QUARTERS]
    seen = np.flatnonzero(ahead >= _bar(LAST + FURTHER * np.arange(len(ahead)), 1, noise, cost))
    last = start + (int(seen[-1]) if seen.size else QUARTERS - 1)
    above = found[last + 1 : last + 1 + QUARTERS]
    more = max(float(above.sum()), 0.0)
    upto = min(last + 1 + (QUARTERS if more else 0), PLACES)
    beyond = np.cumsum(found[:upto][::-1])[upto - last - 1 :]
    wanted = min(MEASURED * noise, size / 10)

    def from_where(most: float) -> tuple[float, float, float]:
        """An edge that so many rows exceed, how many do, and by how much on average."""
        first = last - int(np.argmax(beyond >= most)) if (beyond >= most).any() else start
        edges, many = _edges(np.arange(first, upto + 1)), max(float(found[first:upto].sum()), most, 1.0)
        excess = float(found[first:upto] @ ((edges[:-1] + edges[1:]) / 2 - edges[0])) / many
        return float(edges[0]), many, min(max(excess, STEEPEST * float(edges[0])), FLATTEST * float(edges[0]))

    edge, many, excess = from_where(wanted)
    grown = min(max(excess / from_where(min(HALF * size, float(beyond.max())))[2], 1.0), GROWN)
    end = float(_edges(np.array([last + 1]))[0])
    return DistanceTail(edge, many, grown * excess, end, more + MISSED_FAR * noise, found, noise)


def distance_cost(mu: Fraction, neighbours: Neighbours) -> Gaussian:
    """Of `distance_tail`."""
    return counts_cost(mu, PLACES, neighbours)


def _edges(places: Any) -> Floats:
    """The lower ends of quarters of octaves."""
    return np.asarray(((places + LOWEST) << (52 - COARSE)).view(np.float64))


def _bar(nats: Any, bins: int, noise: float, cost: Gaussian | Laplace) -> Any:
    """What the noise of so many bins together exceeds with a chance of e^-nats at most."""
    if isinstance(cost, Gaussian):
        return noise * np.sqrt(2 * bins * nats)
    scale = noise / math.sqrt(2)
    if bins == 1:
        return scale * nats
    return np.asarray(scale * ((nats[:, None] - bins * np.log1p(-(RISE**2))) / RISE).min(axis=1))
