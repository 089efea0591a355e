"""Forecasts kept on disk: the same ones, never in the way, and nothing in them that is not public."""

import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from discreet.forecasts import remembered as kept
from discreet.forecasts.forecast import forecast
from discreet.forecasts.remembered import remembered
from discreet.plan import bound_plan

QUESTION = {"statistic": "mean", "rows": 1000, "about": '{"bounds": [0, 120]}'}


class Simulation:
    """Counts how often it is asked."""

    def __init__(self, found: dict[str, Any] | None) -> None:
        self.found, self.times = found, 0

    def __call__(self) -> dict[str, Any] | None:
        self.times += 1
        return self.found


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for forecasts, which is not there yet."""
    monkeypatch.setenv(kept.SETTING, str(tmp_path / "cache" / "forecasts"))
    return tmp_path / "cache" / "forecasts"


def test_the_same_question_is_simulated_once(folder: Path) -> None:
    simulation = Simulation({"error": 0.1, "refused": None, "assumptions": ["values are normal"]})
    first, again = remembered(QUESTION, simulation), remembered(dict(reversed(QUESTION.items())), simulation)
    assert first == again == simulation.found
    assert simulation.times == 1
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("entry", ["statistic", "rows", "about"])
def test_another_question_is_simulated_anew(folder: Path, entry: str) -> None:
    simulation = Simulation({"error": 0.1})
    remembered(QUESTION, simulation)
    remembered(QUESTION | {entry: "other"}, simulation)
    assert simulation.times == 2


def test_other_code_simulates_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation({"error": 0.1})
    remembered(QUESTION, simulation)
    monkeypatch.setattr(kept, "_code", lambda: "another version")
    remembered(QUESTION, simulation)
    assert simulation.times == 2


def test_the_code_is_told_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "forecasts").mkdir()
    monkeypatch.setattr(kept, "__file__", str(tmp_path / "forecasts" / "remembered.py"))
    seen = {kept._code.__wrapped__()}
    for text in ("x = 1", "x = 23"):
        (tmp_path / "mechanism.py").write_text(text)
        seen.add(kept._code.__wrapped__())
    assert len(seen) == 3


def test_it_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation({"error": 0.1})
    remembered(QUESTION, simulation)
    monkeypatch.setenv(kept.SETTING, "off")
    remembered(QUESTION, simulation)
    assert simulation.times == 2
    assert len(list(folder.iterdir())) == 1


def test_what_has_no_forecast_is_not_kept(folder: Path) -> None:
    simulation = Simulation(None)
    assert remembered(QUESTION, simulation) is None
    assert remembered(QUESTION, simulation) is None
    assert simulation.times == 2
    assert not folder.exists()


@pytest.mark.parametrize("text", ["", "{", "null", "[]", '{"asked": "other", "forecast": {"error": 7}}', "\x00"])
def test_a_damaged_file_is_simulated_again_and_mended(folder: Path, text: str) -> None:
    simulation = Simulation({"error": 0.1})
    remembered(QUESTION, simulation)
    (file,) = folder.iterdir()
    file.write_text(text)
    assert remembered(QUESTION, simulation) == {"error": 0.1} == remembered(QUESTION, simulation)
    assert simulation.times == 2


def test_bytes_that_are_no_text_are_simulated_again(folder: Path) -> None:
    simulation = Simulation({"error": 0.1})
    remembered(QUESTION, simulation)
    (file,) = folder.iterdir()
    file.write_bytes(b"\xff\xfe{")
    assert remembered(QUESTION, simulation) == {"error": 0.1}


def test_a_folder_that_cannot_be_written_is_not_in_the_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv(kept.SETTING, str(tmp_path / "file"))
    simulation = Simulation({"error": 0.1})
    assert remembered(QUESTION, simulation) == {"error": 0.1}
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", full)
    assert remembered(QUESTION, Simulation({"error": 0.1})) == {"error": 0.1}
    assert not list(folder.iterdir())


def test_the_oldest_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 3)
    for rows in range(5):
        remembered(QUESTION | {"rows": rows}, Simulation({"error": rows}))
        for place, file in enumerate(sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime_ns)):
            os.utime(file, (place, place))
    left = {json.loads(file.read_text())["forecast"]["error"] for file in folder.iterdir()}
    assert left == {2, 3, 4}


def test_many_at_once_see_whole_files(folder: Path) -> None:
    found = {"error": 0.1, "assumptions": ["x" * 10_000]}
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda place: remembered(QUESTION | {"rows": place % 5}, lambda: found), range(100)))
    assert all(one == found for one in seen)
    assert len(list(folder.iterdir())) == 5


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_only_the_user_reads_it(folder: Path) -> None:
    remembered(QUESTION, Simulation({"error": 0.1}))
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_without_a_setting_it_is_the_users_own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(kept.SETTING)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, appauthor: tmp_path / name)
    remembered(QUESTION, Simulation({"error": 0.1}))
    assert len(list((tmp_path / "discreet" / "forecasts").iterdir())) == 1


def test_a_user_without_a_home_simulates(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(*_: Any, **__: Any) -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv(kept.SETTING)
    monkeypatch.setattr("platformdirs.user_cache_path", homeless)
    assert remembered(QUESTION, Simulation({"error": 0.1})) == {"error": 0.1}


def test_a_plans_forecast_is_the_same_from_the_disk(folder: Path) -> None:
    about: dict[str, Any] = {"bounds": [0, 120], "scale": 20}
    told = forecast("mean", rows=1000, epsilon=1.0, **about).to_dict() | {"other_shapes": {}}  # a plan keeps one
    for _ in range(2):  # the second is read
        bound_plan._foreseen.cache_clear()
        assert bound_plan._foreseen("mean", 1000, 1.0, 0.0, json.dumps(about, sort_keys=True)) == told
    bound_plan._foreseen.cache_clear()
    (file,) = folder.iterdir()
    assert set(json.loads(file.read_text())) == {"asked", "forecast"}
    usual: dict[str, Any] = {"statistic": "mean", "rows": 1000, "epsilon": 1.0, "delta": 0.0}
    others: list[dict[str, Any]] = [{"epsilon": 2.0}, {"delta": 1e-6}, {"rows": 2000}, {"statistic": "median"}]
    for asked in others:
        bound_plan._foreseen(**usual | asked, about=json.dumps(about, sort_keys=True))
    assert len(list(folder.iterdir())) == 5
    bound_plan._foreseen.cache_clear()
