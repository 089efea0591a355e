"""The budget of a release in stages: each stage's cost is an exact fraction, and together they are what was asked for.

Claims
    [stage_budget.1] The pure stages' epsilons sum to epsilon exactly. Those by zCDP have rho that sum to at most the
         rho of (epsilon, delta), where delta was lowered by (1 + e^epsilon) slack first.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final

from discreet.accounting.calibrate import rho
from discreet.noise.lattice import slack
from discreet.privacy.exact import Number, exact, root_below
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss, compose, safe_exp
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import fitting_bits, paid, sensitivity_of
from discreet.tables.entries import Numbers

STRONGEST: Final = 64  # the largest mu: smaller noise would be too few steps wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What each stage costs, in the order in which they run; None where there is no such stage."""

    size: Laplace | None = None
    centre: Choice | None = None
    scale: Choice | None = None
    mean: Laplace | Gaussian | None = None
    square: Laplace | None = None
    fourth: Laplace | None = None

    @property
    def loss(self) -> Loss:
        """All of them; at the smallest epsilons sums share steps too wide for the curve of Laplace noise."""
        parts = self._present().values()
        if any(isinstance(part, Laplace) and paid(part) != part for part in parts):
            return compose(*(Approximate(part.epsilon, 0) if isinstance(part, Laplace) else part for part in parts))
        return compose(*parts)

    @property
    def shown(self) -> Mapping[str, float]:
        """What each costs, for the record: epsilon, or the mu of Gaussian noise."""
        return {
            name: float(part.mu if isinstance(part, Gaussian) else part.epsilon)
            for name, part in self._present().items()
        }

    def _present(self) -> dict[str, Laplace | Gaussian | Choice]:
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: part for name, part in named if part is not None}


def in_stages(epsilon: Number, rest: str, **parts: Fraction | None) -> Stages:
    """Stages of these epsilons; the one named `rest` gets what is left. [stage_budget.1]"""
    given = {name: part for name, part in parts.items() if part is not None}
    given[rest] = exact(epsilon) - sum(given.values(), Fraction(0))  # [stage_budget.1]

    def noise(name: str) -> Laplace | None:
        return Laplace(given[name]) if name in given else None

    def choice(name: str) -> Choice | None:
        return Choice(given[name]) if name in given else None

    return Stages(
        size=noise("size"),
        centre=choice("centre"),
        scale=choice("scale"),
        mean=noise("mean"),
        square=noise("square"),
        fourth=noise("fourth"),
    )


def enough(nats: int, size: int, epsilon: Number, least: Fraction, most: Fraction) -> Fraction:
    """The epsilon with which `size` records give so many nats, within these shares of the whole."""
    whole = exact(epsilon)
    return min(max(Fraction(nats, size), whole * least), whole * most)


def concentrated(
    epsilon: Number, delta: Number, *, centre: Fraction, scale: Fraction, mean: Fraction, times: int = 1
) -> Stages | None:
    """These shares of rho, Gaussian noise last, under REPLACE. None where delta is 0 or too small for the grid.
    [stage_budget.1]

    With `times` each of so many columns is released by these stages, all of them for epsilon and delta.
    """
    if not delta:
        return None
    room = exact(delta)
    strongest = min(Fraction(STRONGEST), root_below(2 * exact(rho(epsilon, float(room))) / times * mean))
    most = _slack(strongest)  # weaker noise has more steps and less of it
    reserve = times * (1 + safe_exp(float(epsilon))) * float(most) * (1 + 1e-9)
    if reserve * 2 >= room:
        return None
    rate = exact(rho(epsilon, float(room) - reserve)) / times  # [stage_budget.1]
    mu = min(strongest, root_below(2 * rate * mean))
    off = _slack(mu)
    if off > most:
        return None
    last = Gaussian(mu, off)  # [stage_budget.1]
    choices = [Choice(root_below(8 * rate * share)) if share else None for share in (centre, scale)]
    return Stages(size=None, centre=choices[0], scale=choices[1], mean=last)


def _slack(mu: Fraction) -> Fraction:
    """What noise of this mu on a clipped sum under REPLACE falls short of a Gaussian law."""
    return slack(1, int(2 ** (fitting_bits(Gaussian(mu)) + 1) / mu))


def unit_variance(cost: Laplace | Gaussian, size: int, neighbours: Neighbours) -> float:
    """The variance of the noise on a mean of records clipped to +-1."""
    move = sensitivity_of(1, neighbours) / size
    if isinstance(cost, Gaussian):
        return (move / float(cost.mu)) ** 2
    return 2 * (move / float(cost.epsilon)) ** 2


def noisy_size(values: Numbers, cost: Laplace, rng: Randomness) -> int:
    """The number of records plus noise ([additive.1], on a fine grid), at least 1."""
    bits = fitting_bits(cost)
    blurred: int = rng.blur(len(values) << bits, sensitivity=2**bits, cost=cost)
    return max(1, round(Fraction(blurred, 2**bits)))


def count_error(cost: Laplace | None, size: float) -> float:
    """The relative standard deviation of a noisy size; 0 where the size is public."""
    return 0.0 if cost is None else math.sqrt(2) / (float(cost.epsilon) * size)
