"""Random numbers that hide nobody: what a statistic would be on made-up data, for null laws and power.

The stream is numpy's, its seed is public or drawn through the door. Nothing that protects a person is drawn here.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def stream(seed: int) -> np.random.Generator:
    """Repeatable random numbers."""
    return np.random.Generator(np.random.Philox(seed))


def laplace(generator: np.random.Generator, size: tuple[int, ...], scale: Fraction) -> Integers:
    """Discrete Laplace noise of the law that the door draws: the difference of two geometric numbers."""
    stop = -np.expm1(-float(1 / scale))
    found: Integers = generator.geometric(stop, size) - generator.geometric(stop, size)
    return found
