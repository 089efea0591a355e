"""Rows made up from the table's schema: names and declared types of columns, nothing else. No private row is read.

What an estimator returns is found on such rows: how many numbers, and their names. A column of numpy's types has no
declared type ([entries.2]) and is made up as floats, whatever it holds. A column that is declared as text has no
values to make rows from; declare `names=` then, or its `categories=`.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import Fit
from discreet.subsample.returned import Shape, shape_of
from discreet.subsample.run_block import silence

ROWS: Final = 240
STYLES: Final = 8
GOLDEN: Final = 0.6180339887498949


def _spread(stream: int) -> npt.NDArray[np.float64]:
    """Numbers that look like a normal sample: a Weyl sequence, bent."""
    from scipy.special import ndtri

    places = (np.arange(1, ROWS + 1) * np.sqrt(float(PRIMES[stream % len(PRIMES)])) + stream * GOLDEN) % 1.0
    return np.asarray(ndtri(np.clip(places, 1e-6, 1 - 1e-6)))


PRIMES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


def _column(dtype: Any, stream: int, style: int, texts: bool = False) -> Any:
    """A made-up column of a declared type; numbers in one of the styles: normal, 0 or 1, small counts, positive.

    What says nothing about its values is refused, or with `texts` taken for one of "a" and "b".
    """
    if hasattr(dtype, "categories") and dtype.categories is not None and len(dtype.categories):
        import pandas

        return pandas.Categorical.from_codes(np.arange(ROWS) * (2 * stream + 1) % len(dtype.categories), dtype=dtype)
    kind = "f" if isinstance(dtype, np.dtype) else getattr(dtype, "kind", "O")
    if kind not in "biuf" and texts:
        return np.array(["a", "b"] * (ROWS // 2), dtype=object)
    if kind not in "biuf":
        raise BadInput(
            f"a column of type {dtype} says nothing about its values; declare names= (what the estimator returns), or "
            "its public categories=, for example categories={'sex': ['F', 'M']}"
        )
    normal = _spread(stream)
    made = (normal, normal > 0, np.floor(np.exp(normal / 2) + 0.3), np.exp(normal / 2))[1 if kind == "b" else style]
    made = np.abs(made) if kind == "u" else made
    if isinstance(dtype, np.dtype):
        return np.asarray(made).astype(np.float64)
    import pandas

    return pandas.array(np.asarray(made).astype(dtype.type), dtype=dtype)


def made_up(table: BlockTable, style: int, texts: bool = False) -> BlockTable:
    """A table of the same schema."""
    if hasattr(table.x, "columns"):
        import pandas

        columns = {
            name: _column(dtype, place, (style + place) % 4 if style >= 4 else (style if place == 0 else 0), texts)
            for place, (name, dtype) in enumerate(zip(table.x.columns, table.x.dtypes, strict=True))
        }
        x: Any = pandas.DataFrame(columns)
    elif table.x.ndim == 1:
        x = _column(table.x.dtype, 0, style % 4, texts)
    else:
        width = int(np.prod(table.x.shape[1:]))
        x = np.stack([_column(table.x.dtype, place, 0) for place in range(width)], axis=1)
        x = x.reshape((ROWS, *table.x.shape[1:]))
    y = None if table.y is None else _outcome(table.y, style, texts)
    return BlockTable(x, y)


def _outcome(y: npt.NDArray[Any], style: int, texts: bool) -> Any:
    many = int(np.prod(y.shape[1:]))
    made = np.stack([_column(y.dtype, 20 + place, style % 4, texts) for place in range(many)], axis=1)
    return made.reshape((ROWS, *y.shape[1:]))


def found_shape(fit: Fit, table: BlockTable) -> Shape:
    """The shape of the answer on made-up rows; several styles of outcome are tried, for a classifier takes no other."""
    for style in range(STYLES):
        rows = made_up(table, style)
        with silence():
            try:
                return shape_of(fit.answer(rows.x, rows.y))
            except BadInput:
                raise
            except (Exception, SystemExit):  # noqa: BLE001, S112  another style may do
                continue
    raise BadInput(
        "the estimator did not run on rows made up from the table's columns and types, so what it returns is unknown; "
        "declare it: names=['slope', 'intercept'], names='number', names=3 or labels=[...]; or declare the public "
        "categories that it needs: categories={'sex': ['F', 'M']}"
    )
