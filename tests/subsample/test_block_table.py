"""A block is handed, and sent, its own rows: nothing of another person's entry, type, dictionary or place is in
them."""

import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.sandbox.test_sandbox import PATIENT, needs_sandbox
from tests.subsample.reading import read

import discreet
from discreet.audit.replay import replay
from discreet.audit.worlds import HOSTILE, THORNS, Pair
from discreet.errors import BadInput
from discreet.noise.distributions import compiled
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.subsample import batched as paths
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_table import BlockTable, alone
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.estimators import FunctionFit, SourceFit, adapted
from discreet.subsample.partition import Blocks, partition
from discreet.subsample.returned import Shape
from discreet.subsample.run_block import _message, opened, received, sent

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
NUMBER = Shape("number", ("value",))
N = 40
WHOLE: list[Any] = [k % 7 for k in range(N)]
TRUTHS: list[Any] = [k % 3 == 0 for k in range(N)]
TEXTS: list[Any] = [f"t{k % 4}" for k in range(N)]
DAYS: list[Any] = [f"2020-01-{1 + k % 9:02d}" for k in range(N)]
QUOTIENTS: list[Any] = [float(k % 7) if k % 3 else -np.nan for k in range(N)]  # 0 / 0 has a sign
BYTES: list[Any] = [f"t{k % 4}".encode() for k in range(N)]
SPANS: list[Any] = [pd.Interval(k % 4, 1 + k % 4) for k in range(N)]
ARROW = pa.dictionary(pa.int32(), pa.string())


def series(kind: Any = None) -> Callable[[list[Any]], Any]:
    return lambda listed: pd.Series(listed, dtype=kind)


COLUMNS: dict[str, tuple[list[Any], list[Any], Callable[[list[Any]], Any]]] = {
    "list": (WHOLE, [None, "x", 1.5], list),
    "numpy whole numbers": (WHOLE, [1.5, np.nan], np.array),
    "numpy truths": (TRUTHS, [2, 1.5], np.array),
    "numpy small numbers": (WHOLE, [6], lambda listed: np.array(listed, dtype=np.int8)[::1]),
    "numpy objects": (WHOLE, [None, "x", b"x", 2**80], lambda listed: np.array(listed, dtype=object)),
    "numpy texts": (TEXTS, ["a very long text"], np.array),
    "numpy texts of any length": (TEXTS, ["a" * 99], lambda listed: np.array(listed, dtype=np.dtypes.StringDType())),
    "numpy days": (DAYS, ["2020-01-01T10:11:12.5"], lambda listed: np.array(listed, dtype="datetime64")),
    "numpy bytes": (BYTES, [b"a very long text"], np.array),
    "numpy quotients": (QUOTIENTS, [1.5], np.array),
    "pandas quotients": (QUOTIENTS, [None, "x"], series()),
    "pandas spans": (SPANS, [None, "x"], series()),
    "masked": (WHOLE, [3], lambda listed: np.ma.masked_array(listed, np.array(listed) == 4)),
    "pandas whole numbers": (WHOLE, [None, 1.5, "x"], series()),
    "pandas truths": (TRUTHS, [None, 1, "x"], series()),
    "pandas texts": (TEXTS, [None, 3, "aaa"], series()),
    "pandas days": (DAYS, [None, "2020-01-01T10:11:12.5"], lambda listed: pd.Series(pd.to_datetime(listed, format="ISO8601"))),
    "pandas moments": (DAYS, [None], lambda listed: pd.Series(pd.to_datetime(listed, utc=True)).dt.tz_convert("Asia/Tokyo")),
    "categories of texts": (TEXTS, [None, "aaa", "zzz"], lambda listed: pd.Series(listed).astype("category")),
    "categories of numbers": (WHOLE, [None, -3, "x"], lambda listed: pd.Series(listed).astype("category")),
    "nullable": (WHOLE, [None, 1.5], lambda listed: pd.Series(listed).convert_dtypes()),
    "nullable truths": (TRUTHS, [None], series("boolean")),
    "string[python]": (TEXTS, [None, "a" * 99], series("string[python]")),
    "string[pyarrow]": (TEXTS, [None, "a" * 99], series("string[pyarrow]")),
    "sparse": (WHOLE, [None], lambda listed: pd.Series(pd.arrays.SparseArray(np.array(listed, dtype=float)))),
    "periods": (DAYS, [None], lambda listed: pd.Series(pd.PeriodIndex(listed, freq="D"))),
    "pandas arrow numbers": (WHOLE, [None], series(pd.ArrowDtype(pa.int64()))),
    "pandas arrow truths": (TRUTHS, [None], series(pd.ArrowDtype(pa.bool_()))),
    "pandas arrow texts": (TEXTS, [None, "a" * 99], series(pd.ArrowDtype(pa.string()))),
    "pandas arrow lists": ([["a"], ["b", "c"]] * (N // 2), [None, ["z"] * 9], series(pd.ArrowDtype(pa.list_(pa.string())))),
    "pandas arrow dictionary": (TEXTS, [None, "aaa", "zzz"], lambda listed: pd.Series(pa.array(listed).dictionary_encode(), dtype=pd.ArrowDtype(ARROW))),
    "polars numbers": (WHOLE, [None], pl.Series),
    "polars texts": (TEXTS, [None, "aaa"], pl.Series),
    "polars categories": (TEXTS, [None, "aaa"], lambda listed: pl.Series(listed, dtype=pl.Categorical)),
    "arrow numbers": (WHOLE, [None], pa.array),
    "arrow texts": (TEXTS, [None, "aaa"], pa.array),
    "arrow dictionary": (TEXTS, [None, "aaa"], lambda listed: pa.array(listed).dictionary_encode()),
    "arrow chunks": (TEXTS, [None, "aaa"], lambda listed: pa.chunked_array([listed[:9], listed[9:]])),
}  # fmt: skip
PAIRS = [(name, odd) for name, (_, odds, _) in COLUMNS.items() for odd in range(len(odds))]


def tables(name: str, odd: int, relation: Neighbours, place: str) -> Iterator[BlockTable]:
    """Two neighbours; the odd one out stands first."""
    plain, odds, made = COLUMNS[name]
    other = [odds[odd], *(plain[1:] if relation is REPLACE else plain)]
    for listed in (plain, other):
        column = made(listed)
        people = np.arange(len(listed)) - len(listed)  # everybody but the first has the same name in both
        others = np.array([float(k % 5) for k in people])
        match place:
            case "x":
                yield read(column, None, people)
            case "y":
                yield read(others, column, people)
            case _:
                yield read(pd.DataFrame({"a": column, "b": others}), None, people)


def messages(table: BlockTable, relation: Neighbours, correct: Any = None) -> list[bytes]:
    blocks = partition(table, 5, relation, Seeded(4))
    return [_message(b"", NUMBER, blocks, number, correct) for number in range(blocks.count)]


@pytest.mark.claim("block_table.1")
@pytest.mark.claim("block_table.2")
@pytest.mark.claim("run_block.4")
@pytest.mark.claim("run_block.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("place", ["x", "y", "frame"])
@pytest.mark.parametrize(("name", "odd"), PAIRS, ids=[f"{name}, {odd}" for name, odd in PAIRS])
def test_what_a_block_is_sent_does_not_depend_on_anybody_else(
    name: str, odd: int, place: str, relation: Neighbours
) -> None:
    """Byte for byte, with all types and dictionaries: one person other, or more, changes one message of five."""
    framed = isinstance(COLUMNS[name][2](COLUMNS[name][0]), pd.Series | list | np.ndarray)
    if place == "frame" and not framed:
        pytest.skip("no column of pandas")
    left, right = (messages(table, relation, "jackknife") for table in tables(name, odd, relation, place))
    assert b"" not in left
    assert sum(one != other for one, other in zip(left, right, strict=True)) <= 1


@pytest.mark.claim("block_table.1")
@pytest.mark.claim("partition.3")
@pytest.mark.parametrize("entries", [QUOTIENTS, BYTES, SPANS])
def test_an_odd_entry_moves_no_other_row_to_another_block(entries: list[Any]) -> None:
    """Where rows are people a row's block follows from its bytes: those of a NaN, of a text and of an interval too."""
    for made in (series(), lambda listed: np.array(listed, dtype=object)) if entries is not SPANS else (series(),):
        left, right = (read(made(listed)).contents() for listed in (entries, [None, *entries[1:]]))
        assert list(left)[1:] == list(right)[1:]
    frame, other = (pd.DataFrame({"a": pd.Series(listed)}) for listed in (entries, ["x", *entries[1:]]))
    assert list(read(frame).contents())[1:] == list(read(other).contents())[1:]


@pytest.mark.claim("block_table.2")
@pytest.mark.claim("run_block.3")
@pytest.mark.parametrize("correct", [None, "half", "jackknife"])
@pytest.mark.parametrize("framed", [False, True])
def test_a_block_is_not_told_who_came_before_it(framed: bool, correct: Any) -> None:
    """People are numbered by first appearance in a session: one more in front renumbers everybody."""
    x: Any = np.arange(8.0)
    edges = np.array([0, 2, 4, 6, 8])
    rows = pd.DataFrame({"a": x}) if framed else x
    one, other = (
        [_message(b"", NUMBER, Blocks(BlockTable(rows, x, people), edges), block, correct) for block in range(2)]
        for people in (np.array([0, 0, 1, 1, 2, 2, 0, 3]), np.array([7, 7, 3, 3, 900, 900, 7, 4]))
    )
    assert one == other
    people = pickle.loads(one[1])[2][2]
    assert people.tolist() == [0, 0, 1, 2] if correct == "jackknife" else people is None


@pytest.mark.claim("run_block.4")
def test_which_texts_are_one_object_is_not_told() -> None:
    """A reader may share equal texts or not, as the whole table lets it."""
    word, parts = "a text", ["a", "text"]
    shared, apart = (np.empty(4, dtype=object) for _ in range(2))
    for place in range(4):
        shared[place], apart[place] = word, " ".join(parts)
    assert pickle.dumps(shared) != pickle.dumps(apart)
    assert pickle.dumps(sent(alone(shared))) == pickle.dumps(sent(alone(apart)))


@pytest.mark.claim("block_table.2")
@pytest.mark.parametrize("place", ["x", "y", "frame"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_block_has_memory_of_its_own(name: str, place: str) -> None:
    """No array that can be reached from what an estimator is handed holds more than the block."""
    if place == "frame" and not isinstance(COLUMNS[name][2](COLUMNS[name][0]), pd.Series):
        pytest.skip("no column of pandas")
    table = next(tables(name, 0, REPLACE, place))
    block, _ = partition(table, 5, REPLACE, Seeded(0)).block(1)
    seen, todo, arrays = set(), [block.x, block.y], 0
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__name__ in ("module", "function", "cell"):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            arrays += 1
            assert one.size <= 2 * N // 5
            todo.append(one.base)
        todo += [part for part in gc.get_referents(one) if not callable(part)]
    assert arrays


def test_rows_arrive_as_they_were_sent() -> None:
    odd = np.empty(len(HOSTILE) + 1, dtype=object)
    for place, entry in enumerate(["text", *HOSTILE]):
        odd[place] = None if type(entry) is object else entry
    frame = pd.DataFrame({"a": odd, "b": np.arange(len(odd))})
    found = received(pickle.loads(pickle.dumps(sent(alone(frame)))))
    assert found["b"].dtype == np.int64
    assert [repr(entry) for entry in found["a"]] == [repr(entry) for entry in odd]
    for thorn in THORNS:
        table = read(pd.DataFrame({"a": pd.Series([thorn, "x"], dtype=object)}), pd.Series([thorn, 1], dtype=object))
        assert table.part(0, 2).rows == 2


WALK = """
import gc, hashlib, pickle, sys
def f(x, y=None):
    seen, todo, digest, frame, random = set(), [], hashlib.sha256(), sys._getframe(), ("before", "file", "data")
    while frame is not None:
        if "jail" not in frame.f_code.co_filename and frame.f_code is not f.__code__:  # there are clocks, and no rows
            todo += [frame.f_locals[name] for name in sorted(frame.f_locals) if name not in random]
        frame = frame.f_back
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, (str, bytes, int, float)):
            digest.update(repr(one).encode())
        elif type(one).__module__.split(".")[0] in ("numpy", "pandas", "discreet", "builtins"):
            if hasattr(one, "tobytes") and hasattr(one, "base"):
                digest.update(repr((one.dtype, one.shape, one.strides)).encode() + pickle.dumps(one.tolist()))
                todo.append(one.base)
            if type(one).__name__ in ("Table", "list", "tuple", "DataFrame", "Series", "BlockManager", "ndarray"):
                todo += gc.get_referents(one)
    return float(int.from_bytes(digest.digest()[:6], "little"))
"""


@needs_sandbox
@pytest.mark.claim("run_block.3")
def test_code_that_looks_at_everything_it_can_reach_learns_of_its_block_alone() -> None:
    """The stack, what hangs on it, base arrays, types: for other blocks the same whatever one person holds."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"a": generator.normal(size=12), "g": list("uvw") * 4})
    other = frame.copy()
    other.loc[0] = [None, "aaa"]
    names = [f"p{k}" for k in range(12)]
    tables = [
        read(rows.astype({"g": "category"}), None, people)
        for rows, people in ((frame, names), (other, ["stranger", *names[1:]]))
    ]
    with opened(PATIENT, SourceFit(WALK, "f"), tables[0]) as cells:  # one, as it has a seed
        found = [cells.rows(NUMBER, partition(table, 4, REPLACE, Seeded(2)), None)[:, 0] for table in tables]
    assert np.isfinite(found).all()
    assert len(set(found[0])) == 4
    assert (found[0] != found[1]).sum() == 1


def seen_type(t: Any) -> float:
    """What an innocent function may depend on: types, dictionaries and categories."""
    kinds = [str(kind) for kind in t.dtypes]
    listed = sum(len(kind.categories) for kind in t.dtypes if hasattr(kind, "categories"))
    return float(sum(len(kind) for kind in kinds) + 100 * listed + len(pd.get_dummies(t).columns) * 1e4)


@pytest.mark.claim("block_table.1")
@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("kind", [None, "category", pd.ArrowDtype(ARROW)])
def test_own_code_is_given_no_more_than_its_block(kind: Any) -> None:
    texts = ["u", "v"] * 40
    mechanism = SubsampleAggregate(FunctionFit(seen_type), NUMBER, BlockMean(8, 1, 50.0))
    found = []
    for whole, text in ((3, "u"), (None, "aaa")):
        frame = pd.DataFrame({"a": [whole, *range(79)], "g": pd.Series([text, *texts[1:]], dtype=kind)})
        found.append(mechanism.estimates(read(frame), Seeded(0))[:, 0])
    assert (found[0] != found[1]).sum() <= 1


@pytest.mark.claim("batched.2")
@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("path", ["plain", "compiled"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("label", ["aaa", "zzz", "yes", None, 3.0])
def test_one_text_label_moves_one_block(
    path: str, relation: Neighbours, label: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels are ranked within the block: a text that nobody else has must not turn a block of "no" into one of
    "yes"."""
    if path == "compiled" and not compiled():
        pytest.skip("numba is not installed")
    monkeypatch.setattr(paths, "MANY", 1 if path == "compiled" else 10**9)
    sklearn = pytest.importorskip("sklearn.linear_model")
    generator = np.random.default_rng(0)
    x = generator.normal(size=(400, 1))
    y = np.where(generator.random(400) < 0.05, "yes", "no").astype(object)
    fit, shape = adapted(sklearn.LogisticRegression(C=np.inf)), Shape("named", ("coef_[0]", "intercept_"))
    mechanism = SubsampleAggregate(fit, shape, BlockMean(40, 2, 200.0), neighbours=relation, correct="firth")
    other = np.concatenate([[label], y[1:] if relation is REPLACE else y]).astype(object)
    odd = x if relation is REPLACE else np.concatenate([[[0.5]], x])
    pair = Pair(BlockTable.of(x, y), BlockTable.of(odd, other))
    left, right = (mechanism.estimates(table, Seeded(3)) for table in (pair.left, pair.right))
    assert sum(one.tobytes() != two.tobytes() for one, two in zip(left, right, strict=True)) <= 1
    assert np.isnan(left).any()
    assert np.isfinite(left).all(axis=1).any()
    assert replay(mechanism, pair, seed=3) == []


def test_categories_are_declared() -> None:
    rows = pd.DataFrame({"g": ["F", "M", "?"] * 2000, "a": np.arange(6000.0)})

    def share(t: Any) -> dict[str, float]:
        return {f"g {name}": float((t["g"] == name).mean()) for name in t["g"].cat.categories}

    declared = {"g": ["F", "M"]}
    release = discreet.fit(share, rows, epsilon=50.0, delta=1e-6, categories=declared, missing="keep", rng=Seeded(0))
    assert list(release.value) == ["g F", "g M"]
    assert release.value["g F"] == pytest.approx(1 / 3, abs=0.05)
    block, _ = partition(read(rows, categories=declared), 9, REPLACE, Seeded(0)).block(0)
    assert block.x["g"].isna().mean() == pytest.approx(1 / 3, abs=0.15)
    with pytest.raises(BadInput, match="categories="):
        discreet.fit(share, rows.astype({"g": "category"}), epsilon=50.0, delta=1e-6, rng=Seeded(0))


@pytest.mark.parametrize(
    ("rows", "categories", "word"),
    [
        (np.ones((4, 2)), {"a": ["x"]}, "frame"),
        (pd.DataFrame({"a": ["x"]}), ["x"], "column"),
        (pd.DataFrame({"a": ["x"]}), {"b": ["x"]}, "not a column"),
        (pd.DataFrame({"a": ["x"]}), {"a": []}, "list each"),
        (pd.DataFrame({"a": ["x"]}), {"a": "xy"}, "list each"),
        (pd.DataFrame({"a": ["x"]}), {"a": ["x", "x"]}, "once"),
        (pd.DataFrame(index=range(3)), None, "no column"),
        (np.zeros(3, dtype=[("a", "f8"), ("b", "U3")]), None, "records"),
    ],
)
def test_bad_categories_and_tables(rows: Any, categories: Any, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        read(rows, categories=categories)
