"""The door for tables: files, frames and databases. Only names and declared types are read here."""

import glob
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import pyarrow.dataset as ds

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.arrow_files import ARROW, PARQUET, Parquet, Scanned
from discreet.tables.cells import KINDS
from discreet.tables.databases import Backend, Duck, InDatabase, Postgres, Sqlite
from discreet.tables.frames import from_frame
from discreet.tables.source import Source
from discreet.tables.table import Table
from discreet.tables.text_files import SUFFIXES, Lines

FORMATS: Final[Sequence[tuple[str, tuple[str, ...], Callable[[Sequence[Path], str], Source]]]] = (
    ("Text", SUFFIXES, Lines.read),
    ("Parquet", PARQUET, Parquet.read),
    ("Arrow", ARROW, Scanned.read),
)


def read(source: Any, *, table: str | None = None, types: Mapping[str, str] | None = None) -> Table:
    """A table: a file, a glob or a folder of files, a frame, columns, or an address of a database with `table=`.

    Files are CSV or TSV (also .gz), Parquet, or Arrow's own. Addresses are sqlite:///file.db, duckdb:///file.duckdb
    and postgresql://... . `types` declares what columns hold: "number", "integer", "boolean", "category", "text",
    "date" or "unknown";
    without it the schema does, and a CSV file declares nothing.

    >>> people = read({"age": [31.0, 52.0, None], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> people.names, people.size()
    (('age', 'town'), 3)
    """
    found = _from_address(source, table) if isinstance(source, str) and "://" in source else None
    if found is None:
        if table is not None:
            raise BadInput(
                f"table={table!r} is for the address of a database, such as sqlite:///people.db; leave it out"
            )
        found = _from_files(source) if isinstance(source, str | Path) else _from_memory(source)
    kinds = dict(found.kinds)
    for name, kind in (types or {}).items():
        if name not in kinds:
            raise BadInput(f"types= declares {name!r}; the table has {', '.join(map(repr, found.names[:20]))}")
        if kind not in KINDS:
            raise BadInput(f"types= declares {name!r} as {kind!r}; it is one of {', '.join(KINDS)}")
        kinds[name] = _known(kind)
    place = _place(source)
    return Table(found, kinds, f"{place} {found.place}" if isinstance(found, InDatabase) else place)


def _place(source: Any) -> str | None:
    """Where a table is, without the name and the password of whoever reads it; None for one in memory."""
    if not isinstance(source, str | Path):
        return None
    scheme, sign, rest = str(source).partition("://")
    if not sign:
        return str(Path(source).expanduser().absolute())
    if not scheme.startswith("postgres"):
        return str(Path(rest[1:]).absolute())
    parts = urlsplit(str(source))
    named = [(name, value) for name, value in parse_qsl(parts.query) if name in ("host", "hostaddr", "port", "dbname")]
    return json.dumps([parts.netloc.rpartition("@")[2], parts.path, named])


def _known(kind: str) -> Kind:
    return next(known for known in KINDS if known == kind)


def _from_address(address: str, table: str | None) -> Source:
    scheme, _, rest = address.partition("://")
    if scheme not in ("sqlite", "duckdb", "postgresql", "postgres"):
        raise BadInput(
            f"addresses that begin with {scheme}:// are not known; sqlite://, duckdb:// and postgresql:// are"
        )
    if not isinstance(table, str) or not table:
        raise BadInput("a database has many tables; say which by table=, for example table='people'")
    engine: Backend
    if scheme.startswith("postgres"):
        engine = Postgres(address)
    else:
        if not rest.startswith("/") or len(rest) < 2:
            raise BadInput(f"the address names no file; write {scheme}:///people.db, or {scheme}:////folder/people.db")
        engine = (Sqlite if scheme == "sqlite" else Duck)(Path(rest[1:]))
    return InDatabase.read(engine, table)


def _from_files(source: str | Path) -> Source:
    """One file, those of a folder, or those of a pattern, in the order of their names."""
    path = Path(source).expanduser()
    if path.is_dir():
        inside = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith((".", "_")))
        return _of_one_format(inside, f"the folder {path.name!r}")
    if path.is_file():
        return _of_one_format([path], f"the file {path.name!r}")
    if any(letter in str(path) for letter in "*?["):
        return _of_one_format(
            sorted(Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file()),
            f"the pattern {path.name!r}",
        )
    raise BadInput(
        f"there is no file {path.name!r} at that place; check the path, from {Path.cwd().name!r} if it is relative"
    )


def _of_one_format(files: Sequence[Path], seen: str) -> Source:
    if not files:
        raise BadInput(
            f"{seen} holds no file; files of a table are needed: {_suffixes()}; **/*.csv reaches into folders"
        )
    formats = {_format(file) for file in files}
    if len(formats) > 1:
        raise BadInput(
            f"{seen} holds files of several formats; those of one table have one; name a pattern, as in *.csv"
        )
    place = formats.pop()
    what = f"{FORMATS[place][0]} {'file' if len(files) == 1 else 'files'} {seen.partition(' ')[2].partition(' ')[2]}"
    return FORMATS[place][2](files, what)


def _format(file: Path) -> int:
    for place, (_, suffixes, _) in enumerate(FORMATS):
        if file.name.lower().endswith(suffixes):
            return place
    raise BadInput(f"the file {file.name!r} has an unknown ending; known ones are {_suffixes()}")


def _suffixes() -> str:
    return ", ".join(suffix for _, suffixes, _ in FORMATS for suffix in suffixes)


def _from_memory(source: Any) -> Source:
    return Scanned.opened(source) if isinstance(source, ds.Dataset) else from_frame(source)
