"""Who is looked at, and in what order, where the number of rows is public: by chance alone.

Who is a friend of whom: a symmetric predicate that reads two rows and nothing else.

Claims
    [core.2] The answer for two rows depends on these two alone, and on public numbers; it is symmetric, and never
    raises.

MatchCore: drop pairs of rows that are not friends until the rest are friends with each other.

Promise
    [core.1] REPLACE: places are chosen by a public shuffle of a public number of rows. Given the shuffle, replacing one
          row replaces at most one of those chosen, at the same place.
    [core.3] Complete: if all rows are friends, all survive. If t rows cover all pairs that are not friends, at most t
          pairs are dropped.
    [core.4] Sound: whoever survives is a friend of every other survivor, if all pairs were tried.
    [core.5] Stable: add or remove a row, and the survivors change by exactly one row; the number of pairs by 0 or by 1.
    [core.6] Stable: replace a row, and the number of pairs changes by at most 1. If it does not, one survivor is
          exchanged, or none; if it does, the fewer survivors are the others without two of them.

Why
    [core.1] The shuffle reads nothing but the number of rows. Where that is private, see [sample.1].
    Walk through a list of pairs that does not depend on the rows (or orders each pair by a rule that reads these two
    alone). Where both are still free and are not friends, drop both: a greedy matching in the graph of strangers.
    [core.3] No pair of strangers, no match; and each dropped pair uses up one of the t.
    [core.4] Two survivors that were not friends would both have been free when their pair came, and been dropped.
    [core.5] Run it on x and on x without v, side by side, v counting as used in the second run from the beginning. The
    sets of used rows differ by exactly one row, z, first by v. A pair without z is decided alike in both runs. For
    (z, y): y has the same status in both. If y is used, or a friend of z, nothing happens. If not, the run in which z
    is free drops both and the other does nothing: now z is used in both, and y is what they differ by. Survivors are
    the rows not used: 2M in one run, 2M' + 1 in the other with v, so M - M' is 0 or 1.
    [core.6] Remove the row and add its replacement: two steps of [core.5], in each of which one row enters or leaves.
    Sizes n - 2M have equal parity. So either one leaves and one enters, or two enter, or two leave.

Needs
    A predicate that is symmetric and reads two rows alone; it need not be reflexive.

Accuracy
    Every set of rows of this size is as likely as any other.
    The tighter the predicate, the more is dropped: where each row has one stranger or more, it soon is everything.
    Choose it so that well-behaved rows hardly ever are strangers.

Source
    Partial shuffle: Fisher and Yates 1938, Durstenfeld 1964.
    Greedy matchings are stable in this sense in graph privacy; friendly cores: Tsfadia, Cohen, Kaplan, Mansour and
    Stemmer 2022, whose filter keeps rows at random. No novelty is claimed for this one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol
from warnings import catch_warnings

import numpy as np
import numpy.typing as npt

from discreet.friendly.friendly_budget import check_radius
from discreet.friendly.grid import Apart, Points, Unlike
from discreet.noise.integers import compiled
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Integers


def shuffled(size: int, most: int, rng: Randomness) -> Integers:
    """`most` places of `size`, or all if they are fewer, in random order. [core.1]"""
    if size <= most:
        return rng.permutation(size)
    moved: dict[int, int] = {}
    chosen = np.empty(most, dtype=np.int64)
    for place in range(most):
        other = place + rng.below(size - place)
        chosen[place] = moved.get(other, other)
        moved[other] = moved.get(place, place)
    return chosen  # [core.1]


Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


class Strangers(Protocol):
    """A symmetric predicate on some rows, asked the other way round: who is not a friend of whom."""

    @property
    def size(self) -> int:
        """The number of rows."""

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends."""


class Predicate(Protocol):
    """Whatever can say of the rows of a table which of them are not friends."""

    def strangers(self, rows: Floats) -> Strangers:
        """The predicate on these rows."""


@dataclass(frozen=True, slots=True)
class Within:
    """Friends are at most `radius` apart, both rounded to a grid of radius / 2^15; 0: friends are equal.

    >>> Within(1.0).strangers(np.array([[0.0], [0.5], [3.0]])).block(0, 1)
    array([[False, False,  True]])
    """

    radius: float

    def __post_init__(self) -> None:
        check_radius(self.radius)

    def strangers(self, rows: Floats) -> Strangers:
        """The predicate on these rows, exactly ([grid.2])."""
        return Apart(Points.of(rows, self.radius)) if self.radius else Unlike(rows)  # [core.2]


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Friends are whom a function of two rows calls so, both ways round; a row with a NaN or infinity has none.

    The function must keep nothing in mind between calls: nobody can check that for you.
    """

    function: Callable[[Floats, Floats], Any]

    def strangers(self, rows: Floats) -> Strangers:
        """The predicate on these rows."""
        return _Asked(self.function, rows)


class _Asked:
    """Strangers by a function, pair by pair."""

    def __init__(self, function: Callable[[Floats, Floats], Any], rows: Floats) -> None:
        self.size = len(rows)
        self._function, self._rows, self._finite = function, rows, np.all(np.isfinite(rows), axis=1)

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends."""
        found = [[not self._friends(i, j) for j in range(start, self.size)] for i in range(start, stop)]
        return np.array(found, dtype=np.bool_).reshape(stop - start, self.size - start)

    def _friends(self, i: int, j: int) -> bool:
        if not (self._finite[i] and self._finite[j]):
            return False
        return self._ask(i, j) and self._ask(j, i)  # [core.2]

    def _ask(self, i: int, j: int) -> bool:
        try:
            with catch_warnings(action="ignore"), np.errstate(all="ignore"):
                return bool(self._function(self._rows[i].copy(), self._rows[j].copy()))
        except Exception:  # noqa: BLE001  [core.2]: whatever two rows do to the function, it does not raise
            return False


BLOCK: Final = 1 << 20  # answers at a time: 8 MB of distances
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """How many pairs were dropped, and who survives, in order. Neither may leave without noise."""

    pairs: int
    survivors: Places


def match_core(strangers: Strangers, first: int | None = None) -> Core:
    """Try all pairs in lexicographic order; or only those with one of the `first` rows."""
    free = np.ones(strangers.size, dtype=np.bool_)
    rows = strangers.size if first is None else min(first, strangers.size)
    step, pairs = max(1, BLOCK // max(1, strangers.size)), 0
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        pairs += greedy(strangers.block(start, stop), free[start:])
    return Core(pairs, np.flatnonzero(free))  # [core.4]


def match_pairs(strangers: Strangers, order: Iterable[tuple[int, int]]) -> Core:
    """Try the pairs in any order that does not depend on the rows."""
    apart = [strangers.block(row, row + 1)[0] for row in range(strangers.size)]
    free, pairs = np.ones(strangers.size, dtype=np.bool_), 0
    for one, other in order:
        low, high = min(one, other), max(one, other)
        if low != high and free[low] and free[high] and apart[low][high - low]:
            free[[low, high]] = False  # [core.5], [core.6]
            pairs += 1
    return Core(pairs, np.flatnonzero(free))


def greedy(apart: Truths, free: Truths) -> int:
    """Match each row of a block with the first later one that is free and no friend. [core.3]

    Row i of the block is row i of `free`, which is changed in place. The work is the same whoever is found.
    """
    if compiled():
        from discreet._compiled import friendly_kernels as fast_match

        return int(fast_match.greedy(apart, free))
    size, pairs = apart.shape[1], 0
    places = np.arange(size)
    for row in range(len(apart)):
        found = apart[row] & free
        found[: row + 1] = False
        first = int(np.where(found, places, size).min())
        if free[row] and first < size:
            free[[row, first]] = False
            pairs += 1
    return pairs


def friend_counts(strangers: Strangers) -> Places:
    """How many of the others are friends of each row."""
    size = strangers.size
    counts = np.zeros(size, dtype=np.int64)
    step = max(1, BLOCK // max(1, size))
    for start in range(0, size, step):
        stop = min(start + step, size)
        friends = np.triu(~strangers.block(start, stop), 1)
        counts[start:stop] += friends.sum(axis=1)
        counts[start:] += friends.sum(axis=0)
    return counts
