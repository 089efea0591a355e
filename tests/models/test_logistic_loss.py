"""The logistic function errs by no more than its proof says."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.models.logistic_loss import DEGREE, HIGH, LOW, PER, TAYLOR, sigmoid

UNIT = 2.0**-53


@pytest.mark.claim("logistic_loss.1")
def test_its_constants_are_what_the_proof_takes_them_for() -> None:
    with mpmath.workprec(300):
        two = mpmath.log(2)
        assert abs(two - mpmath.mpf(HIGH) - mpmath.mpf(LOW)) < mpmath.mpf(2) ** -100
        assert abs(PER * two - 1) < 2.0**-52
        assert all(abs(mpmath.mpf(c) * mpmath.factorial(j) * (-1) ** j - 1) <= UNIT for j, c in enumerate(TAYLOR))
    assert (Fraction(HIGH) * 2**40).denominator == 1
    assert Fraction(HIGH) * 2**40 < 2**40
    assert [Fraction(c) for c in TAYLOR[:3]] == [1, -1, Fraction(1, 2)]


@pytest.mark.claim("logistic_loss.1")
def test_the_steps_of_the_proof_add_up() -> None:
    reach = 0.347
    assert (0.5 + 64 * PER * 4 * UNIT) * math.log(2) < reach
    error = 1 / math.factorial(DEGREE)  # in units of 2^-53
    size = [math.exp(reach) / math.factorial(j) for j in range(DEGREE + 2)]
    for j in range(DEGREE - 1, -1, -1):
        error = 1.01 * ((1 / math.factorial(j) if j > 2 else 0) + reach * error + reach * size[j + 1] + size[j])
    assert error <= 2.7
    left_out = reach ** (DEGREE + 1) * math.exp(reach) / math.factorial(DEGREE + 1) / UNIT
    assert left_out < 0.06
    relative = (2.7 + 0.06) / math.exp(-reach) + 0.7
    assert relative < 4.7
    assert relative / 4 + 2 * 0.51 + 0.5 < 2.8


@pytest.mark.claim("logistic_loss.1")
def test_it_is_as_close_as_it_says() -> None:
    """Random places, the edges of k and those of the range, against 100 digits."""
    rng = np.random.default_rng(0)
    edges = (np.arange(0, 95) + 0.5) * math.log(2)
    near = np.concatenate([edges * (1 + k * 2.0**-52) for k in range(-3, 4)])
    u = np.concatenate(
        [rng.normal(size=4000) * 3, rng.uniform(-70, 70, 4000), near, -near, 10.0 ** rng.uniform(-300, 300, 500)]
    )
    u = np.concatenate([u, [0.0, -0.0, 5e-324, -5e-324, 64.0, -64.0, 1.7e308, -1.7e308]])
    with mpmath.workdps(100):
        true = [
            1 / (1 + mpmath.exp(-mpmath.mpf(float(one)))) if abs(one) < 1e5 else mpmath.mpf(int(one > 0)) for one in u
        ]
        wrong = max(abs(mpmath.mpf(float(a)) - b) for a, b in zip(sigmoid(u), true, strict=True))
    assert wrong <= 3 * UNIT
    assert ((sigmoid(u) >= 0) & (sigmoid(u) <= 1)).all()


@pytest.mark.claim("logistic_loss.1")
def test_a_value_is_the_same_wherever_it_stands() -> None:
    u = np.random.default_rng(1).normal(size=1001) * 20
    alone = np.array([sigmoid(np.array([one]))[0] for one in u])
    assert (sigmoid(u) == alone).all()
