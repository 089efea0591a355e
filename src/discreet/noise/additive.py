"""Additive noise: integers in, integers out; on everybody, or on a secret sample of the people.

Promise
    [additive.1] Laplace(epsilon): integers whose L1 distance between neighbours is at most `sensitivity` leave with
         pure epsilon. With a sensitivity of at least 2^20 steps the loss is Laplace(epsilon); with fewer no better
         curve is promised than that of anything pure: where one step is the whole sensitivity this is randomised
         response.
    [additive.2] Gaussian(mu, slack): integers whose L2 distance is at most `sensitivity` leave with the loss
         Gaussian(mu, slack), provided slack covers the total variation [lattice.2]; checked before drawing.
    [additive.3] Each person is in the sample by their own secret coin, of a chance of `rate`, a whole number of
         2^-53 parts. The sum over the sample leaves with Gaussian noise for one person's `sensitivity`: Sampled(cost,
         rate) under ADD_OR_REMOVE, and also when the sample is empty.
Why
    [additive.1] The discrete Laplace distribution of scale b has P(k) ~ exp(-|k| / b): shifting each coordinate by an
    integer v_i changes the joint probability by at most exp(sum |v_i| / b), and b is never below sensitivity / epsilon.
    The sum is cut to +-2^62 after the noise: post-processing, even where an engine's noise saturates. For the loss on a
    fine grid see [currency.3] and, for vectors, [currency.4].
    [additive.2] sigma is sensitivity / mu in steps, rounded up to an integer; then [lattice.2].
    [additive.3] One fresh 64-bit word for each person, compared with rate 2^64, which is whole. The sum of the sample
    moves by at most `sensitivity` if one person is added to it or taken away: [additive.2], then [amplify.1] of
    accounting/amplify.py and [pld.1]. Coins and noise are one request, so that neither is drawn alone; the coins leave
    with nothing: who was in the sample is neither returned nor kept.
Source
    Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020; Abadi et al. 2016; Poisson samples as
    Mironov, Talwar and Zhang 2019 analyse them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.integers import LARGEST_SCALE, BitSource, claimed, drawn_scale
from discreet.noise.lattice import COARSE, ROOM, slack, whole
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss, Sampled

EDGE: Final = 2 * ROOM  # answers end here; EDGE + ROOM fits in an int64


@dataclass(frozen=True, slots=True, eq=False)
class Blur:
    """Noise on integers: a scalar or an array of them."""

    values: Any
    sensitivity: Number
    cost: Laplace | Gaussian

    def __post_init__(self) -> None:
        size, scale = whole(self.values).size, self._scale()
        if isinstance(self.cost, Gaussian):
            if not 2**COARSE <= scale <= LARGEST_SCALE:
                raise BadInput(f"sigma is {scale} steps; Gaussian noise needs a grid with 2^20 to 2^50")
            if exact(self.cost.slack) < slack(size, int(scale)):  # [additive.2]
                raise BadInput(f"a slack of {self.cost.slack!r} does not cover {size} values of {scale} steps")

    def _scale(self) -> Fraction:
        match self.cost:
            case Laplace(epsilon):
                return drawn_scale(claimed(self.sensitivity) / exact(epsilon))  # [additive.1]
            case Gaussian(mu):
                return Fraction(ceil(claimed(self.sensitivity) / exact(mu)))  # [additive.2]

    @property
    def loss(self) -> Loss:
        """The declared cost; for Laplace noise on few steps that of anything pure."""
        if isinstance(self.cost, Laplace) and claimed(self.sensitivity) < 2**COARSE:
            return Approximate(self.cost.epsilon, 0)  # [additive.1]
        return self.cost

    def answer(self, source: BitSource) -> Any:
        """The values plus noise, of the same shape, cut to +-EDGE."""
        steps, scale = whole(self.values), self._scale()
        if isinstance(self.cost, Laplace):
            noise = source.laplace(steps.size, scale)
        else:
            noise = source.gaussian(steps.size, int(scale))
        noisy = np.clip(noise.reshape(steps.shape), -EDGE - steps, EDGE - steps) + steps  # [additive.1]
        return noisy if steps.ndim else int(noisy)

    def objection(self, neighbour: "Blur") -> str | None:
        """Different parameters or shapes, or a distance above the claim."""
        if (self.sensitivity, self.cost) != (neighbour.sensitivity, neighbour.cost):
            return "the scale of the noise depends on the data"
        mine, other = whole(self.values), whole(neighbour.values)
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
