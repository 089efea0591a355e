"""From the sum of outer products of rows to coefficients and their errors. All of it reads what was released.

In the frame of models/squares.py let Q be the sum for the predictors, q that of predictors times outcome, and s the
noise on the diagonal (s / sqrt 2 off it). With b = (Q + L)^-1 (q + l), L and l the penalty, what the noise N does is
(Q + L)^-1 (N_q - N_Q b), and entries j and k of N_q - N_Q b have the covariance (s^2 / 2) ((1 + |b|^2) [j = k] + b_j b_k).
What sampling does has the covariance (residual variance) (Q + L)^-1 Q (Q + L)^-1, of rows with equal variances.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.models.coefficients import Coefficients, CoefficientSpread
from discreet.models.squares import Squares
from discreet.stable.clipped import Floats

ABOUT: Final = "the population's coefficients of least squares, each by itself"
LOST: Final = 0.02  # of what a coefficient is made of: with more in directions lost in the noise it has no interval


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The coefficients with their errors, and how much was added to weak directions: 0 where nothing was."""

    spread: CoefficientSpread
    ridge: float
    weak: tuple[str, ...]


def solve(found: Squares, names: tuple[str, ...], *, intercept: bool, ridge: float | None) -> Line | str:
    """The coefficients of the columns `names`: rows are (1, x, y), or (x, y, 1) where there is no intercept."""
    many = len(names) + intercept
    total, turn, units = found.total, found.turn, found.units
    gram, cross, square = total[:many, :many], total[:many, many], float(total[many, many])
    loud = found.noise * math.sqrt(2 * many)
    values, vectors = np.linalg.eigh(gram)
    if values[-1] < 2 * loud:
        return "the noise is larger than what the rows show; bring more rows, fewer columns, or a larger epsilon"
    added = np.zeros((many, many))
    aimed = np.zeros(many)
    automatic = 0.0
    if ridge is None:
        automatic = max(0.0, loud - float(values[0]))
        added += automatic * np.eye(many)
    else:
        weights = np.array([0.0] * intercept + [float(ridge)] * len(names)) / units[:many] ** 2
        added += (turn[:many, :many] * weights) @ turn[:many, :many].T
        added += max(0.0, 1e-9 * float(values[-1]) - float(np.linalg.eigvalsh(gram + added)[0])) * np.eye(many)
        aimed = (turn[:many, :many] * weights) @ turn[many, :many]
    inverse = np.linalg.inv(gram + added)
    inverse = (inverse + inverse.T) / 2
    shift = inverse @ (cross + aimed)
    rest = max(square - 2 * float(shift @ cross) + float(shift @ gram @ shift), found.noise)
    back = np.linalg.solve(turn, np.eye(len(turn)))
    one = 0 if intercept else len(turn) - 1
    seen = max(float(back[one] @ total @ back[one]), many + 1.0)  # the sum of weights: rows that count
    variance = rest / max(seen - many, 1.0)
    sampled = variance * inverse @ positive(gram) @ inverse
    blurred = (
        found.noise**2 / 2 * inverse @ ((1 + float(shift @ shift)) * np.eye(many) + np.outer(shift, shift)) @ inverse
    )
    per = turn[many, many]
    inside = (turn[:many, :many].T @ shift - turn[many, :many]) / per
    jacobian = turn[:many, :many].T / per
    # from entries less their centres, over their units, to the columns themselves
    own = np.diag(units[many] / units[:many])
    if intercept:
        own[0, 1:] = -found.centres[1:many] * units[many] / units[1:many]
    whole = own @ inside
    errors = [_deviations(own @ jacobian, part) for part in (sampled, blurred)]
    if intercept:
        whole[0] += found.centres[many]
    else:
        whole = np.concatenate([[0.0], whole])
        errors = [np.concatenate([[0.0], part]) for part in errors]
    about = ABOUT
    if ridge is not None:
        about = "the population's coefficients of least squares with this ridge, each by itself"
    elif automatic:
        about = f"{ABOUT}, and no interval where the rows show too little"
    weak = _weak(own @ jacobian @ vectors, values < loud) if automatic else np.zeros(many, dtype=bool)
    for part in errors:
        part[-many:][weak] = math.inf
    value = Coefficients(whole[1:], float(whole[0]), names)
    spread = CoefficientSpread(value, errors[0], errors[1], about)
    lost = tuple(name for name, one in zip(names, weak[int(intercept) :], strict=True) if one)
    return Line(spread, automatic, lost)


def positive(matrix: Floats) -> Floats:
    """The nearest matrix with no negative eigenvalue."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _deviations(way: Floats, covariance: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", way, covariance, way), 0.0)))


def _weak(way: Floats, lost: Any) -> Any:
    """Which coefficients depend on directions that are lost in the noise."""
    share = (way[:, lost] ** 2).sum(axis=1) / np.maximum((way**2).sum(axis=1), 1e-300)
    return share > LOST
