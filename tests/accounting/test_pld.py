import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from discreet.accounting import pld
from discreet.accounting.calibrate import delta_of_mu
from discreet.accounting.currency import gap_of_laplace
from discreet.accounting.loss_sums import dots
from discreet.accounting.pld import distribution
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled


def found(loss: Loss) -> pld.LossDistribution:
    result = distribution(loss)
    assert result is not None
    return result


def hockey(p: Any, q: Any, epsilon: float) -> float:
    return float(np.maximum(np.asarray(p) - math.exp(epsilon) * np.asarray(q), 0).sum())


def responses(epsilons: list[float]) -> tuple[list[float], list[float]]:
    """The joint distribution of randomised responses to 1 and to 0, by enumeration."""
    p, q = [], []
    for bits in product((0, 1), repeat=len(epsilons)):
        rights = [1 / (1 + math.exp(-e)) for e in epsilons]
        p.append(math.prod(r if bit else 1 - r for r, bit in zip(rights, bits, strict=True)))
        q.append(math.prod(1 - r if bit else r for r, bit in zip(rights, bits, strict=True)))
    return p, q


@pytest.mark.claim("pld.1")
@pytest.mark.parametrize("epsilons", [[0.1] * 10, [0.1, 0.2, 0.3, 0.37], [1.0, 0.001], [math.pi, math.e, 1.0]])
def test_randomised_responses_by_enumeration(epsilons: list[float]) -> None:
    curve = found(Composed(tuple(Approximate(e, 0) for e in epsilons)))
    p, q = responses(epsilons)
    for epsilon in np.linspace(0, sum(epsilons) * 1.01, 23):
        true = hockey(p, q, epsilon)
        assert true <= curve.delta(float(epsilon)) <= true + 2e-4


@pytest.mark.claim("pld.1")
@pytest.mark.parametrize(("size", "times"), [(0.1, 100), (0.01, 1000), (0.03, 5000)])
def test_many_responses_against_the_binomial(size: float, times: int) -> None:
    """Never below, and four digits down to the smallest delta."""
    curve = found(Composed((Choice(size),) * times))
    kept = np.arange(times + 1)
    logs = [math.lgamma(times + 1) - math.lgamma(k + 1) - math.lgamma(times - k + 1) for k in kept]
    mass = np.exp(np.array(logs) - kept * np.log1p(math.exp(-size)) - (times - kept) * np.log1p(math.exp(size)))
    losses = (2 * kept - times) * size
    for x in (0.5, 2, 4, 5, 6, 6.5, 8, 9.5):
        epsilon = x * size * math.sqrt(times)
        above = losses > epsilon
        true = float((mass[above] * -np.expm1(epsilon - losses[above])).sum())
        assert true * (1 - 1e-9) <= curve.delta(epsilon) <= true * (1 + 1e-4)  # the sum of floats: 1e-9


@pytest.mark.claim("pld.1")
@pytest.mark.parametrize(("mu", "other"), [(0.2, 1e-4), (1.0, 1e-3), (2.5, 1e-3)])
def test_gaussian_noise_with_next_to_nothing_else(mu: float, other: float) -> None:
    curve = found(Composed((Gaussian(mu), Laplace(other))))
    for x in (0.5, 2, 4, 5):
        epsilon = mu * mu / 2 + x * mu
        assert curve.delta(epsilon) >= delta_of_mu(epsilon, mu) * (1 - 1e-10)
        assert curve.delta(epsilon) <= delta_of_mu(epsilon - other, mu) * (1 + 1e-4) + 1e-12


@pytest.mark.claim("pld.1")
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


@pytest.mark.claim("pld.1")
def test_a_shift_in_two_coordinates_is_no_worse_than_one_of_the_same_size() -> None:
    for first, second in ((0.5, 0.5), (0.9, 0.1), (2.0, 1.0)):
        apart, together = found(Composed((Laplace(first), Laplace(second)))), found(Laplace(first + second))
        for share in (0, 0.3, 0.7, 0.95):
            epsilon = share * (first + second)
            assert apart.delta(epsilon) <= together.delta(epsilon) + 1e-9
            assert together.delta(epsilon) == pytest.approx(-math.expm1((epsilon - first - second) / 2), rel=1e-6)


@pytest.mark.claim("pld.1")
@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 10)])
def test_sampled_responses_by_enumeration_in_rationals(rate: Fraction) -> None:
    """Sampled randomised responses of odds 3, met 12 times: all outcomes as rationals, both directions."""
    right, times = Fraction(3, 4), 12
    loss = Sampled(Approximate(math.nextafter(math.log(3), 2), 0), rate, times)
    curve = found(loss)
    with_, without = (rate * right + (1 - rate) * (1 - right), 1 - right)
    for p, q in ((with_, without), (without, with_)):
        for epsilon in np.linspace(0, 1.2, 25):
            true = Fraction(0)
            for k in range(times + 1):
                mine, other = (math.comb(times, k) * x**k * (1 - x) ** (times - k) for x in (p, q))
                true += max(Fraction(0), mine - Fraction(math.exp(epsilon)) * other)
            assert curve.delta(float(epsilon)) >= float(true) * (1 - 1e-12)


@pytest.mark.claim("pld.1")
@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-12, 1e-15])
def test_tiny_deltas_of_laplace_and_gaussian_noise_by_quadrature(delta: float) -> None:
    """The curve of both is the mean of the Gaussian curve over Laplace losses, integrated to thirty digits."""
    curve = found(Composed((Gaussian(0.7), Laplace(1))))
    epsilon = curve.epsilon(delta)
    true = gaussian_beside_laplace(0.7, 1.0, epsilon)
    assert true * (1 - 1e-10) <= curve.delta(epsilon) <= delta  # the quadrature's error
    assert curve.delta(epsilon) <= true * (1 + 1e-5) + 1e-12 * 1e-5 + 2 * float(gap_of_laplace(Fraction(1)))
    assert gaussian_beside_laplace(0.7, 1.0, epsilon * 0.9999) > delta * (1 - 1e-2) or delta < 1e-12


@pytest.mark.claim("currency.3")
def test_laplace_noise_pays_for_its_grid_in_the_distribution() -> None:
    """The curve of noise on 2^20 steps, half-way along a chord, where it is farthest above the continuous one."""
    size = Fraction(1000)
    assert gap_of_laplace(size) > 1e-7
    smooth, stepped = (
        pld._laplace(1000.0, gap)(np.array([900.0, 1000.0])) for gap in (0.0, float(gap_of_laplace(size)))
    )
    assert stepped[0] - smooth[0] == pytest.approx(float(gap_of_laplace(size)) * (1 - smooth[0]), rel=1e-6)
    assert stepped[1] == 0  # pure epsilon holds
    part = pld._part(pld.Kind("laplace", Fraction(200)), 0.5, False)
    bare = dots(pld._laplace(200.0, 0.0), pld._laplace(200.0, 0.0), 0.5, -400, 400)
    curves = []
    for each in (part, bare):
        losses = 0.5 * (each.first + np.arange(len(each.masses)))
        curves.append(float((each.masses * -np.expm1(np.minimum(0.0, 199.0 - losses))).sum()))
    assert curves[0] - curves[1] > 0.6 * float(gap_of_laplace(Fraction(200)))  # e^-0.5 of it, as [currency.3] says


def gaussian_beside_laplace(mu: float, size: float, epsilon: float) -> float:
    """The delta of Gaussian and (continuous) Laplace noise together."""
    digits = mpmath.mp.clone()
    digits.dps = 40

    def gaussian(loss: Any) -> Any:
        return digits.ncdf(mu / 2 - loss / mu) - digits.exp(loss) * digits.ncdf(-mu / 2 - loss / mu)

    half = (
        digits.mpf(1) / 2
    )  # at loss size with 1/2, at -size with e^-size / 2, and between with density e^{(l - size)/2}/4
    value = half * gaussian(epsilon - digits.mpf(size)) + half * digits.exp(-size) * gaussian(
        epsilon + digits.mpf(size)
    )
    between = digits.quad(
        lambda loss: digits.exp((loss - size) / 2) / 4 * gaussian(epsilon - loss), [-size, -size / 2, 0, size / 2, size]
    )
    return float(value + between)


@pytest.mark.claim("pld.1")
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
        Approximate(0.1, 1),
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
    assert pld._grid(pld._kinds(Composed((Choice(1e-7), Gaussian(1)))) or kinds, 10.0) == pytest.approx(10 / pld.POINTS)
