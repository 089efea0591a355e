"""Private maximum likelihood: the ladder, and what people may hand in."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import Seeded, audit, maximum_likelihood
from discreet.errors import BadInput
from discreet.models.likelihood import LikelihoodFit, MaximumLikelihood
from discreet.models.parametric import Scale, scipy_distribution
from discreet.privacy.guarantee import Neighbours
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.returned import Shape

GAMMA = scipy_distribution("gamma", None)
BOTH = list(Neighbours)


def logistic(x: Any, place: float, spread: float) -> Any:
    """A logarithm of a density."""
    far = np.abs(x - place) / spread
    return -far - 2 * np.log1p(np.exp(-far)) - np.log(spread)


def small(relation: Neighbours) -> MaximumLikelihood:
    """Eight blocks, for pairs of neighbours."""
    shape = Shape("named", ("a", "scale"))
    inner = SubsampleAggregate(
        LikelihoodFit(GAMMA), shape, BlockMean(8, 2, 40.0), neighbours=relation, correct="jackknife"
    )
    return MaximumLikelihood(GAMMA, inner)


@pytest.mark.claim("likelihood.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    crowd = [0.5 + math.sin(k) ** 2 for k in range(60)]
    odd = [1.0, 0.0, -1.0, 1e300, math.nan, math.inf]
    if relation is Neighbours.REPLACE:
        pairs = [audit.Pair([*crowd, 1.5], [*crowd, one]) for one in odd]
    else:
        pairs = [audit.Pair(crowd, [*crowd, one]) for one in odd]
    audit.check(small(relation), pairs, hostile_values=False).require()


@pytest.mark.claim("likelihood.2")
def test_intervals_cover_and_stay_in_range() -> None:
    """8 runs at 95%, of each parameter: fewer than 3 held has a chance below 1e-6."""
    people, held = np.random.default_rng(2), np.zeros(2)
    for i in range(8):
        rows = people.gamma(0.8, 3.0, 5000)
        ends = maximum_likelihood("gamma", rows, epsilon=6.0, delta=1e-6, rng=Seeded(i)).interval(0.95)
        held += [ends.low.a <= 0.8 <= ends.high.a, ends.low.scale <= 3.0 <= ends.high.scale]
        assert ends.low.a > 0
    assert (held >= 3).all()


def test_a_density_of_your_own() -> None:
    rows = np.random.default_rng(3).logistic(5.0, 2.0, 2000)
    release = maximum_likelihood(
        logistic, rows, epsilon=16.0, names=["place", "spread"], start=[0.0, 1.0], bounds=[(None, None), (0, None)],
        blocks=40, rng=Seeded(1),
    )  # fmt: skip
    assert release.value.place == pytest.approx(5.0, abs=1.0)
    assert release.value.spread == pytest.approx(2.0, rel=0.5)
    with pytest.raises(BadInput, match="no scipy distribution"):
        release.value.distribution()


def test_distributions_without_a_fast_path_are_fitted_by_scipy() -> None:
    rows = stats.gumbel_r(2.0, 3.0).rvs(2500, random_state=np.random.default_rng(4))
    release = maximum_likelihood(stats.gumbel_r, rows, epsilon=20.0, blocks=40, rng=Seeded(1))
    assert list(release.value) == ["loc", "scale"]
    assert release.value.scale == pytest.approx(3.0, rel=0.5)
    assert release.provenance.parameters["bias_correction"] == "half"


def test_what_is_fixed() -> None:
    assert list(scipy_distribution("gamma", None).scales) == ["a", "scale"]
    assert list(scipy_distribution("weibull", {}).scales) == ["c", "loc", "scale"]
    assert list(scipy_distribution("beta", None).scales) == ["a", "b"]
    assert list(scipy_distribution(stats.t, {"df": 5}).scales) == ["loc", "scale"]
    assert scipy_distribution("gamma", {"loc": 1.0}).fast() is None
    assert scipy_distribution("normal", None).fast() is not None


@pytest.mark.parametrize(
    "asked",
    [
        {"model": "nothing"},
        {"model": stats.poisson},
        {"model": "gamma", "fixed": {"rate": 1.0}},
        {"model": "gamma", "fixed": ["loc"]},
        {"model": "gamma", "fixed": {"scale": 0}},
        {"model": "gamma", "fixed": {"a": -1.0}},
        {"model": logistic, "names": ["a", "a"], "start": [0.0, 1.0]},
        {"model": logistic, "names": ["a", "b"], "start": ["x", 1.0]},
        {"model": logistic, "names": ["a", "b"], "start": [0.0, 1.0], "bounds": [(0,), (0, None)]},
        {"model": logistic, "names": ["a", "b"], "start": [0.0, 1.0], "bounds": [0, 1]},
        {"model": "uniform"},
        {"model": "gamma", "names": ["a"]},
        {"model": logistic},
        {"model": logistic, "names": ["a", "b"], "start": [0.0]},
        {"model": logistic, "names": ["a", "b"], "start": [0.0, -1.0], "bounds": [(None, None), (0, None)]},
        {"model": logistic, "names": ["a", "b"], "start": [0.0, 1.0], "fixed": {"a": 1}},
    ],
)
def test_bad_questions_say_what_to_do(asked: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"give|need|fixed"):
        maximum_likelihood(asked.pop("model"), np.ones(9000), epsilon=1.0, delta=1e-6, **asked)


def test_scales_go_there_and_back() -> None:
    for scale, value in ((Scale(), -3.0), (Scale(2.0), 2.5), (Scale(-1.0, 1.0), 0.3), (Scale(-math.inf, 0.0), -4.0)):
        assert scale.back(scale.there(value)) == pytest.approx(value)
