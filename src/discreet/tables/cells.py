"""One cell, one meaning: a number, a truth value or a key, by a fixed function of the cell and its column's kind.

Promise
    [cells.1] What a cell becomes depends on that cell and on the declared kind of its column alone, bit for bit: the
          fast paths for whole columns give what `number`, `truth` and `value` give cell by cell. No cell raises.

Why
    A column is turned into numbers by Arrow's own cast where that takes every cell; it accepts no text beyond the
    grammar except names of infinities and of not-a-number, which are missing here, and both it and Python round
    correctly. If it refuses, the cells that are no numbers are blanked by the grammar itself, and cast again; if it
    still refuses, `number` reads each. Keys are worked out once for each distinct cell, then looked up.

How a column's numbers and dates are written may be declared: written.py makes such cells what is read here, each by
itself, and leaves what is not written so.

A number is: blanks, a sign, digits with or without a decimal point, an exponent, blanks; all but the digits may be left
out. What is too large for a float, "inf", "nan", hexadecimals and thousands separators are missing.
"""

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.declaration import Kind as Kind  # noqa: PLC0414  all of tables/ has it from here
from discreet.tables import entries as rows
from discreet.tables.unpacked import unpacked


class Later:
    """Arrow is loaded when it is first needed: arrays of numpy and lists are read without it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


pa: Any = Later("pyarrow")
pc: Any = Later("pyarrow.compute")


def is_arrow(values: object) -> bool:
    """Whether these are an array of Arrow, in one piece or in several; Arrow is not loaded to find out."""
    return type(values).__module__.startswith("pyarrow") and hasattr(values, "type")


def is_chunked(values: object) -> bool:
    """Whether these are an array of Arrow in several pieces."""
    return is_arrow(values) and hasattr(values, "chunks")


PLAIN: Final = frozenset(map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
KINDS: Final = ("number", "integer", "boolean", "category", "text", "date", "unknown")
Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int64]
Column: TypeAlias = Any  # an Arrow array, or a numpy array of objects

GRAMMAR: Final = r"^[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*$"
NUMBER: Final = re.compile(GRAMMAR.replace("$", r"\Z"))
WHOLE: Final = re.compile(r"[ \t]*[+-]?[0-9]{1,300}[ \t]*\Z")
FEW: Final = 10_000  # entries that are read one by one, without Arrow
WORDS: Final = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
SHORT: Final = WORDS | {"t": 1.0, "y": 1.0, "f": 0.0, "n": 0.0}  # in a column that is declared to hold truth values


def kind_of(declared: Any) -> Kind:
    """The kind of an Arrow type."""
    if hasattr(declared, "storage_type"):  # an extension
        return kind_of(declared.storage_type)
    if pa.types.is_dictionary(declared) or pa.types.is_run_end_encoded(declared):
        inner = kind_of(declared.value_type)
        return "category" if inner == "text" and pa.types.is_dictionary(declared) else inner
    if pa.types.is_boolean(declared):
        return "boolean"
    if pa.types.is_integer(declared):
        return "integer"
    if pa.types.is_floating(declared) or pa.types.is_decimal(declared):
        return "number"
    if is_text(declared):
        return "text"
    return "date" if pa.types.is_date(declared) or pa.types.is_timestamp(declared) else "unknown"


def is_text(declared: Any) -> bool:
    """Whether an Arrow type is one of its three texts."""
    return str(declared) in ("string", "large_string", "string_view")


def plain(values: Any) -> Column:
    """A column of whatever library as one Arrow array of a simple type, or as an array of objects."""
    if is_chunked(values):
        values = joined(values.chunks) if values.num_chunks else pa.array([], values.type)
    if not is_arrow(values):
        return _from_numpy(values if isinstance(values, np.ndarray) and values.ndim == 2 else rows.column(values))
    if hasattr(values, "storage"):
        return plain(values.storage)
    if pa.types.is_dictionary(values.type):
        return plain(values.cast(values.type.value_type))
    if pa.types.is_run_end_encoded(values.type):
        return plain(pc.run_end_decode(values))
    if is_text(values.type):
        return _readable(values)
    if pa.types.is_date64(values.type):
        values = values.cast(pa.date32(), safe=False)
    simple = pa.types.is_boolean(values.type) or pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    return values if simple or pa.types.is_date32(values.type) else _objects(rows.column(values))


def joined(chunks: Sequence[Any]) -> Any:
    """Several Arrow arrays as one; short texts have an end at two gigabytes, so they become long ones before."""
    if len(chunks) == 1:
        return chunks[0]
    if is_text(chunks[0].type):
        chunks = [chunk.cast(pa.large_string()) for chunk in chunks]
    return pa.concat_arrays(chunks)


def _readable(texts: Any) -> Column:
    """A file may hold bytes that are no text where it declares texts: then they go cell by cell."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return rows.column(texts)
    return texts.cast(pa.large_string()) if texts.type == pa.string_view() else texts


def _from_numpy(values: npt.NDArray[Any]) -> Column:
    if values.dtype.kind in "biuf":
        return values
    return values if values.ndim == 2 else _as_texts(_objects(values))


def _as_texts(entries: npt.NDArray[Any]) -> Column:
    """Objects that are texts or missing, all of them, as Arrow's texts, which go the fast way to the same values."""
    texts = len(entries) > FEW and all(entry is None or type(entry) in (str, float) for entry in entries[:100])
    if not texts:  # a guess that spares the time
        return entries
    try:
        found = pa.array(entries, from_pandas=True)
        found = joined(found.chunks) if is_chunked(found) else found
    except Exception:  # noqa: BLE001  whatever it cannot take stays as it is
        return entries
    return found if is_text(found.type) else entries


def _objects(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Python's own values; an instant that Python does not have is its text."""
    if values.dtype.kind == "O":
        return values
    if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] in rows.FINER:
        values = values.astype(f"{values.dtype.kind}8[us]")
    listed = values.tolist()
    if values.dtype.kind in "mM":
        listed = [rows.moment(values[place]) if isinstance(cell, int) else cell for place, cell in enumerate(listed)]
    return rows.column(listed)


def of_text(cell: Any) -> bool:
    """By type: an object may say anything of its class."""
    return issubclass(type(cell), str)


def number(cell: Any) -> float:
    """A cell as a number; NaN if it is none."""
    if of_text(cell):
        text = str.__str__(cell)  # of a subclass the text, not what it says of itself
        found = float(text) if NUMBER.match(text) else math.nan
        return found if math.isfinite(found) else math.nan
    return float(rows.numbers_of(rows.column([cell]))[0])


def truth(cell: Any, words: Mapping[str, float] = WORDS) -> float:
    """A cell as 1 or 0; NaN if it is neither: a number other than 0 is true."""
    found = math.nan
    if of_text(cell):
        found = words.get(str.__str__(cell).strip(" \t").lower(), math.nan)
    found = number(cell) if math.isnan(found) else found
    return found if math.isnan(found) else float(found != 0)


def value(cell: Any, kind: Kind) -> Any:
    """A cell as the Python value that its column is declared to hold; None if it is missing."""
    try:
        return _value(cell, kind)
    except Exception:  # noqa: BLE001  [cells.1]: whatever a cell is, it does not raise
        return None


def _python(cell: Any) -> Any:
    """A cell as Python has it, and as it is read in a column of its own type: what it says of itself does not count."""
    return str.__str__(cell) if of_text(cell) else cell if isinstance(cell, np.ndarray) else rows.as_python(cell)


def _value(cell: Any, kind: Kind) -> Any:
    cell = _python(cell)
    if rows.key(cell) is None:
        return None
    if kind == "boolean":
        found = truth(cell, SHORT)
        return None if math.isnan(found) else found != 0
    if kind in ("number", "integer"):
        if isinstance(cell, str) and kind == "integer" and WHOLE.match(cell):
            return int(cell)
        found = number(cell)
        if math.isnan(found):
            return None
        return cell if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else found
    if kind == "date":
        return _date(cell) if isinstance(cell, str) else cell if isinstance(cell, datetime.date) else None
    shown = kind in ("text", "category") and isinstance(cell, int | float | Decimal | datetime.date)
    return str(cell) if shown else cell


def _date(text: str) -> datetime.date | str:
    """A date or an instant as the international standard writes them; an instant beyond Python's years is its text."""
    try:
        return datetime.date.fromisoformat(text) if len(text) <= 10 else datetime.datetime.fromisoformat(text)
    except ValueError:
        if re.match(r"-?[0-9]{5,}-[0-9]{2}", text):
            return text
        raise


def numbers(column: Column, kind: Kind, name: str) -> Floats:
    """A column as floats. One that is declared to hold texts or dates is refused, whatever it holds. [cells.1]"""
    if kind in ("text", "category", "date"):
        raise BadInput(f"column {name!r} is declared as {kind}; numbers are needed; declare it by types= or convert it")
    if kind == "boolean":
        return truths(column, kind, name)  # of a file "True" and "yes" are 1
    if not is_arrow(column):
        return _with_texts(rows.numbers_of(column), column, number)
    if is_text(column.type):
        return _numbers_of_texts(column)
    if pa.types.is_date32(column.type):
        return np.full(len(column), math.nan)
    cast = column if column.type == pa.float64() else column.cast(pa.float64(), safe=False)
    floats: Floats = unpacked(cast, math.nan)
    return floats


def _with_texts(floats: Floats, entries: npt.NDArray[Any], reading: Callable[[str], float]) -> Floats:
    """Numbers among objects, and what their texts say."""
    if entries.dtype.kind != "O":
        return floats
    if entries.ndim == 2:
        return np.column_stack([_with_texts(floats[:, at], entries[:, at], reading) for at in range(floats.shape[1])])
    for place in (place for place, cell in enumerate(entries) if of_text(cell)):
        floats[place] = reading(entries[place])
    return floats


def _numbers_of_texts(texts: Any) -> Floats:
    """[cells.1]"""
    found = _cast(texts)
    if found is None:
        good = pc.match_substring_regex(texts, GRAMMAR)
        kept = pc.if_else(good, texts, pa.scalar(None, texts.type))
        found = _cast(pc.utf8_ltrim(pc.utf8_trim(kept, " \t"), "+"))
    if found is None:
        return np.array([number(text) for text in texts.to_pylist()], dtype=np.float64)
    finite = np.isfinite(found)
    return found if finite.all() else np.where(finite, found, math.nan)


def _cast(texts: Any) -> Floats | None:
    try:
        floats: Floats = unpacked(texts.cast(pa.float64()), math.nan)
    except pa.ArrowInvalid:
        return None
    return floats


def truths(column: Column, kind: Kind, name: str) -> Floats:
    """A column as 1, 0 and NaN. [cells.1]"""
    if kind == "date":
        raise BadInput(f"column {name!r} is declared as date; truth values are needed; convert it")
    words = SHORT if kind == "boolean" else WORDS
    if is_arrow(column) and not is_text(column.type):
        return _truths_of(numbers(column, "unknown", name))
    if not is_arrow(column):
        return _with_texts(_truths_of(rows.numbers_of(column)), column, partial(truth, words=words))
    codes, distinct = _distinct(column)
    return np.array([*(truth(cell, words) for cell in distinct), math.nan], dtype=np.float64)[codes]


def _truths_of(floats: Floats) -> Floats:
    return np.where(np.isnan(floats), math.nan, (floats != 0).astype(np.float64))


def keys(column: Column, kind: Kind) -> tuple[Codes, npt.NDArray[Any]]:
    """A column as codes into an array of values, whose last is None and stands for what is missing. [cells.1]

    Different codes may stand for equal values.
    """
    codes, distinct = _distinct(column)
    if (
        kind in ("number", "integer", "unknown") and not is_arrow(column) and column.dtype in PLAIN
    ):  # as `value` has each of them
        found = [None if cell != cell else cell for cell in distinct.tolist()]  # noqa: PLR0124  not a number
        return codes, rows.column([*found, None])
    return codes, rows.column([*(value(cell, kind) for cell in distinct), None])


def _distinct(column: Column) -> tuple[Codes, npt.NDArray[Any]]:
    """Codes of the cells and the distinct cells; -1 is Arrow's null."""
    if not is_arrow(column):
        if column.dtype == object:
            return _by_text(column)
        if column.dtype.kind not in "biufU":
            return np.arange(len(column)), column
        values, first, inverse = np.unique(column, return_index=True, return_inverse=True)
        order = np.argsort(first)  # by first appearance, as Arrow has them
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place[inverse], _objects(values[order])
    encoded = column.dictionary_encode()
    codes: Codes = unpacked(encoded.indices, -1).astype(np.int64)
    return codes, _objects(_entries(encoded.dictionary))


def _by_text(column: Column) -> tuple[Codes, npt.NDArray[Any]]:
    """Equal texts, of which a column mostly has few, share a code; whatever else a cell is has its own."""
    known: dict[str, int] = {}
    codes, first = np.empty(len(column), dtype=np.int64), list[int]()
    for place, cell in enumerate(column):
        code = known.setdefault(cell, len(first)) if type(cell) is str else len(first)
        if code == len(first):
            first.append(place)
        codes[place] = code
    return codes, column[np.array(first, dtype=np.int64)]


def _entries(column: Any) -> npt.NDArray[Any]:
    """The entries of an array of Arrow; of texts and numbers without numpy's way to Arrow, which imports pandas."""
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return unpacked(column, math.nan)
    return rows.column(column.to_pylist() if is_text(column.type) else column)


def owners(columns: Sequence[Column], kind: Kind) -> tuple[Codes, int]:
    """One code for each person, in order of first appearance over all pieces, -1 for none; and how many there are.

    Two rows are of one person if their ids have the same `rows.key`. Within a column of one of Arrow's simple types,
    read as such, different cells have different keys (but for the two zeros, and moments within a microsecond), so
    Arrow's own hashing will do.
    """
    arrow = bool(columns) and all(is_arrow(column) and getattr(column.type, "unit", None) != "ns" for column in columns)
    if arrow and kind in ("unknown", "category", kind_of(columns[0].type)):
        encoded = joined([same_zero(column) for column in columns]).dictionary_encode()
        return unpacked(encoded.indices, -1).astype(np.int64), len(encoded.dictionary)
    seen: dict[Any, int] = {}
    found = []
    for column in columns:
        codes, distinct = keys(same_zero(column), kind)
        canonical = [rows.key(cell) for cell in distinct]
        local = np.array([-1 if key is None else seen.setdefault(key, len(seen)) for key in canonical], dtype=np.int64)
        found.append(local[codes])
    return (np.concatenate(found) if found else np.empty(0, dtype=np.int64)), len(seen)


def owner_names(columns: Sequence[Column], kind: Kind) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Each row's person by id, which nobody else's row changes, and which rows have one. The people of `owners`."""
    whole = bool(columns) and all(is_arrow(column) and pa.types.is_integer(column.type) for column in columns)
    if whole and kind in ("integer", "number", "unknown"):  # as their own type has them
        ids = joined(columns)
        return ids.fill_null(0).to_numpy(), ids.is_valid().to_numpy(zero_copy_only=False)
    found, there = [np.empty(0, dtype=object)], [np.empty(0, dtype=np.bool_)]
    for column in columns:
        codes, distinct = keys(same_zero(column), kind)
        found.append(distinct[codes])
        there.append(np.array([rows.key(cell) is not None for cell in distinct], dtype=np.bool_)[codes])
    return np.concatenate(found), np.concatenate(there)


def same_zero(column: Any) -> Any:
    """Floats with one zero, and none that is no number."""
    if not is_arrow(column):
        return column + 0.0 if column.dtype.kind == "f" else column
    if not pa.types.is_floating(column.type):
        return column
    return pa.array(unpacked(column.cast(pa.float64()), math.nan) + 0.0, from_pandas=True)


READERS: Final[dict[str, Callable[[Column, Kind, str], Floats]]] = {"number": numbers, "boolean": truths}
