"""What a loss costs in the three currencies that add up, as rationals from above: epsilon, rho and mu squared.

Each stands beside a delta. An answer from a secret sample of the people tells less about each of them: amplification.

Promise
    [currency.1] Anything pure is rho-zCDP (D_a <= a rho for all a > 1) with rho = eps tanh(eps/2); Laplace noise with
         eps - 1 + e^-eps; a bounded-range release (the exponential mechanism) with eps^2/8.
    [currency.2] Anything pure is mu-GDP (no test of one person does better than one between N(0, 1) and N(mu, 1)) with
         mu = -2 Phi^-1(1/(1 + e^eps)); a bounded-range release with the mu of anything pure with eps/2.
    [currency.3] On a grid of at least 2^20 steps in the sensitivity, discrete Laplace noise costs no more than
         continuous noise together with an event of probability gap_of_laplace(eps).
    [currency.4] The same for a vector whose coordinates move by as many steps in all: one gap for all of them, not one
    each. Each number is above its formula, by at most 1e-10 of itself (mu above epsilon 600: by 1e-2).
    [currency.5] pure(loss): the sums of the parts' epsilons and deltas bound the whole. With Gaussian noise, no such
    pair.
    [currency.6] rho(loss) = (rho, delta) and mu(loss) = (mu^2, delta): off an event of probability delta, the whole is
         rho-zCDP, and mu-GDP. Sums of exact rationals; Gaussian noise costs mu^2/2 and mu^2, the others what
         [currency.1] to [currency.4] say.
    [currency.7] A sampled loss costs no more, in any currency, than the same loss on everybody; if pure, it is
    amplified. Slack is not in these deltas: what it costs depends on the epsilon at which it is paid ([compose.1]).
    [currency.8] Poisson, ADD_OR_REMOVE: if a release is (epsilon, delta) and is run on a sample in which each person is
         with probability q independently, it is (ln(1 + q (e^epsilon - 1)), q delta).
    [currency.9] m of n without replacement, REPLACE: the same with q = m / n.
    The sample must be secret: whoever learns that a person is in it is promised epsilon, not less. The people who
    are in the sample must not be released, logged, or chosen by anything but coins that nobody else saw.
Why
    [currency.1] Every pure pair is post-processing of randomised response, for which (a - 1) D_a = ln cosh(t eps) - ln
    cosh(eps/2), t = a - 1/2. As ln cosh(eps sqrt s) is concave in s = t^2, it is below its tangent at s = 1/4: (t^2 -
    1/4) eps tanh(eps/2), and t^2 - 1/4 = a (a - 1). Laplace noise: the same with ln F(s) - eps/2, F(s) = cosh(t eps) +
    sinh(t eps)/(2 t). F(-y^2) vanishes only where -u'' = y^2 u, u'(0) = u(0)/2, u(eps) = 0 has a solution, so all zeros
    of F are negative, F is a product of (1 + s/a_n) with a_n > 0, and ln F is concave; the tangent's slope is the KL
    divergence eps - 1 + e^-eps. It is convex in eps, so a shift in several coordinates costs no more than one of the
    same L1 size. Bounded range: K(a) = ln E' e^{aL} has K(0) = K(1) = 0 and K'' <= eps^2/4, the variance on an interval
    of length eps; so K(a) <= a (a - 1) eps^2/8, and K(a) = (a - 1) D_a. This is the continuous Laplace distribution.

    [currency.3] Noise is discrete: let the sensitivity be D whole steps and h = eps/D. The losses are eps (1 - 2 j/D),
    and at each of them delta(eps') is 1 - e^{-eps j/D}, that of continuous noise; between them it is linear in t =
    e^eps', while the continuous curve 1 - sqrt(t e^-eps) is convex. The chord lies above it by at most (e^{2h} - 1)^2
    t^2 / 8 times its second derivative, that is about (h^2 / 8) sqrt(t e^-eps) = (h^2 / 8)(1 - delta(eps')), which is
    what an event of probability h^2 / 8 adds. For D = 1 the chord is all there is: randomised response. So noise on
    small whole numbers costs Approximate(eps, 0), and noise on FINE or more steps Laplace(eps), with that event's
    probability as delta.

    [currency.4] Let b_d(x) be the best power of a test of level x against noise that is shifted by d steps. Discrete
    Laplace noise is log-concave, so the best tests are thresholds (with a coin at the threshold), the same ones for
    every d. Read such a test first against a shift by d, then from there against one by e more: b_e(b_d(x)) =
    b_{d+e}(x). Now move a vector one coordinate at a time, by d_1, ..., d_m steps. Given the other coordinates, which
    keep their distribution, a step raises power p to at most b_{d_i}(p); b is concave and increasing, so this holds on
    average too. After the last step the power is at most b_{d_1 + ... + d_m}(x): that of one coordinate which moves by
    all the steps, to which [currency.3] applies. The same argument holds for continuous Laplace noise. Gaussian noise
    is the same in every direction, so for it only the Euclidean length of the move matters.

    [currency.2] The trade-off curve of N(0, 1) and N(mu, 1) is convex from (0, 1) to (1, 0) and, mu as said, passes
    through the kink (c, c), c = 1/(1 + e^eps), of randomised response: below both its segments. A bounded-range pair
    lies above a curve with one kink (x, 1 - y), logit y - logit x = eps. Phi^-1(y) - Phi^-1(x) is largest at x = 1 - y,
    because Phi^-1 o logistic is odd and concave above 0: its inverse has slope h(z) + h(-z), h the normal hazard, which
    is convex.
    [currency.5] Basic composition. [currency.6] Renyi divergences add (Bun and Steinke 2016), squares of mu add (Dong,
    Roth and Su 2022). An (eps, delta) pair is a mixture: with probability delta anything, else pure eps (Kairouz, Oh
    and Viswanath 2015). On the rest the same distributions compose, so deltas add up beside rho or mu.
    [currency.7] Given the others' sample, the two outputs are mixtures, in the shares 1 - q and q, of an equal pair and
    of the pair of `loss`. Renyi divergence is jointly quasi-convex; a test of mixtures, told which pair it faces, could
    only do better. If anything may happen with probability delta, it happens to the person with q delta. Then
    [currency.8].
    [currency.8] Fix the sample of all the others. With the person the output is (1 - q) Q + q Q1, without them Q, and
    Q1 is (epsilon, delta)-close to Q. Write x = Q(E), y = Q1(E), c = 1 + q (e^eps - 1). Removing: (1 - q) x + q y <=
    (1 - q) x + q (e^eps x + delta) = c x + q delta. Adding: x <= e^eps y + delta, and the claim x <= c ((1 - q) x +
    q y) + q delta is x f <= c q y + q delta with f = 1 - c (1 - q). It is clear if f <= 0; else x f <= e^eps f y +
    delta f, and f <= q as c >= 1, e^eps f <= c q as c >= e^eps / (q + (1 - q) e^eps), which is
    (e^eps - 1)^2 q (1 - q) >= 0. Averaging over the others' sample keeps both inequalities.
    [currency.9] Couple the samples of neighbouring tables so that they differ only if the replaced place is drawn,
    which has probability q; a sample without it is a neighbour (REPLACE) of one with it.
Source
    Bun and Steinke 2016; Dong, Durfee and Rogers 2020, Cesar and Rogers 2021 (bounded range); Dong, Roth and Su 2022;
    Kairouz, Oh and Viswanath 2015 (randomised response); Sampford 1953 (normal hazard). The proofs of the Laplace
    constant and of mu of bounded range are ours.
    Balle, Barthe and Gaboardi 2018, Theorems 8 and 9.
"""

import math
import sys
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeVar, assert_never

from discreet.accounting.calibrate import UP, as_float
from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, is_number, smallest
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled, atoms


def poisson(loss: Loss, rate: Number, times: int = 1, *, neighbours: Neighbours = Neighbours.ADD_OR_REMOVE) -> Sampled:
    """`loss`, met `times` times on fresh secret samples that hold each person with probability `rate`. [currency.8]

    >>> from discreet.privacy.loss import Gaussian
    >>> poisson(Gaussian(1), 0.01, times=1000)
    Sampled(loss=Gaussian(mu=1, slack=0), rate=0.01, times=1000)
    """
    return keeps(Sampled(loss, rate, times), neighbours)


L = TypeVar("L", bound=Loss)


def keeps(loss: L, neighbours: Neighbours) -> L:
    """The loss, if it can be charged for this relation; BadInput if a Poisson sample is in it and it cannot.
    [currency.8]

    >>> from discreet.privacy.loss import Laplace
    >>> keeps(Laplace(1), Neighbours.REPLACE)
    Laplace(epsilon=1)
    """
    # [currency.8]
    if neighbours is not Neighbours.ADD_OR_REMOVE and any(isinstance(part, Sampled) for part in atoms(loss)):
        raise BadInput(
            f"a Poisson sample hides whether a person is there, not that {neighbours.value}; state the promise, and "
            "open the budget, for ADD_OR_REMOVE, or use fixed_size for a sample of m of n people"
        )
    return loss


def fixed_size(
    epsilon: Number, delta: Number, rate: Number, *, neighbours: Neighbours = Neighbours.REPLACE
) -> Approximate:
    """(epsilon, delta) on a secret sample of m of n people, without replacement; `rate` is m / n. [currency.9]

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
            return min(exact(epsilon), exact(rate) * rise)  # [currency.8]
    else:  # the same up to e^-epsilon, and without an overflow
        less = whole + math.log(share) * (1 - 1e-12) if share > math.exp(-350) else whole
    return min(exact(epsilon), Fraction(less * (1 + 1e-12)))  # [currency.8] [currency.9]


FINE: Final = 2**20  # steps in the sensitivity from which discrete Laplace noise is charged as continuous


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """eps tanh(eps/2).

    >>> round(float(rho_of_pure(Fraction(1))), 6)
    0.462117
    """
    size = as_float(epsilon)
    if size < 1e-6:
        return epsilon**2 / 2
    return epsilon if size > 700 else min(epsilon, Fraction(size * math.tanh(size / 2) * UP))  # [currency.1]


def rho_of_laplace(epsilon: Fraction) -> Fraction:
    """eps - 1 + e^-eps; where it is small, by the alternating series cut after a positive term.

    >>> round(float(rho_of_laplace(Fraction(1))), 6)
    0.367879
    """
    size = as_float(epsilon)
    if size < 1e-3:
        return epsilon**2 / 2 - epsilon**3 / 6 + epsilon**4 / 24
    return epsilon if size > 1e9 else Fraction((size + math.expm1(-size)) * UP)  # [currency.1]


def gap_of_laplace(epsilon: Fraction) -> Fraction:
    """The delta by which discrete Laplace noise on a fine grid may exceed continuous noise: (eps / 2^20)^2 / 8.

    >>> float(gap_of_laplace(Fraction(1))) < 2e-13
    True
    """
    return Fraction(1) if epsilon > 1000 else Fraction(101, 800) * (epsilon / FINE) ** 2  # [currency.3] [currency.4]


def rho_of_choice(epsilon: Fraction) -> Fraction:
    """eps^2/8, exactly; for epsilon above 8, that of anything pure.

    >>> rho_of_choice(Fraction(1))
    Fraction(1, 8)
    """
    return min(epsilon**2 / 8, rho_of_pure(epsilon))  # [currency.1]


@lru_cache(maxsize=1024)
def square_of_pure(epsilon: Fraction) -> Fraction:
    """mu^2 for mu/2 = z, Phi(-z) = 1/(1 + e^eps), that is erf(z / sqrt 2) = tanh(eps/2).

    >>> round(float(square_of_pure(Fraction(1))) ** 0.5, 6)
    1.232035
    """
    size = as_float(epsilon)
    if size < 1e-6:  # erf y >= (2 / sqrt pi)(y - y^3 / 3), so mu^2 <= (pi/2) eps^2 (1 + 1e-12)
        return epsilon**2 * Fraction(1570796326797, 10**12)
    if size > 600:  # Phi(-z) <= e^{-z^2/2} / 2, so mu^2 <= 8 ln((1 + e^eps) / 2)
        return 8 * epsilon
    if size < 1:
        goal = math.tanh(size / 2)
        root = smallest(lambda z: math.erf(z) >= goal, 40.0)
    else:
        miss = 2 / (1 + math.exp(size))
        root = smallest(lambda z: math.erfc(z) <= miss, 40.0)
    return Fraction(8 * root * root * UP)  # [currency.2]


def square_of_choice(epsilon: Fraction) -> Fraction:
    """mu^2 of a bounded-range release: that of anything pure with half the epsilon.

    >>> square_of_choice(Fraction(1)) == square_of_pure(Fraction(1, 2))
    True
    """
    return square_of_pure(epsilon / 2)  # [currency.2]


Pair = tuple[Fraction, Fraction]


def pure(loss: Loss) -> Pair | None:
    """(epsilon, delta) by plain sums, None if Gaussian noise is in it. [currency.5]

    >>> pure(Composed((Laplace(0.1),) * 10))
    (Fraction(1, 1), Fraction(0, 1))
    """
    match loss:
        case Laplace(epsilon) | Choice(epsilon):
            return exact(epsilon), Fraction(0)
        case Approximate(epsilon, delta):
            return exact(epsilon), exact(delta)
        case Gaussian():
            return None
        case Sampled(inner, rate, times):
            found = pure(inner)
            if found is None:
                return None
            return times * amplified(found[0], rate), times * exact(rate) * found[1]  # [currency.7]
        case Composed(parts):
            cost = rest = Fraction(0)
            for part in parts:
                found = pure(part)
                if found is None:
                    return None
                cost, rest = cost + found[0], rest + found[1]  # [currency.5]
            return cost, rest
        case _:
            assert_never(loss)


def rho(loss: Loss) -> Pair:
    """(rho, delta) of zero-concentrated privacy. [currency.6]

    >>> [str(number) for number in rho(Composed((Gaussian(0.2), Choice(0.4), Approximate(0, 1e-7))))]
    ['1/25', '1/10000000']
    """
    match loss:
        case Gaussian(mu):
            return exact(mu) ** 2 / 2, Fraction(0)
        case Choice(epsilon):
            return rho_of_choice(exact(epsilon)), Fraction(0)
        case Laplace(epsilon):
            return rho_of_laplace(exact(epsilon)), gap_of_laplace(exact(epsilon))  # [currency.3] [currency.4]
        case Approximate(epsilon, delta):
            return rho_of_pure(exact(epsilon)), exact(delta)
        case Sampled(inner, rate, times):
            cost, delta = rho(inner)
            found = pure(inner)
            if found is not None:
                cost = min(cost, rho_of_pure(amplified(found[0], rate)))
            return times * cost, times * exact(rate) * delta  # [currency.7]
        case Composed(parts):
            return _sum([rho(part) for part in parts])  # [currency.6]
        case _:
            assert_never(loss)


def mu(loss: Loss) -> Pair:
    """(mu squared, delta) of Gaussian privacy. [currency.6]

    >>> [str(number) for number in mu(Composed((Gaussian(0.3), Gaussian(0.4), Approximate(0, 1e-7))))]
    ['1/4', '1/10000000']
    """
    match loss:
        case Gaussian(size):
            return exact(size) ** 2, Fraction(0)
        case Choice(epsilon):
            return square_of_choice(exact(epsilon)), Fraction(0)
        case Laplace(epsilon):
            return square_of_pure(exact(epsilon)), Fraction(0)
        case Approximate(epsilon, delta):
            return square_of_pure(exact(epsilon)), exact(delta)
        case Sampled(inner, rate, times):
            cost, delta = mu(inner)
            found = pure(inner)
            if found is not None:
                cost = min(cost, square_of_pure(amplified(found[0], rate)))
            return times * cost, times * exact(rate) * delta  # [currency.7]
        case Composed(parts):
            return _sum([mu(part) for part in parts])  # [currency.6]
        case _:
            assert_never(loss)


def slack(loss: Loss) -> Fraction:
    """The total variation that the Gaussian draws of a loss are off by, summed."""
    match loss:
        case Gaussian(_, off):
            return exact(off)
        case Laplace() | Choice() | Approximate():
            return Fraction(0)
        case Sampled(inner, _, times):
            return times * slack(inner)
        case Composed(parts):
            return sum((slack(part) for part in parts), Fraction(0))
        case _:
            assert_never(loss)


def checked(loss: object) -> Loss:
    """A loss all of whose numbers are sane, or BadInput."""
    match loss:
        case Laplace(epsilon) | Choice(epsilon):
            _sane(loss, epsilon)
        case Gaussian(size, off):
            _sane(loss, size, off)
        case Approximate(epsilon, delta):
            _sane(loss, epsilon, delta)
        case Sampled(inner, rate, _):
            _sane(loss, rate)
            checked(inner)
        case Composed(tuple() as parts):
            for part in parts:
                checked(part)
        case _:
            raise BadInput(
                f"{type(loss).__name__} is not a loss; give Laplace, Gaussian, Choice, Approximate, Sampled or Composed"
            )
    return loss


def _sum(pairs: list[Pair]) -> Pair:
    return sum((pair[0] for pair in pairs), Fraction(0)), sum((pair[1] for pair in pairs), Fraction(0))


def _sane(loss: object, *numbers: object) -> None:
    for number in numbers:
        if not is_number(number) or number < 0 or 0 < number < sys.float_info.min:  # type: ignore[operator]
            raise BadInput(f"{loss!r} holds {number!r}; losses are finite, not negative and not subnormal")
