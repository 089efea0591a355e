"""One block: fit, correct for bias, and return a row of numbers or none. Nothing else leaves it.

Claims
    [RB1] Whatever happens (an exception of any kind, a warning of no convergence, a wrong shape, NaN) the row is
          a finite row of the declared width or all NaN, the public sign of "no estimate"; nothing is shown or raised.
    [RB2] The row is a function of the block's rows, the adapter and the block's number: random states are set from that
          number.

Bias correction, inside the block: "half" is 2 A - (A1 + A2) / 2 with the two halves of the block, "jackknife"
m A - (m - 1) mean of the A without one person. Both take away the part of the bias that shrinks like 1 / m.
"""

import random  # noqa: TID251  to fix other people's random states, not to draw
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.blocks.estimator import Fit
from discreet.blocks.quiet import silence
from discreet.blocks.shape import Shape
from discreet.blocks.table import Table

Correct = Literal["half", "jackknife", "firth"] | None  # "firth": blocks/firth.py, for all blocks at once
Floats = npt.NDArray[np.float64]
FAILURES: Final = ("ConvergenceWarning", "PerfectSeparationWarning", "HessianInversionWarning")


class OutOfTime(BaseException):
    """The block took longer than it may; not an Exception, so that few estimators catch it."""


def block_row(
    fit: Fit,
    shape: Shape,
    block: Table,
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
            random.seed(number)  # [RB2]
            np.random.seed(number % 2**32)  # noqa: TID251, NPY002  [RB2]
            with np.errstate(all="ignore"), _limit(seconds):
                row = corrected(fit, shape, block, middle, correct)
            if any(warning.category.__name__ in FAILURES for warning in seen):
                return failed  # [RB1]
        except BaseException:  # noqa: BLE001  [RB1]: SystemExit and KeyboardInterrupt too may come from the estimator
            return failed
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: TID251, NPY002
    return row if np.isfinite(row).all() else failed  # [RB1]


def corrected(fit: Fit, shape: Shape, block: Table, middle: int, correct: Correct) -> Floats:
    """The row, with the bias correction asked for."""

    def row(part: Table) -> Floats:
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


def _without(block: Table, kept: npt.NDArray[np.bool_]) -> Table:
    x = block.x.loc[kept].reset_index(drop=True) if hasattr(block.x, "loc") else block.x[kept]
    return Table(x, None if block.y is None else block.y[kept])


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
