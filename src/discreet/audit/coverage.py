"""Coverage: does the interval hold what it should, as often as it says?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.promise.release import Release
from discreet.promise.spread import check_confidence

CHANCE = 1e-7  # that a true coverage is called wrong


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often the interval held the truth, with exact bounds that fail once in ten million."""

    hits: int
    runs: int
    confidence: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """The observed coverage."""
        return self.hits / self.runs

    @property
    def holds(self) -> bool:
        """False only if the true coverage is below the stated confidence, up to CHANCE."""
        return self.high >= self.confidence

    def __str__(self) -> str:
        return f"{self.hits} of {self.runs} intervals hold the truth ({self.share:.4f}, stated {self.confidence:g})"


def coverage(
    draw: Callable[[int], tuple[Release[Any], Any]], *, runs: int, confidence: float = 0.95, chance: float = CHANCE
) -> Coverage:
    """Run `draw(i)`, a release and the truth it is about, and count the intervals that hold all of the truth."""
    confidence = check_confidence(confidence)
    if runs < 1:
        raise BadInput(f"runs is {runs}; at least one is needed")
    hits = 0
    for run in range(runs):
        release, truth = draw(run)
        interval = release.interval(confidence)
        hits += bool(np.all((np.asarray(interval.low) <= truth) & (truth <= np.asarray(interval.high))))
    low, high = proportion_bounds(hits, runs, chance)
    return Coverage(hits, runs, confidence, low, high)


def proportion_bounds(hits: int, runs: int, chance: float) -> tuple[float, float]:
    """Clopper-Pearson: the true share is below `low`, or above `high`, with probability at most `chance` each."""
    from scipy.special import betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, chance))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - chance))
    return low, high
