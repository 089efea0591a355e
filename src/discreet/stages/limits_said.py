"""What is said of a clip that was found: whom it may leave out, and how to get the mean without it."""

from typing import Final

from discreet.privacy.exact import Number, show
from discreet.stages.reach import Tail

SUPPOSED: Final = (
    "the interval allows for values that are farther out than was seen: there, it supposes, each further {0} leaves at "
    "most 37% of the people; each further {1}, if all are on one side. Hardly more than {2} people are farther than "
    "{3} from {4}: twice as far out on average, they would move the mean by a third of the interval's half at most"
)


def tail_notes(tail: Tail, limited: bool, epsilon: Number) -> tuple[str, ...]:
    """What the release cannot see, and what it supposes."""
    if limited or tail.hardly is None:
        return tail.unseen, unlimited(tail.size, epsilon)
    slopes, where = (show(tail.slope), show(tail.slope * tail.steeper)), (show(tail.radius), show(tail.centre))
    return tail.unseen, SUPPOSED.format(*slopes, round(tail.hardly), *where)


def unlimited(size: float, epsilon: Number) -> str:
    """How to get the mean of all values, and its price."""
    price = show(3 / (float(epsilon) * max(size, 1.0)))  # the 95% point of Laplace noise
    return (
        "for the mean without such limits give public bounds: with bounds=(low, high) the noise adds up to "
        f"{price} times (high - low) to either side"
    )
