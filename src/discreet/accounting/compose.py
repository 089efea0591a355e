"""Numbers out of losses, for one declared plan: all costs are fixed before the first answer is seen.

Promise
    [compose.1] epsilon(loss, delta) and delta(loss, epsilon) are upper bounds: the least of all that apply. They are
         for people and for plans. Where the next cost depends on past answers, use accounting/filter.py.
    [compose.2] implies(loss, guarantee) is True only if every mechanism of this loss keeps the guarantee. Sums are
         compared as exact rationals, so ten times 0.1 is 1, and what `calibrate` returns passes, without a tolerance.

Why
    [compose.1] Each bound is a curve delta(eps). (a) Sums: E and D of the parts without Gaussian noise, and the exact
    curve of all Gaussian noise together at eps - E, plus D: basic composition of two; and the same with E and D of
    what is no more than (E, D), the rest by its mu as in (c). (b) [calibrate.2] at the rho and
    (c) [calibrate.1] at the mu of [currency.6]; (c) is exact if all parts are Gaussian. (d) Privacy loss distributions
    [pld.1]. (e) `times` runs on Poisson samples: each has (eps / times, q delta') with delta' of the inner loss at ln(1
    + (e^{eps/times} - 1)/q), by [currency.8]. Slack S: replace each Gaussian draw by an exact one; the distribution of
    all answers moves by at most S in total variation, on either table: P(E) <= P*(E) + S <= e^eps P*'(E) + delta*(eps)
    + S <= e^eps P'(E) + delta*(eps) + (1 + e^eps) S. A promise at a smaller epsilon is one at a larger, so slack may be
    paid at any epsilon below, never above: an epsilon is accepted only where the curve and the slack as it costs there
    are within delta. In (a) the Gaussian draws pay for their slack at eps - E, before the other parts are composed with
    them.
    [compose.2] The bounds themselves, evaluated at the guarantee's epsilon and compared with its delta.

Source
    Dwork et al. 2006; Bun and Steinke 2016; Dong, Roth and Su 2022; and those named in the modules cited.
"""

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from discreet.accounting.calibrate import as_float, delta_of_mu, delta_of_rho
from discreet.accounting.currency import checked, keeps, mu, pure, rho, slack
from discreet.accounting.pld import distribution
from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, is_number, smallest
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Approximate, Composed, Gaussian, Loss, Sampled, atoms, safe_exp

__all__ = ["delta", "epsilon", "implies", "mu", "pure", "rho", "slack"]

Curve = tuple[Callable[[float], float], float]  # and the epsilon that is added after slack is paid
ROUNDING: Final = 1e-15
TINY: Final = sys.float_info.min
SHARES: Final = (0.5, 0.9)  # of delta that slack may take: more only if half is too little


def epsilon(loss: Loss, delta: Number) -> float:
    """The epsilon of a loss at this delta, from above; infinite if there is none. [compose.1]

    >>> from discreet.privacy.loss import Laplace
    >>> epsilon(Composed((Laplace(0.1),) * 10), 0)
    1.0
    >>> round(epsilon(Composed((Gaussian(0.1),) * 4), 1e-6), 3)
    0.834
    """
    checked(loss)
    if not is_number(delta) or not 0 <= delta <= 1:
        raise BadInput(f"delta is {delta!r}; it must be a number in [0, 1]")
    if delta == 1:
        return 0.0
    sums = pure(loss)
    best = as_written(sums[0]) if sums is not None and sums[1] <= exact(delta) else math.inf
    if not delta:
        return best
    room, off = -as_written(-exact(delta)), slack(loss)
    curves = list(_curves(loss))
    losses = None if _only_gaussian(loss) else distribution(loss)
    for share in SHARES:
        # beyond `top`, slack would take more than this share of delta
        top = math.log(max(1.0, room * share / _float_up(off) - 1)) if off else sys.float_info.max
        for curve in curves:
            high = min(best, top + curve[1], sys.float_info.max)
            best = min(best, smallest(lambda eps, at=curve: _with_slack(at, eps, off) <= room, high))  # type: ignore[misc]
        for _ in range(2 if off else 1):  # slack is kept for a larger epsilon than is found: once more, for less
            if losses is not None:
                found = losses.epsilon(room - _paid(min(best, top), off))
                # [compose.1]: as slack costs there
                if found < best and _with_slack((losses.delta, 0.0), found, off) <= room:
                    best = found
        if best <= top:
            break
    return best


def delta(loss: Loss, epsilon: Number) -> float:
    """The delta of a loss at this epsilon, from above. [compose.1]

    >>> f"{delta(Composed((Gaussian(0.2), Gaussian(0.1), Gaussian(0.05), Gaussian(0.04))), 1.0):.4e}"
    '6.9334e-07'
    """
    checked(loss)
    if not is_number(epsilon) or epsilon < 0:
        raise BadInput(f"epsilon is {epsilon!r}; it must be a finite number, 0 or more")
    return min(_bounds(loss, epsilon))


def implies(loss: Loss, guarantee: Guarantee) -> bool:
    """Whether the loss keeps the guarantee. [compose.2]

    >>> from discreet.privacy.loss import Laplace
    >>> implies(Composed((Laplace(0.1),) * 10), Guarantee(1.0)), implies(Laplace(1.01), Guarantee(1.0))
    (True, False)
    """
    keeps(checked(loss), guarantee.neighbours)
    sums = pure(loss)
    if sums is not None and sums[0] <= exact(guarantee.epsilon) and sums[1] <= exact(guarantee.delta):  # [compose.2]
        return True
    if not guarantee.delta:  # nothing but a sum is pure
        return False
    return any(bound <= guarantee.delta for bound in _bounds(loss, guarantee.epsilon))  # [compose.2]


def _bounds(loss: Loss, epsilon: Number) -> Iterator[float]:
    """Bounds on delta, the cheap ones first."""
    yield 1.0
    sums = pure(loss)
    if sums is not None and sums[0] <= exact(epsilon):
        yield min(1.0, as_written(sums[1]))
        return
    here, off = -as_written(-exact(epsilon)), slack(loss)
    cheaper = []
    if off:  # slack paid at smaller epsilons, where it costs a tenth, a hundredth, ...
        cheaper = [math.log(10.0**-k / _float_up(off)) for k in range(1, 19) if 10.0**-k > _float_up(off)]
    for curve in _all_curves(loss):
        for place in (here, *(place + curve[1] for place in cheaper if place + curve[1] < here)):
            bound = _with_slack(curve, place, off)
            yield bound
            if _paid(place - curve[1], off) < bound / 100:  # less slack would not help any more
                break


def _all_curves(loss: Loss) -> Iterator[Curve]:
    """The closed curves, and then the one that takes longer."""
    yield from _curves(loss)
    losses = None if _only_gaussian(loss) else distribution(loss)
    if losses is not None:
        yield losses.delta, 0.0


def _curves(loss: Loss) -> Iterator[Curve]:
    """Closed curves from above, slack apart. [compose.1]"""
    parts = atoms(loss)
    square = sum((exact(part.mu) ** 2 for part in parts if isinstance(part, Gaussian)), Fraction(0))
    sums = pure(Composed(tuple(part for part in parts if not isinstance(part, Gaussian))))
    if sums is not None:
        size, rest, extra = _root_up(square), sums[0], _float_up(sums[1])
        yield (
            lambda eps: extra + delta_of_mu(exact(eps) - rest, size) if exact(eps) >= rest else 1.0,
            -as_written(-rest),
        )
    plain = tuple(part for part in parts if isinstance(part, Approximate))
    if plain and len(plain) < len(parts):
        added, lost = pure(Composed(plain)) or (Fraction(0), Fraction(0))
        others, more = mu(Composed(tuple(part for part in parts if not isinstance(part, Approximate))))
        yield (
            lambda eps: (
                _float_up(lost + more) + delta_of_mu(exact(eps) - added, _root_up(others))
                if exact(eps) >= added
                else 1.0
            ),
            -as_written(-added),
        )
    if _only_gaussian(loss):  # exact already
        return
    cost, more = rho(loss)
    yield lambda eps: _float_up(more) + delta_of_rho(eps, _float_up(cost)), 0.0
    total, most = mu(loss)
    yield lambda eps: _float_up(most) + delta_of_mu(eps, _root_up(total)), 0.0
    if len(parts) == 1 and isinstance(sample := parts[0], Sampled):
        rate, times = float(sample.rate), sample.times
        inner = [curve for curve, _ in _curves(sample.loss)]

        def amplified(eps: float) -> float:
            each = eps / times * (1 - ROUNDING)
            if each > 700:
                return 1.0
            whole = math.log1p(math.expm1(each) / rate) * (1 - ROUNDING)
            return times * rate * min(curve(whole) for curve in inner)  # [currency.8]

        yield amplified, 0.0


def _with_slack(curve: Curve, epsilon: float, off: Fraction) -> float:
    """The curve, and the slack as it costs at this epsilon. [compose.1]"""
    bare, rest = curve
    there = epsilon - rest + ROUNDING * (epsilon + rest)
    return min(1.0, (bare(epsilon) + _paid(there, off)) * (1 + 4 * ROUNDING))


def _paid(epsilon: float, off: Fraction) -> float:
    """What slack costs at this epsilon. [compose.1]"""
    return (1 + safe_exp(epsilon)) * _float_up(off) if off else 0.0  # [compose.1]


def _only_gaussian(loss: Loss) -> bool:
    """Gaussian noise, and events at which all may be lost: the closed curve is exact."""
    return all(isinstance(part, Gaussian) or getattr(part, "epsilon", 1) == 0 for part in atoms(loss))


def as_written(number: Fraction) -> float:
    """The least float that, as it is written, is not below `number`.

    >>> as_written(Fraction(3, 10))
    0.3
    """
    nearest = as_float(number)
    if nearest == math.inf or exact(nearest) >= number:
        return nearest
    return math.nextafter(nearest, math.inf)


def _float_up(number: Fraction) -> float:
    """A float above `number`, by a rounding; above 0 if that is."""
    return max(as_float(number) * (1 + ROUNDING), TINY) if number else 0.0


def _root_up(square: Fraction) -> float:
    """A float above the root, by a rounding."""
    return math.sqrt(_float_up(square)) * (1 + ROUNDING)
