"""What a clustering may spend, and how it is shared out: one budget, pure or Gaussian, for sums and for choices.

Claims
    [cluster_budget.1] Costs whose shares add up to 1 at most keep (epsilon, delta) together: pure parts by their
          epsilons, others by their squares of mu, a choice of epsilon e taken as (pi / 8) e^2, all slack paid first.
    [cluster_budget.2] `loss` is no less than any such parts together, known before there are data.

Why: [cluster_budget.1] epsilons add up ([currency.5]), and squares of mu do too ([currency.6]). A choice of epsilon e
is mu-GDP, by every test and so at every delta, with mu = 2 g(e / 2), g = Phi^-1 of the logistic function ([currency.2]
of accounting/currency.py). g is 0 at 0 and concave above it, so mu <= g'(0) e = sqrt(2 pi) e / 4, the square of which
is (pi / 8) e^2. mu is that of (epsilon, delta) after all slack ([calibrate.3]). What holds at a smaller epsilon holds
at this one: for a large one, where slack costs e^epsilon times itself, mu is that of a smaller.
[cluster_budget.2] Pure: anything of that epsilon. Else by [currency.6] the parts are mu-GDP together, with the slack of
the draws, as long as theirs add up to no more than the purse's: DRAWS draws of `noise`, or what else it is told.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.accounting.calibrate import gaussian
from discreet.errors import BadInput
from discreet.noise.lattice import slack as off_by
from discreet.privacy.exact import Number, exact, root_below
from discreet.privacy.guarantee import check_budget
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss
from discreet.privacy.neighbours import Neighbours

FINE: Final = 36  # binary digits of a standard deviation: as friendly/average.py has it
ENTRIES: Final = 2**20  # of one draw
SLACK: Final = off_by(ENTRIES, 2**FINE)
DRAWS: Final = 64
SMALLEST, WEAKEST, STRONGEST = 1e-11, 1e-4, 32.0  # the delta and the mu for which every stage has a grid
CHOICE: Final = Fraction(25464, 10_000)  # just below 8 / pi: epsilon^2 of a choice for a unit of mu^2


@dataclass(frozen=True, slots=True)
class Purse:
    """The whole budget; without a delta it is pure. `slack` is that of all Gaussian draws together."""

    epsilon: Number
    delta: Number
    slack: Fraction = DRAWS * SLACK  # [cluster_budget.2]

    @property
    def pure(self) -> bool:
        """Whether noise is Laplace's."""
        return not self.delta

    @property
    def mu(self) -> Fraction:
        """What Gaussian draws and choices may cost together. [cluster_budget.1]"""
        return _mu(exact(self.epsilon), exact(self.delta), self.slack)

    @property
    def loss(self) -> Loss:
        """All of it, however it is shared. [cluster_budget.2]"""
        return Approximate(self.epsilon, 0) if self.pure else Gaussian(self.mu, self.slack)

    def noise(self, share: Fraction) -> Laplace | Gaussian:
        """What noise may cost that has this share. [cluster_budget.1]"""
        if self.pure:
            return Laplace(exact(self.epsilon) * share)
        return Gaussian(root_below(self.mu**2 * share), SLACK)

    def choice(self, share: Fraction) -> Choice:
        """What a choice may cost that has this share. [cluster_budget.1]"""
        return Choice(exact(self.epsilon) * share if self.pure else root_below(self.mu**2 * share * CHOICE))


@lru_cache(maxsize=256)
def _mu(epsilon: Fraction, delta: Fraction, slack: Fraction) -> Fraction:
    off = float(slack)
    tenth = math.ceil(1 - math.log10(delta))
    place = min(float(epsilon), max(0.0, math.log(10.0**-tenth / off)))
    return exact(min(gaussian(place, float(delta), off), STRONGEST))  # [cluster_budget.1]


def check_purse(epsilon: Number, delta: Number, neighbours: object) -> None:
    """Refuse what cannot be promised, before anything is read."""
    if not isinstance(neighbours, Neighbours):
        raise BadInput(f"neighbours is {neighbours!r}; give Neighbours.REPLACE or Neighbours.ADD_OR_REMOVE")
    check_budget(epsilon, delta, 1 if neighbours.size_is_public else None)
    if delta and delta < SMALLEST:
        raise BadInput(f"delta is {delta!r}; noise on a grid needs 1e-11 at least, or 0 for a pure promise")
    if delta and Purse(epsilon, delta).mu < WEAKEST:
        raise BadInput(f"epsilon is {epsilon!r}: its noise would drown any cluster; give 0.001 or more")
    if not delta and not 1e-4 <= epsilon <= 1e4:
        raise BadInput(f"epsilon is {epsilon!r}; with delta 0 give one from 0.0001 to 10,000")
