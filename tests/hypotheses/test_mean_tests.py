"""Tests of means: inversion of intervals, directions, two samples at the price of one."""

import math
from typing import Any

import numpy as np
import pytest

from discreet import audit, mean_test, two_means_test
from discreet.audit.worlds import Pair, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses.mean_tests import MeanTest, NormalMeansTest, unclipped
from discreet.hypotheses.null_distributions import inverted, tail_of_two
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stages.clip import Moment
from discreet.stages.normal_laplace import ConvolvedSpread, tail

CROWD = [0.5 + index / 200 for index in range(120)]
VALUES = (0.0, 1e12, math.inf, math.nan, "a")


@pytest.mark.claim("mean_tests.1")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("options", [{"bounds": (0.0, 2.0)}, {"model": "gaussian"}])
def test_means_pass_the_audit(relation: Neighbours, options: dict[str, object]) -> None:
    world = list(neighbours_of(CROWD, VALUES[:3], relation))[:4]
    size = len(CROWD) + 1 if relation is Neighbours.REPLACE else None
    test = MeanTest(1.0, 4.0, neighbours=relation, size=size, **options)  # type: ignore[arg-type]
    audit.check(test, world, hostile_values=False).require()


@pytest.mark.claim("mean_tests.2")
@pytest.mark.parametrize("options", [{"bounds": (0.0, 2.0)}, {}])
def test_two_means_pass_the_audit(options: dict[str, object]) -> None:
    """Neighbours in both samples: each pair of sums moves as one sum does, and all draws are within epsilon."""
    test = NormalMeansTest(60, 8.0, size=len(CROWD), **options)  # type: ignore[arg-type]
    world = [Pair(CROWD, [*CROWD[:place], value, *CROWD[place + 1 :]]) for place in (0, 60) for value in VALUES[1:4]]
    audit.check(test, world, hostile_values=False).require()
    assert test.release(CROWD, Seeded(1)).refusal is None


@pytest.mark.claim("mean_tests.3")
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_p_value_is_where_the_interval_ends(alternative: str) -> None:
    spread = ConvolvedSpread(1.3, sampling=0.2, laplace=0.15, normal_noise=0.05, freedom=80)
    release = mean_test([0.0] * 50, 0.0, epsilon=1.0, bounds=(-1.0, 1.0), rng=Seeded(1))
    assert 0 < release.value.p_value <= 1
    for null in (0.4, 0.9, 1.25):
        p = inverted(
            spread.estimate - null,
            lambda t: tail(t, math.hypot(0.2, 0.05), 0.15),
            80,
            alternative,  # type: ignore[arg-type]
        )
        two_sided = {"two-sided": p, "greater": 2 * p, "less": 2 * (1 - p)}[alternative]
        assert spread.interval(1 - two_sided).low == pytest.approx(null, abs=1e-6)


@pytest.mark.claim("mean_tests.3")
def test_two_laplace_noises() -> None:
    """Against four million draws, within 6 standard errors and the 0.1% that equal scales are taken apart by."""
    numbers = np.random.default_rng(1)
    for normal, one, other in ((1.0, 1.0, 1.0), (1.0, 0.5, 2.0), (0.1, 3.0, 1.0), (1.0, 0.0, 0.5), (1.0, 0.0, 0.0)):
        seen = numbers.normal(0, normal, 2_000_000) + numbers.laplace(0, 1, 2_000_000) * one
        seen += numbers.laplace(0, 1, 2_000_000) * other
        for t in (-1.0, 0.5, 3.0):
            true = tail_of_two(t, normal, one, other)
            assert abs((seen > t).mean() - true) < 6 * math.sqrt(true * (1 - true) / 2e6) + 1e-3 * true + 1e-6


@pytest.mark.claim("mean_tests.3")
def test_sizes() -> None:
    """300 runs with bounds: the level 0.1 is passed by less than 5 standard errors."""
    people = np.random.default_rng(2)
    one = [MeanTest(1.0, 1.0, bounds=(0.0, 10.0)).release(people.exponential(1, 500), Seeded(i)) for i in range(300)]
    two = [
        two_means_test(*np.split(people.exponential(1, 700), [300]), epsilon=1.0, bounds=(0.0, 10.0), rng=Seeded(i))
        for i in range(300)
    ]
    for found in (one, two):
        assert np.mean([release.value.p_value <= 0.1 for release in found]) <= 0.1 + 5 * math.sqrt(0.09 / 300)


@pytest.mark.claim("mean_tests.3")
def test_two_means_of_any_size_have_a_p_value() -> None:
    """Squares of the largest and the smallest numbers are no floats; nor is a distance in many of the smallest."""
    shape = [float(k % 7 - 3) for k in range(3000)]
    for size in (1e200, 1.0, 1e-200):
        rows = [size * x for x in shape]
        assert 0 < two_means_test(rows, rows, epsilon=1.0, **PUBLIC, rng=Seeded(1)).value.p_value <= 1
        assert 0 < mean_test(rows, 0.0, epsilon=1.0, rng=Seeded(1)).value.p_value <= 1
    for size in (1e299, 5e-324, 0.0):  # no distance, or none that can be told: a p-value or a refusal
        rows = [size * x for x in shape]
        for release in (two_means_test(rows, rows, epsilon=1.0, rng=Seeded(1)), mean_test(rows, 0.0, epsilon=1.0)):
            assert release.refusal or 0 < release.value.p_value <= 1
    tiny = two_means_test([1e-250] * 50, [0.0] * 50, epsilon=1.0, **PUBLIC, bounds=(-1e-240, 1e-240), rng=Seeded(1))
    assert 0 < tiny.value.p_value <= 1
    assert 0 < two_means_test([1.0], [2.0], epsilon=1.0, **PUBLIC, bounds=(0.0, 3.0), rng=Seeded(1)).value.p_value <= 1
    assert mean_test(shape, 1e200, epsilon=1.0, rng=Seeded(1)).value.decide(0.001)


@pytest.mark.claim("mean_tests.3")
def test_a_small_noise_counts_as_normal() -> None:
    """Either side of a hundredth of the normal part, where a difference of distributions would lose all digits."""
    for small in (0.00999, 0.01001):
        for t in (4.0, 5.0, 6.0):
            assert tail_of_two(t, 1.0, small, 1.0005 * small) == pytest.approx(
                tail(t, 1.02**0.5 * 0.9902, 0.0), rel=0.2
            )


@pytest.mark.claim("mean_tests.3")
def test_the_share_within_the_clip_is_undone() -> None:
    """Half a standard deviation off the centre, with three spreads: the mean is what it was, to the second order."""
    people = np.random.default_rng(4)
    for sd in (0.3, 0.8, 2.0):
        u = np.clip(people.normal(0.1 * sd, sd, 300_000), -1, 1)
        mean, square = unclipped(Moment(u.mean(), 0.1, 10), Moment((u * u).mean(), 0.1, 10))
        assert mean.mean == pytest.approx(0.1 * sd, abs=0.014 * sd)  # 7 standard errors; clipped it is 0.04 at sd = 2
        assert mean.noise / 0.1 == pytest.approx((square.noise / 0.1) ** 0.5)


PUBLIC: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}


def test_decisions() -> None:
    people = np.random.default_rng(3)
    x, y = people.normal(5, 2, 2000), people.normal(6.0, 2, 1500)
    for options in ({}, {"model": "gaussian"}, {"bounds": (-5.0, 15.0)}):
        ask = {"epsilon": 1.0, "rng": Seeded(1), **options}
        assert mean_test(x, 4.5, **ask).value.decide(0.001)  # type: ignore[arg-type]
        assert mean_test(x, 4.5, alternative="less", **ask).value.p_value > 0.99  # type: ignore[arg-type]
        assert two_means_test(x, y, alternative="less", **ask, **PUBLIC).value.decide(0.001)  # type: ignore[arg-type]
    assert mean_test(x, 4.5, model="symmetric", epsilon=1.0, rng=Seeded(1)).value.decide(0.001)
    assert "in the limit" in str(mean_test(x, 5.0, epsilon=1.0, rng=Seeded(1)))
    assert "which group a row is in is public" in str(two_means_test(x, y, epsilon=1.0, **PUBLIC, rng=Seeded(1)))


def test_refusals() -> None:
    few = mean_test([1.0] * 30, 1.0, epsilon=0.5, rng=Seeded(1))
    assert few.refusal is not None
    assert two_means_test([1.0] * 30, [1.0] * 9000, epsilon=0.5, **PUBLIC, rng=Seeded(1)).refusal is not None
    with pytest.raises(BadInput, match="mean to test"):
        mean_test([1.0], math.nan, epsilon=1.0)
    with pytest.raises(BadInput, match="mean to test"):
        mean_test([1.0], math.nan, epsilon=1.0, model="symmetric")
    with pytest.raises(BadInput, match="bounds"):
        mean_test([1.0], 1.0, epsilon=1.0, model="symmetric", bounds=(0.0, 1.0))
    with pytest.raises(BadInput, match="model"):
        mean_test([1.0], 1.0, epsilon=1.0, model="t")  # type: ignore[arg-type]
    assert "noisy numbers" in str(two_means_test([1.0], [2.0], epsilon=1.0, model="gaussian").refusal)
    test = NormalMeansTest(5, 1.0)
    assert test.release([1.0] * 10, Seeded(1)).refusal
    with pytest.raises(Refused):
        test.check(10)
    test.check(None)
    NormalMeansTest(5000, 1.0).check(10_000)
