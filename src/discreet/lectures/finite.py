"""Worlds small enough to be counted out: mechanisms, posteriors and definitions, exactly.

A mechanism is here a function from a table to the probabilities of its outputs, {output: probability}; a prior is
{table: probability}, and a table a tuple of rows. Nothing is drawn, and nothing is private: these are calculations to
teach and to test with. One person is replaced, as in the lectures.

The lectures' filter takes any objects and any predicate: as printed, as drawn, and as it must be. `discreet.friendly`
has the mechanisms that release something, and the proofs ([weights.1] to [weights.3]). How far one person can move a
statistic (anywhere, from this table on, and smoothly) is counted out on the domain; "median", the lower one, has closed
forms, for which `domain` is any list whose ends are the public bounds.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any, Literal

from discreet.errors import BadInput
from discreet.privacy.exact import is_number

Table = tuple[Any, ...]
Chances = Mapping[Hashable, float]
FiniteMechanism = Callable[[Table], Chances]
Statistic = Callable[[Table], float] | Literal["median"]
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


def posterior(
    mechanism: FiniteMechanism,
    prior: Mapping[Table, float],
    output: Hashable,
    *,
    without: int | None = None,
    default: Any = None,
) -> dict[Table, float]:
    """What someone with this prior believes after seeing the output: the lectures' p(d | a).

    With `without=i` the mechanism saw the table with row i replaced by `default`: what would have been concluded had
    that person's data not been used. By Theorem 3.7 the two differ by a factor of at most e^(2 epsilon).

    >>> prior = {(0, 0): 0.5, (1, 1): 0.5}
    >>> told = posterior(randomised_response(1.0), prior, (1, 1))
    >>> round(told[1, 1], 3)
    0.881
    """

    def seen(table: Table) -> Table:
        if without is None:
            return table
        return (*table[:without], default, *table[without + 1 :])

    joint = {table: chance * mechanism(seen(table)).get(output, 0.0) for table, chance in prior.items()}
    total = sum(joint.values())
    if not total:
        raise BadInput(f"the output {output!r} has probability 0 under this prior; give one that can be seen")
    return {table: chance / total for table, chance in joint.items()}


def conclusions_apart(
    mechanism: FiniteMechanism, prior: Mapping[Table, float], output: Hashable, *, without: int, default: Any = None
) -> float:
    """The log of the largest factor between what is concluded with a person's data and without: at most 2 epsilon.

    >>> prior = {(0, 0): 0.4, (0, 1): 0.1, (1, 0): 0.1, (1, 1): 0.4}
    >>> round(conclusions_apart(randomised_response(1.0), prior, (1, 1), without=0, default=0), 3)
    0.741
    """
    used = posterior(mechanism, prior, output)
    left = posterior(mechanism, prior, output, without=without, default=default)
    ratios = [(used[table], left[table]) for table in prior if used[table] or left[table]]
    return max(math.inf if not (a and b) else abs(math.log(a / b)) for a, b in ratios)


def composed(first: FiniteMechanism, second: Callable[[Any], FiniteMechanism]) -> FiniteMechanism:
    """Both outputs, the second mechanism chosen by the first output: Lemma 3.1 of lecture 2.

    >>> both = composed(randomised_response(0.5), lambda told: randomised_response(0.1 + sum(told) / 10))
    >>> round(pure_privacy(both, (0, 1), 2), 3)
    0.8
    """

    def chances(table: Table) -> Chances:
        return {
            (one, other): chance * more
            for one, chance in first(table).items()
            for other, more in second(one)(table).items()
        }

    return chances


def processed(mechanism: FiniteMechanism, function: Callable[[Any], Hashable]) -> FiniteMechanism:
    """A function of the output, which costs nothing: Lemma 3.3 of lecture 2.

    >>> round(pure_privacy(processed(randomised_response(0.5), sum), (0, 1), 3), 3) <= 0.5
    True
    """

    def chances(table: Table) -> Chances:
        found: dict[Hashable, float] = {}
        for output, chance in mechanism(table).items():
            made = function(output)
            found[made] = found.get(made, 0.0) + chance
        return found

    return chances


def total_variation(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    """The largest difference of two distributions on any event.

    >>> round(total_variation({"a": 0.5, "b": 0.5}, {"b": 0.7, "c": 0.3}), 3)
    0.5
    """
    return sum(abs(one.get(out, 0.0) - other.get(out, 0.0)) for out in {*one, *other}) / 2


def randomised_response(epsilon: float) -> FiniteMechanism:
    """Each of the rows 0 and 1 tells the truth with probability e^epsilon / (1 + e^epsilon); others toss a coin."""
    if not is_number(epsilon) or epsilon < 0:
        raise BadInput(f"epsilon is {epsilon!r}; give a number, 0 or more")
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))

    def chances(table: Table) -> Chances:
        def of(row: Any, told: int) -> float:
            return 0.5 if row not in (0, 1) else truth if row == told else 1 - truth

        outputs = product((0, 1), repeat=len(table))
        return {told: math.prod(map(of, table, told)) for told in outputs}

    return chances


def name_and_shame(delta: float) -> FiniteMechanism:
    """Publishes (i, row i) with probability delta for each i, and nothing else: delta-additive, and it protects nobody.

    >>> shamed = name_and_shame(0.1)((5, 7))
    >>> round(shamed[((1, 7),)], 3), round(1 - shamed[()], 3)
    (0.09, 0.19)
    """
    if not is_number(delta) or not 0 <= delta <= 1:
        raise BadInput(f"delta is {delta!r}; give a probability")

    def chances(table: Table) -> Chances:
        named, size = list(enumerate(table)), len(table)
        return {
            shown: delta**many * (1 - delta) ** (size - many)
            for many in range(size + 1)
            for shown in combinations(named, many)
        }

    return chances


def additive_privacy(mechanism: FiniteMechanism, domain: Sequence[Any], size: int) -> float:
    """The least delta with P(A(D) in E) <= P(A(D') in E) + delta for all neighbours and events: a total variation.

    >>> round(additive_privacy(name_and_shame(0.1), (0, 1), 3), 3)
    0.1
    """
    return _worst(mechanism, domain, size, lambda p, q: sum(max(0.0, p[out] - q.get(out, 0.0)) for out in p))


def pure_privacy(
    mechanism: FiniteMechanism,
    domain: Sequence[Any],
    size: int,
    group: int = 1,
    *,
    friends: Predicate | None = None,
) -> float:
    """The least epsilon for replacing `group` rows; infinite where an output is possible on one side only.

    With a predicate `friends` only tables are compared whose rows together are friendly, with common friends sought in
    the whole domain: Definition 3.3 of lecture 0.

    >>> [round(pure_privacy(randomised_response(0.5), (0, 1), 3, group=many), 3) for many in (1, 2)]
    [0.5, 1.0]
    >>> pure_privacy(lambda table: {max(table): 1.0}, (0, 9), 2, friends=lambda a, b: abs(a - b) <= 1)
    0.0
    """

    def loss(p: Chances, q: Chances) -> float:
        return max((math.log(p[out] / q[out]) if q.get(out, 0.0) else math.inf for out in p if p[out] > 0), default=0.0)

    return _worst(mechanism, domain, size, loss, group=group, friends=friends)


def _worst(
    mechanism: FiniteMechanism,
    domain: Sequence[Any],
    size: int,
    apart: Callable[[Chances, Chances], float],
    *,
    group: int = 1,
    friends: Predicate | None = None,
) -> float:
    tables = list(product(domain, repeat=size_of(size)))
    made = {table: mechanism(table) for table in tables}
    return max(
        (
            apart(made[one], made[other])
            for one in tables
            for other in tables
            if 0 < sum(a != b for a, b in zip(one, other, strict=True)) <= group
            and (friends is None or is_friendly(one + other, friends, among=domain))
        ),
        default=0.0,
    )


def size_of(size: object) -> int:
    """So few rows that all tables can be counted out."""
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 12:
        raise BadInput(f"size is {size!r}; give a whole number of rows from 1 to 12: all tables are counted out")
    return size


def global_sensitivity(f: Statistic, domain: Sequence[Any], size: int) -> float:
    """The most that replacing one row moves `f`, over all tables of this size.

    >>> global_sensitivity(lambda x: sum(x) / len(x), (0, 1), 4)
    0.25
    >>> global_sensitivity("median", (0, 120), 1001)
    120
    """
    if not callable(f):
        low, high = _ends(f, domain)
        return high - low
    return max(local_sensitivity(f, rows, domain) for rows in product(domain, repeat=size_of(size)))


def local_sensitivity(f: Statistic, x: Sequence[Any], domain: Sequence[Any]) -> float:
    """The most that replacing one row of this table moves `f`: a fact about its rows, which noise of its size tells.

    >>> import statistics
    >>> [local_sensitivity(statistics.median, rows, range(10)) for rows in ((0, 0, 0, 9, 9), (4, 4, 4, 4, 4))]
    [9, 0]
    >>> local_sensitivity("median", list(range(1001)), (0, 1e6))
    1
    """
    rows = tuple(x)
    if not callable(f):
        return _reach(_around(f, rows, domain, 1), 0)
    return max((abs(f(rows) - f(other)) for other in _neighbours(rows, domain)), default=0.0)


def smooth_sensitivity(f: Statistic, x: Sequence[Any], domain: Sequence[Any], pace: float) -> float:
    """The largest e^(-pace k) times the local sensitivity of a table k replacements away (Nissim et al. 2007).

    >>> import statistics
    >>> round(smooth_sensitivity(statistics.median, (2, 2, 2), range(5), 1.0), 3)
    0.736
    >>> round(smooth_sensitivity("median", list(range(1001)), (0, 1e6), 0.5), 3)  # the global one is a million
    1.213
    """
    if not is_number(pace) or pace <= 0:
        raise BadInput(f"pace is {pace!r}; give a number above 0, such as epsilon / 2")
    rows, best = tuple(x), 0.0
    if not callable(f):
        window = _around(f, rows, domain, len(rows))
        return max(math.exp(-float(pace) * changes) * _reach(window, changes) for changes in range(len(rows) + 1))
    for other in product(domain, repeat=len(rows)):
        away = sum(a != b for a, b in zip(rows, other, strict=True))
        best = max(best, math.exp(-float(pace) * away) * local_sensitivity(f, other, domain))
    return best


def _ends(f: object, domain: Sequence[Any]) -> tuple[float, float]:
    if f != "median":
        raise BadInput(f"f is {f!r}; give a function of a table, or 'median'")
    return min(domain), max(domain)


def _around(f: object, rows: Table, domain: Sequence[Any], reach: int) -> list[float]:
    """The lower median with so many order statistics and one more on either side; the ends where there are none."""
    low, high = _ends(f, domain)
    if not rows or min(rows) < low or max(rows) > high:
        raise BadInput("some rows are outside of the domain, or there are none; give its ends, which hold all rows")
    middle = (len(rows) - 1) // 2
    padded = [low] * (reach + 1) + sorted(rows) + [high] * (reach + 1)
    return padded[middle : middle + 2 * reach + 3]


def _reach(window: list[float], changes: int) -> float:
    """How far one more change could move the middle of the window after so many: Nissim et al.'s A(k)."""
    middle = len(window) // 2
    moves = range(changes + 2)
    pairs = ((middle + t, middle + t - changes - 1) for t in moves)
    return max((window[a] if a < len(window) else window[-1]) - (window[b] if b >= 0 else window[0]) for a, b in pairs)


def _neighbours(rows: Table, domain: Sequence[Any]) -> Iterator[Table]:
    for place, value in product(range(len(rows)), domain):
        yield (*rows[:place], value, *rows[place + 1 :])
