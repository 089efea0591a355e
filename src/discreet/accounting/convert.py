"""What pure epsilon is worth in rho and in mu, as rationals from above.

Promise
    [C1] Anything pure is rho-zCDP (D_a <= a rho for all a > 1) with rho = eps tanh(eps/2); Laplace noise with
         eps - 1 + e^-eps; a bounded-range release (the exponential mechanism) with eps^2/8.
    [C2] Anything pure is mu-GDP (no test of one person does better than one between N(0, 1) and N(mu, 1)) with
         mu = -2 Phi^-1(1/(1 + e^eps)); a bounded-range release with the mu of anything pure with eps/2.
    [C8] On a grid of at least 2^20 steps in the sensitivity, discrete Laplace noise costs no more than continuous noise
         together with an event of probability gap_of_laplace(eps).
    [C9] The same for a vector whose coordinates move by as many steps in all: one gap for all of them, not one each.
    Each number is above its formula, by at most 1e-10 of itself (mu above epsilon 600: by 1e-2).

Why
    [C1] Every pure pair is post-processing of randomised response, for which (a - 1) D_a = ln cosh(t eps) - ln
    cosh(eps/2), t = a - 1/2. As ln cosh(eps sqrt s) is concave in s = t^2, it is below its tangent at s = 1/4: (t^2 -
    1/4) eps tanh(eps/2), and t^2 - 1/4 = a (a - 1). Laplace noise: the same with ln F(s) - eps/2, F(s) = cosh(t eps) +
    sinh(t eps)/(2 t). F(-y^2) vanishes only where -u'' = y^2 u, u'(0) = u(0)/2, u(eps) = 0 has a solution, so all zeros
    of F are negative, F is a product of (1 + s/a_n) with a_n > 0, and ln F is concave; the tangent's slope is the KL
    divergence eps - 1 + e^-eps. It is convex in eps, so a shift in several coordinates costs no more than one of the
    same L1 size. Bounded range: K(a) = ln E' e^{aL} has K(0) = K(1) = 0 and K'' <= eps^2/4, the variance on an interval
    of length eps; so K(a) <= a (a - 1) eps^2/8, and K(a) = (a - 1) D_a. This is the continuous Laplace law.

    [C8] Noise is discrete: let the sensitivity be D whole steps and h = eps/D. The losses are eps (1 - 2 j/D), and at
    each of them delta(eps') is 1 - e^{-eps j/D}, that of continuous noise; between them it is linear in t = e^eps',
    while the continuous curve 1 - sqrt(t e^-eps) is convex. The chord lies above it by at most (e^{2h} - 1)^2 t^2 / 8
    times its second derivative, that is about (h^2 / 8) sqrt(t e^-eps) = (h^2 / 8)(1 - delta(eps')), which is what an
    event of probability h^2 / 8 adds. For D = 1 the chord is all there is: randomised response. So noise on small whole
    numbers costs Approximate(eps, 0), and noise on FINE or more steps Laplace(eps), with that event's probability as
    delta.

    [C9] Let b_d(x) be the best power of a test of level x against noise that is shifted by d steps. Discrete Laplace
    noise is log-concave, so the best tests are thresholds (with a coin at the threshold), the same ones for every d.
    Read such a test first against a shift by d, then from there against one by e more: b_e(b_d(x)) = b_{d+e}(x). Now
    move a vector one coordinate at a time, by d_1, ..., d_m steps. Given the other coordinates, which keep their law, a
    step raises power p to at most b_{d_i}(p); b is concave and increasing, so this holds on average too. After the last
    step the power is at most b_{d_1 + ... + d_m}(x): that of one coordinate which moves by all the steps, to which [C8]
    applies. The same argument holds for continuous Laplace noise. Gaussian noise is the same in every direction, so for
    it only the Euclidean length of the move matters.

    [C2] The trade-off curve of N(0, 1) and N(mu, 1) is convex from (0, 1) to (1, 0) and, mu as said, passes through
    the kink (c, c), c = 1/(1 + e^eps), of randomised response: below both its segments. A bounded-range pair lies above
    a curve with one kink (x, 1 - y), logit y - logit x = eps. Phi^-1(y) - Phi^-1(x) is largest at x = 1 - y, because
    Phi^-1 o logistic is odd and concave above 0: its inverse has slope h(z) + h(-z), h the normal hazard, which is
    convex.

Source
    Bun and Steinke 2016; Dong, Durfee and Rogers 2020, Cesar and Rogers 2021 (bounded range); Dong, Roth and Su 2022;
    Kairouz, Oh and Viswanath 2015 (randomised response); Sampford 1953 (normal hazard). The proofs of the Laplace
    constant and of mu of bounded range are ours.
"""

import math
from fractions import Fraction
from typing import Final

from discreet.accounting.curve import UP, as_float
from discreet.accounting.search import smallest

FINE: Final = 2**20  # steps in the sensitivity from which discrete Laplace noise is charged as continuous


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """eps tanh(eps/2).

    >>> round(float(rho_of_pure(Fraction(1))), 6)
    0.462117
    """
    size = as_float(epsilon)
    if size < 1e-6:
        return epsilon**2 / 2
    return epsilon if size > 700 else min(epsilon, Fraction(size * math.tanh(size / 2) * UP))  # [C1]


def rho_of_laplace(epsilon: Fraction) -> Fraction:
    """eps - 1 + e^-eps; where it is small, by the alternating series cut after a positive term.

    >>> round(float(rho_of_laplace(Fraction(1))), 6)
    0.367879
    """
    size = as_float(epsilon)
    if size < 1e-3:
        return epsilon**2 / 2 - epsilon**3 / 6 + epsilon**4 / 24
    return epsilon if size > 1e9 else Fraction((size + math.expm1(-size)) * UP)  # [C1]


def gap_of_laplace(epsilon: Fraction) -> Fraction:
    """The delta by which discrete Laplace noise on a fine grid may exceed continuous noise: (eps / 2^20)^2 / 8.

    >>> float(gap_of_laplace(Fraction(1))) < 2e-13
    True
    """
    return Fraction(1) if epsilon > 1000 else Fraction(101, 800) * (epsilon / FINE) ** 2  # [C8] [C9]


def rho_of_choice(epsilon: Fraction) -> Fraction:
    """eps^2/8, exactly; for epsilon above 8, that of anything pure.

    >>> rho_of_choice(Fraction(1))
    Fraction(1, 8)
    """
    return min(epsilon**2 / 8, rho_of_pure(epsilon))  # [C1]


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
    return Fraction(8 * root * root * UP)  # [C2]


def square_of_choice(epsilon: Fraction) -> Fraction:
    """mu^2 of a bounded-range release: that of anything pure with half the epsilon.

    >>> square_of_choice(Fraction(1)) == square_of_pure(Fraction(1, 2))
    True
    """
    return square_of_pure(epsilon / 2)  # [C2]
