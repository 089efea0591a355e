"""The ladder for covariances."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import Recorder, drawn, exceeds, replay
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Gaussian
from discreet.stages import gram
from discreet.statistics import covariance_stages, whiten
from discreet.statistics.covariance import Covariance
from discreet.statistics.covariance_stages import MomentBudget

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD = [(float(x), float(x + y)) for x, y in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=(298, 2)), 2)]
VALUES: tuple[Any, ...] = (
    *((0.0, 0.0), (1.0, 2.0), (1e6, -1e6), (1e300, 1e300), (math.inf, 0.0), (-math.inf, math.inf)),
    *((math.nan, 1.0), (5e-324, -0.0), None, (1.0,), "ab", (None, "x")),
)


def world(step: int) -> list[audit.Pair]:
    """Odd rows against each other beside a crowd, at two places."""
    pairs = []
    for index, (left, right) in enumerate((a, b) for a in VALUES for b in VALUES if a is not b):
        if index % step == 0:
            at = (0, 150, 298)[index % 3]
            tables = [[*CROWD[:at], row, *CROWD[at:], (0.0, 1.0)] for row in (left, right)]
            pairs.append(audit.Pair(*tables))
    return pairs


@pytest.mark.claim("covariance.1")
@pytest.mark.parametrize("model", [None, "gaussian"])
def test_every_small_pair(model: Any) -> None:
    mechanism = Covariance(8.0, 1e-5, model=model, dimension=2, size=300)
    audit.check(mechanism, world(15), hostile_values=False).require()
    assert mechanism.release([*CROWD, (0.0, 1.0), (1.0, 1.0)], Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, (0.0, 1.0), (1.0, 1.0)]), mechanism.loss) is None
    assert Covariance(8.0, 1e-5).loss == Approximate(8.0, 1e-5)


def one_more(crowd: list[Any]) -> list[audit.Pair]:
    """Odd rows, missing ones and ties beside a crowd, here or there, there or not; and hardly any rows at all."""
    pairs = []
    for index, row in enumerate((*VALUES, crowd[0], crowd[3])):
        at = (0, len(crowd) // 2, len(crowd))[index % 3]
        tables = [crowd, [*crowd[:at], row, *crowd[at:]]]
        pairs.append(audit.Pair(*(tables if index % 2 else reversed(tables))))
    few: tuple[list[Any], ...] = ([], [(1.0, 2.0)], [(1.0, 2.0), (math.nan, 1.0)], [(1e300, 0.0)] * 3)
    return [*pairs, *(audit.Pair(rows, [*rows, (1.0, 2.0)]) for rows in few)]


PRIVATE = [*CROWD, *((float(x), float(-x)) for x in np.round(np.random.default_rng(5).normal(1.0, 2.0, size=100), 2))]


@pytest.mark.claim("covariance.1")
@pytest.mark.parametrize("model", [None, "gaussian"])
def test_every_small_pair_where_the_number_of_rows_is_private(model: Any) -> None:
    mechanism = Covariance(8.0, 1e-5, model=model, dimension=2, neighbours=ADD)
    audit.check(mechanism, one_more(PRIVATE)[model is None :: 2], hostile_values=False).require()
    release = mechanism.release(PRIVATE, Seeded(0))
    assert release.refusal is None  # a world of answers
    assert release.provenance.parameters["rows"] is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, PRIVATE), mechanism.loss) is None
    assert Covariance(8.0, 1e-5, neighbours=ADD).loss == Approximate(8.0, 1e-5)


def by_position(rows: Any, *_: Any) -> Any:
    """Pairs as they stand in the table."""
    return rows[: len(rows) // 2 * 2], rows[:4096]


def uncounted(budget: Any, size: int, columns: int, rng: Any) -> int:
    """The number of rows as it is, beside a noisy one."""
    COUNTED(budget, size, columns, rng)
    return size


def exact_pairs(apart: Any, _: int, costs: Any, rng: Any) -> Any:
    """As many differences as there are."""
    return FRAME(apart, 7 * len(apart), costs, rng)


def too_little(*given: Any, **named: Any) -> Any:
    """The sensitivity of one difference added, where one is exchanged."""
    cost = Gaussian(named["cost"].mu, 2 * named["cost"].slack)  # narrower noise has more of it
    return GRAM(*given, **{**named, "neighbours": ADD, "cost": cost})


COUNTED, FRAME, GRAM = MomentBudget.counted, whiten.find_frame, gram.noisy_gram
FAULTS: dict[str, tuple[Any, str, Any]] = {
    "rows are paired by position": (covariance_stages, "by_chance", by_position),
    "the true number of rows is used": (MomentBudget, "counted", uncounted),
    "the true number of pairs is used": (covariance_stages, "find_frame", exact_pairs),
    "one difference is taken to be added": (whiten, "noisy_gram", too_little),
}


@pytest.mark.claim("covariance.1")
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    mechanism = Covariance(8.0, 1e-5, model="gaussian", dimension=2, neighbours=ADD)
    pairs = [audit.Pair([row, *PRIVATE], PRIVATE) for row in ((0.0, 1e9), (9.0, 0.0), (1e9, 0.0), (1e9, -1e9))]
    assert any(replay(mechanism, pair, seed=seed) for seed in range(12) for pair in pairs)


@pytest.mark.claim("covariance.1")
@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"delta": 0}, "delta > 0"),
        ({"neighbours": "replace"}, "REPLACE"),
        ({"neighbours": Neighbours.ADD_OR_REMOVE, "size": 400}, "size=None"),
        ({"dimension": 0}, "dimension"),
        ({"dimension": True}, "dimension"),
        ({"size": 0}, "size"),
        ({"model": "student"}, "model"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_arguments(given: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        Covariance(**({"epsilon": 1.0, "delta": 1e-6} | given))


@pytest.mark.claim("covariance.2")
def test_refusals_come_before_any_draw_or_after_a_release() -> None:
    door = Recorder(Seeded(0))
    release = Covariance(1.0, 1e-6).release(np.ones((300, 5)), door)
    assert door.log == []
    assert "300 rows of 5 columns" in str(release.refusal)
    for rows, word in ((np.ones((0, 2)), "empty"), (np.ones((10**4, 2000)), "columns"), ("text", "str")):
        with pytest.raises(BadInput, match=word):
            Covariance(1.0, 1e-6).release(rows, door)
    with pytest.raises(BadInput, match="delta"):
        Covariance(1.0, 1e-2).release(np.ones((1000, 2)), door)
    assert door.log == []
    still = Covariance(4.0, 1e-6).release(np.ones((2000, 2)), door)
    assert "'x0' is the same" in str(still.refusal)
    table = {"age": np.arange(2000.0), "sex": np.ones(2000)}
    for verb in (discreet.covariance, discreet.fit_normal, partial(discreet.pca, k=1)):
        named = verb(table, epsilon=8.0, delta=1e-6, rng=Seeded(0))
        assert "'sex' is the same" in str(named.refusal)
    assert door.log


@pytest.mark.claim("covariance.2")
def test_too_few_rows_are_refused_before_there_are_data() -> None:
    mechanism = Covariance(1.0, 1e-6, dimension=5)
    with pytest.raises(Refused, match="300 rows of 5 columns") as refused:
        mechanism.check(300)
    assert str(refused.value) == mechanism.release(np.ones((300, 5)), Seeded(0)).refusal
    for size in (None, 10_000):
        mechanism.check(size)
    Covariance(1.0, 1e-6).check(300)  # of how many columns nobody said
    private = Covariance(1.0, 1e-6, neighbours=ADD)
    for rows in (0, 1, 300):
        assert "about" in str(private.release(np.ones((rows, 5)), Seeded(rows)).refusal)


@pytest.mark.claim("covariance.3")
@pytest.mark.parametrize(
    ("model", "relation"), [(None, REPLACE), ("gaussian", REPLACE), (None, ADD), ("gaussian", ADD)]
)
def test_coverage_and_error(model: Any, relation: Neighbours) -> None:
    """40 runs: an entry's coverage of 0.95 gives fewer than 28 hits once in 1e7; the error is that of the docstring."""
    mechanism, runs = Covariance(1.0, 1e-6, model=model, neighbours=relation), 40
    hits, errors, plain = np.zeros((2, 2)), [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        turn = rng.normal(size=(2, 2)) * [[1.0], [100.0]]
        truth = turn @ turn.T
        rows = rng.normal(size=(4000, 2)) @ turn.T + 1e3 * rng.normal(size=2)
        release = mechanism.release(rows, Seeded(seed))
        interval = release.interval()
        hits += (interval.low <= truth) & (truth <= interval.high)
        assert (release.value == release.value.T).all()
        assert np.linalg.eigvalsh(release.value / np.sqrt(np.outer(np.diag(truth), np.diag(truth)))).min() > -1e-9
        back = np.linalg.inv(turn)
        errors.append(np.linalg.norm(back @ release.value @ back.T - np.eye(2)))
        plain.append(np.linalg.norm(back @ np.cov(rows.T) @ back.T - np.eye(2)))
    assert hits.min() >= 28
    assert hits.mean() / runs > 0.88
    assert np.median(errors) < 3 * np.median(plain)


def test_condition_numbers_offsets_outliers_and_heavy_tails() -> None:
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0] * np.logspace(0, 3, 4)
    rows = rng.normal(size=(30_000, 4)) @ turn.T + 1e9
    back = np.linalg.inv(turn)
    for model in (None, "gaussian"):
        found = Covariance(1.0, 1e-6, model=model).release(rows, Seeded(0)).value
        assert np.linalg.norm(back @ found @ back.T - np.eye(4)) < 0.25
    spoilt = rows.copy()
    spoilt[::10] = 1e12
    spoilt[5::1000] = math.nan
    found = Covariance(1.0, 1e-6, model="gaussian").release(spoilt, Seeded(0)).value
    assert np.linalg.norm(back @ found @ back.T - np.eye(4)) < 1.5  # a tenth of the rows add nothing
    heavy = rng.standard_t(5, size=(30_000, 3))
    found = Covariance(1.0, 1e-6).release(heavy, Seeded(0)).value
    assert np.diag(found) == pytest.approx(np.full(3, 5 / 3), rel=0.15)


def test_the_verb_its_words_and_its_pictures() -> None:
    rows = np.random.default_rng(0).normal(size=(4000, 3)) @ np.diag([1.0, 2.0, 3.0])
    release = discreet.covariance(rows, epsilon=2.0, delta=1e-6, rng=Seeded(1))
    assert np.diag(release.value) == pytest.approx([1, 4, 9], rel=0.25)
    assert "covariance" in str(release)
    assert len(release.to_dict()["value"]) == 3
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    named = release.named(["a", "b", "c"])
    assert named.value["a", "c"] == release.value[0, 2]
    assert named.interval().low["b", "b"] == release.interval().low[1, 1]
    axes = named.plot()
    assert len(axes.images) == 1
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]
    plt.close("all")
    private = discreet.covariance(rows, epsilon=2.0, delta=1e-6, neighbours="add_or_remove", rng=Seeded(1))
    assert np.diag(private.value) == pytest.approx([1, 4, 9], rel=0.25)
    assert private.guarantee.neighbours is ADD
