"""The ladder for totals."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace
from discreet.statistics import sum as module
from discreet.statistics.sum import Sum

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD: list[Any] = [float(x) for x in np.round(np.random.default_rng(4).gamma(2.0, 3.0, size=60), 1)]


def world(relation: Neighbours) -> list[audit.Pair]:
    """Odd rows with a crowd beside them, enough for an answer."""
    odd: tuple[Any, ...] = (0.0, -3.0, 7.5, 1e300, math.inf, -math.inf, math.nan, None, "x", 5e-324)
    if relation is REPLACE:
        return [audit.Pair([*CROWD, left], [*CROWD, right]) for left in odd for right in odd if left is not right][::3]
    return [audit.Pair(CROWD, [*CROWD, one]) for one in odd] + [audit.Pair([*CROWD, one], CROWD) for one in odd]


@pytest.mark.claim("sum.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("bounds", [None, (0.0, 2.0), (-1.0, 5.0), (3.0, 4.0), (-7.0, -6.5)])
def test_every_small_pair(relation: Neighbours, bounds: Any) -> None:
    mechanism = Sum(16.0, bounds=bounds, neighbours=relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    audit.check(mechanism, audit.numbers(relation, 2)[::4], hostile_values=False).require()
    assert mechanism.release([*CROWD, 1.0], Seeded(0)).refusal is None  # the world is one of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, 1.0]), mechanism.loss) is None


@pytest.mark.claim("sum.1")
@pytest.mark.parametrize("relation", BOTH)
def test_a_smaller_sensitivity_is_found_out(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    true: Any = vars(module)["steps_of"]
    monkeypatch.setattr(module, "steps_of", lambda *given, **named: tuple(a // 2 for a in true(*given, **named)))
    found = audit.check(Sum(1.0, bounds=(-1.0, 5.0), neighbours=relation), world(relation), hostile_values=False)
    with pytest.raises(DiscreetError):
        found.require()


@pytest.mark.claim("sum.2")
def test_a_refusal_comes_before_any_draw_or_from_the_noisy_size() -> None:
    rows = np.random.default_rng(0).normal(size=300)
    recorder = Recorder(Seeded(0))
    assert "360" in str(Sum(1.0, neighbours=REPLACE).release(rows, recorder).refusal)
    assert recorder.log == []
    recorder = Recorder(Seeded(0))
    assert "noisy number" in str(Sum(1.0).release(rows[:100], recorder).refusal)
    assert len(recorder.log) == 1
    assert "1e250" in str(Sum(1.0).release(rows.repeat(10) * 1e306, Seeded(0)).refusal)


@pytest.mark.claim("sum.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("bounds", [(0.0, 10.0), (2.0, 6.0), None])
def test_the_interval_holds_the_limited_total(relation: Neighbours, bounds: Any) -> None:
    rows = np.random.default_rng(1).gamma(2.0, 3.0, size=1500)

    def run(seed: int) -> tuple[Any, float]:
        release = Sum(1.0, bounds=bounds, neighbours=relation).release(rows, Seeded(seed))
        return release, float(np.clip(rows, *release.spread.ends).sum())  # type: ignore[union-attr]

    seen = audit.coverage(run, runs=150)
    assert seen.holds
    assert seen.share < 0.995  # no gratuitous width


def test_what_it_says_and_what_missing_entries_add() -> None:
    release = discreet.sum([1.0, math.nan, 3.0, None], epsilon=1e6, bounds=(0, 10), rng=Seeded(0))
    assert release.value == pytest.approx(4.0, abs=1e-3)
    assert "the total in this table, values limited to [0, 10]" in str(release)
    far = discreet.sum(np.full(1000, 1.7e9), epsilon=2.0, bounds=(1.7e9, 1.7e9 + 50), rng=Seeded(0))
    assert "[1700000000, 1700000050]" in str(far)
    kept = discreet.sum(
        [math.nan] * 9, epsilon=1e6, bounds=(2, 10), neighbours="replace", missing="keep", rng=Seeded(0)
    )
    assert kept.value == pytest.approx(18.0, abs=1e-3)


def test_the_shares_add_up_to_epsilon() -> None:
    stages = Sum(Fraction(2, 3)).stages
    assert pure(stages.loss) == (Fraction(2, 3), Fraction(0))
    assert stages.part("size", Laplace).epsilon == Fraction(1, 25)
    rows = np.random.default_rng(0).gamma(2.0, 3.0, size=1500)
    assert pure(drawn(Sum(Fraction(2, 3)), rows)) == (Fraction(2, 3), Fraction(0))
