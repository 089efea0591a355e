"""Where a search for clusters begins, and how many small clusters become k: no data, or released numbers alone.

`packed` fills a ball with points that keep away from each other and from its surface, the same ones every time.
`merged` joins weighted points into k: by pairs, each time the two whose union costs the least (Ward), then Lloyd's
steps.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from scipy.special import ndtri

from discreet.models.assign import Floats

CANDIDATES: Final = 32  # points of a low-discrepancy sequence for each seed
STEPS: Final = 50


def packed(count: int, width: int) -> Floats:
    """`count` points in the unit ball of `width` dimensions: if a is half their least distance, all within 1 - a.

    >>> points = packed(6, 2)
    >>> points.shape, bool((np.linalg.norm(points, axis=1) < 1).all())
    ((6, 2), True)
    """
    return _packed(count, width).copy()


@lru_cache(maxsize=64)
def _packed(count: int, width: int) -> Floats:
    points = _uniform(CANDIDATES * count, width)
    chosen = [int(np.argmax((points * points).sum(axis=1)))]
    apart = np.full(len(points), np.inf)
    for _ in range(count - 1):  # the candidate farthest from all that were chosen
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(apart)))
    kept = points[chosen]
    gaps = np.linalg.norm(kept[:, None] - kept[None], axis=2) + 4 * np.eye(count)
    least = min(float(gaps.min()), 2.0)
    return np.asarray(kept * (2 / (2 + least)))  # least / 2 from the surface, when shrunk


def _uniform(count: int, width: int) -> Floats:
    """Points of the unit ball by an additive recurrence in width + 1 dimensions (Kronecker; Roberts 2018)."""
    root = 2.0
    for _ in range(64):  # the root of x^(width + 2) = x + 1
        root = (1 + root) ** (1 / (width + 2))
    steps = (1 / root) ** np.arange(1, width + 2)
    shares = (0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0
    normal = ndtri(np.clip(shares[:, :width], 1e-9, 1 - 1e-9))
    length = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return np.asarray(normal / length * shares[:, width:] ** (1 / width))


def merged(points: Floats, weights: Floats, k: int) -> Floats:
    """Weighted points as k centres; fewer points than k are all kept, and the heaviest ones doubled.

    >>> merged(np.array([[0.0], [1.0], [9.0]]), np.array([1.0, 1.0, 5.0]), 2).tolist()
    [[0.5], [9.0]]
    """
    centres, mass = points.astype(np.float64), np.maximum(weights, 1e-12)
    while len(centres) > k:
        gaps = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
        cost = gaps * mass[:, None] * mass[None] / (mass[:, None] + mass[None])
        cost[np.tril_indices(len(centres))] = np.inf
        one, other = np.unravel_index(int(np.argmin(cost)), cost.shape)
        both = mass[one] + mass[other]
        centres[one] = (centres[one] * mass[one] + centres[other] * mass[other]) / both
        mass[one] = both
        centres, mass = np.delete(centres, other, axis=0), np.delete(mass, other)
    heaviest = np.argsort(-mass, kind="stable")
    while len(centres) < k:
        centres = np.concatenate([centres, centres[heaviest[: k - len(centres)]]])
    return _lloyd(points, np.maximum(weights, 1e-12), centres)


def _lloyd(points: Floats, weights: Floats, centres: Floats) -> Floats:
    for _ in range(STEPS):
        labels = np.argmin(((points[:, None] - centres[None]) ** 2).sum(axis=2), axis=1)
        mass = np.bincount(labels, weights=weights, minlength=len(centres))
        sums = np.stack([np.bincount(labels, weights=weights * column, minlength=len(centres)) for column in points.T])
        after = np.where(mass[:, None] > 0, sums.T / np.maximum(mass, 1e-300)[:, None], centres)
        if np.array_equal(after, centres):
            break
        centres = after
    return np.asarray(centres)
