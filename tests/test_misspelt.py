"""A name that is misspelt is answered with the one that was meant, before anything is spent."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.api import function
from discreet.errors import BadInput
from discreet.tables.opening import read

TABLE = {"age": [k % 60 for k in range(400)], "sex": ["F", "M"] * 200, "visits": [k % 4 for k in range(400)]}
MISSPELT: dict[str, tuple[Callable[[discreet.Session], Any], str]] = {
    "column": (lambda s: s.mean("aeg", epsilon=1.0), "'age'"),
    "column of a group": (lambda s: s.mean("age", groupby="sxe", epsilon=1.0), "'sex'"),
    "column of a condition": (lambda s: s.mean("age", where="visit == 1", epsilon=1.0), "'visits'"),
    "column of a formula": (lambda s: s.linear_regression("age ~ vistis", epsilon=1.0, delta=1e-6), "'visits'"),
    "column of weights": (lambda s: s.mean("age", weights="vists", epsilon=1.0), "'visits'"),
    "column of levels": (
        lambda s: s.synthetic(["age", "sex"], levels={"sexx": ["F", "M"]}, epsilon=1.0, delta=1e-6),
        "'sex'",
    ),
    "option": (lambda s: s.ask("mean", "age", bonds=(0, 60), epsilon=1.0), "'bounds'"),
    "option of a function": (lambda _: function("histogram")([1], catgories=[1], epsilon=1.0), "'categories'"),
    "statistic": (lambda _: discreet.forecast("meen", rows=100, epsilon=1.0), "'mean'"),
    "assumption": (lambda _: discreet.forecast("mean", rows=100, epsilon=1.0, scael=2), "'scale'"),
    "unit": (lambda _: discreet.fit(lambda x: x, TABLE, unit="vists", epsilon=1.0, delta=1e-6), "'visits'"),
    "person": (lambda _: discreet.open(TABLE, person="agee", budget=1.0, ledger=":memory:"), "'age'"),
}


@pytest.mark.parametrize("what", MISSPELT)
def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(what: str) -> None:
    asked, meant = MISSPELT[what]
    with discreet.open(TABLE, budget=discreet.Budget(2.0, 1e-5), ledger=":memory:", unit="person") as session:
        with pytest.raises(BadInput, match=rf"[;:] did you mean {meant}\? [A-Z]"):
            asked(session)
        assert str(session.balance).startswith("epsilon 2 is left of 2,")


def test_functions_of_the_package() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'meen'; did you mean 'mean'\?"):
        discreet.meen  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'zzz'$"):
        discreet.zzz  # type: ignore[attr-defined]  # noqa: B018


def test_files_and_tables_of_a_database(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("CREATE TABLE patients (age INTEGER)")
    connection.close()
    with pytest.raises(BadInput, match=re.escape("did you mean 'people.db'? Check the path")):
        read(str(tmp_path / "peopel.db"))
    with pytest.raises(BadInput, match=re.escape("no table 'patient' that can be read; did you mean 'patients'?")):
        read(f"sqlite:///{tmp_path}/people.db", table="patient")
    with pytest.raises(BadInput, match="check its name"):
        read(f"sqlite:///{tmp_path}/people.db", table="zzz")
