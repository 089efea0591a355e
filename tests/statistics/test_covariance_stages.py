"""The stages: what they cost, what they find, and where they go when there is no centre."""

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.calibrate import gaussian
from discreet.accounting.compose import implies
from discreet.accounting.currency import mu, slack
from discreet.audit.replay import Recorder, Replayer
from discreet.errors import Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Approximate, Gaussian, atoms, compose
from discreet.stages.gram import noisy_gram
from discreet.statistics import covariance_stages as second_moment
from discreet.statistics.covariance_stages import FittedMoment, MomentBudget, fit, part, positive

SHARE = Fraction(1, 20)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


@pytest.mark.claim("covariance_stages.1")
@pytest.mark.parametrize("epsilon", [1.0, 16.0])
def test_the_parts_are_within_the_budget_and_use_it(epsilon: Any) -> None:
    for delta in (1e-4, 1e-6):
        for rows, columns in ((100, 1), (5000, 5), (10**6, 30)):
            if epsilon == 16 and delta < 1e-6:  # the slack of the noise alone would cost more
                continue
            stages = MomentBudget(epsilon, delta, mean=SHARE).plan(rows, columns)
            assert implies(stages.loss, Guarantee(epsilon, delta))
            square, miss = mu(stages.loss)
            assert miss == stages.costs.event
            assert float(square) > 0.99 * gaussian(epsilon, 0.9 * delta) ** 2
            assert not implies(stages.loss, Guarantee(epsilon, 0.95 * delta))  # nothing is left over


@pytest.mark.claim("covariance_stages.2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 16.0])
def test_where_the_number_is_private_all_parts_are_within_what_was_fixed_before(epsilon: Any) -> None:
    for delta, columns in ((1e-4, 1), (1e-6, 5), (1e-6, 30)):
        budget = MomentBudget(epsilon, delta, mean=SHARE, neighbours=ADD)
        whole = budget.loss(None, columns)
        assert implies(whole, Guarantee(epsilon, delta, ADD))
        assert not implies(whole, Guarantee(epsilon, 0.95 * delta, ADD))  # nothing is left over
        door = Recorder(Seeded(0))
        budget.counted(10, columns, door)
        for rows in (1, 2, 17, 400, 5000, 10**7):
            assert door.spent == budget.plan(rows, columns).costs["count"]  # known before rows are
            every = budget.plan(rows, columns).loss
            (square, miss), (most, event) = mu(every), mu(whole)
            assert 0.99 * most < square <= most
            assert slack(every) <= slack(whole)
            assert miss == event == exact(delta) / 10
        assert budget.loss(None, None) == Approximate(epsilon, delta)


@pytest.mark.claim("covariance_stages.1")
@pytest.mark.claim("covariance_stages.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_what_is_drawn_is_what_is_listed(relation: Neighbours) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 100.0] + 1e6
    budget = MomentBudget(8.0, 1e-5, mean=SHARE, neighbours=relation)
    stages, door = budget.plan(400, 2), Recorder(Seeded(0))
    if relation is ADD:
        budget.counted(400, 2, door)
    found = fit(rows, stages, door)
    assert isinstance(found, FittedMoment)
    listed = [atom for atom in atoms(stages.loss) if getattr(atom, "epsilon", 1) != 0]
    if relation is REPLACE:
        assert sorted(map(repr, atoms(door.spent))) == sorted(map(repr, listed))
    assert 0.999 * mu(compose(*listed))[0] < mu(door.spent)[0] <= mu(compose(*listed))[0]


@pytest.mark.claim("covariance_stages.2")
@pytest.mark.parametrize("centre", [True, False])
def test_however_few_rows_there_are_the_same_is_drawn(centre: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A noisy number may be far off: no rows, one and two go through all stages, as they do beside each other."""
    if not centre:
        monkeypatch.setattr(second_moment, "find_centre", lambda *_, **__: None)
    stages = MomentBudget(8.0, 1e-5, mean=SHARE, neighbours=ADD).plan(400, 2)
    rows = np.array([[1.0, 2.0], [1.0, 2.0], [math.nan, 1e300], [1.0, -5.0]])
    for size in range(4):
        door = Recorder(Seeded(size))
        ended = fit(rows[:size], stages, door)
        again = Replayer(door)
        other = fit(rows[: size + 1], stages, again)
        assert again.objections == []
        assert again.unused == 0
        assert (ended == other) if isinstance(ended, str) else isinstance(other, FittedMoment)


@pytest.mark.claim("covariance_stages.2")
@pytest.mark.parametrize("fault", [False, True])
def test_one_row_more_may_exchange_a_difference(fault: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One along the first axis for one along the second: noise for a difference that is added would be too small."""
    monkeypatch.setattr(second_moment, "find_centre", lambda *_, **__: None)
    if fault:
        monkeypatch.setattr(
            second_moment, "noisy_gram", lambda *given, **named: noisy_gram(*given, **{**named, "neighbours": ADD})
        )
    stages = MomentBudget(8.0, 1e-5, mean=SHARE, neighbours=ADD).plan(400, 2)
    rows, objections = np.random.default_rng(0).normal(size=(400, 2)), []
    rows[::3] = [3.2, 0.0]
    for seed in range(4):
        door = Recorder(Seeded(seed))
        fit(rows, stages, door)
        again = Replayer(door)
        fit(np.vstack([rows, [0.0, -3.2]]), stages, again)
        objections += again.objections
    assert bool(objections) == fault


@pytest.mark.claim("covariance_stages.4")
def test_the_order_of_rows_changes_nothing() -> None:
    rows = np.random.default_rng(0).normal(size=(400, 2)) * [1.0, 100.0] + 1e6
    moved = np.random.default_rng(1).permutation(400)

    class Composed(Recorder):
        """Its first order is the one that another would have been before the rows were reordered."""

        def permutation(self, size: int) -> Any:
            order = super().permutation(size)
            return order if len(self.log) > 1 else moved[order]

    for relation, door in ((REPLACE, Composed(Seeded(3))), (ADD, Recorder(Seeded(3)))):
        budget = MomentBudget(8.0, 1e-5, mean=SHARE, neighbours=relation)
        one, other = budget.fit(rows, door), budget.fit(rows[moved], Seeded(3))
        assert isinstance(one, FittedMoment)
        assert isinstance(other, FittedMoment)
        assert (one.inside == other.inside).all()
        assert (one.frame.centre == other.frame.centre).all()


@pytest.mark.claim("covariance_stages.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_plans_read_public_numbers(relation: Neighbours) -> None:
    budget = MomentBudget(1.0, 1e-6, mean=SHARE, neighbours=relation)

    def least(columns: int) -> int:
        with pytest.raises(Refused, match=r"bring \d+ rows") as refused:
            budget.check(500, columns)
        return int(float(re.findall(r"takes about (\S+) at", str(refused.value))[0]))

    assert 1000 < least(5) < 4000
    budget.check(least(5) + 5, 5)
    assert least(20) > 2 * least(5)
    assert budget.plan(5000, 5).balls[1] < 4
    assert part(0.5, 0.1, 0.2) == Fraction(1, 5)


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_without_a_centre_differences_take_the_rows_place(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_moment, "find_centre", lambda *_, **__: None)
    rows = np.random.default_rng(0).normal(size=(8000, 2)) * [1.0, 30.0] - 1e7
    found = MomentBudget(4.0, 1e-6, mean=SHARE, neighbours=relation).fit(rows, Seeded(0))
    assert isinstance(found, FittedMoment)
    assert found.shift is None
    assert found.moved == (math.inf, math.inf)
    assert found.rows == pytest.approx(4000 if relation is REPLACE else 2376, rel=0.02)
    back = found.frame.back(np.eye(2))
    assert np.diag(back @ found.inside @ back.T) == pytest.approx([1, 900], rel=0.15)


def test_positive() -> None:
    found = positive(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert np.linalg.eigvalsh(found)[0] == pytest.approx(1e-6)
    assert found == pytest.approx(np.full((2, 2), 1.5), abs=1e-5)


@pytest.mark.claim("covariance_stages.1")
def test_the_slack_of_every_draw_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """With draws whose slack is no smaller at their own strength than at the strongest: each must be reserved."""
    for name in ("gram_cost", "sum_cost"):
        monkeypatch.setattr(second_moment, name, lambda mu, *_, **__: Gaussian(mu, Fraction(1, 10**9)))
    monkeypatch.setattr(second_moment, "SLACK", Fraction(1, 10**8))
    for rows in (300, 3_000, 100_000):
        stages = MomentBudget(1.0, 1e-6, mean=SHARE).plan(rows, 3)
        paid = gaussian(1.0, exact(1e-6) - stages.costs.event, slack(stages.loss))
        assert float(mu(stages.loss)[0]) ** 0.5 <= paid * (1 + 1e-12)
