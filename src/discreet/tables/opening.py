"""`read`: tables in files, frames and databases; Parquet and Arrow's own files by row groups and batches.

Only names and declared types are read when a table is opened.
"""

import glob
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.cells import KINDS, WRITTEN, Later, kind_of, plain, rewritten
from discreet.tables.databases import Backend, Duck, InDatabase, Postgres, Sqlite
from discreet.tables.frames import Piece, Source, from_frame, guarded, named
from discreet.tables.table import Table
from discreet.tables.text_files import SUFFIXES, Lines

DATASETS: Final = "pyarrow.dataset"
ds: Any = Later(DATASETS)  # it loads pandas, which takes longer than most answers
PARQUET: Final = (".parquet", ".pq")
ARROW: Final = (".arrow", ".feather", ".ipc")
ROWS: Final = 2**18  # rows of a batch
BUFFER: Final = 2**20  # bytes of a file at a time: they are decoded while they are in the processor's cache
LONG: Final = 2**22  # rows of a row group that is read in batches


def read(source: Any, *, table: str | None = None, types: Mapping[str, str] | None = None) -> Table:
    """A table: a file, a glob or a folder of files, a frame, columns, joined people, or a database with `table=`.

    Files are CSV or TSV (also .gz), Parquet, or Arrow's own. Addresses are sqlite:///file.db, duckdb:///file.duckdb
    and postgresql://... . `types` declares what columns hold: "number", "integer", "boolean", "category", "text",
    "date" or "unknown", or how numbers are written: "percent" (12.5% is 12.5) or "thousands" (1,234.5). Without it the
    schema does, and a CSV file declares nothing.

    >>> people = read({"age": [31.0, 52.0, None], "town": ["Ulm", "Bonn", "Ulm"]})
    >>> people.names, people.size()
    (('age', 'town'), 3)
    """
    if isinstance(source, Table):  # as `discreet.people` gives it
        if table is not None or types is not None:
            raise BadInput("the table was joined by discreet.people; give table= and types= there")
        return source
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
        if kind not in (*KINDS, *WRITTEN):
            raise BadInput(f"types= declares {name!r} as {kind!r}; it is one of {', '.join((*KINDS, *WRITTEN))}")
        kinds[name] = "number" if kind in WRITTEN else _known(kind)
    place = _place(source)
    place = f"{place} {found.place}" if isinstance(found, InDatabase) else place
    written = {name: kind for name, kind in (types or {}).items() if kind in WRITTEN}
    of_texts = isinstance(found, Lines)
    if not written:
        return Table(found, kinds, place, of_texts=of_texts)
    place = None if place is None else f"{place} {json.dumps(written)}"
    return Table(Rewritten(found, written), kinds, place, of_texts=of_texts)


@dataclass(frozen=True)
class Rewritten:
    """A source some of whose numbers are written in a declared way."""

    inner: Source
    written: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """As they are."""
        return self.inner.names

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """As they are."""
        return self.inner.kinds

    @property
    def description(self) -> str:
        """As it is."""
        return self.inner.description

    @property
    def ordered(self) -> bool:
        """As it is."""
        return self.inner.ordered

    def size(self) -> int | None:
        """As it is."""
        return self.inner.size()

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Its pieces, with numbers as they are read elsewhere."""
        for piece in self.inner.pieces(columns):
            yield lambda piece=piece: {  # type: ignore[misc]
                name: rewritten(column, self.written[name]) if name in self.written else column
                for name, column in piece().items()
            }


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
    scanned = DATASETS in sys.modules and isinstance(source, ds.Dataset)
    return Scanned.opened(source) if scanned else from_frame(source)


@dataclass(frozen=True)
class Parquet:
    """Parquet files with one schema."""

    files: tuple[Path, ...]
    _: KW_ONLY
    footers: tuple[Any, ...]
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    description: str
    ordered: bool = True

    @classmethod
    def read(cls, files: Sequence[Path], description: str) -> "Parquet":
        """The footers, whose schemas must agree."""
        footers, first = [], None
        for file in files:
            unreadable = BadInput(f"{file.name!r} is not a whole Parquet file; is it finished, and yours to read?")
            footer, schema = guarded(lambda file=file: _footer(file), unreadable)  # type: ignore[misc]
            first = agreed(first, schema, files[0], file)
            footers.append(footer)
        assert first is not None  # there is a file
        names, kinds = _columns(first, files[0])
        return cls(tuple(files), footers=tuple(footers), names=names, kinds=kinds, description=description)

    def size(self) -> int | None:
        """From the footers."""
        return sum(int(footer.num_rows) for footer in self.footers)

    def lengths(self) -> list[int] | None:
        """The rows of each piece, where each is a row group."""
        groups = [footer.row_group(group) for footer in self.footers for group in range(footer.num_row_groups)]
        found = [int(group.num_rows) for group in groups]
        return None if max(found, default=0) > LONG else found

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """A row group each, or a batch of one that is very long."""
        for file, footer in zip(self.files, self.footers, strict=True):
            for group in range(footer.num_row_groups):
                if footer.row_group(group).num_rows > LONG:
                    yield from _batches(file, footer, group, columns)
                    continue
                yield lambda file=file, footer=footer, group=group: _group(file, footer, group, columns)  # type: ignore[misc]


def _footer(file: Path) -> tuple[Any, Any]:
    with pq.ParquetFile(file) as opened:
        return opened.metadata, opened.schema_arrow


def _group(file: Path, footer: Any, group: int, columns: Sequence[str]) -> dict[str, Any]:
    with pq.ParquetFile(file, metadata=footer, pre_buffer=False, buffer_size=BUFFER) as opened:
        table = opened.read_row_group(group, columns=list(columns), use_threads=False)
    return {name: plain(table.column(name)) for name in columns}


def _batches(file: Path, footer: Any, group: int, columns: Sequence[str]) -> Iterator[Piece]:
    with pq.ParquetFile(file, metadata=footer, pre_buffer=False) as opened:
        for batch in opened.iter_batches(ROWS, row_groups=[group], columns=list(columns), use_threads=True):
            yield lambda batch=batch: {name: plain(batch.column(name)) for name in columns}  # type: ignore[misc]


def _as_stored(dataset: Any) -> bool:
    """Whether a dataset gives what its files hold, and converts, parses and filters nothing."""
    if isinstance(dataset, ds.UnionDataset):
        return all(_as_stored(child) and child.schema == dataset.schema for child in dataset.children)
    if not isinstance(dataset, ds.FileSystemDataset) or getattr(dataset, "_scan_options", None):
        return False
    if not isinstance(dataset.format, ds.ParquetFileFormat | ds.IpcFileFormat):
        return False
    held = (entry for fragment in dataset.get_fragments() for entry in fragment.physical_schema)
    return all(
        entry.type == dataset.schema.field(entry.name).type for entry in held if entry.name in dataset.schema.names
    )


def agreed(first: Any, schema: Any, one: Path, other: Path) -> Any:
    """The schema of all files so far; how texts are encoded within a file does not matter."""
    if first is not None and _shape(first) != _shape(schema):
        raise BadInput(
            f"the schemas of {one.name!r} and {other.name!r} differ; files of one table need the same columns and "
            "types; read them apart"
        )
    return schema if first is None else first


def _shape(schema: Any) -> list[tuple[str, str]]:
    types = [entry.type.value_type if pa.types.is_dictionary(entry.type) else entry.type for entry in schema]
    return [(name, str(declared)) for name, declared in zip(schema.names, types, strict=True)]


def _columns(schema: Any, file: Path) -> tuple[tuple[str, ...], dict[str, Kind]]:
    names = named(schema.names, f"the file {file.name!r}")
    return names, {name: kind_of(schema.field(name).type) for name in names}


@dataclass(frozen=True)
class Scanned:
    """Whatever Arrow can scan: its own files, and a dataset that was opened elsewhere."""

    dataset: Any
    _: KW_ONLY
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    description: str
    ordered: bool = True
    known: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, files: Sequence[Path], description: str) -> "Scanned":
        """Arrow's own files, whose schemas must agree."""
        first = None
        for file in files:
            unreadable = BadInput(f"{file.name!r} is not a whole Arrow file; is it finished, and yours to read?")
            schema = guarded(lambda file=file: ds.dataset(file, format="ipc").schema, unreadable)  # type: ignore[misc]
            first = agreed(first, schema, files[0], file)
        dataset = ds.dataset([str(file) for file in files], format="ipc", schema=first)
        names, kinds = _columns(first, files[0])
        return cls(dataset, names=names, kinds=kinds, description=description)

    @classmethod
    def opened(cls, dataset: Any) -> "Scanned":
        """A dataset of Arrow's, which may be partitioned by values: then these decide on a row's place."""
        names = named(dataset.schema.names, "the dataset")
        if not guarded(
            lambda: _as_stored(dataset), BadInput("the files of the dataset cannot be read; are they whole?")
        ):
            raise BadInput(
                "the dataset is filtered, is not of Parquet or Arrow files, or has other types than its files: a value "
                "could make that fail after the budget was spent; give the path of the files, or dataset.to_table()"
            )
        kinds = {name: kind_of(dataset.schema.field(name).type) for name in names}
        return cls(dataset, names=names, kinds=kinds, description="an Arrow dataset", ordered=False)

    def size(self) -> int | None:
        """Counted once, from metadata where the format has them."""
        if not self.known:
            self.known.append(int(self.dataset.count_rows()))
        return self.known[0]

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """A batch each."""
        batches = self.dataset.scanner(columns=list(columns), batch_size=ROWS, batch_readahead=2, fragment_readahead=1)
        for batch in batches.to_batches():
            yield lambda batch=batch: {name: plain(batch.column(name)) for name in columns}  # type: ignore[misc]


FORMATS: Final[Sequence[tuple[str, tuple[str, ...], Callable[[Sequence[Path], str], Source]]]] = (
    ("text", SUFFIXES, Lines.read),
    ("Parquet", PARQUET, Parquet.read),
    ("Arrow", ARROW, Scanned.read),
)
