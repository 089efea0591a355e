"""The lectures' filter as printed: each fault alone, in a mechanism that is sound without it.

Everything is scaled to the unit radius and one column, on the grid of core.py. `faults` names what is planted.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from tests.audit.mutants import Mutant

from discreet import audit
from discreet.friendly.average import SLACK, Lattice, margin, noisy_count
from discreet.friendly.core import UNITS, Apart, Points, friend_counts
from discreet.friendly.weights import STABILITY, moves_at_most
from discreet.privacy.loss import Approximate, Composed, Gaussian, Loss
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import in_one, matrix

MISS = 1e-7


def lectured(mu: int, *faults: str) -> Callable[[Any, Randomness], Any]:
    """Count friends, weigh, test, average."""

    def run(rows: Any, rng: Randomness) -> Any:
        table, half = in_one(matrix(rows, 1)), Gaussian(mu, SLACK)
        size, others = len(table), max(1, len(table) - 1)
        lattice = Lattice.for_mean(1, Fraction(2 * UNITS, 4 * max(1, size)), mu)
        points = Points.of(table, 1.0, lattice.reach)
        friends = friend_counts(Apart(points))
        units, whole = np.clip(2 * friends - others, 0, others), others
        if "ramp of half the slope" in faults:  # 1 for n friends, itself counted, else (c - n/2)/n
            units, whole = np.where(friends == others, 2 * size, np.maximum(0, 2 * (friends + 1) - size)), 2 * size
        if "counts itself" in faults:
            units, whole = np.clip(2 * (friends + points.valid) - size, 0, size), size
        stability = whole * (1 if "test as if one row weighed one" in faults else STABILITY)
        cost = Gaussian(2 * mu, SLACK) if "spends the budget twice" in faults else half
        noisy = noisy_count(int(units.sum()), cost, rng, sensitivity=stability)
        weight = min(Fraction(size), (noisy - margin(cost.mu, MISS, stability)) / whole)
        if size < 3 or weight < (Fraction(1, 4) if "any weight will do" in faults else 5):
            return "refused"
        kept = units > 0
        average = lattice.mean(points.steps[kept], units[kept])
        if "divides by n" in faults:
            sums = [int(u) * int(q) for u, q in zip(units, points.steps[:, 0], strict=True)]
            average = np.array([(sum(sums) << lattice.bits) // (size * whole)])
        moved = UNITS * (Fraction(6) / weight if "any weight will do" in faults else moves_at_most(weight, size))
        if "noise for one radius" in faults:
            moved = Fraction(UNITS, size)
        found = lattice.blurred(average, moved, radius=1.0, cost=half, rng=rng)
        return found.point

    return run


def mutant(*faults: str, mu: int = 32) -> Mutant:
    """One that says it costs mu for its test and for its mean."""
    half = Gaussian(mu, SLACK)
    loss: Loss = Composed((half, half, Approximate(0, MISS)))
    return Mutant(", ".join(faults) or "sound", lectured(mu, *faults), loss=loss, epsilon=1e6, delta=0.05)


MUTANTS = [
    mutant("ramp of half the slope"),
    mutant("divides by n"),
    mutant("noise for one radius"),
    mutant("test as if one row weighed one"),
    mutant("spends the budget twice", mu=1),
    mutant("counts itself", "any weight will do", mu=64),
]


def world() -> list[audit.Pair]:
    """The tables that the errata of the lectures are about, each with the neighbour that tells."""
    pairs = []
    for size, place in ((10, 0.0), (12, 1000.0), (31, -1000.0), (40, 0.0)):
        crowd = [place] * (size - 1)
        pairs += [
            audit.Pair([place, *crowd], [place + 50, *crowd]),
            audit.Pair([place + 1, *crowd], [place - 1, *crowd]),
            audit.Pair([place + 50, *crowd], [place, *crowd]),
            audit.Pair([float("nan"), *crowd], [float("inf"), *crowd]),
        ]
    odd = [0.0, 0.0, 1000.0]
    return [*pairs, audit.Pair(odd, [1000.0, *odd[1:]]), audit.Pair([1000.0, *odd[1:]], odd)]
