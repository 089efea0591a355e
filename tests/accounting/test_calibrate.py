import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import calibrate
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
@settings(deadline=None, max_examples=40)
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
