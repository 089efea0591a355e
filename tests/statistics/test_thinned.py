"""The ladder for weights by thinning."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.quantile import Quantile
from discreet.statistics.thinned import Thinned, thinned

ADD, REPLACE = Neighbours.ADD_OR_REMOVE, Neighbours.REPLACE
ODD = [(0.0, 1.0), (1e300, 2.0), (-math.inf, math.inf), (math.nan, 1.0), (3.0, math.nan), (3.0, -1.0), (3.0, 1e-300)]
entry = st.tuples(
    st.sampled_from([0.0, -0.0, 1.0, 1e300, math.inf, -math.inf, math.nan]),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0, -1.0, math.inf, math.nan]),
)


def kept(rows: list[Any], key: int) -> Counter[Any]:
    table = np.array(rows, dtype=float).reshape(-1, 2)
    chosen = table[thinned(table[:, 0], table[:, 1], 2.0, key), 0]
    return Counter(float(one + 0.0).hex() for one in chosen)


@pytest.mark.claim("thinned.1")
@given(st.lists(entry, max_size=12), entry, st.integers(0, 12), st.integers(0, 2**63 - 1))
def test_one_record_more_keeps_one_more_at_most_however_the_coins_fall(
    rows: list[Any], more: Any, place: int, key: int
) -> None:
    before, after = kept(rows, key), kept([*rows[:place], more, *rows[place:]], key)
    assert (after - before).total() <= 1
    assert not before - after


@pytest.mark.claim("thinned.1")
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("confidence", [None, 0.95])
def test_every_draw_moves_within_its_sensitivity(relation: Neighbours, confidence: float | None) -> None:
    rng = np.random.default_rng(1)
    many = np.column_stack([np.round(rng.normal(size=200), 1), rng.uniform(1, 2, 200)]).tolist()
    inner = Quantile(0.5, 4.0, bounds=(-3.0, 3.0), confidence=confidence, neighbours=ADD)
    mechanism = Thinned(8.0 if relation is REPLACE else 4.0, inner, 2.0, neighbours=relation)
    pairs = [audit.Pair(np.array(many), np.array([many[0], list(one), *many[1:]])) for one in ODD]
    single = Thinned(4.0, inner, 2.0)
    audit.check(single, pairs, hostile_values=False).require()
    assert mechanism.release(np.array(many), Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, np.array(many)), mechanism.loss) is None


@pytest.mark.claim("thinned.1")
@pytest.mark.parametrize("statistic", [("median",), ("quantile", 0.25)], ids=str)
def test_under_replace_all_draws_have_half_of_epsilon_and_no_size_is_public(statistic: Any) -> None:
    """Two records are kept or left when one is replaced, and how many are kept is private."""
    column, rows = Columns(("x",), ("number",)), np.column_stack([np.arange(4000.0), np.ones(4000)])
    name, *more = statistic
    terms: dict[str, Any] = {"epsilon": 2.0, "weights": column, "largest_weight": 1.0}
    for relation, cost in ((REPLACE, 1), (ADD, 2)):
        mechanism = declared(name).make(Public(relation, "row", 4000), column, *more, **terms)
        assert isinstance(mechanism, Thinned)
        assert mechanism.guarantee.neighbours is relation
        assert mechanism.inner.guarantee.neighbours is ADD
        assert pure(drawn(mechanism, rows)) == (Fraction(cost), Fraction(0))
    for inner in (Quantile(0.5, 2.0, neighbours=ADD), Quantile(0.5, 1.0, neighbours=REPLACE)):
        with pytest.raises(BadInput, match="half of it under REPLACE"):
            Thinned(2.0, inner, 1.0, neighbours=REPLACE)


@pytest.mark.claim("thinned.2")
def test_records_are_kept_in_proportion_to_their_weights_and_apart_from_each_other() -> None:
    """Ties have coins of their own: of 20,000 equal records a quarter is kept, within 6 standard deviations."""
    x, w = np.zeros(20_000), np.full(20_000, 0.5)
    shares = [float(thinned(x, w, 2.0, key).mean()) for key in range(20)]
    deviation = math.sqrt(0.25 * 0.75 / 20_000)
    assert max(abs(share - 0.25) for share in shares) < 6 * deviation
    assert 0.2 * deviation < np.std(shares) < 3 * deviation
    weights = np.tile([0.0, 0.5, 1.0, 2.0, 9.0], 4000)
    found = thinned(np.arange(20_000.0), weights, 2.0, 7)
    for weight, chance in ((0.0, 0.0), (0.5, 0.25), (1.0, 0.5), (2.0, 1.0), (9.0, 1.0)):
        assert found[weights == weight].mean() == pytest.approx(chance, abs=6 * 0.5 / math.sqrt(4000))


def test_a_weighted_median_is_that_of_the_population() -> None:
    rng = np.random.default_rng(2)
    old = rng.uniform(size=8000) < 0.5
    x = np.where(old, 100.0, 0.0) + rng.normal(0, 10, 8000)
    w = np.where(old, 1.0, 9.0)
    r = discreet.quantile(x, 0.5, epsilon=2.0, weights=w, largest_weight=9.0, rng=Seeded(1))
    assert -3 < float(r) < 6  # a tenth is old: the median of the others' 55% point, 1.3
    assert "of the population that the weights stand for" in r.interval().about
    with pytest.raises(BadInput, match="public and that hardly any weight exceeds"):
        discreet.median(x, epsilon=1.0, weights=w)
    with pytest.raises(BadInput, match="there are none"):
        discreet.median(x, epsilon=1.0, largest_weight=2.0)
