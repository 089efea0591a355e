"""How a call ends is the same for neighbours, whatever container their rows come in.

One entry of a column becomes None, a text, a float, a huge whole number or a truth value. numpy and pandas then read
another type off the entries of all; neither the error, nor its words, nor the granularity, nor whether there is an
interval, nor a shape may follow from that.
"""

import datetime
import enum
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Seeded
from discreet.models.design import check_frame, columns_of, declared_levels
from discreet.models.formula import Formula
from discreet.tables import entries as rows
from discreet.tables.entries import key
from discreet.tables.frames import declared_type, said_kind
from discreet.tables.opening import read
from discreet.tables.wanted import Want

ROWS = 400
ODD: tuple[Any, ...] = (None, "x", 0.5, 2**70, True)
ODD_OF_BLOCKS = ODD[:2]  # estimators run on many blocks, in processes of their own; tests of own rows try the others
COLUMNS: dict[str, list[Any]] = {
    "integer": [k % 20 for k in range(ROWS)],
    "boolean": [k % 3 == 0 for k in range(ROWS)],
    "text": ["a", "b"] * (ROWS // 2),
}
TYPES: dict[str, tuple[type, str, Any, Any]] = {
    "integer": (int, "Int64", pl.Int64, pa.int64()),
    "boolean": (bool, "boolean", pl.Boolean, pa.bool_()),
    "text": (str, "string", pl.String, pa.string()),
}


def fitting(entries: list[Any], kind: str) -> list[Any]:
    """What a schema can hold; an odd entry is missing in it."""
    wanted = TYPES[kind][0]
    return [entry if type(entry) is wanted and entry != 2**70 else None for entry in entries]


def numpy_objects(entries: list[Any], _: str) -> Any:
    found = np.empty(len(entries), dtype=object)
    found[:] = entries
    return found


CONTAINERS: dict[str, Callable[[list[Any], str], Any]] = {
    "list": lambda entries, _: entries,
    "numpy": lambda entries, _: np.array(entries),
    "numpy objects": numpy_objects,
    "pandas": lambda entries, _: pd.Series(entries),
    "pandas objects": lambda entries, _: pd.Series(entries, dtype=object),
    "pandas category": lambda entries, _: pd.Series(entries).astype("category"),
    "pandas declared": lambda entries, kind: pd.Series(fitting(entries, kind), dtype=TYPES[kind][1]),
    "polars": lambda entries, kind: pl.Series(fitting(entries, kind), dtype=TYPES[kind][2]),
    "arrow": lambda entries, kind: pa.array(fitting(entries, kind), TYPES[kind][3]),
    "arrow dictionary": lambda entries, kind: pa.array(fitting(entries, kind), TYPES[kind][3]).dictionary_encode(),
}
MUCH: dict[str, Any] = {"epsilon": 20.0, "neighbours": "replace"}
BOTH: dict[str, Any] = {**MUCH, "delta": 1e-6}
X = np.stack([np.arange(ROWS) % 7, np.arange(ROWS) % 11], axis=1).astype(float)
RANGE = (0.0, 20.0)


def framed(column: Any) -> Any:
    """A data frame with that column and another; of pandas where that takes the column as it is."""
    if isinstance(column, pd.Series):
        return pd.DataFrame({"a": column, "b": X[:, 0]})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"a": column, "b": X[:, 0]})
    if isinstance(column, pa.Array):
        return pa.table({"a": column, "b": X[:, 0]})
    return {"a": column, "b": X[:, 0]}


def mapped(column: Any) -> Any:
    """A mapping of columns."""
    return {"a": column}


VERBS: dict[str, Callable[..., Any]] = {
    "count": lambda x, **rng: discreet.count(x, **MUCH, **rng),
    "proportion": lambda x, **rng: discreet.proportion(x, **MUCH, **rng),
    "mean": lambda x, **rng: discreet.mean(x, bounds=RANGE, **MUCH, **rng),
    "variance": lambda x, **rng: discreet.variance(x, bounds=RANGE, **MUCH, **rng),
    "median": lambda x, **rng: discreet.median(x, **MUCH, **rng),
    "median in bounds": lambda x, **rng: discreet.median(x, bounds=RANGE, **MUCH, **rng),
    "guaranteed": lambda x, **rng: discreet.median(x, bounds=RANGE, guaranteed=True, **MUCH, **rng),
    "point": lambda x, **rng: discreet.quantile(x, (0.25, 0.75), confidence=None, bounds=RANGE, **MUCH, **rng),
    "histogram": lambda x, **rng: discreet.histogram(x, categories=[1, 2, "a", True], **MUCH, **rng),
    "edges": lambda x, **rng: discreet.histogram(x, edges=[0, 5, 20], **MUCH, **rng),
    "family": lambda x, **rng: discreet.fit_distribution("bernoulli", x, **MUCH, **rng),
    "test_mean": lambda x, **rng: discreet.mean_test(x, 1.0, **MUCH, **rng),
    "fit": lambda x, **rng: discreet.fit(np.nanmean, x, **BOTH, **rng),
    "fit to y": lambda x, **rng: discreet.fit(lambda x, y: (x * y[:, None]).mean(axis=0), X, x, **BOTH, **rng),
    "linear_regression": lambda x, **rng: discreet.linear_regression(X, x, bounds=RANGE, **BOTH, **rng),
    "logistic_regression": lambda x, **rng: discreet.logistic_regression(X, x, bounds=RANGE, **MUCH, **rng),
}
OF_FRAMES: dict[str, Callable[..., Any]] = {
    "mean of a table": lambda x, **rng: discreet.mean(framed(x), **BOTH, **rng),
    "kmeans": lambda x, **rng: discreet.kmeans(framed(x), 2, radius=30.0, **BOTH, **rng),
    "fit a frame": lambda x, **rng: discreet.fit(lambda t: t["b"].mean(), framed(x), **BOTH, **rng),
    "formula": lambda x, **rng: discreet.linear_regression("b ~ a", framed(x), **BOTH, **rng),
}


def ended(verb: Callable[..., Any], rows: Any) -> Any:
    """What everybody sees of how a call ended, apart from what was drawn, a refusal among it."""
    with warnings.catch_warnings(action="error"):
        try:
            release = verb(rows, rng=Seeded(1))
        except discreet.DiscreetError as error:
            return type(error), str(error)
    parameters = release.provenance.parameters
    known = (parameters.get("granularity"), parameters.get("rows"), sorted(parameters))
    if release.refusal is not None:
        return (*known, "drawn")
    value = release.value
    shape = type(value), sorted(value) if isinstance(value, dict) else getattr(value, "shape", None)
    try:
        interval: Any = release.interval() is not None
    except discreet.DiscreetError as error:
        interval = re.sub(r"[\d.]+", "#", str(error))  # numbers were drawn
    return (*known, "drawn", shape, interval)


def same(left: Any, right: Any) -> bool:
    """Alike as far as both got: whether noise refused is a draw."""
    return all(one == other for one, other in zip(left, right, strict=False))


def fits(container: str, odd: Any, kind: str) -> bool:
    """Whether the container can be made at all, and says texts or not, as it did: that is public."""
    if container == "numpy":
        return isinstance(odd, str) == (kind == "text")
    return container != "pandas category" or kind != "text" or isinstance(odd, str | None)


@pytest.mark.claim("entries.2")
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("verb", [*VERBS, *OF_FRAMES])
def test_one_entry_does_not_decide_how_a_call_ends(verb: str, container: str, kind: str) -> None:
    ends_alike(verb, container, kind, ODD_OF_BLOCKS if verb.startswith("fit") else ODD)


@pytest.mark.study
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("verb", [verb for verb in (*VERBS, *OF_FRAMES) if verb.startswith("fit")])
def test_no_odd_entry_decides_how_a_fit_ends(verb: str, container: str, kind: str) -> None:
    ends_alike(verb, container, kind, ODD)


def ends_alike(verb: str, container: str, kind: str, odds: tuple[Any, ...]) -> None:
    asked, make, entries = (VERBS | OF_FRAMES)[verb], CONTAINERS[container], COLUMNS[kind]
    expected = ended(asked, make(entries, kind))
    for odd in odds:
        if fits(container, odd, kind):
            assert same(ended(asked, make([odd, *entries[1:]], kind)), expected), odd


@pytest.mark.claim("table.1")
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_one_entry_does_not_decide_what_a_session_knows(container: str, kind: str, tmp_path: Path) -> None:
    """Kinds, and with them granularities, refusals and what `describe` asks; a frame and a mapping of columns alike."""
    known_alike(container, kind, tmp_path, ((framed, "median"), (mapped, "histogram")))


@pytest.mark.study
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_one_entry_decides_nothing_in_the_other_kind_of_table(container: str, kind: str, tmp_path: Path) -> None:
    known_alike(container, kind, tmp_path, ((mapped, "median"), (framed, "histogram")))


def known_alike(
    container: str, kind: str, tmp_path: Path, asking: tuple[tuple[Callable[[Any], Any], str], ...]
) -> None:
    make, entries = CONTAINERS[container], COLUMNS[kind]

    def asked(name: str, verb: str, column: Any) -> Any:
        with discreet.open(
            column, budget=discreet.Budget(1000.0), ledger=tmp_path / name, neighbours="replace", rng=Seeded(1)
        ) as private:
            options = {"categories": [1, 2, "a", True]} if verb == "histogram" else {"bounds": RANGE}
            return ended(lambda *_, **__: getattr(private, verb)("a", epsilon=20.0, **options), None)

    for wrap, verb in asking:
        left = wrap(make(entries, kind))
        expected = asked(f"{verb}.ledger", verb, left)
        for number, odd in enumerate(ODD):
            if not fits(container, odd, kind):
                continue
            right = wrap(make([odd, *entries[1:]], kind))
            assert dict(read(left).kinds) == dict(read(right).kinds), odd
            if odd in (None, "x"):
                assert same(asked(f"{verb}{number}.ledger", verb, right), expected), odd


@pytest.mark.claim("entries.2")
@pytest.mark.parametrize("odd", [None, "x", 0.5, True])
def test_the_median_of_whole_numbers_has_an_interval_beside_any_entry(odd: Any) -> None:
    """Once the type of 2,000 whole numbers decided it, and one missing entry the type."""
    whole = list(range(2000))
    for make in (np.array, pd.Series):
        endings = [
            discreet.median(make(rows), epsilon=1.0, rng=Seeded(1)).interval() is not None
            for rows in (whole, [odd, *whole[1:]] if odd != "x" or make is pd.Series else whole)
        ]
        assert endings == [True, True]
    declared = discreet.median(pd.Series(whole, dtype="Int64"), epsilon=1.0, rng=Seeded(1))
    assert declared.interval() is not None  # at granularity 1, by its declared type


@pytest.mark.claim("entries.2")
def test_which_types_are_declared() -> None:
    for container, make in CONTAINERS.items():
        declared = container.startswith("arrow") or container == "pandas declared"
        says = declared or container in ("numpy", "polars", "pandas category")
        for kind, entries in COLUMNS.items():
            assert bool(declared_type(make(entries, kind))) == declared
            assert (said_kind(make(entries, kind)) != "unknown") == (says and kind == "text")
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02"]))
    for column in (dates, dates.dt.tz_localize("UTC"), pd.Series([1, 2]).astype("Sparse[int64]"), pd.Series([1j])):
        assert not declared_type(column)


@pytest.mark.claim("entries.2")
def test_types_that_polars_infers_are_not_declared(tmp_path: Path) -> None:
    """One 0.5 makes floats of all whole numbers, in a list and among the first lines of a file."""
    whole: list[Any] = list(range(2000))
    types = set()
    for odd in (0, None, 0.5):
        (tmp_path / "a.csv").write_text(
            "\n".join(["a", *("" if one is None else str(one) for one in [odd, *whole[1:]])])
        )
        for column in (pl.Series([odd, *whole[1:]], strict=False), pl.read_csv(tmp_path / "a.csv")["a"]):
            types.add(str(column.dtype))
            assert not declared_type(column)
            assert discreet.median(column, epsilon=1.0, rng=Seeded(1)).interval() is not None
            for source in (pl.DataFrame({"a": column}), {"a": column}):
                assert dict(read(source).kinds) == {"a": "unknown"}
    assert types == {"Int64", "Float64"}


@pytest.mark.claim("entries.1")
def test_dates_have_one_key_in_every_container() -> None:
    """Beside a text, pandas' dates are objects of its own."""
    dates = pd.Series(pd.to_datetime(["2020-01-01 00:00:00", "2020-01-02 03:04:05"]))
    for column in (dates, dates - dates[0]):
        plain = [key(entry) for entry in np.asarray(column)]
        assert plain == [key(entry) for entry in pd.Series([*column, "x"], dtype=object)[:2]]
        assert plain == [key(entry) for entry in column.tolist()]
    zoned = dates.dt.tz_localize("UTC")
    assert [key(entry) for entry in zoned] == [key(entry.to_pydatetime()) for entry in zoned]
    assert key(pd.NaT) is None


class Colour(str, enum.Enum):  # noqa: UP042  its str() is not its text
    RED = "red"


class Loud(datetime.datetime):
    def isoformat(self, *_: Any, **__: Any) -> str:
        return "loud"


DAY = "2020-01-02"
NANO = pd.Timestamp("2020-01-02 00:00:00.000000001")


def of_objects(*entries: Any) -> Any:
    found = np.empty(len(entries), dtype=object)
    for place, entry in enumerate(entries):
        found[place] = entry
    return found


MOMENTS: dict[str, tuple[Any, Any]] = {
    "the finest unit of all": (np.array([DAY] * 3, dtype="M8"), np.array([f"{DAY}T05:06", DAY, DAY], dtype="M8")),
    "a finer one": (np.array(["1970-01-02"] * 3, dtype="M8"), np.array(["1970-01-02"] * 3, dtype="M8[ps]")),
    "far away": (np.array(["12000-01-01"] * 3, dtype="M8[D]"), np.array(["12000-01-01"] * 3, dtype="M8[us]")),
    "nanoseconds beside a text": (pd.Series([NANO] * 3), pd.Series(["x", NANO, NANO])),
    "durations beside a text": (pd.Series([pd.Timedelta(1)] * 3), pd.Series(["x", pd.Timedelta(1), pd.Timedelta(1)])),
    "days of numpy beside a text": (
        pd.Series([np.datetime64(DAY)] * 3),
        pd.Series(["x", np.datetime64(DAY), np.datetime64(DAY)]),
    ),
    "durations of numpy": (np.array([5] * 3, dtype="m8[ns]"), of_objects("x", *np.array([5] * 2, dtype="m8[ns]"))),
    "years of numpy": (np.array([5] * 3, dtype="m8[Y]"), of_objects("x", *np.array([5] * 2, dtype="m8[Y]"))),
    "dates of another class": (pd.Series([Loud(2020, 1, 2)] * 3), pd.Series(["x", Loud(2020, 1, 2), Loud(2020, 1, 2)])),
    "texts of another class": (["a"] * 150 + [Colour.RED], [5, *["a"] * 149, Colour.RED]),
    "intervals": (pd.Series([pd.Interval(0, 1)] * 3), pd.Series([None, pd.Interval(0, 1), pd.Interval(0, 1)])),
    "masked dates": (
        np.ma.array(np.array([DAY] * 3, dtype="M8[s]")),
        np.ma.array(of_objects("x", *[np.datetime64(DAY)] * 2)),
    ),
}
FILTERS = (f"a == '{DAY}'", f"a == '{DAY} 00:00:00'", f"a != '{DAY}'", "a == 'red'", "a == 5", "a is missing")


@pytest.mark.claim("entries.1")
@pytest.mark.claim("cells.1")
@pytest.mark.claim("where.1")
@pytest.mark.parametrize("name", MOMENTS)
def test_dates_and_texts_are_read_by_themselves(name: str) -> None:
    """The first entry decides on the type of all: neither key, nor number, nor filter of the others follows from it."""
    seen = []
    for given in MOMENTS[name]:
        keys = [key(entry) for entry in rows.column(given)]
        floats = [np.isnan(entry) for entry in rows.numbers_of(rows.column(given))]
        table = read({"a": given}, types={"a": "unknown"})
        for kind in ("number", "boolean", "category"):
            cells = table.columns([Want("a", kind)])["a"]
            keys += [key(entry) for entry in cells][1:]
        filtered = [np.asarray(table.columns([Want(text, "where")])[text]).tolist()[1:] for text in FILTERS]
        seen.append((keys[1:], floats[1:], filtered))
    assert seen[0] == seen[1]


def test_a_day_is_its_midnight() -> None:
    midnight = datetime.datetime.fromisoformat(DAY)
    assert key(datetime.date(2020, 1, 2)) == key(midnight) == key(np.datetime64(DAY, "s"))
    assert len({key(midnight), key(midnight.replace(hour=12)), key(midnight.replace(tzinfo=datetime.UTC))}) == 3


@pytest.mark.claim("design.1")
def test_truth_values_are_levels_only_where_they_are_declared() -> None:
    formula = Formula.read("b ~ C(a) + a")
    for container, make in CONTAINERS.items():
        frame = framed(make(COLUMNS["boolean"], "boolean"))
        declared = container in ("pandas declared", "arrow", "arrow dictionary")
        assert bool(declared_levels(None, formula, frame)) == declared, container
        check_frame(formula, frame)
        design = columns_of(formula, frame, {"a": (key(False), key(True))}, {})
        assert (design.bounds[1] is not None) == declared
