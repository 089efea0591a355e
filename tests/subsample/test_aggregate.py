"""Subsample and aggregate as a whole: what leaves, what is refused, what a failing block does."""

import ctypes
import logging
import math
import os
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.audit import generated
from benchmarks.subjects.blocks import SUBJECTS
from tests.subsample.reading import read

import discreet
from discreet import audit
from discreet.audit.replay import FATES, Recorder, exceeds, itemised, replay
from discreet.audit.worlds import hostile
from discreet.engines.local import Local
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import compose
from discreet.sandbox.sandbox import Sandbox
from discreet.statistics.quantile import Quantile
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_plan import auto_blocks
from discreet.subsample.coordinatewise import BlockMean, BlockMedian
from discreet.subsample.estimators import FunctionFit, adapted
from discreet.subsample.fit_request import planned
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.returned import Shape
from discreet.subsample.vote import Vote

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
    for level in (logging.ERROR, logging.CRITICAL, 60, 10**6):
        logging.getLogger("thorny").log(level, "values %s", x)
    os.write(1, b"values")
    ctypes.CDLL(None).puts(b"values")
    sys.__stderr__.write("values")  # type: ignore[union-attr]
    return float(x.mean())


@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("function", [mean, thorny])
@pytest.mark.parametrize(
    "aggregator", [BlockMean(3, 1, 60.0), BlockMean(3, 1, 60.0, 1e-6), BlockMedian(3, 1, 400.0), BlockMean(3, 1, 1.0)]
)
def test_the_whole_audit(relation: Neighbours, function: Callable[..., float], aggregator: Any) -> None:
    mechanism = SubsampleAggregate(FunctionFit(function), NUMBER, aggregator, neighbours=relation)
    assert mechanism.guarantee.neighbours is relation
    world = list(audit.numbers(relation, 4))[::41]
    for index, pair in enumerate(pair for pair in world if min(len(pair.left), len(pair.right)) >= 3):
        for fate in FATES if index < 3 else FATES[:1]:
            assert not replay(mechanism, pair, seed=index, fate=fate)


@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("relation", BOTH)
def test_odd_entries_never_decide_how_a_table_is_read(relation: Neighbours) -> None:
    """A list that holds a list, a text or a thorn is still one column of numbers."""
    mechanism = SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(3, 1, 60.0), neighbours=relation)
    for index, pair in enumerate(hostile(relation)[::5]):
        assert not replay(mechanism, pair, seed=index)


@pytest.mark.claim("aggregate.1")
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
                return mechanism.release(read(values, people=names), rng)

        assert not replay(Named(), pair, seed=seed)
    assert "one person" in str(mechanism.guarantee)


class Unturnable:
    """An answer that is no number, in the worst way."""

    def __float__(self) -> float:
        raise KeyboardInterrupt

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise SystemExit


def raised(error: BaseException) -> Any:
    raise error


@pytest.mark.claim("run_block.1")
@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize(
    "answer",
    [lambda: math.nan, lambda: math.inf, lambda: -math.inf, lambda: [1.0, 2.0], list, lambda: None, lambda: "a",
     lambda: {"value": 1.0}, lambda: 1j, Unturnable, lambda: [[1.0], [2.0, 3.0]], lambda: 10**400, lambda: raised(OSError("2")),
     lambda: raised(SystemExit(2)), lambda: raised(GeneratorExit()), lambda: raised(KeyboardInterrupt()),
     lambda: raised(MemoryError()), lambda: raised(RecursionError()), lambda: raised(StopIteration()),
     lambda: warnings.warn("no", type("ConvergenceWarning", (UserWarning,), {}), stacklevel=1) or 1.0],
)  # fmt: skip
@pytest.mark.parametrize("engine", [None, Local(1, progress=False)])
def test_however_a_block_fails_it_fails_alone(answer: Callable[[], Any], engine: Any) -> None:
    def odd(x: Any) -> Any:
        return answer() if (x == 7.0).any() else mean(x)

    table, aggregator = read(np.arange(12.0)), BlockMean(6, 1, 40.0)
    calm, hurt = (
        SubsampleAggregate(FunctionFit(one), NUMBER, aggregator, engine=engine).estimates(table, Seeded(3))
        for one in (mean, odd)
    )
    failed = np.isnan(hurt[:, 0])
    assert failed.sum() == 1
    assert hurt[failed].tobytes() == np.full((1, 1), np.nan).tobytes()
    assert hurt[~failed].tobytes() == calm[~failed].tobytes()


@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("name", [name for name in SUBJECTS if "batched" in name])
def test_replay_of_the_fits_of_all_blocks_at_once(relation: Neighbours, name: str) -> None:
    subject = SUBJECTS[name]
    mechanism = subject.mechanism(relation)
    for index, pair in enumerate(
        [*subject.pairs(relation), *generated(subject, relation, 12, np.random.default_rng(0))]
    ):
        assert not replay(mechanism, pair, seed=index)


@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("engine", [None, Local(1, progress=False)])
def test_a_fast_path_that_fails_on_one_block_fails_on_it_alone(
    engine: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Fast:
        name, closed, likelihood = "fast", False, False

        def rows(self, blocks: Any, correct: Any, first: int = 0, last: int | None = None) -> Any:
            numbers = range(first, blocks.count if last is None else last)
            found = [blocks.table.x[slice(*blocks.bounds(number)[::2])] for number in numbers]
            if any((part == 7.0).any() for part in found):
                warnings.warn("7", stacklevel=1)
                raise np.linalg.LinAlgError("a value of the data: 7")
            return np.array([[part.mean()] for part in found])

    monkeypatch.setattr("discreet.subsample.aggregate.batched", lambda *_: Fast())
    mechanism = SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(40, 1, 40.0), engine=engine)
    table = read(np.arange(80.0))
    hurt = mechanism.estimates(table, Seeded(3))
    calm = replace(mechanism, vectorised=False).estimates(table, Seeded(3))
    assert np.isnan(hurt).sum() == 1
    assert (hurt[~np.isnan(hurt)] == calm[~np.isnan(hurt)]).all()
    shown = capfd.readouterr()
    assert shown.out == shown.err == ""


@pytest.mark.claim("aggregate.2")
@pytest.mark.claim("run_block.1")
def test_nothing_of_a_failing_block_is_seen(capfd: pytest.CaptureFixture[str], caplog: Any) -> None:
    rows = np.arange(300.0)
    for engine in (None, Local(0, progress=False), Local(2, progress=False)):
        mechanism = SubsampleAggregate(FunctionFit(thorny), NUMBER, BlockMean(100, 1, 10.0), engine=engine)
        release = mechanism.release(rows, Seeded(0))
        assert 100 < release.value < 200
        assert "value of the data" not in release.to_json()
    shown = capfd.readouterr()
    assert shown.out == shown.err == ""
    assert not caplog.records


@pytest.mark.claim("aggregate.1")
@pytest.mark.claim("run_block.2")
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
    hurt, whole = (one.estimates(read(rows), Seeded(3)) for one in (mechanism, calm))
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

    for seconds in (1.0, 8.0, 64.0):  # a busy machine may be late with the others
        mechanism = SubsampleAggregate(FunctionFit(slow), NUMBER, BlockMean(8, 1, 40.0), seconds=seconds)
        found = mechanism.estimates(read(np.arange(16.0)), Seeded(0))
        if np.isnan(found).sum() == 1:
            break
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
    assert recorder.spent == compose()


@pytest.mark.usefixtures("heard")
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
    assert recorder.spent == compose()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.claim("aggregate.3")
def test_the_provenance_says_who_was_trusted_and_which_path() -> None:
    from sklearn.linear_model import LinearRegression

    generator = np.random.default_rng(0)
    x = generator.normal(size=(8000, 2))
    y = x @ [1.0, 2.0] + generator.normal(size=8000)
    release = discreet.fit(LinearRegression(), x, y, epsilon=4.0, delta=1e-6, rng=Seeded(1))
    shown = release.provenance.parameters
    assert shown["path"] == "batched least squares"
    assert "trusted" in shown["trust"]
    assert any("bias" in note for note in release.provenance.notes)
    slow = discreet.fit(LinearRegression(), x, y, epsilon=4.0, delta=1e-6, rng=Seeded(1), vectorised=False)
    assert slow.provenance.parameters["path"] == "one fit a block"
    for name, value in release.value.items():
        assert value == pytest.approx(slow.value[name], abs=1e-9)


@pytest.mark.claim("aggregate.2")
@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1.0, "blocks": 0}, "blocks"),
        ({"epsilon": 1.0, "blocks": "many"}, "blocks"),
        ({"epsilon": 1.0, "aggregator": "sum"}, "aggregator"),
        ({"epsilon": 1.0, "aggregator": "friendly"}, "delta"),
        ({"epsilon": 1.0, "bias_correction": "firth"}, "firth"),
        ({"epsilon": 1.0, "scales": -1}, "scales"),
        ({"epsilon": 1.0, "aggregator": "vote"}, "labels"),
        ({"epsilon": 1.0, "names": 0.5}, "names"),
        ({"epsilon": 1.0, "names": ["a", "a"]}, "names"),
        ({"epsilon": 1.0, "labels": [1]}, "labels"),
        ({"epsilon": 1.0, "bias_correction": "twice"}, "bias_correction"),
        ({"epsilon": 1.0, "labels": [0, 1], "bias_correction": "half"}, "bias_correction"),
        ({"epsilon": 1.0, "smallest": 0}, "smallest"),
        ({"epsilon": 0.01, "neighbours": "replace", "missing": "keep"}, "bring"),
        ({"epsilon": 1.0, "delta": 0.5}, "delta"),
        ({"epsilon": 1.0, "trust": "blind"}, "trust"),
        ({"epsilon": 1.0, "trust": "sandbox"}, "declare"),
        ({"epsilon": 1.0, "unit": [1, 2]}, "rows and"),
        ({"epsilon": 1.0, "unit": 3}, "unit is of type int"),
        ({"epsilon": 1.0, "unit": np.ones((4000, 2))}, "unit is of type"),
        *(({"epsilon": 1.0, "timeout": odd}, "timeout is") for odd in (-1, math.nan, 0, "a", math.inf, True)),
        *(({"epsilon": 1.0, "confidence": odd}, "confidence is") for odd in (2.0, "x", math.nan, 0, None)),
        *(({"epsilon": 1.0, "blocks": odd}, "blocks is") for odd in (True, 2.5, -1, None, "all", [400], math.nan)),
        *(({"epsilon": 1.0, "names": odd}, "names is") for odd in (3.5, "slope", b"x", {"a": 1}, [1], [], True, -1)),
        *(({"epsilon": 1.0, "names": odd}, "names is") for odd in (np.array(["a", "b"]), lambda x: x)),
        *(({"epsilon": 1.0, "labels": odd}, "labels are") for odd in ("ab", 3, [], [0, 0], [[1], [2]], [math.nan, 1])),
        *(({"epsilon": 1.0, "attributes": odd}, "attributes is") for odd in (3, [1, 2], [], {"a": 1}, "coef_")),
        *(({"epsilon": 1.0, "options": odd}, "options is") for odd in (3, [1], {1: 2}, "ab")),
        *(({"epsilon": 1.0, "bias_correction": odd}, "bias_correction is") for odd in ("nonsense", 3, True, ["half"])),
        *(({"epsilon": 1.0, "trust": odd}, "trust is") for odd in ("nonsense", 3, True, ["own"])),
        *(({"epsilon": 1.0, "smallest": odd}, "smallest is") for odd in (-1, 2.5, "a", True)),
        *(({"epsilon": 1.0, "scales": odd}, "scales is") for odd in (-1, 0, "a", math.nan, [1, 2], math.inf)),
        *(
            ({"epsilon": 1.0, name: 3}, f"{name} is 3")
            for name in ("formula", "unbiased", "vectorised", "estimate_bias")
        ),
        ({"epsilon": 1.0, "engine": 3}, "engine is 3"),
        ({"epsilon": 1.0, "engine": "local"}, "engine is"),
        ({"epsilon": 1.0, "sandbox": 3}, "sandbox is 3"),
        ({"epsilon": 1.0, "sandbox": Sandbox(), "trust": "own"}, "trust is 'own'"),
        ({"epsilon": 1.0, "sandbox": Sandbox(), "timeout": 2.0}, r"Sandbox\(seconds=2.0\)"),
        ({"epsilon": 1.0, "timeout": 1e5, "trust": "sandbox", "names": "number"}, "seconds=100000"),
        ({"epsilon": 1.0, "aggregator": object()}, "has no guarantee, loss, release, blocks"),
        ({"epsilon": 1.0, "aggregator": 3}, "has no guarantee"),
        ({"epsilon": 1.0, "aggregator": None}, "aggregator is None"),
        ({"epsilon": 1.0, "aggregator": Quantile(0.5, 1.0)}, "has no blocks"),
        ({"epsilon": 1.0, "aggregator": BlockMean(400, 2, 1.0)}, "made for 2 numbers"),
        ({"epsilon": 1.0, "aggregator": Vote(40, 3, 1.0), "labels": [0, 1]}, "made for 3 labels"),
        ({"epsilon": 1.0, "aggregator": BlockMean(400, 1, 1.0), "blocks": 300}, "made for 400"),
        ({"epsilon": "a", "estimate_bias": True}, "epsilon"),
        ({"epsilon": 1.0, "delta": "a", "estimate_bias": True}, "delta"),
        ({"epsilon": 1.0, "neighbours": ["replace"]}, "neighbours is"),
    ],
)
def test_bad_arguments_come_before_anything_is_drawn(options: dict[str, Any], word: str) -> None:
    recorder = Recorder(Seeded(0))
    with pytest.raises(BadInput, match=word):
        discreet.fit(mean, np.arange(4000.0), rng=recorder, **options)
    assert recorder.log == []


@pytest.mark.parametrize(
    "odd",
    [{"seconds": 0}, {"seconds": "a"}, {"seconds": math.nan}, {"memory": 3}, {"memory": "a"}, {"workers": 0},
     {"workers": 1.5}, {"workers": True}, {"modules": "numpy"}, {"modules": (3,)}],
)  # fmt: skip
def test_bad_limits_of_a_sandbox(odd: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"{next(iter(odd))}="):
        Sandbox(**odd)


@pytest.mark.parametrize(
    "odd", [{"engine": 3}, {"seconds": -1}, {"confidence": 2}, {"trust": None}, {"sandbox": 3}, {"aggregator": 3}]
)
def test_bad_parts_of_the_mechanism(odd: dict[str, Any]) -> None:
    given: dict[str, Any] = {"fit": FunctionFit(mean), "shape": NUMBER, "aggregator": BlockMean(8, 1, 40.0)}
    with pytest.raises(BadInput, match=next(iter(odd))):
        SubsampleAggregate(**(given | odd))


@pytest.mark.parametrize("aggregator", ["mean", "median"])
def test_the_interval_that_is_shown_is_at_the_declared_confidence(aggregator: str) -> None:
    rows = np.random.default_rng(0).normal(size=8000)
    release = discreet.fit(mean, rows, epsilon=4.0, aggregator=aggregator, confidence=0.5, rng=Seeded(0))
    shown = release.to_dict()["interval"]
    assert shown["confidence"] == 0.5
    assert shown["low"] == release.interval(0.5).low
    if aggregator == "mean":
        assert release.interval(0.95).low < release.interval(0.5).low


@pytest.mark.parametrize(
    ("odd", "word"),
    [
        ({"settings": 3}, "settings is 3"),
        ({"settings": {"colour": 1}}, "settings is"),
        ({"settings": {"epsilon": 9.0}}, "settings is"),
        ({"settings": {"timeout": -1}}, "timeout is"),
        ({"classes": 3}, "classes are 3"),
        ({"classes": [1]}, "classes are"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_bad_arguments_of_the_face(odd: dict[str, Any], word: str) -> None:
    from sklearn.linear_model import LinearRegression

    model = discreet.sklearn.PrivateEstimator(LinearRegression(), **({"epsilon": 1.0} | odd))
    with pytest.raises(BadInput, match=word):
        model.fit(np.ones((400, 2)), np.ones(400))
    with pytest.raises(Refused, match="fit first"):
        model.score(np.ones((4, 2)), np.ones(4))


def test_blocks_may_be_too_many_for_the_people() -> None:
    fit = SubsampleAggregate(FunctionFit(mean), NUMBER, BlockMean(100, 1, 4.0))
    door = Recorder(Seeded(0))
    assert "50 people do not fill 100 blocks" in str(fit.release(np.arange(50.0), door).refusal)
    assert door.log == []


def test_halves_get_larger_blocks_where_that_leaves_enough() -> None:
    def blocks(people: int, halves: bool) -> int:
        return auto_blocks(people, 1, 1.0, 1e-6, aggregator="mean", smallest=10, rate="unknown", halves=halves)

    assert [blocks(20_000, halves) for halves in (False, True)] == [400, 281]  # n^(3/4) / 6
    assert [blocks(10_000, halves) for halves in (False, True)] == [400, 200]  # as few as the aggregator likes
    assert [blocks(10**6, halves) for halves in (False, True)] == [400, 400]


def test_the_plan_speaks(caplog: Any) -> None:
    with caplog.at_level(logging.INFO, logger="discreet"):
        release = discreet.fit(
            lambda x: float(np.var(x)),
            np.arange(30000.0) % 97,
            epsilon=1.0,
            neighbours="replace",
            missing="keep",
            rng=Seeded(0),
        )
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
    for ballot in ("vote", "exponential", "noisy-max"):
        drawn = discreet.fit(
            sign, rows, epsilon=1.0, labels=["down", "up"], blocks=60, aggregator=ballot, rng=Seeded(0)
        )
        assert drawn.value == "up"
        assert drawn.guarantee.delta == 0
        assert any("voted for it" in note for note in drawn.provenance.notes) == (ballot == "vote")
    with pytest.raises(BadInput, match="public labels"):
        discreet.fit(sign, rows, epsilon=1.0, delta=1e-6, aggregator="exponential", rng=Seeded(0))


def test_median_aggregator_and_ratio() -> None:
    generator = np.random.default_rng(0)
    rows = pd.DataFrame({"a": generator.gamma(2, size=20000), "b": generator.gamma(3, size=20000)})
    release = discreet.fit(
        lambda t: float(np.median(t["a"] / t["b"])), rows, epsilon=1.0, aggregator="median", rng=Seeded(0)
    )
    truth = float(np.median(rows["a"] / rows["b"]))
    assert release.interval().low < truth < release.interval().high


def test_frames_lose_their_index_and_notes() -> None:
    rows = pd.DataFrame({"a": np.arange(40.0)}, index=np.arange(40) + 1000)
    rows.attrs["largest"] = 39.0

    def place(t: Any) -> float:
        return float(t.index.max() + len(t.attrs))

    mechanism = SubsampleAggregate(FunctionFit(place), NUMBER, BlockMean(4, 1, 60.0))
    assert (mechanism.estimates(read(rows), Seeded(0)) == 9).all()


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
    one, other = (planned(fit, read(rows), **given) for rows in (np.zeros(9000), np.full(9000, np.nan)))
    assert one == other


@pytest.mark.claim("coordinatewise.1")
@pytest.mark.claim("friendly_aggregate.1")
@pytest.mark.parametrize(
    "aggregator",
    [
        BlockMean(400, 2, 8.0),
        BlockMean(400, 3, 6.0, 1e-6),
        BlockMedian(400, 2, 8.0),
        BlockFriends(3000, 2, epsilon=6.0, delta=1e-6),
        BlockFriends(3000, 2, epsilon=6.0, delta=1e-6, scales=(1.0, 1.0)),
    ],
    ids=lambda one: f"{type(one).__name__}-{float(getattr(one, 'delta', 0)):g}",
)
def test_the_loss_names_every_draw(aggregator: Any) -> None:
    """An answer, not a refusal: everything is drawn, the number of estimates too."""
    rows = np.random.default_rng(1).normal(size=(aggregator.blocks, aggregator.width))
    recorder = Recorder(Seeded(1))
    assert aggregator.release(rows, recorder).refusal is None
    assert exceeds(recorder.spent, aggregator.loss) is None
    if not isinstance(aggregator, BlockFriends):  # those declare the sum of squares
        assert itemised(recorder.spent) == itemised(aggregator.loss)


@pytest.mark.claim("likelihood.2")
def test_blocks_of_one_corrected_parameter_grow_so_that_the_noise_vanishes() -> None:
    """n^(3/4) / 6 blocks: the expected width over that without noise falls to 1."""
    sizes, ratios = (20_000, 80_000, 320_000, 1_280_000), []
    for people in sizes:
        blocks = auto_blocks(people, 1, 1.0, 0.0, aggregator="mean", smallest=25, rate="jackknifed")
        assert blocks <= 1.2 * people**0.75 / 6
        ratios.append(BlockMean(blocks, 1, 1.0).relative_error)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[2] < 1.05
    assert ratios[3] < 1.02


@pytest.mark.claim("likelihood.2")
def test_how_fast_a_bias_shrinks_is_told_by_what_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks as small as those of one corrected parameter are for that alone, not for whatever has a jackknife."""
    from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
    from sklearn.tree import DecisionTreeRegressor

    told: list[str] = []

    def counted(*given: Any, rate: Any, **more: Any) -> int:
        told.append(rate)
        return auto_blocks(*given, rate=rate, **more)

    monkeypatch.setattr("discreet.subsample.fit_request.auto_blocks", counted)
    table = read(np.zeros((50_000, 1)), np.arange(50_000) % 2.0)
    asked: dict[str, Any] = {"epsilon": 2.0, "delta": 0.0, "neighbours": Neighbours.REPLACE, "unit": "row"}
    cases: list[tuple[Any, str, dict[str, Any]]] = [
        (LogisticRegression(C=np.inf), "smooth", {}),
        (Ridge(), "smooth", {}),
        (LinearRegression(), "squares", {}),
        (DecisionTreeRegressor(), "unknown", {"attributes": ["feature_importances_"]}),
    ]
    for estimator, rate, options in cases:
        told.clear()
        planned(estimator, table, **asked, **options)
        assert set(told) == {rate}
    told.clear()
    terms: dict[str, Any] = {"epsilon": 2.0, "neighbours": "replace", "missing": "keep", "rng": Seeded(1)}
    discreet.maximum_likelihood("expon", np.arange(1.0, 20_001), **terms)
    assert set(told) == {"jackknifed"}
    told.clear()
    discreet.maximum_likelihood("gamma", np.arange(1.0, 20_001), **terms)
    assert set(told) == {"smooth"}
