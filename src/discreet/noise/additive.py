"""Additive noise: integers in, integers out.

Promise
    [additive.1] Laplace(epsilon): integers whose L1 distance between neighbours is at most `sensitivity` leave with
         pure epsilon. With a sensitivity of at least 2^20 steps the loss is Laplace(epsilon); with fewer no better
         curve is promised than that of anything pure: where one step is the whole sensitivity this is randomised
         response.
    [additive.2] Gaussian(mu, slack): integers whose L2 distance is at most `sensitivity` leave with the loss
         Gaussian(mu, slack), provided slack covers the total variation [lattice.2]; checked before drawing.
Why
    [additive.1] The discrete Laplace distribution of scale b has P(k) ~ exp(-|k| / b): shifting each coordinate by an
    integer v_i changes the joint probability by at most exp(sum |v_i| / b), and b is never below sensitivity / epsilon.
    The sum is cut to +-2^62 after the noise: post-processing, even where an engine's noise saturates. For the loss on a
    fine grid see [currency.3] and, for vectors, [currency.4].
    [additive.2] sigma is sensitivity / mu in steps, rounded up to an integer; then [lattice.2].
Source
    Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np

from discreet.errors import BadInput
from discreet.noise.integers import LARGEST_SCALE, BitSource, claimed, drawn_scale
from discreet.noise.lattice import COARSE, ROOM, slack, whole
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss

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
