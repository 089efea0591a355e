"""How an additive model gets better by noisy sums: a penalised step for each column, and the mean of the later rounds.

Everything here is computed of sums that were released.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from discreet.models.binned_scores import FAR, STEPS
from discreet.models.column_bins import Integers

SMOOTH: Final = 0.5  # times the bins: of squared differences of neighbours, in information of people
RIDGE: Final = 0.3  # of squares
FARTHEST: Final = 2.0  # that the intercept moves in a round
Floats = npt.NDArray[np.float64]


@dataclass
class Rounds:
    """The model between rounds, and what was seen of it: `widths` bins of each column, those of numbers `ordered`."""

    widths: tuple[int, ...]
    ordered: tuple[bool, ...]
    noise: float  # deviation of each sum of residuals; that of slopes is half
    many: int
    _base: float = 0.0
    _cells: Floats = field(init=False)
    _slopes: list[Floats] = field(default_factory=list)
    _went: tuple[Floats, Floats, float] | None = None
    _bent: float = 0.0
    _even: float = 0.0
    _later: list[tuple[float, Floats]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._cells = np.zeros(sum(self.widths))

    @property
    def base(self) -> int:
        """The intercept, in steps."""
        return _in_steps(self._base)

    @property
    def shapes(self) -> list[Integers]:
        """What the bins of each column add, in steps."""
        return self._split(_all_in_steps(self._cells))

    @property
    def seen(self) -> float:
        """About a quarter of the people of listed classes, by the first round, in which every slope is that."""
        return float(self._slopes[0].sum()) / len(self.widths)

    @property
    def seen_noise(self) -> float:
        """Its deviation."""
        return self.noise / 2 * float(np.sqrt(sum(self.widths))) / len(self.widths)

    def take(self, residuals: Floats, slopes: Floats) -> None:
        """One round: each column by itself, all from the same sums, and so much of that as rounds before have shown."""
        self._slopes.append(slopes)
        usual, columns = np.maximum(np.mean(self._slopes, axis=0), 1.0), len(self.widths)
        whole = max(float(slopes.sum()) / columns, self.noise)
        moved = float(np.clip(residuals.sum() / columns / whole, -FARTHEST, FARTHEST))
        averaged = self.noise**2 * 2 / self.many  # variance of the noise in the mean of the later rounds
        told = usual / (usual + averaged)
        stiff = [
            np.diag(one) + _penalty(len(one), ordered)
            for one, ordered in zip(self._split(told * usual), self.ordered, strict=True)
        ]
        held = np.concatenate([m @ one for m, one in zip(stiff, self._split(self._cells), strict=True)])
        pull = told * residuals - (held - told * usual * self._cells)
        if self._went is not None:
            step, before, metric = self._went
            self._bent += float(step @ (before - pull))
            self._even += metric
        pull -= told * usual * moved
        parts = zip(stiff, self._split(pull), strict=True)
        step = self._part * np.concatenate([np.linalg.solve(m, one) for m, one in parts])
        metric = sum(float(one @ m @ one) for m, one in zip(stiff, self._split(step), strict=True))
        self._went = (step, pull, metric)
        self._base += moved
        found = []
        for cells, weights in zip(self._split(self._cells + step), self._split(usual), strict=True):
            middle = float(np.average(cells, weights=weights))
            self._base += middle
            found.append(cells - middle)
        self._cells = np.concatenate(found)
        if len(self._slopes) > self.many // 2:
            self._later.append((self._base, self._cells))

    @property
    def _part(self) -> float:
        """So much of all columns' steps: 1 over how much more they bend together than each by itself."""
        columns = len(self.widths)
        if self._went is None:
            return 1 / math.sqrt(columns)
        return min(1.0, max(1 / columns, self._even / self._bent)) if self._bent > 0 else 1.0

    def result(self) -> tuple[int, list[Integers]]:
        """The mean of the later rounds, in steps."""
        bases, cells = zip(*self._later, strict=True)
        return _in_steps(float(np.mean(bases))), self._split(_all_in_steps(np.mean(cells, axis=0)))

    def _split(self, cells: Any) -> list[Any]:
        return np.split(cells, np.cumsum(self.widths)[:-1])


def _penalty(width: int, ordered: bool) -> Floats:
    """A ridge, and for a column of numbers squared differences of neighbours; the last bin has none."""
    penalty = RIDGE * np.eye(width)
    if ordered:
        apart = np.diff(np.eye(width), axis=0)[:-1]
        penalty += SMOOTH * width * apart.T @ apart
    return penalty


def _in_steps(odds: float) -> int:
    return int(_all_in_steps(np.array([odds]))[0])


def _all_in_steps(odds: Floats) -> Integers:
    return np.rint(np.clip(odds * STEPS, -FAR, FAR)).astype(np.int64)
