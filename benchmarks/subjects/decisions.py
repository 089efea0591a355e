"""The audited tests."""

from typing import Any

from scipy import stats

from benchmarks.subjects.subject import LABELS, NUMBERS, REPLACE, SPREAD, Subject, edge_pairs
from discreet.hypotheses.category_tests import ClosenessTest, FitTest, IndependenceTest
from discreet.hypotheses.combined_tests import ScoreSum, VoteCount
from discreet.hypotheses.likelihood_ratio import SimpleTest
from discreet.hypotheses.mean_tests import MeanTest, TwoMeansTest
from discreet.hypotheses.rank_tests import GroupsTest, RankSumTest
from discreet.hypotheses.signed_tests import SignedRankTest, SignTest
from discreet.statistics.bins import Categories
from discreet.subsample.block_tests import BlockTest
from discreet.subsample.estimators import FunctionFit

AB, XY = Categories.of(["a", "b", 1]), Categories.of(["x", "y"])
PAIRS = (("a", "x"), ("b", "y"), ("a", None), (1, "x"), (None, None), "ab", 3)
DRAWS = 39  # enough to audit
FEW = [0.5, 1.5] * 6


def some_positive(x: Any) -> float:
    """A base test."""
    return float(0.5 ** (x > 0).sum())


SUBJECTS = {
    "SignTest": Subject(lambda _: SignTest(1.0), NUMBERS, edge_pairs(1.0, -1.0, FEW), 12, REPLACE),
    "SignedRankTest": Subject(lambda _: SignedRankTest(2.0), NUMBERS, edge_pairs(9.0, -9.0, FEW), 12, REPLACE),
    "RankSumTest": Subject(lambda _: RankSumTest(6, 2.0), NUMBERS, edge_pairs(-9.0, 9.0, FEW), 12, REPLACE),
    "GroupsTest": Subject(
        lambda _: GroupsTest((4, 4), 3.0, draws=DRAWS), NUMBERS, edge_pairs(-9.0, 9.0, FEW), 12, REPLACE
    ),
    "FitTest": Subject(
        lambda _: FitTest(AB, (0.5, 0.2, 0.2), 1.0, draws=DRAWS), LABELS, edge_pairs("a", "b", ["a"] * 12), 12, REPLACE
    ),
    "ClosenessTest": Subject(
        lambda _: ClosenessTest(AB, 6, 2.0, draws=DRAWS), LABELS, edge_pairs("a", "b", ["a"] * 12), 12, REPLACE
    ),
    "IndependenceTest": Subject(
        lambda _: IndependenceTest(AB, XY, 1.0, draws=DRAWS),
        PAIRS,
        edge_pairs(("a", "x"), ("b", "y"), [("a", "x")] * 12),
        12,
        REPLACE,
    ),
    "SimpleTest": Subject(
        lambda _: SimpleTest(stats.norm(0, 1), stats.norm(0.5, 1), 1.0),
        NUMBERS,
        edge_pairs(-9.0, 9.0, FEW),
        12,
        REPLACE,
    ),
    "SimpleTest, vote": Subject(
        lambda _: SimpleTest(stats.norm(0, 1), stats.norm(0.5, 1), 2.0, method="vote"),
        NUMBERS,
        edge_pairs(-9.0, 9.0, FEW),
        12,
        REPLACE,
    ),
    "MeanTest": Subject(
        lambda r: MeanTest(1.0, 1.0, bounds=(0.0, 2.0), neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, [1.0] * 5)
    ),
    "MeanTest, any shape": Subject(
        lambda r: MeanTest(1.0, 4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "TwoMeansTest": Subject(
        lambda _: TwoMeansTest(4, 1.0, bounds=(0.0, 2.0)), NUMBERS, edge_pairs(0.0, 2.0, [1.0] * 9), 9, REPLACE
    ),
    "BlockTest": Subject(
        lambda r: BlockTest(FunctionFit(some_positive), ScoreSum(5, 1.0, 2.0), neighbours=r),
        NUMBERS,
        edge_pairs(-9.0, 9.0, [1.0, -1.0] * 5),
        least=5,
    ),
    "BlockTest, votes": Subject(
        lambda r: BlockTest(FunctionFit(some_positive), VoteCount(5, 0.4, 2.0), neighbours=r),
        NUMBERS,
        edge_pairs(-9.0, 9.0, [1.0, -1.0] * 5),
        least=5,
    ),
}
