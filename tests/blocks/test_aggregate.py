"""Subsample and aggregate as a whole: what leaves, what is refused, what a failing block does."""

import logging
import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet import audit
from discreet.audit.replay import FATES, Recorder, replay
from discreet.audit.worlds import hostile
from discreet.blocks.aggregate import SubsampleAggregate
from discreet.blocks.ask import planned
from discreet.blocks.centre import BlockMean
from discreet.blocks.estimator import FunctionFit, adapted
from discreet.blocks.halfway import BlockMedian
from discreet.blocks.plan import auto_blocks
from discreet.blocks.shape import Shape
from discreet.blocks.table import Table
from discreet.blocks.vote import Vote
from discreet.engines.local import Local
from discreet.errors import BadInput, Refused
from discreet.noise.seeded import Seeded
from discreet.promise.neighbours import Neighbours

NUMBER = Shape("number", ("value",))
BOTH = (Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE)


def mean(x: Any) -> float:
    return float(x.mean())


def thorny(x: Any) -> float:
    """Fails in every way, depending on the rows."""
    if (x == 2).any():
        raise ValueError("a value of the data: 2")
    if np.isinf(x).any():
        raise SystemExit(3)
    if (x == 1e6).any():
        return [1.0, 2.0]  # type: ignore[return-value]
    warnings.warn(f"values {x}", stacklevel=1)
    print("values", x)
    logging.getLogger("thorny").error("values %s", x)
    return float(x.mean())


@pytest.mark.claim("SA1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("function", [mean, thorny])
@pytest.mark.parametrize(
    "aggregator", [BlockMean(3, 1, 60.0), BlockMean(3, 1, 60.0, 1e-6), BlockMedian(3, 1, 400.0), BlockMean(3, 1, 1.0)]
)
def test_the_whole_audit(relation: Neighbours, function: Callable[..., float], aggregator: Any) -> None:
    mechanism = SubsampleAggregate(FunctionFit(function), NUMBER, aggregator, relation)
    assert mechanism.guarantee.neighbours is relation
    world = list(audit.numbers(relation, 4))[::41]
    for index, pair in enumerate(pair for pair in world if min(len(pair.left), len(pair.right)) >= 3):
        for fate in FATES if index < 3 else FATES[:1]:
            assert not replay(mechanism, pair, seed=index, fate=fate)


@pytest.mark.claim("SA1")
@pytest.mark.parametrize("relation", BOTH)
def test_odd_entries_never_decide_how_a_table_is_read(relation: Neighbours) -> None:
    """A list that holds a list, a text or a thorn is still one column of numbers."""
    mechanism = SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(3, 1, 60.0), relation)
    for index, pair in enumerate(hostile(relation)[::5]):
        assert not replay(mechanism, pair, seed=index)


@pytest.mark.claim("SA1")
def test_a_person_with_many_rows() -> None:
    """Replay, under both relations, of all rows of a person: two of the rows' numbers change at once."""
    names = [0, 1, 2, 3, 0, 1, 0, 2]
    rows = [float(k) for k in range(8)]
    other = [999.0 if name == 0 else row for name, row in zip(names, rows, strict=True)]
    mechanism = SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(3, 1, 60.0), unit="person")
    pair = audit.Pair(rows, other)
    for seed in range(20):

        class Named:
            guarantee, loss = mechanism.guarantee, mechanism.loss

            def release(self, values: Any, rng: Any) -> Any:
                return mechanism.release(Table.of(values, people=names), rng)

        assert not replay(Named(), pair, seed=seed)
    assert "one person" in str(mechanism.guarantee)


@pytest.mark.claim("SA2")
@pytest.mark.claim("RB1")
def test_nothing_of_a_failing_block_is_seen(capfd: pytest.CaptureFixture[str], caplog: Any) -> None:
    rows = np.arange(300.0)
    for engine in (None, Local(2, progress=False)):
        mechanism = SubsampleAggregate(FunctionFit(thorny), NUMBER, BlockMean(100, 1, 10.0), engine=engine)
        release = mechanism.release(rows, Seeded(0))
        assert 100 < release.value < 200
        assert "value of the data" not in release.to_json()
    shown = capfd.readouterr()
    assert shown.out == shown.err == ""
    assert not caplog.records


@pytest.mark.claim("SA1")
@pytest.mark.claim("RB2")
def test_a_crash_costs_its_own_block_alone() -> None:
    """Blocks of one task share a process; when one kills it the others are run again, with the same rows."""

    def deadly(x: Any) -> float:
        if (x == 7.0).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return float(x.mean() + np.random.random())

    rows = np.arange(64.0)
    mechanism = SubsampleAggregate(
        FunctionFit(deadly), NUMBER, BlockMean(32, 1, 10.0), engine=Local(2, progress=False), correct=None
    )
    calm = SubsampleAggregate(FunctionFit(lambda x: float(x.mean() + np.random.random())), NUMBER, mechanism.aggregator)
    hurt, whole = (one.estimates(Table.of(rows), Seeded(3)) for one in (mechanism, calm))
    assert np.isnan(hurt).sum() == 1
    alive = ~np.isnan(hurt)
    assert (hurt[alive] == whole[alive]).all()


def test_a_block_out_of_time_has_no_estimate() -> None:
    def slow(x: Any) -> float:
        while (x == 3).any():
            try:
                sum(range(1000))
            except Exception:
                pass
        return 1.0

    mechanism = SubsampleAggregate(FunctionFit(slow), NUMBER, BlockMean(8, 1, 40.0), seconds=1.0)
    found = mechanism.estimates(Table.of(np.arange(16.0)), Seeded(0))
    assert np.isnan(found).sum() == 1


def test_ctrl_c_releases_nothing() -> None:
    recorder = Recorder(Seeded(0))

    class Interrupted:
        def map(self, function: Any, items: Any) -> list[Any]:
            raise KeyboardInterrupt

        def fold(self, function: Any, combine: Any, parts: Any) -> Any:
            raise KeyboardInterrupt

    mechanism = SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(8, 1, 40.0), engine=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        mechanism.release(np.arange(80.0), recorder)
    assert recorder.spent == discreet.promise.loss.compose()


def test_ctrl_c_is_not_taken_for_a_failing_block() -> None:
    recorder, calls = Recorder(Seeded(0)), []

    def pressed(rows: Any) -> float:
        calls.append(len(rows))
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return float(np.mean(rows))

    mechanism = SubsampleAggregate(FunctionFit(pressed), NUMBER, BlockMean(8, 1, 40.0))
    with pytest.raises(KeyboardInterrupt):
        mechanism.release(np.arange(80.0), recorder)
    assert recorder.spent == discreet.promise.loss.compose()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.claim("SA3")
def test_the_provenance_says_who_was_trusted_and_which_path() -> None:
    from sklearn.linear_model import LinearRegression

    generator = np.random.default_rng(0)
    x = generator.normal(size=(4000, 2))
    y = x @ [1.0, 2.0] + generator.normal(size=4000)
    release = discreet.fit(LinearRegression(), x, y, epsilon=4.0, delta=1e-6, rng=Seeded(1))
    shown = release.provenance.parameters
    assert shown["path"] == "batched least squares"
    assert "trusted" in shown["trust"]
    assert any("bias" in note for note in release.provenance.notes)
    slow = discreet.fit(LinearRegression(), x, y, epsilon=4.0, delta=1e-6, rng=Seeded(1), vectorised=False)
    assert slow.provenance.parameters["path"] == "one fit a block"
    for name, value in release.value.items():
        assert value == pytest.approx(slow.value[name], abs=1e-9)


@pytest.mark.claim("SA2")
@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1.0, "blocks": 0}, "blocks"),
        ({"epsilon": 1.0, "blocks": "many"}, "blocks"),
        ({"epsilon": 1.0, "aggregator": "sum"}, "aggregator"),
        ({"epsilon": 1.0, "aggregator": "friendly"}, "delta"),
        ({"epsilon": 1.0, "correct": "firth"}, "firth"),
        ({"epsilon": 1.0, "scales": -1}, "scales"),
        ({"epsilon": 1.0, "aggregator": "vote"}, "labels"),
        ({"epsilon": 1.0, "names": 0.5}, "names"),
        ({"epsilon": 1.0, "names": ["a", "a"]}, "names"),
        ({"epsilon": 1.0, "labels": [1]}, "labels"),
        ({"epsilon": 1.0, "correct": "twice"}, "correct"),
        ({"epsilon": 1.0, "labels": [0, 1], "correct": "half"}, "correct"),
        ({"epsilon": 1.0, "smallest": 0}, "smallest"),
        ({"epsilon": 0.01}, "bring"),
        ({"epsilon": 1.0, "delta": 0.5}, "delta"),
        ({"epsilon": 1.0, "trust": "blind"}, "trust"),
        ({"epsilon": 1.0, "trust": "sandbox"}, "declare"),
        ({"epsilon": 1.0, "neighbours": "add_or_remove"}, "blocks=400"),
        ({"epsilon": 1.0, "unit": [1, 2]}, "length"),
    ],
)
def test_bad_arguments_come_before_anything_is_drawn(options: dict[str, Any], word: str) -> None:
    recorder = Recorder(Seeded(0))
    with pytest.raises(BadInput, match=word):
        discreet.fit(mean, np.arange(4000.0), rng=recorder, **options)
    assert recorder.log == []


def test_blocks_may_be_too_many_for_the_people() -> None:
    with pytest.raises(BadInput, match="people"):
        SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(100, 1, 4.0)).release(np.arange(50.0), Seeded(0))


def test_halves_get_larger_blocks_where_that_leaves_enough() -> None:
    def blocks(people: int, halves: bool) -> int:
        return auto_blocks(people, 1, 1.0, 1e-6, aggregator="mean", smallest=10, unbiased=False, halves=halves)

    assert [blocks(20_000, halves) for halves in (False, True)] == [400, 281]  # n^(3/4) / 6
    assert [blocks(10_000, halves) for halves in (False, True)] == [400, 200]  # as few as the aggregator likes
    assert [blocks(10**6, halves) for halves in (False, True)] == [400, 400]


def test_the_plan_speaks(caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="discreet"):
        release = discreet.fit(lambda x: float(np.var(x)), np.arange(30000.0) % 97, epsilon=1.0, rng=Seeded(0))
    said = caplog.text
    assert "380 blocks of 78 or 79 people, each giving 1 number" in said
    assert "combined by mean" in said
    assert "bias is corrected within blocks (half)" in said
    assert "times as wide as without noise" in said
    assert "assumes that" in said
    assert release.interval().low < 784 < release.interval().high
    assert release.provenance.parameters["people a block"] == 78


def test_votes_and_labels() -> None:
    rows = np.random.default_rng(0).normal(1.0, size=(8000, 2))

    def sign(x: Any) -> str:
        return "up" if x.mean() > 0 else "down"

    listed = discreet.fit(sign, rows, epsilon=1.0, labels=["down", "up"], rng=Seeded(0))
    assert listed.value == "up"
    found = discreet.fit(sign, rows, epsilon=1.0, delta=1e-6, rng=Seeded(0))
    assert found.value == "up"
    with pytest.raises(Refused):
        found.interval()
    ready = discreet.fit(sign, rows, epsilon=1.0, labels=["down", "up"], rng=Seeded(0), aggregator=Vote(40, 2, 1.0))
    assert ready.provenance.parameters["blocks"] == 40


def test_median_aggregator_and_ratio() -> None:
    generator = np.random.default_rng(0)
    rows = pd.DataFrame({"a": generator.gamma(2, size=20000), "b": generator.gamma(3, size=20000)})
    release = discreet.fit(
        lambda t: float(np.median(t["a"] / t["b"])), rows, epsilon=1.0, aggregator="median", rng=Seeded(0)
    )
    truth = float(np.median(rows["a"] / rows["b"]))
    assert release.interval().low < truth < release.interval().high


def test_frames_lose_their_index() -> None:
    rows = pd.DataFrame({"a": np.arange(40.0)}, index=np.arange(40) + 1000)

    def place(t: Any) -> float:
        return float(t.index.max())

    mechanism = SubsampleAggregate(FunctionFit(place), NUMBER, BlockMean(4, 1, 60.0))
    assert (mechanism.estimates(Table.of(rows), Seeded(0)) == 9).all()


def test_an_aggregator_that_hides_presence_is_refused() -> None:
    class Other(BlockMean):
        @property
        def guarantee(self) -> Any:
            return discreet.Guarantee(1.0, neighbours=Neighbours.ADD_OR_REMOVE)

    with pytest.raises(BadInput, match="aggregator"):
        SubsampleAggregate(FunctionFit(mean), NUMBER, Other(10, 1, 1.0))


def test_planned_reads_no_value() -> None:
    """The same mechanism for any two tables of one schema and size."""
    given: dict[str, Any] = {
        "blocks": "auto", "aggregator": "auto", "engine": None, "names": None, "labels": None, "attributes": None,
        "formula": None, "options": None, "correct": "auto", "unbiased": None, "smallest": None, "scales": None, "confidence": 0.95,
        "trust": None, "sandbox": None, "seconds": None, "vectorised": True, "neighbours": Neighbours.REPLACE,
        "unit": "row", "epsilon": 1.0, "delta": 0.0,
    }  # fmt: skip
    fit = adapted(mean)
    one, other = (planned(fit, Table.of(rows), **given) for rows in (np.zeros(9000), np.full(9000, np.nan)))
    assert one == other
