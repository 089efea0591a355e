"""How much delta goes with an epsilon: the privacy curves of Gaussian noise and of zCDP, computed from above.

Promise
    [K1] delta_of_mu(epsilon, mu) is at least delta_G(eps; mu) = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2), the
         exact curve of Gaussian noise of standard deviation sensitivity / mu, and at most 1e-10 above it in ratio.
    [K2] delta_of_rho(epsilon, rho) bounds delta(eps) of every rho-zCDP mechanism: the least over a > 1 of
         e^{(a-1)(a rho - eps)} (1 - 1/a)^a / (a - 1).
    Neither is ever below 1e-305, so that no underflow reads as a pure promise.

Why
    [K1] With a = eps/mu - mu/2, b = a + mu and R = (1 - Phi)/phi, Mills' ratio: e^eps phi(b) = phi(a), so the curve is
    phi(a) (R(a) - R(b)) = phi(a) int_a^b (1 - x R(x)) dx. The integral, of a smooth positive function, has no
    cancellation for small mu; for mu > 1/2 the difference loses under two digits. The curve falls in eps, so
    lowering a by more than its rounding error errs on the safe side; the rest has relative error below 1e-12
    (measured against 50 digits), covered by UP.

    [K2] If D_a(P || P') <= a rho then, with L the privacy loss under P, E e^{(a-1) L} <= e^{(a-1) a rho}, and
    delta(eps) = E (1 - e^{eps - L})_+ <= c E e^{(a-1)(L - eps)}, where c, the maximum over z > 0 of (1 - e^{-z})
    e^{-(a-1) z}, is (1 - 1/a)^a / (a - 1). Every a is valid; the exponent is convex in a, so bisection of its
    derivative finds the best.

Source
    [K1] Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022. [K2] Canonne, Kamath and Steinke 2020, Proposition 12.
"""

import math
from typing import Final

from discreet.promise.exact import Number

UP: Final = 1 + 1e-11  # more than the relative error of the formulas below
FLOOR: Final = 1e-305
ROUNDING: Final = 1e-15  # several units in the last place
NODES: Final = (  # Gauss and Legendre, six points on [-1, 1]
    (0.2386191860831969, 0.4679139345726910),
    (0.6612093864662645, 0.3607615730481386),
    (0.9324695142031521, 0.1713244923791704),
)


def delta_of_mu(epsilon: Number, mu: Number) -> float:
    """The delta at which Gaussian noise of standard deviation sensitivity / mu has this epsilon. [K1]

    >>> f"{delta_of_mu(1, 0.2367044):.4e}"
    '1.0000e-06'
    """
    size = as_float(mu)
    if size == 0 or size > 1e300:
        return 0.0 if size == 0 else 1.0
    middle = as_float(epsilon) / size
    if middle > 1e300:
        return FLOOR
    a = middle - size / 2 - ROUNDING * (middle + size / 2)  # [K1]
    if a > 38:  # below FLOOR
        return FLOOR
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    if size > 0.5:
        value = math.erfc(a / math.sqrt(2)) / 2 - density * mills(a + size)
    else:
        centre, half = a + size / 2, size / 2
        points = [(centre + sign * half * node, weight) for node, weight in NODES for sign in (-1, 1)]
        value = density * half * sum(weight * (1 - x * mills(x)) for x, weight in points)
    return min(1.0, max(FLOOR, value * UP))


def delta_of_rho(epsilon: Number, rho: Number) -> float:
    """A delta that every rho-zCDP mechanism has at this epsilon. [K2]

    >>> f"{delta_of_rho(1, 0.024356):.4e}"
    '1.0000e-06'
    """
    rate, eps = as_float(rho), as_float(epsilon)
    if rate == 0:
        return 0.0
    if math.inf in (rate, eps):
        return 1.0 if rate == math.inf else FLOOR
    # t = a - 1; the derivative of the exponent is (1 + 2 t) rho - eps - ln(1 + 1/t), which increases
    low, high = math.log(1e-15), math.log(min(1e300, max(1.0, (eps + 1) / (2 * rate))))
    for _ in range(60):
        middle = (low + high) / 2
        t = math.exp(middle)
        if (1 + 2 * t) * rate - eps - math.log1p(1 / t) > 0:
            high = middle
        else:
            low = middle
    t = math.exp(high)
    loss, gain = (1 + t) * rate, eps + math.log1p(1 / t)
    exponent = t * (loss * (1 + ROUNDING) - gain * (1 - ROUNDING)) - math.log1p(t)  # [K2]
    return min(1.0, max(FLOOR, math.exp(min(0.0, exponent)) * UP))


def mills(x: float) -> float:
    """(1 - Phi(x)) / phi(x), for x above -5: from erfc, and by the continued fraction where that underflows."""
    if x < 5:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))
    ratio = x
    for k in range(80, 0, -1):
        ratio = x + k / ratio
    return 1 / ratio


def as_float(number: Number) -> float:
    """The nearest float, infinite instead of an overflow."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
