"""What people declare about their data in advance: bounds, a standard deviation, a size. All of it public.

A function of the caller's has a declared property too, on which a promise rests. It is tried on public made-up rows
before there are data (`tried`), sees the data in silence (`contained`), and the release says so (`rests_on`).
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.privacy.exact import exact, is_number
from discreet.privacy.guarantee import Neighbours

SMALLEST, LARGEST = 1e-150, 1e150  # scales whose squares are still floats
EXTREME: Final = 1e-9  # no sample tells of quantiles beyond it
LARGEST_UNIT: Final = 1e250  # of a granularity: that many more of it than are told apart fit into the floats
LONGEST: Final = 80  # letters of made-up rows in a message
Bounds = tuple[float, float]


def check_sigma(sigma: object) -> None:
    """A known standard deviation is a positive number, or there is none."""
    if sigma is not None and not (is_number(sigma) and SMALLEST < float(sigma) < LARGEST):  # type: ignore[arg-type]
        raise BadInput(f"sigma is {sigma!r}; give a positive number, a standard deviation known in advance, or None")


def check_bounds(bounds: object, most: float = LARGEST) -> None:
    """Public bounds are two finite numbers in order, or there are none."""
    if bounds is None:
        return
    pair = tuple(bounds) if isinstance(bounds, tuple | list | np.ndarray) else ()
    numbers = [float(end) for end in pair if is_number(end)]  # Python's: numpy's small types overflow
    if len(pair) != 2 or len(numbers) != 2 or max(map(abs, numbers)) > most or not numbers[0] < numbers[1]:
        raise BadInput(f"bounds are {bounds!r}; give two finite numbers, the lower first, for example (0, 120)")
    if not numbers[1] / 2 - numbers[0] / 2 > 0:
        raise BadInput(f"bounds are {bounds!r}, so close that the radius between them is 0; give wider ones")


def check_size(size: object, neighbours: Neighbours) -> None:
    """A declared size is a whole number, and public."""
    if size is None:
        return
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise BadInput(f"size is {size!r}; give the public number of rows, 1 or more, or None")
    if not neighbours.size_is_public:
        raise BadInput("a size is declared, but whether one person is there is what is hidden; give size=None")


def agree(size: int | None, declared: int | None) -> int | None:
    """The public size of the data; refused if another was declared."""
    if declared is not None and declared != size:
        raise BadInput(f"the data have {size} rows, but size={declared} was declared; declare the same or none")
    return size


def checked_shares(q: Any) -> Any:
    """Shares of the data in (0, 1): a number, or a tuple of them."""
    several = isinstance(q, tuple | list) or (isinstance(q, np.ndarray) and q.ndim > 0)
    listed = list(q) if several else [q]
    if not listed:
        raise BadInput("q is empty; give a number between 0 and 1, or several, for example (0.25, 0.5, 0.75)")
    for one in listed:
        if not (is_number(one) and EXTREME <= float(one) <= 1 - EXTREME):
            raise BadInput(f"q is {one!r}; it must be between 0 and 1, by {EXTREME:g} or more, for example 0.5")
    return tuple(listed) if several else q


def check_granularity(granularity: Any, bounds: tuple[float, float] | None) -> None:
    """What data are rounded to is a positive number no larger than their range, or is not declared."""
    if granularity is None:
        return
    if not (is_number(granularity) and 0 < float(granularity) <= LARGEST_UNIT):
        raise BadInput(f"granularity is {granularity!r}; give what the data are rounded to, for example 1 or 0.01")
    if bounds is not None and exact(granularity) > Fraction(bounds[1]) - Fraction(bounds[0]):
        raise BadInput(f"granularity is {granularity!r}, more than the bounds {bounds} are apart; give a smaller one")


@contextmanager
def hushed() -> Iterator[None]:
    """No warning of numpy or Python is heard: it would tell of a value."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tried(function: Callable[..., Any], what: str, *rows: Any) -> Any:
    """What a function of the caller's says of public made-up rows; refused, before there are data, if it raises."""
    try:
        with hushed():
            return function(*rows)
    except Exception as error:
        shown = ", ".join(repr(one.tolist() if isinstance(one, np.ndarray) else one) for one in rows)
        cut = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]} ..."
        raise BadInput(f"{what} failed on the made-up rows {cut}: {error}") from error


def contained(function: Callable[..., Any], *rows: Any) -> Any:
    """What a function of the caller's says of the data; None if it raises: a record decides on no error."""
    try:
        with hushed():
            return function(*rows)
    except Exception:  # noqa: BLE001
        return None


def rests_on(declared: str) -> str:
    """The note of a release whose promise rests on a function of the caller's."""
    return f"the promise rests on this, which was tried on made-up rows and not proved: {declared}"
