"""How much noise an (epsilon, delta) needs, and what epsilon a given noise has: the curves of `curve`, inverted.

Promise
    [K3] gaussian(epsilon, delta, slack) is a mu at which delta_G(eps; mu) + (1 + e^eps) slack <= delta, so that
         Gaussian(mu, slack) implies (epsilon, delta); rho(epsilon, delta) is a rho whose every mechanism has them.
    [K4] epsilon_of_mu(mu, delta) and epsilon_of_rho(rho, delta) are never below the epsilon they stand for.

Why
    [K3], [K4] The curves rise in mu and rho and fall in eps. Bisection over the floats returns only a point at which
    the bound itself, [K1] or [K2], was evaluated and held, with a margin of 1e-14 for the roundings of whoever uses
    the number. Accuracy is that of the curves: ten digits.

Source
    Balle and Wang 2018 (analytic Gaussian mechanism); Canonne, Kamath and Steinke 2020 (zCDP).
"""

from typing import Final

from discreet.accounting.curve import UP, delta_of_mu, delta_of_rho
from discreet.accounting.search import largest, smallest
from discreet.errors import BadInput
from discreet.promise.exact import Number, is_number, show
from discreet.promise.loss import safe_exp

__all__ = ["delta_of_mu", "delta_of_rho", "epsilon_of_mu", "epsilon_of_rho", "gaussian", "rho"]

MARGIN: Final = 1e-14
SMALLEST_DELTA: Final = 1e-300


def gaussian(epsilon: Number, delta: Number, slack: Number = 0) -> float:
    """The largest mu, Gaussian noise of standard deviation sensitivity / mu, with this epsilon and delta. [K3]

    `slack` is the total variation by which the noise drawn is off; (1 + e^epsilon) slack of delta is kept for it.

    >>> round(gaussian(1.0, 1e-6), 4)
    0.2367
    """
    eps, room = _checked(epsilon, delta)
    if not is_number(slack) or slack < 0:
        raise BadInput(f"slack is {slack!r}; it must be a number, 0 or more")
    if slack:
        room -= (1 + safe_exp(eps)) * float(slack) * UP  # [K3]
    if room < SMALLEST_DELTA:
        raise BadInput(
            f"delta is {show(delta)}, but a slack of {show(slack)} alone costs more at epsilon {show(epsilon)}; "
            "use a finer grid, a larger delta or a smaller epsilon"
        )
    goal = room * (1 - MARGIN)
    return largest(lambda mu: delta_of_mu(eps, mu * (1 + MARGIN)) <= goal)


def rho(epsilon: Number, delta: Number) -> float:
    """The largest rho whose every zCDP mechanism has this epsilon and delta. [K3]

    >>> round(rho(1.0, 1e-6), 5)
    0.02436
    """
    eps, room = _checked(epsilon, delta)
    return largest(lambda rate: delta_of_rho(eps, rate * (1 + MARGIN)) <= room * (1 - MARGIN))


def epsilon_of_mu(mu: Number, delta: Number) -> float:
    """The epsilon of Gaussian noise of standard deviation sensitivity / mu at this delta. [K4]

    >>> round(epsilon_of_mu(0.23670, 1e-6), 3)
    1.0
    """
    size, room = _checked(mu, delta, "mu")
    return smallest(lambda eps: delta_of_mu(eps, size) <= room)


def epsilon_of_rho(rho: Number, delta: Number) -> float:
    """An epsilon that every rho-zCDP mechanism has at this delta. [K4]

    >>> round(epsilon_of_rho(0.5, 1e-6), 2)
    5.22
    """
    rate, room = _checked(rho, delta, "rho")
    return smallest(lambda eps: delta_of_rho(eps, rate) <= room)


def _checked(number: Number, delta: Number, name: str = "epsilon") -> tuple[float, float]:
    if not is_number(number) or number < 0:
        raise BadInput(f"{name} is {number!r}; it must be a finite number, 0 or more")
    if not is_number(delta) or not SMALLEST_DELTA <= delta < 1:
        raise BadInput(f"delta is {delta!r}; it must be a number from 1e-300 to below 1, for example 1e-6")
    return float(number), float(delta)
