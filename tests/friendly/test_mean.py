"""FriendlyMean: what it promises, what it draws, what it says."""

from typing import Any

import numpy as np
import pytest
from tests.friendly.worlds import ADD, REPLACE, crowds

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput, Refused
from discreet.friendly.friendly_mean import FriendlyMean, Method
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Approximate, atoms
from discreet.privacy.neighbours import Neighbours

KINDS: list[tuple[Neighbours, Method]] = [
    (REPLACE, "match"),
    (ADD, "match"),
    (REPLACE, "weights"),
    (REPLACE, "reference"),
]


@pytest.mark.claim("friendly_mean.2")
@pytest.mark.claim("friendly_budget.1")
@pytest.mark.parametrize("epsilon", [1e-2, 0.1, 1.0, 5.0, 17.0, 30.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-10])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_loss_implies_guarantee_and_covers_the_draws(
    epsilon: float, delta: float, kind: tuple[Neighbours, Method]
) -> None:
    """Also where it refuses: the charge is the same, and was made before."""
    relation, method = kind
    mechanism = FriendlyMean(1.0, epsilon, delta, neighbours=relation, method=method)
    assert implies(mechanism.loss, mechanism.guarantee)
    assert Approximate(0, atoms(mechanism.loss)[1].delta) in atoms(mechanism.loss)  # type: ignore[union-attr]
    for rows in (np.zeros((40, 2)), np.arange(40.0)[:, None] * 9, np.zeros((2, 1))):
        assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("friendly_mean.2")
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_audit(kind: tuple[Neighbours, Method]) -> None:
    relation, method = kind
    mechanism = FriendlyMean(1.0, 17.0, 1e-4, neighbours=relation, method=method, columns=1)
    world = crowds(relation, 30, (10, 40))
    audit.check(mechanism, world, hostile_values=method == "match").require()
    answers = [mechanism.release(pair.left, Seeded(0)).refusal is None for pair in world]
    assert sum(answers) > 5


@pytest.mark.study
@pytest.mark.claim("friendly_mean.2")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_outputs_do_not_refute_it(relation: Neighbours) -> None:
    crowd = [0.0] * 30
    mechanism = FriendlyMean(1.0, 2.0, 1e-4, neighbours=relation, columns=1, share=0.5)
    one, other = [*crowd, 1.0], crowd if relation is ADD else [*crowd, -1.0]
    assert not audit.distinguish(mechanism, one, other, runs=500).violated


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_far_away_with_strangers(kind: tuple[Neighbours, Method]) -> None:
    relation, method = kind
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2)) + np.array([1e6, -1e6])
    rows[:100] = rng.choice([np.nan, np.inf, 1e300, 0.0], size=(100, 2))
    release = discreet.friendly.FriendlyMean(14.0, 2.0, 1e-6, neighbours=relation, method=method).release(
        rows, Seeded(1)
    )
    deviation = release.spread.privacy if release.spread else 0.0
    assert np.abs(release.value - [1e6, -1e6]).max() < 6 * deviation + 0.15
    interval = release.interval(0.99)
    assert not interval.population
    assert (interval.low < release.value).all()
    assert (interval.high > release.value).all()
    assert release.provenance.parameters["rows"] == (3000 if relation is REPLACE else None)
    assert release.provenance.parameters["survivors"] < 3000


def test_how_much_noise_it_takes() -> None:
    """In units of r / (n mu(1, 1e-6)), all rows in one place: within a little of what was worked out before."""
    for relation, expected in (
        (REPLACE, {100: 7.39, 200: 3.99, 500: 2.80, 1000: 2.46}),
        (ADD, {200: 1.49, 500: 1.23, 1000: 1.14}),
    ):
        for size, figure in expected.items():
            mechanism = FriendlyMean(1.0, 1.0, 1e-6, neighbours=relation)
            runs = [mechanism.release(np.zeros((size, 1)), Seeded(seed)) for seed in range(15)]
            noise = [run.spread.privacy * size * 0.236704 for run in runs if run.spread]
            assert len(noise) >= 14
            assert np.median(noise) < figure * 1.2


def test_a_refusal_is_a_result() -> None:
    release = FriendlyMean(1.0, 1.0, 1e-6).release(np.arange(300.0) * 50, Seeded(0))
    assert release.refusal is not None
    assert "agree" in release.refusal
    with pytest.raises(Refused):
        _ = release.value
    assert release.provenance.parameters["survivors"] is None


def test_a_repeated_row() -> None:
    release = FriendlyMean(0.0, 1.0, 1e-6).release(np.full((200, 2), 7.25), Seeded(0))
    assert release.value.tolist() == [7.25, 7.25]
    assert release.interval(0.9).low.tolist() == [7.25, 7.25]


def test_the_same_by_all_ways_of_comparing() -> None:
    rows = np.random.default_rng(1).normal(size=(900, 3))
    plain, certified = (
        FriendlyMean(16.0, 1.0, 1e-6, most=2000, certified=way).release(rows, Seeded(2)) for way in (False, True)
    )
    assert plain.value.tobytes() == certified.value.tobytes()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0},
        {"epsilon": 1e-8},
        {"delta": 0},
        {"delta": 0.5},
        {"radius": -1},
        {"method": "best"},
        {"method": "weights", "neighbours": ADD},
        {"method": "reference", "radius": 0},
        {"least": 2},
        {"most": 1},
        {"share": 1.0},
        {"columns": 0},
        {"neighbours": "both"},
    ],
)
def test_parameters_are_refused(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"radius": 1.0, "epsilon": 1.0, "delta": 1e-6}
    assert FriendlyMean(**good, neighbours="add_or_remove").neighbours is ADD  # type: ignore[arg-type]
    with pytest.raises(ValueError):  # noqa: PT011  BadInput is one, and so is that of an unknown relation
        FriendlyMean(**(good | change))


def test_a_delta_too_large_for_the_rows_is_refused() -> None:
    with pytest.raises(BadInput, match="delta"):
        FriendlyMean(1.0, 1.0, 1e-3).release(np.zeros((1000, 1)), Seeded(0))
