import dataclasses

import pytest

from discreet.ledger.account import GENESIS, Entry, Receipt, canonical, loss_to_plain
from discreet.privacy.loss import Laplace

BODY = canonical({"loss": loss_to_plain(Laplace(0.1)), "note": "mean", "price": ["1/10", "0/1"]})
ENTRY = Entry(
    ledger="f" * 32,
    number=7,
    kind="charge",
    time="2026-01-01T00:00:00+00:00",
    population="people",
    analyst="ann",
    request="q",
    body=BODY,
    previous=GENESIS,
)


@pytest.mark.claim("account.4")
def test_every_field_is_in_the_hash() -> None:
    others = [
        dataclasses.replace(ENTRY, **{field.name: 8 if field.name == "number" else "another"})  # type: ignore[arg-type]
        for field in dataclasses.fields(ENTRY)
        if field.name != "hash"
    ]
    others += [dataclasses.replace(ENTRY, analyst=None), dataclasses.replace(ENTRY, analyst="annq", request="")]
    assert len({entry.hash for entry in [ENTRY, *others]}) == len(others) + 1


@pytest.mark.claim("account.4")
def test_the_hash_is_the_same_for_ever() -> None:
    """Ledgers outlive releases: this value must not change."""
    assert ENTRY.hash == "e36a9053d237da3ab13c47014d34cc24371de4eedb2faa5fe3d87f521296572e"


def test_a_receipt_says_where_it_is() -> None:
    receipt = Receipt.of(ENTRY)
    assert str(receipt) == f"entry 7 of ledger ffffffff, sha256 {ENTRY.hash}"
    assert (receipt.note, receipt.population, receipt.fresh, receipt.answer) == ("mean", "people", True, None)
