"""What an audit runs on: small worlds in which every pair of neighbours can be tried, wide ones in which the odd ones
are, and a mechanism that every audit must find."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any

import numpy as np

from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release

FAR = 1e6
NUMBERS = (0.0, 1.0, 2.0, FAR, math.inf, -math.inf, math.nan)
TRUTHS = (True, False, None)
LABELS: tuple[Hashable, ...] = ("a", "b", "c", None, 1, True, math.nan)


class Thorn:
    """An entry that cannot be turned into anything."""

    def _refuse(self, *_: object) -> Any:
        raise ValueError("a value of the data")

    __str__ = __repr__ = __float__ = __int__ = __index__ = __bool__ = __len__ = __iter__ = __array__ = _refuse
    __hash__ = __eq__ = __lt__ = __abs__ = _refuse


class Prickly(str):
    """A text that is not itself."""

    __slots__ = ()

    def __str__(self) -> str:
        raise ValueError("a value of the data")

    __hash__ = None  # type: ignore[assignment]


HOSTILE: tuple[Any, ...] = (
    *(0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan),
    *(None, True, "", "a", "1e999", b"\xff", 2**200, -(2**63), 1j, [], {}, (1, 2), object()),
)
THORNS: tuple[Any, ...] = (
    *(Thorn(), Prickly("a"), 10**5000, Decimal("sNaN"), Decimal("1e999999"), np.longdouble("1e4000")),
    *(np.complex128(1), np.array([1.0]), np.datetime64("NaT", "s"), np.float32("nan"), "\ud800"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring tables. What can be read only once, a generator say, is read here."""

    left: Any
    right: Any

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            object.__setattr__(self, side, lasting(getattr(self, side)))


def lasting(rows: Any) -> Any:
    """Rows that can be read again and again."""
    return list(rows) if isinstance(rows, Iterator) else rows


def neighbours_of(
    rows: Sequence[Any], values: Sequence[Any], relation: Neighbours, *, once: bool = False
) -> Iterator[Pair]:
    """Every neighbour pair whose common rows are `rows`; the odd row stands first, in the middle or last.

    `once`: where rows are replaced, each two values meet once, now one of them on the left and now the other.
    """
    place = (0, len(rows) // 2, len(rows))[len(rows) % 3]
    tables = [[*rows[:place], value, *rows[place:]] for value in values]
    if relation is Neighbours.ADD_OR_REMOVE:
        for table in tables:
            yield Pair(list(rows), table)
            yield Pair(table, list(rows))
        return
    for index, (left, right) in enumerate(combinations(tables, 2) if once else permutations(tables, 2)):
        yield Pair(right, left) if once and index % 2 else Pair(left, right)


def small(values: Sequence[Any], largest: int, relation: Neighbours) -> list[Pair]:
    """Every pair of neighbours, up to order, with rows from `values` and at most `largest` rows."""
    return [
        pair
        for common in range(largest)
        for rows in combinations_with_replacement(values, common)
        for pair in neighbours_of(rows, values, relation)
        if relation is Neighbours.ADD_OR_REMOVE or pair.left
    ]


def numbers(relation: Neighbours, largest: int = 4) -> list[Pair]:
    """Numbers, near and far, infinite and missing."""
    return small(NUMBERS, largest, relation)


def truths(relation: Neighbours, largest: int = 7) -> list[Pair]:
    """Yes, no and missing."""
    return small(TRUTHS, largest, relation)


def labels(relation: Neighbours, largest: int = 4) -> list[Pair]:
    """Names, missing ones, and values that are equal but not the same."""
    return small(LABELS, largest, relation)


def hostile(relation: Neighbours, common: Sequence[Any] = (0.0, 1.0, 1.0)) -> list[Pair]:
    """Odd values against each other, and thorny ones against a few: bad values must never raise."""
    thorny = [pair for thorn in THORNS for pair in neighbours_of(common, (0.0, 1e300, thorn), relation, once=True)]
    return [*neighbours_of(common, HOSTILE, relation, once=True), *thorny]


@dataclass(frozen=True, slots=True)
class NameAndShame:
    """Keeps its word and protects nobody. Never use it: it exists to be caught.

    It publishes each record outright with probability delta, and nothing else. That is (0, delta), yet for n = 1/delta
    people somebody is exposed with probability 63%. Two guards hold against it: delta above 1/(10 n) is refused
    (privacy/guarantee.py), and the replay finds that a record leaves without passing the door, however rarely.
    """

    delta: float

    @property
    def guarantee(self) -> Guarantee:
        """What it claims, truthfully."""
        return Guarantee(0.0, self.delta)

    @property
    def loss(self) -> Approximate:
        """What it claims to cost."""
        return Approximate(0, self.delta)

    def release(self, rows: Any, rng: Randomness) -> Release[tuple[Any, ...]]:
        """Each record with probability delta."""
        chance = exact(self.delta)
        named = tuple(row for row in rows if rng.below(chance.denominator) < chance.numerator)
        return Release(self.guarantee, Provenance("NameAndShame", {}, rng.secure), named, name="named")
