import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import calibrate
from discreet.accounting.calibrate import FLOOR, delta_of_mu, delta_of_rho, mills
from discreet.accounting.compose import implies
from discreet.errors import BadInput
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Gaussian

TABLE = [  # theory/statistics.md section 11: epsilon, delta, mu, sigma, classical sigma, rho, rho by the simple formula
    (0.1, 1e-6, 0.02754, 36.3, 53.0, 0.00032, 0.00018),
    (0.5, 1e-6, 0.12411, 8.06, 10.6, 0.00664, 0.00444),
    (1, 1e-6, 0.23670, 4.22, 5.30, 0.02436, 0.01747),
    (2, 1e-6, 0.44833, 2.23, 2.65, 0.08815, 0.06757),
    (1, 1e-9, 0.18197, 5.50, 6.47, 0.01497, 0.01178),
]


@pytest.mark.claim("calibrate.3")
@pytest.mark.parametrize("row", TABLE)
def test_the_table_of_the_theory(row: tuple[float, ...]) -> None:
    epsilon, delta, mu, sigma, classical, rho, simple = row
    assert calibrate.gaussian(epsilon, delta) == pytest.approx(mu, abs=6e-6)
    assert 1 / calibrate.gaussian(epsilon, delta) == pytest.approx(sigma, rel=2e-3)
    assert math.sqrt(2 * math.log(1.25 / delta)) / epsilon == pytest.approx(classical, rel=2e-3)
    assert calibrate.rho(epsilon, delta) == pytest.approx(rho, abs=6e-6)
    log = math.log(1 / delta)
    assert (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2 == pytest.approx(simple, abs=6e-6)


@pytest.mark.claim("calibrate.3")
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1, 30, 1e3])
@pytest.mark.parametrize("delta", [1e-30, 1e-9, 1e-6, 0.01, 0.9])
def test_calibrated_noise_is_within_and_hardly_below(epsilon: float, delta: float) -> None:
    mu, rho = calibrate.gaussian(epsilon, delta), calibrate.rho(epsilon, delta)
    assert calibrate.delta_of_mu(epsilon, mu) <= delta < calibrate.delta_of_mu(epsilon, mu * (1 + 1e-9))
    assert calibrate.delta_of_rho(epsilon, rho) <= delta < calibrate.delta_of_rho(epsilon, rho * (1 + 1e-9))
    assert implies(Gaussian(mu), Guarantee(epsilon, delta))
    assert not implies(Gaussian(mu * (1 + 1e-8)), Guarantee(epsilon, delta))
    assert rho < mu * mu / 2 * (1 + 1e-9)  # zCDP knows less than Gaussian noise


@pytest.mark.claim("calibrate.3")
@pytest.mark.parametrize("slack", [1e-18, 1e-12, 1e-8])
def test_slack_is_kept_from_delta(slack: float) -> None:
    mu = calibrate.gaussian(1.0, 1e-6, slack)
    assert calibrate.delta_of_mu(1.0, mu) + (1 + math.e) * slack <= 1e-6
    assert implies(Gaussian(mu, slack), Guarantee(1.0, 1e-6))
    assert not implies(Gaussian(mu, slack * 1.5 + 1e-15), Guarantee(1.0, 1e-6))


@pytest.mark.claim("calibrate.4")
@settings(max_examples=40)
@given(st.floats(1e-6, 50), st.floats(1e-30, 0.5), st.floats(1.001, 1e3))
def test_epsilon_falls_with_delta_and_is_an_upper_bound(size: float, delta: float, more: float) -> None:
    wide = min(delta * more, 0.9)
    for epsilon_of, delta_of in (
        (calibrate.epsilon_of_mu, calibrate.delta_of_mu),
        (calibrate.epsilon_of_rho, calibrate.delta_of_rho),
    ):
        epsilon = epsilon_of(size, delta)
        assert delta_of(epsilon, size) <= delta
        assert epsilon_of(size, wide) <= epsilon


def test_round_trips() -> None:
    for epsilon in (1e-6, 0.3, 7.0, 1e3):
        assert calibrate.epsilon_of_mu(calibrate.gaussian(epsilon, 1e-6), 1e-6) == pytest.approx(epsilon, rel=1e-4)
        assert calibrate.epsilon_of_rho(calibrate.rho(epsilon, 1e-6), 1e-6) == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.parametrize("delta", [0, -1e-6, 1, 2, math.nan, 1e-310, True, "small"])
def test_bad_delta(delta: float) -> None:
    for function in (calibrate.gaussian, calibrate.rho, calibrate.epsilon_of_mu, calibrate.epsilon_of_rho):
        with pytest.raises(BadInput, match="delta is"):
            function(1.0, delta)


@pytest.mark.parametrize("epsilon", [-1, math.nan, math.inf, None])
def test_bad_epsilon(epsilon: float) -> None:
    with pytest.raises(BadInput, match="epsilon is"):
        calibrate.gaussian(epsilon, 1e-6)


def test_slack_that_eats_delta() -> None:
    with pytest.raises(BadInput, match="slack"):
        calibrate.gaussian(1.0, 1e-6, 1e-6)
    with pytest.raises(BadInput, match="slack"):
        calibrate.gaussian(1.0, 1e-6, -1e-9)
    with pytest.raises(BadInput, match="finer grid"):
        calibrate.gaussian(800.0, 1e-6, 1e-18)


def exact_delta(epsilon: float, mu: float) -> Any:
    with mp.workdps(60):
        e, m = mp.mpf(epsilon), mp.mpf(mu)
        root = mp.sqrt(2)
        return (mp.erfc((e / m - m / 2) / root) - mp.exp(e) * mp.erfc((e / m + m / 2) / root)) / 2


@pytest.mark.claim("calibrate.1")
@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.1, 1.0, 3.0, 40.0, 1e3, 1e4])
def test_gaussian_curve_against_sixty_digits(epsilon: float) -> None:
    """Never below, at most 1e-10 above, from delta near 1 down to 1e-290."""
    for a in np.linspace(-6, 36, 43):
        mu = -a + math.sqrt(a * a + 2 * epsilon)  # epsilon / mu - mu / 2 = a
        true = exact_delta(epsilon, mu)
        if mu > 0 and true > 1e-290:
            ratio = float(delta_of_mu(epsilon, mu) / true) - 1
            assert 0 <= ratio < 1e-10 or delta_of_mu(epsilon, mu) == 1.0, (epsilon, mu)


@pytest.mark.claim("calibrate.1")
def test_at_epsilon_0_it_is_the_total_variation() -> None:
    for mu in (1e-12, 1e-3, 0.4, 0.6, 3.0, 60.0):
        assert delta_of_mu(0, mu) == pytest.approx(math.erf(mu / math.sqrt(8)), rel=1e-10)


@pytest.mark.claim("calibrate.1")
@pytest.mark.claim("calibrate.2")
def test_no_overflow_no_underflow_to_a_pure_promise() -> None:
    sizes = [5e-324, 1e-300, 1e-9, 1.0, 1e6, 1e150, 1e300, 1.7e308, 10**400]
    for epsilon in [0, *sizes]:
        for size in sizes:
            for curve in (delta_of_mu, delta_of_rho):
                assert FLOOR <= curve(epsilon, size) <= 1
    assert delta_of_mu(1, 10**400) == delta_of_rho(1, 10**400) == 1
    assert delta_of_mu(1, 0) == delta_of_rho(1, 0) == 0


@pytest.mark.claim("calibrate.1")
def test_mills_ratio_against_forty_digits() -> None:
    """The ratio, and one minus x times it, which cancels."""
    places = np.concatenate([np.random.default_rng(1).uniform(-0.25, 39, 4000), np.geomspace(1e-12, 39, 400)])
    for x, ratio in zip(places, mills(places), strict=True):
        with mp.workdps(40):
            place = mp.mpf(float(x))
            true = mp.erfc(place / mp.sqrt(2)) / 2 / mp.npdf(place)
            assert abs(mp.mpf(float(ratio)) / true - 1) < 2e-15
            assert abs(mp.mpf(float(1 - x * ratio)) / (1 - place * true) - 1) < 1e-12
        assert mills(float(x)) == ratio
    assert mills(1e6) == pytest.approx(1e-6, rel=2e-12)


@pytest.mark.claim("calibrate.2")
@pytest.mark.parametrize("rho", [1e-8, 1e-3, 0.02, 0.5, 5.0, 200.0])
def test_zcdp_conversion_is_the_best_over_all_orders(rho: float) -> None:
    t = np.geomspace(1e-9, 1e9, 200_001)
    for epsilon in (rho, rho + 2 * math.sqrt(rho), rho + 5 * math.sqrt(rho), rho + 9 * math.sqrt(rho)):
        with np.errstate(over="ignore"):
            exponents = t * ((1 + t) * rho - epsilon - np.log1p(1 / t)) - np.log1p(t)
        assert delta_of_rho(epsilon, rho) == pytest.approx(math.exp(exponents.min()), rel=1e-6)


@pytest.mark.claim("calibrate.2")
def test_zcdp_conversion_is_never_below_the_gaussian_that_has_this_rho() -> None:
    for mu in np.geomspace(1e-4, 20, 25):
        for x in np.linspace(-2, 12, 15):
            epsilon = mu * mu / 2 + max(x, -mu / 2) * mu
            assert delta_of_rho(epsilon, mu * mu / 2) >= delta_of_mu(epsilon, mu) * (1 - 1e-9)


@pytest.mark.claim("calibrate.2")
def test_zcdp_conversion_covers_randomised_response() -> None:
    for size in (0.1, 1.0, 4.0):
        rho = size * math.tanh(size / 2)
        for epsilon in np.linspace(0, size, 20):
            true = (1 - math.exp(epsilon - size)) / (1 + math.exp(-size))
            assert delta_of_rho(epsilon, rho) >= true


@pytest.mark.claim("calibrate.2")
def test_a_wrong_conversion_would_be_caught() -> None:
    """Planted: the factor (1 - 1/a)^a / (a - 1) forgotten makes it larger, squared makes it invalid."""

    def squared(epsilon: float, rho: float) -> float:
        t = np.geomspace(1e-6, 1e6, 10_001)
        return float(np.exp((t * ((1 + t) * rho - epsilon) - 2 * t * np.log1p(1 / t) - 2 * np.log1p(t)).min()))

    assert squared(1.0, 0.02) < delta_of_mu(1.0, math.sqrt(0.04)) < delta_of_rho(1.0, 0.02)
