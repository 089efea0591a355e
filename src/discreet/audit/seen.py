"""Everything that can be seen of a run: the release to its last digit, or the exception; warnings, logs and prints.

Two runs are alike only if all of it is equal. Plain equality would be too coarse (1, 1.0 and True are equal, so are 0.0
and -0.0, and a fraction rounds to a float), and too fine (a NaN is not equal to itself, a function not to its twin).
"""

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

PLAIN = (type(None), bool, int, float, str, bytes)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: what left, the exception if there was one, and what was said on the side."""

    release: Any
    error: str | None
    said: tuple[str, ...]


def watch(run: Callable[[], Any], *, but: type[BaseException]) -> Seen:
    """All that a run shows; only an exception of type `but` is let through."""
    said: list[str] = []
    try:
        with _overhearing(said):
            release = run()
            shown = (trace(release), ADDRESS.sub("", f"{release.to_dict()}\n{release}"))
        return Seen(shown, None, tuple(said))
    except but:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it is, it must not depend on the data
        return Seen(None, in_words(error), tuple(said))


def in_words(error: BaseException | None) -> str:
    """An exception as a traceback shows it, with those that led to it."""
    told = []
    while error is not None:
        told.append(": ".join([type(error).__name__, str(error), *getattr(error, "__notes__", [])]))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return ", after ".join(told)


@contextmanager
def _overhearing(said: list[str]) -> Iterator[None]:
    """Collect warnings, log records and prints."""
    heard = _Ear(said)
    logging.getLogger().addHandler(heard)
    printed = io.StringIO()
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(printed), redirect_stderr(printed):
            warnings.simplefilter("always")
            try:
                yield
            finally:
                said += [f"{one.category.__name__}: {one.message}" for one in warned]
    finally:
        logging.getLogger().removeHandler(heard)
        said += [printed.getvalue()] if printed.getvalue() else []


class _Ear(logging.Handler):
    """Hears what reaches the root logger."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Note it down."""
        self._said.append(record.getMessage())


def trace(thing: Any, above: tuple[int, ...] = ()) -> Any:
    """A value as nested tuples of texts that are equal if, and only if, nobody can tell the values apart.

    >>> trace(0.0) == trace(-0.0), trace(1) == trace(1.0), trace([float("nan")]) == trace([float("nan")])
    (False, False, True)
    """
    kind = type(thing).__qualname__
    if type(thing) in PLAIN:
        return (kind, repr(thing))
    if id(thing) in above:
        return (kind, "itself")
    within = (*above, id(thing))
    match thing:
        case np.ndarray() if thing.dtype.kind != "O":
            # which of the many NaNs it is would be of the machine's making
            same = np.where(np.isnan(thing), np.nan, thing) if thing.dtype.kind in "fc" else thing
            return (kind, str(thing.dtype), thing.shape, same.tobytes())
        case np.ndarray():
            return (kind, thing.shape, tuple(trace(part, within) for part in thing.ravel()))
        case Mapping():
            return (kind, tuple((trace(key, within), trace(value, within)) for key, value in thing.items()))
        case list() | tuple():
            return (kind, tuple(trace(part, within) for part in thing))
        case set() | frozenset():
            return (kind, tuple(sorted(map(repr, (trace(part, within) for part in thing)))))
        case FunctionType():
            caught = [cell.cell_contents for cell in thing.__closure__ or () if cell != CellType()]
            return (thing.__qualname__, trace(caught, within), trace(thing.__defaults__, within))
        case MethodType():
            return (thing.__qualname__, trace(thing.__self__, within))
    state = {} if isinstance(thing, type) else _state(thing)
    return (kind, ADDRESS.sub("", repr(thing)) if isinstance(thing, PLAIN) or not state else "", trace(state, within))


def _state(thing: Any) -> dict[str, Any]:
    """What an object holds, by name."""
    held = {name: getattr(thing, name) for name in _slots(type(thing)) if hasattr(thing, name)}
    return held | dict(getattr(thing, "__dict__", {}))


def _slots(kind: type) -> list[str]:
    """The slots of a class and its bases, by the names that Python gives them."""
    found = []
    for base in kind.__mro__:
        listed = base.__dict__.get("__slots__", ())
        for name in (listed,) if isinstance(listed, str) else listed:
            hidden = name.startswith("__") and not name.endswith("__")
            found.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]
