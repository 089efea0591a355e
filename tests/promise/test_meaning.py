import math
from dataclasses import FrozenInstanceError
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.promise.guarantee import Guarantee
from discreet.promise.meaning import (
    explain,
    guess,
    posterior,
    posterior_with_and_without,
    power,
    power_gdp,
    power_zcdp,
)
from discreet.promise.neighbours import Neighbours

LEVELS = [1e-9, 1e-4, 0.01, 0.05, 0.3, 0.5, 0.9, 0.999]


@pytest.mark.claim("E1")
def test_the_figures_of_the_theory() -> None:
    assert posterior(0.5, 1) == pytest.approx(0.731, abs=5e-4)
    assert posterior(0.01, 1) == pytest.approx(0.0267, abs=5e-5)
    assert posterior(0, 5) == 0
    assert posterior(1, 5) == 1
    assert posterior(0.3, 0) == pytest.approx(0.3)
    assert posterior(1e-9, 1e6) == 1


@pytest.mark.claim("E1")
@given(st.floats(1e-6, 1 - 1e-6), st.floats(0, 10))
def test_odds_move_by_e_to_the_epsilon(prior: float, epsilon: float) -> None:
    after = posterior(prior, epsilon)
    assert prior * (1 - 1e-12) <= after <= 1
    assert after * (1 - prior) <= math.exp(epsilon) * prior * (1 - after) * (1 + 1e-6) + 1e-9


def likelihoods(epsilon: float) -> dict[tuple[int, ...], Any]:
    """Discrete Laplace noise on the sum of three bits: for each table, the probabilities of the outputs."""
    outputs = np.arange(-40, 44)
    return {
        table: math.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(outputs - sum(table)))
        for table in product((0, 1), repeat=3)
    }


@pytest.mark.claim("E2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_with_and_without_a_person_on_random_priors(epsilon: float) -> None:
    """Any prior on three people's bits, dependent ones too; the first person's bit used, or replaced by 0."""
    laws, rng = likelihoods(epsilon), np.random.default_rng(7)
    tables, worst = list(laws), 1.0
    for spread in (0.1, 1.0, 8.0):
        for _ in range(100):
            prior = np.exp(spread * rng.normal(size=len(tables)))[:, None]
            used = prior * np.array([laws[table] for table in tables])
            unused = prior * np.array([laws[(0, *table[1:])] for table in tables])
            used, unused = used / used.sum(axis=0), unused / unused.sum(axis=0)
            worst = max(worst, float((used / unused).max()), float((unused / used).max()))
    assert math.exp(0.5 * epsilon) < worst <= posterior_with_and_without(epsilon) * (1 + 1e-9)


@pytest.mark.claim("E3")
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0), (1, 0), (1, 0.01), (5, 1e-6), (0, 0.2)])
def test_power_is_that_of_randomised_response_beside_a_bad_event(epsilon: float, delta: float) -> None:
    right = (1 - delta) / (1 + math.exp(-epsilon))
    p, q = [delta, right, 1 - delta - right, 0.0], [0.0, 1 - delta - right, right, delta]
    for level in LEVELS:
        room, best = level, 0.0
        for mass, cost in zip(p, q, strict=True):  # Neyman and Pearson: the likeliest first
            share = 1.0 if cost <= room else room / cost
            best, room = best + share * mass, room - share * cost
        assert power(level, epsilon=epsilon, delta=delta) == pytest.approx(best, rel=1e-9)


@pytest.mark.claim("E4")
def test_power_under_gaussian_privacy() -> None:
    assert power_gdp(0.05, 1) == pytest.approx(0.2595, abs=1e-4)
    assert power_gdp(0.3, 0) == pytest.approx(0.3)
    assert power_gdp(0, 3) == 0
    assert power_gdp(1, 3) == 1
    assert power_gdp(1e-9, 1e6) == 1


@pytest.mark.claim("E5")
@pytest.mark.parametrize("level", LEVELS)
def test_zcdp_power_bounds_what_has_this_rho(level: float) -> None:
    for size in (1e-3, 0.2, 1.0, 3.0):
        assert power_zcdp(level, size**2 / 2) >= power_gdp(level, size)
        assert power_zcdp(level, size * math.tanh(size / 2)) >= power(level, epsilon=size) * (1 - 1e-12)
        assert power_zcdp(level, size - 1 + math.exp(-size)) >= laplace_power(level, size) * (1 - 1e-12)


def laplace_power(level: float, epsilon: float) -> float:
    """The power of the best test of a shift by one in Laplace noise of scale 1 / epsilon."""
    edge = -math.log(2 * level) if level < 0.5 else math.log(2 * (1 - level))
    moved = edge - epsilon
    return math.exp(-moved) / 2 if moved > 0 else 1 - math.exp(moved) / 2


@pytest.mark.claim("E5")
def test_zcdp_power_is_not_trivial() -> None:
    assert power_zcdp(0.05, 0.02) < 0.085
    assert power_zcdp(0.05, 1e-8) < 0.0501
    assert power_zcdp(0.05, 1e6) == 1
    assert power_zcdp(0, 1) == 0
    assert power_zcdp(1, 1) == 1
    assert power_zcdp(0.3, 0) == pytest.approx(0.3)


@pytest.mark.claim("E6")
@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (1, 0), (1, 0.1), (3, 1e-6), (0, 1), (800, 0.5)])
def test_a_guess_is_half_of_one_plus_the_largest_difference(epsilon: float, delta: float) -> None:
    differences = [power(level, epsilon=epsilon, delta=delta) - level for level in np.linspace(0, 1, 100_001)]
    assert guess(epsilon, delta) == pytest.approx((1 + max(differences)) / 2, abs=2e-5)


@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan, None, True])
def test_bad_chances(level: Any) -> None:
    with pytest.raises(BadInput):
        power(level, epsilon=1)
    with pytest.raises(BadInput):
        power_gdp(level, 1)
    with pytest.raises(BadInput):
        power_zcdp(level, 1)
    with pytest.raises(BadInput):
        posterior(level, 1)
    with pytest.raises(BadInput):
        explain(Guarantee(1.0), prior=level)


@pytest.mark.parametrize("size", [-0.1, math.nan, math.inf, None])
def test_bad_sizes(size: Any) -> None:
    for function in (guess, posterior_with_and_without):
        with pytest.raises(BadInput):
            function(size)
    with pytest.raises(BadInput):
        power_zcdp(0.1, size)


def test_explained() -> None:
    meaning = explain(Guarantee(1.0, unit="person"))
    text = " ".join(meaning.sentences)
    for figure in ("2.72 times", "1% has at most 2.67%", "7.39", "73.1%", "13.6%", "2.72%"):
        assert figure in text
    assert "chance of at most" not in text
    with pytest.raises(FrozenInstanceError):
        meaning.prior = 0.5  # type: ignore[misc]


def test_delta_is_said_honestly() -> None:
    sentences = explain(Guarantee(1.0, 1e-6, unit="person")).sentences
    assert sum("except for a chance of 1e-06" in sentence for sentence in sentences) == 3
    assert "a chance of at most 1e-06 that more is revealed" in sentences[-1]


def test_groups_and_relations_are_said() -> None:
    meaning = explain(Guarantee(0.5, 1e-6, unit="person"), group=3)
    assert meaning.guarantee == Guarantee(0.5, 1e-6, unit="person").for_group(3)
    assert "a group of 3 people" in meaning.sentences[0]
    present = " ".join(explain(Guarantee(0.5, 0, Neighbours.ADD_OR_REMOVE, "patient")).sentences)
    assert "whether one patient is in the data" in present
    assert "epsilon counts twice" in present
    with pytest.raises(BadInput):
        explain(Guarantee(1.0), group=0)


@pytest.mark.parametrize("epsilon", [0, 1e-9, 30, 800, 1e6, 1e300])
@pytest.mark.parametrize("delta", [0, 1e-6, 1])
@pytest.mark.parametrize("group", [1, 2, 10**6])
def test_any_guarantee_can_be_explained(epsilon: float, delta: float, group: int) -> None:
    meaning = explain(Guarantee(epsilon, delta), group=group)
    text = " ".join(meaning.sentences)
    assert "inf" not in text
    assert "nan" not in text
    for chance in (meaning.posterior, meaning.guess, meaning.power_at_5_percent, meaning.power_at_1_percent):
        assert 0 <= chance <= 1
    assert ("next to no promise" in text) == (meaning.guess > 0.98 or meaning.guarantee.delta > 0.01)
