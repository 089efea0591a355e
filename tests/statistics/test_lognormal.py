"""Lognormal distributions: a normal one, fitted to logarithms."""

import math
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.audit.replay import drawn, exceeds
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.fit_distribution import logarithms


def made(relation: Neighbours, epsilon: float) -> Any:
    """The mechanism of a question."""
    facts = Columns(("x",), ("number",))
    return declared("fit_distribution").make(Public(relation, "row", None), "lognormal", facts, epsilon=epsilon)


@pytest.mark.parametrize("relation", list(Neighbours))
def test_one_person_moves_what_is_claimed(relation: Neighbours) -> None:
    rows: list[Any] = np.round(np.random.default_rng(1).lognormal(1.0, 0.8, 80), 3).tolist()
    odd = (0.0, -3.0, 1e300, math.nan, None, 5e-324, math.inf)
    if relation is Neighbours.REPLACE:
        pairs = [audit.Pair([*rows, a], [*rows, b]) for a in odd for b in odd if a is not b][::4]
    else:
        pairs = [audit.Pair(rows, [*rows, one]) for one in odd]
    mechanism = made(relation, 40.0)
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert mechanism.release(rows, Seeded(0)).refusal is None
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


def test_each_logarithm_is_of_its_own_entry() -> None:
    assert logarithms([1.0, 0.0, -5.0, math.inf, None]).tolist()[:4] == [0.0, -math.inf, -math.inf, math.inf]
    assert math.isnan(logarithms([None, 1.0])[0])


def test_intervals_hold_both_parameters() -> None:
    """Far from 1 in its own units; of 60 runs fewer than 45 by chance less than once in 10^6."""
    held = np.zeros(2)
    for seed in range(60):
        rows = np.random.default_rng(seed).lognormal(10.0, 0.5, 3000)
        low, high = discreet.fit_distribution("lognormal", rows, epsilon=1.0, rng=Seeded(seed)).interval()
        held += [low["mu"] <= 10.0 <= high["mu"], low["sigma"] <= 0.5 <= high["sigma"]]
    assert (held >= 45).all()


def test_words_and_the_distribution() -> None:
    rows = np.random.default_rng(0).lognormal(3.0, 0.7, 5000)
    release = discreet.fit_distribution("lognormal", rows, epsilon=2.0, rng=Seeded(1))
    assert release.value.mu == pytest.approx(3.0, abs=0.1)
    assert release.value.distribution().median() == pytest.approx(math.exp(release.value.mu))
    assert "limiting logarithms to between" in str(release)
    assert "lognormal" in str(discreet.fit_distribution("log-normal", rows[:9], epsilon=1.0, rng=Seeded(1)))
