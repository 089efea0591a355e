"""A statistic of a stream is that of the array it is cut from, bit for bit, in bounded memory; others refuse it."""

import threading
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.posed import asked_of_tables, mechanism_of, posed
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet
from discreet import Neighbours, Seeded, audit
from discreet.audit.worlds import Pair
from discreet.errors import BadInput
from discreet.noise import order_statistics as order
from discreet.privacy.declaration import Statistic
from discreet.privacy.mechanism import Mechanism
from discreet.stages import clip as clipped
from discreet.stages import locate
from discreet.statistics import histogram
from discreet.statistics.bounded_mean import BoundedMean
from discreet.statistics.count import Count
from discreet.statistics.family import GAUSSIAN
from discreet.statistics.histogram import Categories, Edges, Histogram
from discreet.statistics.mean import RankClippedMean
from discreet.statistics.normal import GaussianMean
from discreet.statistics.proportion import Proportion
from discreet.statistics.quantile import Quantile
from discreet.statistics.sufficient import SufficientStatistics
from discreet.statistics.variance import Variance
from discreet.tables import piece_threads
from discreet.tables import streams as streams_of
from discreet.tables.streams import Stream

Floats = npt.NDArray[np.float64]
MECHANISMS: dict[str, Callable[[Neighbours], Mechanism[Any]]] = {
    "mean": lambda relation: RankClippedMean(30.0, relation),
    "mean with bounds": lambda relation: BoundedMean(-1, 2, 1.0, neighbours=relation),
    "gaussian mean": lambda relation: GaussianMean(30.0, neighbours=relation),
    "gaussian mean with bounds": lambda relation: GaussianMean(30.0, bounds=(-9, 9), sigma=1.0, neighbours=relation),
    "gaussian": lambda relation: SufficientStatistics(GAUSSIAN, 60.0, neighbours=relation),
    "variance": lambda relation: Variance(30.0, neighbours=relation),
    "variance with bounds": lambda relation: Variance(2.0, bounds=(-1, 2), neighbours=relation),
    "gaussian variance": lambda relation: Variance(30.0, model="gaussian", neighbours=relation),
    "quantile": lambda relation: Quantile((0.2, 0.5), 60.0, missing=1.0, neighbours=relation),
    "points": lambda relation: Quantile((0.9, 0.5), 30.0, confidence=None, neighbours=relation),
    "quantile with bounds": lambda relation: Quantile(0.5, 9.0, bounds=(-1, 2), neighbours=relation),
    "guaranteed quantile": lambda relation: Quantile(0.5, 60.0, guaranteed=True, neighbours=relation),
    "count": lambda relation: Count(1.0, relation),
    "proportion": lambda relation: Proportion(1.0, relation),
    "histogram": lambda relation: Histogram(Edges.of([-1, 0, 1, 2]), 1.0, neighbours=relation),
    "categories": lambda relation: Histogram(Categories.of([0, 1]), 1.0, neighbours=relation),
}


def streams(one: Statistic) -> bool:
    """Whether it takes one long column in pieces; categories are held."""
    question = posed(one.name)
    reads = [one.reads(name, question) for name in one.columns if name in question]
    alone = len(reads) < 2 and all(each.width != "several" for each in reads)
    return alone and all(each.streams and each.kind != "category" for each in reads)


MECHANISMS |= {f"declared: {one.name}": partial(mechanism_of, one.name) for one in asked_of_tables() if streams(one)}
THORNS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0, 2.5)
entries = st.sampled_from(THORNS) | st.floats(-3, 3)


def cut(values: Floats, places: list[int]) -> Stream:
    """The array in pieces, some of which may be empty."""
    return Stream(len(values), lambda: iter(np.split(values, sorted(place % (len(values) + 1) for place in places))))


def seen(mechanism: Mechanism[Any], rows: Any) -> str:
    """All that a release shows, or the words of a refusal to start."""
    try:
        release = mechanism.release(rows, Seeded(7))
    except BadInput as error:
        return str(error)
    return repr((release.answer, release.spread, release.refusal, release.provenance, release.guarantee))


@pytest.mark.claim("clip.2")
@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("name", MECHANISMS)
def test_how_a_stream_is_cut_changes_nothing(name: str, relation: Neighbours) -> None:
    mechanism = MECHANISMS[name](relation)

    @given(st.lists(entries, max_size=60), st.integers(1, 4), st.lists(st.integers(0, 300), max_size=5))
    @example([], 1, [])
    @example([], 1, [0, 0])
    @example([1.0], 1, [0, 1])
    @example([0.5, np.nan], 1, [1])
    @example([1.0], 100, [3])
    @settings(max_examples=12, database=None)
    def same(values: list[float], times: int, places: list[int]) -> None:
        rows = np.tile(np.array(values, dtype=np.float64), times)
        assert seen(mechanism, cut(rows, places)) == seen(mechanism, rows)

    same()


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("name", MECHANISMS)
def test_compiled_passes_and_small_rooms_change_nothing(
    name: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes at which another way is taken are lowered, so that each is taken; the rows come sorted, in a bad order."""
    mechanism = MECHANISMS[name](relation)
    rows = np.sort(np.concatenate([np.tile(THORNS, 20), np.random.default_rng(0).normal(0, 1, 700).round(2)]))
    wanted = seen(mechanism, rows)
    monkeypatch.setattr(order, "ROOM", 50)
    monkeypatch.setattr(locate, "FEW", 0)
    assert seen(mechanism, cut(rows, [100, 333, 334])) == wanted
    for module in (order, clipped, locate, histogram):
        monkeypatch.setattr(module, "LARGE", 0)
    assert seen(mechanism, cut(rows, [100, 333, 334])) == wanted


@pytest.mark.claim("locate.1")
@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("name", ["mean", "gaussian", "variance with bounds"])
def test_a_middle_of_very_many_is_looked_for_in_a_few_runs(
    name: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locate, "LONG", 1000)
    monkeypatch.setattr(locate, "ENOUGH", 64)
    rows = np.random.default_rng(3).normal(5, 2, 200_000)
    mechanism, asked = MECHANISMS[name](relation), []

    def part(start: int, stop: int) -> Any:
        asked.append((start, stop))
        return rows[start:stop]

    wanted = seen(mechanism, rows)
    assert seen(mechanism, cut(rows, [100, 3000])) == wanted
    assert seen(mechanism, Stream(len(rows), lambda: iter([rows[:9], rows[9:]]), part)) == wanted
    assert len(asked) == (locate.RUNS if relation is Neighbours.REPLACE and "bounds" not in name else 0)


@given(st.integers(1, 10**9), st.integers(1, 2**18))
@settings(max_examples=200, database=None)
def test_runs_are_places_each_once(size: int, wanted: int) -> None:
    places = locate.some_runs(size, wanted)
    if isinstance(places, slice):
        assert size < 2 * (wanted + locate.RUNS)
        return
    assert wanted <= len(places) < wanted + locate.RUNS
    assert places[0] >= 0
    assert places[-1] < size
    assert (np.diff(places) > 0).all()


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("name", ["mean", "gaussian", "variance with bounds", "quantile", "points", "count"])
def test_memory_is_bounded(name: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream of 240 MB, four values in five of which are one and the same, in less than half of that a thread."""
    monkeypatch.setattr(piece_threads, "THREADS", 1)
    size, length = 30_000_000, 100_000
    piece = np.concatenate([np.zeros(length * 4 // 5), np.random.default_rng(1).lognormal(0, 1, length // 5)])
    stream = Stream(size, lambda: (piece for _ in range(size // length)))
    mechanism = MECHANISMS[name](relation)
    tracemalloc.start()
    try:
        mechanism.release(stream, Seeded(1))
        assert tracemalloc.get_traced_memory()[1] < 120e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("name", ["mean", "quantile", "gaussian", "histogram"])
def test_replay(name: str, relation: Neighbours) -> None:
    rows = np.concatenate([np.random.default_rng(2).normal(0, 1, 80), THORNS])
    for place, other in ((0, 1e308), (40, np.nan), (90, 0.0)):
        changed = np.delete(rows, place) if relation is Neighbours.ADD_OR_REMOVE else rows.copy()
        if relation is Neighbours.REPLACE:
            changed[place] = other
        pair = Pair(cut(rows, [10, 50]), cut(changed, [3, 50, 70]))
        assert audit.replay(MECHANISMS[name](relation), pair) == []


VERBS: dict[str, Callable[[Any], Any]] = {
    "table mean": lambda x: discreet.mean(
        x, epsilon=1.0, method="two-stage", sigma=1.0, reach=9.0, neighbours="replace", missing="keep"
    ),
    "covariance": lambda x: discreet.covariance(x, epsilon=1.0, delta=1e-6),
    "ratio": lambda x: discreet.ratio(x, x, epsilon=1.0),
    "crosstab": lambda x: discreet.crosstab(x, x, epsilon=1.0, categories=[[0, 1], [0, 1]]),
    "likelihood": lambda x: discreet.maximum_likelihood("norm", x, epsilon=1.0, delta=1e-6),
    "open histogram": lambda x: discreet.histogram(x, epsilon=1.0, delta=1e-6),
    "sparse histogram": lambda x: discreet.histogram(x, epsilon=1.0, categories=range(10**9)),
    "fit": lambda x: discreet.fit(np.median, x, epsilon=1.0, delta=1e-6),
    "kmeans": lambda x: discreet.kmeans(x, 2, epsilon=1.0, delta=1e-6),
    "linear_regression": lambda x: discreet.linear_regression(x, x, epsilon=1.0, delta=1e-6),
    "logistic_regression": lambda x: discreet.logistic_regression(x, x, epsilon=1.0),
    "test_paired": lambda x: discreet.paired_test(x, epsilon=1.0),
    "test_two_means": lambda x: discreet.two_means_test(x, x, epsilon=1.0),
    "rows": lambda x: discreet.kmeans(x, 2, epsilon=1.0, delta=1e-6, columns=1),
}


@pytest.mark.parametrize("name", VERBS)
def test_other_verbs_say_that_they_need_the_column(name: str) -> None:
    with pytest.raises(BadInput, match="needs the column in memory"):
        VERBS[name](cut(np.arange(3000.0), [1000]))


def test_verbs_take_streams() -> None:
    rows = np.random.default_rng(3).normal(5, 1, 3000)
    stream = cut(rows, [7, 2000])
    for one in asked_of_tables():
        if streams(one):
            names = [name for name in one.columns if name in posed(one.name)]
            given = {name: value for name, value in posed(one.name).items() if name not in one.columns}
            first, second = (
                getattr(discreet, one.name)(**dict.fromkeys(names, x), **given, rng=Seeded(1)) for x in (rows, stream)
            )
            assert repr((first.answer, first.refusal, first.spread)) == repr(
                (second.answer, second.refusal, second.spread)
            )


def test_a_table_that_changes_is_refused() -> None:
    def grows() -> Iterator[Floats]:
        yield np.zeros(1001)

    with pytest.raises(BadInput, match="changed while they were read") as error:
        discreet.mean(Stream(1000, grows), epsilon=1.0, bounds=(0, 1), rng=Seeded(1))
    assert "100" not in str(error.value)


@pytest.mark.parametrize("neighbours", ["add_or_remove", "replace"])
def test_every_pass_over_a_stream_is_shared_by_threads(neighbours: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine gives a fold all its processors: no verb goes through a long column by itself, but to take a sample."""
    monkeypatch.setattr(streams_of, "MANY", 0)
    monkeypatch.setattr(streams_of, "processors", lambda: 2)
    monkeypatch.setattr(locate, "FEW", 0)
    monkeypatch.setattr(locate, "taken", lambda values, places: np.concatenate(list(pieces))[places])
    pieces: list[Floats] = np.split(np.random.default_rng(3).normal(5, 1, 3000), [7, 2000])
    alone: list[bool] = []

    def read() -> Iterator[Floats]:
        yield from pieces
        alone.append(threading.current_thread() is threading.main_thread())

    for one in asked_of_tables():
        if streams(one):
            names = [name for name in one.columns if name in posed(one.name)]
            given = {name: value for name, value in posed(one.name).items() if name not in one.columns}
            given |= dict.fromkeys(names, Stream(3000, read))
            getattr(discreet, one.name)(**given, neighbours=neighbours, rng=Seeded(1))
            assert alone, one.name
            assert not any(alone), one.name
            alone.clear()
