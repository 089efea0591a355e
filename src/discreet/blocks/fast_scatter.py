"""The counting scatter, compiled: one pass over the rows, a write head for each half-block."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def places(halves: Any, edges: Any) -> Any:
    """Where each row goes: the next free place of its half-block."""
    heads = edges[:-1].copy()
    place = np.empty(halves.shape[0], np.int64)
    for row in range(halves.shape[0]):
        half = halves[row]
        place[row] = heads[half]
        heads[half] += 1
    return place


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _scatter_rows(rows: Any, place: Any, moved: Any) -> None:
    for row in range(rows.shape[0]):
        to = place[row]
        for item in range(rows.shape[1]):
            moved[to, item] = rows[row, item]


def scatter(part: npt.NDArray[Any], place: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Rows at their places, in a new array; each thread moves a run of rows, no two to one place."""
    moved = np.empty_like(part)
    rows, to = part.reshape(len(part), -1), moved.reshape(len(part), -1)
    cuts = np.linspace(0, len(part), processors() + 1).astype(np.int64)
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        list(pool.map(lambda a, b: _scatter_rows(rows[a:b], place[a:b], to), cuts[:-1], cuts[1:]))
    return moved


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
