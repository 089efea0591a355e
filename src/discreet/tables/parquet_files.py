"""Parquet files: by row groups, and by batches where those are very long."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.cells import kind_of, plain
from discreet.tables.frames import Piece, guarded, named

ROWS: Final = 2**18  # rows of a batch
BUFFER: Final = 2**20  # bytes of a file at a time: they are decoded while they are in the processor's cache
PART: Final = 2**20  # rows of a part that an engine works on: a task takes longer than its start
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
        names, kinds = columns_of(first, files[0])
        return cls(tuple(files), footers=tuple(footers), names=names, kinds=kinds, description=description)

    def size(self) -> int | None:
        """From the footers."""
        return sum(int(footer.num_rows) for footer in self.footers)

    def cuts(self, columns: Sequence[str]) -> list[Callable[[], Iterator[Mapping[str, Any]]]]:
        """Row groups of one file that have PART rows together, or all of it, to be read elsewhere."""
        found: list[Callable[[], Iterator[Mapping[str, Any]]]] = []
        for file, footer in zip(self.files, self.footers, strict=True):
            groups, rows = [], 0
            for group in range(footer.num_row_groups):
                groups.append(group)
                rows += int(footer.row_group(group).num_rows)
                if rows >= PART or group == footer.num_row_groups - 1:
                    found.append(partial(_groups, file.absolute(), tuple(groups), tuple(columns)))
                    groups, rows = [], 0
        return found

    def lengths(self) -> list[int] | None:
        """The rows of each piece, where each is a row group."""
        groups = [footer.row_group(group) for footer in self.footers for group in range(footer.num_row_groups)]
        found = [int(group.num_rows) for group in groups]
        return None if max(found, default=0) > LONG else found

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """A row group each, or a batch of one that is very long."""
        for file, footer in zip(self.files, self.footers, strict=True):
            free: list[Any] = []  # what is open, and read by nobody
            for group in range(footer.num_row_groups):
                if footer.row_group(group).num_rows > LONG:
                    yield from _batches(file, footer, group, columns)
                    continue
                yield partial(_group, file, footer, group, columns, free)


def _groups(file: Path, groups: Sequence[int], columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Some row groups of a file, on a worker."""
    footer, _ = _footer(file)
    for group in groups:
        if footer.row_group(group).num_rows > LONG:
            yield from (piece() for piece in _batches(file, footer, group, columns))
        else:
            yield _group(file, footer, group, columns, [])


def _footer(file: Path) -> tuple[Any, Any]:
    with pq.ParquetFile(file) as opened:
        return opened.metadata, opened.schema_arrow


def _group(file: Path, footer: Any, group: int, columns: Sequence[str], free: list[Any]) -> dict[str, Any]:
    try:
        opened = free.pop()
    except IndexError:
        opened = pq.ParquetFile(file, metadata=footer, pre_buffer=False, buffer_size=BUFFER)
    table = opened.read_row_group(group, columns=list(columns), use_threads=False)
    free.append(opened)
    return {name: plain(table.column(name)) for name in columns}


def _batches(file: Path, footer: Any, group: int, columns: Sequence[str]) -> Iterator[Piece]:
    with pq.ParquetFile(file, metadata=footer, pre_buffer=False) as opened:
        for batch in opened.iter_batches(ROWS, row_groups=[group], columns=list(columns), use_threads=True):
            yield lambda batch=batch: {name: plain(batch.column(name)) for name in columns}  # type: ignore[misc]


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


def columns_of(schema: Any, file: Path) -> tuple[tuple[str, ...], dict[str, Kind]]:
    """Names and kinds, by a schema."""
    names = named(schema.names, f"the file {file.name!r}")
    return names, {name: kind_of(schema.field(name).type) for name in names}
