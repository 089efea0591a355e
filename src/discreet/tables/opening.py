"""`read`: tables in files, frames and databases; Parquet and Arrow's own files by row groups and batches.

Only names and declared types are read when a table is opened.
"""

import glob
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from discreet.errors import BadInput, meant
from discreet.privacy.declaration import Kind
from discreet.tables.backends import Backend, Duck, Postgres, Sqlite
from discreet.tables.cells import KINDS, Later, kind_of, plain
from discreet.tables.databases import InDatabase
from discreet.tables.frames import Piece, Source, from_frame, guarded, named
from discreet.tables.parquet_files import ROWS, Parquet, agreed, columns_of
from discreet.tables.placed import Afar, Placed
from discreet.tables.streams import Engine
from discreet.tables.table import Table
from discreet.tables.text_files import SUFFIXES, Lines
from discreet.tables.wanted import known
from discreet.tables.written import WRITTEN, rewritten

DATASETS: Final = "pyarrow.dataset"
ds: Any = Later(DATASETS)  # it loads pandas, which takes longer than most answers
PARQUET: Final = (".parquet", ".pq")
ARROW: Final = (".arrow", ".feather", ".ipc")


def read(
    source: Any, *, table: str | None = None, types: Mapping[str, str] | None = None, engine: Engine | None = None
) -> Table:
    """A table: a file, a glob or a folder of files, a frame, columns, joined people, or a database with `table=`.

    Files are CSV or TSV (also .gz), Parquet, or Arrow's own. Addresses are sqlite:///file.db, duckdb:///file.duckdb
    and postgresql://... . `types` declares what columns hold: "number", "integer", "boolean", "category", "text",
    "date" or "unknown", or how numbers are written: "percent" (12.5% is 12.5) or "thousands" (1,234.5),
    or dates ("dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy"). Without it the
    schema does, and a CSV file declares nothing. With `engine` its parts are worked on there: of files, which every
    worker must find under the same path, or of a frame of Dask or Spark.

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
        found = _from_files(source) if isinstance(source, str | Path) else _from_engine(source, engine)
    found = found if engine is None or isinstance(found, Placed) else placed(found, engine)
    kinds = dict(found.kinds)
    for name, kind in (types or {}).items():
        if name not in kinds:
            near, there = meant(name, found.names), ", ".join(map(repr, found.names[:20]))
            raise BadInput(f"types= declares {name!r}; {near}{'T' if near else 't'}he table has {there}")
        if kind not in (*KINDS, *WRITTEN):
            near = meant(kind, (*KINDS, *WRITTEN))
            raise BadInput(f"types= declares {name!r} as {kind!r}; {near}it is one of {', '.join((*KINDS, *WRITTEN))}")
        kinds[name] = WRITTEN[kind].kind if kind in WRITTEN else _known(kind)
    place = _place(source)
    place = f"{place} {found.place}" if isinstance(found, InDatabase) else place
    written = {name: kind for name, kind in (types or {}).items() if kind in WRITTEN}
    of_texts = isinstance(found.here if isinstance(found, Placed) else found, Lines)
    if not written:
        return Table(found, kinds, place, of_texts=of_texts)
    place = None if place is None else f"{place} {json.dumps(written)}"
    found = replace(found, written=written) if isinstance(found, Placed) else Rewritten(found, written)
    return Table(found, kinds, place, of_texts=of_texts)


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
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    near = meant(path.name, (one.name for one in beside))
    raise BadInput(
        f"there is no file {path.name!r} at that place; {near}{'C' if near else 'c'}heck the path, from "
        f"{Path.cwd().name!r} if it is relative"
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


def _from_engine(source: Any, engine: Engine | None) -> Source:
    """A frame that an engine has, or one in memory."""
    opened: Any = getattr(engine, "opened", None)
    found = None if opened is None else opened(source)  # it has waited for a worker
    if found is None:
        return _from_memory(source)
    empty = from_frame(found.empty)
    about: dict[str, Any] = {"names": empty.names, "kinds": empty.kinds, "description": found.description}
    about["steady"] = False  # a query may shuffle rows, which then come as they arrive
    unreadable = BadInput(f"{found.description} cannot be read where it is; try it without discreet")
    return Placed(engine, found.parts, lambda: guarded(found.size, unreadable), **about)  # type: ignore[arg-type]


def placed(source: Source, engine: Engine) -> Placed:
    """A table of files, whose parts an engine works on; others stay where they are, and are refused."""
    whole: Callable[[Sequence[str]], list[Callable[[], Iterator[Mapping[str, Any]]]]]
    if isinstance(source, Parquet):
        whole = source.cuts
    elif isinstance(source, Lines):
        whole = partial(_of_files, source)
    elif isinstance(source, Scanned):
        whole = partial(_fragments, source.dataset)
    else:
        raise BadInput(
            f"engine= is for files and for frames of Dask or Spark, and the table is {source.description}; leave out "
            "engine=, or write the table to Parquet files that every worker can read"
        )

    def parts(columns: Sequence[str]) -> list[Afar]:
        return [Afar(number, opens) for number, opens in enumerate(whole(columns))]

    wait = getattr(engine, "wait", None)
    if wait is not None:
        wait()  # for a worker, before anything is charged
    about: dict[str, Any] = {"names": source.names, "kinds": source.kinds, "description": source.description}
    return Placed(engine, parts, source.size, ordered=source.ordered, here=source, **about)


def _of_files(source: Lines, columns: Sequence[str]) -> list[Any]:
    """A file each: where a line begins in the middle of one is not known."""
    wanted = tuple(columns)
    return [partial(_called, replace(source, files=(file.absolute(),)), wanted) for file in source.files]


def _called(source: Source, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    return (piece() for piece in source.pieces(columns))


def _fragments(dataset: Any, columns: Sequence[str]) -> list[Any]:
    return [partial(_scanned, one, dataset.schema, tuple(columns)) for one in dataset.get_fragments()]


def _scanned(fragment: Any, schema: Any, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for batch in fragment.to_batches(schema=schema, columns=list(columns), batch_size=ROWS):
        yield {name: plain(batch.column(name)) for name in columns}


def _from_memory(source: Any) -> Source:
    scanned = DATASETS in sys.modules and isinstance(source, ds.Dataset)
    return Scanned.opened(source) if scanned else from_frame(source)


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
        names, kinds = columns_of(first, files[0])
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


def known_person(table: Table, person: str) -> str:
    """The column that says whose row each is, where a person may have several."""
    if table.unit is not None:
        raise BadInput(f"person is {person!r}, and each row of this table is a {table.unit} already; leave person out")
    return known(table, person)
