"""What no private algorithm can do: the lower bounds of lectures 2, 3 and 4, as numbers of people."""

import math

from discreet.errors import BadInput
from discreet.privacy.exact import Number, is_number, least_whole
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.worlds.floors import answers_apart, told
from discreet.worlds.floors import packing as _packing

RATES = "n of order d / alpha^2 + d / (alpha epsilon) + log(1 / delta) / epsilon: a rate, no constant is claimed"


def packing(reach: float, *, epsilon: float, accuracy: float = 0.1, correct: float = 0.5) -> int:
    """The fewest people with whom a pure algorithm can find a mean in [-reach, reach] to this accuracy: Theorem 2.6.

    >>> [packing(reach, epsilon=0.1, correct=0.95) for reach in (10, 1e3, 1e6)]
    [76, 122, 191]
    """
    check_budget(epsilon, 0, None)
    if not (_positive(reach, accuracy) and reach > accuracy and is_number(correct) and 0 < correct < 1):
        raise BadInput(
            f"reach is {reach!r}, accuracy {accuracy!r}, correct {correct!r}; give a range above the accuracy"
        )
    answers = max(2, math.ceil(reach / accuracy))  # more than 2 accuracy apart in 2 reach
    return math.ceil(_packing(answers, 1 - correct) / epsilon)


def two_point(alpha: float, *, epsilon: float, delta: float = 0.0, correct: float = 0.99) -> int:
    """The fewest people from whom P can be told from Q, TV(P, Q) = alpha, with this chance of being right: Lemma 2.7.

    By the coupling of the lemma with its constant made sharp; order 1 / (alpha epsilon).

    >>> [two_point(alpha, epsilon=0.1) for alpha in (0.1, 0.01)]
    [481, 4821]
    """
    if not (is_number(alpha) and 0 < alpha <= 1 and is_number(correct) and 0.5 < correct < 1):
        raise BadInput(f"alpha is {alpha!r}, correct {correct!r}; give a distance up to 1, and a chance above a half")
    check_budget(epsilon, delta, 1)
    limit, needed = told(epsilon, delta), 2 * correct - 1

    def enough(people: int) -> bool:
        return answers_apart(people, alpha, limit) >= needed

    high = 1
    while not enough(high):
        high *= 2
    return least_whole(enough, high // 2, high)


def all_or_none(n: int, *, epsilon: Number) -> float:
    """The best chance to tell 0^n from 1^n with n people: near a half if epsilon is far below 1 / n. Section 3.1.3.

    >>> [round(all_or_none(100, epsilon=epsilon), 3) for epsilon in (0.0001, 0.01, 0.1)]
    [0.502, 0.731, 1.0]
    """
    from discreet.privacy.meaning import explain

    found = explain(Guarantee(epsilon, 0.0, Neighbours.REPLACE, "row"), n=n).all_or_none
    assert found is not None
    return found


def gaussian_mean() -> str:
    """The lower bound beside the theorem of lecture 3, with what was printed twice put right.

    >>> gaussian_mean()
    'n of order d / alpha^2 + d / (alpha epsilon) + log(1 / delta) / epsilon: a rate, no constant is claimed'
    """
    return RATES


def _positive(*values: object) -> bool:
    return all(is_number(value) and value > 0 for value in values)  # type: ignore[operator]
