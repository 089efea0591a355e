"""The audit's own parts."""

import pytest

from discreet import audit
from discreet.audit.coverage import proportion_bounds
from discreet.audit.meter import exceeds
from discreet.audit.replay import Recorder
from discreet.audit.worlds import hostile, small
from discreet.errors import BadInput
from discreet.noise.seeded import Seeded
from discreet.promise.loss import Approximate, Choice, Composed, Gaussian, Laplace
from discreet.promise.neighbours import Neighbours
from discreet.statistics.count import Count

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


def test_worlds_are_complete() -> None:
    pairs = small((0, 1, 2), 3, REPLACE)
    assert len(pairs) == (1 + 3 + 6) * 6
    assert all(len(pair.left) == len(pair.right) for pair in pairs)
    assert all(sum(a != b for a, b in zip(pair.left, pair.right, strict=True)) == 1 for pair in pairs)
    added = small((0, 1, 2), 3, ADD)
    assert len(added) == (1 + 3 + 6) * 3 * 2
    assert all(abs(len(pair.left) - len(pair.right)) == 1 for pair in added)
    assert any(pair.left == [] for pair in added)
    assert len(hostile(ADD)) > 40


def test_recorder_sees_every_draw() -> None:
    recorder = Recorder(Seeded(0))
    Count(1.0).release([1, 0], recorder)
    assert [type(request).__name__ for request, _ in recorder.log] == ["Blur"]
    assert audit.drawn(Count(0.5), [1, 0]) == Approximate(0.5, 0)


def test_meter_compares_curves() -> None:
    assert exceeds(Laplace(1), Laplace(1)) is None
    assert exceeds(Composed((Laplace(0.5), Laplace(0.5))), Approximate(1, 0)) is None
    assert exceeds(Composed((Laplace(0.5), Laplace(0.6))), Approximate(1, 0)) is not None
    assert exceeds(Choice(1), Approximate(1, 0)) is None
    assert exceeds(Gaussian(0.5), Gaussian(0.6)) is None
    assert exceeds(Gaussian(0.6), Gaussian(0.5)) is not None


def test_bounds_on_a_share_are_clopper_and_pearson() -> None:
    low, high = proportion_bounds(0, 10, 0.025)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert proportion_bounds(10, 10, 0.025)[1] == 1


def test_distinguish_wants_runs_and_says_what_it_found() -> None:
    with pytest.raises(BadInput, match="runs"):
        audit.distinguish(Count(1.0), [1], [0], runs=10)
    told = audit.distinguish(Count(1.0), [1], [1], runs=400)
    assert told.epsilon < 0.5
    assert "does not refute" in str(told)


def test_check_by_default_uses_numbers_and_can_look_at_outputs() -> None:
    assert audit.check(Count(1.0), runs=200).passed
