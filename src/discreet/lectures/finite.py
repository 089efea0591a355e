"""Worlds small enough to be counted out: sensitivities, posteriors and definitions, exactly.

A mechanism is here a function from a table to the probabilities of its outputs, {output: probability}; a prior is
{table: probability}, and a table a tuple of rows. Nothing is drawn, and nothing is private: these are calculations to
teach and to test with. One person is replaced, as in the lectures.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from discreet.errors import BadInput
from discreet.privacy.exact import is_number

Table = tuple[Any, ...]
Chances = Mapping[Hashable, float]
FiniteMechanism = Callable[[Table], Chances]


def global_sensitivity(f: Callable[[Table], float], domain: Sequence[Any], size: int) -> float:
    """The most that replacing one row moves `f`, over all tables of this size.

    >>> global_sensitivity(lambda x: sum(x) / len(x), (0, 1), 4)
    0.25
    """
    return max(local_sensitivity(f, rows, domain) for rows in product(domain, repeat=_size(size)))


def local_sensitivity(f: Callable[[Table], float], x: Sequence[Any], domain: Sequence[Any]) -> float:
    """The most that replacing one row of this table moves `f`: a fact about its rows, which noise of its size tells.

    >>> import statistics
    >>> [local_sensitivity(statistics.median, rows, range(10)) for rows in ((0, 0, 0, 9, 9), (4, 4, 4, 4, 4))]
    [9, 0]
    """
    rows = tuple(x)
    return max((abs(f(rows) - f(other)) for other in _neighbours(rows, domain)), default=0.0)


def smooth_sensitivity(f: Callable[[Table], float], x: Sequence[Any], domain: Sequence[Any], pace: float) -> float:
    """The largest e^(-pace k) times the local sensitivity of a table k replacements away (Nissim et al. 2007).

    >>> import statistics
    >>> round(smooth_sensitivity(statistics.median, (2, 2, 2), range(5), 1.0), 3)
    0.736
    """
    if not is_number(pace) or pace <= 0:
        raise BadInput(f"pace is {pace!r}; give a number above 0, such as epsilon / 2")
    rows, best = tuple(x), 0.0
    for other in product(domain, repeat=len(rows)):
        away = sum(a != b for a, b in zip(rows, other, strict=True))
        best = max(best, math.exp(-float(pace) * away) * local_sensitivity(f, other, domain))
    return best


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


def pure_privacy(mechanism: FiniteMechanism, domain: Sequence[Any], size: int, group: int = 1) -> float:
    """The least epsilon for replacing `group` rows; infinite where an output is possible on one side only.

    >>> [round(pure_privacy(randomised_response(0.5), (0, 1), 3, group=many), 3) for many in (1, 2)]
    [0.5, 1.0]
    """

    def loss(p: Chances, q: Chances) -> float:
        return max((math.log(p[out] / q[out]) if q.get(out, 0.0) else math.inf for out in p if p[out] > 0), default=0.0)

    return _worst(mechanism, domain, size, loss, group)


def _worst(
    mechanism: FiniteMechanism,
    domain: Sequence[Any],
    size: int,
    apart: Callable[[Chances, Chances], float],
    group: int = 1,
) -> float:
    tables = list(product(domain, repeat=_size(size)))
    made = {table: mechanism(table) for table in tables}
    return max(
        (
            apart(made[one], made[other])
            for one in tables
            for other in tables
            if 0 < sum(a != b for a, b in zip(one, other, strict=True)) <= group
        ),
        default=0.0,
    )


def _neighbours(rows: Table, domain: Sequence[Any]) -> Iterator[Table]:
    for place, value in product(range(len(rows)), domain):
        yield (*rows[:place], value, *rows[place + 1 :])


def _size(size: object) -> int:
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= 12:
        raise BadInput(f"size is {size!r}; give a whole number of rows from 1 to 12: all tables are counted out")
    return size
