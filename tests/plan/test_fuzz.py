"""Some hundred random plans on random tables; `python -m benchmarks.fuzz` tries many more."""

import time
import warnings
from typing import Any

import pytest
from benchmarks import fuzz as work
from benchmarks.fuzz import fuzz
from benchmarks.fuzz_inputs import HOSTILE, WORD

from discreet.errors import OverBudget
from discreet.plan.run_plan import run_plan
from discreet.report import page


def test_random_plans_bring_out_errors_of_ours_and_nothing_of_the_marked_person() -> None:
    tally = fuzz(plans=400, tables=40, runs=30, seed=20)
    assert tally.faults == []
    assert tally.plans == 400
    assert tally.ends["run"] >= 15
    assert tally.ends["cannot be read"] >= 100
    assert tally.ends["cannot be asked"] >= 20
    assert tally.ends["priced"] >= 40


def shown(found: Any) -> str:
    return page(found) + WORD.upper()


def injected(found: Any) -> str:
    return page(found) + HOSTILE[0]


def charged_then_refused(bound: Any, **more: Any) -> Any:
    run_plan(bound, **more)
    raise OverBudget("too late")


def answered_anew(bound: Any, **more: Any) -> Any:
    return run_plan(bound, **more) | {"created": str(time.monotonic_ns())}


def broken(file: Any) -> Any:
    raise KeyError(file)


def warned(bound: Any, **more: Any) -> Any:
    warnings.warn("a row is odd", stacklevel=1)
    return run_plan(bound, **more)


@pytest.mark.parametrize(
    ("name", "mutant", "said"),
    [
        ("page", shown, "canaryqz is in report.html"),
        ("page", injected, "a script got into the page"),
        ("run_plan", charged_then_refused, "rows were read, then OverBudget"),
        ("run_plan", answered_anew, "the same plan has other answers"),
        ("run_plan", warned, "a row is odd"),
        ("read_plan", broken, "KeyError"),
    ],
)
def test_what_is_planted_is_found(name: str, mutant: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, name, mutant)
    tally = fuzz(plans=60, tables=6, runs=60, seed=4)
    assert any(said in fault for fault in tally.faults)
