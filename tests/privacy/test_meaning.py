import math
from dataclasses import FrozenInstanceError
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.accounting.calibrate import gaussian
from discreet.accounting.filter import Budget
from discreet.errors import BadInput
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.meaning import (
    excess,
    excess_with_and_without,
    explain,
    guess,
    loss_beyond,
    loss_beyond_gaussian,
    posterior,
    posterior_with_and_without,
    power,
    power_gdp,
    power_zcdp,
)
from discreet.privacy.release import Provenance, Release

LEVELS = [1e-9, 1e-4, 0.01, 0.05, 0.3, 0.5, 0.9, 0.999]


@pytest.mark.claim("meaning.1")
def test_the_figures_of_the_theory() -> None:
    assert posterior(0.5, 1) == pytest.approx(0.731, abs=5e-4)
    assert posterior(0.01, 1) == pytest.approx(0.0267, abs=5e-5)
    assert posterior(0, 5) == 0
    assert posterior(1, 5) == 1
    assert posterior(0.3, 0) == pytest.approx(0.3)
    assert posterior(1e-9, 1e6) == 1


@pytest.mark.claim("meaning.1")
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


@pytest.mark.claim("meaning.2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_with_and_without_a_person_on_random_priors(epsilon: float) -> None:
    """Any prior on three people's bits, dependent ones too; the first person's bit used, or replaced by 0."""
    distributions, rng = likelihoods(epsilon), np.random.default_rng(7)
    tables, worst = list(distributions), 1.0
    for spread in (0.1, 1.0, 8.0):
        for _ in range(100):
            prior = np.exp(spread * rng.normal(size=len(tables)))[:, None]
            used = prior * np.array([distributions[table] for table in tables])
            unused = prior * np.array([distributions[(0, *table[1:])] for table in tables])
            used, unused = used / used.sum(axis=0), unused / unused.sum(axis=0)
            worst = max(worst, float((used / unused).max()), float((unused / used).max()))
    assert math.exp(0.5 * epsilon) < worst <= posterior_with_and_without(epsilon) * (1 + 1e-9)


@pytest.mark.claim("meaning.3")
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


@pytest.mark.claim("meaning.4")
def test_power_under_gaussian_privacy() -> None:
    assert power_gdp(0.05, 1) == pytest.approx(0.2595, abs=1e-4)
    assert power_gdp(0.3, 0) == pytest.approx(0.3)
    assert power_gdp(0, 3) == 0
    assert power_gdp(1, 3) == 1
    assert power_gdp(1e-9, 1e6) == 1


@pytest.mark.claim("meaning.5")
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


@pytest.mark.claim("meaning.5")
def test_zcdp_power_is_not_trivial() -> None:
    assert power_zcdp(0.05, 0.02) < 0.085
    assert power_zcdp(0.05, 1e-8) < 0.0501
    assert power_zcdp(0.05, 1e6) == 1
    assert power_zcdp(0, 1) == 0
    assert power_zcdp(1, 1) == 1
    assert power_zcdp(0.3, 0) == pytest.approx(0.3)


@pytest.mark.claim("meaning.6")
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
    assert "plus" not in text
    assert "Delta" not in text
    with pytest.raises(FrozenInstanceError):
        meaning.prior = 0.5  # type: ignore[misc]


def test_anything_that_promises_can_be_explained() -> None:
    present = Guarantee(1.0, 1e-6, Neighbours.ADD_OR_REMOVE, "person")
    release = Release(present, Provenance("Count", {}, True), answer=3)
    plain = explain(epsilon=1.0, delta=1e-6)
    assert explain(present) == explain(release) == explain(Budget(1.0, 1e-6)) == explain(1.0, delta=1e-6) == plain
    assert str(plain).splitlines() == list(plain.sentences)
    assert "had not been in the data" in str(explain(1.0))
    assert "had other data" in str(explain(1.0, neighbours="replace"))
    for wrong in (
        {},
        {"what": 1.0, "epsilon": 1.0},
        {"what": "much"},
        {"epsilon": 1.0, "n": 0},
        {"what": True},
        {"epsilon": 1.0, "neighbours": "both"},
    ):
        with pytest.raises(BadInput):
            explain(**wrong)


def test_what_delta_comes_to_for_many_people() -> None:
    assert "one or another of 5,000 people has a chance of at most 0.5%." in str(explain(epsilon=1, delta=1e-6, n=5000))
    assert "give a delta of at most 1e-06" in str(explain(epsilon=1, delta=1e-5, n=100_000))
    assert "one or another" not in str(explain(epsilon=1, n=5000))


def test_delta_is_said_honestly() -> None:
    """No sentence takes delta for the probability that the loss exceeds epsilon."""
    for epsilon, beyond in ((1.0, "2.01e-05"), (0.1, "0.000149")):
        sentences = explain(Guarantee(epsilon, 1e-6, unit="person")).sentences
        text = " ".join(sentences)
        assert "except for a chance" not in text
        assert "that more is revealed" not in text
        assert "plus 1e-06" in sentences[1]
        assert f"times as likely as otherwise, of at most {2e-6:.3g}" in sentences[-2]
        assert "Delta is not the chance" in sentences[-1]
        assert beyond in sentences[-1]


GAUSSIANS = [(1.0, 1e-6), (0.1, 1e-6), (3.0, 1e-9), (0.01, 1e-3)]


def gaussian_distributions(mu: float) -> tuple[Any, Any]:
    """Two normal distributions that are mu apart, as probabilities of short intervals."""
    middles, step = np.linspace(-9, 9 + mu, 200_001, retstep=True)
    p, q = (stats.norm(place).pdf(middles) * step for place in (mu, 0))
    return p, q


@pytest.mark.claim("meaning.7")
@pytest.mark.claim("meaning.8")
@pytest.mark.parametrize(("epsilon", "delta"), GAUSSIANS)
def test_sentences_hold_of_gaussian_noise_that_just_keeps_the_promise(epsilon: float, delta: float) -> None:
    mu, meaning = gaussian(epsilon, delta), explain(Guarantee(epsilon, delta))
    p, q = gaussian_distributions(mu)
    loss = np.log(p) - np.log(q)
    assert np.maximum(p - math.exp(epsilon) * q, 0).sum() == pytest.approx(delta, rel=2e-3)
    exceeds = float(p[loss > epsilon].sum())
    assert exceeds == pytest.approx(loss_beyond_gaussian(epsilon, mu), rel=5e-3)
    assert exceeds == pytest.approx(meaning.gaussian_chance, rel=5e-3)
    assert exceeds > 5 * delta  # what delta was said to bound
    assert p[loss > epsilon + math.log(2)].sum() <= meaning.double_chance == 2 * delta
    for over in (0.01, 0.1, 0.5, 2.0, 5.0):
        assert p[loss > epsilon + over].sum() <= loss_beyond(epsilon + over, epsilon=epsilon, delta=delta)


def test_delta_misread_is_wrong_by_the_factors_that_are_told() -> None:
    assert loss_beyond_gaussian(1, gaussian(1, 1e-6)) / 1e-6 == pytest.approx(20.1, abs=0.1)
    assert loss_beyond_gaussian(0.1, gaussian(0.1, 1e-6)) / 1e-6 == pytest.approx(149, abs=1)


@pytest.mark.claim("meaning.7")
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-3)])
def test_the_chance_of_a_larger_loss_is_reached(epsilon: float, delta: float) -> None:
    """An event with just this loss, and nothing else that tells; near epsilon it may be nearly everything."""
    for over in (math.log(2), 0.05, 3.0):
        here = loss_beyond(epsilon + over, epsilon=epsilon, delta=delta)
        there = here * math.exp(-epsilon - over)
        assert here == pytest.approx(math.exp(epsilon) * there + delta, rel=1e-9)
        assert 1 - there <= math.exp(epsilon) * (1 - here) + delta
    yes = 1 / (1 + math.exp(-epsilon))  # randomised response, its loss a little above epsilon
    assert yes + delta / 2 <= math.exp(epsilon) * (1 - yes) + delta
    assert math.log((yes + delta / 2) / (1 - yes)) > epsilon
    assert loss_beyond(epsilon, epsilon=epsilon, delta=delta) == 1
    assert loss_beyond(epsilon, epsilon=epsilon, delta=0) == 0
    assert loss_beyond(1e9, epsilon=epsilon, delta=delta) == delta


@pytest.mark.claim("meaning.1")
@pytest.mark.parametrize(("epsilon", "delta"), GAUSSIANS)
@pytest.mark.parametrize("prior", [0.01, 0.5, 0.9])
def test_the_average_excess_of_a_guess_is_reached(epsilon: float, delta: float, prior: float) -> None:
    p, q = gaussian_distributions(gaussian(epsilon, delta))
    answers = prior * p + (1 - prior) * q
    after = prior * p / answers
    beyond = float((answers * np.maximum(after - posterior(prior, epsilon), 0)).sum())
    assert beyond == pytest.approx(excess(prior, epsilon, delta), rel=5e-3)
    high = Guarantee(epsilon, delta).worst_odds(prior, chance=3 * delta)
    assert p[after > high].sum() <= 3 * delta
    assert q[after > high].sum() <= 3 * delta
    assert after.max() <= Guarantee(epsilon, delta).worst_odds(prior) == 1


@pytest.mark.claim("meaning.2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_what_goes_beyond_the_factor_is_nearly_reached(epsilon: float) -> None:
    """Three answers: one that a likely table gives only without the person, one only with them, and the rest."""
    delta, grow = 1e-6, math.exp(epsilon)
    often, tiny = 1 / (1 + grow), 1e-12
    likely = np.array([[0, delta, 1 - delta], [delta, 0, 1 - delta]])  # with the person's data, and without
    other = np.array([[grow * often, tiny / grow, 0], [often, tiny, 0]])
    other[:, 2] = 1 - other.sum(axis=1)
    for used, unused in (likely, likely[::-1], other, other[::-1]):
        assert np.maximum(used - grow * unused, 0).sum() <= delta * (1 + 1e-6)
    joint = np.stack([0.99 * likely, 0.01 * other])  # by table, by whether the data are used, by answer
    used, unused = joint[:, 0], joint[:, 1]
    beyond = np.maximum(unused / unused.sum(axis=0) - grow**2 * used / used.sum(axis=0), 0).sum(axis=0)
    found = float((used.sum(axis=0) * beyond).sum())
    assert 0.95 * excess_with_and_without(epsilon, delta) < found <= excess_with_and_without(epsilon, delta)


@pytest.mark.claim("meaning.2")
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_with_and_without_a_person_beyond_the_factor(epsilon: float) -> None:
    """As for pure answers, with normal noise and its exact delta: what is beyond the factor, whatever event is seen."""
    outputs = np.linspace(-9, 12, 400)
    distributions = {table: np.exp(-((outputs - sum(table)) ** 2) / 2) for table in product((0, 1), repeat=3)}
    distributions = {table: distribution / distribution.sum() for table, distribution in distributions.items()}
    pairs = [
        (distributions[one], distributions[two]) for one in distributions for two in distributions if one[1:] == two[1:]
    ]
    delta = max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in pairs)
    rng, tables, worst, factor = np.random.default_rng(3), list(distributions), 0.0, posterior_with_and_without(epsilon)
    bound = excess_with_and_without(epsilon, delta)
    for spread in (0.1, 1.0, 8.0):
        for _ in range(100):
            prior = np.exp(spread * rng.normal(size=len(tables)))[:, None]
            prior /= prior.sum()
            used = prior * np.array([distributions[table] for table in tables])
            unused = prior * np.array([distributions[(0, *table[1:])] for table in tables])
            seen = used.sum(axis=0)
            one, two = used / seen, unused / unused.sum(axis=0)
            for here, there in ((one, two), (two, one)):
                worst = max(worst, float((seen * np.maximum(here - factor * there, 0)).sum()))
    assert 0.01 * bound < worst <= bound


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


@pytest.mark.claim("meaning.9")
@pytest.mark.parametrize(("relation", "changes"), [("replace", 1), ("add_or_remove", 2)])
def test_epsilon_near_one_over_n_tells_nothing(relation: str, changes: int) -> None:
    told = explain(epsilon=0.001, n=100, neighbours=relation)
    assert told.all_or_none == pytest.approx((1 + math.tanh(100 * changes * 0.001 / 2)) / 2)
    assert "With 100 people this epsilon cannot tell all-yes from all-no" in str(told)
    assert "Epsilon must be much larger than 0.01." in str(told)
    for few in (1, 2, 3):  # randomised response on each person is told by its own likelihood, and reaches no more
        yes = math.exp(0.5) / (1 + math.exp(0.5))
        right = sum(math.comb(few, k) * max(yes**k * (1 - yes) ** (few - k), (1 - yes) ** k * yes ** (few - k)) / 2
                    for k in range(few + 1))  # fmt: skip
        bound = explain(epsilon=0.5, n=few, neighbours="replace").all_or_none
        assert bound is not None
        assert right <= bound + 1e-12
    assert "all-yes" not in str(explain(epsilon=1.0, n=5000, neighbours=relation))
    assert explain(epsilon=1.0, delta=1e-6, n=10**6, neighbours=relation).all_or_none == 1
