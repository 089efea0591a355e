"""`--engine`: the same answers from files that are worked on elsewhere, and one line for a wrong address."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.engines import Local
from discreet.engines.dask import Dask

Told = tuple[int, str, str]
Run = Callable[..., Told]


class StandIn:
    """An engine that says how many passes it made."""

    def __init__(self) -> None:
        self.passes = 0

    def map(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        return Local(0).map(function, items)

    def fold(self, kernel: Any, merge: Any, parts: Any) -> Any:
        self.passes += 1
        return Local(0).fold(kernel, merge, parts)


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """What is at dask://host:8786."""
    engine = StandIn()
    monkeypatch.setattr(Dask, "at", {"host:8786": engine}.__getitem__)
    return engine


def released(folder: Path) -> Any:
    found = json.loads((folder / "results.json").read_text())
    return [(entry["id"], entry["release"]["value"], entry["release"].get("interval")) for entry in found["releases"]]


def test_a_plan_gives_the_same_answers_on_an_engine(command: Run, plan: Path, there: StandIn) -> None:
    code, _, err = command("release", plan, "--yes", "--seed", 1, "--engine", "dask://host:8786", "--out", "there")
    assert code == 0, err
    assert there.passes > 0
    other = plan.parent / "other.toml"
    other.write_text(plan.read_text().replace("study.ledger", "other.ledger"))
    assert command("release", other, "--yes", "--seed", 1, "--out", "here")[0] == 0
    assert released(plan.parent / "there") == released(plan.parent / "here")


def test_a_profile_is_the_same_on_an_engine(command: Run, table: Path, there: StandIn) -> None:
    asked = ("describe", table, "--epsilon", 4, "--seed", 1, "--one-row-per-person", "--no-ledger", "--json")
    code, out, err = command(*asked, "--engine", "dask://host:8786")
    assert code == 0, err
    assert there.passes > 0
    assert json.loads(out)["releases"] == json.loads(command(*asked)[1])["releases"]


@pytest.mark.parametrize("wrong", ["mars://host", "dask", "spark://"])
def test_a_wrong_address_is_one_line_and_costs_nothing(command: Run, plan: Path, wrong: str) -> None:
    code, _, err = command("release", plan, "--yes", "--engine", wrong)
    assert code == 2
    assert f"engine is '{wrong}'; give an address, dask://host:8786" in " ".join(err.split())
    assert "Traceback" not in err
    assert not (plan.parent / "study.ledger").exists()
    code, _, err = command("describe", "people.csv", "--epsilon", 1, "--no-ledger", "--engine", wrong)
    assert code == 2
