"""Tilted minima: the law of the tilt, the density that the proof bounds, and minima that are as good as they say."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import expit

from discreet.errors import BadInput
from discreet.noise import minimum as module
from discreet.noise.minimum import GAMMA, LAST, Minimum, minimised, round_draw, tilt_rate
from discreet.noise.seeded import Seeded
from discreet.promise.loss import Approximate


@dataclass(frozen=True)
class Logistic:
    """Rows as they are."""

    x: np.ndarray
    y: np.ndarray
    reach: float = 1.0

    @property
    def size(self) -> int:
        return int(self.x.shape[1])

    def gradient(self, w: np.ndarray, rest: np.ndarray | float = 0.0) -> tuple[np.ndarray, float]:
        return (expit(self.x @ w + self.x @ (rest + np.zeros(self.size))) - self.y) @ self.x, 1e-12

    def tolerance(self, ridge: float, rate: float) -> float:
        return 1e-9

    def hessian(self, w: np.ndarray) -> np.ndarray:
        p = expit(self.x @ w)
        return np.asarray((self.x * (p * (1 - p))[:, None]).T @ self.x)

    def guess(self, tilt: np.ndarray, ridge: float) -> np.ndarray:
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


@pytest.mark.claim("NM1")
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


@pytest.mark.claim("NM1")
@pytest.mark.parametrize("seed", range(5))
def test_minima_are_verified_and_close_to_the_exact_one(seed: int) -> None:
    objective = rows(seed, 3, 50)
    tilt = np.random.default_rng(seed).normal(size=3) * 20
    found = np.array([float(w) for w in minimised(objective, tilt, 0.5, np.zeros(3), float(GAMMA))])
    slope = objective.gradient(found)[0] + 0.5 * found + tilt
    assert np.linalg.norm(slope) <= float(GAMMA)
    better = found.copy()
    for _ in range(5):
        slope = objective.gradient(better)[0] + 0.5 * better + tilt
        better = better - np.linalg.solve(objective.hessian(better) + 0.5 * np.eye(3), slope)
    assert np.linalg.norm(found - better) <= float(GAMMA) / 0.5 * (1 + 1e-6) + 1e-12


@pytest.mark.claim("NM1")
def test_the_last_noise_is_there_and_the_budget_adds_up() -> None:
    objective = rows(0, 2, 30)
    rate = tilt_rate(1.0, 2, 0.25, 2.0, 2)
    spent = 2 * rate + Fraction(math.log1p(0.125)) + LAST
    assert 0.999 < spent < 1
    found = {tuple(Seeded(seed).minimum(objective, steepness=2, curvature=0.25, ridge=2, cost=Approximate(1, 0)))
             for seed in range(5)}  # fmt: skip
    assert len(found) == 5


@pytest.mark.claim("NM1")
def test_the_last_noise_hides_what_is_left_of_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a tilt, all that differs is the last noise; its mean size is about twice what is needed."""
    monkeypatch.setattr(module, "round_draw", lambda size, below: [0] * size)
    objective, ridge = rows(0, 2, 30), 2.0
    seeded = Seeded(5)
    found = np.array([seeded.minimum(objective, steepness=2, curvature=0.25, ridge=ridge, cost=Approximate(1, 0))
                      for _ in range(300)])  # fmt: skip
    least = 2 * float(GAMMA) / ridge * math.sqrt(2) / float(LAST)
    assert np.abs(found - np.median(found, axis=0)).mean() > 1.3 * least


@pytest.mark.claim("NM2")
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
        Minimum(objective, 2, 0.25, 0.01, Approximate(0.1, 0))
    with pytest.raises(BadInput, match="pure"):
        Minimum(objective, 2, 0.25, 1, Approximate(1, 1e-6))
    with pytest.raises(BadInput, match="1 to 32"):
        Minimum(rows(0, 40, 3), 2, 0.25, 1, Approximate(1, 0))


def test_a_door_keeper_objects_to_steeper_and_more_curved_objectives() -> None:
    left, right = rows(0, 2, 4), rows(0, 2, 4)
    right.x[0] *= -1
    plain = [Minimum(one, 2, 0.25, 1, Approximate(1, 0)) for one in (left, right)]
    assert plain[0].objection(plain[1]) is None
    less = [Minimum(one, 0.5, 0.25, 1, Approximate(1, 0)) for one in (left, right)]
    assert "gradient moved" in str(less[0].objection(less[1]))
    flat = [Minimum(one, 2, 0.01, 1, Approximate(1, 0)) for one in (left, Logistic(left.x[1:], left.y[1:]))]
    assert "second derivatives" in str(flat[0].objection(flat[1]))
    assert "parameters" in str(plain[0].objection(flat[1]))
