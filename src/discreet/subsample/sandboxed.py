"""Blocks in a sandbox: what a cell is sent, what it does with it, and what is made of the bytes that come back.

Claims
    [sandboxed.1] A block's row depends on nothing but its own rows, its number and the estimator, whatever the
          estimator does, up to what sandbox/sandbox.py does not cover. It is finite and of the declared width, or all
          NaN. What a cell is sent is a function of its own block ([own_rows.3]), and what it returns of what it is sent
          ([sandbox.1]); as many raw float64 come back as were declared, and NaN of any payload is "no estimate".

Needs
    An estimator that can be packed: a library's object, a function of an importable library, or a file. What it imports
    only for rows unlike the made-up ones is declared: Sandbox(modules=("scipy.stats",)).
    Not covered: the process that calls. An object's own code (its class, __reduce__, __getattr__) runs there when you
    make it and when it is packed; a file's code does not. Data that the estimator itself carries, in a variable that a
    function of the session uses say, go into every cell with it.
"""

import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.sandbox.sandbox import Program, Sandbox, SandboxCells, importable
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import Fit, SourceFit
from discreet.subsample.made_up_rows import STYLES, made_up
from discreet.subsample.own_rows import is_frame, received, sent
from discreet.subsample.partition import Blocks
from discreet.subsample.returned import Shape
from discreet.subsample.run_block import Correct, block_row, silence

Floats = npt.NDArray[np.float64]
LIBRARIES: Final = ("numpy", "scipy.special")
HOMES: Final = {"sklearn": "sklearn.linear_model", "statsmodels": "statsmodels.api", "lifelines": "lifelines"}


@dataclass(frozen=True, slots=True)
class BlockCells:
    """A sandbox at work on blocks."""

    cells: SandboxCells
    estimator: bytes

    def rows(self, shape: Shape, blocks: Blocks, correct: Correct) -> Floats:
        """One row a block, NaN where there is none. [sandboxed.1]"""
        messages = (_message(self.estimator, shape, blocks, number, correct) for number in range(blocks.count))
        found = np.full((blocks.count, shape.width), np.nan)
        for number, raw in enumerate(self.cells.run(messages, 8 * shape.width)):
            row = np.frombuffer(raw or b"", dtype=np.float64)
            if len(row) and np.isfinite(row).all():  # [sandboxed.1]
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


def _message(raw: bytes, shape: Shape, blocks: Blocks, number: int, correct: Correct) -> bytes:
    block, middle = blocks.block(number)
    people = block.people if correct == "jackknife" else None
    try:
        return pickle.dumps((raw, shape, (sent(block.x), sent(block.y), people), middle, number, correct))
    except Exception:  # noqa: BLE001  [sandboxed.1]: an entry that cannot be packed; the cell fails to read it, on time
        return b""


def work(data: int, result: int) -> None:
    """In a cell: read the block from one file, write the row to the other. Pickle comes in and never goes back."""
    with os.fdopen(data, "rb") as file:
        raw, shape, (x, y, people), middle, number, correct = pickle.load(file)  # noqa: S301  our own parent's
    block = BlockTable(received(x), received(y), people)
    row = block_row(Unpacked(raw), shape, block, middle, number=number, correct=correct)
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
