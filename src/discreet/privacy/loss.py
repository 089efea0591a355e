"""What a release costs. A closed set of values: every use is a `match` that the type checker proves complete.

A loss is normalised by sensitivity, so the neighbour relation enters once, through the sensitivity of the
statistic, and never again. Parameters are taken as the rationals they were written as (`promise.exact`).

What each one says about the outputs P and P' on two neighbouring tables, for every event E and every eps' >= 0:

    Laplace(epsilon)            pure epsilon, and the curve of Laplace noise of scale sensitivity / epsilon on a grid of
                                at least 2^20 steps in the sensitivity; on coarser grids (counts) the curve is worse,
                                and the loss is Approximate(epsilon, 0)
    Gaussian(mu, slack)         P(E) <= e^eps' P'(E) + delta_G(eps'; mu) + (1 + e^eps') slack
    Choice(epsilon)             pure epsilon and bounded range: log P/P' spans an interval of length epsilon
    Approximate(epsilon, delta) P(E) <= e^epsilon P'(E) + delta; delta = 0 is any pure mechanism
    Sampled(loss, rate, times)  `times` runs of `loss`, each on a fresh secret Poisson sample of the people
    Composed(parts)             all the parts, adaptively, their costs fixed before the first

`slack` is the total variation distance between the noise drawn and exact Gaussian noise rounded to the grid
([additive.5]). It is paid on both sides, hence (1 + e^eps'), and once however many people are in a group.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import atanh, erf, exp, expm1, sqrt
from typing import Final, assert_never

from discreet.errors import BadInput
from discreet.privacy.exact import Number, exact, is_number, show

NEAR_ONE: Final = 1 - 1e-12


def _require(condition: bool, what: str, seen: object, needed: str) -> None:
    if not condition:
        raise BadInput(f"{what} is {seen!r}; it must be {needed}")


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise of scale sensitivity / epsilon."""

    epsilon: Number

    def __post_init__(self) -> None:
        _require(is_number(self.epsilon) and self.epsilon > 0, "epsilon", self.epsilon, "a finite number above 0")


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Gaussian noise of standard deviation sensitivity / mu, up to total variation `slack`; rho = mu^2 / 2."""

    mu: Number
    slack: Number = 0

    def __post_init__(self) -> None:
        _require(is_number(self.mu) and self.mu > 0, "mu", self.mu, "a finite number above 0")
        _require(is_number(self.slack) and 0 <= self.slack < 1, "slack", self.slack, "in [0, 1)")


@dataclass(frozen=True, slots=True)
class Choice:
    """The exponential mechanism with weights exp(-epsilon score / (2 sensitivity))."""

    epsilon: Number

    def __post_init__(self) -> None:
        _require(is_number(self.epsilon) and self.epsilon > 0, "epsilon", self.epsilon, "a finite number above 0")


@dataclass(frozen=True, slots=True)
class Approximate:
    """Any (epsilon, delta) mechanism; Approximate(0, d) is an event of probability d at which all may be lost."""

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        _require(
            is_number(self.epsilon) and self.epsilon >= 0,
            "epsilon",
            self.epsilon,
            "a finite number, 0 or more",
        )
        _require(is_number(self.delta) and 0 <= self.delta <= 1, "delta", self.delta, "in [0, 1]")


@dataclass(frozen=True, slots=True)
class Sampled:
    """A loss met `times` times on secret Poisson samples: each person is in with probability `rate`.

    The neighbours are ADD_OR_REMOVE: a Poisson sample hides one person's presence.
    """

    loss: "Loss"
    rate: Number
    times: int = 1

    def __post_init__(self) -> None:
        _require(is_number(self.rate) and 0 < self.rate <= 1, "rate", self.rate, "in (0, 1]")
        _require(isinstance(self.times, int) and self.times >= 1, "times", self.times, "a whole number, 1 or more")


@dataclass(frozen=True, slots=True)
class Composed:
    """Several losses, all fixed before the first answer is seen."""

    parts: tuple["Loss", ...]


Loss = Laplace | Gaussian | Choice | Approximate | Sampled | Composed


def compose(*losses: Loss) -> Loss:
    """One loss for all of them: nested compositions flattened, a single part left as it is.

    >>> compose(Laplace(1), compose(Choice(2), Gaussian(3)))
    Composed(parts=(Laplace(epsilon=1), Choice(epsilon=2), Gaussian(mu=3, slack=0)))
    """
    parts: list[Loss] = []
    for loss in losses:
        parts += loss.parts if isinstance(loss, Composed) else (loss,)
    return parts[0] if len(parts) == 1 else Composed(tuple(parts))


def atoms(loss: Loss) -> tuple[Laplace | Gaussian | Choice | Approximate | Sampled, ...]:
    """The parts that are not compositions, in order."""
    if isinstance(loss, Composed):
        return tuple(atom for part in loss.parts for atom in atoms(part))
    return (loss,)


def group_delta(epsilon: Number, delta: Number, size: int) -> float:
    """The delta that goes with size * epsilon for a group of `size` people: delta (e^{k eps} - 1)/(e^eps - 1).

    >>> group_delta(0, 1e-6, 3)
    3e-06
    """
    if not delta or size == 1:
        return float(delta)
    if not epsilon:
        return min(1.0, float(size * exact(delta)))
    small, power = float(epsilon), size * float(epsilon)
    if power > 700:  # beyond the floats, and beyond any promise
        return 1.0
    return min(1.0, float(delta) * expm1(power) / expm1(small) * (1 + 1e-12))  # above the rounding of the floats


def delta_of_one(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A delta that comes to no more than `delta` for two people, at half of epsilon each."""
    if not delta:
        return delta
    weight = Fraction(group_delta(float(epsilon / 2), 1e-300, 2)) / Fraction(1e-300)
    return exact(float(delta / weight * Fraction(999_999, 1_000_000)))


def alongside(loss: Loss) -> float:
    """The epsilon of a pure mechanism that costs no more than some one part of a loss; 0 where none is known.

    The trade-off curve of any pure mechanism lies on or above two straight lines, from (0, 1) to (c, c) and on to
    (1, 0), c = 1 / (1 + e^epsilon). A convex and symmetric curve of total variation t, from at most 1 at 0, has the
    point ((1 - t) / 2, (1 - t) / 2), so it lies below them if (1 - t) / 2 <= c, that is t >= tanh(epsilon / 2).

    >>> round(alongside(Composed((Gaussian(0.5), Laplace(0.2)))), 3)
    0.4
    """
    found = [0.0]
    for atom in atoms(loss):
        match atom:
            case Approximate(epsilon, _):
                found.append(float(epsilon))
            case Choice(epsilon):  # from -epsilon / 2 to epsilon / 2
                found.append(float(epsilon) / 2)
            case Laplace(epsilon):
                found.append(2 * atanh(min(-expm1(-float(epsilon) / 2), NEAR_ONE)))
            case Gaussian(mu):
                found.append(2 * atanh(min(erf(float(mu) / sqrt(8)), NEAR_ONE)))
            case Sampled():
                pass
            case _:
                assert_never(atom)
    return max(found) * NEAR_ONE  # below the rounding of the floats


def for_group(loss: Loss, size: int) -> Loss:
    """What the same release costs a group of `size` people who change together.

    Laplace, Gaussian and bounded-range losses scale with the distance (k epsilon, k mu, k epsilon);
    (epsilon, delta) by the group formula. For a Poisson sample, with probability (1 - rate)^k nobody of the
    group is in, and otherwise at most k are, so the loss is a sample of the group's loss at rate 1 - (1 - rate)^k.
    """
    _require(isinstance(size, int) and size >= 1, "group size", size, "a whole number, 1 or more")
    match loss:
        case Laplace(epsilon):
            return Laplace(size * exact(epsilon))
        case Gaussian(mu, slack):
            return Gaussian(size * exact(mu), slack)
        case Choice(epsilon):
            return Choice(size * exact(epsilon))
        case Approximate(epsilon, delta):
            return Approximate(size * exact(epsilon), group_delta(epsilon, delta, size))
        case Sampled(inner, rate, times):
            return Sampled(for_group(inner, size), 1 - (1 - exact(rate)) ** size, times)
        case Composed(parts):
            return Composed(tuple(for_group(part, size) for part in parts))
        case _:
            assert_never(loss)


def in_words(loss: Loss) -> str:
    """A loss in a few words, for ledgers and error messages."""
    match loss:
        case Laplace(epsilon):
            return f"Laplace noise, epsilon {show(epsilon)}"
        case Gaussian(mu):
            return f"Gaussian noise, mu {show(mu)}"
        case Choice(epsilon):
            return f"a private choice, epsilon {show(epsilon)}"
        case Approximate(epsilon, delta):
            return f"epsilon {show(epsilon)}, delta {show(delta)}"
        case Sampled(inner, rate, times):
            return f"{times} x ({in_words(inner)}) on samples of rate {show(rate)}"
        case Composed(parts):
            return " + ".join(in_words(part) for part in parts) or "nothing"
        case _:
            assert_never(loss)


def total(numbers: "tuple[Number, ...] | list[Number]") -> Fraction:
    """The exact sum."""
    return reduce(lambda running, number: running + exact(number), numbers, Fraction(0))


def safe_exp(number: float) -> float:
    """e^number, infinite instead of an overflow."""
    return exp(number) if number < 709 else float("inf")
