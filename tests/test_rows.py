"""What people hand in."""

import datetime
import math
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.worlds import HOSTILE, THORNS
from discreet.errors import BadInput
from discreet.tables.entries import column, key, long_numbers, name, numbers, truths
from discreet.tables.streams import Stream, check_held, each

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.integers()),
    st.just(object()),
)


@pytest.mark.claim("entries.1")
@given(st.lists(anything))
def test_no_entry_raises(entries: list[Any]) -> None:
    assert len(truths(entries)) == len(numbers(entries)) == len(column(entries)) == len(entries)
    for entry in entries:
        hash(key(entry))


@pytest.mark.claim("entries.1")
@given(st.lists(anything, min_size=1), anything)
def test_an_entry_is_read_by_itself(entries: list[Any], other: Any) -> None:
    changed = [other, *entries[1:]]
    assert np.array_equal(numbers(entries)[1:], numbers(changed)[1:], equal_nan=True)
    assert np.array_equal(truths(entries)[1:], truths(changed)[1:])


@pytest.mark.claim("entries.1")
def test_equal_but_different_entries_have_different_keys() -> None:
    assert len({key(1), key(1.5), key(True), key("1"), key(None)}) == 5
    assert repr(key(1)) == repr(key(1.0)) == repr(key(np.float32(1)))  # whole columns turn into floats by one null
    assert key(math.nan) == key(float("nan")) == key(None) == key(np.float64("nan"))
    assert key(0.0) == key(-0.0)
    assert repr(name(key(-0.0))) == "0"
    assert key(np.int64(3)) == key(3)
    for entry in (*HOSTILE, *THORNS):
        hash(key(entry))


def test_containers() -> None:
    for rows in (
        [1, 0],
        (1, 0),
        np.array([1, 0]),
        pa.array([1, 0]),
        pa.chunked_array([[1], [0]]),
        range(2),
        {1: 0}.items(),
    ):
        assert len(column(rows)) in (1, 2)
    assert numbers(pa.array([1.5, None])).tolist()[0] == 1.5
    assert math.isnan(numbers(pa.array([1.5, None]))[1])
    coded = pa.array(["a", None, "b", "a"]).dictionary_encode()
    assert column(coded).tolist() == ["a", None, "b", "a"]  # numpy would make the null a "b"
    assert column(pa.chunked_array([coded, coded])).tolist() == ["a", None, "b", "a"] * 2
    large = 2**53 + 1
    assert column(pa.array([large, None])).tolist()[0] == column(pa.array([large, 1])).tolist()[0] == large
    masked = np.ma.MaskedArray([1.0, 99.0], mask=[False, True])
    assert math.isnan(numbers(masked)[1])
    assert column([[1, 2], [3, 4]]).shape == (2,)


def test_declared_types_and_shapes_are_refused() -> None:
    for rows in ("abc", b"abc", {"a": 1}, 5, None):
        with pytest.raises(BadInput):
            column(rows)
    with pytest.raises(BadInput, match="shape"):
        column(np.zeros((2, 2)))


@pytest.mark.claim("entries.2")
def test_an_array_of_no_numbers_is_missing_throughout() -> None:
    """Where a mechanism is given one; a function refuses it by its type."""
    for rows in (np.array(["a"]), np.array([b"a"]), np.array(["2020-01-01"], dtype="datetime64[D]")):
        assert np.isnan(numbers(rows)).all()
        assert np.isnan(numbers(rows.astype(object))).all()
    assert column(np.array([b"a", b"\xff"])).tolist() == ["a", "\ufffd"]
    assert numbers(np.array([1, 2, 1j]))[:2].tolist() == [1.0, 2.0]
    assert math.isnan(numbers(np.array([1, 2, 1j]))[2])


@pytest.mark.claim("entries.1")
@pytest.mark.claim("entries.2")
def test_a_complex_number_of_another_changes_none() -> None:
    """numpy makes all entries complex beside one of them, and pandas passes them on as objects."""
    for entries in (np.array([1, 2, 1j]), np.array([1, 2, 1j]).astype(object), [1, 2, 1j], [1, np.complex64(2), 1j]):
        assert numbers(entries)[:2].tolist() == [1.0, 2.0]
        assert [key(entry) for entry in column(entries)] == [1, 2, None]


DAY, NOON = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)  # noqa: DTZ001
LARGE = 2**53 + 1
ARROW: list[tuple[Any, list[Any]]] = [
    (pa.int64(), [LARGE, 1]),
    (pa.uint64(), [2**64 - 1, 0]),
    (pa.float16(), [np.float16(1.5), np.float16(0)]),
    (pa.bool_(), [True, False]),
    (pa.string(), ["a", "b"]),
    (pa.binary(), [b"a", b"b"]),
    (pa.dictionary(pa.int8(), pa.int64()), [LARGE, 3]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
    (pa.timestamp("ns"), [1577836800000000001, 5]),
    (pa.timestamp("us"), [NOON, NOON]),
    (pa.date32(), [10**7, 5]),  # the year 29349
    (pa.date64(), [NOON, NOON]),
    (pa.time64("ns"), [1, 2]),  # Arrow's own conversion raises on the value 1
    (pa.duration("s"), [1, 2]),
    (pa.decimal128(30, 2), [Decimal("1.00"), Decimal(LARGE)]),
    (pa.list_(pa.int64()), [[1, 2], [3]]),
    (pa.list_(pa.int64(), 2), [[1, 2], [3, 4]]),
    (pa.struct([("a", pa.int64())]), [{"a": 1}, {"a": 2}]),
]


def read(rows: Any) -> list[Any]:
    """The keys of the first two entries, and their numbers or the error in their place."""
    try:
        found = [repr(number) for number in numbers(rows)[:2].tolist()]
    except BadInput as error:
        found = [str(error)]
    return [*(repr(key(entry)) for entry in column(rows)[:2]), *found]


@pytest.mark.claim("entries.2")
@pytest.mark.parametrize(("kind", "entries"), ARROW, ids=[str(kind) for kind, _ in ARROW])
def test_a_null_changes_the_reading_of_no_other_entry(kind: Any, entries: list[Any]) -> None:
    without, with_null = pa.array(entries, kind), pa.array([*entries, None], kind)
    assert read(without) == read(with_null)
    assert read(pa.chunked_array([without])) == read(pa.chunked_array([with_null]))
    assert key(column(with_null)[2]) is None


class Nullable:
    """Like a nullable column of pandas: whole numbers become floats in numpy's hands when one is missing."""

    def __init__(self, entries: list[int | None]) -> None:
        self._entries = entries

    def __iter__(self) -> Any:
        return iter(self._entries)

    def __getitem__(self, places: slice) -> "Nullable":
        return Nullable(self._entries[places])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._entries, dtype=float if None in self._entries else np.int64)

    def astype(self, dtype: Any) -> Any:
        return np.array(self._entries, dtype=dtype)


@pytest.mark.claim("entries.2")
def test_whole_numbers_stay_whole_beside_a_missing_one() -> None:
    assert np.asarray(Nullable([LARGE, None]))[0] == LARGE - 1
    assert column(Nullable([LARGE, None])).tolist() == [LARGE, None]
    assert column(Nullable([LARGE, 3])).tolist() == [LARGE, 3]


@pytest.mark.claim("entries.1")
def test_an_entry_that_a_library_cannot_read_is_missing() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 2], dtype=np.int32).tobytes())
    no_text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"\xffa")])
    assert column(no_text).tolist() == [None, "a"]
    far = pa.array([[10**7], [0]], pa.list_(pa.date32()))
    assert column(far).tolist() == [None, [datetime.date(1970, 1, 1)]]


@pytest.mark.claim("entries.1")
def test_no_entry_warns() -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert numbers(np.array([np.longdouble("1e4000")])).tolist() == [math.inf]
        assert math.isnan(numbers(np.array([0x7FA00000], dtype=np.uint32).view(np.float32))[0])  # a signalling NaN
        assert np.isnan(numbers([np.complex128(1j), np.array([1.0]), 1j])).all()
        for entry in (*HOSTILE, *THORNS):
            truths([entry])
            key(entry)


@pytest.mark.claim("entries.1")
def test_entries_that_misbehave() -> None:
    class Whole(int):
        def __int__(self) -> int:
            raise ValueError("secret")

        __float__ = __index__ = __int__

    class Proxy:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise ValueError("secret")

    assert key(Whole(3)) == 3
    assert np.isnan(numbers([Whole(3), Proxy()])).all()
    assert key(Proxy()) is None
    assert type(key(np.str_("a"))) is str


def test_canonical_keys() -> None:
    assert key(Decimal("1.00")) == key(Fraction(1)) == key(np.longdouble(1)) == 1
    assert key(Decimal("0.10")) == key(Decimal("0.1")) == key(0.1)
    assert key(Decimal("sNaN")) == key(Decimal("NaN")) == key(np.datetime64("NaT", "s")) is None
    assert repr(key(np.longdouble("-0.0"))) == repr(key(Decimal("-1e-999999"))) == "0"
    assert key(Decimal(LARGE)) == LARGE
    assert key((1, 2.0)) == key((1.0, 2))
    assert name(key((1, ("a", True)))) == (1, ("a", True))
    assert key(np.array([1, 2])) == key([1, 2])
    assert key(np.datetime64(NOON, "ns")) == key(NOON)
    assert key(np.datetime64(DAY)) == key(DAY)
    assert len(str(name(key(10**5000)))) > 4000  # Python would not write it in decimals


def test_what_a_mask_hides_is_missing() -> None:
    for entries in ([1.0, 99.0], [1, 99], ["a", "b"]):
        assert column(np.ma.MaskedArray(entries, mask=[False, True])).tolist() == [entries[0], None]
    for unit in ("us", "ns"):  # of an array of objects they are not refused, and which it is one entry decides
        dates = column(np.ma.MaskedArray([NOON, NOON], mask=[False, True], dtype=f"datetime64[{unit}]"))
        assert [key(entry) for entry in dates] == [key(NOON), None]
    with pytest.raises(BadInput, match="mask"):
        column(np.ma.MaskedArray([(1, 2)], dtype="i4,i4"))


def test_messages_tell_neither_how_many_nor_how_long() -> None:
    with pytest.raises(BadInput) as many:
        column(np.zeros((1234, 5)))
    assert "1234" not in str(many.value)


def test_streams_and_arrays_are_read_alike() -> None:
    values = np.arange(5.0)
    stream = Stream(5, lambda: iter([values[:2], values[2:].astype(np.float32), values[5:]]))
    assert long_numbers(stream) is stream
    assert long_numbers([1, None]).shape == (2,)  # type: ignore[union-attr]
    for rows in (values, stream):
        for _ in range(2):  # as often as they are asked
            assert np.array_equal(
                np.concatenate(list(each(np.negative, rows) if isinstance(rows, Stream) else [-rows])), -values
            )
    assert all(piece.dtype == np.float64 for piece in stream)
    check_held(values)
    for read in (check_held, column, numbers, truths, np.asarray):
        with pytest.raises(BadInput, match="needs the column in memory"):
            read(stream)
    for size in (4, 6):
        with pytest.raises(BadInput, match="changed while they were read"):
            list(Stream(size, lambda: iter([values])))
