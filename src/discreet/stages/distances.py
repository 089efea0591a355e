"""How far the records of one column reach from a centre, by noisy counts of their distances in quarters of octaves.

Releases
    The noisy number of records in each quarter of an octave of |x - centre|; from it the distance at which the data are
    seen to end, and how many records lie how far beyond any other.
Promise
    [distances.1] Laplace(epsilon) or Gaussian(mu, slack) under both relations: one record moves the counts by 1
          (ADD_OR_REMOVE), or (REPLACE) by 2 in L1 and sqrt(2) in L2.
    [distances.2] What is made of the counts reads them, a centre that is public or was released, and a number of
          records that is public or was released. No value raises.
Why
    [distances.1] A record is in one bin or in none, by a fixed function of itself and the centre: its cell
    (stages/locate.py) is the exponent and two bits of |x - centre|. Those below 2^-80, and missing ones, are in none;
    those above 2^80 are in the last. Counts of disjoint sets then leave by [octaves.1].
    [distances.2] As the code reads.
Needs
    Some 20 scales of Laplace noise in one octave: 80 records at an epsilon of 1/4, 160 under REPLACE.
Accuracy
    Data that end abruptly are seen to do so within a quarter of an octave. Beyond an edge that 20 deviations of noise
    exceed the tail is taken as exponential, with the mean excess over that edge, raised by as much as it grew from the
    median distance on: about right for normal and Weibull tails, too short for Pareto's. An octave far above all
    records is seen by chance once in 1000 times; what follows from it is wide, not wrong.
Source
    Karwa and Vadhan 2018 (histograms of scales), Huang, Liang and Yi 2021 (a clip that balances noise and bias).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.privacy.loss import Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import Floats
from discreet.stages.locate import COARSE, cells
from discreet.stages.octaves import counts_cost, noisy_counts
from discreet.tables.entries import Numbers

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
CLEAR, MISSED = (
    6.5,
    6.0,
)  # deviations of noise in a quarter that is not empty, and of an octave's worth of records missed


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
    differ from the centre to be seen. [distances.2]"""
    occupied, times = cells(values, centre, COARSE)
    place = np.minimum(occupied - LOWEST, PLACES - 1)  # [distances.1]
    counts = np.zeros(PLACES, dtype=np.int64)
    np.add.at(counts, place[place >= 0], times[place >= 0])
    found, noise = noisy_counts(counts, cost=cost, neighbours=neighbours, rng=rng)
    octaves, exponent = found.reshape(-1, QUARTERS).sum(axis=1), np.arange(-DISTANCE, DISTANCE + 1)
    clear = np.flatnonzero(octaves >= _bar(CHANCE + np.log(31.4 * (1 + (exponent / 10) ** 2)), QUARTERS, noise, cost))
    if not clear.size:  # [distances.2]
        return None
    atom = int(np.argmax(found))  # most rows are one and the same, and the others too thinly spread to be seen
    lost = size - float(found[found > CLEAR * noise].sum())
    if int(clear[-1]) == atom // QUARTERS and found[atom] > ATOM * size and lost > UNSEEN * noise:  # [distances.2]
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
    return DistanceTail(edge, many, grown * excess, end, more + MISSED * noise, found, noise)


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
