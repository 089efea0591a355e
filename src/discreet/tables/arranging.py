"""The columns of a question: whom a missing entry leaves out, and how a mechanism takes the others' entries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from discreet.privacy.declaration import Statistic
from discreet.tables.cells import Floats
from discreet.tables.streams import MANY, Stream, each
from discreet.tables.wanted import Want, Wanted

BLOCK: Final = 1 << 15  # rows


def empty_columns(asked: Wanted) -> dict[str, Any]:
    """The columns of a question without a row."""
    return {want.name: np.empty(0, dtype=object if want.kind == "category" else float) for want in asked.wants}


def arranged(
    statistic: Statistic,
    asked: Wanted,
    columns: Any,
    arguments: Mapping[str, Any],
    owners: Any = None,
    *,
    ordered: bool = True,
) -> Any:
    """Columns by name, or a stream of them, as the mechanism of a statistic takes them: by name still where an
    estimator's options speak of names. `ordered` is whether their source keeps rows in their order."""
    spoken = arguments.get("options")
    said = any(arguments.get(one) is not None for one in ("formula", "categories"))
    said = said or any(about is not None and about.frame for about in asked.facts.values())
    said = said or (isinstance(spoken, Mapping) and any(str(option).endswith("_col") for option in spoken))
    if not asked.references:  # a count of all
        one = columns if isinstance(columns, Stream) else next(iter(columns.values()))
        return ones(len(one)) if isinstance(one, Stream) else np.ones(len(one))
    named = statistic.blocks and said
    arrange = partial(put_together, rows=statistic.rows, references=asked.references, named=named)
    if statistic.blocks:
        return arrange(columns, {"people": owners, "categories": arguments.get("categories"), "ordered": ordered})
    if not isinstance(columns, Stream):
        return arrange(columns)
    bare = arrange(empty_columns(asked))
    return each(arrange, columns, dict if isinstance(bare, Mapping) else bare.dtype.type)


def put_together(
    columns: Mapping[str, Any],
    more: Mapping[str, Any] = MappingProxyType({}),
    *,
    rows: Callable[[Mapping[str, Any]], Any],
    references: Mapping[str, Any],
    named: bool,
) -> Any:
    """What is made of the columns of some rows, those of each parameter together, here or on a worker: each row by
    itself."""
    placed: dict[str, Any] = {}
    for name, reference in references.items():
        if isinstance(reference, str):
            placed[name] = columns[reference]
            continue
        several = {column: columns[column] for column in reference}
        by_name = named or isinstance(reference, dict) or any(values.dtype.kind == "O" for values in several.values())
        placed[name] = several if by_name else side_by_side(list(several.values()))
    return rows({**placed, **more})


def side_by_side(columns: list[Floats]) -> Floats:
    """Columns as one matrix; one that is a matrix already is not copied."""
    if len(columns) == 1 and columns[0].ndim == 2:
        return np.ascontiguousarray(columns[0])
    return np.column_stack(columns)


def ones(size: int) -> Stream:
    """So many entries that are 1: nothing is read for them."""
    return Stream(size, lambda: (np.ones(min(MANY, size - start)) for start in range(0, size, MANY)))


def held(values: Any) -> Any:
    """A column in memory."""
    return np.concatenate([np.empty(0, values.kind), *values]) if isinstance(values, Stream) else values


def drops(want: Want) -> bool:
    """Whether a missing entry leaves the row out."""
    return isinstance(want.missing, str) and want.missing == "drop"


def whole_columns(wants: Sequence[Want]) -> list[Want]:
    """The same columns, with the rows that `present` leaves out."""
    return [replace(want, missing="keep") if drops(want) else want for want in wants]


def present(columns: Any, wants: Sequence[Want]) -> tuple[Any, Callable[[], int]]:
    """The rows in which no entry is missing that leaves a row out, of columns by name or of a stream of them; and what
    tells how many rows are left out, for which a stream may have to be read. [table.1]"""
    if isinstance(columns, Stream):
        if not any(drops(want) for want in wants):
            return columns, _nobody
        found = columns.left(partial(_present_rows, wants=tuple(wants)))
        found = columns if found.counted and len(found) == len(columns) else found
        return found, lambda: len(columns) - len(found)
    dropping = [columns[want.name] for want in wants if drops(want)]
    if not dropping:
        return dict(columns), _nobody
    if isinstance(dropping[0], Stream):  # the only column, of an array that its owner streams
        whole, column = dropping[0], dropping[0].left(_present)
        return dict.fromkeys(columns, column), lambda: len(whole) - len(column)
    kept = np.ones(0, dtype=np.bool_)
    for values in dropping:
        if not _whole(values):
            there = ~(missing if (missing := _absent(values)).ndim == 1 else missing.any(axis=1))
            kept = kept & there if len(kept) else there
    left_out = int(np.count_nonzero(~kept))
    return {name: values[kept] if left_out else values for name, values in columns.items()}, lambda: left_out


def _nobody() -> int:
    return 0


def _absent(values: Any) -> Any:
    return np.array([one is None for one in values], dtype=np.bool_) if values.dtype == object else np.isnan(values)


def _whole(values: Any) -> bool:
    """Whether no entry is missing; of numbers looked for in blocks that stay in the cache."""
    if values.dtype == object:
        return not _absent(values).any()
    absent = 0
    for start in range(0, len(values), BLOCK):
        absent += int(np.count_nonzero(np.isnan(values[start : start + BLOCK])))
    return absent == 0


def _present_rows(piece: dict[str, Any], *, wants: tuple[Want, ...]) -> dict[str, Any]:
    found: dict[str, Any] = present(piece, wants)[0]
    return found


def _present(piece: Floats) -> Floats:
    return piece if _whole(piece) else piece[~_absent(piece)]
