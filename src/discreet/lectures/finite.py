"""Worlds small enough to be counted out: mechanisms, posteriors and definitions, exactly.

A mechanism is here a function from a table to the probabilities of its outputs, {output: probability}; a prior is
{table: probability}, and a table a tuple of rows. Nothing is drawn, and nothing is private: these are calculations to
teach and to test with. One person is replaced, as in the lectures.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from discreet.errors import BadInput
from discreet.lectures.friendly_filter import Predicate, is_friendly
from discreet.privacy.exact import is_number

Table = tuple[Any, ...]
Chances = Mapping[Hashable, float]
FiniteMechanism = Callable[[Table], Chances]


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
