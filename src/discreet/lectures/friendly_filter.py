"""The lectures' filter on any objects, with any predicate: as printed, as drawn, and as it must be.

Nothing here is private by itself: weights and whether a table is friendly are facts about its rows. `discreet.friendly`
has the mechanisms that release something, and the proofs ([weights.1] to [weights.3]).
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal

from discreet.errors import BadInput

Predicate = Callable[[Any, Any], object]
Ramp = Literal["figure", "printed", "others"]


def basic_filter(x: Sequence[Any], f: Predicate, ramp: Ramp = "figure") -> list[Fraction]:
    """The weight of each row by Algorithm 1, exactly.

    `ramp="figure"` is the line of Figure 1, 2 c / n - 1, c the friends of a row with itself counted. "printed" is the
    formula of step 3, (c - n/2) / n, which jumps from 1/2 to 1 and is not stable. "others" counts friends among the
    other rows: the only one that is sound between neighbours for odd n, and the one that `discreet.friendly` uses.

    >>> words = ["ant", "any", "and", "zoo"]
    >>> [str(w) for w in basic_filter(words, lambda a, b: a[0] == b[0])]
    ['1/2', '1/2', '1/2', '0']
    """
    if ramp not in ("figure", "printed", "others"):
        raise BadInput(f"ramp is {ramp!r}; give 'figure', 'printed' or 'others'")
    size = len(x)
    counts = [sum(1 for other in x if f(row, other)) for row in x]
    if ramp == "others":
        alone = [count - bool(f(row, row)) for row, count in zip(x, counts, strict=True)]
        return [_cut(Fraction(2 * count, max(1, size - 1)) - 1) for count in alone]
    if ramp == "figure":
        return [_cut(Fraction(2 * count, size) - 1) for count in counts]
    return [Fraction(1) if count >= size else _cut(Fraction(count, size) - Fraction(1, 2)) for count in counts]


def is_friendly(x: Sequence[Any], f: Predicate, among: Iterable[Any] | None = None) -> bool:
    """Definition 3.2: whether every two rows have a common friend, sought among `among` (the rows, if it is left out).

    >>> is_friendly([0, 1, 2], lambda a, b: abs(a - b) <= 1)
    True
    >>> is_friendly([0, 2], lambda a, b: abs(a - b) <= 1), is_friendly([0, 2], lambda a, b: abs(a - b) <= 1, among=[1])
    (False, True)
    """
    world = list(x if among is None else among)
    friends = [{place for place, z in enumerate(world) if f(row, z)} for row in x]
    return all(mine & theirs for mine in friends for theirs in friends)


def _cut(weight: Fraction) -> Fraction:
    return min(max(weight, Fraction(0)), Fraction(1))
