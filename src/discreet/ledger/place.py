"""Where a ledger, its key and its anchor are: three files, or a server and two files.

The entries for other programs: JSON with the exact numbers, or a table that a spreadsheet will not execute.

No cell begins as a formula does ([errors.1]), all are quoted, and none holds a line break.
"""

import csv
import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TextIO

from discreet.errors import BadInput, LedgerFault, safe
from discreet.ledger.account import Account, Entry, loss_from_plain
from discreet.ledger.database import Database
from discreet.ledger.seal import OWN, WRITTEN_BY_OWNER, Anchor, Seal, given_seal, new_seal
from discreet.privacy.exact import is_number
from discreet.privacy.loss import in_words


def parts(
    where: str | Path, key: bytes | str | Path | None, anchor: str | Path | None, patience: float, *, make: bool
) -> tuple[Database, Seal, Anchor | None]:
    """The database, the key and the anchor; a key is made beside a file that is not there, if `make` allows it."""
    if not is_number(patience) or not 0 < patience < 1e6:
        raise BadInput(f"patience is {patience!r}; give the seconds to wait for other writers, for example 30")
    database = Database(where, patience, reading=not make)
    kept = beside(database, ".key")
    if key is not None:
        kept = None if isinstance(key, bytes) else Path(key)
        seal = given_seal(key, WRITTEN_BY_OWNER if make else None)
    elif kept is None:
        raise BadInput(
            "a ledger in PostgreSQL needs key=: the path of a key file that the database's users cannot read"
        )
    else:
        if not make:
            there(database)
        seal = new_seal(kept) if make and not database.exists() else given_seal(kept, OWN if make else None)
    heads = beside(database, ".anchor") if anchor is None else Path(anchor).absolute()
    files = [path.resolve() for path in (database.path, kept, heads) if path is not None]
    if len(set(files)) < len(files):
        raise BadInput("the ledger, its key and its anchor are three files; give each a name of its own")
    return database, seal, None if heads is None else Anchor(heads)


def beside(database: Database, ending: str) -> Path | None:
    """A file beside the ledger's, if it is in a file."""
    return None if database.path is None else database.path.with_name(database.path.name + ending)


def there(database: Database) -> None:
    """That there is a ledger."""
    if not database.exists():
        raise LedgerFault(f"there is no ledger at {database.name}; it was moved or deleted, or the path is wrong")


def is_there(where: str | Path) -> bool:
    """Whether there is a ledger; nothing is made or written."""
    database = Database(where, 30.0, reading=True)
    try:
        return database.exists()
    finally:
        database.close()


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
