"""Definitions and theorems of the lectures, counted out on small worlds."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.lectures import (
    additive_privacy,
    agreement,
    composed,
    conclusions_apart,
    name_and_shame,
    posterior,
    processed,
    pure_privacy,
    randomised_response,
    total_variation,
)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_conclusions_with_and_without_a_person_differ_by_two_epsilon(epsilon: float) -> None:
    """Theorem 3.7, for many priors with dependent rows, every output, every person, every default."""
    draws, mechanism, worst = np.random.default_rng(1), randomised_response(epsilon), 0.0
    tables = list(product((0, 1), repeat=3))
    for _ in range(40):
        prior: Mapping[Any, float] = dict(zip(tables, draws.dirichlet(np.full(8, 0.3)).tolist(), strict=True))
        for output, person, default in product(tables, range(3), (0, 1)):
            used = posterior(mechanism, prior, output)
            left = posterior(mechanism, prior, output, without=person, default=default)
            assert sum(used.values()) == pytest.approx(1)
            ratios = [abs(math.log(used[table] / left[table])) for table in tables if left[table] > 1e-12]
            worst = max(worst, *ratios)
            assert conclusions_apart(mechanism, prior, output, without=person, default=default) >= max(ratios)
    assert 0.9 * epsilon < worst <= 2 * epsilon + 1e-9


def test_the_smoking_study_tells_of_somebody_who_was_not_in_it() -> None:
    """All smoke and are ill, or none: the two others tell about Alice, whether or not her row was used."""
    prior = {(0, 0, 0): 0.5, (1, 1, 1): 0.5}
    mechanism = randomised_response(1.0)
    used = posterior(mechanism, prior, (1, 1, 1))[1, 1, 1]
    without = posterior(mechanism, prior, (1, 1, 1), without=0, default=0)[1, 1, 1]
    assert used > without > 0.85


def test_name_and_shame_is_additive_and_shames() -> None:
    mechanism = name_and_shame(0.2)
    assert additive_privacy(mechanism, (0, 1), 3) == pytest.approx(0.2)
    assert pure_privacy(mechanism, (0, 1), 3) == math.inf
    assert 1 - mechanism((0, 1, 0))[()] == pytest.approx(1 - 0.8**3)
    told = posterior(mechanism, {(0, 0): 0.5, (1, 0): 0.5}, ((0, 1),))
    assert told[1, 0] == 1  # no analogue of Theorem 3.7: the row is known for sure
    with pytest.raises(BadInput, match="has probability 0"):
        posterior(mechanism, {(0, 0): 1.0}, ((0, 1),))


def test_additive_privacy_composes_and_has_groups() -> None:
    """Section 3.3: deltas add up, functions of outputs cost nothing, and n delta must exceed what is to be told."""
    one = name_and_shame(0.1)
    both = composed(one, lambda _: name_and_shame(0.2))
    assert additive_privacy(both, (0, 1), 2) <= 0.3 + 1e-12
    assert additive_privacy(processed(both, str), (0, 1), 2) <= 0.3 + 1e-12
    assert additive_privacy(processed(one, len), (0, 1), 2) < 1e-12  # how many are shamed tells of nobody
    for size in (1, 2, 4):
        told = total_variation(one((0,) * size), one((1,) * size))
        assert told <= size * 0.1 + 1e-12


def test_groups() -> None:
    """Lemma 3.4."""
    for many in (1, 2, 3):
        assert pure_privacy(randomised_response(0.3), (0, 1), 3, group=many) == pytest.approx(0.3 * many)


def test_composition_and_what_is_made_of_outputs() -> None:
    """Lemmas 3.1 and 3.3: the second mechanism may be chosen by the first output; functions of outputs cost nothing."""
    first = randomised_response(0.5)
    both = composed(first, lambda told: randomised_response(0.4 if told[0] else 0.1))
    assert pure_privacy(both, (0, 1), 2) == pytest.approx(0.9)
    for function in (sum, max, lambda told: told[0]):
        assert pure_privacy(processed(both, lambda told: function(told[1])), (0, 1), 2) <= 0.9  # noqa: B023
    assert pure_privacy(processed(first, sum), (0, 1), 3) <= 0.5 + 1e-12


def test_privacy_among_friends() -> None:
    """Definition 3.3: a mechanism that tells far rows apart keeps it; one that tells near ones apart does not."""

    def near(a: float, b: float) -> bool:
        return abs(a - b) <= 1

    def far(table: Any) -> Mapping[Any, float]:
        return {max(table) >= 9: 1.0}

    assert pure_privacy(far, (0, 1, 9), 2) == math.inf
    assert pure_privacy(far, (0, 1, 9), 2, friends=near) == 0
    assert pure_privacy(lambda table: {max(table): 1.0}, (0, 1, 9), 2, friends=near) == math.inf


def test_means_of_near_distributions_are_near() -> None:
    """Claim 1 of lecture 3: in a ball of radius R means differ by at most 2 R times the total variation."""
    draws = np.random.default_rng(2)
    for _ in range(200):
        places = draws.uniform(-3, 3, 5)
        one, other = draws.dirichlet(np.ones(5)), draws.dirichlet(np.ones(5))
        apart = total_variation(dict(enumerate(one.tolist())), dict(enumerate(other.tolist())))
        assert abs(places @ one - places @ other) <= 2 * 3 * apart + 1e-12


def test_weights_that_are_near_are_near_when_divided_by_their_sums() -> None:
    """Claim 2 of lecture 3: a / (n - b), for weights that differ by a in all and sum up to n - b or more."""
    draws = np.random.default_rng(3)
    for _ in range(200):
        w = draws.uniform(0.7, 1.0, 10)
        v = np.clip(w + draws.uniform(-0.2, 0.2, 10), 0, 1)
        one, other = (dict(enumerate((x / x.sum()).tolist())) for x in (w, v))
        a, least = np.abs(w - v).sum(), min(w.sum(), v.sum())
        assert total_variation(one, other) <= a / least + 1e-12


def test_replicability_of_a_shared_grid() -> None:
    """Definition 3.5: rounding to a grid whose offset is shared gives two samples the same answer, mostly."""

    def mean(rows: Any, r: int) -> float:
        return float(np.mean(rows))

    def rounded(rows: Any, r: int) -> float:
        offset = (r * 0.618) % 1
        return float(np.floor(np.mean(rows) - offset + 0.5) + offset)

    def sample(i: int) -> Any:
        return np.random.default_rng(i).normal(5.0, 1.0, 400)

    assert agreement(mean, sample, runs=20) == 0
    assert agreement(rounded, sample, runs=100) > 0.8
    with pytest.raises(BadInput, match="how many pairs"):
        agreement(mean, sample, runs=0)


def test_arguments() -> None:
    with pytest.raises(BadInput, match="from 1 to 12"):
        pure_privacy(randomised_response(1), (0, 1), 40)
    with pytest.raises(BadInput, match="0 or more"):
        randomised_response(-1)
    with pytest.raises(BadInput, match="a probability"):
        name_and_shame(2)
