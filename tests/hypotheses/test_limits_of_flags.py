"""Tests of means of flags: a look whether values are 0 or 1, and a limit that then leaves them in."""

from typing import Any

import numpy as np
import pytest

from discreet import audit, mean_test
from discreet.audit.replay import Recorder
from discreet.audit.worlds import Pair, neighbours_of
from discreet.hypotheses import tail_limits
from discreet.hypotheses.limited_tests import LimitedMeanTest
from discreet.noise.additive import Blur
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace

ADD, REPLACE = Neighbours.ADD_OR_REMOVE, Neighbours.REPLACE
FLAGS = [1.0] * 20 + [0.0] * 100
VALUES = (0.0, 1.0, 0.5, float("nan"), float("inf"))


def ask(relation: Neighbours, null: float = 0.2) -> LimitedMeanTest:
    return LimitedMeanTest(null, 20.0, neighbours=relation)


@pytest.mark.claim("tail_limits.4")
@pytest.mark.claim("tail_limits.1")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("others", [0, 10, 25, 40])
def test_flags_and_what_are_none_pass_the_audit(relation: Neighbours, others: int) -> None:
    """The noise of the look has a scale of 5 people: with 25 others it says yes as often as no."""
    rows = [*FLAGS, *(0.3 + index / 100 for index in range(others))]
    world = list(neighbours_of(rows, VALUES, relation, once=True))[:10]
    audit.check(ask(relation), world, hostile_values=False).require()


@pytest.mark.claim("tail_limits.4")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("mutant", ["count twice", "largest value", "never noisy"])
def test_what_moves_more_than_is_claimed_is_found(
    monkeypatch: pytest.MonkeyPatch, relation: Neighbours, mutant: str
) -> None:
    """Planted mutants: a person counts twice, the largest value is looked at, the look has no noise."""
    right = tail_limits._others
    if mutant == "count twice":
        monkeypatch.setattr(tail_limits, "_others", lambda given: 2 * right(given))
    elif mutant == "largest value":
        monkeypatch.setattr(tail_limits, "_others", lambda given: int(max(piece.max() for piece in given)))
    else:
        monkeypatch.setattr(
            tail_limits, "seem_flags", lambda people, cost, rng: not right(iter((np.asarray(people.parts[0]),)))
        )
    pairs = [Pair([*FLAGS, 0.0], [*FLAGS, 7.0]) if relation is REPLACE else Pair(FLAGS, [*FLAGS, 7.0])]
    assert not audit.check(ask(relation), pairs, hostile_values=False).passed


@pytest.mark.claim("tail_limits.4")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_there_is_a_look_where_the_number_tested_is_between_0_and_1(relation: Neighbours) -> None:
    """Of sensitivity 1, it counts values that are neither, missing ones too; the epsilons add up to what was asked."""
    for null, looks in ((0.2, 1), (0.0, 0), (1.0, 0), (-0.5, 0), (30.0, 0)):
        recorder, test = Recorder(Seeded(1)), ask(relation, null)
        found = test.release([*FLAGS, 0.5, float("nan"), 2.0], recorder)
        rows = 123 if relation is REPLACE else found.provenance.parameters["counted"]
        stages = test.stages((rows,))
        asked = [one for one, _ in recorder.log if isinstance(one, Blur)]
        costs = [one.cost for one in asked]
        assert ("flags" in stages) == bool(looks)
        assert [(int(one.values), one.sensitivity) for one in asked if one.sensitivity == 1] == [(3, 1)] * looks
        if looks:
            assert stages.part("flags", Laplace) in costs
        spent: Any = sum(getattr(cost, "epsilon", 0) for parts in stages.parts.values() for cost in parts)
        assert spent == 20


@pytest.mark.claim("tail_limits.4")
@pytest.mark.parametrize("share", [0.005, 0.02, 0.1, 0.5])
@pytest.mark.parametrize(("relation", "size"), [("add_or_remove", 500), ("replace", 800)])
def test_the_true_share_of_flags_is_not_rejected(share: float, relation: str, size: int) -> None:
    """100 runs at about the least n epsilon. At a level of 0.05 that is 5; 20 or more once in 10^6."""
    people = np.random.default_rng(8)
    terms: dict[str, Any] = {"epsilon": 1.0, "neighbours": relation, "missing": "keep"}
    found = [mean_test((people.random(size) < share) * 1.0, share, rng=Seeded(run), **terms) for run in range(100)]
    answers = [release for release in found if release.refusal is None]
    assert len(answers) > 80
    assert sum(release.value.decide(0.05) for release in answers) < 20


@pytest.mark.claim("tail_limits.4")
def test_a_wrong_share_is_found() -> None:
    """5% of 5,000 where 2% is said: 150 people, some 8 standard errors; all of 20 runs."""
    x = np.array([1.0] * 250 + [0.0] * 4750)
    found = [mean_test(x, 0.02, epsilon=1.0, rng=Seeded(run)) for run in range(20)]
    assert sum(release.value.decide(0.01) for release in found) >= 18


@pytest.mark.claim("tail_limits.4")
def test_other_columns_have_narrower_limits() -> None:
    """3,000 values that are neither 0 nor 1 are 30 scales of the noise of the look."""
    x = np.random.default_rng(1).beta(30, 70, 3000)
    assert mean_test(x, 0.3, epsilon=1.0, rng=Seeded(1)).spread.unit < 0.5  # type: ignore[union-attr]
    flags = mean_test((x < 0.3) * 1.0, 0.5, epsilon=1.0, rng=Seeded(1))
    assert flags.spread.unit >= 4 / 3  # type: ignore[union-attr]
