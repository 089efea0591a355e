"""One block: fit, correct for bias, and return a row of numbers or none; here, or in a sandbox. Nothing else leaves it.

Claims
    [run_block.1] Whatever happens (an exception of any kind, a warning of no convergence, a wrong shape, NaN) the row
          is a finite row of the declared width or all NaN, the public sign of "no estimate"; nothing is shown or
          raised.
    [run_block.2] The row is a function of the block's rows, the adapter and the block's number: random states are set
          from that number.
    [run_block.3] In a sandbox that holds whatever the estimator does, up to what sandbox/sandbox.py does not cover.
          What a cell is sent is a function of its own block ([run_block.4]), and what it returns of what it is sent
          ([sandbox.1]); as many raw float64 come back as were declared, and NaN of any payload is "no estimate".
    [run_block.4] The bytes that a block is sent as are a function of its own entries, as [block_table.2] has it: each
          object is packed by itself, for else it would show which entries are one and the same object in memory, which
          depends on how the whole table was read.

Bias correction, inside the block: "half" is 2 A - (A1 + A2) / 2 with the two halves of the block, "jackknife"
m A - (m - 1) mean of the A without one person. Both take away the part of the bias that shrinks like 1 / m. Where the
block comes in quarters, what remains is told too: D, the corrected estimate less the mean of those of the two halves.

Needs
    In a sandbox, an estimator that can be packed: a library's object, a function of an importable library, or a file.
    What it imports only for rows unlike the made-up ones is declared: Sandbox(modules=("scipy.stats",)).
    Not covered: the process that calls. An object's own code (its class, __reduce__, __getattr__) runs there when you
    make it and when it is packed; a file's code does not. Data that the estimator itself carries, in a variable that a
    function of the session uses say, go into every cell with it.
"""

import os
import pickle
import random  # noqa: TID251  to fix other people's random states, not to draw
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from discreet.engines.local import silence
from discreet.errors import BadInput
from discreet.sandbox.sandbox import Program, Sandbox, SandboxCells, importable
from discreet.subsample.block_exchange import FarBlocks
from discreet.subsample.block_table import BlockTable, arrays, framed, is_frame, own
from discreet.subsample.estimators import Fit, SourceFit
from discreet.subsample.partition import Blocks
from discreet.subsample.returned import ROWS, STYLES, Shape, made_up

Correct = Literal["half", "jackknife", "firth"] | None  # "firth": subsample/block_fits.py, for all blocks at once
Floats = npt.NDArray[np.float64]
LIBRARIES: Final = ("numpy", "scipy.special")
HOMES: Final = {"sklearn": "sklearn.linear_model", "statsmodels": "statsmodels.api", "lifelines": "lifelines"}
FAILURES: Final = ("ConvergenceWarning", "PerfectSeparationWarning", "HessianInversionWarning")


class OutOfTime(BaseException):
    """The block took longer than it may; not an Exception, so that few estimators catch it."""


def block_row(
    fit: Fit,
    shape: Shape,
    block: BlockTable,
    cuts: int | tuple[int, ...],
    *,
    number: int,
    correct: Correct = None,
    seconds: float | None = None,
) -> Floats:
    """The estimate of one block, or NaN: twice as wide where it comes in quarters.

    `cuts` are where its parts begin and end; one number is where its second half begins.
    """
    places = (0, cuts, block.rows) if isinstance(cuts, int) else cuts
    failed = np.full(shape.width * (len(places) - 1) // 2, np.nan)
    before = random.getstate(), np.random.get_state()  # noqa: TID251, NPY002  the caller's own
    with silence() as seen:
        try:
            random.seed(number)  # [run_block.2]
            np.random.seed(number % 2**32)  # noqa: TID251, NPY002  [run_block.2]
            with np.errstate(all="ignore"), _limit(seconds):
                row = corrected(fit, shape, block, places, correct)
            if any(warning.category.__name__ in FAILURES for warning in seen):
                return failed  # [run_block.1]
        except BaseException:  # noqa: BLE001  [run_block.1]: SystemExit and KeyboardInterrupt too may come from the estimator
            return failed
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: TID251, NPY002
    return row if np.isfinite(row).all() else failed  # [run_block.1]


def corrected(fit: Fit, shape: Shape, block: BlockTable, cuts: tuple[int, ...], correct: Correct) -> Floats:
    """The row, with the bias correction asked for, and with D where there are quarters."""

    def mean(step: int) -> Floats:
        """Of the estimates on the whole, the halves or the quarters."""
        ends = cuts[::step]
        parts = [block] if len(ends) == 2 else [block.part(*pair) for pair in pairwise(ends)]
        rows = [_jackknife(fit, shape, part) if correct == "jackknife" else _answer(fit, shape, part) for part in parts]
        return np.asarray(np.mean(rows, axis=0))

    return combined(mean, len(cuts) - 1, correct)


def combined(mean: Callable[[int], Floats], parts: int, correct: Correct) -> Floats:
    """Corrected estimates, then D where there are 4 parts; `mean(n)` is that of the estimates on n parts at a time."""
    whole = mean(parts)
    if correct != "half" and parts == 2:
        return whole
    halves = mean(parts // 2)
    if correct != "half":
        return np.concatenate([whole, whole - halves], axis=-1)
    found = 2 * whole - halves
    return found if parts == 2 else np.concatenate([found, 2 * whole - 3 * halves + mean(1)], axis=-1)


def _answer(fit: Fit, shape: Shape, part: BlockTable) -> Floats:
    return shape.row(fit.answer(part.x, part.y))


def _jackknife(fit: Fit, shape: Shape, block: BlockTable) -> Floats:
    """Without each person once; least squares in one pass."""
    if getattr(fit, "least_squares", False):
        return shape.row(fit.jackknifed(block.x, block.y, block.people))  # type: ignore[attr-defined]
    whole = _answer(fit, shape, block)
    people = np.arange(block.rows) if block.people is None else block.people
    count = int(people.max()) + 1
    total = np.zeros_like(whole)
    for one in range(count):
        total += _answer(fit, shape, _without(block, people != one))
    return np.asarray(count * whole - (count - 1) * total / count)


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


@dataclass(frozen=True, slots=True)
class BlockCells:
    """A sandbox at work on blocks."""

    cells: SandboxCells
    estimator: bytes

    def rows(self, shape: Shape, blocks: Blocks | FarBlocks, correct: Correct) -> Floats:
        """One row a block, NaN where there is none. [run_block.3]"""
        messages = (_message(self.estimator, shape, blocks, number, correct) for number in range(blocks.count))
        found = np.full((blocks.count, shape.width * blocks.parts // 2), np.nan)
        for number, raw in enumerate(self.cells.run(messages, 8 * found.shape[1])):
            row = np.frombuffer(raw or b"", dtype=np.float64)
            if len(row) and np.isfinite(row).all():  # [run_block.3]
                found[number] = row
        return found


@contextmanager
def opened(box: Sandbox, fit: Fit, table: BlockTable | None = None) -> Iterator[BlockCells]:
    """Cells for this estimator, or NoSandbox. Of the table the schema is used, for a rehearsal."""
    raw = packed(fit)  # refused before anything starts
    held = (getattr(fit, name, None) for name in ("estimator", "fitter", "model"))
    inner = next((one for one in held if one is not None), None)  # an unfitted ensemble has no truth value
    home = str(getattr(inner, "__module__", type(inner).__module__)).split(".")[0]
    frames = ("pandas",) if table is not None and is_frame(table.x) else ()  # loaded once, not by every block
    modules = (*LIBRARIES, *([HOMES[home]] if home in HOMES else []), *frames)
    with box.opened(Program(__name__, modules, pickle.dumps((raw, rehearsal(table))))) as cells:
        yield BlockCells(cells, raw)


def tried(box: Sandbox, fit: Fit, shape: Shape, table: BlockTable) -> bool:
    """Whether an estimator returns what is declared on some made-up rows of a table's schema, in a sandbox."""
    with opened(box, fit, table) as work:
        for made in rehearsal(table):
            rows = sent(made.x), sent(made.y), None
            sends = pickle.dumps((work.estimator, shape, rows, ROWS // 2, 0, None))
            raw = work.cells.run([sends], 8 * shape.width)[0]
            if len(raw or b"") == 8 * shape.width and np.isfinite(np.frombuffer(raw or b"", dtype=np.float64)).all():
                return True
    return False


def packed(fit: Fit) -> bytes:
    """The estimator as bytes for a cell; functions of this session by value, if cloudpickle is there."""
    function = getattr(fit, "function", None)
    local = function is not None and getattr(function, "__module__", "") not in importable()
    try:
        if not isinstance(fit, SourceFit) and local:
            import cloudpickle

            return bytes(cloudpickle.dumps(fit))
        return pickle.dumps(fit)
    except Exception:  # noqa: BLE001
        raise BadInput(
            "the estimator cannot be sent to another process; put the function into a file and give "
            "'file.py:function', install cloudpickle, or give trust='own' if you wrote or read it"
        ) from None


def rehearsal(table: BlockTable | None) -> list[BlockTable]:
    """Made-up rows of a table's schema in several styles, and plain ones, for what the schema does not tell."""
    plain = [BlockTable(np.ones((8, 2)), np.arange(8) % 2.0), BlockTable(np.ones((8, 2)))]
    if table is None:
        return plain
    try:
        return [made_up(table, style, texts=True) for style in range(STYLES)]
    except Exception:  # noqa: BLE001  a type that nothing is made up of; what is imported at the top is still loaded
        return plain


def _message(raw: bytes, shape: Shape, blocks: Blocks | FarBlocks, number: int, correct: Correct) -> bytes:
    block, _ = blocks.block(number)
    cuts, people = blocks.cuts(number), block.people if correct == "jackknife" else None
    try:
        return pickle.dumps((raw, shape, (sent(block.x), sent(block.y), people), cuts, number, correct))
    except Exception:  # noqa: BLE001  [run_block.3]: an entry that cannot be packed; the cell fails to read it, on time
        return b""


def sent(part: Any) -> Any:
    """Rows as they are sent to another process. [run_block.4]"""
    if is_frame(part):
        return list(part.columns), [sent(own(values)) for values in arrays(part)]
    if isinstance(part, np.ndarray) and part.dtype.kind == "O":
        return [pickle.dumps(entry) for entry in part.tolist()]  # [run_block.4]
    return part


def received(raw: Any) -> Any:
    """Rows as they were before they were sent."""
    if isinstance(raw, tuple):
        return framed(raw[0], [received(one) for one in raw[1]])
    if isinstance(raw, list):
        values = np.empty(len(raw), dtype=object)
        for place, entry in enumerate(raw):
            values[place] = pickle.loads(entry)  # noqa: S301  written by our own parent
        return values
    return raw


def work(data: int, result: int) -> None:
    """In a cell: read the block from one file, write the row to the other. Pickle comes in and never goes back."""
    with os.fdopen(data, "rb") as file:
        raw, shape, (x, y, people), cuts, number, correct = pickle.load(file)  # noqa: S301  our own parent's
    block = BlockTable(received(x), received(y), people)
    row = block_row(Unpacked(raw), shape, block, cuts, number=number, correct=correct)
    os.pwrite(result, row.tobytes(), 0)


def rehearse(data: int, result: int) -> None:
    """In a cell: fit on made-up rows until it works once, and write the names of all modules loaded by then."""
    with os.fdopen(data, "rb") as file:
        raw, tables = pickle.load(file)  # noqa: S301  written by our own parent
    fit = Unpacked(raw)
    for table in tables:
        try:
            with silence():
                fit.answer(table.x, table.y)
        except BaseException:  # noqa: BLE001, S112  other rows may do
            continue
        finally:
            os.pwrite(result, "\n".join(sorted(sys.modules)).encode("ascii", "ignore"), 0)
        break


class Unpacked:
    """An estimator that is unpacked on first use: what fails then is a failure of the block."""

    unbiased = False
    name = "sandboxed"

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._fit: Any = None

    def answer(self, x: Any, y: Any) -> Any:
        """As the estimator's."""
        if self._fit is None:
            self._fit = pickle.loads(self._raw)  # noqa: S301  the caller's own object, inside the cell
        return self._fit.answer(x, y)
