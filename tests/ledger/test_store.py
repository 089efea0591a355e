import json
import math
import os
import signal
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from benchmarks.ledger import Place, fill

from discreet.accounting.filter import Budget, Currency, Filter
from discreet.errors import BadInput, LedgerFault, OverBudget
from discreet.ledger import Ledger
from discreet.ledger.account import now
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled


def used(place: Place, budget: Budget | None = None, **terms: Any) -> Ledger:
    ledger = place.open()
    ledger.open("people", budget or Budget(1.0), **terms)
    return ledger


@pytest.mark.claim("store.1")
def test_ten_tenths_fit_and_the_eleventh_does_not(place: Place) -> None:
    with used(place) as ledger:
        for _ in range(10):
            ledger.charge("people", Laplace(0.1), "mean")
        with pytest.raises(OverBudget, match="no epsilon is left"):
            ledger.charge("people", Laplace(0.1), "mean")
        assert ledger.balance("people").left.epsilon == 0
        assert len(ledger.entries("people")) == 10
        assert ledger.verify().ok
    with place.open() as again:  # another process, another day
        assert again.balance("people").left.epsilon == 0
        with pytest.raises(OverBudget):
            again.charge("people", Laplace(1e-9), "mean")


def test_a_charge_is_the_next_entry(file: Place) -> None:
    with used(file) as ledger:
        assert ledger.balance("people").left.epsilon == 1
        assert ledger.charge("people", Laplace(0.1), "x").number == 2


@pytest.mark.claim("store.2")
def test_a_request_is_charged_once_and_answered_once(place: Place) -> None:
    with used(place) as ledger:
        first = ledger.charge("people", Laplace(0.4), "mean", request="q")
        assert (first.fresh, first.answer, ledger.answer("q")) == (True, None, None)
        second = ledger.charge("people", Laplace(0.4), "mean", request="q")  # the first has crashed, or is on its way
        assert (second.fresh, second.answer, second.hash) == (False, None, first.hash)
        assert ledger.store(second, '{"value": 2}') == '{"value": 2}'
        assert ledger.store(first, '{"value": 1}') == '{"value": 2}'  # the late one shows what was stored
        third = ledger.charge("people", Laplace(0.4), "mean", request="q")
        assert (third.fresh, third.answer) == (False, '{"value": 2}')
        assert ledger.answer("q") == '{"value": 2}'
        assert ledger.answer("another") is None
        assert ledger.balance("people").spent.epsilon == Fraction(2, 5)
        ledger.charge("people", Laplace(0.6), "the rest")
        assert ledger.charge("people", Laplace(0.4), "mean", request="q").answer  # even when nothing is left
        assert ledger.verify().ok


@pytest.mark.claim("store.2")
def test_a_request_is_one_question(place: Place) -> None:
    with used(place) as ledger:
        ledger.open("others", Budget(1.0))
        ledger.allot("people", "ann", Budget(0.5))
        ledger.charge("people", Laplace(0.1), "mean", request="q")
        other: list[tuple[Any, ...]] = [
            ("people", Laplace(0.2), "mean", None),
            ("people", Choice(0.1), "mean", None),
            ("people", Laplace(0.1), "median", None),
            ("others", Laplace(0.1), "mean", None),
            ("people", Laplace(0.1), "mean", "ann"),
        ]
        for population, loss, note, analyst in other:
            with pytest.raises(BadInput, match="another question"):
                ledger.charge(population, loss, note, request="q", analyst=analyst)
        assert ledger.balance("people").spent.epsilon == Fraction(1, 10)
        assert ledger.balance("others").spent.epsilon == 0


def test_a_receipt_of_another_ledger_stores_nothing(place: Place, tmp_path: Path) -> None:
    with used(place) as ledger, Ledger(tmp_path / "second") as second:
        second.open("people", Budget(1.0))
        foreign = second.charge("people", Laplace(0.1), "mean")
        ledger.charge("people", Laplace(0.1), "mean")
        with pytest.raises(BadInput, match="not in this ledger"):
            ledger.store(foreign, "1")
        assert ledger.entries("people")[0].answer is None


def test_two_tables_of_one_population_share_its_budget(place: Place) -> None:
    with used(place) as north, place.open() as south:
        north.charge("people", Laplace(0.6), "north hospital")
        with pytest.raises(OverBudget, match=r"0\.4 is left of 1"):
            south.charge("people", Laplace(0.5), "south hospital")
        south.charge("people", Laplace(0.4), "south hospital")
        assert [receipt.note for receipt in north.entries("people")] == ["north hospital", "south hospital"]


@pytest.mark.claim("store.3")
def test_terms_are_fixed_when_a_population_is_opened(place: Place) -> None:
    with used(place, Budget(1.0, 1e-6), accounting="zcdp") as ledger:
        ledger.charge("people", Gaussian(0.1), "mean")
        again = ledger.open("people", Budget(1.0, 1e-6), accounting=Currency.RHO)
        assert again.spent.cost == Fraction(1, 200)
        for budget, terms in [
            (Budget(2.0, 1e-6), {"accounting": "zcdp"}),
            (Budget(1.0, 1e-6), {}),
            (Budget(1.0, 1e-6), {"accounting": "gdp"}),
            (Budget(1.0, 1e-6), {"accounting": "zcdp", "reserve": 0.1}),
            (Budget(1.0, 1e-6), {"accounting": "zcdp", "unit": "household"}),
            (Budget(1.0, 1e-6), {"accounting": "zcdp", "neighbours": Neighbours.REPLACE}),
        ]:
            with pytest.raises(BadInput, match="other terms"):
                ledger.open("people", budget, **terms)  # type: ignore[arg-type]
        assert ledger.verify().entries == 2


@pytest.mark.parametrize(
    ("accounting", "make", "loss"),
    [
        ("epsilon", Filter.basic, Composed((Laplace(0.1), Choice(0.2), Approximate(0.05, 1e-8)))),
        ("zcdp", Filter.zcdp, Composed((Laplace(0.01), Gaussian(0.05, 1e-12), Choice(1 / 3 / 10)))),
        ("gdp", Filter.gdp, Composed((Gaussian(0.05, 1e-12), Approximate(0, 1e-9)))),
    ],
)
def test_the_filter_decides_whichever_it_is(
    place: Place, accounting: str, make: Callable[..., Filter], loss: Loss
) -> None:
    budget = Budget(Fraction(1), Fraction(1, 10**6))
    expected = make(budget, neighbours=Neighbours.ADD_OR_REMOVE)
    with used(place, budget, accounting=accounting) as ledger:
        while expected.admits(loss):
            expected = expected.charge(loss)
            assert ledger.charge("people", loss, "x").loss == _exact(loss)
            assert ledger.balance("people") == expected
        with pytest.raises(OverBudget):
            ledger.charge("people", loss, "x")
        assert ledger.balance("people") == expected
        assert ledger.verify().ok


def _exact(loss: Loss) -> Loss:
    from discreet.ledger.account import loss_from_plain, loss_to_plain

    return loss_from_plain(loss_to_plain(loss))


def test_analysts_have_parts_and_the_whole_is_still_the_limit(place: Place) -> None:
    with used(place) as ledger:
        assert ledger.allot("people", "ann", Budget(0.7)).left.epsilon == Fraction(7, 10)
        ledger.allot("people", "bob", Budget(0.7))
        ledger.allot("people", "bob", Budget(0.7))  # the same again
        with pytest.raises(BadInput, match="bob's part of people has a budget"):
            ledger.allot("people", "bob", Budget(0.8))
        with pytest.raises(BadInput, match="'eve' may spend nothing"):
            ledger.charge("people", Laplace(0.1), "mean", analyst="eve")
        ledger.charge("people", Laplace(0.5), "mean", analyst="ann")
        with pytest.raises(OverBudget, match=r"of what ann may spend: .*0\.2 is left of 0\.7"):
            ledger.charge("people", Laplace(0.3), "mean", analyst="ann")
        assert ledger.balance("people").spent.epsilon == Fraction(1, 2)  # the refused part touched neither
        with pytest.raises(OverBudget, match=r"^this costs epsilon 0\.6, and 0\.5 is left of 1"):
            ledger.charge("people", Laplace(0.6), "mean", analyst="bob")
        ledger.charge("people", Laplace(0.5), "mean", analyst="bob")
        assert ledger.balance("people").left.epsilon == 0
        assert ledger.balance("people", "bob").left.epsilon == Fraction(1, 5)
        assert [(p, a, account.charges) for p, a, account in ledger.accounts()] == [
            ("people", "", 2),
            ("people", "ann", 1),
            ("people", "bob", 1),
        ]
        assert ledger.verify().ok


@pytest.mark.claim("account.3")
def test_what_cannot_be_charged(place: Place) -> None:
    bad: list[Any] = [
        Approximate(0, 0),
        Approximate(0, 1e-9),
        Composed(()),
        Laplace(1e-310),
        Approximate(1, 5e-324),
        0.1,
        None,
        Gaussian(0.1),
        Laplace(Fraction(1, 3**4000)),
        Sampled(Laplace(0.1), 0.5),
    ]
    with used(place, Budget(1.0, 1e-6), neighbours="replace") as ledger:
        for loss in bad:
            with pytest.raises(BadInput):
                ledger.charge("people", loss, "mean")
        forged = Laplace(1)
        for value in (math.nan, -0.1, 0.0, math.inf, 1e-320, "1"):
            object.__setattr__(forged, "epsilon", value)  # past the constructor's own check
            with pytest.raises(BadInput):
                ledger.charge("people", forged, "mean")
        with pytest.raises(BadInput, match="no population 'nobody'"):
            ledger.charge("nobody", Laplace(0.1), "mean")
        assert ledger.verify().entries == 1
        assert ledger.account("people").charges == 0


def test_secret_samples_need_add_or_remove(place: Place) -> None:
    with used(place, neighbours=Neighbours.ADD_OR_REMOVE, unit="household") as ledger:
        ledger.charge("people", Sampled(Laplace(0.1), 0.5, 3), "sgd")
        account = ledger.account("people")
        assert (account.neighbours, account.unit) == (Neighbours.ADD_OR_REMOVE, "household")


@pytest.mark.claim("account.5")
def test_the_clock_decides_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.ledger import pages

    with used(place) as ledger:
        for moment in ("2031-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00"):
            monkeypatch.setattr(pages, "now", lambda moment=moment: moment)
            ledger.charge("people", Laplace(0.1), moment)
        assert [receipt.time for receipt in ledger.entries("people")] == [
            receipt.note for receipt in ledger.entries("people")
        ]
        assert ledger.verify().ok
    assert now().endswith("+00:00")


def test_threads_spend_exactly_the_budget(place: Place) -> None:
    granted: list[int] = []
    with used(place) as ledger:

        def spend() -> None:
            try:
                while True:
                    granted.append(ledger.charge("people", Laplace(0.1), "mean").number)
            except OverBudget:
                return

        threads = [threading.Thread(target=spend) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(granted) == list(range(2, 12))
        assert ledger.verify().ok


def test_an_interrupt_within_a_charge_leaves_nothing(place: Place) -> None:
    """SIGTERM whose handler raises, in the middle of the transaction."""
    with used(place) as ledger:
        before = signal.signal(signal.SIGTERM, lambda *_: exit_now())

        def exit_now() -> None:
            raise SystemExit(143)

        def strike(*_: object) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

        try:
            sa.event.listen(ledger._database.engine, "commit", strike)
            with pytest.raises(SystemExit):
                ledger.charge("people", Laplace(0.1), "mean")
            sa.event.remove(ledger._database.engine, "commit", strike)
        finally:
            signal.signal(signal.SIGTERM, before)
        assert ledger.balance("people").spent.epsilon == 0
        ledger.charge("people", Laplace(1), "all of it")
        assert ledger.verify().ok


def test_a_full_disk_charges_nothing(file: Place) -> None:
    with used(file, Budget(1000.0)) as ledger:

        @sa.event.listens_for(ledger._database.engine, "begin")
        def small(connection: sa.Connection) -> None:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")  # not below what there is

        granted = 0
        with pytest.raises(LedgerFault, match="the disk is full"):  # noqa: PT012
            for number in range(1000):
                ledger.charge("people", Laplace(0.1), "x" * 2000, request=f"q{number}")
                granted += 1
        sa.event.remove(ledger._database.engine, "begin", small)
        ledger._database.engine.dispose()
        assert granted == len(ledger.entries("people")) == ledger.account("people").charges
        assert ledger.verify().ok
        ledger.charge("people", Laplace(0.1), "x" * 2000, request=f"q{granted}")  # there is room again


def test_a_file_that_may_not_grow_charges_nothing(file: Place) -> None:
    assert fill(file) > 0


def test_waiting_has_an_end(file: Place) -> None:
    with used(file) as ledger, file.open(patience=0.2) as other:
        with ledger._database.engine.connect().execution_options(discreet_writes=True) as held, held.begin():  # noqa: SIM117
            with pytest.raises(LedgerFault, match=r"others have been writing to it for 0\.2 s"):
                other.charge("people", Laplace(0.1), "mean")
        other.charge("people", Laplace(0.1), "mean")


@pytest.mark.claim("store.4")
def test_an_older_copy_is_refused(file: Place) -> None:
    with used(file) as ledger:
        ledger.charge("people", Laplace(0.5), "mean")
    old = Path(file.where).read_bytes()
    with file.open() as ledger:
        ledger.charge("people", Laplace(0.5), "mean")
    Path(file.where).write_bytes(old)
    with pytest.raises(LedgerFault, match="an older copy was put back"):
        file.open()
    Path(file.where).unlink()
    with pytest.raises(LedgerFault, match="an older copy was put back"):
        file.open()  # a new ledger under the old anchor


def test_answers_are_json_and_bad_ones_are_not_repeated(file: Place) -> None:
    with used(file) as ledger:
        receipt = ledger.charge("people", Laplace(0.1), "mean")
        bad: list[Any] = ["secret 47", b"1", None, '"\ud800"', "[" * 100_000]
        for answer in bad:
            with pytest.raises(BadInput, match="is not JSON") as caught:
                ledger.store(receipt, answer)
            assert "47" not in str(caught.value)
            assert caught.value.__cause__ is None
        assert json.loads(ledger.store(receipt, '{"value": [1, NaN]}'))["value"][0] == 1


def test_the_default_key_and_anchor_are_beside_the_file(tmp_path: Path) -> None:
    with Ledger(tmp_path / "x.ledger") as ledger:
        ledger.open("people", Budget(1.0))
        assert "x.ledger" in repr(ledger)
    assert (tmp_path / "x.ledger.key").stat().st_mode & 0o777 == 0o600
    assert [line[:2] for line in (tmp_path / "x.ledger.anchor").read_text().splitlines()] == ["0 ", "1 "]
    with Ledger(f"sqlite:///{tmp_path}/x.ledger") as ledger:
        assert ledger.balance("people").left.epsilon == 1
    (tmp_path / "x.ledger.key").unlink()
    with pytest.raises(LedgerFault, match=r"key .* cannot be read"):
        Ledger(tmp_path / "x.ledger")
    with pytest.raises(LedgerFault, match="made with another key"):
        Ledger(tmp_path / "x.ledger", key=b"k" * 32)


@pytest.mark.parametrize(
    "where",
    [
        "",
        None,
        "sqlite://",
        ":memory:",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
        "mysql://x/y",
        "://",
        "a b://c",
    ],
)
def test_where_a_ledger_cannot_be(where: Any) -> None:
    with pytest.raises(BadInput, match="ledger"):
        Ledger(where)


def test_what_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs key="):
        Ledger("postgresql://nobody:secret@localhost/x")
    with pytest.raises(LedgerFault, match="cannot be used") as caught:
        Ledger(f"postgresql://nobody:secret@/x?host={tmp_path}", key=b"k" * 32)
    assert "secret" not in str(caught.value)
    with pytest.raises(BadInput, match="patience"):
        Ledger(tmp_path / "x", patience=0)
    with pytest.raises(BadInput, match="3 bytes"):
        Ledger(tmp_path / "x", key=b"abc")
    (tmp_path / "not").write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(LedgerFault, match="not a ledger"):
        Ledger(tmp_path / "not")
    with pytest.raises(LedgerFault):
        Ledger(tmp_path / "no" / "such" / "folder")


def test_populations_may_not_be_counted_in_pebbles(file: Place) -> None:
    with file.open() as ledger:
        with pytest.raises(BadInput, match="'epsilon', 'zcdp', 'gdp'"):
            ledger.open("people", Budget(1.0), accounting="pebbles")
        with pytest.raises(BadInput, match="reserve"):
            ledger.open("people", Budget(1.0), reserve=0.5)
        with pytest.raises(BadInput, match="delta is 0"):
            ledger.open("people", Budget(1.0), accounting="zcdp")
        assert ledger.accounts() == []
