"""Counts in cells: sensitivity, null distributions, hostile values."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import audit, closeness_test, independence_test
from discreet.audit.worlds import HOSTILE, THORNS, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses.category_tests import (
    ClosenessTest,
    IndependenceTest,
    dependence,
    likely_listed,
    margin,
    shares,
)
from discreet.noise.distributions import laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.histogram import Categories
from discreet.tables.entries import by_name

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
AB, XY = Categories.of(["a", "b"]), Categories.of(["x", "y"])
LABELS = ("a", "b", None, 1)
WORLD = [pair for rows in (("a", "b"), ("a", "a", "b")) for pair in neighbours_of(rows, LABELS, REPLACE)]
PAIRS = (("a", "x"), ("b", "y"), ("a", None), 3, "ab")
PAIRED = list(neighbours_of((("a", "x"), ("b", "x")), PAIRS, REPLACE))


@pytest.mark.claim("category_tests.1")
def test_counts_pass_the_audit() -> None:
    audit.check(ClosenessTest(AB, 1, 20.0, draws=19), WORLD, hostile_values=False).require()
    audit.check(IndependenceTest(AB, XY, 20.0, draws=19), PAIRED, hostile_values=False).require()


@pytest.mark.claim("category_tests.1")
def test_independence_of_a_private_number_of_people_passes_the_audit() -> None:
    for rows in ((), (("a", "x"),), (("a", "x"), ("b", "x"))):
        test = IndependenceTest(AB, XY, 0.5, neighbours=ADD, draws=19)
        audit.check(test, neighbours_of(rows, PAIRS, ADD), hostile_values=not rows).require()


def test_hostile_values_raise_nothing() -> None:
    rows = [*HOSTILE, *THORNS]
    for test in (ClosenessTest(AB, 12, 1.0), IndependenceTest(AB, XY, 1.0)):
        assert 0 < test.release(rows, Seeded(1)).value.p_value <= 1
    thorny = [(one, other) for one in rows for other in ("x", None)]
    assert 0 < IndependenceTest(AB, XY, 1.0).release(thorny, Seeded(1)).value.p_value <= 1


@pytest.mark.claim("category_tests.2")
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


@pytest.mark.claim("category_tests.2")
@pytest.mark.parametrize("size", [50, *(pytest.param(size, marks=pytest.mark.study) for size in (200, 2000))])
def test_independence_holds_its_level_for_a_private_number_of_people(size: int) -> None:
    """300 runs: a test of level 0.1 is past the bound with a chance below 1e-6."""
    people, test = np.random.default_rng(size), IndependenceTest(AB, XY, 1.0, neighbours=ADD, draws=99)
    rejected = 0
    for run in range(300):
        x, y = people.choice(["a", "b"], size, p=[0.8, 0.2]), people.choice(["x", "y"], size, p=[0.6, 0.4])
        rejected += test.release(list(zip(x, y, strict=True)), Seeded(run)).value.p_value <= 0.1
    assert rejected <= stats.binom.isf(1e-6, 300, 0.1)


def test_two_samples_of_private_sizes() -> None:
    ask: dict[str, Any] = {"epsilon": 1.0, "categories": ["a", "b"], "neighbours": "add_or_remove", "rng": Seeded(1)}
    x = ["a"] * 150 + ["b"] * 50
    assert closeness_test(x, ["a"] * 100 + ["b"] * 200, **ask).value.decide(0.001)
    assert closeness_test(x, x, **ask).value.p_value > 1e-3
    assert 0 < closeness_test([], [], **ask).value.p_value <= 1


def test_pieces() -> None:
    assert shares(np.array([[0.5, 0.5, -0.2], [2.0, 0.0, 0.0]])).tolist() == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    assert margin(np.array([[[3, 1], [-9, 5]]]), 2).sum() == pytest.approx(1)
    exact = np.outer([30, 60], [1, 2])[None]
    assert dependence(exact, laplace_scale(2, 1.0))[0] == 0
    assert likely_listed(100, 2, laplace_scale(2, 1.0)) == 100
    assert likely_listed(100, 60, laplace_scale(2, 1.0)) == 40
    found = by_name(np.array([[1, 2], [3, 4]]), "x", "y")
    assert {name: column.tolist() for name, column in found.items()} == {"x": [1, 3], "y": [2, 4]}


def test_decisions() -> None:
    people = np.random.default_rng(6)
    normal, wide = people.normal(size=2000), people.normal(scale=1.5, size=2000)
    assert closeness_test(normal, wide, edges=[-9, -1, 1, 9], epsilon=1.0, rng=Seeded(1)).value.decide(0.001)
    signs, sizes = normal > 0, np.abs(normal) > 1
    ask: dict[str, Any] = {"categories": ([True, False], [True, False]), "epsilon": 1.0, "rng": Seeded(1)}
    assert independence_test(signs, normal > 1, **ask).value.decide(0.001)
    release = independence_test(signs, sizes, **ask)
    assert release.value.p_value > 1e-3
    assert "in the limit" in str(release)


def test_refusals_are_by_public_numbers() -> None:
    for test in (ClosenessTest(AB, 4, 1.0), IndependenceTest(AB, XY, 1.0)):
        assert "told from noise" in str(test.release([("a", "x")] * 9, Seeded(1)).refusal)
        with pytest.raises(Refused, match="told from noise"):
            test.check(9)
        test.check(None)
    IndependenceTest(AB, XY, 1.0).check(10)
    ClosenessTest(AB, 10, 1.0).check(20)
    with pytest.raises(Refused, match="do not fill"):
        ClosenessTest(AB, 40, 1.0).check(40)
    with pytest.raises(BadInput, match="IndependenceTest"):
        ClosenessTest(AB, 4, 1.0, neighbours=ADD)
    with pytest.raises(BadInput, match="two lists"):
        independence_test([1], [1], categories=[1, 2, 3], epsilon=1.0)
    with pytest.raises(BadInput, match="rows and y has"):
        independence_test([1], [1, 2], categories=([1, 2], [1, 2]), epsilon=1.0)
    with pytest.raises(BadInput, match="two categories"):
        IndependenceTest(AB, Categories.of(["x"]), 1.0)
