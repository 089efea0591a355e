"""Error bars. An interval says what it covers: the population quantity, or only the number in this table.

An interval whose ends were drawn: it stands at the confidence that was declared.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Protocol

from discreet.errors import BadInput, Refused
from discreet.privacy.exact import is_number, show


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, at a level of confidence, about a named quantity.

    `population` is True when the interval allows for sampling as well as for the privacy noise. One that
    allows for the noise alone is about the number in the table and is never called a confidence interval.
    """

    low: Any
    high: Any
    _: KW_ONLY
    confidence: float
    about: str
    population: bool

    def __iter__(self) -> Iterator[Any]:
        """For `low, high = release.interval()`."""
        return iter((self.low, self.high))

    @property
    def name(self) -> str:
        """What to call it."""
        percent = f"{100 * self.confidence:.15g}%"
        return f"{percent} confidence interval" if self.population else f"{percent} noise interval"


class Spread(Protocol):
    """The error of a release, computed from what was released and nothing else."""

    @property
    def sampling(self) -> Any:
        """Standard deviation from sampling people, None where the table itself is the target."""

    @property
    def privacy(self) -> Any:
        """Standard deviation from the privacy noise."""

    def interval(self, confidence: float) -> Interval:
        """The interval at this confidence."""


def check_confidence(confidence: object) -> float:
    """A confidence between 0 and 1, as a float; one too near 1 for floats to tell is refused."""
    if not is_number(confidence) or not 0 < confidence <= 1 - 1e-12:  # type: ignore[operator]
        raise BadInput(f"confidence is {confidence!r}; it must be between 0 and 1 - 1e-12, for example 0.95")
    return float(confidence)  # type: ignore[arg-type]


TIES: Final = (
    "the data are declared as whole numbers, and ties would make an interval too short; "
    "declare what they are rounded to, granularity=1, or ask for guaranteed=True"
)


@dataclass(frozen=True, slots=True)
class QuantileSpread:
    """The interval that was drawn; standard deviations of the value, read off the interval's own width."""

    low: Any
    high: Any
    _: KW_ONLY
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
        return Interval(self.low, self.high, confidence=self.confidence, about=self.about, population=True)
