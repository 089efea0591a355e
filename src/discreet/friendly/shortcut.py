"""The same core with fewer comparisons: along a line in n log n steps, and with a certificate in any dimension.

Promise
    [shortcut.1] Both give what `match_core` gives on all pairs, bit for bit. So all that is proven of it holds.
Why
    [shortcut.1] Along a line: sort the values; the strangers of x are those below x - r and those above x + r, a
    beginning and an end of the sorted list, and a tree holds the least free place of every stretch. A free earlier row
    is never found: had it been a stranger, it would have been matched when its turn came. Certificate: points within
    half a radius of any whole centre are friends, exactly: |p - q| <= |p - c| + |q - c|. Only pairs with a point
    outside of that ball need be compared.
Needs
    The certificate's run time depends on how many points lie outside of the ball, and one row can move its centre. Use
    it for batch work, or where answers leave at fixed times: never where somebody can time single answers.
Accuracy
    n d + b n d steps for b points outside, instead of n^2 d.
"""

from typing import Any, Final

import numpy as np

from discreet.friendly.core import Core, match_core
from discreet.friendly.grid import UNITS, Apart, Points, middle
from discreet.noise.integers import compiled

LARGEST: Final = 2**30  # comparisons that are kept in memory


def match_line(points: Points) -> Core:
    """MatchCore on points of one column. [shortcut.1]"""
    values, valid = points.steps[:, 0], points.valid
    places = np.flatnonzero(valid)
    order = places[np.argsort(values[places], kind="stable")]
    ordered = values[order]
    below = np.searchsorted(ordered, values - UNITS, side="left")  # so many lie below x - r
    above = np.searchsorted(ordered, values + UNITS, side="right")  # from here on they lie above x + r
    below[~valid], above[~valid] = len(order), len(order)  # an invalid row is a stranger to all
    rank = np.zeros(len(values), dtype=np.int64)
    rank[order] = np.arange(len(order))
    free = np.ones(len(values), dtype=np.bool_)
    loop: Any = walk
    if compiled():
        from discreet._compiled.friendly_kernels import walk_fast

        loop = walk_fast
    pairs = loop(below, above, rank, valid, order, free)
    return Core(int(pairs), np.flatnonzero(free))  # [shortcut.1]


def walk(below, above, rank, valid, order, free):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0917
    """Match each free row in turn with the first free stranger; returns how many times, `free` is changed in place."""
    size, leaves = len(free), 1
    while leaves < max(1, len(order)):
        leaves *= 2
    tree = np.full(2 * leaves, size)  # the least free place under each node
    for leaf in range(len(order)):
        tree[leaves + leaf] = order[leaf]
    for node in range(leaves - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    pairs, odd = 0, 0  # `odd`: the first invalid row that may be free
    for row in range(size):
        if not free[row]:
            continue
        free[row] = False
        while odd < size and (valid[odd] or not free[odd]):
            odd += 1
        first = odd
        low, high = leaves, leaves + below[row]  # the beginning of the list
        for _ in range(2):
            while low < high:
                if low & 1:
                    first = min(first, tree[low])
                    low += 1
                if high & 1:
                    high -= 1
                    first = min(first, tree[high])
                low, high = low >> 1, high >> 1
            low, high = leaves + above[row], 2 * leaves  # and its end
        if first == size:
            free[row] = True
            continue
        free[first] = False
        pairs += 1
        for gone in (row, first):
            if valid[gone]:
                node = leaves + rank[gone]
                tree[node] = size
                while node > 1:
                    node >>= 1
                    tree[node] = min(tree[2 * node], tree[2 * node + 1])
    return pairs


def match_certified(points: Points) -> Core:
    """MatchCore on points of any dimension, most of them in one ball. [shortcut.1]"""
    size = len(points)
    moved = np.minimum(np.abs(points.steps - middle(points)), UNITS)
    inside = points.valid & (np.einsum("ij,ij->i", moved, moved) <= (UNITS // 2) ** 2)  # [shortcut.1]
    outside, within = np.flatnonzero(~inside), np.flatnonzero(inside)
    if len(outside) * size > LARGEST:
        return match_core(Apart(points))
    apart = np.zeros((len(outside), size), dtype=np.bool_)
    if len(outside):
        found = Apart(points[np.concatenate([outside, within])]).block(0, len(outside))
        apart[:, outside], apart[:, within] = found[:, : len(outside)], found[:, len(outside) :]
    free, pairs = np.ones(size, dtype=np.bool_), 0
    index = np.full(size, -1)
    index[outside] = np.arange(len(outside))
    for row in np.flatnonzero(apart.any(axis=0) | ~inside).tolist():  # the others have no strangers
        if not free[row]:
            continue
        if index[row] >= 0:
            later = np.flatnonzero(apart[index[row], row + 1 :] & free[row + 1 :])
            first = row + 1 + int(later[0]) if len(later) else size
        else:
            later = outside[apart[:, row] & free[outside] & (outside > row)]
            first = int(later[0]) if len(later) else size
        if first < size:
            free[[row, first]] = False
            pairs += 1
    return Core(pairs, np.flatnonzero(free))
