"""What is said of a clip that was found: whom it may leave out, and how to get the mean without it."""

from typing import Final

from discreet.privacy.exact import Number, show
from discreet.stages.reach import Tail

SUPPOSED: Final = (
    "for the mean of all values the interval supposes that they become rarer outside the range that was seen: every "
    "{0} farther out (every {1}, if all are on one side) at most 37% of the people remain. By a noisy count hardly "
    "more than {2} people are more than {3} away from {4}; if those are twice that far away on average, they move the "
    "mean by at most a third of the half-width of a 95% interval"
)


def tail_notes(tail: Tail, limited: bool, epsilon: Number) -> tuple[str, ...]:
    """What the release cannot see, and what it supposes."""
    if limited or tail.hardly is None:
        return tail.unseen, unlimited(tail.size, epsilon)
    slopes = tuple(f"{slope:.3g}" for slope in (tail.slope, tail.slope * tail.steeper))
    return tail.unseen, SUPPOSED.format(*slopes, round(tail.hardly), show(tail.radius), show(tail.centre))


def unlimited(size: float, epsilon: Number) -> str:
    """How to get the mean of all values, and its price."""
    price = 3 / (float(epsilon) * max(size, 1.0))  # the 95% point of Laplace noise
    return (
        "for the mean without such limits give public bounds: with bounds=(low, high) the noise adds up to "
        f"{price:.2g} times (high - low) to either side"
    )
