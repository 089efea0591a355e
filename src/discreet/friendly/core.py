"""Friends: rows as points on a public grid, who is a friend of whom, and MatchCore, which drops pairs of rows that
are not friends until the rest are friends with each other.

Promise
    [core.7] Each row becomes a point, or is invalid, by a fixed function of itself and public numbers. Values never
          raise: a row with an entry that is not finite, or out of reach, is invalid and nobody's friend.
    [core.8] Whether two points are friends is one exact comparison of whole numbers: the same bit whatever the other
          rows are, whatever the blocks, the number of threads or the order of the machine's sums.
    [core.2] The answer for two rows depends on these two alone, and on public numbers; it is symmetric, and never
    raises.
    [core.1] REPLACE: places are chosen by a public shuffle of a public number of rows. Given the shuffle, replacing one
          row replaces at most one of those chosen, at the same place.
    [core.3] Complete: if all rows are friends, all survive. If t rows cover all pairs that are not friends, at most t
          pairs are dropped.
    [core.4] Sound: whoever survives is a friend of every other survivor, if all pairs were tried.
    [core.5] Stable: add or remove a row, and the survivors change by exactly one row; the number of pairs by 0 or by 1.
    [core.6] Stable: replace a row, and the number of pairs changes by at most 1. If it does not, one survivor is
          exchanged, or none; if it does, the fewer survivors are the others without two of them.
Why
    [core.7] The unit is radius / 2^15. x / radius * 2^15, rounded to the nearest whole number, is arithmetic on one
    entry.
    [core.8] Friends: |p - q|^2 <= 2^30 in units. Take any whole centre c, and cut p - c to [-2^19, 2^19] in each
    coordinate. All products, and all sums of at most 2^13 of them, are whole numbers below 2^52, so |p|^2 + |q|^2 - 2
    pq is exact in float64 in any order; more columns are taken 2^13 at a time, and each share is cut to 2^31, which
    leaves the comparison with 2^30 as it is. Call p near if |p - c| <= 2^18 in each coordinate. If p is near, cutting
    q changes no answer: a coordinate of q that is cut lies at least 2^18 > 2^15 from p's, before and after. Of two
    points that are not near the coordinates are subtracted as whole numbers.
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
    Rounding moves a point by at most 2^-16 of the radius in each coordinate. How long it takes depends, in the main, on
    numbers of rows and columns; rows far from the middle of the data cost more, if there are many.
    Every set of rows of this size is as likely as any other.
    The tighter the predicate, the more is dropped: where each row has one stranger or more, it soon is everything.
    Choose it so that well-behaved rows hardly ever are strangers.
Source
    Ozaki, Ogita, Oishi and Rump 2012 for exact products by floating-point matrix multiplication.
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

from discreet.errors import BadInput
from discreet.noise.distributions import compiled
from discreet.privacy.exact import is_number
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Integers

UNITS: Final = 2**15  # in a radius
NEAR: Final = 2**18
BOX: Final = 2**19
COLUMNS: Final = 2**13  # at a time
FARTHEST: Final = 52  # points beyond 2^52 units would not be whole numbers apart
Floats = npt.NDArray[np.float64]
Steps = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Rows in units of radius / 2^15; what an invalid one holds has no meaning."""

    steps: Steps
    valid: Truths

    @classmethod
    def of(cls, rows: Floats, radius: float, bits: int = FARTHEST) -> "Points":
        """Each row as a point at most 2^bits units from 0 in each coordinate, or as an invalid one. [core.7]"""
        with np.errstate(all="ignore"):
            scaled = np.rint(rows / radius * UNITS)  # [core.7]
            valid = np.all(np.abs(scaled) <= 2.0**bits, axis=1)  # not for a NaN
        steps = np.where(valid[:, None], scaled, 0.0).astype(np.int64)
        return cls(steps, valid)

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, chosen: Any) -> "Points":
        """Some of the rows."""
        return Points(self.steps[chosen], self.valid[chosen])


class Apart:
    """Which points are not friends, block by block."""

    def __init__(self, points: Points) -> None:
        self.size = len(points)
        self._points = points
        centre = middle(points)
        shifted = points.steps - centre
        self._far = np.any(np.abs(shifted) > NEAR, axis=1) & points.valid
        boxed = np.clip(shifted, -BOX, BOX).astype(np.float64)
        width = max(1, boxed.shape[1])
        self._parts = [np.ascontiguousarray(boxed[:, at : at + COLUMNS]) for at in range(0, width, COLUMNS)]
        self._squares = [np.einsum("ij,ij->i", part, part) for part in self._parts]

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they are not friends. [core.8]"""
        total: Any = 0.0
        for part, squares in zip(self._parts, self._squares, strict=True):
            square = part[start:stop] @ part[start:].T
            square *= -2.0
            square += squares[start:stop, None]
            square += squares[None, start:]  # [core.8]
            total = total + (np.minimum(square, 2.0 * UNITS**2) if len(self._parts) > 1 else square)
        apart: Truths = total > float(UNITS**2)  # [core.8]
        self._settle(apart, start, stop)
        apart[~self._points.valid[start:stop]] = True
        apart[:, ~self._points.valid[start:]] = True  # [core.7]
        return apart

    def _settle(self, apart: Truths, start: int, stop: int) -> None:
        """Two far points are compared by their differences."""
        here, there = np.flatnonzero(self._far[start:stop]), np.flatnonzero(self._far[start:])
        if not len(here):
            return
        one, other = self._points.steps[start + here], self._points.steps[start + there]
        for index, point in zip(here.tolist(), one, strict=True):
            apart[index, there] = far_apart(point, other)  # [core.8]


def far_apart(point: Steps, others: Steps) -> Truths:
    """Whether each of the others is more than a radius away, by whole numbers alone."""
    if compiled():
        from discreet._compiled.model_kernels import beyond

        found: Truths = beyond(point, others, UNITS**2)
        return found
    moved = np.minimum(np.abs(others - point), 2 * UNITS)
    return np.asarray(np.einsum("ij,ij->i", moved, moved) > UNITS**2)


def middle(points: Points) -> Steps:
    """Whole numbers near most of the points; which ones they are changes nothing but the time. [core.8]"""
    valid = points.steps[points.valid]
    if not len(valid):
        return np.zeros(points.steps.shape[1], dtype=np.int64)
    half = len(valid) // 2
    return np.asarray(np.partition(valid, half, axis=0)[half])


class Unlike:
    """Which rows are not equal: the friends of radius 0."""

    def __init__(self, rows: Floats) -> None:
        self.size = len(rows)
        finite = np.all(np.isfinite(rows), axis=1)
        bits = np.ascontiguousarray(np.where(finite[:, None], rows, 0.0) + 0.0).view(np.int64)  # -0 is 0
        labels = np.unique(bits, axis=0, return_inverse=True)[1] if bits.size else np.zeros(self.size)
        self._labels, self._finite = labels.reshape(-1), finite

    def block(self, start: int, stop: int) -> Truths:
        """Rows start..stop-1 against rows start..: True where they differ. [core.8]"""
        apart: Truths = self._labels[start:stop, None] != self._labels[None, start:]
        apart[~self._finite[start:stop]] = True
        apart[:, ~self._finite[start:]] = True
        return apart


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


def check_radius(radius: object) -> None:
    """Zero, or a positive number whose units are numbers."""
    if not is_number(radius) or not (radius == 0 or 1e-290 < radius < 1e290):  # type: ignore[operator]
        raise BadInput(f"the radius is {radius!r}; give 0 or a positive number between 1e-290 and 1e290")


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
        """The predicate on these rows, exactly ([core.8])."""
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
        from discreet._compiled import model_kernels as fast_match

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
