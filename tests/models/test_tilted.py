"""The logistic loss with a bound on its rounding."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.models.features import Prepared, Scaling, prepared
from discreet.models.tilted import LogisticLoss


def loss(rows: int, seed: int = 0) -> LogisticLoss:
    rng = np.random.default_rng(seed)
    table = np.column_stack([rng.normal(size=(rows, 2)) * [1, 8], rng.integers(0, 2, rows)])
    return LogisticLoss(prepared(table, Scaling(np.zeros(2), np.ones(2), True)))


@pytest.mark.claim("GM1")
def test_one_person_is_no_steeper_or_more_curved_than_claimed() -> None:
    for seed in range(40):
        one = loss(1, seed)
        for w in (np.zeros(3), np.array([5.0, -3.0, 0.1]), np.array([-100.0, 50.0, 3.0])):
            assert np.linalg.norm(one.gradient(w)[0]) <= 1
            values = np.linalg.eigvalsh(one.hessian(w))
            assert values.max() <= 0.25 + 1e-15
            assert values[:-1].max() <= 1e-15


@pytest.mark.claim("GM2")
@pytest.mark.parametrize("size", [0.1, 3.0, 4000.0])
def test_the_gradient_errs_by_less_than_it_says(size: float) -> None:
    """Against sums of fractions of 50-digit residuals."""
    from decimal import Decimal, getcontext

    getcontext().prec = 50
    found = loss(300)
    w = np.random.default_rng(1).normal(size=3) * size
    gradient, off = found.gradient(w)
    total = [Decimal(0)] * 3
    scale = Decimal(1024) * Decimal(found.rows.radius)
    for steps, weight, y in zip(found.rows.steps.tolist(), found.rows.weight, found.rows.outcome, strict=True):
        linear = sum(Decimal(s) * Decimal(float(part)) for s, part in zip(steps, w, strict=True)) * Decimal(found.per)
        residual = (1 / (1 + (-linear).exp()) - Decimal(float(y))) * Decimal(float(weight))
        total = [t + residual * s / scale for t, s in zip(total, steps, strict=True)]
    wrong = math.sqrt(sum(float(Decimal(float(g)) - t) ** 2 for g, t in zip(gradient, total, strict=True)))
    assert wrong <= off < 1e-9
    assert Fraction(off) > 0


def test_nobody_has_no_slope() -> None:
    nobody = LogisticLoss(Prepared(np.empty((0, 2), dtype=np.int16), np.empty(0), np.empty(0), 1.0))
    assert nobody.gradient(np.ones(2))[0].tolist() == [0.0, 0.0]
