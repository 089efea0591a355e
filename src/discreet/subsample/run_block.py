"""Silence around other people's code: what it prints, logs or warns of may depend on somebody's row.

One block: fit, correct for bias, and return a row of numbers or none. Nothing else leaves it.

Claims
    [run_block.1] Whatever happens (an exception of any kind, a warning of no convergence, a wrong shape, NaN) the row
          is a finite row of the declared width or all NaN, the public sign of "no estimate"; nothing is shown or
          raised.
    [run_block.2] The row is a function of the block's rows, the adapter and the block's number: random states are set
          from that number.

Bias correction, inside the block: "half" is 2 A - (A1 + A2) / 2 with the two halves of the block, "jackknife"
m A - (m - 1) mean of the A without one person. Both take away the part of the bias that shrinks like 1 / m.
"""

import contextlib
import ctypes
import io
import logging
import os
import random  # noqa: TID251  to fix other people's random states, not to draw
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import Fit
from discreet.subsample.returned import Shape


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


Correct = Literal["half", "jackknife", "firth"] | None  # "firth": subsample/block_fits.py, for all blocks at once
Floats = npt.NDArray[np.float64]
FAILURES: Final = ("ConvergenceWarning", "PerfectSeparationWarning", "HessianInversionWarning")


class OutOfTime(BaseException):
    """The block took longer than it may; not an Exception, so that few estimators catch it."""


def block_row(
    fit: Fit,
    shape: Shape,
    block: BlockTable,
    middle: int,
    *,
    number: int,
    correct: Correct = None,
    seconds: float | None = None,
) -> Floats:
    """The estimate of one block, or NaN. `middle` is where its second half begins."""
    failed = np.full(shape.width, np.nan)
    before = random.getstate(), np.random.get_state()  # noqa: TID251, NPY002  the caller's own
    with silence() as seen:
        try:
            random.seed(number)  # [run_block.2]
            np.random.seed(number % 2**32)  # noqa: TID251, NPY002  [run_block.2]
            with np.errstate(all="ignore"), _limit(seconds):
                row = corrected(fit, shape, block, middle, correct)
            if any(warning.category.__name__ in FAILURES for warning in seen):
                return failed  # [run_block.1]
        except BaseException:  # noqa: BLE001  [run_block.1]: SystemExit and KeyboardInterrupt too may come from the estimator
            return failed
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: TID251, NPY002
    return row if np.isfinite(row).all() else failed  # [run_block.1]


def corrected(fit: Fit, shape: Shape, block: BlockTable, middle: int, correct: Correct) -> Floats:
    """The row, with the bias correction asked for."""

    def row(part: BlockTable) -> Floats:
        return shape.row(fit.answer(part.x, part.y))

    whole = row(block)
    if correct == "half":
        parts = row(block.part(0, middle)), row(block.part(middle, block.rows))
        return np.asarray(2 * whole - (parts[0] + parts[1]) / 2)
    if correct == "jackknife":
        people = np.arange(block.rows) if block.people is None else block.people
        count = int(people.max()) + 1
        total = np.zeros_like(whole)
        for one in range(count):
            total += row(_without(block, people != one))
        return np.asarray(count * whole - (count - 1) * total / count)
    return whole


def _without(block: BlockTable, kept: npt.NDArray[np.bool_]) -> BlockTable:
    x = block.x.loc[kept].reset_index(drop=True) if hasattr(block.x, "loc") else block.x[kept]
    return BlockTable(x, None if block.y is None else block.y[kept])


@contextmanager
def passing_on_interrupts() -> Iterator[None]:
    """Ctrl-C ends the run, though a block takes the interrupt for its estimator's own failure."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = False

    def note(*_: Any) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def _limit(seconds: float | None) -> Iterator[None]:
    """Interrupt after so long, where signals can be had; compiled code that never returns is killed from outside."""
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    running = True

    def stop(*_: Any) -> None:
        if running:
            raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)  # again and again: the first may be caught
    try:
        try:
            yield
        finally:
            running = False
    finally:  # also if an alarm came just before that line: else the next would hit whoever runs then
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
