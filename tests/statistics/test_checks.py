"""What is refused by public numbers is refused before there are data, in the same words."""

from typing import Any

import numpy as np
import pytest

from discreet.audit.replay import Recorder
from discreet.errors import BadInput, Refused
from discreet.friendly.refine import RefinedMean
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.mechanism import check, refusal_of
from discreet.statistics.bounded_mean import BoundedMean
from discreet.statistics.count import Count
from discreet.statistics.covariance import Covariance
from discreet.statistics.density import BinnedDensity
from discreet.statistics.family import FAMILIES, GAUSSIAN
from discreet.statistics.mean import RankClippedMean
from discreet.statistics.multivariate_gaussian import MultivariateGaussian
from discreet.statistics.normal import GaussianMean
from discreet.statistics.quantile import Quantile
from discreet.statistics.sufficient import SufficientStatistics
from discreet.statistics.variance import Variance

ADD = Neighbours.ADD_OR_REMOVE
CHECKED: dict[str, Any] = {
    "RankClippedMean": RankClippedMean(0.5),
    "GaussianMean": GaussianMean(0.5),
    "GaussianMean, delta": GaussianMean(0.5, 1e-6),
    "normal distribution": SufficientStatistics(GAUSSIAN, 0.5),
    "Variance": Variance(0.5),
    "Variance, model": Variance(0.5, model="gaussian"),
    "Quantile": Quantile((0.25, 0.5), 0.5),
    "Quantile, points": Quantile(0.5, 0.5, confidence=None),
    "Quantile, bounds": Quantile(0.001, 0.5, bounds=(0.0, 1.0)),
    "Density": BinnedDensity(0.5),
    "SufficientStatistics": SufficientStatistics(FAMILIES["poisson"], 0.5),
    "Covariance": Covariance(0.5, 1e-6, dimension=2),
    "MultivariateGaussian": MultivariateGaussian(0.5, 1e-6, dimension=2),
    "RefinedMean": RefinedMean(0.5, 1e-6, dimension=2),
    "RefinedMean, sigma": RefinedMean(0.5, 1e-6, dimension=2, sigma=1.0),
    "RefinedMean, blocks": RefinedMean(0.5, 1e-6, dimension=2, method="blocks"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_a_refusal_by_public_numbers_has_the_words_of_the_release(name: str) -> None:
    mechanism, few = CHECKED[name], 12
    with pytest.raises(Refused) as refused:
        check(mechanism, few)
    rows = np.ones((few, 2)) if hasattr(mechanism, "dimension") else np.ones(few)
    door = Recorder(Seeded(0))
    assert mechanism.release(rows, door).refusal == str(refused.value)
    assert door.log == []
    check(mechanism, None)
    check(mechanism, 100_000)
    assert refusal_of(mechanism, few) == str(refused.value)
    assert refusal_of(mechanism, 100_000) is None


def test_what_always_answers_is_never_refused() -> None:
    for mechanism in (
        Count(0.1),
        BoundedMean(0.0, 1.0, 0.1),
        Variance(0.1, bounds=(0.0, 1.0)),
        BinnedDensity(0.1, support=(0, 1)),
    ):
        check(mechanism, 1)
    for private in (Quantile(0.5, 0.1, confidence=None, neighbours=ADD), Covariance(0.1, 1e-6, neighbours=ADD)):
        check(private, None)


def test_a_budget_that_makes_no_sense_for_so_many_rows_is_refused_too() -> None:
    with pytest.raises(BadInput, match="delta"):
        RefinedMean(1.0, 1e-4, dimension=2).check(10_000)
    for mechanism in (Covariance(1.0, 1e-4), MultivariateGaussian(1.0, 1e-4), GaussianMean(1.0, 1e-4)):
        with pytest.raises(BadInput, match="delta"):
            check(mechanism, 10_000)
    with pytest.raises(BadInput, match="empty"):
        RefinedMean(1.0, 1e-6, dimension=2).check(0)
