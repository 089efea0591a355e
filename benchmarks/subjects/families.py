"""The audited mechanisms of families and likelihoods."""

from benchmarks.subjects.subject import LABELS, NUMBERS, SPREAD, Subject, edge_pairs
from discreet.models.likelihood import LikelihoodFit, MaximumLikelihood
from discreet.models.parametric import scipy_distribution
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.family import FAMILIES
from discreet.statistics.histogram import Categories
from discreet.statistics.shares import BinomialFit, MultinomialFit
from discreet.statistics.sufficient import SufficientStatistics
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.returned import Shape

GAMMA = scipy_distribution("gamma", None)


def likelihood(relation: Neighbours) -> MaximumLikelihood:
    """A gamma distribution on 10 blocks."""
    shape = Shape("named", ("a", "scale"))
    return MaximumLikelihood(
        GAMMA,
        SubsampleAggregate(
            LikelihoodFit(GAMMA), shape, BlockMean(10, 2, 40.0), neighbours=relation, correct="jackknife"
        ),
    )


SUBJECTS = {
    "SufficientStatistics, poisson": Subject(
        lambda r: SufficientStatistics(FAMILIES["poisson"], 4.0, neighbours=r),
        NUMBERS,
        edge_pairs(0.0, 1e12, SPREAD),
        least=100,
    ),
    "SufficientStatistics, gamma": Subject(
        lambda r: SufficientStatistics(FAMILIES["gamma"], 16.0, neighbours=r),
        NUMBERS,
        edge_pairs(1.0, 1e12, SPREAD),
        least=100,
    ),
    "BinomialFit": Subject(lambda r: BinomialFit(10, 1.0, r), NUMBERS, edge_pairs(0, 10, [5, 3] * 5)),
    "MultinomialFit": Subject(
        lambda r: MultinomialFit(Categories.of(["a", "b", 1]), 1.0, r), LABELS, edge_pairs("a", "b", ["a"] * 3)
    ),
    "MaximumLikelihood": Subject(likelihood, NUMBERS, edge_pairs(1.0, 1e12, SPREAD), least=10),
}
