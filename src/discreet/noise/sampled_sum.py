"""A noisy sum over a secret sample of the people: coins and noise in one request, so that neither is drawn alone.

Promise
    [sampled_sum.1] Each person is in the sample by their own secret coin, of a chance of `rate`, a whole number of
          2^-53 parts. The sum over the sample leaves with Gaussian noise for one person's `sensitivity`: Sampled(cost,
          rate) under ADD_OR_REMOVE, and also when the sample is empty.
Why
    [sampled_sum.1] One fresh 64-bit word for each person, compared with rate 2^64, which is whole. The sum of the
    sample moves by at most `sensitivity` if one person is added to it or taken away: [additive.2], then [amplify.1] of
    accounting/amplify.py and [pld.1]. The coins leave with nothing: who was in the sample is neither returned nor kept.
Source
    Abadi et al. 2016; Poisson samples as Mironov, Talwar and Zhang 2019 analyse them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.additive import Blur
from discreet.noise.integers import BitSource
from discreet.privacy.exact import Number, exact
from discreet.privacy.loss import Gaussian, Loss, Sampled

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
        """The cost on a sample. [sampled_sum.1]"""
        return Sampled(self.cost, Fraction(self.rate)) if self.rate < 1 else self.cost

    def answer(self, source: BitSource) -> Any:
        """Toss the coins, sum, blur. [sampled_sum.1]"""
        chosen = np.ones(self.people, dtype=np.bool_)
        if self.rate < 1:
            chosen = source.words(self.people) < np.uint64(int(self.rate * 2**64))  # [sampled_sum.1]
        return Blur(self.sums(chosen), self.sensitivity, self.cost).answer(source)  # [sampled_sum.1]

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
