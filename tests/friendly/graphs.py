"""Every graph of strangers on a few rows."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np


class Graph:
    """Strangers by a matrix."""

    def __init__(self, apart: np.ndarray[Any, Any]) -> None:
        self.apart, self.size = apart, len(apart)

    def block(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        return self.apart[start:stop, start:].copy()


def graph(size: int, code: int) -> Graph:
    """The graph whose edges are the binary digits of `code`."""
    apart = np.zeros((size, size), dtype=np.bool_)
    for bit, (i, j) in enumerate(combinations(range(size), 2)):
        apart[i, j] = apart[j, i] = bool(code >> bit & 1)
    return Graph(apart)


def graphs(size: int) -> Iterator[tuple[int, Graph]]:
    for code in range(2 ** (size * (size - 1) // 2)):
        yield code, graph(size, code)


def code_of(apart: np.ndarray[Any, Any]) -> int:
    pairs = combinations(range(len(apart)), 2)
    return sum(int(apart[i, j]) << bit for bit, (i, j) in enumerate(pairs))


def without(apart: np.ndarray[Any, Any], row: int) -> np.ndarray[Any, Any]:
    return np.delete(np.delete(apart, row, 0), row, 1)
