"""Parameters on scales without ends: there estimates are nearer to normal, and no interval leaves their range."""

import math
from dataclasses import dataclass
from typing import Final

FARTHEST: Final = 700.0  # beyond it exponentials overflow


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a parameter, and the way to the whole line and back: logarithms for a half-line, log odds between.

    >>> Scale(0.0, math.inf).there(1.0), Scale(0.0, 1.0).back(0.0)
    (0.0, 0.5)
    """

    low: float = -math.inf
    high: float = math.inf

    def there(self, value: float) -> float:
        """The parameter on the whole line."""
        match math.isfinite(self.low), math.isfinite(self.high):
            case (True, True):
                return math.log((value - self.low) / (self.high - value))
            case (True, False):
                return math.log(value - self.low)
            case (False, True):
                return -math.log(self.high - value)
        return value

    def back(self, place: float) -> float:
        """And back."""
        cut = min(max(place, -FARTHEST), FARTHEST)
        match math.isfinite(self.low), math.isfinite(self.high):
            case (True, True):
                share = 1 / (1 + math.exp(-cut))
                return self.low + (self.high - self.low) * share
            case (True, False):
                return self.low + math.exp(cut)
            case (False, True):
                return self.high - math.exp(-cut)
        return place

    def slope(self, place: float) -> float:
        """How fast the parameter grows there."""
        step = 1e-5
        return (self.back(place + step) - self.back(place - step)) / (2 * step)
