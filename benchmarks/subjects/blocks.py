"""The audited mechanisms of blocks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks.subjects.subject import ADD, NUMBERS, SPREAD, Subject, edge_pairs
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Loss
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Release
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_table import BlockTable
from discreet.subsample.coordinatewise import BlockMean, BlockMedian
from discreet.subsample.counted_people import CountedPeople
from discreet.subsample.estimators import FunctionFit, SklearnFit
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.remaining_bias import RemainingBias
from discreet.subsample.returned import Shape
from discreet.subsample.run_block import Correct
from discreet.subsample.vote import OpenVote, Vote
from discreet.tables.entries import numbers

NUMBER, YES_NO, TEXT = Shape("number", ("value",)), Shape("label", ("label",), labels=(0, 1)), Shape("text", ("label",))


def telling(relation: Neighbours) -> SubsampleAggregate:
    """A mean of 5 blocks, and what is left of its bias."""
    mean = RemainingBias(BlockMean(5, 1, 40.0), 10.0)
    return SubsampleAggregate(FunctionFit(np.mean), NUMBER, mean, neighbours=relation, correct="half")


@dataclass(frozen=True)
class Regressed:
    """A regression on a table made entry by entry of numbers: the fits of all blocks at once, as for any estimator.

    Each entry gives one row: itself, its bend, and an outcome, a number or a yes or no, that follows from it.
    """

    inner: SubsampleAggregate

    @property
    def guarantee(self) -> Guarantee:
        """As the fit's."""
        return self.inner.guarantee

    @property
    def loss(self) -> Loss:
        """As the fit's."""
        return self.inner.loss

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        """The regression's."""
        values = numbers(rows)
        with np.errstate(all="ignore"):
            x = np.stack([values, np.sin(values)], axis=1)
            straight = isinstance(self.inner.fit.last, LinearRegression)  # type: ignore[attr-defined]
            y = values + np.cos(values) if straight else (np.sin(3 * values) > 0).astype(np.float64)
        table = BlockTable.of(x, y)
        assert self.inner.plan(table).path.startswith("batched")
        return self.inner.release(table, rng)


def regressed(estimator: Any, correct: Correct, relation: Neighbours) -> Regressed:
    """Two slopes and an intercept from 20 blocks."""
    names = ("coef_[0]", "coef_[1]", "intercept_")
    shape = Shape("named", names)
    return Regressed(
        SubsampleAggregate(SklearnFit(estimator), shape, BlockMean(20, 3, 60.0), neighbours=relation, correct=correct)
    )


def counted(relation: Neighbours) -> CountedPeople:  # noqa: ARG001  the other relation has no need of it
    """A mean of about as many blocks as there are people, and ten more."""

    def made(people: int, epsilon: Number) -> SubsampleAggregate:
        return SubsampleAggregate(
            FunctionFit(np.mean), NUMBER, BlockMean(people + 10, 1, epsilon), neighbours=Neighbours.ADD_OR_REMOVE
        )

    return CountedPeople(made, 40.0)


def above_one(x: Any) -> int:
    """A vote."""
    return int(x.mean() > 1)


SUBJECTS = {
    "SubsampleAggregate, BlockMean": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMean(10, 1, 20.0), neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=10,
    ),
    "SubsampleAggregate, BlockFriends": Subject(
        lambda r: SubsampleAggregate(
            FunctionFit(np.mean), NUMBER, BlockFriends(60, 1, epsilon=30.0, delta=1e-4), neighbours=r
        ),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=60,
    ),
    "SubsampleAggregate, batched least squares": Subject(
        lambda r: regressed(LinearRegression(), "half", r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=20
    ),
    "SubsampleAggregate, batched Newton steps": Subject(
        lambda r: regressed(LogisticRegression(), None, r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=20
    ),
    "SubsampleAggregate, batched Firth": Subject(
        lambda r: regressed(LogisticRegression(C=np.inf), "firth", r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=20
    ),
    "CountedPeople": Subject(counted, NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=10, only=ADD),
    "RemainingBias": Subject(telling, NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=80),
    "SubsampleAggregate, BlockMedian": Subject(
        lambda r: SubsampleAggregate(FunctionFit(np.mean), NUMBER, BlockMedian(20, 1, 20.0), neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=20,
    ),
    "SubsampleAggregate, Vote": Subject(
        lambda r: SubsampleAggregate(FunctionFit(above_one), YES_NO, Vote(5, 2, 1.0), neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 5),
        least=5,
    ),
    "SubsampleAggregate, OpenVote": Subject(
        lambda r: SubsampleAggregate(
            FunctionFit(lambda x: str(above_one(x))), TEXT, OpenVote(20, 2.0, 1e-4), neighbours=r
        ),
        NUMBERS,
        edge_pairs(0.0, 1e12, [1.0] * 20),
        least=20,
    ),
}
