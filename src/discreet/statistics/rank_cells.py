"""Public cells in the order of the numbers, for an interval whose guarantee assumes nothing of the data."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.noise.choose_float import LARGEST_KEY, Staircase, float_of, keys_of
from discreet.noise.order_statistics import Ordered
from discreet.privacy.exact import exact
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.tables.streams import each

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
BITS: Final = 20  # a guaranteed interval knows its ends to this many binary digits,
FEW_BITS: Final = 12  # one of values that many share to so many,
PLENTY: Final = 400  # where records times the epsilon of a draw are fewer than this
START: Final = 2.0**52  # the floats from here on are the whole numbers


@dataclass(frozen=True, slots=True)
class RankCells:
    """Public cells in the order of the numbers; each is one candidate, all of the same weight. [ranks.2]

    Without bounds a cell holds the floats that agree in sign, exponent and 20 binary digits (or `bits`). With bounds it
    is [j 2^step, (j + 1) 2^step): about 2^bits of them, fewer if the declared granularity is coarser.
    """

    first: int
    last: int
    step: int | None = None
    bounds: tuple[float, float] | None = None
    shift: int = 52 - BITS

    @classmethod
    def of(cls, bounds: tuple[float, float] | None, granularity: float | None = None, bits: int = BITS) -> "RankCells":
        """The cells of public bounds, or of all floats."""
        if bounds is None:
            return cls(-LARGEST_KEY >> (52 - bits), LARGEST_KEY >> (52 - bits), shift=52 - bits)
        step = _log2(Fraction(bounds[1]) - Fraction(bounds[0])) + 1 - bits
        if granularity is not None:
            step = max(step, _log2(exact(granularity)))
        own = math.frexp(max(abs(bounds[0]), abs(bounds[1])))[1] - 53  # the floats' own grid at the larger bound
        step = max(step, own, -1074)
        low, high = (math.floor(Fraction(bound) / Fraction(2) ** step) for bound in bounds)
        return cls(low, high, step, bounds)

    @classmethod
    def shared(cls, bounds: tuple[float, float] | None, nats: Fraction) -> "RankCells":
        """Cells for values that many share: coarse where there are few records, so few `nats`, for a draw."""
        return cls.of(bounds, bits=BITS if nats >= PLENTY else FEW_BITS)

    @property
    def size(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    def places(self, values: Floats | Ordered, default: float) -> Any:
        """The cell of each value, counted from 0: a fixed, monotone function of the value."""
        if isinstance(values, Ordered):
            return Ordered(each(partial(self.raised, default=default), values.stream), default)
        if self.step is None or self.bounds is None:
            cells = keys_of(values, default) >> self.shift
        else:
            inside = np.clip(np.where(np.isnan(values), default, values), *self.bounds)
            cells = np.floor_divide(inside, math.ldexp(1.0, self.step)).astype(np.int64)  # exact: a power of 2
        counted: Integers = np.clip(cells - self.first, 0, self.size - 1)
        return counted

    def raised(self, values: Floats, default: float) -> Floats:
        """The same, counted from START."""
        return np.asarray(self.places(values, default) + START)

    def draw(self, places: Any, rank: Fraction, move: Fraction, cost: Choice, rng: Randomness) -> int:
        """One cell, by its place: those are floats from START on, which weigh the same. [ranks.2]"""
        if self.size == 1:
            return 0
        raised = places if isinstance(places, Ordered) else places + START
        stairs = Staircase(raised, rank, low=START, high=START + self.size - 1)
        return int(rng.choose_float(stairs, sensitivity=move, cost=cost) - START)

    def edges(self, place: int) -> tuple[float, float]:
        """Two numbers that hold the cell between them, within the bounds."""
        cell = self.first + place
        if self.step is None or self.bounds is None:
            last = (cell + 1 << self.shift) - 1
            return float_of(max(cell << self.shift, -LARGEST_KEY)), float_of(min(last, LARGEST_KEY))
        low, high = (Fraction(2) ** self.step * edge for edge in (cell, cell + 1))
        return float(max(low, Fraction(self.bounds[0]))), float(min(high, Fraction(self.bounds[1])))


def _log2(number: Fraction) -> int:
    """The largest k with 2^k <= number."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1
