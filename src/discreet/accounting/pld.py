"""Privacy loss distributions: the tightest numbers for a mixture inside one declared plan.

Promise
    [pld.1] distribution(loss).delta(epsilon) bounds the delta of a loss, its slack apart, wherever the route applies;
         it gives None where it does not: Gaussian noise and other noise together on one sample, and losses so large, so
         small or so many that the grid would be useless or the memory great. Other bounds apply there.

Why
    [pld.1] The worst pair of outputs of each part is known: Laplace and Gaussian noise shifted by the sensitivity (a
    shift in several coordinates is no worse than one of the same size: [currency.4]); for anything else with (eps,
    delta), randomised response beside an event of probability delta. Its curve at t = e^eps is h(t): [calibrate.1] for
    Gaussian noise; for Laplace noise 1 - e^{(eps - size)/2}, and [currency.3]. A Poisson sample mixes P with P' in the
    shares q and 1 - q. Removing: qP + (1 - q)P' - tP' = q (P - ((t - 1 + q)/q) P'), so the curve is q h((t - 1 + q)/q).
    Adding: P' - t qP - t (1 - q)P' = r (P' - (t q / r) P), r = 1 - t (1 - q), so it is r h(t q / r), 0 where r <= 0.
    Worst pairs compose (Zhu, Dong and Wang 2022), each direction by itself. They are placed on a grid by [loss_sums.1],
    summed by [loss_sums.2], both from above. Randomised response has two losses; each is split between the two points
    of the grid beside it so that the mass and the mass times e^-l stay: a chord of [loss_sums.1]. Curves are evaluated
    at a size larger, and a loss smaller, by more than their rounding.

Source
    Koskela et al. 2020; Doroshenko et al. 2022 ("connect the dots"); Zhu, Dong and Wang 2022.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, assert_never

from discreet.accounting.calibrate import NODES, UP, as_float, mills
from discreet.accounting.currency import amplified, gap_of_laplace, pure, rho_of_pure
from discreet.privacy.exact import exact
from discreet.privacy.loss import Approximate, Choice, Gaussian, Laplace, Loss, Sampled, atoms

if TYPE_CHECKING:
    from discreet.accounting.loss_sums import Curve, Floats, Part, Sum

POINTS: Final = 30_000
MOST_PARTS: Final = 100_000
MOST_KINDS: Final = 40
SMALLEST_REACH: Final = 1e-5
LARGEST_REACH: Final = 300.0
SMALLEST_RATE: Final = 1e-6
ROUNDING: Final = 1e-12
SMALLEST: Final = 1e-300  # mu^2 of Gaussian noise
TRIES: Final = 8
FAR: Final = 12.0  # standard deviations after which Gaussian losses are lost


class Kind(NamedTuple):
    """One worst pair: Laplace(size), Gaussian noise of mu^2 = size, or anything (size, delta); sampled at `rate`."""

    noise: Literal["laplace", "gaussian", "anything"]
    size: Fraction
    rate: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class LossDistribution:
    """The privacy curve of a composition, from above: the worse of removing and adding, where they differ."""

    ways: "tuple[Sum, ...]"

    def delta(self, epsilon: float) -> float:
        """The delta at this epsilon. [pld.1]"""
        return max(way.delta(epsilon) for way in self.ways)  # [pld.1]

    def epsilon(self, delta: float) -> float:
        """An epsilon at which `delta` holds, infinite if none is found."""
        goal = delta
        for _ in range(TRIES):  # about what is sought, and then nearer to it from the safe side
            found = max(way.near(goal) for way in self.ways) if goal > 0 else math.inf
            if found == math.inf:
                break
            seen = self.delta(max(0.0, found))
            if seen <= delta:
                return max(0.0, found)
            goal *= delta / seen * (1 - ROUNDING)
        return math.inf


def distribution(loss: Loss) -> LossDistribution | None:
    """The distribution of a loss, or None where this route does not apply. [pld.1]"""
    kinds = _kinds(loss)
    if not kinds or len(kinds) > MOST_KINDS or kinds.total() > MOST_PARTS:
        return None
    if any(float(kind.delta) == 1 or (kind.noise == "gaussian" and as_float(kind.size) < SMALLEST) for kind in kinds):
        return None  # nothing that floats could hold
    reach = _reach(kinds)
    return _built(tuple(sorted(kinds.items())), reach) if SMALLEST_REACH < reach < LARGEST_REACH else None


@lru_cache(maxsize=4)  # by exact rationals: losses that are equal as floats may be written differently
def _built(kinds: tuple[tuple[Kind, int], ...], reach: float) -> LossDistribution:
    from discreet.accounting.loss_sums import Sum

    grid = _grid(Counter(dict(kinds)), reach)
    ways = (False, True) if any(kind.rate < 1 for kind, _ in kinds) else (False,)
    parts = [[_part(kind, grid, adding)._replace(times=times) for kind, times in kinds] for adding in ways]
    return LossDistribution(tuple(Sum(each, grid, reach) for each in parts))


def _kinds(loss: Loss) -> "Counter[Kind] | None":
    """How often each worst pair occurs; None if one of the parts has none that is known."""
    kinds: Counter[Kind] = Counter()
    square = Fraction(0)
    for part in atoms(loss):
        match part:
            case Gaussian(mu):
                square += exact(mu) ** 2  # squares add up: one Gaussian for all
            case Laplace(epsilon):
                kinds[Kind("laplace", exact(epsilon))] += 1
            case Sampled(inner, rate, times):
                kind = _sampled(inner, exact(rate))
                if kind is None:
                    return None
                kinds[kind] += times
            case Choice(epsilon):
                kinds[Kind("anything", exact(epsilon))] += 1
            case Approximate(epsilon, delta):
                kinds[Kind("anything", exact(epsilon), delta=exact(delta))] += 1
            case _:
                assert_never(part)
    if square:
        kinds[Kind("gaussian", square)] += 1
    return kinds


def _sampled(inner: Loss, rate: Fraction) -> Kind | None:
    parts = atoms(inner)
    if all(isinstance(part, Gaussian) for part in parts):
        square = sum((exact(part.mu) ** 2 for part in parts if isinstance(part, Gaussian)), Fraction(0))
        return Kind("gaussian", square, rate)
    if len(parts) == 1 and isinstance(parts[0], Laplace):
        return Kind("laplace", exact(parts[0].epsilon), rate)
    known = pure(inner)
    return known and Kind("anything", amplified(known[0], rate), delta=rate * known[1])


def _reach(kinds: "Counter[Kind]") -> float:
    """About how large the total loss can get: decides the grid, not the validity."""
    peak = total = concentrated = 0.0
    for kind, times in kinds.items():
        size, rate = as_float(kind.size), float(kind.rate)
        most = 10 * math.sqrt(size) + size / 2 if kind.noise == "gaussian" else size
        if most > 700 or rate < SMALLEST_RATE:  # beyond what dp-accounting's floats can do
            return math.inf
        most = as_float(amplified(Fraction(most), kind.rate))
        if kind.noise == "gaussian":
            square = min(size, rate**2 * math.expm1(size)) if rate < 1 else size
        else:
            square = 2 * as_float(rho_of_pure(Fraction(most)))
        peak, total, concentrated = max(peak, most), total + times * most, concentrated + times * square / 2
    return max(peak, min(total, concentrated + 12 * math.sqrt(concentrated)))


def _grid(kinds: "Counter[Kind]", reach: float) -> float:
    """A grid of about POINTS points in `reach` on which the pure epsilons, or the commonest one, lie."""
    fine = Fraction(reach) / POINTS
    sizes = [(times, kind.size) for kind, times in kinds.items() if kind.noise == "anything" and kind.size]
    if not sizes:
        return float(fine)
    unit = _common(size for _, size in sizes)
    if unit < fine / 20:
        unit = max(fine, max(sizes)[1])
    return float(unit / math.ceil(unit / fine))


def _common(sizes: Iterable[Fraction]) -> Fraction:
    """The greatest number of which all are multiples."""
    unit = Fraction(0)
    for size in sizes:
        numerator = math.gcd(unit.numerator * size.denominator, size.numerator * unit.denominator)
        unit = Fraction(numerator, unit.denominator * size.denominator)
    return unit


def _part(kind: Kind, grid: float, adding: bool) -> "Part":
    """The worst pair on the grid; of a sample, the one that adds a person or the one that removes them. [pld.1]"""
    from discreet.accounting.loss_sums import dots

    if kind.noise == "anything":
        return _response(kind, grid)
    size, rate = as_float(kind.size) * (1 + ROUNDING), float(kind.rate)
    curve = _gaussian(math.sqrt(size)) if kind.noise == "gaussian" else _laplace(size, float(gap_of_laplace(kind.size)))
    top = size / 2 + FAR * math.sqrt(size) if kind.noise == "gaussian" else size
    if rate == 1:
        high = math.ceil(top / grid)
        return dots(curve, curve, grid, -high, high)
    removed, added = _sampled_curves(curve, rate, float(1 - kind.rate))
    up, down = as_float(amplified(Fraction(top), kind.rate)), -math.log1p(-rate * -math.expm1(-top))
    high, low = math.ceil(up / grid) + 1, math.ceil(down / grid) + 1
    return dots(added, removed, grid, -high, low) if adding else dots(removed, added, grid, -low, high)


def _sampled_curves(curve: "Curve", rate: float, absent: float) -> "tuple[Curve, Curve]":
    """The curves of removing and of adding a person who is in the sample with this probability. [pld.1]"""
    import numpy as np

    def removed(losses: "Floats") -> "Floats":
        return rate * curve(np.log1p(np.expm1(losses) / rate) * (1 - ROUNDING)) * (1 + ROUNDING)  # [pld.1]

    def added(losses: "Floats") -> "Floats":
        rest = rate - absent * np.expm1(losses) + rate * ROUNDING
        open_ = np.maximum(rest, rate * ROUNDING)
        turned = np.maximum(0.0, losses + np.log(rate / open_)) * (1 - ROUNDING)
        return np.where(rest > 0, open_ * curve(turned), 0.0) * (1 + ROUNDING)  # [pld.1]

    return removed, added


def _laplace(size: float, gap: float) -> "Curve":
    """The curve of Laplace noise, with what its grid adds. [currency.3]"""
    import numpy as np

    def curve(losses: "Floats") -> "Floats":
        smooth = -np.expm1(np.minimum(0.0, losses - size) / 2)
        return np.where(losses < size, smooth + gap * (1 - smooth), 0.0) * (1 + ROUNDING)  # [currency.3] [currency.4]

    return curve


def _gaussian(mu: float) -> "Curve":
    """delta_of_mu, for many losses at once. [calibrate.1]"""
    import numpy as np

    def curve(losses: "Floats") -> "Floats":
        middle = losses / mu
        a = middle - mu / 2 - 1e-15 * (middle + mu / 2)
        density = np.exp(-a * a / 2) / math.sqrt(2 * math.pi)
        if mu > 0.5:
            value = density * (mills(a) - mills(a + mu))
        else:
            points = [(a + mu / 2 * (1 + sign * node), weight) for node, weight in NODES for sign in (-1, 1)]
            value = density * mu / 2 * sum(weight * (1 - x * mills(x)) for x, weight in points)
        return np.asarray(np.minimum(1.0, value * UP))  # [calibrate.1]

    return curve


def _response(kind: Kind, grid: float) -> "Part":
    """Randomised response, each of its two losses between two points of the grid, and what is lost. [pld.1]"""
    import numpy as np

    from discreet.accounting.loss_sums import Part

    size, steps = as_float(kind.size), kind.size / Fraction(grid)
    low = math.floor(steps)
    over, under = (float(part) * grid for part in (steps - low, low + 1 - steps))  # to the points beside the size
    right = (1 - float(kind.delta)) * (1 + ROUNDING)
    masses = np.zeros(2 * low + 3)
    for place, mass, below, above in (
        (2 * low + 1, right / (1 + math.exp(-size)), over, under),
        (0, right / (1 + math.exp(size)), under, over),
    ):
        masses[place] += mass * math.expm1(above) / math.expm1(grid)  # [pld.1]
        masses[place + 1] += mass * math.expm1(-below) / math.expm1(-grid)  # [pld.1]
    return Part(-low - 1, masses, float(kind.delta) * (1 + ROUNDING))
