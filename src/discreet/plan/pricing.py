"""What the releases of a plan may cost, so that all of them together cost what the plan says.

Promise
    [pricing.1] The epsilon found bounds all questions together at the delta that is given: all costs are fixed before
    the first row is read.
Why
    [pricing.1] Every question is prepared, so that its loss is known, and the losses are composed as one list that
    nothing changes any more ([compose.1]: privacy loss distributions where they are tightest). The plain sums of the
    questions' epsilons and deltas bound them as well ([filter.1]); the smaller figure counts.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

from discreet.accounting import compose
from discreet.accounting.filter import Budget
from discreet.asking import Question
from discreet.errors import BadInput, OverBudget
from discreet.privacy.exact import Number, exact, show
from discreet.privacy.loss import Composed, Loss

STEPS: Final = 24  # of the search for how much more than the plain sum fits
CLOSE: Final = 0.995  # a plan that costs this part of what it may spend is not searched any further
Tried = tuple[Fraction, float]  # a total of epsilons one by one, and what it costs together


@dataclass(frozen=True, slots=True)
class Priced:
    """The questions, what each costs by itself, and what all that are new cost together.

    `kept` are the places of those whose answers are stored, at the price of then.
    """

    questions: tuple[Question, ...]
    together: Budget
    kept: frozenset[int] = frozenset()

    @property
    def new(self) -> tuple[Question, ...]:
        """Those that are paid for now."""
        return tuple(question for place, question in enumerate(self.questions) if place not in self.kept)

    @property
    def loss(self) -> Loss:
        """All losses that are new, as one list."""
        return Composed(tuple(question.price.loss for question in self.new))

    @property
    def apart(self) -> Fraction:
        """The sum of the new epsilons, which is what they would cost one by one."""
        return sum((exact(question.price.guarantee.epsilon) for question in self.new), Fraction(0))


def price(
    ask: Callable[[int, Number], Question], fixed: Sequence[Number | None], shares: Sequence[Number], spend: Budget
) -> Priced:
    """Prepare all questions: those with a fixed epsilon at that, the others at their shares of what fits."""
    held = sum((exact(epsilon) for epsilon in fixed if epsilon is not None), Fraction(0))
    whole = sum((exact(share) for share, epsilon in zip(shares, fixed, strict=True) if epsilon is None), Fraction(0))

    ask = cache(ask)  # a fixed price is asked once, however many totals are tried

    def at(total: Fraction) -> tuple[tuple[Question, ...], float]:
        """All questions at this total, and what they cost together."""
        asked = tuple(
            ask(place, total * exact(shares[place]) / whole if epsilon is None else epsilon)
            for place, epsilon in enumerate(fixed)
        )
        found = Priced(asked, spend)
        epsilon = compose.epsilon(found.loss, spend.delta)  # [pricing.1]
        if sum(exact(question.price.guarantee.delta) for question in asked) <= exact(spend.delta):
            # [pricing.1]: slack may cost less at each epsilon alone
            epsilon = min(epsilon, compose.as_written(found.apart))
        return asked, epsilon

    if not whole:
        return _fitting(*at(Fraction(0)), spend)
    if held >= exact(spend.epsilon):
        raise BadInput(
            f"the releases with an epsilon of their own take {show(held)}, and the plan may spend "
            f"{show(spend.epsilon)} in all: nothing is left for those with a share"
        )
    best = _fitting(*at(exact(spend.epsilon) - held), spend)
    low, high = (exact(spend.epsilon) - held, float(best.together.epsilon)), None
    for _ in range(STEPS if spend.delta else 0):  # composed tightly, more than the plain sum may fit
        if low[1] >= CLOSE * spend.epsilon or (high is not None and high[0] - low[0] <= low[0] / 200):
            break
        total = low[0] * 2 if high is None else _between(low, high, float(spend.epsilon) * (1 + CLOSE) / 2)
        tried, epsilon = at(total)
        if _fits(epsilon, spend):
            best, low = _fitting(tried, epsilon, spend), (total, epsilon)
        else:
            high = (total, epsilon)
    return best


def _between(low: Tried, high: Tried, target: float) -> Fraction:
    """The total that would cost the target if the price were a power of the total between these two."""
    if not math.isfinite(high[1]):
        return (low[0] + high[0]) / 2
    place = math.log(target / low[1]) / math.log(high[1] / low[1])
    return low[0] * exact((high[0] / low[0]) ** min(max(place, 0.05), 0.95))


def _fits(epsilon: float, spend: Budget) -> bool:
    return math.isfinite(epsilon) and exact(epsilon) <= exact(spend.epsilon)


def _fitting(asked: tuple[Question, ...], epsilon: float, spend: Budget) -> Priced:
    if not math.isfinite(epsilon):
        raise BadInput(
            f"the plan may spend delta {show(spend.delta)}, and its releases need more: raise [spend] delta, or "
            f"give less to {', '.join(question.title for question in asked if question.price.guarantee.delta)}"
        )
    if not _fits(epsilon, spend):
        raise OverBudget(
            f"the plan's releases cost epsilon {show(epsilon)} together, at delta {show(spend.delta)}; "
            f"the plan may spend {show(spend.epsilon)}. Ask for less, or spend more"
        )
    return Priced(asked, Budget(epsilon, spend.delta))  # [pricing.1]
