"""FriendlyMean: what it promises, what it draws, what it says; with all rows, or a few references."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.friendly.worlds import ADD, REPLACE, SHARP, VALUES, crowds, replaced, tables

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds, replay
from discreet.errors import BadInput, Refused
from discreet.friendly import friendly_mean as reference
from discreet.friendly.core import UNITS, Apart, Points, match_core
from discreet.friendly.friendly_mean import FriendlyMean, Method, reference_centre
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, atoms


@pytest.mark.claim("friendly_mean.1")
@pytest.mark.parametrize("references", [3, 4])
def test_the_mean_moves_no_further_than_claimed(references: int) -> None:
    """All tables of four rows and their neighbours, wherever three references survive in the larger core."""
    found = {}
    for table in tables(VALUES, 4):
        points = Points.of(np.array(table)[:, None], 1.0)
        core = match_core(Apart(points), references)
        kept = points.steps[core.survivors, 0].tolist()
        found[repr(table)] = (core.pairs, Fraction(sum(kept), max(1, len(kept))))
    seen = 0
    for table in tables(VALUES, 4):
        pairs, mean = found[repr(table)]
        for neighbour in replaced(table, VALUES):
            pairs_there, mean_there = found[repr(neighbour)]
            least = min(pairs, pairs_there)
            assert abs(pairs - pairs_there) <= 1
            if references >= 2 * least + 3:
                seen += 1
                assert abs(mean - mean_there) * (4 - 2 * least) <= 4 * UNITS
    assert seen > 100


@pytest.mark.claim("friendly_mean.1")
def test_replay_and_all_rows_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6000, 2)) + 100
    rows[:5] = np.inf
    found = reference_centre(rows, 14.0, rng=Seeded(0), **SHARP)  # type: ignore[arg-type]
    assert found is not None
    assert found.survivors == 6000 - 10
    assert found.deviation == pytest.approx(4 * 14.0 / (5990 * 64), rel=1e-4)
    assert np.abs(found.point - rows[5:].mean(axis=0)).max() < 0.02
    rows[:600] = np.inf
    assert reference_centre(rows, 14.0, rng=Seeded(0), **SHARP) is None  # type: ignore[arg-type]
    assert reference_centre(rows[:0], 14.0, rng=Seeded(0), **SHARP) is None  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="radius"):
        reference_centre(rows, 0.0, rng=Seeded(0), **SHARP)  # type: ignore[arg-type]
    monkeypatch.setattr(reference.reference_centre, "__kwdefaults__", {"least": None, "references": 12})
    mechanism, answers = FriendlyMean(1.6, 17.0, 1e-4, neighbours=REPLACE, method="reference", columns=2), 0
    for seed, pair in enumerate(crowds(REPLACE, 120, (12, 30), columns=2)):
        assert replay(mechanism, pair, seed=seed) == []
        answers += mechanism.release(pair.left, Seeded(seed)).refusal is None
    assert answers > 20


@pytest.mark.claim("friendly_mean.1")
def test_three_references_must_survive_what_may_have_been_dropped() -> None:
    """With B pairs dropped, 2 B + 3 references answer and 2 B + 2 do not; B is 5 here, as nothing is blurred much."""
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[:5] = np.inf
    for references, answers in ((11, False), (12, False), (13, True), (14, True)):
        found = reference_centre(rows, 14.0, rng=Seeded(0), references=references, **SHARP)  # type: ignore[arg-type]
        assert (found is not None) == answers
        assert found is None or found.survivors == 200 - 10


KINDS: list[tuple[Neighbours, Method]] = [
    (REPLACE, "match"),
    (ADD, "match"),
    (REPLACE, "weights"),
    (REPLACE, "reference"),
]


@pytest.mark.claim("friendly_mean.2")
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
