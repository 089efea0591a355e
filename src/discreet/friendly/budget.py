"""What a friendly mean costs, and how it is shared between its test and its noise.

Claims
    [FB1] test, mean and the event of probability `miss` together keep (epsilon, delta): mu^2 is split exactly or from
          below, and mu is that of (epsilon, delta - miss), or a smaller epsilon, after the slack of both noises.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.friendly.tally import SLACK, STRONGEST, WEAKEST
from discreet.promise.exact import Number, exact, is_number, root_below
from discreet.promise.guarantee import check_budget
from discreet.promise.loss import Approximate, Gaussian, Loss, compose
from discreet.promise.neighbours import Neighbours

MISSED: Final = Fraction(1, 10)  # of delta, for the event
SHARES: Final = tuple(Fraction(k, 200) for k in range(1, 121))  # of mu^2, for the test
USUAL: Final = Fraction(1, 5)  # where the number of rows is private


@dataclass(frozen=True, slots=True)
class Strength:
    """The whole noise, and the probability of the event."""

    mu: Fraction
    miss: Fraction

    @classmethod
    def of(cls, epsilon: Number, delta: Number) -> "Strength":
        """The largest that keeps (epsilon, delta). [FB1]"""
        return _strength(exact(epsilon), exact(delta))

    @property
    def loss(self) -> Loss:
        """All of it, however it is shared."""
        return compose(Gaussian(self.mu, 2 * SLACK), Approximate(0, self.miss))  # [FB1]

    def split(self, share: Number) -> tuple[Gaussian, Gaussian]:
        """The test's noise and the mean's. [FB1]"""
        part, square = exact(share), self.mu**2
        return Gaussian(root_below(square * part), SLACK), Gaussian(root_below(square * (1 - part)), SLACK)

    def best_share(self, size: int | None, loss_per_margin: int = 2) -> Fraction:
        """The share that leaves the least noise on the mean of `size` rows that all agree. Public.

        The test's margin costs `loss_per_margin` rows for each unit.
        """
        if size is None:
            return USUAL
        quantile = -NormalDist().inv_cdf(float(self.miss))

        def precision(share: Fraction) -> float:
            kept = size - loss_per_margin * quantile / (float(self.mu) * math.sqrt(share))
            return kept * math.sqrt(1 - share) if kept > 0 else kept

        return max(SHARES, key=precision)


@lru_cache(maxsize=256)
def _strength(epsilon: Fraction, delta: Fraction) -> Strength:
    miss = delta * MISSED
    room, off = float((delta - miss) * (1 - Fraction(1, 10**12))), float(2 * SLACK) * (1 + 1e-12)
    # slack costs e^epsilon times itself; what holds at a smaller epsilon holds at this one
    tenth = math.ceil(1 - math.log10(delta))
    place = min(float(epsilon), max(0.0, math.log(10.0**-tenth / off)))
    return Strength(min(exact(gaussian(place, room, slack=off)), Fraction(STRONGEST)), miss)  # [FB1]


def check_promise(epsilon: object, delta: object, neighbours: Neighbours, share: object) -> None:
    """Refuse what cannot be promised, before anything is read."""
    check_budget(epsilon, delta, 1 if neighbours.size_is_public else None)
    if not delta:
        raise BadInput("delta is 0; without bounds on the rows a mean in many columns needs one, about 1e-6")
    if Strength.of(epsilon, delta).mu ** 2 * SHARES[0] < WEAKEST**2:  # type: ignore[arg-type]
        raise BadInput(
            f"epsilon is {epsilon!r} and delta {delta!r}: noise of that size does not fit; give more of them"
        )
    if share is not None and not (is_number(share) and Fraction(1, 200) <= share <= Fraction(199, 200)):  # type: ignore[operator]
        raise BadInput(f"share is {share!r}; give the test's share of the budget, between 0.005 and 0.995, or None")
