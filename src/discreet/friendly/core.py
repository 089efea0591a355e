"""MatchCore: drop pairs of rows that are not friends until the rest are friends with each other.

Promise
    [FC1] Complete: if all rows are friends, all survive. If t rows cover all pairs that are not friends, at most t
          pairs are dropped.
    [FC2] Sound: whoever survives is a friend of every other survivor, if all pairs were tried.
    [FC3] Stable: add or remove a row, and the survivors change by exactly one row; the number of pairs by 0 or by 1.
    [FC4] Stable: replace a row, and the number of pairs changes by at most 1. If it does not, one survivor is
          exchanged, or none; if it does, the fewer survivors are the others without two of them.
Why
    Walk through a list of pairs that does not depend on the rows (or orders each pair by a rule that reads these two
    alone). Where both are still free and are not friends, drop both: a greedy matching in the graph of strangers.
    [FC1] No pair of strangers, no match; and each dropped pair uses up one of the t.
    [FC2] Two survivors that were not friends would both have been free when their pair came, and been dropped.
    [FC3] Run it on x and on x without v, side by side, v counting as used in the second run from the beginning. The
    sets of used rows differ by exactly one row, z, first by v. A pair without z is decided alike in both runs. For
    (z, y): y has the same status in both. If y is used, or a friend of z, nothing happens. If not, the run in which z
    is free drops both and the other does nothing: now z is used in both, and y is what they differ by. Survivors are
    the rows not used: 2M in one run, 2M' + 1 in the other with v, so M - M' is 0 or 1.
    [FC4] Remove the row and add its replacement: two steps of [FC3], in each of which one row enters or leaves. Sizes
    n - 2M have equal parity. So either one leaves and one enters, or two enter, or two leave.
Needs
    A predicate that is symmetric and reads two rows alone; it need not be reflexive.
Accuracy
    The tighter the predicate, the more is dropped: where each row has one stranger or more, it soon is everything.
    Choose it so that well-behaved rows hardly ever are strangers.
Source
    Greedy matchings are stable in this sense in graph privacy; friendly cores: Tsfadia, Cohen, Kaplan, Mansour and
    Stemmer 2022, whose filter keeps rows at random. No novelty is claimed for this one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.noise.source import compiled

BLOCK: Final = 1 << 22  # answers at a time
Places = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


class Strangers(Protocol):
    """A symmetric predicate on some rows, asked the other way round: who is not a friend of whom."""

    @property
    def size(self) -> int:
        """The number of rows."""

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends."""


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
    return Core(pairs, np.flatnonzero(free))  # [FC2]


def match_pairs(strangers: Strangers, order: Iterable[tuple[int, int]]) -> Core:
    """Try the pairs in any order that does not depend on the rows."""
    apart = [strangers.block(row, row + 1)[0] for row in range(strangers.size)]
    free, pairs = np.ones(strangers.size, dtype=np.bool_), 0
    for one, other in order:
        low, high = min(one, other), max(one, other)
        if low != high and free[low] and free[high] and apart[low][high - low]:
            free[[low, high]] = False  # [FC3], [FC4]
            pairs += 1
    return Core(pairs, np.flatnonzero(free))


def greedy(apart: Truths, free: Truths) -> int:
    """Match each row of a block with the first later one that is free and no friend. [FC1]

    Row i of the block is row i of `free`, which is changed in place. The work is the same whoever is found.
    """
    if compiled():
        from discreet.friendly import fast_match

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
