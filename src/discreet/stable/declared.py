"""What people declare about their data in advance: bounds, a standard deviation, a size. All of it public."""

from discreet.errors import BadInput
from discreet.promise.exact import is_number
from discreet.promise.neighbours import Neighbours

SMALLEST, LARGEST = 1e-150, 1e150  # scales whose squares are still floats
Bounds = tuple[float, float]


def check_sigma(sigma: object) -> None:
    """A known standard deviation is a positive number, or there is none."""
    if sigma is not None and not (is_number(sigma) and SMALLEST < sigma < LARGEST):  # type: ignore[operator]
        raise BadInput(f"sigma is {sigma!r}; give a positive number, a standard deviation known in advance, or None")


def check_bounds(bounds: object) -> None:
    """Public bounds are two finite numbers in order, or there are none."""
    if bounds is None:
        return
    pair = tuple(bounds) if isinstance(bounds, tuple | list) else ()
    if len(pair) != 2 or not all(is_number(end) and abs(end) <= LARGEST for end in pair) or not pair[0] < pair[1]:
        raise BadInput(f"bounds are {bounds!r}; give two numbers, the lower first, for example (0, 120)")


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
