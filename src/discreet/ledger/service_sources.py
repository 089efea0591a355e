"""Tables that a data steward has added to the service: what each is, as a signed entry of the chain says.

Claims
    [service_sources.1] What is believed of a table is the entry that declares it, which nobody writes without the
          ledger's key; the row of the database only says which entry that is.
    [service_sources.2] Each declaration is decided on the sources as they were read: if another came in between, it is
          refused, and nothing is written.
"""

from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from discreet.errors import BadInput
from discreet.ledger.ledger_tables import SOURCES
from discreet.ledger.store import Ledger

EVENTS: Final = {"add": "add source", "change": "change source", "close": "close source"}


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration: the record of a source, who made it, and whether it may be asked about."""

    name: str
    record: dict[str, Any]
    by: str
    entry: int
    open: bool


class SourceStore:
    """Sources in the ledger's database."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def all(self) -> list[Declared]:
        """The last declaration of each source, in the order of their names."""
        query = sa.select(SOURCES).order_by(SOURCES.c.name)
        rows = self._ledger.beside(lambda c: c.execute(query).all())
        return [one for row in rows if (one := self._signed(row.name, row.entry)) is not None]

    def find(self, name: str) -> Declared | None:
        """The last declaration of one source."""
        query = sa.select(SOURCES.c.entry).where(SOURCES.c.name == name)
        entry = self._ledger.beside(lambda c: c.execute(query).scalar_one_or_none())
        return None if entry is None else self._signed(name, entry)

    def _signed(self, name: str, number: int) -> Declared | None:
        entry = self._ledger.entry(number)  # [service_sources.1]
        if entry is None or entry.kind != "event" or entry.analyst is None:
            return None
        said = entry.plain
        record = said.get("source")
        if said.get("event") not in EVENTS.values() or not isinstance(record, dict) or record.get("name") != name:
            return None
        return Declared(name, record, entry.analyst, number, said["event"] != EVENTS["close"])

    def declare(self, what: str, record: dict[str, Any], seen: list[Declared], *, population: str, by: str) -> None:
        """Add, change or close a source; `seen` is what it was decided on."""
        name = record["name"]

        def work(connection: sa.Connection, entry: int) -> None:
            rows = {row.name: row.entry for row in connection.execute(sa.select(SOURCES))}
            if rows != {one.name: one.entry for one in seen}:  # [service_sources.2]
                raise BadInput("somebody has changed the sources meanwhile; look at them again")
            if name in rows:
                connection.execute(SOURCES.update().where(SOURCES.c.name == name).values(entry=entry))
            else:
                connection.execute(SOURCES.insert().values(name=name, entry=entry))

        event = EVENTS[what]
        self._ledger.record(event, f"{event} {name}", {"source": record}, population=population, by=by, beside=work)
