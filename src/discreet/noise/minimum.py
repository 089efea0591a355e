"""The minimum of a convex objective that was tilted by chance: pure, though no minimum is ever found exactly.

Promise
    [NM1] An objective is a sum over people of convex functions of w'x_i, each person's gradient at most `steepness` / 2
          long under REPLACE (`steepness` under ADD_OR_REMOVE) and each second derivative a matrix of rank one no larger
          than `curvature`. The minimum of objective + (ridge / 2) |w|^2 + b'w, found to a verified gradient of at most
          gamma, leaves with noise as pure epsilon; and it is found, whatever the rows, as gamma is what the objective
          can reach with any of them.
    [NM2] b is drawn from the integers times a step by a law within a factor e^+-XI, point by point, of the law with
          density ~ exp(-beta |b|) rounded to that grid.
Why
    [NM1] Let b have density ~ exp(-beta |b|) and w be the exact minimum. Given the people, b = -(gradient at w) - ridge
    w is a differentiable bijection with the Jacobian J = H(w) + ridge I. So w has the density exp(-beta |b(w)|) det J.
    A neighbour's b(w) is within `steepness` of it: a factor e^(beta steepness). Both Jacobians are a common A >= ridge
    I plus at most one matrix of rank one each, a x x' with 0 <= a |x|^2 <= curvature: det(A + a x x') / det A is in
    [1, 1 + curvature / ridge], so their ratio is at most 1 + curvature / ridge. The exact minimum is pure epsilon_1 =
    beta steepness + ln(1 + curvature / ridge).
    What was found lies within tau = (gamma + |b error|) / ridge of that exact minimum w, as a gradient is at least
    ridge times the distance from the minimum, and b on the grid is within half a diagonal of the ideal b. Given w,
    what is published is a discrete Laplace vector about a point within tau of w: moving all points to w itself and
    back on the neighbour changes each probability by at most e^(epsilon_2), epsilon_2 for a distance of 2 tau.
    So the law on a table is within e^(epsilon_2 + epsilon_1) of that on a neighbour, and with [NM2] 2 XI more.
    Gamma is a public number, GAMMA or larger: [GM3] of models/tilted.py. It is checked in floating point with the
    objective's own bound on the rounding of its gradient. A point is the sum of two floats, a large and a small one:
    with one float, next to a long flat valley the nearest point could be too far from the minimum for ever.
    [NM2] Over a cell of side h, exp(-beta |b|) varies by e^+-(beta h sqrt(d) / 2) from its value at the centre, and so
    does the normaliser. The law ~ exp(-beta h |k|) on the integers is drawn by rejection from independent discrete
    Laplace draws of scale B >= sqrt(d) / (beta h): |k|_1 / B <= beta h |k|, and the difference is the rate at which k
    is rejected. The root in it is rounded up by at most 2^-40. Beta h is 2^-40.
Accuracy
    |b| has the law Gamma(d, 1 / beta), the direction is uniform. The second noise is some 1e-4 in w for ridge about 2.
Source
    Chaudhuri, Monteleoni and Sarwate 2011, Theorem 9, with 2 c / ridge + (c / ridge)^2 where for functions of w'x we
    have c / ridge; the approximate minimum as in Iyengar et al. 2019, there for Gaussian noise.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.cks import Below, bernoulli_exp
from discreet.noise.cks import laplace as big_laplace
from discreet.noise.source import Source, claimed
from discreet.promise.exact import Number, exact, root_above
from discreet.promise.loss import Approximate, Loss

GAMMA: Final = Fraction(1, 2**18)  # the gradient at what is called a minimum
FINE: Final = 40  # beta times the step of the tilt is 2^-40 [NM2]
LAST: Final = Fraction(1, 100)  # of epsilon: for the noise that hides what is left of the gradient
WIDEST: Final = 32  # coordinates: beyond, the rejection takes too long
Floats = npt.NDArray[np.float64]


class Objective(Protocol):
    """A sum over people of convex functions of w'x."""

    @property
    def size(self) -> int:
        """The number of coordinates: public."""

    @property
    def reach(self) -> float:
        """No |x| is larger."""

    def gradient(self, w: Floats, rest: Floats) -> tuple[Floats, float]:
        """At w + rest, `rest` no more than rounds w, and a bound on the length of its rounding error."""

    def tolerance(self, ridge: float, rate: float) -> float:
        """A gradient that is reached whatever the rows are, tilted at this rate: from public numbers alone."""

    def hessian(self, w: Floats) -> Floats:
        """At w, more or less."""

    def guess(self, tilt: Floats, ridge: float) -> Floats:
        """Where to start."""


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The noisy minimum of a tilted objective."""

    objective: Objective
    steepness: Number
    curvature: Number
    ridge: Number
    cost: Approximate

    def __post_init__(self) -> None:
        for number in (self.steepness, self.curvature, self.ridge):
            claimed(number)
        if self.cost.delta or not self.cost.epsilon:
            raise BadInput(f"a tilted minimum is pure: its cost is Approximate(epsilon, 0), not {self.cost}")
        if not 1 <= self.objective.size <= WIDEST:
            raise BadInput(f"{self.objective.size} coefficients; a tilted minimum has 1 to {WIDEST}")
        tilt_rate(self.cost.epsilon, self.steepness, self.curvature, self.ridge, self.objective.size)

    @property
    def loss(self) -> Loss:
        """The declared cost."""
        return self.cost

    def answer(self, source: Source) -> Floats:
        """Tilt, minimise, add the last noise."""
        size, ridge = self.objective.size, exact(self.ridge)
        rate = tilt_rate(self.cost.epsilon, self.steepness, self.curvature, ridge, size)
        step = Fraction(1, 2**FINE) / rate  # [NM2]
        tilt = np.array([float(k * step) for k in round_draw(size, source.below)])
        gamma = max(GAMMA, Fraction(self.objective.tolerance(float(ridge), float(rate))))  # [NM1]
        start = self.objective.guess(tilt, float(ridge))
        found = minimised(self.objective, tilt, float(ridge), start, float(gamma))
        # the tilt as a float is within 2^-52 of itself, far less than a step of the grid in what gamma leaves over
        tau = (2 * gamma + step * size) / ridge  # [NM1]
        grid = Fraction(2) ** (math.floor(math.log2(tau)) - 20)
        moved = math.ceil(2 * tau * root_above(size) / grid) + size  # [NM1]: in L1, each entry rounded
        scale = moved / (LAST * exact(self.cost.epsilon))
        noisy = [round(w / grid) + big_laplace(scale, source.below) for w in found]  # [NM1]
        return np.array([float(steps * grid) for steps in noisy])

    def objection(self, neighbour: "Minimum") -> str | None:
        """Other parameters, a gradient that moves too far, or second derivatives that do."""
        mine, other = (
            (ask.steepness, ask.curvature, ask.ridge, ask.cost, ask.objective.size, ask.objective.tolerance(1.0, 1.0))
            for ask in (self, neighbour)
        )
        if mine != other:
            return "the parameters of a tilted minimum depend on the data"
        size = self.objective.size
        for place in range(2 * size + 1):  # 0, and near and far along the axes
            w = np.zeros(size)
            if place:
                w[(place - 1) // 2] = 30.0 if place % 2 else -1.0
            (here, off), (there, more) = (ask.objective.gradient(w, np.zeros(size)) for ask in (self, neighbour))
            moved = float(np.linalg.norm(here - there))
            if moved > float(exact(self.steepness)) + off + more:
                return f"the gradient moved by {moved:.6g}, claimed {float(exact(self.steepness)):.6g}"
            apart = np.linalg.eigvalsh(self.objective.hessian(w) - neighbour.objective.hessian(w))
            allowed = float(exact(self.curvature)) * (1 + 1e-6) + 1e-6
            if np.abs(apart).max() > allowed or (np.abs(apart) > 1e-6).sum() > 2:
                return "the second derivatives moved further than claimed"
        return None


def tilt_rate(epsilon: Number, steepness: Number, curvature: Number, ridge: Number, size: int) -> Fraction:
    """beta: |b| is about size / beta. [NM1]"""
    bend = Fraction(math.log1p(float(exact(curvature) / exact(ridge))) * (1 + 1e-12))  # [NM1]
    off = 2 * (size * Fraction(1, 2**FINE) + Fraction(1, 2 ** (FINE - 2)))  # 2 XI [NM2]
    rest = exact(epsilon) * (1 - LAST) - bend - off  # [NM1]
    if rest <= 0:
        raise BadInput(
            f"a ridge of {float(exact(ridge)):.3g} uses up epsilon {float(exact(epsilon)):.3g}; give a larger ridge"
        )
    return rest / exact(steepness)


def round_draw(size: int, below: Below) -> list[int]:
    """P(k) ~ exp(-2^-40 |k|) on the integers of R^size, but for e^+-2^-39. [NM2]"""
    root = root_above(size)
    scale = root * 2**FINE
    while True:
        drawn = [big_laplace(scale, below) for _ in range(size)]
        length = root_above(sum(k * k for k in drawn), 4)
        rate = length / 2**FINE - sum(map(abs, drawn)) / scale  # [NM2]
        if bernoulli_exp(max(rate, Fraction(0)), below):
            return drawn


def minimised(objective: Objective, tilt: Floats, ridge: float, start: Floats, goal: float) -> list[Fraction]:
    """Where the gradient of the tilted objective is at most `goal` long, rounding included. [NM1]

    Newton's method, its steps shortened to ln(1 + u) / u, u = |step| times the largest |x|: for functions whose third
    derivative is at most |x| times their second (logistic ones) every step leads down, and the end comes quickly. A
    longer step is taken if at its end the way still leads down, as it then did all along. Where it starts, and with
    which second derivatives it goes on near the end, changes nothing but the time.
    """
    w, rest = np.array(start, dtype=np.float64), np.zeros(objective.size)
    before, stale, hessian = 0.0, 0, np.eye(objective.size)

    def sloped(w: Floats, rest: Floats) -> tuple[Floats, float]:
        slope, off = objective.gradient(w, rest)
        extra = 1e-15 * objective.size * (ridge * float(np.abs(w).max()) + float(np.abs(tilt).max()))
        return slope + ridge * w + tilt + ridge * rest, off + extra

    slope, off = sloped(w, rest)
    while True:
        steep = float(np.linalg.norm(slope))
        if steep * (1 + 1e-12) + off <= goal:  # [NM1]
            return [Fraction(float(one)) + Fraction(float(more)) for one, more in zip(w, rest, strict=True)]
        if steep > before / 20 or stale >= 5:
            hessian, stale = objective.hessian(w) + ridge * np.eye(objective.size), 0
        stale, before = stale + 1, steep
        step = np.asarray(np.linalg.solve(hessian, slope), dtype=np.float64)
        far = float(np.linalg.norm(step)) * objective.reach
        least = math.log1p(far) / far if far > 1e-8 else 1.0
        share = 1.0 if far > 2 else least
        while True:
            there = _moved(w, rest, share * step)
            slope, off = sloped(*there)
            if share <= least or float(slope @ step) >= 0:
                break
            share = max(share / 2, least)
        w, rest = there


def _moved(w: Floats, rest: Floats, step: Floats) -> tuple[Floats, Floats]:
    """w + rest - step as a float and what rounds it."""
    move = rest - step
    there = w + move
    back = there - w
    return there, (w - (there - back)) + (move - back)
