"""The tables that may be asked about: those of service.toml, and those that a data steward has added.

Promise
    [sources.1] A steward names files below the folders that service.toml lists, and databases and engines by the names
          that it gives them: nothing else on the machine is opened, and no secret is in a form or an entry.
    [sources.2] One table spends one budget: a table that was ever declared for a population is not declared by a
          steward for another, nor with another person; a source keeps its population and its rows.
    [sources.3] Adding a source reads a schema, no row; what is said about it is the same whatever the rows hold.
Why
    [sources.1] A path is followed to where it leads, and compared with where the folders lead, when it is declared and
    each time the source is used. [sources.2] Sources are compared by where their rows are, closed ones included; who
    copies a table has a second one, and no program can tell. [sources.3] `opened` reads names and declared kinds.
"""

import glob
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from discreet.accounting.filter import Budget
from discreet.errors import BadInput
from discreet.ledger import Ledger
from discreet.ledger.account import canonical
from discreet.ledger.service_sources import Declared, SourceStore
from discreet.privacy.guarantee import Neighbours
from discreet.service.settings import Settings, Source, source_of_record
from discreet.tables.opening import read
from discreet.tables.table import Table

NAMED: Final = "database:"  # before the name that service.toml gives to an address
NO_FILE: Final = (
    "there is no such file below the folders that service.toml lists; give the path of one file from there, "
    "or ask the administrator to add its folder"
)
LARGEST: Final = 200_000  # characters of a declaration


class Sources:
    """The sources of one service."""

    def __init__(self, settings: Settings, folder: Path, ledger: Ledger) -> None:
        self._settings, self._folder, self._ledger = settings, folder, ledger
        self.store = SourceStore(ledger)

    def all(self) -> list[Source]:
        """Those that may be asked about."""
        return [*self._settings.source, *filter(None, map(self._usable, self.store.all()))]

    def named(self, name: str) -> Source | None:
        """A source by its name, if it may be asked about."""
        found = self._settings.table(name)
        if found is not None:
            return found
        added = self.store.find(name)
        return None if added is None else self._usable(added)

    def known(self, name: str) -> Source | None:
        """A source by its name, for what was asked about it: also one that is closed."""
        found = self.named(name)
        added = self.store.find(name) if found is None else None
        return found if added is None else source_of_record(added.record, self._settings, name)

    def _usable(self, added: Declared) -> Source | None:
        if not added.open or self._settings.table(added.name) is not None:
            return None
        try:
            return self._placed(source_of_record(added.record, self._settings, added.name))
        except BadInput:  # its folder or its database is no longer in service.toml
            return None

    def problem(self, added: Declared) -> str | None:
        """Why an open source of a steward's cannot be asked about, for the steward."""
        if not added.open or self._usable(added) is not None:
            return None
        return "It cannot be used as service.toml is now: its name, file, database or engine is another's or not there."

    def opened(self, source: Source) -> Table:
        """The table of a source; names and kinds are read. [sources.3]"""
        where = source.path if "://" in source.path else str(self._folder / source.path)
        return read(where, table=source.data.table, types=source.data.types or None)

    def open(self, source: Source) -> None:
        """Its population, with its budget."""
        people, data = source.population, source.data
        if people.epsilon is None:
            raise BadInput(f"source {source.name}: give population.epsilon, all that these people will ever spend")
        terms = {"neighbours": Neighbours[data.neighbours.upper()], "unit": str(data.unit)}
        self._ledger.open(people.name, Budget(people.epsilon, people.delta), accounting=people.accounting, **terms)  # type: ignore[arg-type]

    def checked(self, record: Mapping[str, Any], *, changes: str = "") -> tuple[Source, Table]:
        """A declaration and its table, if it may be declared; nothing is written."""
        source = source_of_record(record, self._settings, "the source")
        try:
            if len(canonical(dict(record))) > LARGEST:
                raise BadInput(f"the source has more than {LARGEST:,} characters; leave something out")
        except (TypeError, ValueError):
            raise BadInput("the source holds a date, or a number that is not finite; leave it out") from None
        if source.population.epsilon is None:
            raise BadInput("the source: give population.epsilon, all that these people will ever spend")
        before = {one.name: one for one in self.store.all()}
        if changes and (source.name != changes or changes not in before):
            raise BadInput(f"this changes the source {changes!r}; leave its name as it is")
        taken = source.name in before or self._settings.table(source.name) is not None
        if not changes and taken:
            raise BadInput(f"there is a source {source.name!r} already; give another name, or change that one")
        placed = self._placed(source)
        try:
            table = self.opened(placed)
            for column in {*filter(None, [source.data.person]), *source.columns}:
                if column not in table.names:
                    raise BadInput(f"the source names the column {column!r}, and the table has no such column")
        except BadInput:
            raise
        except Exception:  # noqa: BLE001  what it says may be a part of the file: [sources.3]
            raise BadInput("the table cannot be opened as it is declared; check its kind and where it is") from None
        self._one_budget(source, placed, list(before.values()))
        return source, table

    def declare(self, record: Mapping[str, Any], *, by: str, changes: str = "") -> Source:
        """A source that may be asked about from now on, as a signed entry."""
        seen = self.store.all()
        source, _ = self.checked(record, changes=changes)
        self.open(source)
        what = "change" if changes else "add"
        self.store.declare(what, dict(record), seen, population=source.population.name, by=by)
        return source

    def close(self, name: str, *, by: str) -> None:
        """A source that is asked about no more; what was answered stays."""
        seen = self.store.all()
        found = next((one for one in seen if one.name == name and one.open), None)
        if found is None:
            raise BadInput("there is no such source that a steward has added, or it is closed already")
        people = str(found.record["population"]["name"])
        self.store.declare("close", found.record, seen, population=people, by=by)

    def _one_budget(self, source: Source, placed: Source, before: list[Declared]) -> None:
        """BadInput if these rows, or this source, spend another budget or count people otherwise. [sources.2]"""
        others = [(one, self._rows(one)) for one in self._settings.source]
        for one in before:
            declared = source_of_record(one.record, self._settings, one.name)
            if one.name == source.name and _terms(declared, where=True) != _terms(source, where=True):
                raise BadInput(
                    "a source keeps its population, its rows, and what one person is; add another source instead"
                )
            try:
                others.append((declared, self._rows(self._placed(declared))))
            except BadInput:  # not there any more: by its name then
                others.append((declared, {(declared.path, str(declared.data.table))}))
        mine = self._rows(placed) | {(source.path, str(source.data.table))}
        for other, rows in others:
            if mine & rows and _terms(other) != _terms(source):
                raise BadInput(
                    f"these rows spend the budget of {other.population.name!r} already, by the source {other.name!r}: "
                    "two budgets for the same people are no budget; name that population, and count people as there"
                )

    def _rows(self, source: Source) -> set[tuple[str, str]]:
        """Where the rows are: names of files and what they stand for, or a database and its table."""
        if "://" in source.path:
            return {(source.path, str(source.data.table))}
        path = self._folder / source.path
        inside = path.iterdir() if path.is_dir() else map(Path, glob.glob(str(path), recursive=True))
        found = {(str(path.resolve()), "None")}
        for file in (*inside, path):
            if file.is_file():
                about = file.stat()
                found |= {(str(file.resolve()), "None"), (f"file {about.st_dev} {about.st_ino}", "None")}
        return found

    def _placed(self, source: Source) -> Source:
        """The source with the place of its rows, if a steward may name that. [sources.1]"""
        engine = source.data.engine
        if engine is not None and engine not in self._settings.engines:
            raise BadInput(f"{engine!r} is no engine that service.toml names under [engines]; leave it out")
        address = None if engine is None else self._settings.engines[engine]
        place = self._database(source.path) if source.path.startswith(NAMED) else self._file(source.path)
        return source.model_copy(update={"data": source.data.model_copy(update={"source": place, "engine": address})})

    def _database(self, path: str) -> str:
        found = self._settings.databases.get(path.removeprefix(NAMED))
        if found is None:
            known = ", ".join(sorted(self._settings.databases)) or "none yet"
            raise BadInput(f"that is no database that service.toml names under [databases]; it names {known}")
        return found

    def _file(self, path: str) -> str:
        if "://" in path:
            raise BadInput("a database is named as database:NAME, by a name that service.toml gives under [databases]")
        if not self._settings.folders:
            raise BadInput('no folder is open to stewards; add folders = ["/srv/data"] to service.toml')
        for folder in self._settings.folders:
            try:
                root = (self._folder / folder).resolve(strict=True)
                found = (root / path).resolve(strict=True)
                if found.is_relative_to(root) and found.is_file() and not set("*?[") & set(str(found)):
                    return str(found)
            except (OSError, ValueError, RuntimeError):  # not there, or no path at all
                continue
        raise BadInput(NO_FILE)


def _terms(source: Source, *, where: bool = False) -> tuple[object, ...]:
    """Whose budget a source spends and who counts as one person; and where its rows are."""
    data = source.data
    rows = (data.source, data.table, data.missing, data.per_person, data.max_rows) if where else ()
    return source.population.name, data.person, data.unit, data.neighbours, *rows
