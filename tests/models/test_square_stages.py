"""What the stages of least squares pay for."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting import compose
from discreet.accounting.calibrate import gaussian
from discreet.models import square_stages as squares
from discreet.privacy.loss import Gaussian


@pytest.mark.claim("square_stages.1")
@pytest.mark.parametrize("rows", [None, 2_000])
@pytest.mark.parametrize("width", [2, 3, 4, 9])
def test_the_slack_of_every_draw_is_paid(monkeypatch: pytest.MonkeyPatch, width: int, rows: int | None) -> None:
    """With draws whose slack is no smaller at their own strength than at the strongest: each must be reserved."""

    def costing(mu: Fraction, *rest: Any) -> Gaussian:
        del rest
        return Gaussian(mu, Fraction(1, 10**9))

    monkeypatch.setattr(squares, "gram_cost", costing)
    monkeypatch.setattr(squares, "_counted", costing)
    loss = squares.plan(1.0, 1e-7, rows, width, 2, centred=True).loss
    size, lost = compose.mu(loss)
    assert not lost
    assert float(size) ** 0.5 <= gaussian(1.0, 1e-7, compose.slack(loss)) * (1 + 1e-12)
    assert float(size) ** 0.5 >= gaussian(1.0, 1e-7, compose.slack(loss)) * (1 - 1e-3)  # and nothing twice
