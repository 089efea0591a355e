"""Small sizes of what `make bench` does in full: benchmarks/ledger.py holds the checks."""

import signal
from fractions import Fraction

import pytest
from benchmarks.ledger import Place, duplicates, kill_often, race


@pytest.mark.claim("store.1")
@pytest.mark.claim("store.2")
@pytest.mark.claim("database.1")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_whatever_was_shown_is_recorded_when_workers_die(place: Place, sign: int) -> None:
    assert kill_often(place, 20 if sign == signal.SIGKILL else 4, sign) > 0


@pytest.mark.claim("store.1")
@pytest.mark.claim("database.1")
def test_racing_processes_spend_exactly_the_budget(place: Place) -> None:
    assert race(place, 8, Fraction(4, 10)) == 40


@pytest.mark.claim("store.2")
def test_duplicates_are_one_charge_and_one_answer(place: Place) -> None:
    duplicates(place, 32)
