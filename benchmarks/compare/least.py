"""The least error that any private method can have in a cell: two populations that it can hardly tell apart.

The people's distribution P is tilted two ways: P+ and P- have densities 1 + t s and 1 - t s, s = 1 on a set A of
probability a and -a / (1 - a) beside it. The quantity differs by 2 h between them, and one row by 2 t a in total
variation. An answer nearer to the wrong one errs by h or more, so (Le Cam) the larger of both mean squared errors is at
least h^2 (1 - T) / 2, T the total variation between answers: [floors.2] and what n rows themselves allow. With delta
1e-6 where the others have none, and for people who are added or removed, so that it holds for everybody in the cell.
Columns that are independent have such a floor each.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from benchmarks.compare.cases import DELTA, Case
from discreet.worlds.floors import Told, answers_apart, told

Floats = npt.NDArray[np.float64]
DRAWS: Final = 50_000
TILTS: Final = np.geomspace(1e-4, 1, 40)


def least(case: Case) -> float | None:
    """Under the root of the mean squared error; None where we have no such bound."""
    limit = told(case.epsilon, max(case.delta, DELTA), changes=2)
    if case.part == "linear regression":
        return math.sqrt(len(case.truth)) * max(_slope(h, case.size, limit) for h in TILTS)
    kind, _, q = case.part.partition(" ")
    if kind not in ("mean", "variance", "quantile", "proportion", "vector"):
        return None
    x = np.asarray(case.draw(np.random.default_rng(0), DRAWS), dtype=np.float64)
    columns = x.shape[1] if x.ndim > 1 else 1
    x = x.reshape(DRAWS, -1)[:, 0]
    at: Floats = np.abs(x - x.mean()) if kind == "variance" else x
    above = at > np.quantile(at, float(q) if kind == "quantile" else 0.5)
    if kind == "proportion":
        above = x > 0
    if above.mean() > 0.5:
        above = ~above
    share = float(above.mean())
    if not share:
        return None
    side = np.where(above, 1.0, -share / (1 - share))
    value = _weighted(kind, x, float(q) if kind == "quantile" else 0.5)
    found = 0.0
    for tilt in TILTS:
        up, down = 1 + tilt * side, 1 - tilt * side
        affinity = float(np.sqrt(up * down).mean())
        found = max(found, _le_cam(abs(value(up) - value(down)) / 2, 2 * tilt * share, affinity, case.size, limit))
    return math.sqrt(columns) * found


def _slope(h: float, size: int, limit: Told) -> float:
    """Slopes h and -h of a standard normal column, residuals of deviation 1."""
    return _le_cam(h, 2 / math.pi * math.atan(h), 1 / math.sqrt(1 + h * h), size, limit)


def _le_cam(half: float, variation: float, affinity: float, size: int, limit: Told) -> float:
    rows = math.sqrt(-math.expm1(2 * size * math.log(max(affinity, 1e-300))))
    apart = min(rows, answers_apart(size, min(variation, 1.0), limit))
    return half * math.sqrt(max(0.0, 1 - apart) / 2)


def _weighted(kind: str, x: Floats, q: float) -> Callable[[Floats], float]:
    """The quantity as a function of the people's weights, whose mean is 1."""
    if kind == "quantile":
        order = np.argsort(x)
        ranked = x[order]
        return lambda w: float(ranked[min(np.searchsorted(np.cumsum(w[order]), q * w.sum()), len(x) - 1)])
    centred = x - x.mean()  # differences alone count, and columns may be far from 0
    if kind == "variance":
        return lambda w: float(np.mean(w * centred**2) - np.mean(w * centred) ** 2)
    return lambda w: float(np.mean(w * centred))
