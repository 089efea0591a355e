"""Distances among which one is chosen, eight in every octave of floats, and what is thought of them before data are."""

import math
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

PARTS: Final = 3  # binary digits: eight grid points in each octave
TOP: Final = (2047 << PARTS) - 8 * 27  # grid points: up to 1e300
AT_ZERO, WITHIN = 0.25, 0.03  # the prior of the distance 0: of the far one, and of the body
LN2: Final = math.log(2)


def edge(place: int) -> float:
    """The grid point of this number: 0, then eight in every octave."""
    return float(np.array([place << (52 - PARTS)], dtype=np.int64).view(np.float64)[0])


@cache
def far_prior() -> npt.NDArray[np.float64]:
    """Nats of each grid point: a Cauchy distribution of octaves around 1, and 0 itself."""
    octave = (np.arange(TOP) >> PARTS) - 1023
    weight = 1 / (1 + (octave / 10.0) ** 2)
    weight[0] = 0.0
    weight *= (1 - AT_ZERO) / weight.sum()
    weight[0] = AT_ZERO
    nats: npt.NDArray[np.float64] = -np.log(weight)
    nats.flags.writeable = False
    return nats


def body_prior(place: int) -> npt.NDArray[np.float64]:
    """Nats of each grid point up to the far distance: even over two octaves, then half as much for each below."""
    below = np.maximum(((place - np.arange(place + 1)) >> PARTS) - 1, 0)
    nats: npt.NDArray[np.float64] = LN2 * below.astype(np.float64) + math.log(3 << PARTS)
    nats[0] = -math.log(WITHIN)
    return nats
