"""How far one person can move a statistic: anywhere, from this table on, and smoothly. Facts about rows, not releases.

A statistic of the caller's is counted out on a small finite domain. "median", the lower one, has closed forms: there
`domain` is any list whose ends are the public bounds. One person is replaced, as in the lectures.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Literal

from discreet.errors import BadInput
from discreet.lectures.finite import Table, size_of
from discreet.privacy.exact import is_number

Statistic = Callable[[Table], float] | Literal["median"]


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
