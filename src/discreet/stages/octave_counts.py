"""How many numbers there are in each half octave, by the bits of their floats: a kernel of folds."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.stages.clip import BLOCK, Floats

ROOT: Final = math.sqrt(0.5)
DIGITS, BIAS, BIASED = 52, 1022, 2048  # of a float64: x = f 2^(exponent - BIAS), f from 1/2 to 1
CARRY: Final = (1 << DIGITS) - int(np.float64(ROOT).view(np.int64)) % (1 << DIGITS)


def _words(positive: Floats) -> npt.NDArray[np.int64]:
    """The bits of floats without a sign: an exponent, then DIGITS of a fraction."""
    return np.ascontiguousarray(positive).view(np.int64)


def _halves(positive: Floats) -> npt.NDArray[np.int64]:
    """Twice the exponent, and one more where the fraction is ROOT or more: then a sum carries into the exponent."""
    words = _words(positive)
    return (words >> DIGITS) + ((words + CARRY) >> DIGITS)


def half_octaves_of(given: Iterator[Floats]) -> npt.NDArray[np.int64]:
    """A kernel: how many lengths above 0 there are in each half octave, missing ones in none."""
    found = np.zeros(2 * BIASED, dtype=np.int64)
    for block in (piece[start : start + BLOCK] for piece in given for start in range(0, len(piece), BLOCK)):
        found += np.bincount(_halves(np.abs(np.fmax(block, 0.0))), minlength=2 * BIASED)
        found[0] -= len(block) - np.count_nonzero(block > 0)
    return found
