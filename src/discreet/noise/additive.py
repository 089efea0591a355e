"""Additive noise: integers in, integers out; on everybody, or on a secret sample of the people.

The integers are those of a public grid: private arithmetic is integer arithmetic on multiples of a public power of two.
Promise
    [additive.1] Laplace(epsilon): integers whose L1 distance between neighbours is at most `sensitivity` leave with
         pure epsilon. With a sensitivity of at least 2^20 steps the loss is Laplace(epsilon); with fewer no better
         curve is promised than that of anything pure: where one step is the whole sensitivity this is randomised
         response.
    [additive.2] Gaussian(mu, slack): integers whose L2 distance is at most `sensitivity` leave with the loss
         Gaussian(mu, slack), provided slack covers the total variation [additive.5]; checked before drawing.
    [additive.3] Each person is in the sample by their own secret coin, of a chance of `rate`, a whole number of
         2^-53 parts. The sum over the sample leaves with Gaussian noise for one person's `sensitivity`: Sampled(cost,
         rate) under ADD_OR_REMOVE, and also when the sample is empty.
    [additive.4] Quantising is a fixed function of one record: it reads the record and public parameters, nothing else.
         It never raises: a value that is not finite becomes the public default, one out of range saturates.
         Sums of quantised records are exact integers, so neither order, nor blocks, nor machines can change them,
         however many records there are, and changing one record moves the sum by at most high - low
         steps (REPLACE) or max(|low|, |high|) steps (ADD_OR_REMOVE). Whole numbers of any size saturate at
         +-ROOM, which enlarges no distance.
    [additive.5] For an integer s >= 4 the discrete Gaussian on the integers, P(k) ~ exp(-k^2 / 2s^2), is within total
         variation 0.03 / s^2 of N(0, s^2) rounded to the nearest integer. So integers plus d independent
         discrete Gaussians of s steps are mu-GDP, mu = (L2 sensitivity in steps) / s, with slack d * 0.03 / s^2.
Why
    [additive.1] The discrete Laplace distribution of scale b has P(k) ~ exp(-|k| / b): shifting each coordinate by an
    integer v_i changes the joint probability by at most exp(sum |v_i| / b), and b is never below sensitivity / epsilon.
    The sum is cut to +-2^62 after the noise: post-processing, even where an engine's noise saturates. For the loss on a
    fine grid see [currency.3] and, for vectors, [currency.4].
    [additive.2] sigma is sensitivity / mu in steps, rounded up to an integer; then [additive.5].
    [additive.3] One fresh 64-bit word for each person, compared with rate 2^64, which is whole. The sum of the sample
    moves by at most `sensitivity` if one person is added to it or taken away: [additive.2], then [currency.8] of
    accounting/currency.py and [pld.1]. Coins and noise are one request, so that neither is drawn alone; the coins leave
    with nothing: who was in the sample is neither returned nor kept.
    [additive.4] Division by a power of two is exact in binary floating point (a result below 2^-1022 may be rounded,
    but `rint` sends it to 0 either way), `rint` and saturation are fixed functions, and int64 sums are exact while
    they fit, which `fits` decides from public numbers. `summed` and `total` add what a public bound says cannot
    wrap around in an int64, and those partial sums as Python's integers, which have no end. Only the last result
    saturates: partial sums that saturated would depend on their order. A number of records needs none of this: to
    count 2^61 of them, at a nanosecond each, takes 73 years.
    [additive.5] Write f for the density of N(0, s^2) and c_k for its mass on [k - 1/2, k + 1/2]. Then
    c_k - f(k) = int_0^{1/2} (f(k+t) + f(k-t) - 2 f(k)) dt, and the second difference is
    int_{-t}^{t} (t - |v|) f''(k+v) dv. Summing over k, sum_k |f''(k+v)| <= int |f''| + V(f''), V the total
    variation (a Riemann sum of step 1). int |f''| = 4 phi(1) / s^2 = 0.96788 / s^2 and V(f'') = int |f'''| =
    2 (phi(0) + 4 phi(sqrt 3)) / s^3 = 1.5101 / s^3. As int_0^{1/2} int_{-t}^{t} (t - |v|) dv dt = 1/24,
    sum_k |c_k - f(k)| <= (0.96788 / s^2 + 1.5101 / s^3) / 24. By Poisson summation the normaliser sum_k f(k) is
    1 + 2 sum_j exp(-2 pi^2 s^2 j^2), so normalising moves at most 3 exp(-2 pi^2 s^2). Half the sum of both is
    at most (0.02017 + 0.03147 / s) / s^2 + 1.5 exp(-2 pi^2 s^2) <= 0.0281 / s^2 for s >= 4. A product of d
    distributions is within d times that. Integers plus N(0, s^2 I), rounded, is post-processing of a Gaussian
    mechanism.
Accuracy
    A value in range is moved by at most half a step. With at least 2^20 steps in sigma this is under 5e-7 sigma.
Source
    Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020; Abadi et al. 2016; Poisson samples as
    Mironov, Talwar and Zhang 2019 analyse them.
    Mironov 2012, Haney et al. 2022, Casacuberta et al. 2022 for what goes wrong with floats; Canonne, Kamath and
    Steinke 2020 for discrete Gaussian noise, there accounted by zCDP; the total variation bound [additive.5] is ours.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.distributions import LARGEST_SCALE, BitSource, claimed, drawn_scale
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss, Sampled

VARIATION: Final = Fraction(3, 100)  # [additive.5]
FINE: Final = 30  # sigma is 2^30 steps or a little more, where the integers allow it
COARSE: Final = 20  # and never fewer than 2^20
ROOM: Final = 2**61  # sums stay below this, so that adding noise cannot overflow an int64

Steps = npt.NDArray[np.int64]


def slack(size: int, steps: int) -> Fraction:
    """The total variation that `size` discrete Gaussians of `steps` steps are off by. [additive.5]

    >>> float(slack(10, 2**30)) < 1e-18
    True
    """
    if steps < 4:
        raise BadInput(f"sigma is {steps} steps; the bound on its total variation needs 4 or more")
    if steps > LARGEST_SCALE:  # costs are made before anything is charged, noise is drawn after
        raise BadInput(
            f"noise would be {float(steps):.3g} steps wide, and 2^50 are the most: this epsilon and delta leave it "
            "next to nothing; ask for more of either"
        )
    return int(size) * VARIATION / int(steps) ** 2  # [additive.5]


@dataclass(frozen=True, slots=True)
class Grid:
    """The multiples of 2**exponent.

    >>> Grid(-2).quantise([0.3, float("nan"), 9.0], low=0, high=1, default=0.5).tolist()
    [1, 2, 4]
    """

    exponent: int

    @classmethod
    def for_sigma(cls, sigma: Number, largest: Number) -> "Grid":
        """The finest grid, up to 2^30 steps in `sigma`, on which integers as large as `largest` fit.

        Both are public: `largest` bounds the absolute value of the sum that will be blurred.
        """
        size, room = exact(sigma), exact(largest)
        if size <= 0:
            raise BadInput(f"sigma is {float(size)!r}; a grid needs noise of positive size")
        exponent = floor_log2(size) - FINE
        while room / Fraction(2) ** exponent >= ROOM:
            exponent += 1
        if size / Fraction(2) ** exponent < 2**COARSE:
            raise BadInput(
                f"noise of size {float(size):.3g} on sums up to {float(room):.3g} leaves fewer than 2^20 steps "
                "of 64-bit integers; give narrower bounds or a smaller epsilon"
            )
        return cls(exponent)

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring points."""
        return Fraction(2) ** self.exponent

    def steps(self, length: Number) -> int:
        """How many steps cover `length`, rounded up: for sensitivities and noise."""
        return math.ceil(exact(length) / self.step)

    def quantise(self, values: Any, *, low: Number, high: Number, default: Number) -> Steps:
        """Each value as a whole number of steps; not finite -> default; out of [low, high] -> the nearer end.
        [additive.4]"""
        if not (is_number(low) and is_number(default) and is_number(high) and low <= default <= high):
            raise BadInput(f"low={low!r}, default={default!r}, high={high!r}; give three finite numbers in this order")
        floor, ceiling = math.ceil(exact(low) / self.step), math.floor(exact(high) / self.step)
        if not -ROOM < floor <= ceiling < ROOM:
            raise BadInput(f"low={low!r} and high={high!r} do not fit on a grid of step 2^{self.exponent}")
        middle = min(max(round(exact(default) / self.step), floor), ceiling)
        edge_low, edge_high = float(floor), float(ceiling)
        with np.errstate(all="ignore"):
            numbers = np.asarray(values, dtype=np.float64)
            finite = np.isfinite(numbers)
            scaled = np.rint(np.ldexp(np.where(finite, numbers, 0.0), -self.exponent))
            inside = (scaled > edge_low) & (scaled < edge_high)
            steps = np.where(inside, scaled, 0.0).astype(np.int64)
        steps[scaled <= edge_low] = floor
        steps[scaled >= edge_high] = ceiling
        steps[~finite] = middle
        return np.clip(steps, floor, ceiling)  # [additive.4]: an edge beyond 2^53 is rounded as a float, so clip again

    def value(self, steps: Any) -> Any:
        """Steps as floats: scaling by a power of two, last of all."""
        return np.ldexp(np.asarray(steps, dtype=np.float64), self.exponent)[()]

    def mean(self, total: int, size: int) -> Fraction:
        """The exact mean of `size` records whose steps sum to `total`."""
        return total * self.step / size


def fits(size: int, steps: int) -> bool:
    """Whether the sum of `size` records of at most `steps` steps each is exact in an int64. [additive.4]"""
    return int(size) * int(steps) < ROOM


def summed(parts: Iterable[npt.NDArray[Any]], shape: tuple[int, ...], most: int) -> npt.NDArray[Any]:
    """The exact sum of arrays of whole numbers of at most `most` in size, below 2^62; Python's integers if many.
    [additive.4]

    >>> summed([np.array([2**61])] * 8, (1,), 2**61).tolist()
    [18446744073709551616]
    """
    found: npt.NDArray[Any] | None = None
    here, often = np.zeros(shape, dtype=np.int64), 2**62 // most  # [additive.4]
    for number, part in enumerate(parts, start=1):
        here += part.astype(np.int64)
        if not number % often:
            found = here.astype(object) + (0 if found is None else found)  # [additive.4]
            here = np.zeros(shape, dtype=np.int64)
    return here if found is None else found + here


def total(values: Steps, most: int) -> int:
    """The exact sum of whole numbers of at most `most` in size. [additive.4]"""
    step = 2**62 // most  # [additive.4]
    return sum(int(values[start : start + step].sum()) for start in range(0, len(values), step))


def whole(values: Any) -> Steps:
    """Whole numbers as int64, saturated at +-ROOM. Refused by their type, never by their size. [additive.4]"""
    if type(values) is int:
        return np.array(min(max(values, -ROOM), ROOM))  # [additive.4]
    listed = np.asarray(values) if hasattr(values, "dtype") else np.array(values, dtype=object)
    if listed.dtype.kind == "O":
        if not all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in listed.flat):
            raise BadInput("whole numbers are needed, and not all of these are; quantise first")
        listed = np.array([min(max(int(value), -ROOM), ROOM) for value in listed.flat]).reshape(listed.shape)
    elif listed.dtype.kind not in "iu":
        raise BadInput(f"whole numbers are needed, not {listed.dtype}; quantise first")
    elif listed.dtype.kind == "u":  # 2^63 as an int64 would be negative
        listed = np.minimum(listed.astype(np.uint64), np.uint64(ROOM))
    return np.asarray(np.clip(listed.astype(np.int64), -ROOM, ROOM))  # [additive.4]


def floor_log2(number: Fraction) -> int:
    """The largest k with 2^k <= number."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    return guess if Fraction(2) ** guess <= number else guess - 1


EDGE: Final = 2 * ROOM  # answers end here; EDGE + ROOM fits in an int64


@dataclass(frozen=True, slots=True, eq=False)
class Blur:
    """Noise on integers: a scalar or an array of them."""

    values: Any
    sensitivity: Number
    cost: Laplace | Gaussian
    steps: Steps = field(init=False, repr=False)
    scale: Fraction = field(init=False, repr=False)

    def __post_init__(self) -> None:
        steps = whole(self.values)
        match self.cost:
            case Laplace(epsilon):
                scale = drawn_scale(claimed(self.sensitivity) / exact(epsilon))  # [additive.1]
            case Gaussian(mu, off):
                scale = Fraction(ceil(claimed(self.sensitivity) / exact(mu)))  # [additive.2]
                if not 2**COARSE <= scale <= LARGEST_SCALE:
                    raise BadInput(f"sigma is {scale} steps; Gaussian noise needs a grid with 2^20 to 2^50")
                if exact(off) < slack(steps.size, int(scale)):  # [additive.2]
                    raise BadInput(f"a slack of {off!r} does not cover {steps.size} values of {scale} steps")
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "scale", scale)

    @property
    def loss(self) -> Loss:
        """The declared cost; for Laplace noise on few steps that of anything pure."""
        if isinstance(self.cost, Laplace) and claimed(self.sensitivity) < 2**COARSE:
            return Approximate(self.cost.epsilon, 0)  # [additive.1]
        return self.cost

    def answer(self, source: BitSource) -> Any:
        """The values plus noise, of the same shape, cut to +-EDGE."""
        steps = self.steps
        if isinstance(self.cost, Laplace):
            noise = source.laplace(steps.size, self.scale)
        else:
            noise = source.gaussian(steps.size, int(self.scale))
        noisy = np.clip(noise.reshape(steps.shape), -EDGE - steps, EDGE - steps) + steps  # [additive.1]
        return noisy if steps.ndim else int(noisy)

    def objection(self, neighbour: "Blur") -> str | None:
        """Different parameters or shapes, or a distance above the claim."""
        if (self.sensitivity, self.cost) != (neighbour.sensitivity, neighbour.cost):
            return "the scale of the noise depends on the data"
        mine, other = self.steps, neighbour.steps
        if mine.shape != other.shape:
            return f"the shape of the answer depends on the data: {mine.shape} and {other.shape}"
        moves = [abs(a - b) for a, b in zip(mine.ravel().tolist(), other.ravel().tolist(), strict=True)]
        allowed = exact(self.sensitivity)
        if isinstance(self.cost, Laplace):
            far = sum(moves) > allowed
            seen = float(sum(moves))
        else:
            far = sum(move * move for move in moves) > allowed**2
            seen = float(sum(move * move for move in moves)) ** 0.5
        return f"moved by {seen:.6g} steps, claimed {float(allowed):.6g}" if far else None


Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SampledSum:
    """`sums(mask)` over a Poisson sample of `people`, plus noise. `people` is not published."""

    people: int
    sums: Callable[[Mask], Any]
    sensitivity: Number
    cost: Gaussian
    rate: float

    def __post_init__(self) -> None:
        if not 2**-30 <= self.rate <= 1 or self.rate * 2**53 % 1:
            raise BadInput(f"the rate is {self.rate!r}; it must be from 2^-30 to 1, in parts of 2^-53")

    @property
    def loss(self) -> Loss:
        """The cost on a sample. [additive.3]"""
        return Sampled(self.cost, Fraction(self.rate)) if self.rate < 1 else self.cost

    def answer(self, source: BitSource) -> Any:
        """Toss the coins, sum, blur. [additive.3]"""
        chosen = np.ones(self.people, dtype=np.bool_)
        if self.rate < 1:
            chosen = source.words(self.people) < np.uint64(int(self.rate * 2**64))  # [additive.3]
        return Blur(self.sums(chosen), self.sensitivity, self.cost).answer(source)  # [additive.3]

    def objection(self, neighbour: "SampledSum") -> str | None:
        """Other parameters, or a sum over everybody that moves too far."""
        mine, other = ((ask.sensitivity, ask.cost, ask.rate) for ask in (self, neighbour))
        if mine != other:
            return "the parameters of a noisy sum over a sample depend on the data"
        here, there = (
            Blur(ask.sums(np.ones(ask.people, dtype=np.bool_)), ask.sensitivity, ask.cost) for ask in (self, neighbour)
        )
        return here.objection(there)


def rounded_rate(rate: Number) -> float:
    """The rate that is drawn: the nearest multiple of 2^-53."""
    return float(np.floor(float(exact(rate)) * 2**53) / 2**53)
