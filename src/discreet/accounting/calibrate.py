"""The privacy curves of Gaussian noise and of zCDP, from above: the delta of an epsilon, and the noise that it needs.

Promise
    [calibrate.1] delta_of_mu(epsilon, mu) is at least delta_G(eps; mu) = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu -
         mu/2), the exact curve of Gaussian noise of standard deviation sensitivity / mu, and at most 1e-10 above it in
         ratio.
    [calibrate.2] delta_of_rho(epsilon, rho) bounds delta(eps) of every rho-zCDP mechanism: the least over a > 1 of
         e^{(a-1)(a rho - eps)} (1 - 1/a)^a / (a - 1).
    Neither is ever below 1e-305, so that no underflow reads as a pure promise.
    [calibrate.3] gaussian(epsilon, delta, slack) is a mu at which delta_G(eps; mu) + (1 + e^eps) slack <= delta, so
         that Gaussian(mu, slack) implies (epsilon, delta); rho(epsilon, delta) is a rho whose every mechanism has them.
    [calibrate.4] epsilon_of_mu(mu, delta) and epsilon_of_rho(rho, delta) are never below the epsilon they stand for.

Why
    [calibrate.1] With a = eps/mu - mu/2, b = a + mu and R = (1 - Phi)/phi, Mills' ratio: e^eps phi(b) = phi(a), so the
    curve is phi(a) (R(a) - R(b)) = phi(a) int_a^b (1 - x R(x)) dx. The integral, of a smooth positive function, has no
    cancellation for small mu; for mu > 1/2 the difference loses under two digits. The curve falls in eps, so lowering a
    by more than its rounding error errs on the safe side. R is scipy's erfcx(x / sqrt 2) sqrt(pi / 2), with a relative
    error below 2e-15, so that of 1 - x R(x) is below 1e-12 for all x up to 39 (both measured against 40 digits); UP
    covers them.

    [calibrate.2] If D_a(P || P') <= a rho then, with L the privacy loss under P, E e^{(a-1) L} <= e^{(a-1) a rho}, and
    delta(eps) = E (1 - e^{eps - L})_+ <= c E e^{(a-1)(L - eps)}, where c, the maximum over z > 0 of (1 - e^{-z})
    e^{-(a-1) z}, is (1 - 1/a)^a / (a - 1). Every a is valid; the exponent is convex in a, so bisection of its
    derivative finds the best.
    [calibrate.3], [calibrate.4] The curves rise in mu and rho and fall in eps. Bisection over the floats returns only a
    point at which the bound itself, [calibrate.1] or [calibrate.2], was evaluated and held, with a margin of 1e-14 for
    the roundings of whoever uses the number. Accuracy is that of the curves: ten digits.

Source
    [calibrate.1] Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2022. [calibrate.2] Canonne, Kamath and Steinke
    2020, Proposition 12. Balle and Wang 2018 (analytic Gaussian mechanism); Canonne, Kamath and Steinke 2020 (zCDP).
"""

import math
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.exact import Number, bisect, is_number, largest, show, smallest
from discreet.privacy.loss import safe_exp

UP: Final = 1 + 1e-11  # more than the relative error of the formulas below
FLOOR: Final = 1e-305
ROUNDING: Final = 1e-15  # several units in the last place
NODES: Final = (  # Gauss and Legendre, six points on [-1, 1]
    (0.2386191860831969, 0.4679139345726910),
    (0.6612093864662645, 0.3607615730481386),
    (0.9324695142031521, 0.1713244923791704),
)


def delta_of_mu(epsilon: Number, mu: Number) -> float:
    """The delta at which Gaussian noise of standard deviation sensitivity / mu has this epsilon. [calibrate.1]

    >>> f"{delta_of_mu(1, 0.2367044):.4e}"
    '1.0000e-06'
    """
    size = as_float(mu)
    if size == 0 or size > 1e300:
        return 0.0 if size == 0 else 1.0
    middle = as_float(epsilon) / size
    if middle > 1e300:
        return FLOOR
    a = middle - size / 2 - ROUNDING * (middle + size / 2)  # [calibrate.1]
    if a > 38:  # below FLOOR
        return FLOOR
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    if size > 0.5:
        value = math.erfc(a / math.sqrt(2)) / 2 - density * mills(a + size)
    else:
        centre, half = a + size / 2, size / 2
        points = [(centre + sign * half * node, weight) for node, weight in NODES for sign in (-1, 1)]
        value = density * half * sum(weight * (1 - x * mills(x)) for x, weight in points)
    return min(1.0, max(FLOOR, float(value) * UP))


def delta_of_rho(epsilon: Number, rho: Number) -> float:
    """A delta that every rho-zCDP mechanism has at this epsilon. [calibrate.2]

    >>> f"{delta_of_rho(1, 0.024356):.4e}"
    '1.0000e-06'
    """
    rate, eps = as_float(rho), as_float(epsilon)
    if rate == 0:
        return 0.0
    if math.inf in (rate, eps):
        return 1.0 if rate == math.inf else FLOOR

    def rises(log: float) -> bool:  # the derivative of the exponent at t = a - 1, which increases, is positive
        t = math.exp(log)
        return (1 + 2 * t) * rate - eps - math.log1p(1 / t) > 0

    ends = math.log(1e-15), math.log(min(1e300, max(1.0, (eps + 1) / (2 * rate))))
    t = math.exp(bisect(rises, *ends)[1])
    loss, gain = (1 + t) * rate, eps + math.log1p(1 / t)
    exponent = t * (loss * (1 + ROUNDING) - gain * (1 - ROUNDING)) - math.log1p(t)  # [calibrate.2]
    return min(1.0, max(FLOOR, math.exp(min(0.0, exponent)) * UP))


def mills(x: Any) -> Any:
    """(1 - Phi(x)) / phi(x) of a number or of many."""
    from scipy.special import erfcx

    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))


def as_float(number: Number) -> float:
    """The nearest float, infinite instead of an overflow."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


MARGIN: Final = 1e-14
SMALLEST_DELTA: Final = 1e-300


def gaussian(epsilon: Number, delta: Number, slack: Number = 0) -> float:
    """The largest mu, Gaussian noise of standard deviation sensitivity / mu, with this epsilon and delta. [calibrate.3]

    `slack` is the total variation by which the noise drawn is off; (1 + e^epsilon) slack of delta is kept for it.

    >>> round(gaussian(1.0, 1e-6), 4)
    0.2367
    """
    eps, room = _checked(epsilon, delta)
    if not is_number(slack) or slack < 0:
        raise BadInput(f"slack is {slack!r}; it must be a number, 0 or more")
    if slack:
        room -= (1 + safe_exp(eps)) * float(slack) * UP  # [calibrate.3]
    if room < SMALLEST_DELTA:
        raise BadInput(
            f"delta is {show(delta)}, but a slack of {show(slack)} alone costs more at epsilon {show(epsilon)}; "
            "use a finer grid, a larger delta or a smaller epsilon"
        )
    goal = room * (1 - MARGIN)
    return largest(lambda mu: delta_of_mu(eps, mu * (1 + MARGIN)) <= goal)


def rho(epsilon: Number, delta: Number) -> float:
    """The largest rho whose every zCDP mechanism has this epsilon and delta. [calibrate.3]

    >>> round(rho(1.0, 1e-6), 5)
    0.02436
    """
    eps, room = _checked(epsilon, delta)
    return largest(lambda rate: delta_of_rho(eps, rate * (1 + MARGIN)) <= room * (1 - MARGIN))


def epsilon_of_mu(mu: Number, delta: Number) -> float:
    """The epsilon of Gaussian noise of standard deviation sensitivity / mu at this delta. [calibrate.4]

    >>> round(epsilon_of_mu(0.23670, 1e-6), 3)
    1.0
    """
    size, room = _checked(mu, delta, "mu")
    return smallest(lambda eps: delta_of_mu(eps, size) <= room)


def epsilon_of_rho(rho: Number, delta: Number) -> float:
    """An epsilon that every rho-zCDP mechanism has at this delta. [calibrate.4]

    >>> round(epsilon_of_rho(0.5, 1e-6), 2)
    5.22
    """
    rate, room = _checked(rho, delta, "rho")
    return smallest(lambda eps: delta_of_rho(eps, rate) <= room)


def _checked(number: Number, delta: Number, name: str = "epsilon") -> tuple[float, float]:
    if not is_number(number) or number < 0:
        raise BadInput(f"{name} is {number!r}; it must be a finite number, 0 or more")
    if not is_number(delta) or not SMALLEST_DELTA <= delta < 1:
        seen = show(delta) if is_number(delta) else repr(delta)
        raise BadInput(f"delta is {seen}; it must be a number from 1e-300 to below 1, for example 1e-6")
    return float(number), float(delta)
