"""The lectures' other variant: keep each row at random, the likelier the more friends it has.

Releases
    What an algorithm releases from the rows that were kept.
Promise
    [FQ1] If the algorithm is (epsilon, delta) for adding or removing a row of a table in which every two rows have a
          common friend, this is (g, c delta e^g), g = c (e^epsilon - 1): c = 3 under REPLACE, c = 2 under
          ADD_OR_REMOVE.
    [FQ2] ADD_OR_REMOVE: adding a row moves all weights together by at most 2, its own counted.
Why
    [FQ1] Go from one table's weights to the other's one row at a time; a replaced row goes to weight 0, its
    replacement comes from it. In each step w becomes w', and P_w = w P_1 + (1 - w) P_0, with the row and without. For
    every event P_w - P_w' = (w - w')(P_1 - P_0) <= |w - w'| ((e^eps - 1) P_w' + delta): if the factor w - w' is
    positive bound by P_0, which is at most P_w' where P_1 >= P_0, else by P_1. So each step costs the factor exp(|w -
    w'| (e^eps - 1)) and the term |w - w'| delta. All moves together are at most 3 ([FW3] of weights.py) or 2 ([FQ2]).
    Rows of positive weight in either table have common friends: [FW2], and under ADD_OR_REMOVE two sets of more than
    n/2 and (n + 1)/2 of n + 1 rows meet. The coins must stay secret: the promise is for their average, not for each
    way they can fall.
    [FQ2] w_i = 2 c_i / n - 1 cut to [0, 1], c_i friends and the row itself, n >= 2; no weight where n < 2. A new row
    of F friends: each of them goes from 2c/n to 2(c + 1)/(n + 1), up by 2(n - c)/(n(n + 1)), which while w > 0 (c >=
    n/2) is at most 1/(n + 1), or by less to get above 0; each other falls by 2c/(n(n + 1)) <= 2/(n + 1). The new one
    weighs (2F + 1 - n)+/(n + 1). Times n + 1 that is F + 2(n - F) + (2F + 1 - n)+ at most: 2n - F, or n + 1 + F <= 2n
    + 1. From one row to two it is 2 at most, the weight of two friends.
Needs
    A symmetric predicate. An algorithm that promises for ADD_OR_REMOVE.
Accuracy
    g is 3 epsilon and more, where `friendly` costs 2 epsilon, or epsilon: this variant is here because it was lectured.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022; the constant is worked out above.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.accounting.compose import pure
from discreet.errors import BadInput
from discreet.friendly.algorithm import check_algorithm
from discreet.friendly.core import friend_counts
from discreet.friendly.matrix import in_one, matrix
from discreet.friendly.predicate import Predicate
from discreet.friendly.weights import STABILITY, Wholes, weight_units
from discreet.promise.exact import exact, float_above
from discreet.promise.guarantee import Guarantee
from discreet.promise.loss import Approximate
from discreet.promise.mechanism import Mechanism, Randomness
from discreet.promise.neighbours import Neighbours
from discreet.promise.release import Release

T = TypeVar("T")
UP = 1 + 1e-12  # above the rounding of the floats


@dataclass(frozen=True, slots=True)
class Retained(Generic[T]):
    """An algorithm on rows that were kept with probability equal to their weight."""

    algorithm: Mechanism[T]
    predicate: Predicate
    neighbours: Neighbours = Neighbours.REPLACE
    columns: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_algorithm(self.algorithm)
        if not math.isfinite(float(self.loss.epsilon)) or float(self.loss.delta) >= 1:
            raise BadInput("the algorithm's epsilon is too large for this variant to promise anything; use friendly()")

    @property
    def loss(self) -> Approximate:
        """(g, c delta e^g) of the algorithm's own promise. [FQ1]"""
        moved = STABILITY if self.neighbours is Neighbours.REPLACE else 2  # [FQ2]
        inner = pure(self.algorithm.loss)
        promised = self.algorithm.guarantee
        eps, delta = inner if inner is not None else (exact(promised.epsilon), exact(promised.delta))
        if eps > 5:  # e^5 is 148
            return Approximate(1e300, 1)
        size = moved * math.expm1(float(eps)) * UP
        return Approximate(size, min(1.0, moved * float_above(delta) * math.exp(min(size, 700.0)) * UP))  # [FQ1]

    @property
    def guarantee(self) -> Guarantee:
        """What the loss says."""
        return Guarantee(self.loss.epsilon, self.loss.delta, self.neighbours, self.algorithm.guarantee.unit)

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """What the algorithm releases from the rows that were kept."""
        table = in_one(matrix(rows, self.columns))
        units, whole = self.chances(table)
        kept = [place for place, unit in enumerate(units.tolist()) if rng.below(whole) < unit]  # [FQ1]
        inner = self.algorithm.release(table[kept, 0] if table.shape[1] == 1 else table[kept], rng)
        history = replace(inner.provenance, mechanism=f"retained {inner.provenance.mechanism}")
        return replace(inner, guarantee=self.guarantee, provenance=history)

    def chances(self, table: Any) -> tuple[Wholes, int]:
        """The chance of each row as a number of parts of a whole."""
        strangers = self.predicate.strangers(table)
        if self.neighbours is Neighbours.REPLACE:
            return weight_units(strangers), max(1, len(table) - 1)
        size = len(table)
        if size < 2:
            return np.zeros(size, dtype=np.int64), 1  # [FQ2]
        return np.clip(2 * (friend_counts(strangers) + 1) - size, 0, size), size  # [FQ2]
