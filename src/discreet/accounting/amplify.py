"""Amplification by subsampling: an answer from a secret sample of the people tells less about each of them.

Promise
    [amplify.1] Poisson, ADD_OR_REMOVE: if a release is (epsilon, delta) and is run on a sample in which each person is
         with probability q independently, it is (ln(1 + q (e^epsilon - 1)), q delta).
    [amplify.2] m of n without replacement, REPLACE: the same with q = m / n.
    The sample must be secret: whoever learns that a person is in it is promised epsilon, not less. The people who
    are in the sample must not be released, logged, or chosen by anything but coins that nobody else saw.

Why
    [amplify.1] Fix the sample of all the others. With the person the output is (1 - q) Q + q Q1, without them Q, and Q1
    is (epsilon, delta)-close to Q. Write x = Q(E), y = Q1(E), c = 1 + q (e^eps - 1). Removing: (1 - q) x + q y <= (1 -
    q) x + q (e^eps x + delta) = c x + q delta. Adding: x <= e^eps y + delta, and the claim x <= c ((1 - q) x + q y) + q
    delta is x f <= c q y + q delta with f = 1 - c (1 - q). It is clear if f <= 0; else x f <= e^eps f y + delta f, and
    f <= q as c >= 1, e^eps f <= c q as c >= e^eps / (q + (1 - q) e^eps), which is (e^eps - 1)^2 q (1 - q) >= 0.
    Averaging over the others' sample keeps both inequalities.
    [amplify.2] Couple the samples of neighbouring tables so that they differ only if the replaced place is drawn, which
    has probability q; a sample without it is a neighbour (REPLACE) of one with it.

Source
    Balle, Barthe and Gaboardi 2018, Theorems 8 and 9.
"""

import math
from fractions import Fraction
from typing import TypeVar

from discreet.accounting.calibrate import as_float
from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, is_number
from discreet.privacy.loss import Approximate, Loss, Sampled, atoms
from discreet.privacy.neighbours import Neighbours


def poisson(loss: Loss, rate: Number, times: int = 1, *, neighbours: Neighbours = Neighbours.ADD_OR_REMOVE) -> Sampled:
    """`loss`, met `times` times on fresh secret samples that hold each person with probability `rate`. [amplify.1]

    >>> from discreet.privacy.loss import Gaussian
    >>> poisson(Gaussian(1), 0.01, times=1000)
    Sampled(loss=Gaussian(mu=1, slack=0), rate=0.01, times=1000)
    """
    return keeps(Sampled(loss, rate, times), neighbours)


L = TypeVar("L", bound=Loss)


def keeps(loss: L, neighbours: Neighbours) -> L:
    """The loss, if it can be charged for this relation; BadInput if a Poisson sample is in it and it cannot.
    [amplify.1]

    >>> from discreet.privacy.loss import Laplace
    >>> keeps(Laplace(1), Neighbours.REPLACE)
    Laplace(epsilon=1)
    """
    # [amplify.1]
    if neighbours is not Neighbours.ADD_OR_REMOVE and any(isinstance(part, Sampled) for part in atoms(loss)):
        raise BadInput(
            f"a Poisson sample hides whether a person is there, not that {neighbours.value}; state the promise, and "
            "open the budget, for ADD_OR_REMOVE, or use fixed_size for a sample of m of n people"
        )
    return loss


def fixed_size(
    epsilon: Number, delta: Number, rate: Number, *, neighbours: Neighbours = Neighbours.REPLACE
) -> Approximate:
    """(epsilon, delta) on a secret sample of m of n people, without replacement; `rate` is m / n. [amplify.2]

    >>> print(f"{float(fixed_size(1.0, 1e-6, 0.01).epsilon):.5f}")
    0.01704
    """
    if neighbours is not Neighbours.REPLACE:
        raise BadInput(
            f"a sample of m of n people needs a public n, which hides no more than that {Neighbours.REPLACE.value}, "
            f"not that {neighbours.value}; use REPLACE, or poisson"
        )
    whole = Approximate(epsilon, delta)
    return Approximate(amplified(whole.epsilon, rate), exact(rate) * exact(delta))


def amplified(epsilon: Number, rate: Number) -> Fraction:
    """ln(1 + rate (e^epsilon - 1)), rounded up by at most 1e-12 of itself; never above epsilon."""
    if not is_number(rate) or not 0 < rate <= 1:
        raise BadInput(f"the sampling rate is {rate!r}; it must be in (0, 1]")
    whole, share = as_float(epsilon), float(rate)
    if whole == math.inf:
        return exact(epsilon)
    if whole < 700:
        less = math.log1p(share * math.expm1(whole))
        if less < 1e-280:  # floats lose digits, then all of it: ln(1 + x) <= x, and e^y - 1 <= y (1 + y) for y <= 1
            rise = exact(epsilon) * (1 + exact(epsilon)) if whole < 1e-12 else Fraction(math.expm1(whole) * (1 + 1e-12))
            return min(exact(epsilon), exact(rate) * rise)  # [amplify.1]
    else:  # the same up to e^-epsilon, and without an overflow
        less = whole + math.log(share) * (1 - 1e-12) if share > math.exp(-350) else whole
    return min(exact(epsilon), Fraction(less * (1 + 1e-12)))  # [amplify.1] [amplify.2]
