"""Budgets that stay valid when the next question, and its price, depend on past answers.

Promise
    [filter.1] basic: whatever is asked, in whatever order, as long as the charges' epsilons and deltas sum to at most
         the budget's, all answers together are (epsilon, delta).
    [filter.2] zcdp: the same if the rhos sum to at most rho(epsilon, delta - reserve), and the deltas, with (1 +
         e^epsilon) times the slacks, to at most the reserve.
    [filter.3] gdp: the same for the squares of mu.
    [filter.4] Charges are exact rationals: ten times 0.1 fit into 1, the eleventh does not. A Filter is a value: a
         refused charge changes nothing, an accepted one returns a new Filter.
    [filter.5] A loss on Poisson samples is charged only where the promise is for ADD_OR_REMOVE.

Why
    [filter.1] A sum of predictable epsilons that never exceeds the budget bounds the log-ratio of every transcript.
    [filter.2] With predictable rho_i, E exp((a-1)(L_1 + ... + L_k) - a (a-1)(rho_1 + ... + rho_k)) falls in k, for each
    a > 1; so the whole is rho-zCDP if the sum never exceeds rho, and [calibrate.2] converts. [filter.3] A mu_i-GDP
    answer can be drawn from a Brownian motion, with drift 0 or 1, watched for a time mu_i^2. All answers together are
    drawn from the path up to the sum of the mu_i^2 <= mu^2, whatever decided each of them; the path up to mu^2 is
    mu-GDP, and [calibrate.1] converts. Deltas: on each transcript, both tables' distributions are the same product of
    (1 - delta_i) times "good" distributions, plus the rest, whose mass is at most the largest sum of delta_i that any
    transcript has. Slack likewise: real and exact noise can be coupled so that they ever part with at most the largest
    sum of slacks; then as in [compose.1].
    [filter.5] [currency.8] is for those neighbours only, and `price` asks before anything is summed.

    Never privacy loss distributions across adaptive releases: their delta at a given epsilon does not add up. Composing
    the distributions of the costs that happened to be paid treats those costs as fixed in advance. Whoever asks for
    more exactly after unlucky answers (and stops after lucky ones) gets a total loss that no fixed list of costs has,
    and the figure is no bound. Epsilon, rho and mu squared bound each step whatever came before, so their sums do. The
    same holds for "advanced composition" formulas. Inside one release, whose plan is declared, accounting/compose.py is
    right.

Source
    [filter.1] Rogers, Roth, Ullman and Vadhan 2016; [filter.2] Feldman and Zrnic 2021, with deltas Whitehouse et al.
    2023; [filter.3] Smith and Thakurta 2022. The proof of [filter.3] by Brownian motion is ours.
"""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Final, assert_never

from discreet.accounting import calibrate
from discreet.accounting.calibrate import UP
from discreet.accounting.currency import checked, keeps, mu, pure, rho, slack
from discreet.errors import BadInput, OverBudget
from discreet.privacy.exact import Number, exact, is_number, show
from discreet.privacy.guarantee import LARGEST_EPSILON, SMALLEST_EPSILON, Neighbours
from discreet.privacy.loss import Loss, in_words

RESERVE: Final = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on a table, ever.

    >>> Budget(2.0, 1e-6)
    Budget(epsilon=2.0, delta=1e-06)
    """

    epsilon: Number
    delta: Number = 0.0

    def __post_init__(self) -> None:
        if not is_number(self.epsilon) or not SMALLEST_EPSILON <= self.epsilon <= LARGEST_EPSILON:
            raise BadInput(
                f"the budget's epsilon is {self.epsilon!r}; it must be a number from {SMALLEST_EPSILON:g} to "
                f"{LARGEST_EPSILON:g}, and 1 to 3 is the most that is commonly defended"
            )
        if not is_number(self.delta) or not (self.delta == 0 or calibrate.SMALLEST_DELTA <= self.delta < 1):
            raise BadInput(f"the budget's delta is {self.delta!r}; it must be 0, or from 1e-300 to below 1, say 1e-6")


class Currency(Enum):
    """What is summed."""

    EPSILON = "epsilon"
    RHO = "zcdp"
    MU_SQUARED = "gdp"

    @property
    def quantity(self) -> str:
        """What is summed, in words."""
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class Amount:
    """So much of a currency, and of delta."""

    currency: Currency
    cost: Fraction
    delta: Fraction

    @property
    def epsilon(self) -> Fraction:
        """The cost, where it is counted in epsilon."""
        if self.currency is not Currency.EPSILON:
            raise BadInput(f"this budget is counted in {self.currency.quantity}; read .cost")
        return self.cost


@dataclass(frozen=True, slots=True, repr=False)
class Filter:
    """A budget and what is spent of it. Make one with `basic`, `zcdp` or `gdp`.

    All charges must be for one neighbour relation, `neighbours`, and one unit, those of the promise. A sampled loss is
    refused unless the relation is ADD_OR_REMOVE.

    >>> from discreet.privacy.loss import Laplace
    >>> balance = Filter.basic(Budget(1.0))
    >>> for _ in range(10):
    ...     balance = balance.charge(Laplace(0.1))
    >>> balance.left.epsilon, balance.admits(Laplace(0.1))
    (Fraction(0, 1), False)
    """

    budget: Budget
    total: Amount
    spent: Amount
    neighbours: Neighbours = Neighbours.REPLACE

    @classmethod
    def basic(cls, budget: Budget, *, neighbours: Neighbours = Neighbours.REPLACE) -> "Filter":
        """Epsilons and deltas are summed. [filter.1]"""
        return cls._open(budget, Currency.EPSILON, exact(budget.epsilon), exact(budget.delta), neighbours)

    @classmethod
    def zcdp(
        cls, budget: Budget, *, reserve: Number = RESERVE, neighbours: Neighbours = Neighbours.REPLACE
    ) -> "Filter":
        """Rhos are summed. The share `reserve` of delta is for the charges' own deltas and slack. [filter.2]

        >>> from discreet.privacy.loss import Gaussian
        >>> Filter.zcdp(Budget(1.0, 1e-6)).admits(Gaussian(0.2))
        True
        """
        kept = _reserve(budget, reserve)
        limit = Fraction(calibrate.rho(budget.epsilon, exact(budget.delta) - kept))  # [filter.2]
        return cls._open(budget, Currency.RHO, limit, kept, neighbours)

    @classmethod
    def gdp(cls, budget: Budget, *, reserve: Number = RESERVE, neighbours: Neighbours = Neighbours.REPLACE) -> "Filter":
        """Squares of mu are summed. The share `reserve` of delta is for the charges' own deltas and slack. [filter.3]

        >>> from discreet.privacy.loss import Gaussian
        >>> Filter.gdp(Budget(1.0, 1e-6)).admits(Gaussian(0.2))
        True
        """
        kept = _reserve(budget, reserve)
        limit = Fraction(calibrate.gaussian(budget.epsilon, exact(budget.delta) - kept)) ** 2  # [filter.3]
        return cls._open(budget, Currency.MU_SQUARED, limit, kept, neighbours)

    @classmethod
    def _open(
        cls, budget: Budget, currency: Currency, limit: Fraction, delta: Fraction, neighbours: Neighbours
    ) -> "Filter":
        return cls(budget, Amount(currency, limit, delta), Amount(currency, Fraction(0), Fraction(0)), neighbours)

    @property
    def left(self) -> Amount:
        """What is left."""
        return Amount(self.total.currency, self.total.cost - self.spent.cost, self.total.delta - self.spent.delta)

    def price(self, loss: Loss) -> Amount:
        """What a loss costs here; BadInput if it has no price in this currency, or none for these neighbours."""
        currency = self.total.currency
        paid = slack(keeps(checked(loss), self.neighbours))  # [filter.5]
        match currency:
            case Currency.EPSILON:
                sums = pure(loss)
                if sums is None:
                    raise BadInput(
                        f"{in_words(loss)}: Gaussian noise has no single epsilon; charge Approximate(epsilon, delta), "
                        "or count this budget in rho or mu squared with Filter.zcdp or Filter.gdp"
                    )
                cost, delta = sums  # [filter.1]
            case Currency.RHO:
                cost, delta = rho(loss)  # [filter.2]
            case Currency.MU_SQUARED:
                cost, delta = mu(loss)  # [filter.3]
            case _:
                assert_never(currency)
        return Amount(currency, cost, delta + _weight(self.budget.epsilon) * paid if paid else delta)

    def admits(self, loss: Loss) -> bool:
        """Whether the loss still fits."""
        price, left = self.price(loss), self.left
        return price.cost <= left.cost and price.delta <= left.delta  # [filter.4]

    def charge(self, loss: Loss) -> "Filter":
        """The filter after this loss is paid for; OverBudget, and nothing is spent, if it does not fit."""
        return self.paid(self.price(loss))

    def paid(self, price: Amount) -> "Filter":
        """The filter after this price is paid; OverBudget if it does not fit."""
        left = self.left
        if price.cost > left.cost or price.delta > left.delta:
            raise OverBudget(self._refusal(price, left))
        # [filter.4]
        spent = replace(self.spent, cost=self.spent.cost + price.cost, delta=self.spent.delta + price.delta)
        return replace(self, spent=spent)

    def _refusal(self, price: Amount, left: Amount) -> str:
        if price.cost > left.cost:
            what, asked, there, whole = price.currency.quantity, price.cost, left.cost, self.total.cost
        else:
            what, asked, there, whole = "delta", price.delta, left.delta, self.total.delta
        if whole <= 0:
            advice = f"this budget was opened without {what}; ask for pure privacy"
        elif there <= 0:
            advice = f"no {what} is left; this table has given all the answers that were promised"
        elif what == "epsilon":
            advice = f"ask for epsilon={_down(there)} or less, or fewer columns"
        elif what == "delta":
            advice = f"ask for delta={_down(there)} or less, or for pure privacy"
        else:
            size = math.sqrt(float(there) * (2 if what == "rho" else 1))
            advice = f"ask for Gaussian noise of mu={_down(Fraction(size))} or less"
        return f"this costs {what} {_up(asked)}, and {_down(there)} is left of {_down(whole)}; {advice}"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        name, left, promise = self.total.currency.quantity, self.left, self.budget
        return (
            f"{name} {show(left.cost)} is left of {show(self.total.cost)}, and delta {show(left.delta)} of "
            f"{show(self.total.delta)}, for a promise of epsilon {show(promise.epsilon)}, delta {show(promise.delta)}"
        )


def _reserve(budget: Budget, share: Number) -> Fraction:
    if not budget.delta:
        raise BadInput("the budget's delta is 0; rho and mu need a delta above 0: use Filter.basic for pure privacy")
    if not is_number(share) or not 0 <= share < 1:
        raise BadInput(f"the reserve is {share!r}; it must be a share of delta in [0, 1), for example 0.5")
    return exact(budget.delta) * exact(share)


def _weight(epsilon: Number) -> Fraction:
    """1 + e^epsilon, from above."""
    if epsilon > 700:
        return 1 + Fraction(3) ** math.ceil(epsilon)
    return 1 + Fraction(math.exp(float(epsilon)) * UP)


def _down(number: Fraction) -> str:
    """A few digits, not above the number: what is advised must fit."""
    return show(float(Context(prec=6, rounding=ROUND_FLOOR).divide(*map(Decimal, number.as_integer_ratio()))))


def _up(number: Fraction) -> str:
    """A few digits, not below the number."""
    return show(float(Context(prec=6, rounding=ROUND_CEILING).divide(*map(Decimal, number.as_integer_ratio()))))
