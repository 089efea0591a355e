"""Rows of several classes seen at a fit: as scores of a multinomial model, and as their part of its information.

Of K classes the k-th has the linear part f_k'v, its chance p_k is exp(f_k'v) over the sum of these. Only differences
count: f = Q g, Q of K rows and K - 1 orthonormal columns that sum to 0, so that no class is set apart.

Claims
    [class_scores.1] What a row is seen as, `ScoresByClass` or `CurvesByClass`, is a fixed function of itself, given
          frames and a limit that are public or were released; no value raises, and none is infinite. A row with a
          missing entry is 0 as information, and flagged in both.
    [class_scores.2] The length of a row's information as a vector is that of the matrix in Frobenius norm: noise s on
          each entry is noise s on the matrix's diagonal and s / root 2 off it.
    [class_scores.3] `of_classes` counts disjoint sets of rows.
Why
    [class_scores.1] Rows in a frame are exact integers: [gram.4]. Linear parts are some of them times a number,
    exponentials are read off a public table ([score.4]), of differences from the largest, so that the largest is 1 and
    no sum of them is 0; then sums of K terms in one order, quotients, roots, products and comparisons, each correctly
    rounded, entry by entry and not by a library's products of matrices; and exact integers of a second frame. Chances
    are at most 1, entries of either frame below 2^52: sums of K products of two stay below 2^110.
    [class_scores.2] Entries above the diagonal leave once, times the root of 2, and stand twice in the matrix.
    [class_scores.3] A number equals one class at most.
Source
    Begg and Gray 1984 (one model of many classes); Kronecker scores under one length are ours.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.linalg import helmert
from scipy.special import ndtri
from scipy.stats.qmc import Halton

from discreet.models.score import looked_up, poisson
from discreet.stages.clip import Floats
from discreet.stages.gram import Frame, lengths_of

POINTS: Final = 256  # of a made-up table, for the first steps
STIFF: Final = 0.02  # of its mean curvature, beside it


def contrasts(classes: int) -> Floats:
    """Q: orthonormal columns that sum to 0, a row for each class.

    >>> contrasts(2).round(3).tolist()
    [[0.707], [-0.707]]
    """
    return np.asarray(helmert(classes).T)


@dataclass(frozen=True, slots=True, eq=False)
class ScoresByClass:
    """Rows, which end in the number of their class, seen as scores: Q'(y - p) x u."""

    inner: Frame  # u and, last, the linear part of each class
    per: float  # of linear parts to the last ones
    turns: Floats  # Q

    @property
    def many(self) -> int:
        """Coefficients of one class."""
        return self.inner.size - len(self.turns)

    @property
    def size(self) -> int:
        """Coefficients."""
        return self.many * (len(self.turns) - 1)

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.inner.step

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which are missing. [class_scores.1]"""
        seen, residuals, lost = self.residuals(rows)
        found = residuals[:, None] * seen[None]  # [class_scores.1]
        return found.reshape(self.size, len(rows)), lost

    def residuals(self, rows: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """u and Q'(y - p) of each row, 0 where it is missing. [class_scores.1]"""
        seen, chances, lost = self.chances(rows)
        for place, chance in enumerate(chances):
            np.subtract(rows[:, -1] == place, chance, out=chance)
        found = turned_by(self.turns, chances)
        found[:, lost] = 0.0
        return seen, found, lost

    def chances(self, rows: Floats) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """u, and the chances of each class: sums in one order, no library's product. [class_scores.1]"""
        seen, missing = self.inner.turned(rows[:, :-1])
        linear = seen[self.many :] * self.per
        linear -= linear.max(axis=0)
        powers = looked_up(poisson().means, linear)  # [class_scores.1]
        total = np.zeros(len(rows))
        for power in powers:
            total += power
        lost = np.isnan(rows[:, -1])
        return seen[: self.many], powers / total, lost if missing is None else lost | missing


@dataclass(frozen=True, slots=True, eq=False)
class CurvesByClass:
    """The same rows seen as their part of the information, as one vector; 0 where the score is cut.

    The information of a row is the sum over k of p_k z z', z = (Q_k - Q'p) x u: so much of it as `even` makes of z."""

    scores: ScoresByClass
    limit: float
    even: Frame  # in which the information is about the same in every direction

    @property
    def size(self) -> int:
        """Entries of the upper triangle."""
        return len(triangle(self.scores.size)[0])

    @property
    def step(self) -> float:
        """What one stands for."""
        return self.even.step**2

    def turned(self, rows: Floats) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """One column for each row, and which are missing. [class_scores.1]"""
        (i, j, heavy), turns = triangle(self.scores.size), self.scores.turns
        seen, chances, lost = self.scores.chances(rows)
        _, residuals, _ = self.scores.residuals(rows)
        out = lost | ~(lengths_of(residuals) * lengths_of(seen) * self.scores.step <= self.limit)
        means, seen = turned_by(turns, chances), seen * self.scores.step
        found = np.zeros((self.size, len(rows)))
        for turn, chance in zip(turns, chances, strict=True):
            part = np.sqrt(chance) * (turn[:, None] - means)
            part[:, out] = 0.0  # [class_scores.1]
            z, _ = self.even.turned((part[:, None] * seen[None]).reshape(self.scores.size, len(rows)).T)
            found += z[i] * z[j]
        found *= heavy[:, None]
        return found, lost

    def matrix(self, entries: Floats) -> Floats:
        """The matrix of which these are the entries. [class_scores.2]"""
        i, j, heavy = triangle(self.scores.size)
        found = np.zeros((self.scores.size,) * 2)
        found[i, j] = found[j, i] = entries / heavy
        return found


def turned_by(turns: Floats, chances: Floats) -> Floats:
    """turns' @ chances, each sum in one order. [class_scores.1]"""
    found = np.zeros((turns.shape[1], chances.shape[1]))
    for turn, chance in zip(turns, chances, strict=True):
        found += turn[:, None] * chance
    return found


@lru_cache(maxsize=64)
def triangle(size: int) -> tuple[Any, Any, Floats]:
    """The places of the upper triangle, and the root of how often each stands in the matrix. [class_scores.2]"""
    rows, columns = np.triu_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, math.sqrt(2))


def likely_rows(turn: Floats) -> Floats:
    """Rows (1, x), x normal and spread as what was released says: a fixed set of points."""
    moments = np.linalg.inv(turn.T @ turn)
    mean = moments[0, 1:] / moments[0, 0]
    spread = moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)
    points = ndtri(Halton(len(mean), scramble=False).random(POINTS + 1)[1:])
    values, vectors = np.linalg.eigh(spread)
    points = np.vstack([points, -points]) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return np.column_stack([np.ones(2 * POINTS), mean + points])


def curvature(linear: Floats, seen: Floats, turns: Floats) -> Floats:
    """The mean information of rows `seen` with these linear parts, and a little more: steps are of its size."""
    powers = np.exp(linear - linear.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    means, (a, b) = chances @ turns, np.indices((turns.shape[1],) * 2)
    curves = chances @ (turns[:, a] * turns[:, b]).reshape(len(turns), -1)
    curves = curves.reshape(-1, *a.shape) - means[:, :, None] * means[:, None]
    found = np.einsum("nab,ni,nj->aibj", curves, seen, seen, optimize=True) / len(seen)
    size = turns.shape[1] * seen.shape[1]
    found = found.reshape(size, size)
    return np.asarray(found + STIFF * np.trace(found) / size * np.eye(size))


def of_classes(given: Iterator[Floats], *, classes: int) -> tuple[int, ...]:
    """A kernel: how many rows there are of each class. [class_scores.3]"""
    found = [0] * classes
    for piece in given:
        for place in range(classes):
            found[place] += int((piece == place).sum())  # [class_scores.3]
    return tuple(found)
