"""The minimum of a convex objective that was tilted by chance: pure, though no minimum is ever found exactly.

Promise
    [tilted_minimum.1] An objective is a sum over people of convex functions of w'x_i, each person's gradient at most
          `steepness` / 2 long under REPLACE (`steepness` under ADD_OR_REMOVE) and each second derivative a matrix of
          rank one no larger than `curvature`. The minimum of objective + (ridge / 2) |w|^2 + b'w, found to a verified
          gradient of at most gamma, leaves with noise as pure epsilon.
    [tilted_minimum.2] b is drawn from the integers times a step by a distribution within a factor e^+-XI, point by
          point, of the distribution with density ~ exp(-beta |b|) rounded to that grid.
    [tilted_minimum.3] `minimised` always finds such a minimum, whatever the rows: after NEWTON steps or fewer of
          Newton's method, or else by a descent of at most `most_steps` steps, a function of public numbers and the
          tilt. It never raises.
Why
    [tilted_minimum.1] Let b have density ~ exp(-beta |b|) and w be the exact minimum. Given the people, b = -(gradient
    at w) - ridge w is a differentiable bijection with the Jacobian J = H(w) + ridge I. So w has the density exp(-beta
    |b(w)|) det J. A neighbour's b(w) is within `steepness` of it: a factor e^(beta steepness). Both Jacobians are a
    common A >= ridge I plus at most one matrix of rank one each, a x x' with 0 <= a |x|^2 <= curvature: det(A + a x x')
    / det A is in [1, 1 + curvature / ridge], so their ratio is at most 1 + curvature / ridge. The exact minimum is pure
    epsilon_1 = beta steepness + ln(1 + curvature / ridge). What was found lies within tau = (gamma + |b error|) / ridge
    of that exact minimum w, as a gradient is at least ridge times the distance from the minimum, and b on the grid is
    within half a diagonal of the ideal b. Given w, what is published is a discrete Laplace vector about a point within
    tau of w: moving all points to w itself and back on the neighbour changes each probability by at most e^(epsilon_2),
    epsilon_2 for a distance of 2 tau. So the distribution on a table is within e^(epsilon_2 + epsilon_1) of that on a
    neighbour, and with [tilted_minimum.2] 2 XI more. Gamma is a public number, GAMMA or larger. It is checked with the
    objective's own bound on the error of its gradient, proved in its module ([logistic_loss.3]). Points and the tilt
    are exact fractions, and ridge w + b is added to the gradient exactly; the length of that sum errs by a relative
    1e-12 at most.
    [tilted_minimum.2] Over a cell of side h, exp(-beta |b|) varies by e^+-(beta h sqrt(d) / 2) from its value at the
    centre, and so does the normaliser. The distribution ~ exp(-beta h |k|) on the integers is drawn by rejection from
    independent discrete Laplace draws of scale B >= sqrt(d) / (beta h): |k|_1 / B <= beta h |k|, and the difference is
    the rate at which k is rejected. The root in it is rounded up by at most 2^-40. Beta h is 2^-40.
    [tilted_minimum.3] A run that gave up would tell of the rows that made it: no bound on its chance would keep the
    promise pure. So the last resort must not fail. It is the descent w - g / L from 0 with L = `bend` + ridge, a bound
    on all second derivatives; let f be what is minimised, F its height above the minimum, g its gradient as found and e
    the error of g, that of the step's rounding, L 2^-126, included. f falls by at least (|true gradient|^2 - |e|^2) / 2
    L. Gamma is at least 4.5 times the objective's error: so where a point is not accepted the true gradient is at least
    gamma / 2 long, e is at most half of it, and f falls by 3/8 of its square over L. Its square is at least 2 ridge F,
    so F shrinks by 1 - (3/4) ridge / L a step; and at most 2 L F, so a point with F below gamma^2 / (8 L) is accepted.
    At 0, F is at most |gradient|^2 / (2 ridge). Hence `most_steps`: it reads public numbers and the tilt, which is
    independent of the rows. (A tilt too long for floats, 2^100 times its scale, would take 2^100 draws.)
Accuracy
    |b| has the distribution Gamma(d, 1 / beta), the direction is uniform. The second noise is some 1e-4 in w for ridge
    about 2.
    A tilt with normal entries is not offered. What is known of its cost (Kifer, Smith and Thakurta 2012; Redberg et al.
    2023) is for the minimum by itself: a loss of at most |N(0, mu^2)| + mu^2 / 2 + ln(1 + curvature / ridge). Beside
    other stages it would have to be no more than Gaussian(mu) and a pure part. With b' that of a table with one row
    more, b = b' + t x / |x|, where t falls as b'x rises: for events of the larger table that gives what is wanted, for
    those of the smaller one the Jacobian cannot be left out, and under REPLACE b moves in a plane. Nor does it give
    much (simulated): the errors of ten slopes as they are, 1.3 times the noise on four of them.
Source
    Chaudhuri, Monteleoni and Sarwate 2011, Theorem 9, with 2 c / ridge + (c / ridge)^2 where for functions of w'x we
    have c / ridge; the approximate minimum as in Iyengar et al. 2019, there for Gaussian noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.noise.distributions import Below, BitSource, bernoulli_exp, claimed, plain_laplace
from discreet.privacy.exact import Number, exact, root_above
from discreet.privacy.loss import Approximate, Loss

GAMMA: Final = Fraction(1, 2**18)  # the gradient at what is called a minimum
FINE: Final = 40  # beta times the step of the tilt is 2^-40 [tilted_minimum.2]
LAST: Final = Fraction(1, 100)  # of epsilon: for the noise that hides what is left of the gradient
WIDEST: Final = 32  # coordinates: beyond, the rejection takes too long
NEWTON: Final = 200  # steps [tilted_minimum.3]
POINT: Final = 2**128  # points are whole numbers of this part
Floats = npt.NDArray[np.float64]


class Objective(Protocol):
    """A sum over people of convex functions of w'x."""

    @property
    def size(self) -> int:
        """The number of coordinates: public."""

    @property
    def reach(self) -> float:
        """No |x| is larger."""

    @property
    def bend(self) -> float:
        """A public number: no second derivative of the sum is larger."""

    @property
    def steep(self) -> float:
        """A public number: no gradient of the sum is longer."""

    @property
    def tolerance(self) -> float:
        """A public number: at least 4.5 times the error of any gradient. [tilted_minimum.3]"""

    def gradient(self, point: Sequence[Fraction]) -> tuple[Floats, float]:
        """At a point, and a bound on the length of its error."""

    def hessian(self, w: Floats) -> Floats:
        """At w, more or less."""

    def guess(self, tilt: Sequence[Fraction], ridge: Fraction) -> Floats:
        """Where to start."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
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

    def answer(self, source: BitSource) -> Floats:
        """Tilt, minimise, add the last noise."""
        size, ridge = self.objective.size, exact(self.ridge)
        rate = tilt_rate(self.cost.epsilon, self.steepness, self.curvature, ridge, size)
        step = Fraction(1, 2**FINE) / rate  # [tilted_minimum.2]
        tilt = [k * step for k in round_draw(size, source.below)]
        gamma = max(GAMMA, Fraction(self.objective.tolerance))  # [tilted_minimum.1]
        found = minimised(self.objective, tilt, ridge, self.objective.guess(tilt, ridge), float(gamma))
        tau = (gamma + step * size) / ridge  # [tilted_minimum.1]
        grid = Fraction(2) ** (math.floor(math.log2(tau)) - 20)
        moved = math.ceil(2 * tau * root_above(size) / grid) + size  # [tilted_minimum.1]: in L1, each entry rounded
        scale = moved / (LAST * exact(self.cost.epsilon))
        noisy = [round(w / grid) + plain_laplace(scale, source.below) for w in found]  # [tilted_minimum.1]
        return np.array([float(steps * grid) for steps in noisy])

    def objection(self, neighbour: "Minimum") -> str | None:
        """Other parameters, a gradient that moves too far, or second derivatives that do."""
        mine, other = (
            (ask.steepness, ask.curvature, ask.ridge, ask.cost, ask.objective.size, ask.objective.tolerance)
            for ask in (self, neighbour)
        )
        if mine != other:
            return "the parameters of a tilted minimum depend on the data"
        size = self.objective.size
        for place in range(2 * size + 1):  # 0, and near and far along the axes
            w = np.zeros(size)
            if place:
                w[(place - 1) // 2] = 30.0 if place % 2 else -1.0
            (here, off), (there, more) = (ask.objective.gradient(exactly(w)) for ask in (self, neighbour))
            moved = float(np.linalg.norm(here - there))
            if moved > float(exact(self.steepness)) + off + more:
                return f"the gradient moved by {moved:.6g}, claimed {float(exact(self.steepness)):.6g}"
            apart = np.linalg.eigvalsh(self.objective.hessian(w) - neighbour.objective.hessian(w))
            allowed = float(exact(self.curvature)) * (1 + 1e-6) + 1e-6
            if np.abs(apart).max() > allowed or (np.abs(apart) > 1e-6).sum() > 2:
                return "the second derivatives moved further than claimed"
        return None


def tilt_rate(epsilon: Number, steepness: Number, curvature: Number, ridge: Number, size: int) -> Fraction:
    """beta: |b| is about size / beta. [tilted_minimum.1]"""
    bend = log_above(1 + exact(curvature) / exact(ridge))  # [tilted_minimum.1]
    off = 2 * (size * Fraction(1, 2**FINE) + Fraction(1, 2 ** (FINE - 2)))  # 2 XI [tilted_minimum.2]
    rest = exact(epsilon) * (1 - LAST) - bend - off  # [tilted_minimum.1]
    if rest <= 0:
        raise BadInput(
            f"a ridge of {float(exact(ridge)):.3g} uses up epsilon {float(exact(epsilon)):.3g}; give a larger ridge"
        )
    return rest / exact(steepness)


def log_above(number: Fraction) -> Fraction:
    """Not below the natural logarithm of a number above 1: a decimal quotient and logarithm, both correctly rounded."""
    digits = Context(prec=60, rounding=ROUND_CEILING)
    quotient = digits.divide(Decimal(number.numerator), Decimal(number.denominator))
    return Fraction(digits.ln(quotient)) + Fraction(1, 10**40)  # ln rounds to nearest, whatever the context


def round_draw(size: int, below: Below) -> list[int]:
    """P(k) ~ exp(-2^-40 |k|) on the integers of R^size, but for e^+-2^-39. [tilted_minimum.2]"""
    root = root_above(size)
    scale = root * 2**FINE
    while True:
        drawn = [plain_laplace(scale, below) for _ in range(size)]
        length = root_above(sum(k * k for k in drawn), 4)
        rate = length / 2**FINE - sum(map(abs, drawn)) / scale  # [tilted_minimum.2]
        if bernoulli_exp(max(rate.numerator, 0), rate.denominator, below):
            return drawn


def exactly(w: Floats) -> list[Fraction]:
    """Floats as fractions."""
    return [Fraction(float(one)) for one in w]


@dataclass(frozen=True, slots=True)
class TiltedObjective:
    """An objective with its ridge and its tilt, and the length of a gradient at which it is at its minimum."""

    objective: Objective
    tilt: Sequence[Fraction]
    ridge: Fraction
    goal: float

    def slope(self, point: Sequence[Fraction]) -> tuple[Floats, bool]:
        """The gradient, and whether it is short enough, its error included. [tilted_minimum.1]"""
        plain, off = self.objective.gradient(point)
        whole = (s + self.ridge * w + b for s, w, b in zip(exactly(plain), point, self.tilt, strict=True))
        found = np.array([float(one) for one in whole])
        return found, bool(float(np.linalg.norm(found)) * (1 + 1e-12) + off <= self.goal)  # [tilted_minimum.1]


def minimised(
    objective: Objective, tilt: Sequence[Fraction], ridge: Fraction, start: Floats, goal: float
) -> list[Fraction]:
    """Where the gradient of the tilted objective is at most `goal` long, its error included. [tilted_minimum.1],
    [tilted_minimum.3]"""
    tilted = TiltedObjective(objective, tilt, ridge, goal)
    found = newton(tilted, start)
    return descended(tilted) if found is None else found  # [tilted_minimum.3]


def newton(tilted: TiltedObjective, start: Floats) -> list[Fraction] | None:
    """Newton's method; None if it has not come to the minimum after NEWTON steps.

    Steps are shortened to ln(1 + u) / u, u = |step| times the largest |x|: for functions whose third derivative is at
    most |x| times their second (logistic ones) every step leads down, and the end comes quickly. A longer step is taken
    if at its end the way still leads down, as it then did all along. Where it starts, and with which second derivatives
    it goes on near the end, changes nothing but the time.
    """
    objective, ridge = tilted.objective, float(tilted.ridge) * np.eye(tilted.objective.size)
    point, before, stale, hessian, reach = exactly(start), 0.0, 0, ridge, objective.reach
    slope, ended = tilted.slope(point)
    for _ in range(NEWTON):  # [tilted_minimum.3]
        if ended:
            return point
        steep = float(np.linalg.norm(slope))
        if steep > before / 20 or stale >= 5:
            hessian, stale = objective.hessian(np.array([float(w) for w in point])) + ridge, 0
        stale, before = stale + 1, steep
        try:
            step = np.asarray(np.linalg.solve(hessian, slope), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        far = float(np.linalg.norm(step)) * reach
        if not math.isfinite(far):
            return None
        least = math.log1p(far) / far if far > 1e-8 else 1.0
        share = 1.0 if far > 2 else least
        while True:
            there = _moved(point, exactly(share * step))
            slope, ended = tilted.slope(there)
            if share <= least or float(slope @ step) >= 0:
                break
            share = max(share / 2, least)
        point = there
    return None


def descended(tilted: TiltedObjective) -> list[Fraction]:
    """The minimum by plain descent from 0: slow, and sure to end. [tilted_minimum.3]"""
    bend = Fraction(tilted.objective.bend) + tilted.ridge
    point = [Fraction(0)] * tilted.objective.size
    for _ in range(most_steps(tilted)):
        slope, ended = tilted.slope(point)
        if ended:
            return point
        point = _moved(point, [one / bend for one in exactly(slope)])  # [tilted_minimum.3]
    raise AssertionError("by [tilted_minimum.3] this is not reached")


def most_steps(tilted: TiltedObjective) -> int:
    """How many points a descent looks at, at most. [tilted_minimum.3]"""
    ridge, objective = float(tilted.ridge), tilted.objective
    bend = objective.bend + ridge
    first = objective.steep + math.fsum(abs(float(b)) for b in tilted.tilt)
    times = math.log(4 * bend / ridge) + 2 * math.log(max(first, tilted.goal) / tilted.goal)  # [tilted_minimum.3]
    return math.ceil(4 / 3 * bend / ridge * times * (1 + 1e-9)) + 2


def _moved(point: Sequence[Fraction], step: Sequence[Fraction]) -> list[Fraction]:
    """A point less a step, in parts of 2^-128."""
    return [Fraction(round((w - move) * POINT), POINT) for w, move in zip(point, step, strict=True)]
