"""Whole vectors plus Gaussian noise on a grid of their own: 2^36 steps in a standard deviation.

Claims
    [TN1] `blurred` costs what it says whatever the values: shifting whole numbers left by a public number of bits
          multiplies every distance by 2^bits, the sensitivity with it, and saturating enlarges none.
    [TN2] `shares` are Gaussian losses whose squares of mu sum to at most mu^2, as exact fractions.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.friendly.matrix import Floats
from discreet.noise.lattice import ROOM, whole
from discreet.promise.exact import Number, exact, root_above, root_below
from discreet.promise.loss import Gaussian
from discreet.promise.mechanism import Randomness

FINE: Final = 36


def blurred(values: Any, *, square: int, cost: Gaussian, rng: Randomness) -> tuple[Floats, float]:
    """The values plus noise, and its standard deviation; `square` is the square of the L2 sensitivity. [TN1]"""
    move = root_above(square)
    shift = max(0, FINE - math.floor(math.log2(float(move / exact(cost.mu)))))
    room = ROOM >> shift
    steps = np.clip(whole(values), -room, room) << shift  # [TN1]
    noisy: Any = rng.blur(steps, sensitivity=move * 2**shift, cost=cost)
    return np.asarray(noisy, dtype=np.float64) / 2.0**shift, float(move / exact(cost.mu))


def shares(mu: Number, parts: Mapping[str, float], slack: Number) -> dict[str, Gaussian]:
    """Gaussian losses in proportion to `parts` of mu squared. [TN2]"""
    fractions = {name: Fraction(part).limit_denominator(10**9) for name, part in parts.items() if part > 0}
    whole = sum(fractions.values(), Fraction(0))
    square = exact(mu) ** 2
    return {name: Gaussian(root_below(square * part / whole), slack) for name, part in fractions.items()}  # [TN2]


def part(cost: Gaussian, times: int) -> Gaussian:
    """What each of several draws may cost that together cost this. [TN2]"""
    return Gaussian(root_below(exact(cost.mu) ** 2 / times), cost.slack)
