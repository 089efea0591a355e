"""One table, however it comes: a list, numpy, pandas, polars, Arrow, CSV, Parquet, SQLite; a function or a session."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

import discreet
from discreet.engines.local import Local
from discreet.noise.randomness import Seeded
from discreet.sklearn import PrivateEstimator

HERE = Local(workers=0)
DRAWS = np.random.default_rng(5)
FRAME = pd.DataFrame({"a": DRAWS.normal(size=900).round(3), "b": DRAWS.gamma(3.0, size=900).round(3)})
FRAME["y"] = (FRAME["a"] - FRAME["b"] + DRAWS.normal(size=900)).round(3)
FRAME["who"] = DRAWS.integers(450, size=900)
GAPS = FRAME.copy()
GAPS.loc[::50, "a"] = np.nan
ASKED: dict[str, Any] = {"epsilon": 40.0, "delta": 1e-6}
MEMORY = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "dictionary": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "lists": lambda frame: {name: [None if np.isnan(one) else one for one in frame[name].tolist()] for name in frame},
}


def stored(frame: pd.DataFrame, kind: str, folder: Path) -> str:
    """The table in a file."""
    path = folder / f"people.{kind}"
    if kind == "db":
        with closing(sqlite3.connect(path)) as base, base:
            frame.to_sql("people", base, index=False)
        return f"sqlite:///{path}"
    (frame.to_csv if kind == "csv" else frame.to_parquet)(path, index=False)
    return str(path)


def opened(source: Any, **more: Any) -> Any:
    return discreet.open(source, budget=discreet.Budget(200.0, 1e-5), ledger=":memory:", rng=Seeded(3), **more)


def digits(ask: Any, X: Any, y: Any, tail: Any, **more: Any) -> list[Any]:  # noqa: N803
    """Coefficients, and a median."""
    given = {"engine": HERE, "blocks": 20, **ASKED, **more}
    return [*ask(LinearRegression(), X, y, **given).value.values(), ask(np.median, tail, **given).value]


def called(frame: pd.DataFrame, pick: Any) -> list[Any]:
    """Digits of the function, on what `pick` makes of some columns."""
    return digits(discreet.fit, pick(frame[["a", "b"]]), frame["y"], frame["y"].tolist(), rng=Seeded(3))


@pytest.mark.parametrize("frame", [FRAME, GAPS], ids=["whole", "with gaps"])
def test_the_same_digits_from_every_container(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Rows with a missing entry are left out by default."""
    expected = called(frame, lambda part: part.to_numpy())
    assert np.isfinite(expected).all()
    for name, made in MEMORY.items():
        assert called(frame, made) == expected, name
        with opened(made(frame)) as session:
            assert digits(session.fit, ["a", "b"], "y", "y") == expected, name
    for kind in ("csv", "parquet", "db"):
        types: Any = {"csv": {"types": dict.fromkeys("aby", "number")}, "db": {"table": "people"}}.get(kind, {})
        with opened(stored(frame, kind, tmp_path), **types) as session:
            assert digits(session.fit, ["a", "b"], "y", "y") == expected, kind


def test_the_same_digits_for_people_with_several_rows() -> None:
    def found(rows: Any, unit: Any) -> list[float]:
        given = {"engine": HERE, "blocks": 20, "rng": Seeded(3), **ASKED}
        return list(discreet.fit(LinearRegression(), rows, FRAME["y"], unit=unit, **given).value.values())

    expected = found(FRAME[["a", "b", "who"]], "who")
    for name, made in MEMORY.items():
        assert found(made(FRAME[["a", "b", "who"]]), "who") == expected, name
    assert found(FRAME[["a", "b"]], FRAME["who"]) == expected
    with opened(FRAME, person="who") as session:
        release = session.fit(LinearRegression(), ["a", "b"], "y", engine=HERE, blocks=20, **ASKED)
        assert list(release.value.values()) == expected


def test_the_faces_read_alike() -> None:
    """scikit-learn's face, a test of one's own and a likelihood take any container too."""
    for made in MEMORY.values():
        settings = {"engine": HERE, "blocks": 20, "rng": Seeded(3)}
        model = PrivateEstimator(LinearRegression(), epsilon=40.0, delta=1e-6, settings=settings)
        assert model.fit(made(FRAME[["a", "b"]]), FRAME["y"]).coef_.tolist() == called(FRAME, lambda part: part)[:2]
    waits = FRAME["b"].to_numpy()
    for verb in (
        lambda x: discreet.custom_test(lambda x: float(np.exp(-x.mean())), x, epsilon=9.0, rng=Seeded(1)).value.p_value,
        lambda x: discreet.maximum_likelihood("gamma", x, epsilon=40.0, delta=1e-6, blocks=20, rng=Seeded(1)).value.a,
    ):
        assert len({verb(x) for x in (waits, waits.tolist(), FRAME["b"], pl.Series(waits), pa.array(waits))}) == 1
