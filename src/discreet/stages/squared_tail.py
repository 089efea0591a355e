"""The tail of the lengths of rows with many entries, which are nearly all of the same length.

Half octaves of such lengths tell next to nothing: all rows are in two of them. Those of the squared length less a
public part of the number of entries do. Its release and its cost are those of `octaves.tail_of`, as it is a fixed
function of the length ([octaves.1], [octaves.2]).
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.stages.clip import Floats
from discreet.stages.octaves import Tail, tail_of
from discreet.tables.streams import Numbers, each

LESS: Final = 0.5  # of the number of entries: what is taken off the squared length of a row in a round frame


class Lengths(Protocol):
    """What is known of the longest rows."""

    @property
    def typical(self) -> float:
        """A length that about half of the rows exceed."""

    @property
    def fourth(self) -> float:
        """No less than the mean of fourth powers."""

    def at(self, k: Any) -> Any:
        """The length that k rows exceed."""

    def excess(self, k: float, power: int = 1) -> float:
        """The sum over the k longest of length^power, less the same of the shortest of them."""

    def most(self, low: float, high: float, share: float, power: int = 1) -> float:
        """The most rows whose excess is at most this many times the power of the length that they exceed."""


@dataclass(frozen=True, slots=True)
class SquaredTail:
    """How long the k longest rows are: their squared lengths are those of `inner` and `less`.

    >>> tail = SquaredTail(Tail(5000.0, 4.0, 100.0, 0.5, 3.0, 256.0), 12.0)
    >>> float(tail.at(100.0)), round(tail.typical, 3), tail.fourth
    (4.0, 3.873, 256.0)
    """

    inner: Tail
    less: float

    @property
    def typical(self) -> float:
        """A length that about half of the rows exceed."""
        return math.sqrt(self.less + self.inner.typical)

    @property
    def fourth(self) -> float:
        """No less than the mean of fourth powers: the mean square of a sum, by Minkowski's inequality."""
        return float((self.less + self.inner.fourth**0.25) ** 2)

    def at(self, k: Any) -> Any:
        """The length that k rows exceed."""
        return np.sqrt(self.less + self.inner.at(k))

    def excess(self, k: float, power: int = 1) -> float:
        """The sum over the k longest of length^power, less the same of the shortest of them: for powers 1, at most that
        much, 2 and 4."""
        squares = self.inner.excess(k)
        if power == 1:
            return squares / (2 * float(self.at(k)))
        return squares if power == 2 else self.inner.excess(k, 2) + 2 * self.less * squares

    def most(self, low: float, high: float, share: float, power: int = 1) -> float:
        """The most rows, from `low` to `high`, whose excess is at most this many times the length that they exceed, or
        times its power."""
        tried = low * (high / low) ** (np.arange(16) / 15)
        return max(
            (float(k) for k in tried if self.excess(k, power) <= share * float(self.at(k)) ** power), default=low
        )


def rows_beyond(tail: Lengths, length: float) -> float:
    """How many rows are longer: `at` the other way round.

    >>> tail = Tail(5000.0, 4.0, 100.0, 0.5, 3.0)
    >>> round(rows_beyond(tail, float(tail.at(7.0))), 6)
    7.0
    """
    if isinstance(tail, Doubted):
        return rows_beyond(tail.before, length)
    if isinstance(tail, SquaredTail):
        return rows_beyond(tail.inner, length**2 - tail.less)
    assert isinstance(tail, Tail)
    part = min(max(tail.beyond / tail.size, 1e-12), 0.98)
    score = math.log(max(length, 1e-300) / tail.edge) / tail.slope - float(ndtri(part / 2))
    return 2 * tail.size * float(ndtr(-max(score, 0.0)))


@dataclass(frozen=True, slots=True)
class Doubted:
    """Lengths by the tail of the frame `before`, where those that were `seen` last go far beyond: by noise, or by rows
    that the frame before did not show. The limit is as if by noise, what it may cut as if by such rows.

    >>> before, seen = Tail(5000.0, 6.0, 100.0, 0.2, 4.0, 256.0), SquaredTail(Tail(5000.0, 90.0, 40.0, 0.9, 9.0), 10.0)
    >>> doubted = Doubted(before, seen)
    >>> float(doubted.at(100.0)), doubted.excess(100.0) > before.excess(100.0)
    (6.0, True)
    """

    before: Tail
    seen: Tail | SquaredTail

    @property
    def typical(self) -> float:
        """A length that about half of the rows exceed."""
        return self.before.typical

    @property
    def fourth(self) -> float:
        """No less than the mean of fourth powers."""
        return max(self.before.fourth, self.seen.fourth)

    def at(self, k: Any) -> Any:
        """The length that k rows exceed, by the tail before."""
        return self.before.at(k)

    def excess(self, k: float, power: int = 1) -> float:
        """The sum of length^power, less that of `at(k)`, over all rows that are longer: the larger of both tails."""
        longer = rows_beyond(self.seen, float(self.at(k)))
        return max(self.before.excess(k, power), self.seen.excess(longer, power))

    def most(self, low: float, high: float, share: float, power: int = 1) -> float:
        """As the tail before has it."""
        return self.before.most(low, high, share, power)


def squared_tail(
    lengths: Numbers, columns: int, size: float, *, cost: Gaussian, neighbours: Neighbours, rng: Randomness
) -> SquaredTail | None:
    """The tail of lengths of rows with so many entries, of about 1 each; `size` is public or was released."""
    less = LESS * columns
    found = tail_of(
        each(partial(_above, less=less), lengths), size, cost=cost, neighbours=neighbours, rng=rng
    )  # as [octaves.1] says
    return None if found is None else SquaredTail(found, less)


def _above(lengths: Floats, *, less: float) -> Floats:
    with np.errstate(all="ignore"):  # a length may have no square among the floats
        return np.asarray(np.maximum(np.square(lengths) - less, 0.0))
