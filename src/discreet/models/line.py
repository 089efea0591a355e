"""From the sum of outer products of rows to coefficients and their errors. All of it reads what was released.

In the frame of models/squares.py let Q be the sum for the predictors, q that of predictors times outcome, and s the
noise on the diagonal (s / sqrt 2 off it). With b = (Q + L)^-1 (q + l), L and l the penalty, what the noise N does is
(Q + L)^-1 (N_q - N_Q b), and N_q - N_Q b has the covariance (s^2 / 2) ((1 + |b|^2) I + b b'). What sampling does has
the covariance (residual variance) (Q + L)^-1 Q (Q + L)^-1, for rows whose residuals have one variance.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.models.coefficients import Coefficients, CoefficientSpread
from discreet.models.squares import Squares
from discreet.stable.clipped import Floats

ABOUT: Final = "the population's coefficients of least squares, each by itself"
RIDGED: Final = "the population's coefficients of least squares with this ridge, each by itself"
LOST: Final = 0.02  # of what a coefficient is made of: with more in directions lost in the noise it has no interval
HIDDEN: Final = "the noise is larger than what the rows show; bring more rows, fewer columns, or a larger epsilon"
STIFFEST: Final = 1e150  # a penalty in the frame: its products with other numbers there are still floats
STIFF: Final = (
    "this ridge in the units of the columns is beyond the floats; rescale the columns, or give a smaller ridge"
)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The coefficients with their errors, how much was added to weak directions, and whose interval that takes away."""

    spread: CoefficientSpread
    ridge: float
    weak: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The coefficients in the frame: values, and covariances from sampling and from the noise."""

    shift: Floats
    sampled: Floats
    blurred: Floats


def solve(found: Squares, names: tuple[str, ...], *, intercept: bool, ridge: float | None) -> Line | str:
    """The coefficients of the columns `names`: rows are (1, x, y), or (x, y, 1) where there is no intercept."""
    with np.errstate(all="ignore"):  # units may be 300 orders of magnitude apart
        return _line(found, names, intercept, ridge)


def _line(found: Squares, names: tuple[str, ...], intercept: bool, ridge: float | None) -> Line | str:
    many = len(names) + intercept
    loud = found.noise * math.sqrt(2 * many)  # the noise as an operator
    values, vectors = np.linalg.eigh(found.total[:many, :many])
    if values[-1] < 2 * loud:
        return HIDDEN
    automatic = max(0.0, loud - float(values[0])) if ridge is None else 0.0
    penalty = np.array([0.0] * intercept + [ridge or 0.0] * len(names))
    if not float((penalty / found.units[:many] ** 2).max()) * float(np.abs(found.turn).max()) ** 2 < STIFFEST:
        return STIFF
    solved = _solved(found, many, automatic, penalty)
    inner, per = found.turn[:many, :many].T, found.turn[many, many]
    # from entries less their centres, over their units, to the columns themselves
    own = np.diag(found.units[many] / found.units[:many])
    if intercept:
        own[0, 1:] = -found.centres[1:many] * own.diagonal()[1:]
    way = own @ inner / per
    whole = way @ solved.shift - own @ found.turn[many, :many] / per
    errors = [_deviations(way, part) for part in (solved.sampled, solved.blurred)]
    weak = _weak(way @ vectors, values < loud, intercept) if automatic else np.zeros(many, dtype=bool)
    for part in errors:
        part[weak] = math.inf
    if intercept:
        whole[0] += found.centres[many]
    else:
        whole, *errors = (np.concatenate([[0.0], part]) for part in (whole, *errors))
    about = f"{ABOUT}, and no interval where the rows show too little" if automatic else ABOUT
    spread = CoefficientSpread(
        Coefficients(whole[1:], float(whole[0]), names), errors[0], errors[1], about if ridge is None else RIDGED
    )
    lost = tuple(name for name, one in zip(names, weak[int(intercept) :], strict=True) if one)
    return Line(spread, automatic, lost)


def _solved(found: Squares, many: int, automatic: float, penalty: Floats) -> Solved:
    """Ridge regression in the frame; `penalty` is that of each coefficient in the units of the data."""
    total, turn = found.total, found.turn
    gram, cross = total[:many, :many], total[:many, many]
    weighted = turn[:many, :many] * (penalty / found.units[:many] ** 2)
    stiff = gram + automatic * np.eye(many) + weighted @ turn[:many, :many].T
    least = float(np.linalg.eigvalsh(stiff)[0])
    floor = 1e-9 * float(np.abs(stiff).max())
    inverse = np.linalg.inv(stiff + max(0.0, floor - least) * np.eye(many))
    inverse = (inverse + inverse.T) / 2
    shift = inverse @ (cross + weighted @ turn[many, :many])
    rest = float(total[many, many]) - 2 * float(shift @ cross) + float(shift @ gram @ shift)
    constant = np.linalg.solve(turn, np.eye(len(turn)))[0 if many == len(turn) - 1 else -1]
    counted = max(float(constant @ total @ constant), many + 1.0)  # the sum of weights: how many rows count
    variance = max(rest, found.noise) / max(counted - many, 1.0)
    moved = (1 + float(shift @ shift)) * np.eye(many) + np.outer(shift, shift)
    return Solved(shift, variance * inverse @ _positive(gram) @ inverse, found.noise**2 / 2 * inverse @ moved @ inverse)


def _positive(matrix: Floats) -> Floats:
    """The nearest matrix with no negative eigenvalue."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _deviations(way: Floats, covariance: Floats) -> Floats:
    found = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", way, covariance, way), 0.0))
    return np.where(np.isnan(found), math.inf, found)


def _weak(way: Floats, lost: Any, intercept: bool) -> Any:
    """Which coefficients depend on directions that are lost in the noise; the intercept, on any slope that does."""
    share = (way[:, lost] ** 2).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-300)
    weak = share > LOST
    if intercept:
        weak[0] = weak.any()
    return weak
