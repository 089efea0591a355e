"""The audited tests."""

from typing import Any

from scipy import stats

from benchmarks.subjects.subject import ADD, LABELS, NUMBERS, REPLACE, SPREAD, Subject, edge_pairs
from discreet.hypotheses.category_tests import ClosenessTest, IndependenceTest
from discreet.hypotheses.combined_tests import ScoreSum, VoteCount
from discreet.hypotheses.goodness_of_fit import FitTest
from discreet.hypotheses.likelihood_ratio import SimpleTest
from discreet.hypotheses.limited_tests import LimitedMeansTest, LimitedMeanTest
from discreet.hypotheses.mean_tests import MeanTest, NormalMeansTest
from discreet.hypotheses.private_sizes import PrivateGroups
from discreet.hypotheses.rank_tests import GroupsTest, RankSumTest
from discreet.hypotheses.signed_tests import SymmetryTest
from discreet.statistics.histogram import Categories
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.custom_test import P_VALUE
from discreet.subsample.estimators import FunctionFit

AB, XY = Categories.of(["a", "b", 1]), Categories.of(["x", "y"])
PAIRS = (("a", "x"), ("b", "y"), ("a", None), (1, "x"), (None, None), "ab", 3)
DRAWS = 39  # enough to audit
FEW = [0.5, 1.5] * 6
GROUPED = ((0, 0.0), (0, 1.0), (1, 1.0), (1, 2.0), (1, None), (2, 0.0), "ab", 3)
CROWD = [(k % 2, float(k % 3)) for k in range(24)]


def some_positive(x: Any) -> float:
    """A base test."""
    return float(0.5 ** (x > 0).sum())


SUBJECTS = {
    "SignTest": Subject(
        lambda r: SymmetryTest(9.0, neighbours=r, method="signs"), NUMBERS, edge_pairs(1.0, -1.0, FEW), 12
    ),
    "SymmetryTest": Subject(lambda r: SymmetryTest(1.3, neighbours=r), NUMBERS, edge_pairs(1.0, -1.0, FEW), 12),
    "SignedRankTest": Subject(
        lambda r: SymmetryTest(9.0, neighbours=r, method="ranks"), NUMBERS, edge_pairs(9.0, -9.0, FEW), 12
    ),
    "RankSumTest": Subject(lambda _: RankSumTest(6, 2.0), NUMBERS, edge_pairs(-9.0, 9.0, FEW), 12, REPLACE),
    "GroupsTest": Subject(
        lambda _: GroupsTest((4, 4), 3.0, draws=DRAWS), NUMBERS, edge_pairs(-9.0, 9.0, FEW), 12, REPLACE
    ),
    "FitTest": Subject(
        lambda r: FitTest(AB, (0.5, 0.2, 0.2), 1.0, neighbours=r, draws=DRAWS),
        LABELS,
        edge_pairs("a", "b", ["a"] * 12),
        12,
    ),
    "ClosenessTest": Subject(
        lambda _: ClosenessTest(AB, 6, 2.0, draws=DRAWS), LABELS, edge_pairs("a", "b", ["a"] * 12), 12, REPLACE
    ),
    "IndependenceTest": Subject(
        lambda r: IndependenceTest(AB, XY, 1.0, neighbours=r, draws=DRAWS),
        PAIRS,
        edge_pairs(("a", "x"), ("b", "y"), [("a", "x")] * 12),
        12,
    ),
    "SimpleTest": Subject(
        lambda r: SimpleTest(stats.norm(0, 1), stats.norm(0.5, 1), 9.0, clamp=(-0.5, 0.5), neighbours=r),
        NUMBERS,
        edge_pairs(-9.0, 9.0, FEW),
        12,
    ),
    "SimpleTest, vote": Subject(
        lambda r: SimpleTest(stats.norm(0, 1), stats.norm(0.5, 1), 2.0, method="vote", neighbours=r),
        NUMBERS,
        edge_pairs(-9.0, 9.0, FEW),
        12,
    ),
    "MeanTest": Subject(
        lambda r: MeanTest(1.0, 1.0, bounds=(0.0, 2.0), neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, [1.0] * 5)
    ),
    "LimitedMeanTest": Subject(
        lambda r: LimitedMeanTest(1.0, 4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "LimitedMeansTest": Subject(
        lambda _: LimitedMeansTest(4, 1.0, bounds=(0.0, 2.0)), NUMBERS, edge_pairs(0.0, 2.0, [1.0] * 9), 9, REPLACE
    ),
    "LimitedMeansTest, private sizes": Subject(
        lambda _: LimitedMeansTest(None, 60.0), GROUPED, edge_pairs((0, -9.0), (1, 9.0), CROWD), 24, ADD
    ),
    "PrivateGroups, RankSumTest": Subject(
        lambda _: PrivateGroups(RankSumTest(1, 60.0), 2), GROUPED, edge_pairs((0, -9.0), (1, 9.0), CROWD), 24, ADD
    ),
    "PrivateGroups, GroupsTest": Subject(
        lambda _: PrivateGroups(GroupsTest((1,), 60.0, draws=DRAWS), 2),
        GROUPED,
        edge_pairs((0, -9.0), (1, 9.0), CROWD),
        24,
        ADD,
    ),
    "PrivateGroups, NormalMeansTest": Subject(
        lambda _: PrivateGroups(NormalMeansTest(1, 60.0, bounds=(0.0, 2.0)), 2),
        GROUPED,
        edge_pairs((0, -9.0), (1, 9.0), CROWD),
        24,
        ADD,
    ),
    "BlockTest": Subject(
        lambda r: SubsampleAggregate(FunctionFit(some_positive), P_VALUE, ScoreSum(5, 1.0, 2.0), neighbours=r),
        NUMBERS,
        edge_pairs(-9.0, 9.0, [1.0, -1.0] * 5),
        least=5,
    ),
    "BlockTest, votes": Subject(
        lambda r: SubsampleAggregate(FunctionFit(some_positive), P_VALUE, VoteCount(5, 0.4, 2.0), neighbours=r),
        NUMBERS,
        edge_pairs(-9.0, 9.0, [1.0, -1.0] * 5),
        least=5,
    ),
}
