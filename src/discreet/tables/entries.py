"""What people hand in, as arrays. Shapes and declared types may be refused; values never are.

Promise
    [entries.1] Each entry is turned into a truth value, a number or a key by a fixed function of that entry alone,
         which never raises nor warns: what cannot be understood becomes the public default (no, not-a-number, missing).
    [entries.2] How a column is read, and whether it is refused, is decided by its declared type, never by what it
         holds: one missing or odd entry changes the reading of no other.

What counts as a declared type
    Declared: the types of a schema that stands beside the entries and stays when one of them goes missing. These are
    the schemas of Arrow, Parquet and databases, those types of pandas that nobody gets unasked (nullable numbers and
    truth values, "string", Arrow's own), and every type of numpy's, pandas' and polars' that says texts or dates: an
    array of texts, a category of them, instants. Where numbers are needed texts are refused; dates are dates.
    Not declared: lists, objects, and the types of numbers and truth values that numpy, pandas or polars read off the
    entries. One missing entry among whole numbers makes floats of them, one among truth values makes objects; polars
    keeps its type where an entry is missing, but one 0.5 in a list, or among the first lines of a file, makes floats of
    all whole numbers, and nothing tells a type that was found from one that was given. Truth values, whole numbers,
    floats and objects are read entry by entry, by the same function, and nothing else follows from which of them it
    is. The array of whole numbers that a caller made is no exception: its neighbour with a missing entry cannot be one.
Needs
    That a column of numpy's, pandas' or polars' is one of texts or dates is public. np.array([1, "x"]) and read_csv
    without dtype= choose it by the entries, as pandas chooses its objects: where one entry may decide it, say dtype=.
"""

import datetime
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.privacy.guarantee import Neighbours
from discreet.tables.streams import Numbers, Stream, added, check_held, fold, length

MISSING: Final = None
NUMBERS: Final = (float, int, Real, Decimal, np.bool_)
COMPLEX: Final = (complex, np.complexfloating)
FINER: Final = ("ns", "ps", "fs", "as")  # units of instants beside Python's microseconds
MIDNIGHT: Final = datetime.time()
LONG: Final = 2**2048  # whole numbers beyond it are shown in hexadecimal: Python refuses to write very long decimals


def long_column(rows: Any) -> npt.NDArray[Any] | Stream:
    """One column for a statistic that reads streams too."""
    return rows if isinstance(rows, Stream) else column(rows)


def long_numbers(rows: Any) -> Numbers:
    """One column of numbers for a statistic that reads streams too. [entries.1]"""
    if type(rows) is np.ndarray and rows.ndim == 1 and rows.dtype == np.float64:
        return rows
    return rows if isinstance(rows, Stream) else numbers(rows)


def column(rows: Any) -> npt.NDArray[Any]:
    """One column as a one-dimensional array; lists keep their entries as they are, whatever they are."""
    check_held(rows)
    if isinstance(rows, str | bytes | dict) or not isinstance(rows, Iterable):
        raise BadInput(f"the data are of type {type(rows).__name__}; give one column: a list, an array or a series")
    if isinstance(rows, np.ma.MaskedArray):  # np.asarray would show what the mask hides
        return _unmasked(rows)
    if isinstance(rows, np.ndarray):
        return _checked(np.asarray(rows))
    return _declared(rows) if hasattr(rows, "__array__") else _objects(rows)


def _checked(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Real and one-dimensional; the message does not tell the number of rows, which may be private."""
    if values.ndim != 1:
        raise BadInput(f"the data have the shape of {values.ndim} dimensions; give one column, for example table[:, 0]")
    if values.dtype.kind == "S":  # bytes that are no UTF-8 read as U+FFFD
        return np.char.decode(values, "utf-8", "replace")
    return numbers_of(values) if values.dtype.kind == "c" or values.dtype.type is np.longdouble else values


def _objects(entries: Iterable[Any]) -> npt.NDArray[Any]:
    """Entries as they are: numpy left alone would unpack those that are lists themselves."""
    listed = list(entries)
    values = np.empty(len(listed), dtype=object)
    for index, entry in enumerate(listed):
        values[index] = entry
    return values


def _unmasked(rows: Any) -> npt.NDArray[Any]:
    """A masked array with None where the mask is."""
    data = _checked(np.asarray(rows.data))
    if data.dtype.kind not in "biufOUSmM":
        raise BadInput("the data are masked entries that are no numbers, texts or dates; give them without a mask")
    values = _objects(data) if data.dtype.kind in "mM" else data.astype(object)
    values[np.ma.getmaskarray(rows)] = MISSING
    return values


def _declared(rows: Any) -> npt.NDArray[Any]:
    """A column of pandas, polars, Arrow and their like, read as its declared type says. [entries.2]

    Left to numpy, one missing entry may turn whole numbers into floats (and round the large ones), dates into objects
    and texts into others; the null of a dictionary may read as its last category; and an entry may raise. The type is
    read off the column without its rows. Numbers and dates go to numpy if they arrive there as declared, else entry by
    entry, where each keeps its value; everything else goes entry by entry.
    """
    if hasattr(getattr(rows, "type", None), "index_type"):  # Arrow's dictionaries
        rows = rows.cast(rows.type.value_type)
    bare = _array(_slice(rows, 0, 0))
    if bare is not None and _checked(bare).dtype.kind in "biufmM":
        values = _array(rows)
        if values is not None and values.dtype == bare.dtype:
            return _checked(values)
    return _objects(_entries(rows))


def _array(rows: Any) -> npt.NDArray[Any] | None:
    """As numpy has it; None where it cannot."""
    try:
        return np.asarray(rows)
    except Exception:  # noqa: BLE001  [entries.1]
        return None


def _slice(rows: Any, start: int, stop: int) -> Any:
    """Rows by place: pandas' own brackets would look for labels."""
    return getattr(rows, "iloc", rows)[start:stop]


def _entries(rows: Any) -> list[Any]:
    """A column's entries; where some cannot be had (a year beyond 9999, a text that is none) they are missing.
    [entries.1]"""
    try:
        return _listed(rows)
    except Exception:  # noqa: BLE001  [entries.1]: then one by one, by the same function
        return [_entry(_slice(rows, place, place + 1)) for place in range(len(rows))]


def _entry(row: Any) -> Any:
    try:
        return _listed(row)[0]
    except Exception:  # noqa: BLE001  [entries.1]
        return MISSING


def _listed(rows: Any) -> list[Any]:
    if hasattr(rows, "to_pylist"):  # Arrow
        return list(rows.to_pylist())
    if hasattr(rows, "astype"):  # pandas
        return list(np.asarray(rows.astype(object)))
    return list(rows.to_list() if hasattr(rows, "to_list") else rows)  # polars, and others


def by_name(rows: Any, *names: str) -> Any:
    """Rows of these columns, by name: a stream of such is left as it is. Of a list, what is no tuple of so many entries
    has none."""
    many = len(names)
    if isinstance(rows, Stream):
        return rows
    if isinstance(rows, Mapping):
        parts = [column(values) for values in rows.values()]
    elif isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == many:
        parts = [column(rows[:, place]) for place in range(many)]
    else:
        listed = [row if isinstance(row, list | tuple) and len(row) == many else (None,) * many for row in column(rows)]
        parts = [column([row[place] for row in listed]) for place in range(many)]
    return dict(zip(names, parts, strict=True))


def public_size(values: Any, neighbours: Neighbours) -> int | None:
    """The number of entries where it is public, else None; an empty table is refused only where that is public."""
    if not neighbours.size_is_public:
        return None
    if not (many := length(values) if isinstance(values, Mapping) else len(values)):
        raise BadInput("the data are empty (0 rows); a statistic needs at least 1 row")
    return many


def truths(rows: Any) -> npt.NDArray[np.bool_]:
    """Each entry as yes or no: true, or 1; missing, any other number and anything else is no. [entries.1]"""
    values = column(rows)
    if values.dtype.kind == "b":
        return values.astype(np.bool_, copy=False)
    numbers = numbers_of(values)
    yes: npt.NDArray[np.bool_] = numbers == 1
    return yes


def how_many(values: npt.NDArray[Any] | Stream) -> int:
    """How many entries are yes."""
    return fold(_yes, added, values)


def _yes(given: Iterator[npt.NDArray[Any]]) -> int:
    return sum(int(np.count_nonzero(truths(piece))) for piece in given)


def numbers(rows: Any) -> npt.NDArray[np.float64]:
    """Each entry as a float; what is no number is NaN. [entries.1]"""
    return numbers_of(column(rows))


def numbers_of(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """An array of any shape as floats; what is no number is NaN, of whatever type the array is. [entries.1]
    [entries.2]"""
    with np.errstate(all="ignore"):  # numpy would warn of an entry that is too large
        if values.dtype.kind in "biuf":
            return values.astype(np.float64, copy=False)
        if values.dtype.kind == "c":  # one such number makes all entries complex
            return np.where(values.imag == 0, values.real, math.nan).astype(np.float64)
        if values.dtype.kind != "O":
            return np.full(values.shape, math.nan)
        return np.array([number(entry) for entry in values.flat], dtype=np.float64).reshape(values.shape)


def number(entry: Any) -> float:
    """By type first: whatever else can be turned into a float might warn, or run somebody's code. [entries.1]"""
    try:
        if isinstance(entry, COMPLEX):  # one such number makes all entries of an array complex
            return float(entry.real) if entry.imag == 0 else math.nan
        known = isinstance(entry, NUMBERS) and not isinstance(entry, np.timedelta64)  # to numpy a whole number too
        return float(entry) if known else math.nan
    except Exception:  # noqa: BLE001  [entries.1]: whatever an entry is, it does not raise
        return math.nan


def key(entry: Any) -> Hashable:
    """A canonical key: equal numbers share it, whole ones as int; truth values, texts and numbers stay apart.
    [entries.1]

    Plain equality would not do: 1, 1.0 and True are equal, and which of them names the bin would depend on their order.
    Dates count microseconds, and a day is its midnight: the unit of an array is that of its finest entry.
    """
    try:
        return _key(entry)
    except Exception:  # noqa: BLE001  [entries.1]
        return MISSING


def _key(entry: Any) -> Hashable:
    entry = as_python(entry)
    if isinstance(entry, str):
        return str.__str__(entry)  # of a subclass the text, not what it says of itself
    if isinstance(entry, bool):
        return (bool, entry)
    if isinstance(entry, int):
        whole = int.__int__(entry)
        return whole if -LONG < whole < LONG else ("int", hex(whole))
    if isinstance(entry, float):
        return _key_of_number(float.__float__(entry))
    if isinstance(entry, complex):  # as `number` has it
        return _key_of_number(number(entry))
    if isinstance(entry, Decimal | Fraction):
        return _key_of_number(entry)
    if isinstance(entry, tuple | list):
        return (tuple if isinstance(entry, tuple) else list, tuple(_key(part) for part in entry))
    if isinstance(entry, datetime.date | datetime.timedelta):
        return _key_of_moment(entry)
    if hasattr(type(entry), "closed_left"):
        return _key_of_interval(entry)
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):  # pandas' missing entries
        return MISSING
    text = repr(entry) if isinstance(entry, bytes) else str(entry)
    return (type(entry).__name__, str.__str__(text))


def _key_of_number(number: float | Decimal | Fraction) -> Hashable:
    if number != number:  # noqa: PLR0124  not a number
        return MISSING
    whole = int(number) if -LONG < number < LONG else None
    if whole == number:
        return whole
    return (float, number) if isinstance(number, float) else _key_of_number(float(number))


def _key_of_moment(entry: datetime.date | datetime.timedelta) -> Hashable:
    """Of a subclass too what it is, not what it says of itself."""
    if isinstance(entry, datetime.timedelta):
        return ("timedelta", datetime.timedelta.__str__(entry))
    if not isinstance(entry, datetime.datetime):
        return ("date", datetime.date.isoformat(entry))
    if entry.tzinfo is None and datetime.datetime.time(entry) == MIDNIGHT:
        return ("date", datetime.date.isoformat(entry))
    return ("datetime", datetime.datetime.isoformat(entry, " "))


def _key_of_interval(entry: Any) -> Hashable:
    """An interval of pandas': its ends are floats beside a missing one, else as they came."""
    ends = ", ".join(str(name(_key(end))) for end in (entry.left, entry.right))
    return ("Interval", f"{'[' if entry.closed_left else '('}{ends}{']' if entry.closed_right else ')'}")


def moment(entry: np.datetime64 | np.timedelta64) -> Any:
    """An instant or a duration of numpy's as Python's own, in microseconds; one that Python does not have as a text."""
    if np.datetime_data(entry.dtype)[0] in FINER:
        entry = entry.astype(f"{entry.dtype.kind}8[us]")
    plain = entry.item()
    if not isinstance(plain, int):
        return plain
    if isinstance(entry, np.timedelta64):
        return f"{entry}"
    return f"{entry.astype('M8[s]')}".removesuffix("T00:00:00")  # as the days of a declared type


def as_python(entry: Any) -> Any:
    """What is numpy's or pandas' as Python's own, where Python has it."""
    if hasattr(type(entry), "to_datetime64"):  # pandas makes these of dates beside an odd entry
        entry = entry.to_datetime64() if entry.tzinfo is None else entry.to_pydatetime(warn=False)
    elif hasattr(type(entry), "to_timedelta64"):
        entry = entry.to_timedelta64()
    if isinstance(entry, np.datetime64 | np.timedelta64):
        return moment(entry)
    if isinstance(entry, np.ndarray):
        return entry.tolist()
    if isinstance(entry, np.generic):
        return float(entry) if isinstance(entry, np.longdouble) else entry.item()
    return entry


def name(canonical: Hashable) -> Any:
    """A canonical key as the entry that it stands for."""
    if not isinstance(canonical, tuple):
        return canonical
    kind, entry = canonical
    return tuple(name(part) for part in entry) if kind is tuple else entry
