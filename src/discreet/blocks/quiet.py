"""Silence around other people's code: what it prints, logs or warns of may depend on somebody's row."""

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def silence() -> Iterator[list[warnings.WarningMessage]]:
    """Nothing of what happens inside is shown; warnings are handed over, for some of them mean failure."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
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


def mute() -> None:
    """Point this process's standard streams at nothing, for good: also what compiled code writes."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    if nothing > 2:
        os.close(nothing)
