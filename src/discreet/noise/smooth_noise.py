"""Noise as wide as the data say, for those who can prove that neighbours say nearly the same.

Releases
    round(v + (S / s) T), cut to a public range: v a whole number, S how far v may move (a smooth bound on it), T real
    noise of a fixed distribution, s a public divisor.
Promise
    [smooth_noise.1] If |v - v'| <= min(S, S') and S and S' are within a factor e^pace of each other, then for Student's
          distribution with d degrees of freedom (Cauchy's for d = 1) the release is pure d pace + s (d + 1) / (2 sqrt
          d).
    [smooth_noise.2] The same with Laplace's distribution is (s + w, delta), w = pace, if exp(-(w + pace) / (e^pace -
          1)) <= delta for some w >= pace, which then stands in its place.
    [smooth_noise.3] The distribution is exact: rounded is the true real number, not a float near it.
Why
    Two steps, (v, S) to (v, S') to (v', S'): the density of v + (S / s) T is changed by a dilation, then by a shift of
    at most S', which is s in units of S' / s.
    [smooth_noise.1] Let h be the logarithm of T's density, -(d + 1)/2 ln(1 + t^2 / d). Shift: |h'(t)| = (d + 1) |t| /
    (d + t^2) is at most (d + 1) / (2 sqrt d). Dilation by e^u: the derivative of u + h(t e^u) in u is 1 - (d + 1) x^2 /
    (d + x^2) at x = t e^u, which lies between -d and 1; so it changes by at most d |u|.
    [smooth_noise.2] Shift: |h'| = 1, so s. Dilation of the density e^-|t| / 2 by e^u with |u| <= pace: the ratio's
    logarithm is at most u (outwards), or |t| (e^pace - 1) - pace inwards, which is at most w unless |t| > (w + pace) /
    (e^pace - 1), an event of probability exp(-that). The dilation is done first, so that its delta is not multiplied.
    [smooth_noise.3] |T| is a fixed rising function of a uniform real U (for Cauchy's distribution the ratio of two,
    given that their squares add up to less than 1). As many bits of U are drawn as decide the rounding; bounds are
    computed in whole numbers (logarithms with correctly rounded decimals), outwards. Rounding and cutting are
    post-processing.
Source
    Nissim, Raskhodnikova and Smith 2007; Bun and Steinke 2019 (Student's distribution; the constant here is smaller).
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final, Literal

from discreet.errors import BadInput
from discreet.noise.choose import exp_bounds
from discreet.noise.distributions import BitSource
from discreet.privacy.exact import Number, exact, least_whole
from discreet.privacy.loss import Approximate, Loss

Distribution = Literal["cauchy", "student", "laplace"]
DEGREES: Final = {"cauchy": 1, "student": 4}
FIRST, MORE = 96, 64  # bits of U at first, and each time they do not decide
Range = tuple[Fraction, Fraction | None]  # what |T| lies between; None is no bound


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothNoise:
    """v plus noise of scale S / s, rounded and cut to 0, ..., top. `reach` is S in units of 1 / `unit`."""

    value: int
    reach: int
    unit: int
    top: int
    distribution: Distribution
    pace: Fraction
    divisor: Fraction
    cost: Approximate

    def __post_init__(self) -> None:
        if self.distribution not in ("cauchy", "student", "laplace"):
            raise BadInput(f"the distribution is {self.distribution!r}; give 'cauchy', 'student' or 'laplace'")
        if exact(self.cost.epsilon) < price(self.distribution, self.pace, self.divisor, self.cost.delta):
            raise BadInput(f"epsilon {self.cost.epsilon!r} does not pay for this pace and divisor")

    @property
    def loss(self) -> Loss:
        """The declared cost, which covers [smooth_noise.1] or [smooth_noise.2]."""
        return self.cost

    def answer(self, source: BitSource) -> int:
        """The noisy whole number. [smooth_noise.3]"""
        sign = 1 - 2 * source.below(2)
        scale = Fraction(self.reach, self.unit) / self.divisor
        magnitudes = _MAGNITUDE[self.distribution](source)
        while True:
            near, far = magnitudes.range()
            first, beyond = self._cut(self.value + sign * scale * near), 0 if sign < 0 else self.top
            if first == (beyond if far is None else self._cut(self.value + sign * scale * far)):
                return first
            magnitudes.refine()

    def _cut(self, real: Fraction) -> int:
        return min(max(math.floor(real + Fraction(1, 2)), 0), self.top)

    def objection(self, neighbour: "SmoothNoise") -> str | None:
        """Public parameters that differ, a value that moves further than its bound, or bounds too far apart."""
        mine, other = (
            (one.unit, one.top, one.distribution, one.pace, one.divisor, one.cost, type(one))
            for one in (self, neighbour)
        )
        if mine != other:
            return "the parameters of smooth noise depend on the data"
        less, more = sorted((self.reach, neighbour.reach))
        if abs(self.value - neighbour.value) * self.unit > less:
            return f"the value moved by {abs(self.value - neighbour.value)}, its bound is {less / self.unit:.6g}"
        low, _ = exp_bounds(self.pace, 128)
        if more * low > less << 128:
            return f"the bounds {less} and {more} differ by more than a factor of exp({float(self.pace):.6g})"
        return None


def price(distribution: Distribution, pace: Number, divisor: Number, delta: Number = 0) -> Fraction:
    """The epsilon of [smooth_noise.1] or [smooth_noise.2], rounded up."""
    if distribution == "laplace":
        return exact(divisor) + _dilation(exact(pace), exact(delta))
    degrees = DEGREES[distribution]
    return degrees * exact(pace) + exact(divisor) * Fraction(degrees + 1, 2 * math.isqrt(degrees))  # [smooth_noise.1]


def _dilation(pace: Fraction, delta: Fraction) -> Fraction:
    """The w of [smooth_noise.2]: at least pace, and (e^pace - 1) ln(1 / delta) - pace, both rounded up."""
    if not delta:
        raise BadInput("Laplace noise of smooth sensitivity needs delta > 0; give one, or the distribution 'student'")
    low, _ = exp_bounds(pace, 128)
    grown = Fraction(2**128, low) - 1  # e^pace - 1, rounded up
    digits = Context(prec=40)
    needed = -digits.ln(digits.divide(Decimal(delta.numerator), Decimal(delta.denominator)))
    return max(pace, grown * Fraction(needed) * (1 + Fraction(1, 10**30)) - pace)  # [smooth_noise.2]


class _Exponential:
    """|T| of Laplace's distribution: -ln(1 - U)."""

    def __init__(self, source: BitSource) -> None:
        self._source, self._bits, self._u = source, FIRST, source.below(1 << FIRST)

    def refine(self) -> None:
        """More bits."""
        self._u, self._bits = self._u << MORE | self._source.below(1 << MORE), self._bits + MORE

    def range(self) -> Range:
        """Between the ends of the cell that the bits so far leave."""
        left = (1 << self._bits) - self._u  # (1 - U) 2^bits is in (left - 1, left]
        return self._log(left, -1), self._log(left - 1, 1) if left > 1 else None

    def _log(self, left: int, side: int) -> Fraction:
        digits = Context(prec=self._bits // 3 + 20)
        value = -digits.ln(digits.divide(Decimal(left), Decimal(1 << self._bits)))
        slack = Fraction(1, 10 ** (self._bits // 3 + 10))  # far more than the two roundings
        return max(Fraction(0), Fraction(value) + side * slack)


class _Student(_Exponential):
    """|T| of Student's distribution with 4 degrees: 2 w / sqrt(1 - w^2), where U = (3 w - w^3) / 2."""

    def range(self) -> Range:
        """Between the ends of the cell that the bits so far leave."""
        low, high = self._root(self._u), self._root(self._u + 1) + 1
        one = 1 << self._bits
        near = Fraction(2 * low, math.isqrt(one * one - low * low) + 1)  # the root rounded up, the other one down
        if high >= one:
            return near, None
        return near, Fraction(2 * high, math.isqrt(one * one - high * high))

    def _root(self, u: int) -> int:
        """The largest w with (3 w - w^3) / 2 <= u, both in units of 2^-bits: the left side rises on [0, 1]."""
        bits, goal = self._bits, u << (2 * self._bits + 1)
        return least_whole(lambda w: (3 * w << (2 * bits)) - w**3 > goal, 0, 1 << bits) - 1


class _Cauchy:
    """|T| of Cauchy's distribution: X / Y for a point (X, Y) uniform in a quarter of the unit disc."""

    def __init__(self, source: BitSource) -> None:
        self._source, self._bits = source, FIRST
        self._draw()

    def _draw(self) -> None:
        while True:
            self._bits = FIRST
            self._x, self._y = self._source.below(1 << FIRST), self._source.below(1 << FIRST)
            while self._inside() is None:
                self.refine()
            if self._inside():
                return

    def _inside(self) -> bool | None:
        """Whether the point is in the disc; None if the bits so far do not tell."""
        edge = 1 << (2 * self._bits)
        if self._x**2 + self._y**2 >= edge:
            return False
        return True if (self._x + 1) ** 2 + (self._y + 1) ** 2 <= edge else None

    def refine(self) -> None:
        """More bits of both."""
        self._x, self._y = (place << MORE | self._source.below(1 << MORE) for place in (self._x, self._y))
        self._bits += MORE

    def range(self) -> Range:
        """Between the ratios at two corners of the cell."""
        return Fraction(self._x, self._y + 1), Fraction(self._x + 1, self._y) if self._y else None


_MAGNITUDE: Final[dict[str, type[_Exponential] | type[_Cauchy]]] = {
    "laplace": _Exponential,
    "student": _Student,
    "cauchy": _Cauchy,
}
