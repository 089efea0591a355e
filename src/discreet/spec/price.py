"""What each release of a plan may cost, so that all of them together cost what the plan says.

Promise
    [SP1] The epsilon found bounds the whole plan at the plan's delta: all costs are fixed before the first row is read.
Why
    [SP1] Every question is prepared, so that its loss is known, and the losses are composed as one list that nothing
    changes any more ([C6] of accounting/compose.py: privacy loss distributions where they are tightest). What is
    charged is (epsilon, delta) of the composition, so that plans and single questions add up by [T1].
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.accounting import compose
from discreet.accounting.filter import Budget
from discreet.errors import BadInput, OverBudget
from discreet.promise.exact import Number, exact, show
from discreet.promise.loss import Composed, Loss
from discreet.session.question import Question

STEPS: Final = 24  # of the search for how much more than the plain sum fits
PRECISION: Final = Fraction(1, 200)


@dataclass(frozen=True, slots=True)
class Priced:
    """The questions, what each costs by itself, and what all of them cost together."""

    questions: tuple[Question, ...]
    together: Budget

    @property
    def loss(self) -> Loss:
        """All losses, as one list."""
        return Composed(tuple(question.loss for question in self.questions))

    @property
    def apart(self) -> Fraction:
        """The sum of the epsilons, which is what they would cost one by one."""
        return sum((exact(question.guarantee.epsilon) for question in self.questions), Fraction(0))


def price(
    ask: Callable[[int, Number], Question], fixed: Sequence[Number | None], shares: Sequence[Number], spend: Budget
) -> Priced:
    """Prepare all questions: those with a fixed epsilon at that, the others at their shares of what fits."""
    held = sum((exact(epsilon) for epsilon in fixed if epsilon is not None), Fraction(0))
    whole = sum((exact(share) for share, epsilon in zip(shares, fixed, strict=True) if epsilon is None), Fraction(0))

    def at(total: Fraction) -> Priced:
        asked = tuple(
            ask(place, total * exact(shares[place]) / whole if epsilon is None else epsilon)
            for place, epsilon in enumerate(fixed)
        )
        loss = Composed(tuple(question.loss for question in asked))
        epsilon = compose.epsilon(loss, spend.delta)  # [SP1]
        if not math.isfinite(epsilon):
            raise BadInput(
                f"the plan may spend delta {show(spend.delta)}, and its releases need more: raise [spend] delta, or "
                f"give less to {', '.join(question.title for question in asked if question.guarantee.delta)}"
            )
        return Priced(asked, Budget(epsilon, spend.delta))  # [SP1]

    if not whole:
        found = at(Fraction(0))
        return _fitting(found, spend)
    if held >= exact(spend.epsilon):
        raise BadInput(
            f"the releases with an epsilon of their own take {show(held)}, and the plan may spend "
            f"{show(spend.epsilon)} in all: nothing is left for those with a share"
        )
    low = exact(spend.epsilon) - held
    best = _fitting(at(low), spend)
    if len(fixed) == 1 or not spend.delta:
        return best
    high = low
    for _ in range(STEPS):  # composed tightly, more than the plain sum may fit
        higher = at(high * 2)
        if exact(higher.together.epsilon) > exact(spend.epsilon):
            break
        best, low, high = higher, high * 2, high * 2
    high *= 2
    while high - low > PRECISION * low:
        middle = (low + high) / 2
        tried = at(middle)
        if exact(tried.together.epsilon) <= exact(spend.epsilon):
            best, low = tried, middle
        else:
            high = middle
    return best


def _fitting(found: Priced, spend: Budget) -> Priced:
    if exact(found.together.epsilon) > exact(spend.epsilon):
        raise OverBudget(
            f"the plan's releases cost epsilon {show(found.together.epsilon)} together, at delta {show(spend.delta)}; "
            f"the plan may spend {show(spend.epsilon)}. Ask for less, or spend more"
        )
    return found
