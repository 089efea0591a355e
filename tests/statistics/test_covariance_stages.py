"""The stages: what they cost, what they find, and where they go when there is no centre."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.calibrate import gaussian
from discreet.accounting.compose import implies
from discreet.accounting.currency import mu, slack
from discreet.audit.replay import Recorder
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Gaussian, atoms
from discreet.statistics import covariance_stages as second_moment
from discreet.statistics import whiten
from discreet.statistics.covariance_stages import FittedMoment, fit, needed, part, plan, positive

SHARE = Fraction(1, 20)


@pytest.mark.claim("covariance_stages.1")
@pytest.mark.parametrize("epsilon", [1.0, 16.0])
@pytest.mark.parametrize("model", [True, False])
def test_the_parts_are_within_the_budget_and_use_it(epsilon: Any, model: bool) -> None:
    for delta in (1e-4, 1e-6):
        for rows, columns in ((100, 1), (5000, 5), (10**6, 30)):
            if epsilon == 16 and delta < 1e-6:  # the slack of the noise alone would cost more
                continue
            stages = plan(epsilon, delta, rows, columns, model=model, mean=SHARE)
            assert implies(stages.loss, Guarantee(epsilon, delta))
            square, miss = mu(stages.loss)
            assert miss == stages.costs.event
            assert float(square) > 0.99 * gaussian(epsilon, 0.9 * delta) ** 2
            assert not implies(stages.loss, Guarantee(epsilon, 0.95 * delta))  # nothing is left over


@pytest.mark.claim("covariance_stages.1")
@pytest.mark.parametrize("model", [True, False])
def test_what_is_drawn_is_what_is_listed(model: bool) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 100.0] + 1e6
    stages = plan(8.0, 1e-5, 400, 2, model=model, mean=SHARE)
    door = Recorder(Seeded(0))
    found = fit(rows, stages, door)
    assert isinstance(found, FittedMoment)
    listed = [atom for atom in atoms(stages.loss) if getattr(atom, "epsilon", 1) != 0]
    assert sorted(map(repr, atoms(door.spent))) == sorted(map(repr, listed))


@pytest.mark.claim("covariance_stages.2")
def test_plans_read_public_numbers() -> None:
    assert not plan(1.0, 1e-6, 500, 5, model=True, mean=SHARE).enough
    least = needed(1.0, 1e-6, 5, model=True, mean=SHARE)
    assert 1000 < least < 4000
    assert plan(1.0, 1e-6, least, 5, model=True, mean=SHARE).enough
    assert needed(1.0, 1e-6, 20, model=True, mean=SHARE) > 2 * least
    free = plan(1.0, 1e-6, 5000, 5, model=False, mean=SHARE)
    assert free.shape == "clip"
    assert 300 < free.beyond < 600
    assert free.balls(7.0) == (7.0, 7.0)
    modelled = plan(1.0, 1e-6, 5000, 5, model=True, mean=SHARE)
    assert modelled.shape == "taper"
    assert modelled.balls(0.0)[1] < 4
    assert part(0.5, 0.1, 0.2) == Fraction(1, 5)


def test_without_a_centre_differences_take_the_rows_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_moment, "find_centre", lambda *_, **__: None)
    rows = np.random.default_rng(0).normal(size=(8000, 2)) * [1.0, 30.0] - 1e7
    for model in (True, False):
        found = fit(rows, plan(4.0, 1e-6, 8000, 2, model=model, mean=SHARE), Seeded(0))
        assert isinstance(found, FittedMoment)
        assert found.shift is None
        assert found.moved == (math.inf, math.inf)
        assert found.rows == 4000
        back = found.frame.back(np.eye(2))
        assert np.diag(back @ found.inside @ back.T) == pytest.approx([1, 900], rel=0.15)


@pytest.mark.claim("covariance_stages.2")
def test_a_column_cut_off_is_refused_by_what_was_released(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(8000, 2))
    found: Any = whiten.find_frame

    def narrow(*given: Any) -> Any:
        frame = found(*given)
        return type(frame)(frame.centre, frame.per * [1.0, 1e4], frame.whole, frame.step)

    monkeypatch.setattr(second_moment, "find_frame", narrow)
    end = fit(rows, plan(4.0, 1e-6, 8000, 2, model=False, mean=SHARE), Seeded(0))
    assert isinstance(end, str)
    assert "column 1" in end


def test_positive() -> None:
    found = positive(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert np.linalg.eigvalsh(found)[0] == pytest.approx(1e-6)
    assert found == pytest.approx(np.full((2, 2), 1.5), abs=1e-5)


@pytest.mark.claim("covariance_stages.1")
def test_the_slack_of_every_draw_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """With draws whose slack is no smaller at their own strength than at the strongest: each must be reserved."""
    for name in ("gram_cost", "sum_cost"):
        monkeypatch.setattr(second_moment, name, lambda mu, *rest: Gaussian(mu, Fraction(1, 10**9)))
    monkeypatch.setattr(second_moment, "SLACK", Fraction(1, 10**8))
    for rows in (300, 3_000, 100_000):
        stages = plan(1.0, 1e-6, rows, 3, model=False, mean=SHARE)
        paid = gaussian(1.0, exact(1e-6) - stages.costs.event, slack(stages.loss))
        assert float(mu(stages.loss)[0]) ** 0.5 <= paid * (1 + 1e-12)
