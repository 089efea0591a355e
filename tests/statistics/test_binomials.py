"""Bernoulli, binomial and multinomial distributions."""

import numpy as np
import pytest

from discreet import audit
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.neighbours import Neighbours
from discreet.statistics.binomials import BinomialFit, MultinomialFit
from discreet.statistics.bins import Categories
from discreet.statistics.proportion import Proportion

BOTH = list(Neighbours)


@pytest.mark.claim("binomials.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("trials", [1, 3])
def test_every_small_pair(relation: Neighbours, trials: int) -> None:
    audit.check(BinomialFit(trials, 1.0, relation), audit.numbers(relation, 2)[::8], hostile_values=False).require()


@pytest.mark.claim("binomials.2")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_of_categories(relation: Neighbours) -> None:
    mechanism = MultinomialFit(Categories.of(["a", "b"]), 1.0, relation)
    audit.check(mechanism, audit.numbers(relation, 2)[::8], hostile_values=False).require()


def test_one_trial_is_a_proportion() -> None:
    rows = [True, False, False] * 200
    ours, theirs = BinomialFit(1, 1.0).release(rows, Seeded(3)), Proportion(1.0).release(rows, Seeded(3))
    assert ours.value.p == theirs.value
    assert ours.interval(0.9).low.p == theirs.interval(0.9).low


@pytest.mark.claim("binomials.3")
@pytest.mark.parametrize("relation", BOTH)
def test_intervals_cover(relation: Neighbours) -> None:
    """40 runs at 95%, of each parameter: fewer than 27 held has a chance below 1e-7."""
    people, held = np.random.default_rng(1), np.zeros(3)
    for i in range(40):
        binomial = BinomialFit(5, 0.5, relation).release(people.binomial(5, 0.1, 100), Seeded(i)).interval(0.95)
        held[0] += binomial.low.p <= 0.1 <= binomial.high.p
        rows = np.array(["a", "b", "c"])[people.choice(3, 200, p=[0.1, 0.3, 0.6])]
        ends = MultinomialFit(Categories.of(["a", "b"]), 0.5, relation).release(rows, Seeded(i)).interval(0.95)
        held[1:] += [ends.low[key] <= one <= ends.high[key] for key, one in (("a", 0.1), ("b", 0.3))]
    assert (held >= 27).all()


def test_odd_records_count_as_the_nearest() -> None:
    release = BinomialFit(10, 50.0).release([float("nan"), -1e300, float("inf"), 7], Seeded(1))
    assert release.value.p == pytest.approx(17 / 40, abs=0.05)


def test_probabilities_are_a_distribution() -> None:
    fitted = MultinomialFit(Categories.of(["a", "b", "c"]), 1.0).release(["a", "b", "b", "z"] * 100, Seeded(2)).value
    assert fitted.probabilities["b"] == pytest.approx(0.5, abs=0.1)
    assert fitted.distribution().p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("trials", [0, 1.5, True, "3", 10**7])
def test_trials_are_a_whole_number(trials: object) -> None:
    with pytest.raises(BadInput, match="trials is"):
        BinomialFit(trials, 1.0)  # type: ignore[arg-type]


def test_categories_that_look_alike_are_refused() -> None:
    with pytest.raises(BadInput, match="alike"):
        MultinomialFit(Categories.of([1, "1"]), 1.0)
