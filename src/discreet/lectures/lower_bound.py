"""What no private algorithm can do: the lower bounds of lectures 2, 3 and 4, as numbers of people."""

import math

from scipy.special import gammaincinv

from discreet.errors import BadInput
from discreet.privacy.exact import Number, is_number, least_whole
from discreet.privacy.guarantee import Guarantee, Neighbours, check_budget
from discreet.worlds.floors import answers_apart, told
from discreet.worlds.floors import packing as _packing


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


def gaussian_mean(d: int, alpha: float, *, epsilon: float, correct: float = 0.75) -> int:
    """The fewest people with whom a pure algorithm can find the mean of N(mu, I) in d columns within alpha: lecture 3.

    Its terms d / alpha^2 and d / (alpha epsilon), with constants; one person is replaced. Without privacy the sample
    mean is within alpha with the chance of a chi-squared variable, and no estimator is so more often for every mu. With
    it: of the words of 0 and 1 of length d, 2^(d/8) differ from each other and from 0 in d/8 places (Varshamov and
    Gilbert, d >= 8). Times 2 alpha sqrt(8/d) they are means 2 alpha apart, so a right answer for one is wrong for the
    others, and none is further than 2 sqrt(8) alpha from 0: the total variation of one row is t <= erf(2 alpha). Rows
    of the mean 0 and of another can be coupled so that at most 2 n t of n differ, half of the time. So on rows of mean
    0 each of those answers has a chance of at least e^(-2 epsilon n t) (correct - 1/2), and all of them together at
    most 1 - correct. In fewer columns, and where it is more, the bound is that of two means 2 alpha apart.

    >>> [gaussian_mean(d, 0.1, epsilon=0.001) for d in (1, 80, 800)]
    [13796, 15563, 155622]
    """
    if not (isinstance(d, int) and d >= 1 and _positive(alpha) and is_number(correct) and 0.5 < correct < 1):
        raise BadInput(
            f"d is {d!r}, alpha {alpha!r}, correct {correct!r}; give columns, a distance, and a chance > 1/2"
        )
    check_budget(epsilon, 0, 1)
    sampling = 2 * float(gammaincinv(d / 2, correct)) / alpha**2
    apart = two_point(math.erf(alpha / math.sqrt(2)), epsilon=epsilon, correct=correct)
    words = d / 8 * math.log(2) if d >= 8 else 0.0
    packed = (words + math.log((correct - 0.5) / (1 - correct))) / (2 * epsilon * math.erf(2 * alpha))
    return max(math.ceil(sampling), apart, math.ceil(packed))


def _positive(*values: object) -> bool:
    return all(is_number(value) and value > 0 for value in values)  # type: ignore[operator]
