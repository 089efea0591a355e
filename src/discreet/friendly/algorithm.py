"""Any private algorithm, run on rows that are friends with each other.

Releases
    What the algorithm releases, from the rows that survive MatchCore.
Promise
    [algorithm.1] If the algorithm has a loss for adding or removing a row of a table in which every two rows are
          friends, the same loss holds for any table under ADD_OR_REMOVE, and that of a group of two under REPLACE: for
          (epsilon, delta) that is (2 epsilon, (1 + e^epsilon) delta).
Why
    [algorithm.1] Under ADD_OR_REMOVE survivors change by exactly one row ([core.5]), and every two are friends
    ([core.4]). Under REPLACE go from S to the rows in both, to S': by [core.6] each way one row in all, or two in one
    way and none in the other; all these are subsets of S or of S', so friends. Given the shuffle or the key rows are in
    the same order, but for the one: [core.1], [sample.1]. Survivors that are not finite are left out, each by itself,
    which moves nobody else.
Needs
    An algorithm that promises for ADD_OR_REMOVE, and reads no number of rows.
Accuracy
    The algorithm's own; on rows that all are friends nothing is lost.
Source
    Tsfadia, Cohen, Kaplan, Mansour and Stemmer 2022 (FriendlyCore paradigm), where a random filter costs a factor more.
"""

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.errors import BadInput
from discreet.friendly.core import Predicate, match_core
from discreet.friendly.sample import Places
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Loss, Sampled, atoms, for_group
from discreet.privacy.mechanism import Mechanism, Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.release import Release
from discreet.tables.matrix import matrix, take

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Friendly(Generic[T]):
    """An algorithm on the core of a table: see `friendly`."""

    algorithm: Mechanism[T]
    predicate: Predicate
    neighbours: Neighbours = Neighbours.REPLACE
    columns: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        check_algorithm(self.algorithm)

    @property
    def guarantee(self) -> Guarantee:
        """The algorithm's; for a group of two where rows are replaced. [algorithm.1]"""
        inner = self.algorithm.guarantee
        promised = inner.for_group(2) if self.neighbours is Neighbours.REPLACE else inner  # [algorithm.1]
        return replace(promised, neighbours=self.neighbours)

    @property
    def loss(self) -> Loss:
        """The algorithm's; for a group of two where rows are replaced. [algorithm.1]"""
        inner = self.algorithm.loss
        return for_group(inner, 2) if self.neighbours is Neighbours.REPLACE else inner  # [algorithm.1]

    def release(self, rows: Any, rng: Randomness) -> Release[T]:
        """What the algorithm releases from the core."""
        table = matrix(rows, self.columns)
        public = self.neighbours.size_is_public
        ordered = take(table, rng.permutation(table.size)) if public else Places(table, rng).below(1)  # [algorithm.1]
        core = match_core(self.predicate.strangers(ordered))
        kept = ordered[core.survivors]
        kept = kept[np.isfinite(kept).all(axis=1)]  # [algorithm.1]
        inner = self.algorithm.release(kept[:, 0] if kept.shape[1] == 1 else kept, rng)  # one column as a column
        history = replace(inner.provenance, mechanism=f"friendly {inner.provenance.mechanism}")
        return replace(inner, guarantee=self.guarantee, provenance=history)


def friendly(
    algorithm: Mechanism[T],
    predicate: Predicate,
    *,
    neighbours: Neighbours = Neighbours.REPLACE,
    columns: int | None = None,
) -> Friendly[T]:
    """Run an algorithm on the rows that are friends with each other.

    It need keep its promise only for tables of friends, under ADD_OR_REMOVE; the result keeps it for all tables.
    """
    return Friendly(algorithm, predicate, neighbours, columns)


def check_algorithm(algorithm: Mechanism[Any]) -> None:
    """One that hides whether a row is there; a sample's loss is for fresh samples of people, not of cores."""
    if algorithm.guarantee.neighbours is not Neighbours.ADD_OR_REMOVE:
        raise BadInput("the algorithm promises for replaced rows; give one that promises for ADD_OR_REMOVE")
    if any(isinstance(part, Sampled) for part in atoms(algorithm.loss)):
        raise BadInput("the algorithm samples people by itself; give one that reads all its rows")
