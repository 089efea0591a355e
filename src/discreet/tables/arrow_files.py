"""Parquet and Arrow's own files and datasets, by row groups and batches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.cells import kind_of, plain
from discreet.tables.source import Piece, guarded, named

PARQUET: Final = (".parquet", ".pq")
ARROW: Final = (".arrow", ".feather", ".ipc")
ROWS: Final = 2**18  # rows of a batch
BUFFER: Final = 2**20  # bytes of a file at a time: they are decoded while they are in the processor's cache
LONG: Final = 2**22  # rows of a row group that is read in batches


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
