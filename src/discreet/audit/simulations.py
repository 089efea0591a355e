"""What a release does in many runs: how often its interval holds the truth, how often two samples have one answer.

For data that may be looked at, such as simulated data: this says nothing about privacy, and is not private itself. Do
not run it on halves of a private table and publish the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadInput, Refused
from discreet.privacy.intervals import check_confidence
from discreet.privacy.release import Release

CHANCE = 1e-7  # that a true coverage is called wrong


@dataclass(frozen=True, slots=True, kw_only=True)
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
    return Coverage(hits=hits, runs=runs, confidence=confidence, low=low, high=high)


def proportion_bounds(hits: int, runs: int, chance: float) -> tuple[float, float]:
    """Clopper-Pearson: the true share is below `low`, or above `high`, with probability at most `chance` each."""
    from scipy.special import betaincinv

    low = 0.0 if hits == 0 else float(betaincinv(hits, runs - hits + 1, chance))
    high = 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, 1 - chance))
    return low, high


@dataclass(frozen=True, slots=True)
class Replicated:
    """How often two runs agreed, with exact bounds that fail once in ten million."""

    same: int
    runs: int
    low: float
    high: float

    @property
    def rho(self) -> float:
        """The observed share of pairs that differ."""
        return 1 - self.same / self.runs

    def refutes(self, rho: float) -> bool:
        """True if the procedure cannot be rho-replicable, up to a chance of one in ten million."""
        return self.high < 1 - rho

    def __str__(self) -> str:
        differ = f"{1 - self.high:.4f} to {1 - self.low:.4f}"
        return f"{self.same} of {self.runs} pairs agree; they differ with probability {differ}"


def replicate(
    procedure: Callable[[Any, float], Any],
    sample: Callable[[int], Any],
    *,
    runs: int,
    seed: int = 0,
    chance: float = CHANCE,
) -> Replicated:
    """Run `procedure(rows, offset)` on fresh samples 2 i and 2 i + 1 with one shared offset, `runs` times.

    The answers are compared exactly; a release that was refused counts as its refusal.

    >>> from discreet import audit
    >>> audit.replicate(lambda rows, offset: round(sum(rows) / len(rows)), lambda i: [0.0, 0.1 * (i % 3)], runs=20).same
    20
    """
    if not isinstance(runs, int) or runs < 1:
        raise BadInput(f"runs is {runs!r}; at least one is needed")
    offsets = np.random.default_rng(seed).random(runs)  # noqa: TID251  public coins, not noise
    same = 0
    for run, offset in enumerate(offsets.tolist()):
        first, second = (_answer(procedure(sample(2 * run + side), offset)) for side in (0, 1))
        same += bool(np.array_equal(first, second))
    low, high = proportion_bounds(same, runs, chance)
    return Replicated(same, runs, low, high)


def _answer(found: Any) -> Any:
    """A release's value; anything else as it is."""
    if not hasattr(found, "refusal"):
        return np.asarray(found)
    try:
        return np.asarray(found.value)
    except Refused as reason:
        return np.asarray(str(reason))
