"""Silence around other people's code: what it prints, logs or warns of may depend on somebody's row."""

import contextlib
import ctypes
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def silence() -> Iterator[list[warnings.WarningMessage]]:
    """Nothing of what happens inside is shown; warnings are handed over, for some of them mean failure."""
    level = logging.root.manager.disable
    logging.disable(sys.maxsize)  # whatever level somebody made up
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(record=True) as seen,
        ):
            warnings.simplefilter("always")
            yield seen
    finally:
        logging.disable(level)


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """Also what goes past Python's streams to the process's own, by compiled code or os.write, is shown nowhere."""
    try:
        kept = {stream: os.dup(stream) for stream in (1, 2)}
    except OSError:  # there are none to write to
        yield
        return
    try:
        _flush()
        _to_nothing(1, 2)
        yield
    finally:
        _flush()  # what waits in a buffer must not come later
        for stream, copy in kept.items():
            os.dup2(copy, stream)
            os.close(copy)


def _flush() -> None:
    for file in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            file.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).fflush(None)  # the buffers of C


def _to_nothing(*streams: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nothing, stream)
    if nothing not in streams:
        os.close(nothing)
