"""Tilted minima: the distribution of the tilt, the density that the proof bounds, and minima that are what they say."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import expit

from discreet.errors import BadInput
from discreet.noise import tilted_minimum as module
from discreet.noise.randomness import Seeded
from discreet.noise.tilted_minimum import (
    GAMMA,
    LAST,
    Minimum,
    TiltedObjective,
    descended,
    exactly,
    log_above,
    minimised,
    most_steps,
    round_draw,
    tilt_rate,
)
from discreet.privacy.exact import root_above
from discreet.privacy.loss import Approximate

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Logistic:
    """Rows as they are."""

    x: np.ndarray
    y: np.ndarray
    reach: float = 1.0

    @property
    def size(self) -> int:
        return int(self.x.shape[1])

    @property
    def bend(self) -> float:
        return len(self.x) / 4

    @property
    def steep(self) -> float:
        return float(len(self.x))

    tolerance = 1e-9

    def gradient(self, point: Any) -> tuple[np.ndarray, float]:
        w = np.array([float(one) for one in point])
        return (expit(self.x @ w) - self.y) @ self.x, 1e-12

    def hessian(self, w: np.ndarray) -> np.ndarray:
        p = expit(self.x @ w)
        return np.asarray((self.x * (p * (1 - p))[:, None]).T @ self.x)

    def guess(self, tilt: Sequence[Fraction], ridge: Fraction) -> np.ndarray:
        return np.zeros(self.size)


def rows(seed: int, size: int, count: int) -> Logistic:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, size))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return Logistic(x, rng.integers(0, 2, count).astype(float))


def log_density(objective: Logistic, w: np.ndarray, beta: float, ridge: float) -> float:
    """Of the exact minimum at w, up to a constant: the formula of the proof."""
    slope = objective.gradient(w)[0] + ridge * w
    jacobian = objective.hessian(w) + ridge * np.eye(objective.size)
    return -beta * float(np.linalg.norm(slope)) + float(np.linalg.slogdet(jacobian)[1])


@pytest.mark.claim("tilted_minimum.1")
def test_the_density_of_the_exact_minimum_moves_no_further_than_its_bound() -> None:
    """Random tables, neighbours and places, near the ridge's worst: and the bound is not idle."""
    rng, ridge, worst = np.random.default_rng(1), 0.05, {2: -1.0, 1: -1.0}
    for _ in range(2000):
        size = int(rng.integers(1, 4))
        left = rows(int(rng.integers(10**9)), size, int(rng.integers(1, 4)))
        x, y = left.x.copy(), left.y.copy()
        x[0], y[0] = (-x[0] if rng.integers(2) else rows(int(rng.integers(10**9)), size, 1).x[0]), rng.integers(2)
        right, fewer = Logistic(x, y), Logistic(left.x[1:], left.y[1:])
        w = rng.normal(size=size) * rng.choice([0.1, 1.0, 5.0, 30.0])
        for steepness, other in ((2, right), (1, fewer)):
            beta = 0.2
            bound = beta * steepness + math.log1p(0.25 / ridge)
            moved = abs(log_density(left, w, beta, ridge) - log_density(other, w, beta, ridge))
            worst[steepness] = max(worst[steepness], moved / bound)
    assert max(worst.values()) <= 1
    assert min(worst.values()) > 0.6


@pytest.mark.claim("tilted_minimum.1")
@pytest.mark.claim("tilted_minimum.3")
@pytest.mark.parametrize("way", ["newton", "newton without a step", "descent"])
@pytest.mark.parametrize("seed", range(5))
def test_minima_are_verified_and_close_to_the_exact_one(seed: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method, or the descent that stands in for it where it does not end."""
    objective = rows(seed, 3, 50)
    tilt = np.random.default_rng(seed).normal(size=3) * 20
    if way == "newton without a step":
        monkeypatch.setattr(module, "NEWTON", 0)
    if way == "descent":
        monkeypatch.setattr(module, "newton", lambda *_: None)
    found = np.array([float(w) for w in minimised(objective, exactly(tilt), HALF, np.zeros(3), float(GAMMA))])
    slope = objective.gradient(found)[0] + 0.5 * found + tilt
    assert np.linalg.norm(slope) <= float(GAMMA)
    better = found.copy()
    for _ in range(5):
        slope = objective.gradient(better)[0] + 0.5 * better + tilt
        better = better - np.linalg.solve(objective.hessian(better) + 0.5 * np.eye(3), slope)
    assert np.linalg.norm(found - better) <= float(GAMMA) / 0.5 * (1 + 1e-6) + 1e-12


@pytest.mark.claim("tilted_minimum.1")
@pytest.mark.parametrize("share", [Fraction(1, 10**12), Fraction(1, 3), Fraction(1, 8), Fraction(256), Fraction(2**60)])
def test_the_price_of_the_ridge_is_never_rounded_down(share: Fraction) -> None:
    with mpmath.workdps(80):
        true = mpmath.log(1 + mpmath.mpf(share.numerator) / share.denominator)
        found = log_above(1 + share)
        assert 0 < mpmath.mpf(found.numerator) / found.denominator - true < mpmath.mpf(10) ** -38
    if found < Fraction(1, 2):
        assert 2 * tilt_rate(1, 2, share, 1, 2) + found < 1 - LAST


@pytest.mark.claim("tilted_minimum.1")
def test_the_last_noise_is_there_and_the_budget_adds_up() -> None:
    objective = rows(0, 2, 30)
    rate = tilt_rate(1.0, 2, 0.25, 2.0, 2)
    spent = 2 * rate + Fraction(math.log1p(0.125)) + LAST
    assert 0.999 < spent < 1
    found = {tuple(Seeded(seed).minimum(objective, steepness=2, curvature=0.25, ridge=2, cost=Approximate(1, 0)))
             for seed in range(5)}  # fmt: skip
    assert len(found) == 5


@pytest.mark.claim("tilted_minimum.1")
def test_the_last_noise_hides_what_is_left_of_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a tilt, all that differs is the last noise; its mean size is about twice what is needed."""
    monkeypatch.setattr(module, "round_draw", lambda size, below: [0] * size)
    objective, ridge = rows(0, 2, 30), 2.0
    seeded = Seeded(5)
    found = np.array([seeded.minimum(objective, steepness=2, curvature=0.25, ridge=ridge, cost=Approximate(1, 0))
                      for _ in range(300)])  # fmt: skip
    least = float(GAMMA) / ridge * math.sqrt(2) / float(LAST)
    assert np.abs(found - np.median(found, axis=0)).mean() > 1.3 * least


@pytest.mark.claim("tilted_minimum.3")
@pytest.mark.parametrize(
    ("count", "ridge", "long"), [(0, 1, 1), (1, 2, 1e6), (60, 1, 3), (60, 40, 1e3), (300, 5, 0), (0, 1, 0)]
)
def test_a_descent_ends_within_its_public_number_of_steps(count: int, ridge: int, long: float) -> None:
    """From the farthest start, with a gradient as wrong as allowed, in a direction of its own each time."""
    rng = np.random.default_rng(count)
    objective, seen = rows(count, 3, count), []

    class Wrong(Logistic):
        def gradient(self, point: Any) -> tuple[np.ndarray, float]:
            seen.append(1)
            off = rng.normal(size=3)
            return super().gradient(point)[0] + 0.999e-6 * off / np.linalg.norm(off), 1e-6

    tilted = TiltedObjective(Wrong(objective.x, objective.y), exactly(long * np.ones(3)), Fraction(ridge), 4.5e-6)
    found = np.array([float(w) for w in descended(tilted)])
    assert len(seen) <= most_steps(tilted)
    slope = objective.gradient(found)[0] + ridge * found + long
    assert np.linalg.norm(slope) <= 4.5e-6


@pytest.mark.claim("tilted_minimum.3")
def test_newtons_method_gives_up_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Second derivatives that are singular, missing or far too large: the descent takes over."""
    objective = rows(0, 2, 20)
    expected = minimised(objective, exactly(np.ones(2)), HALF, np.zeros(2), 1e-6)
    for wrong in (-0.5 * np.eye(2), np.full((2, 2), np.nan), np.full((2, 2), 1e300) + 1e300 * np.eye(2)):
        monkeypatch.setattr(Logistic, "hessian", lambda self, w, wrong=wrong: wrong)
        found = minimised(objective, exactly(np.ones(2)), HALF, np.zeros(2), 1e-6)
        assert np.abs(np.array(found, dtype=float) - np.array(expected, dtype=float)).max() < 1e-5


@pytest.mark.claim("tilted_minimum.1")
@pytest.mark.parametrize("size", [1, 2, 8, 32])
def test_the_last_noise_covers_rounding_too(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two minima as far apart as they may be, each entry on the edge of being rounded the other way."""
    objective, ridge, epsilon, scales = rows(0, size, 5), Fraction(2), Fraction(1), []
    rate = tilt_rate(epsilon, 2, Fraction(1, 4), ridge, size)
    tau = (GAMMA + size * Fraction(1, 2**40) / rate) / ridge
    grid = Fraction(2) ** (math.floor(math.log2(tau)) - 20)
    edge, apart = Fraction(499, 1000) * grid, 2 * tau / root_above(size)
    assert size * apart**2 <= (2 * tau) ** 2

    def silent(scale: Fraction, _below: Any) -> int:
        scales.append(scale)
        return 0

    monkeypatch.setattr(module, "plain_laplace", silent)
    monkeypatch.setattr(module, "round_draw", lambda size, _below: [0] * size)
    whole = []
    for place in (edge, edge + apart):
        monkeypatch.setattr(module, "minimised", lambda *_, place=place: [place] * size)
        ask = Minimum(
            objective=objective, steepness=2, curvature=Fraction(1, 4), ridge=ridge, cost=Approximate(epsilon, 0)
        )
        whole.append([Fraction(float(one)) / grid for one in ask.answer(Seeded(0)._source)])
    moved = sum(abs(a - b) for a, b in zip(*whole, strict=True))
    assert moved > 2**20
    assert set(scales) == {scales[0]}
    assert moved <= scales[0] * LAST * epsilon  # [tilted_minimum.1]: e^-(moved / scale) is the loss
    assert moved + size > scales[0] * LAST * epsilon - 2 * size  # no more than that


@pytest.mark.claim("tilted_minimum.2")
@pytest.mark.parametrize("size", [1, 4])
def test_the_tilt_is_round_and_of_gamma_length(size: int) -> None:
    """Moments of 400 draws, each within 5.5 standard errors: fails by chance once in 10^7."""
    source = Seeded(size)._source
    drawn = np.array([[float(Fraction(k, 2**40)) for k in round_draw(size, source.below)] for _ in range(400)])
    length = np.linalg.norm(drawn, axis=1)
    error = 5.5 / math.sqrt(len(drawn))
    assert abs(length.mean() - size) < error * math.sqrt(size)
    fourth = size * (size + 1) * (size + 2) * (size + 3) - (size * (size + 1)) ** 2
    assert abs((length**2).mean() - size * (size + 1)) < error * math.sqrt(fourth)
    direction = drawn / length[:, None]
    assert np.abs(direction.mean(axis=0)).max() < error
    assert np.abs((direction**2).mean(axis=0) - 1 / size).max() <= error


def test_what_cannot_be_promised_is_refused() -> None:
    objective = rows(0, 2, 3)
    with pytest.raises(BadInput, match="larger ridge"):
        Minimum(objective=objective, steepness=2, curvature=0.25, ridge=0.01, cost=Approximate(0.1, 0))
    with pytest.raises(BadInput, match="pure"):
        Minimum(objective=objective, steepness=2, curvature=0.25, ridge=1, cost=Approximate(1, 1e-6))
    with pytest.raises(BadInput, match="1 to 32"):
        Minimum(objective=rows(0, 40, 3), steepness=2, curvature=0.25, ridge=1, cost=Approximate(1, 0))


def test_a_door_keeper_objects_to_steeper_and_more_curved_objectives() -> None:
    left, right = rows(0, 2, 4), rows(0, 2, 4)
    right.x[0] *= -1
    plain = [
        Minimum(objective=one, steepness=2, curvature=0.25, ridge=1, cost=Approximate(1, 0)) for one in (left, right)
    ]
    assert plain[0].objection(plain[1]) is None
    less = [
        Minimum(objective=one, steepness=0.5, curvature=0.25, ridge=1, cost=Approximate(1, 0)) for one in (left, right)
    ]
    assert "gradient moved" in str(less[0].objection(less[1]))
    flat = [
        Minimum(objective=one, steepness=2, curvature=0.01, ridge=1, cost=Approximate(1, 0))
        for one in (left, Logistic(left.x[1:], left.y[1:]))
    ]
    assert "second derivatives" in str(flat[0].objection(flat[1]))
    assert "parameters" in str(plain[0].objection(flat[1]))
