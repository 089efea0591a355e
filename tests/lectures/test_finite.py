"""Definitions and theorems of the lectures, counted out on small worlds."""

import math
import statistics
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.lectures import (
    additive_privacy,
    global_sensitivity,
    local_sensitivity,
    name_and_shame,
    posterior,
    pure_privacy,
    randomised_response,
    smooth_sensitivity,
)


def test_sensitivities_of_the_median() -> None:
    domain = range(4)
    assert global_sensitivity(statistics.median, domain, 3) == 3
    for rows in product(domain, repeat=3):
        local = local_sensitivity(statistics.median, rows, domain)
        ordered = sorted(rows)
        assert local == max(ordered[1] - ordered[0], ordered[2] - ordered[1])
        smooth = smooth_sensitivity(statistics.median, rows, domain, 0.7)
        assert local <= smooth <= 3
        for place, value in product(range(3), domain):  # what makes it safe: neighbours differ by e^pace at most
            other = (*rows[:place], value, *rows[place + 1 :])
            assert smooth <= math.exp(0.7) * smooth_sensitivity(statistics.median, other, domain, 0.7) + 1e-12


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


def test_groups() -> None:
    """Lemma 3.4."""
    for many in (1, 2, 3):
        assert pure_privacy(randomised_response(0.3), (0, 1), 3, group=many) == pytest.approx(0.3 * many)


def test_arguments() -> None:
    with pytest.raises(BadInput, match="from 1 to 12"):
        global_sensitivity(sum, (0, 1), 40)
    with pytest.raises(BadInput, match="above 0"):
        smooth_sensitivity(sum, (0, 1), (0, 1), 0)
    with pytest.raises(BadInput, match="0 or more"):
        randomised_response(-1)
    with pytest.raises(BadInput, match="a probability"):
        name_and_shame(2)
