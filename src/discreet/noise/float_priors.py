"""The weights of float64 numbers that the exponential mechanism begins with: public, and exact in whole numbers.

Floats are in the order of their keys, from minus to plus LARGEST_KEY, 2^52 to a binade.
"""

from bisect import bisect_right
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput

TRIED: Final = 64  # keys that are looked at together
LIMB: Final = 27  # bits of the lower of two numbers that make a weight
TOGETHER: Final = 1 << 14  # keys weighed at once: short ones need 30 numbers for each
BINADES: Final = 2047
PER_BINADE: Final = 2**52
LARGEST_KEY: Final = BINADES * PER_BINADE - 1  # the key of the largest finite float
Keys = npt.NDArray[np.int64]
Whole = npt.NDArray[Any]  # whole numbers: int64, or Python's own where those would overflow


class Prior:
    """A public weight for each binade, the same for every float in it and for both signs."""

    def __init__(self, weights: tuple[int, ...]) -> None:
        if len(weights) != BINADES or min(weights) < 1:
            raise BadInput(f"a prior needs {BINADES} whole weights of at least 1, one for each binade")
        self.weights = weights
        self._before = [0, *accumulate(weight * PER_BINADE for weight in weights)]
        self._each = np.array([*weights, 0], dtype=object)
        self._sums = np.array(self._before, dtype=object)

    def up_to(self, keys: Keys) -> Whole:
        """The weight of all keys in [0, key); for a negative key minus that of [key, 0). As Python's integers."""
        mirrored = np.where(keys < 0, 1 - keys, keys)  # keys -1, ..., key mirror 1, ..., -key
        binades = mirrored // PER_BINADE
        found = self._sums[binades] + (mirrored % PER_BINADE).astype(object) * self._each[binades]
        weights: Whole = np.where(keys < 0, self.weights[0] - found, found)
        return weights

    def between(self, low: int, high: int) -> int:
        """The weight of all keys from low to high, both included."""
        before, upto = self.up_to(np.array([low, high + 1]))
        return int(upto - before)

    def between_all(self, low: Keys, high: Keys) -> Whole:
        """The same for many pairs of keys at once."""
        one, other = np.abs(low) // PER_BINADE, np.abs(high) // PER_BINADE
        weights: Whole = (high - low + 1).astype(object) * self._each[one]  # as many as there are, in one binade
        wide = np.flatnonzero((one != other) | ((low < 0) != (high < 0)))
        weights[wide] = self.up_to(high[wide] + 1) - self.up_to(low[wide])
        return weights

    def locate(self, low: int, offset: int) -> int:
        """The key at weight `offset` from the start of `low`."""
        place = int(self.up_to(np.array([low]))[0]) + offset
        if place >= 0:
            binade = bisect_right(self._before, place) - 1
            return binade * PER_BINADE + (place - self._before[binade]) // self.weights[binade]
        mirrored = self.weights[0] - place - 1  # the last unit of the mirrored key's weight, counted from 0
        return -self.locate(0, mirrored)


@cache
def scale_free(unit: int = 0) -> Prior:
    """Half-Cauchy on the binary exponent around 2^unit: binade k has weight about 1 / (31.4 (1 + (k / 10)^2))."""
    return Prior(tuple(max(1, round(Fraction(2**24 * 100, 100 + (e - 1023 - unit) ** 2))) for e in range(BINADES)))


class ShortPrior(Prior):
    """Half of the weight as before, half on numbers of few binary digits: 3, 40 or 0.25 weigh more than most floats.

    In each binade those of b digits or fewer, the multiples of 2^(53 - b) among its keys, share 1 / (b (b + 1)) of its
    weight, for b up to 30. 0 has a weight of its own.
    """

    def __init__(self, weights: tuple[int, ...]) -> None:
        super().__init__(weights)
        digits = np.arange(1, 31)
        self._shares, self._bits = PER_BINADE // (digits * (digits + 1) << (digits - 1)), (53 - digits)[:, None]
        full = int(self._shares @ (PER_BINADE >> self._bits[:, 0]))
        before = [
            short + all_of
            for short, all_of in zip(
                accumulate(full * weight for weight in (0, 0, *weights[1:])), self._before, strict=True
            )
        ]
        self._zero = self._before[-1] // 32
        if max(weights) >> LIMB - 2 or before[-1] >> LIMB + 60:  # products and sums below stay far below 2^62
            raise BadInput(
                f"weights of a prior with short numbers must be below 2^{LIMB - 2}, and sum to less than 2^34"
            )
        self._starts = tuple(
            np.array(part, dtype=np.int64) for part in zip(*(_parts(one) for one in before), strict=True)
        )
        self._small = np.array([*weights, 0], dtype=np.int64)

    def up_to(self, keys: Keys) -> Whole:
        """The weight of all keys in [0, key); for a negative key minus that of [key, 0). As Python's integers."""
        return _joined(*self._in_parts(keys))

    def _in_parts(self, keys: Keys) -> tuple[Keys, Keys]:
        """The same as two numbers a and b for a 2^LIMB + b: whole numbers of Python's take ten times as long."""
        if len(keys) > TOGETHER:
            found = [self._in_parts(keys[at : at + TOGETHER]) for at in range(0, len(keys), TOGETHER)]
            return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])
        mirrored = np.where(keys < 0, 1 - keys, keys)
        binades, rest = mirrored // PER_BINADE, mirrored % PER_BINADE
        short = -np.einsum("i,ij->j", self._shares, -rest >> self._bits)  # each share as often as it has begun
        many, weight = rest + np.where(binades > 0, short, 0), self._small[binades]
        (zero, its_rest), (first, its_first) = _parts(self._zero), _parts(self.weights[0] + self._zero)
        above = self._starts[0][binades] + (many >> LIMB) * weight + zero * (mirrored > 0)
        below = self._starts[1][binades] + (many & ((1 << LIMB) - 1)) * weight + its_rest * (mirrored > 0)
        return np.where(keys < 0, first - above, above), np.where(keys < 0, its_first - below, below)

    def between_all(self, low: Keys, high: Keys) -> Whole:
        """The weights of all keys from low to high, for many pairs."""
        (above, below), (less, least) = self._in_parts(high + 1), self._in_parts(low)
        return _joined(above - less, below - least)

    def locate(self, low: int, offset: int) -> int:
        """The key at weight `offset` from the start of `low`: the last one that begins there or before."""
        place, high = int(self.up_to(np.array([low]))[0]) + offset, LARGEST_KEY + 1
        while high - low > 1:
            step = -(-(high - low) // TRIED)
            begun = int(np.count_nonzero(self.up_to(np.array(range(low + step, high, step))) <= place))
            low, high = low + begun * step, min(high, low + (begun + 1) * step)
        return low


def _parts(weight: int) -> tuple[int, int]:
    return weight >> LIMB, weight & ((1 << LIMB) - 1)


def _joined(above: Keys, below: Keys) -> Whole:
    weights: Whole = (above.astype(object) << LIMB) + below.astype(object)
    return weights


@cache
def short_numbers() -> ShortPrior:
    """As `scale_free`, with half of the weight on numbers of few binary digits."""
    return ShortPrior(scale_free().weights)


@cache
def uniform() -> Prior:
    """Lebesgue measure: a float weighs as much as the room it has. For public bounds."""
    return Prior(tuple(2 ** max(e - 1, 0) for e in range(BINADES)))
