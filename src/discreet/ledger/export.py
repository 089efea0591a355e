"""The entries for other programs: JSON with the exact numbers, or a table that a spreadsheet will not execute.

No cell begins as a formula does ([LX1] of promise/cells.py), all are quoted, and none holds a line break.
"""

import csv
import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final, TextIO

from discreet.ledger.book import Entry
from discreet.ledger.budget import Account, loss_from_plain
from discreet.promise.cells import safe
from discreet.promise.loss import in_words

COLUMNS: Final = ("entry", "time", "kind", "population", "analyst", "request", "loss", "cost", "delta", "note", "hash")


def to_csv(entries: Iterable[Entry], file: TextIO) -> None:
    """One line an entry; costs as decimals, to read (the exact ones are in the JSON)."""
    table = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow(COLUMNS)
    for entry in entries:
        plain, loss, cost, delta = entry.plain, "", "", ""
        if entry.kind == "charge":
            loss = in_words(loss_from_plain(plain["loss"]))
            cost, delta = (repr(float(Fraction(number))) for number in plain["price"])
        told = (entry.number, entry.time, entry.kind, entry.population, entry.analyst, entry.request)
        table.writerow(map(safe, (*told, loss, cost, delta, plain.get("note"), entry.hash)))


def to_json(ledger: str, accounts: Iterable[tuple[str, str, Account]], entries: Iterable[Entry], file: TextIO) -> None:
    """Everything but the answers; rationals as text."""
    file.write(f'{{"ledger": {json.dumps(ledger)},\n"accounts": ')
    _list(({"population": p, "analyst": a or None, **json.loads(s.to_text())} for p, a, s in accounts), file)
    file.write(',\n"entries": ')
    _list((_plain(entry) for entry in entries), file)
    file.write("}\n")


def _plain(entry: Entry) -> dict[str, Any]:
    kept = ("number", "kind", "time", "population", "analyst", "request", "previous", "hash")
    return {**{name: getattr(entry, name) for name in kept}, "body": entry.plain}


def _list(items: Iterable[dict[str, Any]], file: TextIO) -> None:
    start = "["
    for item in items:
        file.write(f"{start}\n{json.dumps(item)}")
        start = ","
    file.write("[]" if start == "[" else "\n]")
