"""Likelihood ratios: cells, clamps, exact distributions, votes."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import audit, likelihood_ratio_test
from discreet.audit.worlds import HOSTILE, THORNS, Pair, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses import likelihood_ratio
from discreet.hypotheses.likelihood_ratio import (
    LEVELS,
    NO_NOISE,
    RatioCells,
    SimpleTest,
    best_clamp,
    clamped_power,
    clamped_steps,
    ratio_distribution,
)
from discreet.hypotheses.null_distributions import noise_beyond
from discreet.noise.distributions import laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

P, Q = stats.norm(0, 1), stats.norm(0.25, 1)
VALUES = (0.0, 5.0, -5.0, math.inf, math.nan, "a")
WORLD = list(neighbours_of((0.0, 1.0, -1.0), VALUES, Neighbours.REPLACE))


@pytest.mark.claim("likelihood_ratio.1")
@pytest.mark.parametrize("method", ["clamped", "vote"])
def test_ratios_pass_the_audit(method: str) -> None:
    audit.check(SimpleTest(P, Q, 20.0, method=method), WORLD, hostile_values=False).require()  # type: ignore[arg-type]


def test_hostile_values_raise_nothing() -> None:
    for test in (SimpleTest(P, Q, 1.0), SimpleTest({"a": 0.4, 1: 0.6}, {"a": 0.6, 1: 0.4}, 1.0)):
        assert 0 < test.release([*HOSTILE, *THORNS], Seeded(1)).value.p_value <= 1


@pytest.mark.claim("likelihood_ratio.2")
def test_the_distribution_is_that_of_all_tables_of_three_people() -> None:
    cells = RatioCells.of({"a": 0.2, "b": 0.5, "c": 0.3}, {"a": 0.5, "b": 0.1, "c": 0.4})
    steps = clamped_steps(cells.ratios, -1.0, 0.5)
    assert steps.min() == 0
    assert steps.max() == LEVELS
    for size, scale in ((3, laplace_scale(LEVELS, 2.0)), (3, NO_NOISE)):
        distribution = ratio_distribution(cells, steps, size, scale)
        for t in (-200, 0, 30, 64, 100, 150, 192, 300):
            true = sum(
                cells.null[i] * cells.null[j] * cells.null[k] * noise_beyond(t - steps[i] - steps[j] - steps[k], scale)
                for i in range(3)
                for j in range(3)
                for k in range(3)
            )
            assert distribution.upper(t) == pytest.approx(float(true), abs=1e-11)


@pytest.mark.claim("likelihood_ratio.2")
@pytest.mark.parametrize(("p", "q"), [(P, Q), (stats.poisson(2), stats.poisson(2.5)), (stats.expon(), stats.gamma(2))])
def test_cells_have_the_probabilities_of_their_distributions(p: object, q: object) -> None:
    """200,000 entries: the share above any step of the ratio is off by less than 6 standard errors."""
    cells = RatioCells.of(p, q)
    steps = clamped_steps(cells.ratios, -1.0, 1.0)
    seen = steps[cells.places(p.rvs(200_000, random_state=np.random.default_rng(1)))]  # type: ignore[attr-defined]
    for level in (10, 25, 32, 50):
        share = float(cells.null[steps >= level].sum())
        assert abs((seen >= level).mean() - share) <= 6 * math.sqrt(share * (1 - share) / 200_000) + 1e-9


@pytest.mark.claim("likelihood_ratio.2")
@pytest.mark.parametrize("method", ["clamped", "vote"])
def test_p_values_are_super_uniform(method: str) -> None:
    people, test = np.random.default_rng(2), SimpleTest(P, Q, 1.0, method=method)  # type: ignore[arg-type]
    found = [test.release(people.normal(size=90), Seeded(i)).value.p_value for i in range(300)]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 5 * math.sqrt(level * (1 - level) / 300)


def test_the_best_clamp_has_more_power_than_epsilon() -> None:
    """n = 1000, N(0, 1) against N(0.1, 1), epsilon 1: 0.93 against 0.78 at +-epsilon."""
    cells = RatioCells.of(P, stats.norm(0.1, 1))
    best = clamped_power(cells, best_clamp(cells, 1000, 1.0), 1000, 1.0, 0.05)
    assert best > clamped_power(cells, (-1.0, 1.0), 1000, 1.0, 0.05) + 0.1
    assert best > 0.9


def test_decisions() -> None:
    people = np.random.default_rng(3)
    x, y = people.normal(0, 1, 3000), people.normal(0.25, 1, 3000)
    for method in ("clamped", "vote"):
        ask = {"epsilon": 1.0, "method": method, "rng": Seeded(1)}
        assert likelihood_ratio_test(x, P, Q, **ask).value.p_value > 1e-6  # type: ignore[arg-type]
        assert likelihood_ratio_test(y, P, Q, **ask).value.decide(0.001)  # type: ignore[arg-type]


def test_refusals_are_by_public_numbers() -> None:
    for p, q, words in (
        (P, P, "same"),
        (P, 3, "cdf"),
        ({"a": 0.5}, {"a": 1.0}, "sum to 1"),
    ):
        with pytest.raises(BadInput, match=words):
            SimpleTest(p, q, 1.0)
    with pytest.raises(BadInput, match="method"):
        SimpleTest(P, Q, 1.0, method="t")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="clamp"):
        SimpleTest(P, Q, 1.0, clamp=(1.0, 0.0))
    few = likelihood_ratio_test([0.0] * 5, P, Q, epsilon=0.5, neighbours="replace", missing="keep")
    assert "are needed" in str(few.refusal)
    for method in ("clamped", "vote"):
        test = SimpleTest(P, Q, 0.5, method=method)
        with pytest.raises(Refused, match="times as many"):
            test.check(5)
        test.check(500)
        test.check(None)


def test_parameters_of_the_wrong_kind_are_our_own_errors() -> None:
    with pytest.raises(BadInput, match="clamp"):
        SimpleTest({"a": 0.5, "b": 0.5}, {"a": 0.7, "b": 0.3}, 1.0, clamp=5)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="probability is 'x'"):
        SimpleTest({"a": "x"}, {"a": 1.0}, 1.0)


FAIR, LOADED = {"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0.3, "b": 0.3, "c": 0.4}
ADD = Neighbours.ADD_OR_REMOVE


@pytest.mark.claim("likelihood_ratio.3")
@pytest.mark.parametrize("method", ["clamped", "vote"])
def test_a_private_number_of_people_passes_the_audit(method: Any) -> None:
    test = SimpleTest(FAIR, LOADED, 40.0, method=method, clamp=(-0.5, 0.7), neighbours=ADD)
    for rows in ((), ("a",), ("a", "c"), ("a", "b", "a", "c")):
        world = neighbours_of(rows, ("a", "b", "c", None, 1), ADD)
        audit.check(test, world, hostile_values=len(rows) == 2).require()


@pytest.mark.claim("likelihood_ratio.3")
@pytest.mark.parametrize("method", ["clamped", "vote"])
@pytest.mark.parametrize("size", [50, *(pytest.param(size, marks=pytest.mark.study) for size in (200, 2000))])
def test_the_level_holds_for_a_private_number_of_people(method: Any, size: int) -> None:
    """200 runs: past the bounds with a chance below 1e-6 each; and at 2,000 people nearly all of 20 are decided."""
    people, test = np.random.default_rng(size), SimpleTest(FAIR, LOADED, 0.5, method=method, neighbours=ADD)

    def found(chances: list[float], runs: int) -> Any:
        rows = (people.choice(["a", "b", "c"], size, p=chances).tolist() for _ in range(runs))
        releases = [test.release(one, Seeded(run)) for run, one in enumerate(rows)]
        return np.array([1.0 if one.refusal is not None else one.value.p_value for one in releases])

    null = found([0.5, 0.3, 0.2], 200)
    for level in (0.05, 0.2, 0.5):
        assert np.count_nonzero(null <= level) <= stats.binom.isf(1e-6, 200, level)
    if size == 2000:
        assert np.count_nonzero(found([0.3, 0.3, 0.4], 20) <= 0.01) > 15


def test_a_sum_of_other_people_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mutant: a person who takes two seats."""
    right = likelihood_ratio.seats
    monkeypatch.setattr(likelihood_ratio, "seats", lambda places, *more: right(np.repeat(places, 2), *more))
    test = SimpleTest(FAIR, LOADED, 40.0, clamp=(-0.5, 0.7), neighbours=ADD)
    pairs = [Pair(["a"] * count, ["a"] * count + ["c"]) for count in range(10)]
    assert not audit.check(test, pairs, hostile_values=False).passed
