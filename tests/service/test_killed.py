"""kill -9 at any point: nothing is shown that is not recorded, nothing is charged twice, and the queue goes on."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import enrol, plan, settings_for

from discreet.service.desk import Desk
from discreet.service.jobs import work_off
from discreet.service.settings import read_settings

SCRIPT = Path(__file__).with_name("killed_worker.py")


def prepared(folder: Path, port: int = 8321) -> tuple[Path, str]:
    """A folder with a service and one approved request."""
    folder.mkdir(exist_ok=True)
    settings_for(folder)
    config = folder / "service.toml"
    lines = ['ledger = "study.ledger"', f"port = {port}", "limit = 60.0", "tick = 1.0", "[[source]]", 'name = "people"']
    lines += ['title = "People"', 'data = { source = "people.parquet", rows = 3000 }']
    config.write_text("\n".join([*lines, 'population = { name = "people", epsilon = 3.0, delta = 1e-6 }']))
    desk = Desk(read_settings(config), folder)
    enrol(desk)
    return config, approved(desk, plan())


def approved(desk: Desk, text: str) -> str:
    ann, sue = (desk.people.find(name) for name in ("ann", "sue"))
    assert ann is not None
    assert sue is not None
    which = desk.submit(text, desk.settings.source[0], ann).id
    desk.approve(which, sue)
    desk.close()
    return which


def killed(config: Path, kills: int, seed: int, longest: float = 0.4) -> list[dict[str, Any]]:
    command = [sys.executable, str(SCRIPT), str(config), str(kills), str(seed), str(longest)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return list(json.loads(done.stdout))


def judge(told: list[dict[str, Any]]) -> None:
    *steps, last = told
    assert last == {"sound": True}
    assert all(step["charges"] <= 1 for step in steps), "charged once"
    assert all(step["is"] != ["done"] or step["answers"] == 1 for step in steps), "done means stored"
    charges = [step["charges"] for step in steps]
    assert charges == sorted(charges), "a charge stays"


@pytest.mark.claim("jobs.2")
def test_workers_that_are_killed_charge_once_and_answer_once(tmp_path: Path) -> None:
    config, _ = prepared(tmp_path)
    told = killed(config, 2, seed=1)
    judge(told)
    assert told[-2]["is"] == ["done"], "the third try is left alone"


def test_a_restart_resumes_the_queue(tmp_path: Path) -> None:
    config, which = prepared(tmp_path)
    first = Desk(read_settings(config), tmp_path)
    assert first.requests.claim("of the last server", time.time()) is not None
    first.close()
    second = Desk(read_settings(config), tmp_path)
    assert second.requests.claim("new", time.time()) is None
    second.requests.again()
    request = second.requests.claim("new", time.time())
    assert request is not None
    assert request.id == which
    work_off(second, request)
    found = second.requests.find(which)
    assert found is not None
    assert found.state == "done"
    second.close()
