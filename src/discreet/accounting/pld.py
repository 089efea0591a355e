"""Privacy loss distributions, by Google's dp-accounting: the tightest numbers for a mixture inside one declared plan.

Promise
    [G1] distribution(loss).delta(epsilon) bounds the delta of a loss, its slack apart, wherever the route applies; it
         gives None where it does not: Gaussian noise and other noise together on one sample, and losses so large,
         so small or so many that the grid would be useless or the memory great. Other bounds apply there.

Why
    [G1] The worst pair of outputs of each part is known: Laplace and Gaussian noise shifted by the sensitivity (a shift
    in several coordinates is no worse than one of the same size: walk from one table to the other one coordinate at a
    time; log-concave noise makes the power of the steps compose to that of the whole); for anything else with
    (eps, delta), randomised response beside an event of probability delta. A Poisson sample mixes a pair with an
    equal one, and dp-accounting follows both directions, adding and removing. Worst pairs compose (Zhu, Dong and Wang
    2022), and losses rounded up to a grid ("pessimistic") only grow. Sums of losses are convolutions done by FFT in
    floats; their error, measured against exact curves, is 2.5e-17 for each part: GUARD covers it 40 times.
    Epsilons that are on the grid but for the rounding of floats are placed there; the curve is read a little to the
    left for it.

Source
    Koskela et al. 2020; Doroshenko et al. 2022 ("connect the dots"); dp-accounting 0.6.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, assert_never

from discreet.accounting.amplify import amplified
from discreet.accounting.convert import gap_of_laplace, rho_of_pure
from discreet.accounting.currency import pure
from discreet.accounting.curve import as_float
from discreet.promise.exact import exact
from discreet.promise.loss import Approximate, Choice, Gaussian, Laplace, Loss, Sampled, atoms

POINTS: Final = 50_000
GUARD: Final = 1e-15
MOST_PARTS: Final = 100_000
MOST_KINDS: Final = 40
SMALLEST_REACH: Final = 1e-5
LARGEST_REACH: Final = 300.0
SMALLEST_RATE: Final = 1e-6
ROUNDING: Final = 1e-12


class Kind(NamedTuple):
    """One worst pair: Laplace(size), Gaussian noise of mu^2 = size, or anything (size, delta); sampled at `rate`."""

    law: Literal["laplace", "gaussian", "anything"]
    size: Fraction
    rate: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The privacy curve of a composition, from above."""

    pld: Any
    guard: float
    shift: float

    def delta(self, epsilon: float) -> float:
        """The delta at this epsilon. [G1]"""
        here = max(0.0, epsilon * (1 - ROUNDING) - self.shift)
        return min(1.0, float(self.pld.get_delta_for_epsilon(here)) * (1 + ROUNDING) + self.guard)  # [G1]

    def epsilon(self, delta: float) -> float:
        """An epsilon at which `delta` holds, infinite if there is none."""
        for margin in (1e-8, 1e-6, 1e-4):  # dp-accounting inverts its own curve to some nine digits
            goal = (delta - self.guard) * (1 - margin)
            if goal > 0:
                found = float(self.pld.get_epsilon_for_delta(goal)) * (1 + 10 * ROUNDING) + 2 * self.shift
                if self.delta(found) <= delta:
                    return found
        return math.inf


def distribution(loss: Loss) -> Distribution | None:
    """The distribution of a loss, or None where this route does not apply. [G1]"""
    kinds = _kinds(loss)
    if not kinds or len(kinds) > MOST_KINDS or kinds.total() > MOST_PARTS:
        return None
    reach = _reach(kinds)
    if not SMALLEST_REACH < reach < LARGEST_REACH:
        return None
    grid = _grid(kinds, reach)
    whole: Any = None
    for kind, times in sorted(kinds.items()):
        part = _pair(kind, grid)
        part = part.self_compose(times) if times > 1 else part
        whole = part if whole is None else whole.compose(part)
    shift = sum(times * as_float(kind.size) for kind, times in kinds.items() if kind.law == "anything")
    gaps = sum(times * as_float(gap_of_laplace(kind.size)) for kind, times in kinds.items() if kind.law == "laplace")
    return Distribution(whole, GUARD * (kinds.total() + 100) + 2 * gaps, GUARD * shift)  # [C8]


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
        most = 10 * math.sqrt(size) + size / 2 if kind.law == "gaussian" else size
        if most > 700 or rate < SMALLEST_RATE:  # beyond what dp-accounting's floats can do
            return math.inf
        most = as_float(amplified(Fraction(most), kind.rate))
        if kind.law == "gaussian":
            square = min(size, rate**2 * math.expm1(size)) if rate < 1 else size
        else:
            square = 2 * as_float(rho_of_pure(Fraction(most)))
        peak, total, concentrated = max(peak, most), total + times * most, concentrated + times * square / 2
    return max(peak, min(total, concentrated + 12 * math.sqrt(concentrated)))


def _grid(kinds: "Counter[Kind]", reach: float) -> float:
    """A grid of about POINTS points in `reach` on which the pure epsilons, or the commonest one, lie."""
    fine = Fraction(reach) / POINTS
    sizes = [(times, kind.size) for kind, times in kinds.items() if kind.law == "anything" and kind.size]
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


def _pair(kind: Kind, grid: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as losses

    rate = float(kind.rate)
    if kind.law == "gaussian":
        return losses.from_gaussian_mechanism(
            1 / math.sqrt(as_float(kind.size) * (1 + ROUNDING)),
            value_discretization_interval=grid,
            sampling_prob=rate,
        )
    size = as_float(kind.size)
    if kind.law == "laplace":
        return losses.from_laplace_mechanism(
            1 / (size * (1 + ROUNDING)), value_discretization_interval=grid, sampling_prob=rate
        )
    steps = kind.size / Fraction(grid)
    nearest = round(steps)
    if abs(steps - nearest) <= GUARD / 4 * nearest:  # on the grid, but for rounding
        up, down = nearest, -nearest
    else:
        up, down = math.ceil(steps), -math.floor(steps)
    rest = 1 - float(kind.delta)
    masses = {up: rest / (1 + math.exp(-size))}
    masses[down] = masses.get(down, 0.0) + rest / (1 + math.exp(size))
    return losses.PrivacyLossDistribution.create_from_rounded_probability(masses, float(kind.delta), grid)
