"""Error bars. An interval says what it covers: the population quantity, or only the number in this table."""

from dataclasses import dataclass
from typing import Any, Protocol

from discreet.errors import BadInput
from discreet.promise.exact import is_number


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, at a level of confidence, about a named quantity.

    `population` is True when the interval allows for sampling as well as for the privacy noise. One that
    allows for the noise alone is about the number in the table and is never called a confidence interval.
    """

    low: Any
    high: Any
    confidence: float
    about: str
    population: bool

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
