"""What a loss costs in the three currencies that add up: epsilon, rho and mu squared, each beside a delta.

Promise
    [C3] pure(loss): the sums of the parts' epsilons and deltas bound the whole. With Gaussian noise, no such pair.
    [C4] rho(loss) = (rho, delta) and mu(loss) = (mu^2, delta): off an event of probability delta, the whole is
         rho-zCDP, and mu-GDP. Sums of exact rationals; Gaussian noise costs mu^2/2 and mu^2, the others what `convert`
         says.
    [C5] A sampled loss costs no more, in any currency, than the same loss on everybody; if pure, it is amplified.
    Slack is not in these deltas: what it costs depends on the epsilon at which it is paid ([C6] of compose.py).

Why
    [C3] Basic composition. [C4] Renyi divergences add (Bun and Steinke 2016), squares of mu add (Dong, Roth and Su
    2022). An (eps, delta) pair is a mixture: with probability delta anything, else pure eps (Kairouz, Oh and
    Viswanath 2015). On the rest the same laws compose, so deltas add up beside rho or mu.
    [C5] Given the others' sample, the two outputs are mixtures, in the shares 1 - q and q, of an equal pair and of the
    pair of `loss`. Renyi divergence is jointly quasi-convex; a test of mixtures, told which pair it faces, could only
    do better. If anything may happen with probability delta, it happens to the person with q delta. Then [M1].
"""

import sys
from fractions import Fraction
from typing import assert_never

from discreet.accounting.amplify import amplified
from discreet.accounting.convert import (
    gap_of_laplace,
    rho_of_choice,
    rho_of_laplace,
    rho_of_pure,
    square_of_choice,
    square_of_pure,
)
from discreet.errors import BadInput
from discreet.promise.exact import exact, is_number
from discreet.promise.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled

Pair = tuple[Fraction, Fraction]


def pure(loss: Loss) -> Pair | None:
    """(epsilon, delta) by plain sums, None if Gaussian noise is in it. [C3]

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
            return times * amplified(found[0], rate), times * exact(rate) * found[1]  # [C5]
        case Composed(parts):
            pairs = [pure(part) for part in parts]
            known = [pair for pair in pairs if pair is not None]
            return _sum(known) if len(known) == len(pairs) else None  # [C3]
        case _:
            assert_never(loss)


def rho(loss: Loss) -> Pair:
    """(rho, delta) of zero-concentrated privacy. [C4]

    >>> [str(number) for number in rho(Composed((Gaussian(0.2), Choice(0.4), Approximate(0, 1e-7))))]
    ['1/25', '1/10000000']
    """
    match loss:
        case Gaussian(mu):
            return exact(mu) ** 2 / 2, Fraction(0)
        case Choice(epsilon):
            return rho_of_choice(exact(epsilon)), Fraction(0)
        case Laplace(epsilon):
            return rho_of_laplace(exact(epsilon)), gap_of_laplace(exact(epsilon))  # [C8] [C9]
        case Approximate(epsilon, delta):
            return rho_of_pure(exact(epsilon)), exact(delta)
        case Sampled(inner, rate, times):
            cost, delta = rho(inner)
            found = pure(inner)
            if found is not None:
                cost = min(cost, rho_of_pure(amplified(found[0], rate)))
            return times * cost, times * exact(rate) * delta  # [C5]
        case Composed(parts):
            return _sum([rho(part) for part in parts])  # [C4]
        case _:
            assert_never(loss)


def mu(loss: Loss) -> Pair:
    """(mu squared, delta) of Gaussian privacy. [C4]

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
            return times * cost, times * exact(rate) * delta  # [C5]
        case Composed(parts):
            return _sum([mu(part) for part in parts])  # [C4]
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
