"""The ladder for count."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit, count
from discreet.accounting.compose import implies
from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.count import Count
from discreet.tables.entries import truths

BOTH = list(Neighbours)


@pytest.mark.claim("count.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    audit.check(Count(1.0, relation), audit.truths(relation, 5)).require()


@pytest.mark.claim("count.1")
@pytest.mark.parametrize("relation", BOTH)
def test_the_exact_curve_is_epsilon(relation: Neighbours) -> None:
    scale = laplace_scale(1, 0.7)
    a = math.exp(-1 / float(scale))
    ks = np.arange(-200, 201)
    distribution = (1 - a) / (1 + a) * a ** np.abs(ks)
    ratio = np.log(distribution[1:] / distribution[:-1])
    assert np.abs(ratio).max() <= 0.7 + 1e-12
    assert np.abs(ratio).max() >= 0.7 - 1e-6  # and no more noise than was paid for
    assert implies(Count(0.7, relation).loss, Count(0.7, relation).guarantee)


@pytest.mark.study
@pytest.mark.claim("count.1")
def test_outputs_reach_most_of_epsilon_and_no_more() -> None:
    told = audit.distinguish(Count(1.0, Neighbours.ADD_OR_REMOVE), [1] * 20, [1] * 21, runs=20_000, seed=1)
    assert not told.violated
    assert told.epsilon > 0.8


def test_interval_covers_exactly_as_often_as_the_distribution_says() -> None:
    distribution = LaplaceDistribution(laplace_scale(1, Fraction(1, 2)))
    a = math.exp(-0.5)
    for confidence in (0.5, 0.9, 0.95, 0.99):
        t = distribution.radius(confidence)
        held = 1 - 2 * a ** (t + 1) / (1 + a)
        assert held >= confidence
        assert t == 0 or 1 - 2 * a**t / (1 + a) < confidence
    ones = [True] * 300 + [False] * 200
    seen = audit.coverage(lambda i: (Count(0.5).release(ones, Seeded(i)), 300), runs=1500)
    assert seen.holds
    assert seen.share < 0.99  # no gratuitous width


def test_missing_and_odd_entries_count_as_no() -> None:
    odd = [1, True, 2.5, 0, False, None, math.nan, math.inf, "yes", [], {}, object()]
    release = count(odd, epsilon=1e6, rng=Seeded(0))
    assert release.value == 3  # 1, True and "yes"


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None, True, 1e-12, 1e7])
def test_bad_epsilon_is_our_error(epsilon: object) -> None:
    with pytest.raises(BadInput, match="epsilon"):
        count([1, 0], epsilon=epsilon)  # type: ignore[arg-type]


def test_empty_and_shapeless_data() -> None:
    with pytest.raises(BadInput, match="empty"):
        count([], epsilon=1, neighbours="replace", missing="keep")
    with pytest.raises(BadInput, match="several columns"):
        count(np.ones((3, 2)), epsilon=1)
    with pytest.raises(BadInput, match="type str"):
        count("yes", epsilon=1)
    assert count([], epsilon=1).value >= 0  # emptiness is private here


def test_a_seeded_release_says_so_and_a_secret_one_does_not() -> None:
    seeded, secret = count([1], epsilon=1, rng=Seeded(3)), count([1], epsilon=1)
    assert not seeded.provenance.publishable
    assert "NOT FOR PUBLICATION" in str(seeded)
    assert secret.provenance.publishable
    assert "NOT FOR PUBLICATION" not in str(secret)
    assert seeded.to_json() == count([1], epsilon=1, rng=Seeded(3)).to_json()
    assert "noise interval" in str(secret)  # never a confidence interval


@pytest.mark.parametrize("rng", [0, 42, "secret", np.random.default_rng(1)])
def test_a_seed_is_no_source_of_noise(rng: object) -> None:
    with pytest.raises(BadInput, match="Seeded"):
        count([1, 0], epsilon=1.0, rng=rng)  # type: ignore[arg-type]


def test_of_an_array_1_alone_is_yes() -> None:
    assert truths([1, 1.0, True, 0, 9, -1, 2.5, math.nan, math.inf]).tolist() == [True] * 3 + [False] * 6
    assert Count(50.0).release(np.array([1.0, 9.0, -1.0, np.nan]), Seeded(0)).value == 1


@pytest.mark.parametrize("kind", ["number", "integer", "boolean", None])
def test_of_numbers_1_alone_is_yes_unless_others_are_declared(kind: str | None) -> None:
    """A survey's code for a missing entry is none; what is said of it follows from the declared kind alone."""
    people = {"smoker": [1, 0, -1, 9, None] * 100}
    types = {} if kind is None else {"smoker": kind}
    terms: dict[str, Any] = {"epsilon": 50.0}
    with discreet.open(people, budget=1e3, ledger=":memory:", unit="row", types=types, rng=Seeded(0)) as session:
        yes, share = session.count("smoker", **terms), session.proportion("smoker", **terms)
        assert yes.value == (300 if kind == "boolean" else 100)
        assert share.value == pytest.approx(0.75 if kind == "boolean" else 0.25, abs=0.01)
        said = "of numbers in smoker 1 alone counts as yes, and any other as no"
        assert [any(said in note for note in one.provenance.notes) for one in (yes, share)] == [kind != "boolean"] * 2
        if kind != "boolean":
            assert session.count("smoker", equals=9, **terms).value == 100
            assert session.count("smoker != 0", **terms).value == 300
            left = session.proportion("smoker", where="smoker >= 0 and smoker <= 1", **terms)
            assert left.value == pytest.approx(0.5, abs=0.01)
