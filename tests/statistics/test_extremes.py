"""The ladder for far quantiles and for the distance between the quartiles."""

from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.guarantee import Neighbours

BOTH = list(Neighbours)
NAMES = ("minimum", "maximum", "iqr")


def made(name: str, relation: Neighbours, *, size: int | None = None, **options: Any) -> Any:
    """The mechanism of a question."""
    facts = Columns(("x",), ("number",))
    return declared(name).make(Public(relation, "row", size), facts, **options)


@pytest.mark.claim("extremes.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bounds", [None, (0.0, 9.0)])
def test_one_person_moves_what_is_claimed(name: str, relation: Neighbours, bounds: Any) -> None:
    rows: list[Any] = [float(k % 10) for k in range(400)]
    mechanism = made(name, relation, epsilon=60.0, bounds=bounds, granularity=1)
    odd = (0.0, 1e300, float("nan"), -5.0, None)
    if relation is Neighbours.REPLACE:
        pairs = [audit.Pair([*rows, a], [*rows, b]) for a in odd for b in odd if a is not b][::3]
    else:
        pairs = [audit.Pair(rows, [*rows, one]) for one in odd]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("extremes.1")
@pytest.mark.parametrize(("name", "q"), [("minimum", 0.01), ("maximum", 0.99)])
def test_they_are_quantiles_and_say_so(name: str, q: float) -> None:
    rows = np.random.default_rng(0).gamma(2.0, 3.0, 30_000)
    one = getattr(discreet, name)(rows, epsilon=2.0, rng=Seeded(1))
    other = discreet.quantile(rows, q, epsilon=2.0, rng=Seeded(1))
    assert one.value == other.value
    assert tuple(one.interval()) == tuple(other.interval())
    assert f"{name} ({100 * q:g}% quantile):" in str(one).splitlines()[0]
    assert f"the population's {100 * q:g}% quantile" in str(one)
    with discreet.open({"x": rows}, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        assert "(99.5% quantile):" in str(session.maximum("x", epsilon=2.0, share=0.005)).splitlines()[0]


@pytest.mark.claim("extremes.1")
def test_an_end_beyond_all_data_is_refused() -> None:
    rows = np.round(np.random.default_rng(0).gamma(2.0, 3.0, 16_000), 1)
    found = [discreet.maximum(rows, epsilon=1.0, rng=Seeded(seed)) for seed in range(8)]
    wild = [one for one in found if one.refusal is not None]
    assert all("99% quantile" in str(one).splitlines()[0] for one in found)
    assert all("far beyond any data" in str(one.refusal) or "too few" in str(one.refusal) for one in wild)
    assert all(abs(one.value) < 1e14 for one in found if one.refusal is None)


@pytest.mark.claim("extremes.2")
@pytest.mark.parametrize("relation", BOTH)
def test_the_interval_holds_the_distance_between_the_quartiles(relation: Neighbours) -> None:
    """Skewed values; of 100 runs fewer than 80 by chance less than once in 10^6."""
    truth = float(np.diff(-np.log1p(-np.array([0.25, 0.75])))[0])
    held = 0
    for seed in range(100):
        rows = np.random.default_rng(seed).exponential(size=2000)
        low, high = discreet.iqr(rows, epsilon=1.0, neighbours=relation, rng=Seeded(seed)).interval()
        held += low <= truth <= high
    assert held >= 80


@pytest.mark.claim("extremes.2")
def test_the_distance_is_that_of_both_ends() -> None:
    rows = np.arange(4000) % 100
    both = made("quantile", Neighbours.ADD_OR_REMOVE, q=(0.25, 0.75), epsilon=1.0, confidence=0.975)
    bar = both.release(rows, Seeded(1)).interval(0.975)
    found = made("iqr", Neighbours.ADD_OR_REMOVE, epsilon=1.0).release(rows, Seeded(1)).interval()
    assert tuple(found) == (bar.low[1] - bar.high[0], bar.high[1] - bar.low[0])


def test_what_is_asked_is_checked() -> None:
    for share in (0, 0.5, "1%", True):
        with pytest.raises(BadInput, match="share is"):
            discreet.minimum([1.0], epsilon=1.0, share=share)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="confidence"):
        discreet.iqr([1.0], epsilon=1.0, confidence=None)  # type: ignore[arg-type]
    assert "too few" in str(discreet.iqr([1.0] * 20, epsilon=1.0, rng=Seeded(1)).refusal)


@pytest.mark.claim("extremes.2")
def test_each_quartile_has_half_of_the_miss() -> None:
    assert made("iqr", Neighbours.ADD_OR_REMOVE, epsilon=1.0, confidence=0.9).inner.confidence == 0.95
