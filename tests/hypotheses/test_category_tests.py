"""Counts in cells: sensitivity, null laws, hostile values."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import audit, closeness_test, goodness_of_fit_test, independence_test
from discreet.audit.worlds import HOSTILE, THORNS, neighbours_of
from discreet.errors import BadInput
from discreet.hypotheses.category_tests import (
    ClosenessTest,
    FitTest,
    IndependenceTest,
    dependence,
    law_on_bins,
    likely_listed,
    margin,
    misfit,
    null_fits,
    pairs,
    shares,
    whole_of,
)
from discreet.noise.distributions import laplace, laplace_scale, stream
from discreet.noise.randomness import Seeded
from discreet.privacy.neighbours import Neighbours
from discreet.statistics.bins import Categories, Edges

REPLACE = Neighbours.REPLACE
AB, XY = Categories.of(["a", "b"]), Categories.of(["x", "y"])
LABELS = ("a", "b", None, 1)
WORLD = [pair for rows in (("a", "b"), ("a", "a", "b")) for pair in neighbours_of(rows, LABELS, REPLACE)]
PAIRS = (("a", "x"), ("b", "y"), ("a", None), 3, "ab")
PAIRED = list(neighbours_of((("a", "x"), ("b", "x")), PAIRS, REPLACE))


@pytest.mark.claim("category_tests.1")
def test_counts_pass_the_audit() -> None:
    audit.check(FitTest(AB, (0.5, 0.5), 20.0, draws=19), WORLD, hostile_values=False).require()
    audit.check(ClosenessTest(AB, 1, 20.0, draws=19), WORLD, hostile_values=False).require()
    audit.check(IndependenceTest(AB, XY, 20.0, draws=19), PAIRED, hostile_values=False).require()


def test_hostile_values_raise_nothing() -> None:
    rows = [*HOSTILE, *THORNS]
    for test in (FitTest(AB, (0.5, 0.5), 1.0), ClosenessTest(AB, 12, 1.0), IndependenceTest(AB, XY, 1.0)):
        assert 0 < test.release(rows, Seeded(1)).value.p_value <= 1
    thorny = [(one, other) for one in rows for other in ("x", None)]
    assert 0 < IndependenceTest(AB, XY, 1.0).release(thorny, Seeded(1)).value.p_value <= 1


@pytest.mark.claim("category_tests.2")
def test_the_null_law_of_a_fit_is_that_of_noisy_counts() -> None:
    """Means and 95% quantiles of 40,000 simulated and 40,000 independently drawn statistics agree."""
    chances, scale, size = whole_of((0.7, 0.2, 0.1)), laplace_scale(2, 1.0), 80
    people = np.random.default_rng(1)
    entries = people.choice(4, p=chances, size=(40_000, size))
    counted = np.stack([(entries == cell).sum(axis=1) for cell in range(4)], axis=1)
    seen = misfit(counted + laplace(stream(2), counted.shape, scale), size, chances, scale)
    null = null_fits(stream(3), size, chances, scale, 40_000)
    assert seen.mean() == pytest.approx(null.mean(), rel=0.04)
    assert abs((seen > np.quantile(null, 0.95)).mean() - 0.05) < 6 * math.sqrt(2 * 0.05 * 0.95 / 40_000)


@pytest.mark.claim("category_tests.2")
def test_p_values_of_a_fit_are_super_uniform() -> None:
    people, test = np.random.default_rng(4), FitTest(Categories.of(range(3)), (0.9, 0.09, 0.01), 1.0, draws=99)
    found = [test.release(people.choice(3, p=[0.9, 0.09, 0.01], size=60), Seeded(i)).value.p_value for i in range(600)]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 5 * math.sqrt(level * (1 - level) / 600)


@pytest.mark.claim("category_tests.3")
def test_p_values_with_estimated_probabilities_hold_their_level() -> None:
    """400 runs each of rare cells: the level 0.1 is passed by less than 5 standard errors."""
    people = np.random.default_rng(5)
    rows = [list(zip(people.choice(["a", "b"], 150, p=[0.9, 0.1]), ["x", "y"] * 75, strict=True)) for _ in range(400)]
    independent = [IndependenceTest(AB, XY, 1.0, draws=99).release(one, Seeded(i)) for i, one in enumerate(rows)]
    samples = [people.choice(["a", "b"], 150, p=[0.95, 0.05]) for _ in range(400)]
    close = [ClosenessTest(AB, 50, 1.0, draws=99).release(one, Seeded(i)) for i, one in enumerate(samples)]
    for found in (independent, close):
        share = np.mean([release.value.p_value <= 0.1 for release in found])
        assert share <= 0.1 + 5 * math.sqrt(0.09 / 400)


def test_pieces() -> None:
    assert shares(np.array([[0.5, 0.5, -0.2], [2.0, 0.0, 0.0]])).tolist() == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    assert margin(np.array([[[3, 1], [-9, 5]]]), 2).sum() == pytest.approx(1)
    exact = np.outer([30, 60], [1, 2])[None]
    assert dependence(exact, laplace_scale(2, 1.0))[0] == 0
    assert likely_listed(100, 2, laplace_scale(2, 1.0)) == 100
    assert likely_listed(100, 60, laplace_scale(2, 1.0)) == 40
    assert whole_of((0.5, 0.3)).tolist() == pytest.approx([0.5, 0.3, 0.2])
    first, second = pairs(np.array([[1, 2], [3, 4]]))
    assert first.tolist() == [1, 3]
    assert second.tolist() == [2, 4]


def test_a_law_on_bins() -> None:
    bins, chances = law_on_bins(stats.norm(0, 1), None, 10)
    assert len(bins) == 10
    assert chances == pytest.approx([0.1] * 10)
    assert law_on_bins(stats.poisson(2), Edges.of([0, 1, 2, 9]), 0)[1] == pytest.approx(
        [stats.poisson(2).pmf(0), stats.poisson(2).pmf(1), stats.poisson(2).cdf(9) - stats.poisson(2).cdf(1)]
    )


def test_decisions() -> None:
    people = np.random.default_rng(6)
    normal, wide = people.normal(size=2000), people.normal(scale=1.5, size=2000)
    assert goodness_of_fit_test(normal, stats.norm(0, 1), epsilon=1.0, rng=Seeded(1)).value.p_value > 1e-3
    assert goodness_of_fit_test(wide, stats.norm(0, 1), epsilon=1.0, rng=Seeded(1)).value.decide(0.001)
    assert goodness_of_fit_test(normal, [0.5, 0.5], edges=[-9, 0, 9], epsilon=1.0, rng=Seeded(1)).value.p_value > 1e-3
    assert closeness_test(normal, wide, edges=[-9, -1, 1, 9], epsilon=1.0, rng=Seeded(1)).value.decide(0.001)
    signs, sizes = normal > 0, np.abs(normal) > 1
    ask: dict[str, Any] = {"categories": ([True, False], [True, False]), "epsilon": 1.0, "rng": Seeded(1)}
    assert independence_test(signs, normal > 1, **ask).value.decide(0.001)
    release = independence_test(signs, sizes, **ask)
    assert release.value.p_value > 1e-3
    assert "in the limit" in str(release)


def test_refusals_are_by_public_numbers() -> None:
    with pytest.raises(BadInput, match="probabilities"):
        FitTest(AB, (0.9, 0.9), 1.0)
    with pytest.raises(BadInput, match="told from noise"):
        goodness_of_fit_test(["a"] * 5, {"a": 1.0}, epsilon=1.0)
    with pytest.raises(BadInput, match="one of them"):
        goodness_of_fit_test(["a"] * 5, [1.0], epsilon=1.0)
    with pytest.raises(BadInput, match="bins"):
        goodness_of_fit_test([1.0] * 50, stats.norm(), bins=1, epsilon=1.0)
    with pytest.raises(BadInput, match="two lists"):
        independence_test([1], [1], categories=[1, 2, 3], epsilon=1.0)
    with pytest.raises(BadInput, match="lengths"):
        independence_test([1], [1, 2], categories=([1, 2], [1, 2]), epsilon=1.0)
    with pytest.raises(BadInput, match="two categories"):
        IndependenceTest(AB, Categories.of(["x"]), 1.0)
    with pytest.raises(BadInput, match="number of people"):
        ClosenessTest(AB, 3, 1.0, neighbours=Neighbours.ADD_OR_REMOVE)
