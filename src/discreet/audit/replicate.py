"""Replicate: how often two samples of the same population lead to the very same answer, given shared coins.

A diagnostic on data that may be looked at, such as simulated data: it says nothing about privacy, and its own answer
is not private. Do not run it on halves of a private table and publish the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit.coverage import CHANCE, proportion_bounds
from discreet.errors import BadInput, Refused


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
