"""Whole vectors plus Gaussian noise on a grid of their own: 2^36 steps in a standard deviation.

Claims
    [average.1] `blurred` costs what it says whatever the values: shifting whole numbers left by a public number of bits
          multiplies every distance by 2^bits, the sensitivity with it, and saturating enlarges none.

Exact means of points, and noise on them.

Promise
    [average.2] A mean of points is an exact fraction, rounded once: neither order nor blocks change it.
    [average.3] If the exact means on two neighbouring tables are within `moved` units, what leaves has the loss `cost`.
    [average.4] Nothing is raised, whatever the points are.

Why
    [average.2] Whole numbers about the first point are added by [lattice.1], which does not wrap around, and
    divided as Python's integers. Which point is the first does not matter: a whole number of units is a whole number of
    steps.
    [average.3] A step is 2^-bits units, bits public. Rounding moves each coordinate by half a step at most, on both
    tables: sqrt(d) steps in all, which are added to the sensitivity. Then [additive.2]: the noise has 2^22 sqrt(d)
    steps or more, as long as `moved` is not below what `Lattice.for_mean` was told, so that the total variation of d of
    them is at most SLACK.
    [average.4] Differences from the first point are cut to 2^20 units, more than friends of friends can be apart.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.friendly.friendly_budget import FINE
from discreet.friendly.grid import FARTHEST, UNITS
from discreet.noise.lattice import ROOM, summed, whole
from discreet.privacy.exact import Number, exact, root_above
from discreet.privacy.loss import Gaussian
from discreet.privacy.mechanism import Randomness
from discreet.tables.matrix import Floats

BITS: Final = 36


def blurred(values: Any, *, square: int, cost: Gaussian, rng: Randomness) -> tuple[Floats, float]:
    """The values plus noise, and its standard deviation; `square` is the square of the L2 sensitivity. [average.1]"""
    move = root_above(square)
    shift = max(0, BITS - math.floor(math.log2(float(move / exact(cost.mu)))))
    room = ROOM >> shift
    steps = np.clip(whole(values), -room, room) << shift  # [average.1]
    noisy: Any = rng.blur(steps, sensitivity=move * 2**shift, cost=cost)
    return np.asarray(noisy, dtype=np.float64) / 2.0**shift, float(move / exact(cost.mu))


CUT: Final = 2**20
DIGITS: Final = 60  # binary digits of the largest step
Steps = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Centre:
    """A noisy mean of rows that agree with each other; all of it may be shown."""

    point: Floats
    deviation: float  # of the noise on each coordinate
    survivors: int  # it is the mean of so many rows at least, but for an event of probability `miss`


@dataclass(frozen=True, slots=True)
class Lattice:
    """The steps in which a mean leaves: 2^bits a unit, for rows at most 2^reach units from 0. Public."""

    bits: int
    reach: int

    @classmethod
    def for_mean(cls, columns: int, moved: Fraction, mu: Number) -> "Lattice":
        """So fine that noise for a mean that moves by so many units or more is 2^22 sqrt(columns) steps wide."""
        bits = max(0, math.ceil(math.log2(2**FINE * root_above(columns) * exact(mu) / moved)))
        return cls(bits, max(0, min(FARTHEST, DIGITS - bits)))

    def mean(self, steps: Steps, weights: Sequence[int] | Steps | None = None) -> Steps:
        """The exact mean of points, rounded to the nearest step; 0 if there are none. [average.2]"""
        if not len(steps):
            return np.zeros(steps.shape[1], dtype=np.int64)
        first = steps[0]
        about = np.clip(steps - first, -CUT, CUT)  # [average.4]
        heavy = np.ones(len(steps), dtype=np.int64) if weights is None else np.asarray(weights)
        most = CUT * int(heavy.max())
        often = 2**62 // most  # rows whose sum an int64 holds
        parts = (heavy[k : k + often] @ about[k : k + often] for k in range(0, len(steps), often))
        sums, size = summed(parts, first.shape, 2**62), int(heavy.sum())
        rounded = [((part << self.bits) * 2 + size) // (2 * size) for part in sums.tolist()]  # [average.2]
        return np.asarray((first << self.bits) + np.array(rounded, dtype=np.int64))

    def blurred(self, mean: Steps, moved: Fraction, *, radius: float, cost: Gaussian, rng: Randomness) -> "Blurred":
        """A mean that moves by at most so many units, plus noise. [average.3]"""
        sensitivity = moved * 2**self.bits + root_above(mean.size)  # [average.3]
        noisy = rng.blur(mean, sensitivity=sensitivity, cost=cost)
        step = exact(radius) / (UNITS << self.bits)
        deviation = float(math.ceil(sensitivity / exact(cost.mu)) * step)
        return Blurred(np.asarray(noisy, dtype=np.float64) * float(step), deviation)


@dataclass(frozen=True, slots=True)
class Blurred:
    """A noisy mean in the data's own scale, and the standard deviation of the noise on each coordinate."""

    point: Floats
    deviation: float
