"""Where a search for clusters begins, and how many small clusters become k: no data, or released numbers alone.

`packed` fills a ball with points that keep away from each other and from its surface, the same ones every time.
`merged` joins weighted points into k: by pairs, each time the two whose union costs the least (Ward), then Lloyd's
steps.
"""

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

Floats = npt.NDArray[np.float64]


CANDIDATES: Final = 32  # points of a low-discrepancy sequence for each seed
STEPS: Final = 50
TOGETHER: Final = 1 << 22  # numbers in memory


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
    apart, least = np.full(len(points), np.inf), 2.0
    for _ in range(count - 1):  # the candidate farthest from all that were chosen
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(apart)))
        least = min(least, float(apart[chosen[-1]]))
    return np.asarray(points[chosen] * (2 / (2 + least)))  # least / 2 from the surface, when shrunk


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
    cost = np.array([_unions(centres, mass, place) for place in range(len(centres))])
    for _ in range(len(centres) - k):
        one, other = sorted(int(place) for place in np.unravel_index(int(np.argmin(cost)), cost.shape))
        both = mass[one] + mass[other]
        centres[one] = (centres[one] * mass[one] + centres[other] * mass[other]) / both
        mass[one], mass[other] = both, np.nan  # the other is no more
        cost[one] = cost[:, one] = _unions(centres, mass, one)
        cost[other] = cost[:, other] = np.inf
    centres, mass = centres[~np.isnan(mass)], mass[~np.isnan(mass)]
    heaviest = np.argsort(-mass, kind="stable")
    while len(centres) < k:
        centres = np.concatenate([centres, centres[heaviest[: k - len(centres)]]])
    return _lloyd(points, np.maximum(weights, 1e-12), centres)


def _unions(centres: Floats, mass: Floats, place: int) -> Floats:
    """What it costs to join a centre to each of the others; infinitely much to itself, or to one that is no more."""
    gaps = ((centres - centres[place]) ** 2).sum(axis=1)
    cost = gaps * (mass * mass[place] / (mass + mass[place]))
    cost[place] = np.inf
    return np.asarray(np.where(np.isnan(cost), np.inf, cost))


def _lloyd(points: Floats, weights: Floats, centres: Floats) -> Floats:
    step = max(1, TOGETHER // centres.size)
    for _ in range(STEPS):
        labels = np.concatenate([_nearest(points[at : at + step], centres) for at in range(0, len(points), step)])
        mass = np.bincount(labels, weights=weights, minlength=len(centres))
        sums = np.stack([np.bincount(labels, weights=weights * column, minlength=len(centres)) for column in points.T])
        after = np.where(mass[:, None] > 0, sums.T / np.maximum(mass, 1e-300)[:, None], centres)
        if np.array_equal(after, centres):
            break
        centres = after
    return np.asarray(centres)


def _nearest(points: Floats, centres: Floats) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.asarray(np.argmin(((points[:, None] - centres[None]) ** 2).sum(axis=2), axis=1))
