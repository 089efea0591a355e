"""An interval whose ends were drawn: it stands at the confidence that was declared."""

from dataclasses import dataclass
from typing import Any, Final

from discreet.errors import Refused
from discreet.promise.exact import show
from discreet.promise.spread import Interval

TIES: Final = (
    "the data are declared as whole numbers, and ties would make an interval too short; "
    "declare what they are rounded to, granularity=1, or ask for guaranteed=True"
)


@dataclass(frozen=True, slots=True)
class QuantileSpread:
    """The interval that was drawn; standard deviations of the value, read off the interval's own width."""

    low: Any
    high: Any
    confidence: float
    about: str
    sampling: Any
    privacy: Any
    refusal: str | None = None

    def interval(self, confidence: float) -> Interval:
        """The interval, at the confidence that was declared."""
        if self.refusal is not None:
            raise Refused(f"there is no interval: {self.refusal}")
        if confidence > self.confidence:
            raise Refused(
                f"the interval was drawn at confidence {show(self.confidence)}, and {show(confidence)} is asked for; "
                f"its ends are what was released: declare confidence={show(confidence)} before the next release"
            )
        return Interval(self.low, self.high, self.confidence, self.about, population=True)
