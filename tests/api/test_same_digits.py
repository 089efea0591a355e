"""A function and a session read the same column in the same way: the same seed gives the same digits."""

from typing import Any

import numpy as np
import pytest
from tests.session.verbs import asked

import discreet
from discreet.privacy.declaration import declared
from discreet.privacy.release import Release

RNG = np.random.default_rng(7)
N = 4000
PEOPLE: dict[str, Any] = {
    "age": RNG.integers(18, 90, N).astype(float),
    "bmi": RNG.normal(27, 5, N),
    "sex": RNG.choice(["F", "M"], N).astype(object),
    "smokes": RNG.random(N) < 0.25,
    "visits": RNG.poisson(2.0, N).astype(float),
}
PEOPLE["cost"] = 3 * PEOPLE["age"] + RNG.normal(0, 10, N)
PEOPLE["bmi"][:200] = np.nan  # missing entries are left out by both
ASKED = asked(blocks=400, people=N, steps=5)


def columns_of(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The columns themselves, in place of their names."""
    statistic, found = declared(name), dict(given)
    for parameter in statistic.columns:
        one = given.get(parameter)
        if isinstance(one, str) and "~" in one:
            found["y"] = PEOPLE
        elif isinstance(one, str):
            found[parameter] = PEOPLE[one]
        elif one is not None:
            found[parameter] = {column: PEOPLE[column] for column in one}
    return found


@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("name", ASKED)
def test_function_and_session_give_the_same_digits(name: str, relation: str) -> None:
    terms: dict[str, Any] = {"neighbours": relation, "rng": discreet.Seeded(3)}
    budget = discreet.Budget(1000.0, 1e-2)
    with discreet.open(dict(PEOPLE), budget=budget, ledger=":memory:", **terms) as session:
        one = session.ask(name, epsilon=4.0, **ASKED[name])
    terms["rng"] = discreet.Seeded(3)
    two = getattr(discreet, name)(**columns_of(name, ASKED[name]), epsilon=4.0, **terms)
    assert isinstance(one, Release)
    assert (one.refusal, repr(one.answer)) == (two.refusal, repr(two.answer))
    assert one.guarantee == two.guarantee


@pytest.mark.parametrize("container", ["list", "pandas", "polars", "arrow", "nullable"])
def test_containers_give_the_same_digits(container: str) -> None:
    pandas, polars, arrow = (pytest.importorskip(library) for library in ("pandas", "polars", "pyarrow"))
    listed = [None if np.isnan(entry) else float(entry) for entry in PEOPLE["bmi"]]
    made = {
        "list": listed,
        "pandas": pandas.Series(listed, dtype=object),
        "polars": polars.Series(listed),
        "arrow": arrow.array(listed),
        "nullable": pandas.Series(listed, dtype="Float64"),
    }[container]
    wanted = discreet.mean(PEOPLE["bmi"], epsilon=1.0, rng=discreet.Seeded(5))
    assert discreet.mean(made, epsilon=1.0, rng=discreet.Seeded(5)).value == wanted.value
    with discreet.open({"bmi": made}, budget=9.0, ledger=":memory:", rng=discreet.Seeded(5)) as session:
        assert session.mean("bmi", epsilon=1.0).value == wanted.value


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The same people in everything that a session opens, and what else it has to be told."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    import sqlalchemy as sa

    home = tmp_path_factory.mktemp("sources")
    frame, listed = pd.DataFrame(PEOPLE), {name: column.tolist() for name, column in PEOPLE.items()}
    listed["bmi"] = [None if np.isnan(entry) else entry for entry in listed["bmi"]]
    table = pa.table(listed)
    pq.write_table(table, home / "people.parquet")
    frame.to_csv(home / "people.csv", index=False)
    engine = sa.create_engine(f"sqlite:///{home / 'people.db'}")
    with engine.begin() as connection:
        frame.to_sql("people", connection, index=False)
    engine.dispose()
    return {
        "numpy": (dict(PEOPLE), {}),
        "list": (listed, {}),
        "pandas": (frame, {}),
        "polars": (pl.DataFrame(listed), {}),
        "arrow": (table, {}),
        "parquet": (home / "people.parquet", {}),
        "csv": (home / "people.csv", {"types": {"smokes": "boolean"}}),
        "sqlite": (f"sqlite:///{home / 'people.db'}", {"table": "people", "types": {"smokes": "boolean"}}),
    }


def shown(name: str, source: Any, options: dict[str, Any]) -> str:
    """What everybody sees of one release."""
    budget = discreet.Budget(1000.0, 1e-2)
    with discreet.open(source, budget=budget, ledger=":memory:", rng=discreet.Seeded(3), **options) as session:
        release = session.ask(name, epsilon=4.0, **ASKED[name])
    assert isinstance(release, Release)
    return repr((release.refusal, release.answer, release.guarantee))


@pytest.mark.parametrize("half", [True, pytest.param(False, marks=pytest.mark.study)])
@pytest.mark.parametrize("name", ASKED)
def test_every_source_gives_the_same_digits(
    name: str, half: bool, sources: dict[str, tuple[Any, dict[str, Any]]]
) -> None:
    """Half of the sources for each statistic, and the others for the next; a study asks all of all."""
    others = [kind for kind in sources if kind != "numpy"]
    wanted = shown(name, *sources["numpy"])
    for kind in others[list(ASKED).index(name) % 2 :: 2] if half else others:
        assert shown(name, *sources[kind]) == wanted, kind
