"""The audited mechanisms of statistics."""

from benchmarks.subjects.subject import (
    ADD,
    CLOUD,
    LABELS,
    NUMBERS,
    POINTS,
    REPLACE,
    SPREAD,
    WIDE,
    Subject,
    edge_pairs,
    wide_cloud,
    wide_points,
)
from discreet.hypotheses.result import ProportionTest
from discreet.statistics.bounded_mean import BoundedMean
from discreet.statistics.column_means import ColumnMeans
from discreet.statistics.count import Count
from discreet.statistics.covariance import Covariance
from discreet.statistics.density import BinnedDensity
from discreet.statistics.family import GAUSSIAN
from discreet.statistics.histogram import Categories, Edges, Histogram
from discreet.statistics.karwa_vadhan import KarwaVadhan
from discreet.statistics.mean import RankClippedMean
from discreet.statistics.multivariate_gaussian import MultivariateGaussian
from discreet.statistics.normal import GaussianMean
from discreet.statistics.normal_means import ClippedMean, CoarseMean, StabilityMean, TwoStageMean
from discreet.statistics.open_histogram import OpenHistogram, SparseHistogram
from discreet.statistics.proportion import Proportion
from discreet.statistics.quantile import Quantile
from discreet.statistics.rank_correlation import RankCorrelation
from discreet.statistics.shares import CategoryShares
from discreet.statistics.sufficient import SufficientStatistics
from discreet.statistics.survey import WeightedMean
from discreet.statistics.thinned import Thinned
from discreet.statistics.variance import Variance

SUBJECTS = {
    "Density": Subject(lambda r: BinnedDensity(20.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100),
    "Density, support": Subject(lambda r: BinnedDensity(1.0, (0, 2), r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD[:40])),
    "CategoryShares": Subject(
        lambda r: CategoryShares(Histogram(Categories.of(["a", "b", 1]), 1.0, neighbours=r)),
        LABELS,
        edge_pairs("a", "b", ["a"] * 3),
    ),
    "CategoryShares, open": Subject(
        lambda r: CategoryShares(OpenHistogram(2.0, 1e-4, r)),
        LABELS,
        edge_pairs("a", "z", ["a"] * 16 + ["b"] * 3),
        least=14,
    ),
    "Count": Subject(lambda r: Count(1.0, r), NUMBERS, edge_pairs(1, 0, [1, 1, 0])),
    "Proportion": Subject(lambda r: Proportion(1.0, r), NUMBERS, edge_pairs(1, 0, [1, 0] * 5)),
    "ProportionTest": Subject(lambda r: ProportionTest(0.5, 1.0, neighbours=r), NUMBERS, edge_pairs(1, 0, [1, 0] * 5)),
    "Histogram, categories": Subject(
        lambda r: Histogram(Categories.of(["a", "b", 1]), 1.0, neighbours=r), LABELS, edge_pairs("a", "b", ["a"] * 3)
    ),
    "Histogram, edges": Subject(
        lambda r: Histogram(Edges.of([-1, 0, 1, 1e13]), 1.0, neighbours=r), NUMBERS, edge_pairs(0, 1, [0.5] * 3)
    ),
    "Histogram, Gaussian": Subject(
        lambda r: Histogram(Categories.of(["a", "b", 1]), 1.0, 1e-6, noise="gaussian", neighbours=r),
        LABELS,
        edge_pairs("a", "b", ["a"] * 3),
    ),
    "OpenHistogram": Subject(
        lambda r: OpenHistogram(2.0, 1e-4, r), LABELS, edge_pairs("a", "z", ["a"] * 16 + ["b"] * 3), least=14
    ),
    "OpenHistogram, width": Subject(
        lambda r: OpenHistogram(2.0, 1e-4, r, width=0.75),
        NUMBERS,
        edge_pairs(0.0, 1e12, [0.5] * 16 + [2.0] * 3),
        least=14,
    ),
    "SparseHistogram": Subject(
        lambda r: SparseHistogram(range(10**9), 1.0, neighbours=r), WIDE, edge_pairs(7, 8, [7] * 40)
    ),
    "Quantile": Subject(lambda r: Quantile(0.5, 4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, SPREAD), least=100),
    "Quantile, points": Subject(
        lambda r: Quantile((0.25, 0.5), 1.0, bounds=(-1e13, 1e13), confidence=None, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 2.0, [1.0] * 4),
    ),
    "Quantile, guaranteed": Subject(
        lambda r: Quantile(0.5, 4.0, guaranteed=True, neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, SPREAD), least=200
    ),
    "Thinned quantile": Subject(  # under REPLACE two people, at half of epsilon
        lambda r: Thinned(4.0, Quantile(0.5, 4.0, bounds=(-5.0, 5.0), neighbours=r), 2.0, neighbours=r),
        POINTS,
        edge_pairs((0.0, 2.0), (3.0, 0.5), CLOUD),
        least=100,
        only=ADD,
    ),
    "WeightedMean": Subject(
        lambda r: WeightedMean(16.0, neighbours=r), POINTS, edge_pairs((0.0, 2.0), (1e12, 1e12), CLOUD), least=100
    ),
    "WeightedMean, public": Subject(
        lambda r: WeightedMean(4.0, bounds=(-3.0, 3.0), largest=2.0, neighbours=r),
        POINTS,
        edge_pairs((3.0, 2.0), (-3.0, 2.0), [(1.0, 1.0)] * 80),
    ),
    "WeightedMean, total": Subject(
        lambda r: WeightedMean(4.0, of="sum", bounds=(-3.0, 3.0), largest=2.0, neighbours=r),
        POINTS,
        edge_pairs((3.0, 2.0), (-3.0, 2.0), [(1.0, 1.0)] * 80),
    ),
    "GaussianMean": Subject(
        lambda r: GaussianMean(4.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "RankClippedMean": Subject(lambda r: RankClippedMean(4.0, r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100),
    "Variance": Subject(lambda r: Variance(8.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100),
    "Variance, gaussian": Subject(
        lambda r: Variance(4.0, model="gaussian", neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "SufficientStatistics, gaussian": Subject(
        lambda r: SufficientStatistics(GAUSSIAN, 16.0, neighbours=r), NUMBERS, edge_pairs(0.0, 1e12, SPREAD), least=100
    ),
    "Covariance": Subject(
        lambda r: Covariance(16.0, 1e-5, dimension=2, neighbours=r),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
    ),
    "RankCorrelation": Subject(
        lambda r: RankCorrelation(16.0, dimension=2, neighbours=r),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
    ),
    "Covariance, many columns": Subject(
        lambda r: Covariance(16.0, 1e-5, dimension=17, neighbours=r),
        wide_points(17),
        edge_pairs((40.0, *[0.0] * 16), (*[0.0] * 16, -40.0), wide_cloud(17)),
        400,
        ordinary=tuple(wide_cloud(17)),
    ),
    "MultivariateGaussian": Subject(
        lambda r: MultivariateGaussian(16.0, 1e-5, dimension=2, neighbours=r),
        POINTS,
        edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD),
        200,
    ),
    "ColumnMeans": Subject(
        lambda r: ColumnMeans(2, 16.0, neighbours=r), POINTS, edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD), 200
    ),
    "ColumnMeans, delta": Subject(
        lambda r: ColumnMeans(2, 4.0, 1e-4, neighbours=r), POINTS, edge_pairs((0.0, 1.0), (1e12, -1e12), CLOUD), 200
    ),
    "BoundedMean": Subject(
        lambda r: BoundedMean(0.0, 2.0, 1.0, neighbours=r), NUMBERS, edge_pairs(0.0, 2.0, [1.0] * 5)
    ),
    "ClippedMean": Subject(
        lambda _: ClippedMean(2.0, 1.0, 1.0), NUMBERS, edge_pairs(-1e12, 1e12, [1.0] * 5), only=REPLACE
    ),
    "ClippedMean, removing": Subject(
        lambda _: ClippedMean(2.0, 1.0, 1.0, centre=3.0, far="remove"),
        NUMBERS,
        edge_pairs(-1e12, 8.0, [1.0] * 5),
        only=REPLACE,
    ),
    "CoarseMean": Subject(
        lambda _: CoarseMean(2.0, 1.0, 8.0, centre=1.0),
        NUMBERS,
        edge_pairs(0.0, 1e12, [0.5] * 40),
        least=40,
        only=REPLACE,
    ),
    "TwoStageMean": Subject(
        lambda _: TwoStageMean(2.0, 1.0, 16.0), NUMBERS, edge_pairs(0.0, 1e12, [0.5] * 40), least=40, only=REPLACE
    ),
    "StabilityMean": Subject(
        lambda _: StabilityMean(1.0, 4.0, 1e-4), NUMBERS, edge_pairs(0.0, 1e12, [0.5] * 30), least=20, only=REPLACE
    ),
    "KarwaVadhan": Subject(
        lambda _: KarwaVadhan(2.0, (0.1, 1.0), 99.0),
        NUMBERS,
        edge_pairs(0.0, 1e12, [0.5, 0.7] * 50),
        least=100,
        only=REPLACE,
    ),
}
