"""The ladder for clusters: small worlds, hostile values, draws against the loss, refusals, accuracy."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import slack
from discreet.audit.replay import Recorder, drawn, exceeds, replay
from discreet.errors import BadInput, Refused
from discreet.models import friendly_kmeans
from discreet.models.friendly_kmeans import FriendlyKMeans, block_tuples, bottleneck, pair_rows
from discreet.models.kmeans import LloydKMeans
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, compose
from discreet.privacy.values import Clusters

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
LECTURED = partial(LloydKMeans, centred=False)
LOUD = 400.0  # an epsilon at which a handful of rows is enough
ODD: tuple[Any, ...] = ((0.0, 0.0), (1.0, -2.0), (1e6, 1e300), (math.inf, 0.0), (math.nan, 1.0), None, (1.0,), "x")


def world(relation: Neighbours, size: int = 6) -> Iterator[audit.Pair]:
    """Few rows of two columns, one of them odd, replaced or removed."""
    rng = np.random.default_rng(size)
    crowd = [tuple(row) for row in rng.choice([-1.0, 0.0, 1.0, 2.5], size=(size, 2)).tolist()]
    for index, odd in enumerate(ODD):
        other = ODD[(index + 3) % len(ODD)]
        yield audit.Pair([*crowd, odd], [*crowd, other] if relation is REPLACE else crowd)
        yield audit.Pair([other, *crowd] if relation is REPLACE else crowd, [odd, *crowd])


def mixture(size: int, seed: int = 0) -> tuple[Any, Any]:
    """Three clusters far from 0."""
    rng = np.random.default_rng(seed)
    places = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]]) + 1e5
    labels = rng.integers(3, size=size)
    return places[labels] + rng.normal(size=(size, 2)), places[np.lexsort(places.T[::-1])]


@pytest.mark.claim("kmeans.1")
@pytest.mark.parametrize("kind", [LloydKMeans, LECTURED])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("radius", [3.0, None])
def test_small_worlds(kind: Any, delta: float, relation: Neighbours, radius: float | None) -> None:
    mechanism = kind(2, LOUD, delta, radius=radius, with_loss=True, columns=2, neighbours=relation)
    pairs = list(world(relation, 120 if radius is None and relation is REPLACE else 6))
    if radius is None:
        pairs = pairs[::3]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    assert mechanism.release(rows, Seeded(0)).refusal is None
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("kmeans.1")
@pytest.mark.parametrize("kind", [LloydKMeans, LECTURED])
def test_hostile_values(kind: Any) -> None:
    audit.check(kind(2, LOUD, 1e-6, radius=2.0, columns=1), audit.numbers(REPLACE, 2)[::40]).require()


@pytest.mark.claim("kmeans.1")
def test_the_constants_of_the_lecture() -> None:
    """Laplace noise of scale 4 T / epsilon at B = 1, half of that where a row is added; empty clusters too."""
    rows = np.random.default_rng(0).random((20_000, 2)) / 4
    for relation, times in ((REPLACE, 4), (ADD, 2)):
        door = Recorder(Seeded(1))
        LECTURED(3, 2.0, 0.0, radius=1.0, iterations=4, neighbours=relation).release(rows, door)
        assert len(door.log) == 4
        for request, _ in door.log:
            steps = int(request.sensitivity) / request.cost.epsilon  # type: ignore[attr-defined]
            assert steps / 2**24 == times * 4 / 2.0
            assert len(request.values) == 3 * 3  # type: ignore[attr-defined]


@pytest.mark.claim("kmeans.2")
@pytest.mark.parametrize("kind", [LloydKMeans, LECTURED])
def test_too_few_rows_are_refused_by_public_numbers(kind: Any) -> None:
    door = Recorder(Seeded(0))
    release = kind(8, 1.0, 1e-6, radius=1.0).release(np.zeros((500, 2)), door)
    assert "500 rows are too few for 8 clusters" in str(release.refusal)
    assert door.log == []
    release = kind(8, 1.0, 1e-6, radius=1.0, neighbours=ADD).release(np.zeros((5, 2)), door)
    assert "too few" in str(release.refusal)
    assert len(door.log) == 1  # by a noisy count
    assert release.provenance.parameters["rows"] is None
    with pytest.raises(Refused):
        _ = release.value


@pytest.mark.claim("friendly_kmeans.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_friendly_replay(relation: Neighbours) -> None:
    mechanism = FriendlyKMeans(2, LOUD, 1e-5, with_loss=True, columns=2, neighbours=relation)
    rng = np.random.default_rng(0)
    size = 1499  # one more would make 30 blocks of 29
    crowd = [tuple(row) for row in (np.arange(size)[:, None] % 2 * 40 + rng.normal(size=(size, 2)) + 1e6).tolist()]
    odd = (((0.0, 0.0), (1e6, 1e6)), ((1e300, 0.0), (1e6, 1e6 + 20)), ((math.nan, 0.0), None))
    for index, (one, other) in enumerate(odd):
        right = [*crowd, other] if relation is REPLACE else crowd
        assert replay(mechanism, audit.Pair([*crowd, one], right), seed=index) == []
        if relation is ADD:  # equal rows too, anywhere in the table
            assert replay(mechanism, audit.Pair([crowd[5], *crowd], crowd), seed=index) == []
    assert mechanism.release([*crowd, (1e6, 1e6)], Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    spent = drawn(mechanism, [*crowd, (1e6, 1e6)])
    assert exceeds(spent, mechanism.loss) is None
    assert slack(spent) <= slack(mechanism.loss)  # the tuples' grid is coarser than that of sums
    assert implies(compose(spent, Approximate(0, mechanism.stages.event)), mechanism.guarantee)


@pytest.mark.claim("friendly_kmeans.1")
def test_one_row_changes_one_tuple_and_a_block_that_fails_gives_none() -> None:
    rows, _ = mixture(600)
    other = rows.copy()
    other[7] = np.inf
    table, again = discreet.tables.matrix.matrix(rows), discreet.tables.matrix.matrix(other)
    fewer = discreet.tables.matrix.matrix(np.delete(rows, 7, axis=0))
    for side, relation in ((again, REPLACE), (fewer, ADD)):
        one, two = (block_tuples(each, 10, 3, Seeded(3), relation) for each in (table, side))
        assert sum(not np.array_equal(a, b) for a, b in zip(one, two, strict=True)) <= 1
        assert np.isfinite(one).all()
    planted = (block_tuples(each, 10, 3, Seeded(3), REPLACE) for each in (table, fewer))
    assert sum(not np.array_equal(a, b) for a, b in zip(*planted, strict=True)) > 1  # a shuffle moves others
    lost = block_tuples(discreet.tables.matrix.matrix(np.full((40, 2), np.nan)), 2, 3, Seeded(0))
    assert np.isnan(lost).all()
    points = np.array([[0.0], [5.0]])
    assert bottleneck(points, points[::-1] + 1) == 1.0
    assert math.isnan(bottleneck(points, points * np.nan))
    tuples = np.stack([points, points + 2, points + 1, points + 5, points])
    assert pair_rows(tuples).tolist() == [[0.0], [2.0], [0.0], [4.0]]
    for place in range(5):  # one tuple changes one pair at most
        other = tuples.copy()
        other[place] += 0.25
        assert (pair_rows(other) != pair_rows(tuples)).sum() == (place < 4)


@pytest.mark.claim("friendly_kmeans.2")
def test_friendly_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Recorder(Seeded(0))
    release = FriendlyKMeans(3, 1.0, 1e-6).release(np.zeros((100, 2)), door)
    assert "too few" in str(release.refusal)
    assert door.log == []
    rng = np.random.default_rng(0)
    monkeypatch.setattr(friendly_kmeans, "STARTS", 1)
    one_cloud = FriendlyKMeans(3, 8.0, 1e-6).release(rng.normal(size=(6000, 2)), Seeded(1))
    assert one_cloud.refusal is not None
    with pytest.raises(BadInput, match="delta"):
        FriendlyKMeans(3, 1.0, 0.0)
    few = FriendlyKMeans(3, 1.0, 1e-6, neighbours=ADD).release(np.zeros((100, 2)), door)
    assert str(few.refusal).startswith("about ")
    assert len(door.log) == 1  # by a noisy count
    assert few.provenance.parameters["rows"] is None


def test_clusters_are_found_with_a_ball_without_one_and_by_friends() -> None:
    """Errors are below 0.1 with deviations of 0.01 to 0.02: five of them and more."""
    rows, places = mixture(20_000)
    truth = places[:, None, :]
    for options in (
        {"radius": 20.0, "centre": [1e5, 1e5]},
        {},
        {"neighbours": "replace", "missing": "keep"},
        {"delta": 0.0, "radius": 20.0, "centre": [1e5, 1e5]},
        {"method": "friendly", "epsilon": 2.0, "neighbours": "replace", "missing": "keep"},
        {"method": "friendly", "epsilon": 2.0},
    ):
        given = {"epsilon": 1.0, "delta": 1e-6} | options
        found = discreet.kmeans(rows, 3, loss=True, rng=Seeded(5), **given)
        gaps = np.linalg.norm(found.value.centres[None] - truth, axis=2)
        assert gaps.min(axis=1).max() < 0.25, options
        assert found.value.sizes.sum() == pytest.approx(20_000, rel=0.05)
        assert found.value.loss == pytest.approx(40_000, rel=0.25)
        assert (found.value.predict(places) == np.argsort(np.argmin(gaps, axis=0))).all()


def test_centred_steps_are_better_than_the_lecture() -> None:
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1, 1, size=(8, 2))[rng.integers(8, size=20_000)] + rng.normal(size=(20_000, 2)) / 10

    def loss(method: Any) -> float:
        found = discreet.kmeans(rows, 8, epsilon=1.0, delta=1e-6, radius=2.0, method=method, rng=Seeded(0)).value
        return float(((rows[:, None] - found.centres) ** 2).sum(axis=2).min(axis=1).sum())

    assert loss("centred") < loss("lloyd")


def test_what_is_asked_for_is_checked() -> None:
    rows = np.zeros((5000, 2))
    for options in (
        {"method": "best"},
        {"method": "friendly", "radius": 1.0},
        {"iterations": 0},
        {"centre": [0.0, 0.0]},
        {"loss": 1},
        {"radius": -1.0},
        {"radius": 1.0, "centre": [[0.0], [0.0, 1.0]]},
        {"neighbours": "near"},
        {"unit": ""},
    ):
        with pytest.raises(BadInput):
            discreet.kmeans(rows, 2, **({"epsilon": 1.0, "delta": 1e-6} | options))
    for k in (0, True, 2.0, 5000):
        with pytest.raises(BadInput, match="k is"):
            discreet.kmeans(rows, k, epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="columns"):
        discreet.kmeans(np.zeros((10, 300)), 1000, epsilon=1.0)
    door = Recorder(Seeded(0))
    public: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}
    methods: tuple[Any, ...] = ("centred", "lloyd", "friendly")
    for method in methods:  # more columns than a ball has: before anything is drawn
        with pytest.raises(BadInput, match="32768"):
            discreet.kmeans(np.zeros((40, 40_000)), 1, epsilon=1000.0, delta=1e-6, method=method, rng=door, **public)
    assert door.log == []


def test_the_value_and_its_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    value = Clusters.sorted(np.array([[2.0, 0.0], [1.0, 5.0]]), np.array([3.4, -2.0]), np.array([0.1, 0.2]))
    assert value.centres.tolist() == [[1.0, 5.0], [2.0, 0.0]]
    assert value.sizes.tolist() == [0.0, 3.0]
    assert len(value) == 2
    assert np.asarray(value).shape == (2, 2)
    assert value.predict([[1.0, 5.0], [math.nan, 0.0]]).tolist() == [0, -1]
    assert "2 centres" in str(value)
    with pytest.raises(BadInput):
        value.predict(np.zeros((2, 3)))
    for width in (1, 4):
        rows = np.random.default_rng(0).normal(size=(4000, width))
        found = discreet.kmeans(rows, 2, epsilon=2.0, delta=1e-6, rng=Seeded(0))
        ax = found.plot()
        assert "2 clusters" in ax.get_title()
        assert '"centres"' in found.to_json()
        assert not hasattr(found.value, "labels_")


def test_the_scikit_learn_face() -> None:
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    rows, places = mixture(9000)
    model = discreet.sklearn.PrivateKMeans(3, 2.0, 1e-6, settings={"rng": Seeded(1)})
    copy = clone(model)
    assert copy.get_params()["n_clusters"] == 3
    assert copy.set_params(epsilon=4.0).epsilon == 4.0
    with pytest.raises(ValueError, match="nothing"):
        copy.set_params(nothing=1)
    with pytest.raises(Refused):
        model.predict(rows)
    pipeline = make_pipeline(FunctionTransformer(), model).fit(rows)
    assert np.abs(model.cluster_centers_ - places).max() < 0.5
    assert sorted(pipeline.predict(places).tolist()) == [0, 1, 2]
    assert model.transform(places).shape == (3, 3)
    assert model.fit_predict(rows).shape == (9000,)
    assert not hasattr(model, "labels_")
    assert not hasattr(model, "inertia_")
    with pytest.raises(BadInput, match="no default"):
        discreet.sklearn.PrivateKMeans(3).fit(rows)
