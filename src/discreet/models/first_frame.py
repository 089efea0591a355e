"""The frame of a regression and its first fit, from a noisy sum of outer products of rows with their outcome."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from discreet.models.design_columns import CONSTANT, DesignColumn
from discreet.stages.clip import Floats
from discreet.stages.gram import FINE, Frame
from discreet.stages.shrinkage import to_diagonal

FARTHEST: Final = 1.5  # units of the linear part: no step of these is longer


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Rows seen as scores: u, the first entries in a frame, times the residual, which is the last."""

    inner: Frame

    @property
    def size(self) -> int:
        """Coefficients."""
        return self.inner.size - 1

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.inner.step**2

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """u r of each row: one product each. [gram.4]"""
        seen, lost = self.inner.turned(rows)
        return seen[:-1] * seen[-1], lost


def started(moments: Floats, noise: float, *, bare: bool = False) -> tuple[Floats, Floats]:
    """The inverse root of the mean of v v' and a first fit, both with a ridge of the size of the noise; `bare` without
    one, but in directions that the noise hides, and drawn towards columns that do not depend on each other.

    >>> turn, fit = started(np.array([[4.0, 2.0], [2.0, 9.0]]), 0.0)
    >>> turn.round(6).tolist(), fit.round(6).tolist()
    ([[0.5]], [0.5])
    """
    many = len(moments) - 1
    squares = moments[:many, :many]
    if bare:
        squares, noise = to_diagonal(squares, noise)
    values, vectors = np.linalg.eigh(squares)
    floor = max(noise * math.sqrt(2 * many), 1e-12 * float(np.abs(values).max()), 1e-300)
    if bare:
        round_by = fit_by = np.maximum(values, floor / 2)
    else:
        kept = np.maximum(values, 0.0)
        round_by, fit_by = kept + floor / 2, kept + floor
    turn = (vectors / np.sqrt(round_by)) @ vectors.T
    return np.asarray(turn), np.asarray((vectors / fit_by) @ vectors.T @ moments[:many, many])


def with_residuals(turn: Floats, fit: Floats) -> Floats:
    """The frame of predictors and, last, the residual of a fit, of about the same size as the largest of them."""
    many = len(fit)
    found = np.zeros((many + 1, many + 1))
    found[:many, :many] = turn
    residual = np.append(-fit, 1.0)
    found[many] = residual * (np.abs(turn).max() / np.abs(residual).max())
    return found


def applied(frame: Frame) -> Floats:
    """What the frame does to entries less their centres and over their units, its rounding included."""
    return np.asarray(frame.step * 2.0**FINE * frame.whole)


def inverse_of(values: Floats, vectors: Floats) -> Floats:
    """The inverse of a symmetric matrix, by its eigenvalues and their directions."""
    return np.asarray((vectors / values) @ vectors.T)


def deviations(
    moments: Floats, columns: tuple[DesignColumn, ...], weighted: bool, back: Floats | None = None
) -> Floats:
    """Of entries, from the means of their products, taken `back` from a frame, times the root of the mean weight; 0 for
    the constant."""
    moments = moments if back is None else back @ moments @ back
    means = moments[0] if columns[0] is CONSTANT else np.zeros(len(moments))
    mean_weight = max(float(moments[0, 0]), 1e-300) if weighted else 1.0
    return np.sqrt(np.maximum(np.diag(moments) - means**2 / mean_weight, 0.0))


def shortened(step: Floats) -> Floats:
    """A step that changes linear parts by at most so much, in the mean square: further no slope tells."""
    far = float(np.linalg.norm(step))
    return step * min(1.0, FARTHEST / far) if far > 0 else step
