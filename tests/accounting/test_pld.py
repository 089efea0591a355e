import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.accounting import pld
from discreet.accounting.curve import delta_of_mu
from discreet.accounting.pld import distribution
from discreet.promise.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled


def found(loss: Loss) -> pld.Distribution:
    result = distribution(loss)
    assert result is not None
    return result


def hockey(p: Any, q: Any, epsilon: float) -> float:
    return float(np.maximum(np.asarray(p) - math.exp(epsilon) * np.asarray(q), 0).sum())


def responses(epsilons: list[float]) -> tuple[list[float], list[float]]:
    """The joint law of randomised responses to 1 and to 0, by enumeration."""
    p, q = [], []
    for bits in product((0, 1), repeat=len(epsilons)):
        rights = [1 / (1 + math.exp(-e)) for e in epsilons]
        p.append(math.prod(r if bit else 1 - r for r, bit in zip(rights, bits, strict=True)))
        q.append(math.prod(1 - r if bit else r for r, bit in zip(rights, bits, strict=True)))
    return p, q


@pytest.mark.claim("G1")
@pytest.mark.parametrize("epsilons", [[0.1] * 10, [0.1, 0.2, 0.3, 0.37], [1.0, 0.001], [math.pi, math.e, 1.0]])
def test_randomised_responses_by_enumeration(epsilons: list[float]) -> None:
    curve = found(Composed(tuple(Approximate(e, 0) for e in epsilons)))
    p, q = responses(epsilons)
    for epsilon in np.linspace(0, sum(epsilons) * 1.01, 23):
        true = hockey(p, q, epsilon)
        assert true <= curve.delta(float(epsilon)) <= true + 2e-4


@pytest.mark.claim("G1")
@pytest.mark.parametrize(("size", "times"), [(0.1, 100), (0.01, 1000), (0.03, 5000)])
def test_many_responses_against_the_binomial(size: float, times: int) -> None:
    """Ten digits, and never below: FFT in floats stays inside GUARD."""
    curve = found(Composed((Choice(size),) * times))
    kept = np.arange(times + 1)
    logs = [math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1) for k in kept]
    mass = np.exp(np.array(logs) - kept * np.log1p(math.exp(-size)) - (times - kept) * np.log1p(math.exp(size)))
    losses = (2 * kept - times) * size
    for x in (0.5, 2, 4, 5, 6, 6.5):
        epsilon = x * size * math.sqrt(times)
        above = losses > epsilon
        true = float((mass[above] * -np.expm1(epsilon - losses[above])).sum())
        assert true * (1 - 1e-9) <= curve.delta(epsilon) <= true * (1 + 1e-4) + 3 * curve.guard


@pytest.mark.claim("G1")
@pytest.mark.parametrize(("mu", "other"), [(0.2, 1e-4), (1.0, 1e-3), (2.5, 1e-3)])
def test_gaussian_noise_with_next_to_nothing_else(mu: float, other: float) -> None:
    curve = found(Composed((Gaussian(mu), Laplace(other))))
    for x in (0.5, 2, 4, 5):
        epsilon = mu * mu / 2 + x * mu
        assert curve.delta(epsilon) >= delta_of_mu(epsilon, mu) * (1 - 1e-10)
        assert curve.delta(epsilon) <= delta_of_mu(epsilon - other, mu) * (1 + 1e-4) + 1e-12


@pytest.mark.claim("G1")
@pytest.mark.parametrize("direction", ["add", "remove"])
@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.1), (0.5, 0.01), (2.0, 0.5)])
def test_one_sampled_gaussian_by_quadrature(mu: float, rate: float, direction: str) -> None:
    curve = found(Sampled(Gaussian(mu), rate))
    x = np.linspace(-14, 16, 600_001)
    width = x[1] - x[0]
    without = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    present = (1 - rate) * without + rate * np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    p, q = (without, present) if direction == "add" else (present, without)
    for epsilon in (0.0, 0.05, 0.3, 1.0):
        true = hockey(p, q, epsilon) * width
        assert curve.delta(epsilon) >= true * (1 - 1e-6)
        if direction == "remove":
            assert curve.delta(epsilon) == pytest.approx(true, rel=1e-4, abs=1e-9)


@pytest.mark.claim("G1")
def test_a_shift_in_two_coordinates_is_no_worse_than_one_of_the_same_size() -> None:
    for first, second in ((0.5, 0.5), (0.9, 0.1), (2.0, 1.0)):
        apart, together = found(Composed((Laplace(first), Laplace(second)))), found(Laplace(first + second))
        for share in (0, 0.3, 0.7, 0.95):
            epsilon = share * (first + second)
            assert apart.delta(epsilon) <= together.delta(epsilon) + 1e-9
            assert together.delta(epsilon) == pytest.approx(-math.expm1((epsilon - first - second) / 2), rel=1e-6)


@pytest.mark.claim("G1")
def test_epsilon_inverts_delta_from_above() -> None:
    curve = found(Composed((Laplace(0.3), Gaussian(0.4), Approximate(0.2, 1e-8))))
    for delta in (1e-11, 1e-7, 1e-3, 0.1):
        epsilon = curve.epsilon(delta)
        assert curve.delta(epsilon) <= delta if delta > 1e-8 else epsilon == math.inf
        assert delta < 1e-8 or curve.delta(epsilon * 0.9999) > delta


@pytest.mark.parametrize(
    "loss",
    [
        Composed(()),
        Laplace(1e6),
        Choice(1e-9),
        Gaussian(1e4),
        Gaussian(1e-300),
        Sampled(Gaussian(1), 1e-9),
        Sampled(Laplace(1e3), 1e-3),
        Sampled(Gaussian(0.1), 0.01, 10**9),
        Sampled(Composed((Gaussian(1), Laplace(1))), 0.1),
        Composed(tuple(Laplace(0.1 + k / 1000) for k in range(100))),
    ],
)
def test_where_the_route_does_not_apply(loss: Loss) -> None:
    assert distribution(loss) is None


def test_the_grid_holds_the_epsilons() -> None:
    kinds = pld._kinds(Composed((Choice(0.1), Choice(0.25))))
    assert kinds is not None
    steps = Fraction(1, 20) / Fraction(pld._grid(kinds, 0.35))
    assert abs(steps - round(steps)) < 1e-9
    assert pld._grid(pld._kinds(Composed((Choice(1e-7), Gaussian(1)))) or kinds, 10.0) == pytest.approx(2e-4)
