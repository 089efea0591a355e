"""The audited mechanisms of models."""

from functools import partial
from typing import Any

from benchmarks.subjects.subject import CLOUD, POINTS, Subject, edge_pairs, wide_cloud, wide_points
from discreet.models.design import Design, Formulated
from discreet.models.formula import Formula
from discreet.models.least_squares import LeastSquares
from discreet.privacy.exact import Number
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Release


def made(design: Design, intercept: bool, epsilon: Number, delta: Number, *, relation: Neighbours) -> LeastSquares:
    """The model of a formula."""
    return LeastSquares(
        epsilon, delta, names=design.names, intercept=intercept, ridge=None, bounds=design.bounds, neighbours=relation
    )


class OfPairs(Formulated):
    """A formula on a list of pairs, as the audit hands them in: a category and an outcome."""

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        pairs = [row if isinstance(row, tuple) and len(row) == 2 else (None, None) for row in rows]
        return super().release({"group": [one for one, _ in pairs], "y": [other for _, other in pairs]}, rng)


def by_formula(relation: Neighbours) -> OfPairs:
    """y on the levels of a category that have to be found."""
    return OfPairs(
        Formula.read("y ~ C(group)"), partial(made, relation=relation), epsilon=16.0, delta=1e-4, neighbours=relation
    )


SUBJECTS = {
    "LeastSquares": Subject(
        lambda r: LeastSquares(16.0, 1e-5, names=("x",), neighbours=r),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
    ),
    "LeastSquares, bounds": Subject(
        lambda r: LeastSquares(
            16.0, 1e-5, names=("x",), intercept=False, ridge=1.0, bounds=((-1.0, 1.0), (-2.0, 2.0)), neighbours=r
        ),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
    ),
    "LeastSquares, many columns": Subject(
        lambda r: LeastSquares(16.0, 1e-5, names=tuple(f"x{k}" for k in range(9)), neighbours=r),
        wide_points(10),
        edge_pairs((40.0, *[0.0] * 8, 60.0), (*[0.0] * 8, -40.0, 60.0), wide_cloud(10)),
        400,
        ordinary=tuple(wide_cloud(10)),
    ),
    "Formulated": Subject(
        by_formula,
        tuple((label, x) for label in ("a", "b", None, 1, 1e300) for x in (0.0, 1.0, float("nan"), 1e300)),
        edge_pairs(("a", 1.0), ("z", -1e12), [("ab"[k % 2], float(k % 7)) for k in range(400)]),
        200,
    ),
}
