"""What a worker sends back, as bytes that can make nothing but data.

Promise
    [messages.1] `received(sent(found))` equals `found`: numbers, text, bytes, lists, tuples, dictionaries, sets, dates,
          decimals, arrays of numpy and of Arrow. `received` calls nothing but the constructors of these types, whatever
          the bytes are; of other bytes it gives None, which says that a part failed.
Why
    [messages.1] A pickle runs the functions that it names. `_Reader` finds names in ALLOWED alone, and these make data.
    Arrays of Arrow are no pickles: they travel in Arrow's own format for streams. Any error of reading ends here, for
    it may quote what was read.
"""

import io
import pickle
from typing import Any, Final

from discreet.engines.retried import Done

_NUMPY: Final = {
    (f"numpy.{core}.{module}", name)
    for core in ("core", "_core")  # before numpy 2, and since
    for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))
}
ALLOWED: Final = frozenset(
    _NUMPY
    | {("numpy", "ndarray"), ("numpy", "dtype")}
    | {("builtins", name) for name in ("bytearray", "complex", "frozenset", "set")}
    | {("builtins", name) for name in ("bool", "float", "list", "tuple")}  # parts of keys: (bool, True) is no 1
    | {("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")}
    | {("collections", "Counter"), ("collections", "OrderedDict"), ("decimal", "Decimal")}
    | {(Done.__module__, Done.__name__), (__name__, "column")}
)


def sent(done: Done | None) -> bytes:
    """On a worker: what was found, as bytes."""
    buffer = io.BytesIO()
    _Writer(buffer, protocol=5).dump(done)
    return buffer.getvalue()


def received(raw: bytes) -> Done | None:
    """On the driver: what a worker found; None if it failed, or sent anything but data. [messages.1]"""
    try:
        found = _Reader(io.BytesIO(raw)).load()
    except Exception:  # noqa: BLE001  it may quote what was sent
        return None
    return found if isinstance(found, Done) else None


def column(raw: bytes, pieces: bool) -> Any:
    """An array of Arrow from Arrow's own format, in pieces or in one."""
    import pyarrow as pa  # noqa: TID251  as in _Writer

    with pa.ipc.open_stream(raw) as stream:
        found = stream.read_all().column(0)
    return found if pieces else pa.concat_arrays(found.chunks or [pa.array([], found.type)])


class _Writer(pickle.Pickler):
    """Pickles, but for arrays of Arrow."""

    def reducer_override(self, obj: Any) -> Any:
        """An array of Arrow as a call of `column`; anything else as always."""
        if not type(obj).__module__.startswith("pyarrow"):
            return NotImplemented
        import pyarrow as pa  # noqa: TID251  columns are read as arrays of Arrow

        if not isinstance(obj, pa.Array | pa.ChunkedArray):
            return NotImplemented
        table, sink = pa.table({"": obj}), pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return column, (sink.getvalue().to_pybytes(), isinstance(obj, pa.ChunkedArray))


class _Reader(pickle.Unpickler):
    """Reads what _Writer wrote, and calls nothing that is not in ALLOWED. [messages.1]"""

    def find_class(self, module: str, name: str) -> Any:
        """A constructor of data."""
        if (module, name) not in ALLOWED:  # [messages.1]
            raise pickle.UnpicklingError("not data")
        return super().find_class(module, name)
