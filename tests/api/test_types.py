"""What type checkers see: `make check` reads this file; an ignore that is not needed is an error there."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import assert_type

import pytest

import discreet
from discreet.privacy.declaration import homes
from discreet.privacy.release import Groups, Release

ROOT = Path(__file__).parent.parent.parent


def typed_user_code(session: discreet.Session) -> None:
    """Never called: options that are misspelt, or of the wrong type, are errors before anything runs."""
    assert_type(discreet.proportion([True], epsilon=1.0), Release[float])
    assert_type(session.proportion("smokes", epsilon=0.5), Release[float])
    assert_type(session.proportion("smokes", epsilon=0.5, groupby="sex"), Groups)
    discreet.mean([1.0], epsilon=1.0, bound=(0, 1))  # type: ignore[call-arg]
    discreet.mean([1.0], epsilon="1")  # type: ignore[arg-type]
    session.mean("age", epsilon=0.5, wher="age > 3")  # type: ignore[call-overload]
    session.kmeans(["age"], 3, epsilon=0.5, delta=1e-6, methd="lloyd")  # type: ignore[call-arg]


def test_the_committed_faces_are_those_of_the_declarations() -> None:
    """After a change of a declaration run `python scripts/faces.py`."""
    code = (
        "import scripts.faces as faces; "
        "print(all((faces.ROOT / name).read_text() == text for name, text in faces.written().items()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "True"


def test_help_shows_the_signature_and_an_example_of_its_own() -> None:
    with discreet.open({"age": [1.0, 2.0]}, budget=1.0, ledger=":memory:") as session:
        for name in ("mean", "quantile", "linear_regression"):
            method = getattr(session, name)
            assert f"session.{name}(" in (method.__doc__ or "")
            assert {"epsilon", "where", "request"} <= set(inspect.signature(method).parameters)
    for name in homes():
        function = getattr(discreet, name)
        assert f"discreet.{name}(" in (function.__doc__ or "")
        assert {"epsilon", "neighbours", "rng"} <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", homes())
def test_every_argument_is_described_in_the_docstrings(name: str) -> None:
    for face in (getattr(discreet, name), getattr(discreet.Session, name)):
        text = inspect.getdoc(face) or ""
        for parameter in inspect.signature(face).parameters:
            if parameter != "self":
                assert re.search(rf"^\*?{parameter} : .+\n    \S+", text, flags=re.MULTILINE), parameter
