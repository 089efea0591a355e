"""Tables in text: CSV and TSV, also compressed by gzip; one path, on Arrow's parser.

Promise
    [text_files.1] A line with too few or too many fields, a blank one too, is one row whose cells are all missing, at
          its own place; bytes that are no UTF-8 spoil no cell but their own (they read as U+FFFD). No content raises.
    [text_files.2] How the file is cut into pieces changes no row, unless a field is longer than LONGEST bytes.

Why
    A row is a line; a field that begins with a quote goes on to the next single quote, over line breaks too, as the
    usual standard (RFC 4180) has it. Arrow reads each piece and reports the lines that do not fit, which are put
    back as missing rows. A byte order mark at the beginning of a piece is doubled, as Arrow removes one. Pieces end at
    a line break outside of quotes. Where every quote of odd rank follows a separator, a line break or another quote,
    quotes open and close in turn (two together within a field stand for one and leave it open), so that such a break
    has an even number of quotes before it; elsewhere fields are read one by one to find it.

What cannot be isolated is a quote that is never closed: it takes in what follows, up to the next quote, as the standard
says, so that one odd cell may hide rows after it: LONGEST bytes at most, as pieces end at a line break by then. Where
rows are people who may write such a cell themselves, use Parquet, or a database.

An empty cell is missing. Fields are separated by commas, in a .tsv file by tabs; where the header has no comma but a
semicolon or a tab, by that.
"""

import csv
import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind
from discreet.tables.cells import NUMBER, SHORT, WHOLE, Column, value
from discreet.tables.frames import Piece, guarded, named
from discreet.tables.written import WRITTEN

PIECE: Final = 2**21  # bytes
LONGEST: Final = 2**26
STEP: Final = 2**18
HEADER: Final = 2**20
FIRST: Final = 200  # rows that types are suggested by
MARK: Final = b"\xef\xbb\xbf"  # the byte order mark in UTF-8: at the beginning of a file it is no content
Whole: TypeAlias = bytes | bytearray
SUFFIXES: Final = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


@dataclass(frozen=True)
class Lines:
    """CSV files with one header."""

    files: tuple[Path, ...]
    _: KW_ONLY
    names: tuple[str, ...]
    separator: str
    description: str
    ordered: bool = True

    @classmethod
    def read(cls, files: Sequence[Path], description: str) -> "Lines":
        """The headers, which must agree."""
        header = names, separator = _header(files[0])[:2]
        for other in files[1:]:
            if _header(other)[:2] != header:
                raise BadInput(
                    f"the headers of {files[0].name!r} and {other.name!r} differ; files of one table need the same "
                    "columns in the same order; read them apart"
                )
        return cls(tuple(files), names=names, separator=separator, description=description)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """A header declares no types."""
        return dict.fromkeys(self.names, "unknown")

    def size(self) -> int | None:
        """Not written anywhere."""
        return None

    def pieces(self, columns: Sequence[str]) -> Iterator[Piece]:
        """Some megabytes of lines each; they are parsed when called."""
        wanted = [name for name in self.names if name in columns]
        for file in self.files:
            start = _header(file)[2]
            with _opened(file) as stream:
                stream.read(start)
                free: list[bytearray] = []  # memory that is had is sooner filled than new
                for text in _cut(stream, self.separator, len(self.names), free):
                    yield partial(self._read, [text], wanted, free)

    def _read(self, given: list[memoryview], wanted: Sequence[str], free: list[bytearray]) -> dict[str, Column]:
        """The cells of a piece, whose text may be written over then: it is read once."""
        text = given.pop()
        found = parsed(text, self.names, wanted, self.separator)
        if isinstance(text.obj, bytearray) and len(text.obj) == PIECE:
            free.append(text.obj)
        return found

    def most(self, rows: int) -> int:
        """About how many rows there are, if the first piece has so many; 0 where that cannot be told."""
        packed = any(file.name.lower().endswith(".gz") for file in self.files)
        size = 0 if packed else sum(guarded(lambda file=file: file.stat().st_size, self._gone) for file in self.files)  # type: ignore[misc]
        return rows * -(-size // PIECE) * 17 // 16

    @property
    def _gone(self) -> BadInput:
        return BadInput(f"{self.description} cannot be read; is it still there?")

    def suggested(self) -> dict[str, str]:
        """What the first rows suggest that columns hold. It is read off the data: for whoever owns them, alone."""
        first = next(self.pieces(self.names), None)
        cells = first() if first is not None else {}
        found = {name: [cell for cell in cells[name][:FIRST].to_pylist() if cell is not None] for name in cells}
        return {name: _suggested(texts) for name, texts in found.items() if texts}


def _suggested(texts: Sequence[str]) -> str:
    """The first kind that all cells are of."""
    tests: dict[str, Callable[[str], Any]] = {
        "integer": WHOLE.match,
        "number": NUMBER.match,
        "boolean": lambda text: text.strip(" \t").lower() in SHORT,
        "date": lambda text: value(text, "date") is not None,
        **{form: re.compile(how.pattern).match for form, how in WRITTEN.items()},
    }
    fitting = [kind for kind, test in tests.items() if all(map(test, texts))]
    unclear = {"dd/mm/yyyy", "mm/dd/yyyy"} if "dd/mm/yyyy" in fitting and "mm/dd/yyyy" in fitting else set[str]()
    return next((kind for kind in fitting if kind not in unclear), "text")


def _opened(file: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(file, "rb")) if file.name.lower().endswith(".gz") else file.open("rb")


def _header(file: Path) -> tuple[tuple[str, ...], str, int]:
    """The names in the first line, what separates them, and where the second line begins."""
    start = guarded(lambda: _start(file), BadInput(f"the file {file.name!r} cannot be read; is it whole, and yours?"))
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput(f"the file {file.name!r} is in UTF-16; UTF-8 is needed; write it again in UTF-8")
    end = _first_line(start)
    if end == HEADER:
        raise BadInput(
            f"the first line of {file.name!r} does not end within {HEADER} bytes; column names are needed there"
        )
    line = start[:end].removeprefix(MARK).decode("utf-8", "replace").rstrip("\r\n")
    if not line.strip():
        raise BadInput(f"the file {file.name!r} begins with an empty line; a first line of column names is needed")
    if "\n" in line or "\r" in line:  # or the rows of people would become names, which are shown
        raise BadInput(
            f"a quote in the first line of {file.name!r} is not closed there; column names are needed that end with it"
        )
    separator = "\t" if file.name.lower().removesuffix(".gz").endswith(".tsv") else ","
    if separator not in line:
        separator = next((other for other in ";\t" if other in line), separator)
    fields = guarded(
        lambda: next(csv.reader([line], delimiter=separator)),
        BadInput(f"the first line of {file.name!r} is no list of column names; write one"),
    )
    names = [name.strip() or f"unnamed {place}" for place, name in enumerate(fields, 1)]
    return named(names, f"the file {file.name!r}"), separator, end


def _start(file: Path) -> bytes:
    with _opened(file) as stream:
        return stream.read(HEADER)


def _first_line(start: bytes) -> int:
    quotes = 0
    for match in re.finditer(rb"\r\n|\n|\r|\"", start):
        quotes += match[0] == b'"'
        if match[0] != b'"' and quotes % 2 == 0:
            return match.end()
    return len(start)


def _cut(stream: BinaryIO, separator: str, width: int, free: list[bytearray]) -> Iterator[memoryview]:
    """Whole lines, some megabytes at a time, in memory that is free or new."""
    rest, more = bytearray(), True
    while more:
        size = max(PIECE, 2 * len(rest))
        text = free.pop() if free and size == PIECE else bytearray(size)
        text[: len(rest)] = rest
        missing = size - len(rest) - _filled(stream, memoryview(text)[len(rest) :])
        if more := not missing:
            end = _last_line(text, separator.encode(), width)
            if end == 0 and len(text) >= LONGEST:
                end = (text.rfind(b"\n") + 1) or len(text)
            rest = text[end:]
        else:
            end = len(text) - missing
        if end:
            yield memoryview(text)[:end]


def _filled(stream: BinaryIO, room: memoryview) -> int:
    """How many bytes were read into a place: all, but at the end of the file."""
    done = 0
    while done < len(room) and (given := stream.readinto(room[done:])):  # type: ignore[attr-defined]
        done += given
    return done


def _last_line(text: Whole, separator: bytes, width: int) -> int:
    """Just behind the last line break outside of quotes; 0 if there is none. [text_files.2]"""
    ending, known = (b"\n", len(text)) if b"\n" in text else (b"\r", len(text) - 1)  # a \n may follow the last \r
    end = text.rfind(ending, 0, known) + 1
    if text.find(b'"', 0, end) < 0:
        return end
    within = _within_quotes(np.frombuffer(text, dtype=np.uint8), separator)
    if within is None:
        if _ends_a_line(text[:end], separator, width):
            return end
        return max((end for _, end, whole in _lines(text, separator) if whole), default=0)
    while end and within[end - 1 >> 3] >> (end - 1 & 7) & 1:  # before the quote that opened
        end = text.rfind(ending, 0, text.rfind(b'"', 0, end)) + 1
    return end


def _within_quotes(letters: npt.NDArray[np.uint8], separator: bytes) -> npt.NDArray[np.uint8] | None:
    """For each letter a bit, the first one lowest: whether it and those before it have an odd number of quotes; None if
    one of odd rank follows anything but a separator, a line break or a quote. [text_files.2]"""
    step = min(STEP, -(-len(letters) // 64) * 64)
    quotes, fits, other = np.zeros((3, step + 1), dtype=np.bool_)  # of a step: new memory for all would take longer
    within, carried = np.empty(-(-len(letters) // 8), dtype=np.uint8), np.uint64(0)
    for start in range(0, len(letters), step):
        here = letters[start : start + step]
        quotes[len(here) : step], fits[0] = False, start == 0 or fits[step]
        before, same = fits[1 : len(here) + 1], other[: len(here)]  # whether the next letter may be a first quote
        before[:] = np.equal(here, ord('"'), out=quotes[: len(here)])
        for letter in separator + b"\r\n":
            np.logical_or(before, np.equal(here, letter, out=same), out=before)
        found = np.packbits(quotes[:step], bitorder="little").view("<u8")
        odd = found.copy()
        for places in (1, 2, 4, 8, 16, 32):  # of all bits of a word at once, then from word to word
            odd ^= odd << np.uint64(places)
        ends = np.bitwise_xor.accumulate(odd >> np.uint64(63)) ^ carried
        odd[0] ^= np.negative(carried)
        odd[1:] ^= np.negative(ends[:-1])
        carried = ends[-1]
        if (found & odd & ~np.packbits(fits[:step], bitorder="little").view("<u8")).any():
            return None
        within[start // 8 : (start + step) // 8] = odd.view(np.uint8)[: len(within) - start // 8]
    return within


def _ends_a_line(text: Whole, separator: bytes, width: int) -> bool:
    """Whether a text ends outside of quotes: a line that is put behind it is then read as such."""
    mark, text = b"end", bytes(_utf8(memoryview(text)))
    while mark in text:
        mark += b"d"
    try:
        table = _by_arrow(
            text + separator.join([mark] * width) + b"\n", width, ["0"], separator.decode(), lambda _: "skip"
        )
    except pa.ArrowException:
        return False
    return bool(table.num_rows) and table.column(0)[-1].as_py() == mark.decode()


def _lines(text: Whole, separator: bytes) -> Iterator[tuple[list[bytes], int, bool]]:
    """The fields of each line, where the next one begins, and whether that is known for sure. [text_files.1]"""
    sep = re.escape(separator)
    field = re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"?)?([^\r\n' + sep + rb"]*)(" + sep + rb"|\r\n|\r|\n|\Z)")
    line: list[bytes] = []
    at = 0
    while at < len(text) or line:
        match = field.match(text, at)
        assert match is not None  # the pattern takes anything
        line.append((match[1] or b"").replace(b'""', b'"') + match[2])
        at = match.end()
        if match[3] != separator:
            yield line, at, match[3] != b"" and (match[3] != b"\r" or at < len(text))
            line = []


def parsed(text: memoryview, names: Sequence[str], wanted: Sequence[str], separator: str) -> dict[str, Column]:
    """The cells of some columns; those of lines that do not fit, and empty ones, are null. [text_files.1]"""
    odd: list[int] = []
    text = _utf8(text)
    quoted = isinstance(text.obj, Whole) and b'"' in text.obj

    def put_aside(row: Any) -> str:
        odd.append(row.number - 1)
        return "skip"

    places = [str(names.index(name)) for name in wanted]
    try:
        table = _by_arrow(text, len(names), places, separator, put_aside, quoted=quoted)
        columns = [table.column(place) for place in range(len(places))]
    except pa.ArrowException:
        odd.clear()
        columns = slowly(bytes(text), len(names), [int(place) for place in places], separator)
    return {name: _texts(column, odd) for name, column in zip(wanted, columns, strict=True)}


def _by_arrow(
    text: bytes | memoryview,
    width: int,
    places: Sequence[str],
    separator: str,
    put_aside: Callable[[Any], str],
    *,
    quoted: bool = True,
) -> Any:
    """Some columns, called by their places, in one piece; without quotes it takes two thirds of the time."""
    if bytes(text[: len(MARK)]) == MARK:  # Arrow takes one off, and this one is part of a cell: [text_files.2]
        text = MARK + bytes(text)
    return pcsv.read_csv(
        pa.BufferReader(text),
        pcsv.ReadOptions(
            use_threads=False, column_names=[str(place) for place in range(width)], block_size=len(text) + 1
        ),
        pcsv.ParseOptions(
            delimiter=separator,
            quote_char='"' if quoted else False,
            newlines_in_values=quoted,
            ignore_empty_lines=False,
            invalid_row_handler=put_aside,
        ),
        pcsv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            include_columns=places,
            check_utf8=False,
            strings_can_be_null=False,
        ),
    )


def _utf8(text: memoryview) -> memoryview:
    """What is no UTF-8 is replaced first: Arrow would write of a line that does not fit, and is none, to the screen."""
    whole = text.obj if isinstance(text.obj, Whole) else bytes(text)  # what it is part of: no copy
    if whole.isascii():
        return text
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return memoryview(str(text, "utf-8", "replace").encode())
    return text


def slowly(text: bytes, width: int, places: Sequence[int], separator: str) -> list[Any]:
    """The same cells without Arrow's parser, whose limits a cell could exceed. [text_files.1]"""
    found: list[list[bytes | None]] = [[] for _ in places]
    for line, _, _ in _lines(text, separator.encode()):
        for cells, place in zip(found, places, strict=True):
            cells.append(line[place] if len(line) == width else None)
    return [pa.chunked_array([pa.array(cells, pa.large_binary()).cast(pa.large_string())]) for cells in found]


def _texts(column: Any, odd: Sequence[int]) -> Column:
    """Null where they are empty, and where the lines do not fit."""
    texts = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([pa.array([], column.type), *column.chunks])
    if odd:
        fits = np.ones(len(texts) + len(odd), dtype=bool)
        fits[list(odd)] = False
        texts = texts.take(pa.array(np.cumsum(fits) - 1, mask=~fits))
    lengths = pc.binary_length(texts)
    if pc.min(lengths).as_py() != 0:
        return texts
    return pc.if_else(pc.equal(lengths, 0), pa.scalar(None, texts.type), texts)
