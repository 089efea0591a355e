"""What a cell does once it is locked in: load the estimator, read the block, leave a row of numbers."""

import os
import pickle
import sys
from typing import Any

from discreet.subsample.block_table import BlockTable
from discreet.subsample.own_rows import received
from discreet.subsample.run_block import block_row, silence


def work(data: int, result: int) -> None:
    """Read the block from one file, write the row to the other. Pickle comes in from our side and never goes back."""
    with os.fdopen(data, "rb") as file:
        estimator, shape, (x, y, people), middle, number, correct = pickle.load(file)  # noqa: S301  our own parent's
    block = BlockTable(received(x), received(y), people)
    row = block_row(Unpacked(estimator), shape, block, middle, number=number, correct=correct)
    os.pwrite(result, row.tobytes(), 0)


def rehearse(data: int, result: int) -> None:
    """Fit on made-up rows until it works once, and leave the names of all modules that are loaded by then."""
    with os.fdopen(data, "rb") as file:
        estimator, tables = pickle.load(file)  # noqa: S301  written by our own parent
    fit = Unpacked(estimator)
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
