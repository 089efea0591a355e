"""Actual pairs of distributions against the constants, on grids of orders and levels."""

import math
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.currency import (
    amplified,
    checked,
    gap_of_laplace,
    mu,
    pure,
    rho,
    rho_of_choice,
    rho_of_laplace,
    rho_of_pure,
    slack,
    square_of_choice,
    square_of_pure,
)
from discreet.errors import BadInput
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled

sizes = st.floats(1e-6, 20)
simple = st.one_of(
    st.builds(Laplace, sizes),
    st.builds(Choice, sizes),
    st.builds(Gaussian, sizes, st.sampled_from([0, 1e-18])),
    st.builds(Approximate, sizes, st.sampled_from([0, 1e-9, 1e-6])),
)


@pytest.mark.claim("currency.5")
def test_ten_times_a_tenth_is_one() -> None:
    assert pure(Composed((Laplace(0.1), Choice(0.1)) * 5)) == (Fraction(1), Fraction(0))
    assert pure(Composed((Approximate(0.1, 1e-7),) * 10)) == (Fraction(1), Fraction(1, 10**6))
    assert pure(Composed((Laplace(1), Gaussian(1)))) is None
    assert pure(Composed(())) == (Fraction(0), Fraction(0))


@pytest.mark.claim("currency.6")
def test_the_formulas() -> None:
    assert rho(Gaussian(0.2)) == (Fraction(1, 50), Fraction(0))
    assert mu(Gaussian(0.2)) == (Fraction(1, 25), Fraction(0))
    assert rho(Choice(0.4)) == (Fraction(1, 50), Fraction(0))
    assert float(rho(Laplace(1))[0]) == pytest.approx(math.exp(-1), rel=1e-10)
    assert float(rho(Approximate(1, 1e-6))[0]) == pytest.approx(math.tanh(0.5), rel=1e-10)
    assert rho(Approximate(1, 1e-6))[1] == mu(Approximate(1, 1e-6))[1] == Fraction(1, 10**6)
    assert rho(Approximate(0, 0.1)) == mu(Approximate(0, 0.1)) == (Fraction(0), Fraction(1, 10))


@pytest.mark.claim("currency.3")
def test_laplace_noise_pays_for_its_grid_in_rho() -> None:
    """Once for a draw, whatever its number of coordinates; by the sampling rate on a sample; in no pure currency."""
    for epsilon in (0.1, 1, 30):
        gap = gap_of_laplace(Fraction(repr(epsilon)))
        assert gap >= Fraction(repr(epsilon)) ** 2 / 2**43
        assert rho(Laplace(epsilon))[1] == gap
        assert rho(Composed((Laplace(epsilon),) * 3 + (Choice(1),)))[1] == 3 * gap
        assert rho(Sampled(Laplace(epsilon), 0.1, 5))[1] == gap / 2
        assert mu(Laplace(epsilon))[1] == 0  # by pure epsilon, which the grid keeps
        assert pure(Laplace(epsilon)) == (Fraction(repr(epsilon)), Fraction(0))


@pytest.mark.claim("currency.6")
@given(st.lists(simple, max_size=6), st.randoms(use_true_random=False))
def test_sums_whatever_the_order_and_nesting(parts: list[Any], shuffle: Any) -> None:
    other = list(parts)
    shuffle.shuffle(other)
    nested = Composed((Composed(tuple(other[:2])), *other[2:]))
    for cost in (rho, mu):
        assert cost(Composed(tuple(parts))) == cost(nested)
        assert cost(nested)[0] == sum(cost(part)[0] for part in parts)
    assert pure(Composed(tuple(parts))) == pure(nested)
    assert slack(Composed(tuple(parts))) == slack(nested)


@pytest.mark.claim("currency.7")
def test_samples_cost_no_more_than_everybody() -> None:
    for inner in (Laplace(1), Choice(2), Gaussian(0.5), Approximate(1, 1e-6), Composed((Laplace(1), Gaussian(1)))):
        for cost in (rho, mu):
            sampled, whole = cost(Sampled(inner, 0.1, 7)), cost(inner)
            assert sampled[0] <= 7 * whole[0]
            assert sampled[1] == Fraction(7, 10) * whole[1]
    assert pure(Sampled(Approximate(1, 1e-6), 0.1, 3)) == (3 * amplified(1, 0.1), Fraction(3, 10**7))
    assert rho(Sampled(Laplace(1), 0.01))[0] < rho(Laplace(1))[0] / 100  # amplified
    assert rho(Sampled(Gaussian(1), 0.01))[0] == Fraction(1, 2)  # not


def test_slack() -> None:
    loss = Composed((Gaussian(1, 1e-18), Sampled(Gaussian(1, 1e-20), 0.1, 50), Laplace(1)))
    assert slack(loss) == Fraction(3, 2) / 10**18


@pytest.mark.parametrize(
    "loss",
    [None, 1.0, "Laplace", Laplace, Composed((1,)), Composed([Laplace(1)]), Sampled(0.5, 0.5), Laplace(1e-310)],  # type: ignore[arg-type]
)
def test_what_is_not_a_loss(loss: Any) -> None:
    with pytest.raises(BadInput):
        checked(loss)


def test_a_forged_loss() -> None:
    loss = Laplace(1.0)
    object.__setattr__(loss, "epsilon", math.nan)
    with pytest.raises(BadInput):
        checked(loss)


def test_a_loss_passes_unchanged() -> None:
    loss: Loss = Composed((Laplace(1), Sampled(Gaussian(1, 1e-18), 0.5), Approximate(0, 0)))
    assert checked(loss) is loss


Floats = npt.NDArray[np.float64]
ORDERS = np.concatenate([1 + np.geomspace(1e-4, 1, 25), np.geomspace(2.1, 400, 25)])
SIZES = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 12.0]
NORMAL = NormalDist()


def renyi(p: Any, q: Any, order: float, width: float = 1.0) -> float:
    """The Renyi divergence of two mass functions, or of densities on a grid of this width."""
    p, q = np.asarray(p), np.asarray(q)
    terms = order * np.log(p) + (1 - order) * np.log(q)
    top = terms.max()
    return float((top + math.log(np.exp(terms - top).sum() * width)) / (order - 1))


def worst_rho(p: Any, q: Any, width: float = 1.0) -> float:
    """The least rho for which this pair is rho-zCDP on the grid of orders."""
    return max(max(renyi(p, q, float(a), width), renyi(q, p, float(a), width)) / float(a) for a in ORDERS)


def response(epsilon: float) -> tuple[Floats, Floats]:
    p = np.array([1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))])
    return p, p[::-1]


def laplace(epsilon: float) -> tuple[Floats, Floats, float]:
    """Laplace densities of scale 1 / epsilon, a distance 1 apart, on midpoints aligned with both kinks."""
    width = min(1 / epsilon, 1.0) / (200 if epsilon < 0.3 else 1000)
    width = 1 / math.ceil(1 / width)
    reach = math.ceil(40 / epsilon + 1)
    x = (np.arange(-reach / width, (reach + 1) / width) + 0.5) * width
    scale = width * epsilon / 2  # the mean of the density over a cell, where it is one exponential
    height = epsilon / 2 * math.sinh(scale) / scale
    return height * np.exp(-epsilon * abs(x)), height * np.exp(-epsilon * abs(x - 1)), width


def bounded_range(epsilon: float, t: float) -> tuple[Floats, Floats]:
    """Two points with log-ratios t and t - epsilon."""
    q = (1 - math.exp(t - epsilon)) / (math.exp(t) - math.exp(t - epsilon))
    return np.array([math.exp(t) * q, math.exp(t - epsilon) * (1 - q)]), np.array([q, 1 - q])


@pytest.mark.claim("currency.1")
@pytest.mark.parametrize("epsilon", SIZES)
def test_anything_pure(epsilon: float) -> None:
    """Randomised response attains the constant as the order goes to 1, so no smaller one is right."""
    rho = float(rho_of_pure(Fraction(epsilon)))
    assert 0.999 * rho < worst_rho(*response(epsilon)) <= rho


@pytest.mark.claim("currency.1")
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_laplace_noise(epsilon: float) -> None:
    rho = float(rho_of_laplace(Fraction(epsilon)))
    assert 0.998 * rho < worst_rho(*laplace(epsilon)) <= rho * (1 + 1e-5)  # the quadrature's error


@pytest.mark.claim("currency.1")
@pytest.mark.parametrize("epsilon", SIZES)
def test_bounded_range(epsilon: float) -> None:
    rho = float(rho_of_choice(Fraction(epsilon)))
    found = max(worst_rho(*bounded_range(epsilon, t)) for t in np.linspace(0.02, 0.98, 49) * epsilon)
    assert found <= rho
    if epsilon <= 0.5:
        assert found > 0.99 * rho  # planted: eps^2/9 would be caught


@pytest.mark.claim("currency.1")
def test_the_exponential_mechanism_itself() -> None:
    """Scores that move by up to 1 in either direction: within eps^2/8, beyond eps^2/10 for some."""
    rng = np.random.default_rng(20)
    worst = 0.0
    for _ in range(300):
        size = int(rng.integers(2, 6))
        scores, moves = rng.uniform(0, 3, size), rng.choice([-1.0, 1.0], size)
        weights, moved = np.exp(-scores / 2), np.exp(-(scores + moves) / 2)
        worst = max(worst, worst_rho(weights / weights.sum(), moved / moved.sum()))
    assert 1 / 10 < worst <= rho_of_choice(Fraction(1))


@pytest.mark.claim("currency.1")
@pytest.mark.parametrize("steps", [1, 2, 5, 50])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_noise_on_whole_steps_is_not_laplace_noise(epsilon: float, steps: int) -> None:
    """Discrete Laplace noise costs eps - (1 - e^-eps) h / sinh h, h = eps / steps: more than Laplace noise does."""
    h = epsilon / steps
    k = np.arange(-math.ceil(700 / h) if h > 0.5 else -math.ceil(60 / h), math.ceil(60 / h) + steps)
    k = k[np.abs(k) * h < 600]
    p, q = (math.tanh(h / 2) * np.exp(-h * np.abs(k - shift)) for shift in (0, steps))
    rho = epsilon + math.expm1(-epsilon) * h / math.sinh(h)
    found = worst_rho(p, q)
    assert 0.998 * rho < found <= rho * (1 + 1e-9)
    assert rho <= float(rho_of_pure(Fraction(epsilon)))
    if steps == 1:
        assert rho == pytest.approx(float(rho_of_pure(Fraction(epsilon))), rel=1e-9)
        assert found > 1.01 * float(rho_of_laplace(Fraction(epsilon)))
    assert steps < 50 or rho == pytest.approx(float(rho_of_laplace(Fraction(epsilon))), rel=5e-3)


@pytest.mark.claim("currency.1")
def test_wrong_constants_would_be_caught() -> None:
    """Planted: eps^2/8 for anything pure, eps^2/2 - eps^3/4 for Laplace, eps^2/9 for a choice."""
    assert worst_rho(*response(1.0)) > 1 / 8
    assert worst_rho(*laplace(1.0)) > 1 / 4
    assert max(worst_rho(*bounded_range(0.3, t)) for t in (0.14, 0.15, 0.16)) > 0.3**2 / 9


def gaussian_curve(mu: float, levels: Floats) -> Floats:
    return np.array([NORMAL.cdf(NORMAL.inv_cdf(1 - a) - mu) for a in levels])


LEVELS = np.concatenate(
    [np.geomspace(1e-12, 0.01, 60), np.linspace(0.011, 0.989, 400), 1 - np.geomspace(0.01, 1e-9, 60)]
)


def response_curve(epsilon: float) -> Floats:
    return np.maximum(0, np.maximum(1 - math.exp(epsilon) * LEVELS, math.exp(-epsilon) * (1 - LEVELS)))


@pytest.mark.claim("currency.2")
@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 0.999, 1.001, 3.0, 10.0])
def test_anything_pure_is_gaussian_private(epsilon: float) -> None:
    """The Gaussian curve is below that of randomised response, touches it at the kink, and a smaller mu's does not."""
    mu = math.sqrt(square_of_pure(Fraction(epsilon)))
    assert (gaussian_curve(mu, LEVELS) <= response_curve(epsilon) + 1e-14).all()
    kink = np.array([1 / (1 + math.exp(epsilon))])
    assert gaussian_curve(mu, kink) == pytest.approx(kink, rel=1e-8)
    assert gaussian_curve(0.999 * mu, kink) > kink


@pytest.mark.claim("currency.2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_bounded_range_is_gaussian_private(epsilon: float) -> None:
    mu = math.sqrt(square_of_choice(Fraction(epsilon)))
    needed = []
    for t in np.linspace(0.001, 0.999, 199) * epsilon:
        p, q = bounded_range(epsilon, t)
        needed.append(NORMAL.inv_cdf(float(p[0])) - NORMAL.inv_cdf(float(q[0])))
    assert max(needed) == pytest.approx(mu, rel=1e-4)
    assert max(needed) <= mu


@pytest.mark.claim("currency.2")
@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 9.9e-7, 1.01e-6, 599.0, 601.0, 1e6, 1e300])
def test_mu_of_extreme_epsilons(epsilon: float) -> None:
    size = Fraction(epsilon)
    assert 0 < size**2 * Fraction(1, 100) < square_of_pure(size) or epsilon > 500
    assert square_of_pure(size) <= min(8 * size, size**2 * Fraction(158, 100))
    assert 0 < rho_of_laplace(size) <= rho_of_pure(size) * (1 + Fraction(1, 10**10)) <= size**2
    assert 0 < rho_of_choice(size) <= min(size**2 / 8, size)


@pytest.mark.claim("currency.3")
@pytest.mark.parametrize("steps", [1, 2, 7, 64, 1024])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_discrete_noise_exceeds_continuous_noise_by_no_more_than_the_gap(epsilon: float, steps: int) -> None:
    """The exact hockey stick of discrete Laplace noise, against the continuous curve and an event of h^2 / 8."""
    h = epsilon / steps
    k = np.arange(-math.ceil(40 / h), math.ceil(40 / h) + steps + 1)
    p, q = (math.tanh(h / 2) * np.exp(-h * np.abs(k - shift)) for shift in (0, steps))
    largest = 0.0
    for level in np.linspace(0, epsilon, 97):
        found = float(np.maximum(p - math.exp(level) * q, 0).sum())
        continuous = -math.expm1((level - epsilon) / 2)
        gap = math.expm1(2 * h) ** 2 / 32
        assert found <= continuous + gap * (1 - continuous) + 1e-12
        largest = max(largest, (found - continuous) / (1 - continuous))
    assert steps > 64 or largest > 0.2 * min(h * h / 8, 0.05)  # and the gap is real
    assert gap_of_laplace(Fraction(epsilon)) >= Fraction(epsilon) ** 2 / 2**43


def stepped(steps: int, ratio: Fraction) -> dict[int, Fraction]:
    """Discrete Laplace noise, P(k) ~ ratio^|k|, moved by whole steps: the mass at each loss, in units of -log ratio."""
    masses = {steps: 1 / (1 + ratio), -steps: ratio**steps / (1 + ratio)}
    for k in range(1, steps):
        masses[steps - 2 * k] = (1 - ratio) / (1 + ratio) * ratio**k
    return masses


def both(one: dict[int, Fraction], other: dict[int, Fraction]) -> dict[int, Fraction]:
    masses: dict[int, Fraction] = {}
    for loss, mass in one.items():
        for more, share in other.items():
            masses[loss + more] = masses.get(loss + more, Fraction(0)) + mass * share
    return masses


@pytest.mark.claim("currency.4")
@pytest.mark.parametrize("ratio", [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("moves", [(1, 1), (3, 2), (1, 6, 2), (4, 4, 4, 4), (1,) * 12, (10, 1, 1)])
def test_a_vector_is_no_worse_than_one_coordinate_that_moves_as_far(moves: tuple[int, ...], ratio: Fraction) -> None:
    """Every test of every ratio t, in rationals: so one gap is due for a vector, not one for each coordinate."""
    vector = stepped(moves[0], ratio)
    for move in moves[1:]:
        vector = both(vector, stepped(move, ratio))
    single = stepped(sum(moves), ratio)
    assert sum(vector.values()) == sum(single.values()) == 1

    def curve(masses: dict[int, Fraction], t: Fraction) -> Fraction:
        return sum((max(Fraction(0), mass * (1 - t * ratio**loss)) for loss, mass in masses.items()), Fraction(0))

    knots = [ratio**-k for k in range(-sum(moves) - 1, sum(moves) + 2)]
    for low, high in pairwise(knots):  # the curves are linear between these
        for t in (low, (low + high) / 2):
            assert curve(vector, t) <= curve(single, t)


@pytest.mark.claim("currency.3")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0, 1000.0])
def test_the_gap_is_due_at_the_coarsest_grid_and_enough(epsilon: float) -> None:
    """Half-way along the chord from t to t e^2h, h = epsilon / 2^20: discrete less continuous noise."""
    digits = mpmath.mp.clone()
    digits.dps = 200
    h = digits.mpf(epsilon) / 2**20
    for j in (1, 1000, 2**18):
        low, high = (digits.exp(epsilon - 2 * h * k) for k in (j, j - 1))
        smooth = [1 - digits.sqrt(t * digits.exp(-epsilon)) for t in (low, (low + high) / 2, high)]
        above = ((smooth[0] + smooth[2]) / 2 - smooth[1]) / (1 - smooth[1])
        gap = digits.mpf(gap_of_laplace(Fraction(epsilon)).numerator) / gap_of_laplace(Fraction(epsilon)).denominator
        assert 0.98 * gap < above <= gap
