"""Counts against given probabilities: sensitivity, null distributions, private numbers of people, hostile values."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet import audit, goodness_of_fit_test
from discreet.audit.worlds import HOSTILE, THORNS, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses import goodness_of_fit
from discreet.hypotheses.goodness_of_fit import (
    FitTest,
    distribution_on_bins,
    misfit,
    null_fits,
    null_fits_in,
    uncounted_misfit,
    whole_of,
)
from discreet.hypotheses.private_sizes import noisy_sizes
from discreet.noise.distributions import LaplaceDistribution, laplace, laplace_scale, stream
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.histogram import Categories, Edges, counts

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
AB = Categories.of(["a", "b"])
LABELS = ("a", "b", None, 1)


@pytest.mark.claim("goodness_of_fit.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_counts_pass_the_audit(relation: Neighbours) -> None:
    test = FitTest(AB, (0.5, 0.5), 20.0, neighbours=relation, draws=19)
    for rows in ((), ("a",), ("a", "b"), ("a", "a", "b")):
        audit.check(test, neighbours_of(rows, LABELS, relation), hostile_values=len(rows) == 2).require()


@pytest.mark.parametrize("sensitivity", ["counts", "number"])
def test_a_wrong_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch, sensitivity: str) -> None:
    """Planted mutants: a person who counts twice in the cells, or in the number of people."""
    if sensitivity == "counts":
        right = counts
        monkeypatch.setattr(goodness_of_fit, "counts", lambda *given: 2 * right(*given))
    else:
        once = noisy_sizes
        monkeypatch.setattr(goodness_of_fit, "noisy_sizes", lambda n, *more: once([2 * n[0]], *more))
    test = FitTest(AB, (0.5, 0.5), 20.0, neighbours=ADD, draws=19)
    assert not audit.check(test, neighbours_of(("a",), LABELS, ADD), hostile_values=False).passed


def test_hostile_values_raise_nothing() -> None:
    for relation in (REPLACE, ADD):
        test = FitTest(AB, (0.5, 0.5), 1.0, neighbours=relation)
        assert 0 < test.release([*HOSTILE, *THORNS], Seeded(1)).value.p_value <= 1


@pytest.mark.claim("goodness_of_fit.2")
def test_the_null_distribution_of_a_fit_is_that_of_noisy_counts() -> None:
    """Means and 95% quantiles of 40,000 simulated and 40,000 independently drawn statistics agree."""
    chances, scale, size = whole_of((0.7, 0.2, 0.1)), laplace_scale(2, 1.0), 80
    people = np.random.default_rng(1)
    entries = people.choice(4, p=chances, size=(40_000, size))
    counted = np.stack([(entries == cell).sum(axis=1) for cell in range(4)], axis=1)
    seen = misfit(counted + laplace(stream(2), counted.shape, scale), size, chances, scale)
    null = null_fits(stream(3), size, chances, scale, 40_000)
    assert seen.mean() == pytest.approx(null.mean(), rel=0.04)
    assert abs((seen > np.quantile(null, 0.95)).mean() - 0.05) < 6 * math.sqrt(2 * 0.05 * 0.95 / 40_000)


@pytest.mark.claim("goodness_of_fit.2")
def test_p_values_of_a_fit_are_super_uniform() -> None:
    people, test = np.random.default_rng(4), FitTest(Categories.of(range(3)), (0.9, 0.09, 0.01), 1.0, draws=99)
    found = [test.release(people.choice(3, p=[0.9, 0.09, 0.01], size=60), Seeded(i)).value.p_value for i in range(600)]
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 5 * math.sqrt(level * (1 - level) / 600)


@pytest.mark.claim("goodness_of_fit.2")
@pytest.mark.parametrize(
    ("size", "epsilon"),
    [(0, 1.0), (50, 1.0), *(pytest.param(size, 0.2, marks=pytest.mark.study) for size in (200, 2000))],
)
def test_the_level_holds_for_a_private_number_of_people(size: int, epsilon: float) -> None:
    """300 runs: a test of exact level is past the bounds with a chance below 1e-6 each."""
    chances = [0.9, 0.09, 0.01]
    people = np.random.default_rng(size)
    test = FitTest(Categories.of(range(3)), tuple(chances), epsilon, neighbours=ADD, draws=99)
    found = np.array(
        [test.release(people.choice(3, p=chances, size=size), Seeded(i)).value.p_value for i in range(300)]
    )
    for level in (0.05, 0.2, 0.5):
        assert np.count_nonzero(found <= level) <= stats.binom.isf(1e-6, 300, level)


@pytest.mark.claim("goodness_of_fit.2")
@pytest.mark.parametrize("given", [(0.7, 0.2, 0.1), (0.6, 0.2), (1.0, 0.0)])
def test_tables_that_grow_by_one_person_have_the_distribution_of_their_size(given: tuple[float, ...]) -> None:
    """The running sums against the formula: quantiles of 20,000 tables of 30 people, 5 of whom came one by one."""
    chances, scale, draws = whole_of(given), laplace_scale(1, 1.0), 20_000
    spreads = 30 * chances * (1 - chances) + LaplaceDistribution(scale).sd ** 2
    *_, last = null_fits_in(stream(1), range(25, 31), chances, spreads=spreads, scale=scale, draws=draws)
    table = stream(2).multinomial(30, chances, draws)
    once = uncounted_misfit(table + laplace(stream(3), table.shape, scale), chances, spreads, scale)
    assert stats.ks_2samp(last, once).pvalue > 1e-6


@pytest.mark.claim("goodness_of_fit.2")
def test_what_fits_in_no_cell_counts_above_a_standard_deviation_where_nothing_is_expected() -> None:
    scale = laplace_scale(2, 1.0)
    sd = LaplaceDistribution(scale).sd
    full, open_ended = whole_of((0.5, 0.5)), whole_of((0.5, 0.3))
    for far, adds in ((-50, 0.0), (0, 0.0), (2, 0.0), (9, (9 / sd - 1) ** 2)):
        table, spreads = np.array([[60, 40, far]]), np.full(3, 40.0)
        assert misfit(table, 100, full, scale)[0] == pytest.approx(200 / (25 + sd**2) + adds)
        assert uncounted_misfit(table, full, spreads, scale)[0] == pytest.approx(200 / 40 + adds)
        apart = np.array([10, 10, far - 20])
        spread = 100 * open_ended * (1 - open_ended) + sd**2
        assert misfit(table, 100, open_ended, scale)[0] == pytest.approx(((apart - apart.mean()) ** 2 / spread).sum())
        apart = table[0] - (100 + far) * open_ended
        assert uncounted_misfit(table, open_ended, spreads, scale)[0] == pytest.approx((apart**2 / 40).sum())


def test_people_who_fit_in_no_cell_are_found() -> None:
    """One in five, where the null hypothesis says nobody."""
    rows = ["a"] * 240 + ["b"] * 240 + ["c"] * 120
    for relation in (REPLACE, ADD):
        test = FitTest(AB, (0.5, 0.5), 1.0, neighbours=relation, draws=999)
        assert test.release(rows, Seeded(2)).value.decide(0.01)


def test_a_private_number_of_people_costs_no_power() -> None:
    """One person moves the counts by 1 and not by 2: of 60 runs more are decided than with a public number."""
    people = np.random.default_rng(1)
    rows = [people.choice(3, p=[0.55, 0.25, 0.2], size=300) for _ in range(60)]
    decided = []
    for relation in (REPLACE, ADD):
        test = FitTest(Categories.of(range(3)), (0.7, 0.2, 0.1), 0.1, neighbours=relation, draws=99)
        decided.append(sum(test.release(one, Seeded(i)).value.decide(0.05) for i, one in enumerate(rows)))
    assert decided[1] > decided[0]


def test_a_distribution_on_bins() -> None:
    bins, chances = distribution_on_bins(stats.norm(0, 1), None, 10)
    assert len(bins) == 10
    assert chances == pytest.approx([0.1] * 10)
    assert distribution_on_bins(stats.poisson(2), Edges.of([0, 1, 2, 9]), 0)[1] == pytest.approx(
        [stats.poisson(2).pmf(0), stats.poisson(2).pmf(1), stats.poisson(2).cdf(9) - stats.poisson(2).cdf(1)]
    )


def test_decisions() -> None:
    people = np.random.default_rng(6)
    normal, wide = people.normal(size=2000), people.normal(scale=1.5, size=2000)
    for neighbours in ("replace", "add_or_remove"):
        ask: dict[str, Any] = {"epsilon": 1.0, "rng": Seeded(1), "neighbours": neighbours}
        assert goodness_of_fit_test(normal, stats.norm(0, 1), **ask).value.p_value > 1e-3
        assert goodness_of_fit_test(wide, stats.norm(0, 1), **ask).value.decide(0.001)
        assert goodness_of_fit_test(normal, [0.5, 0.5], edges=[-9, 0, 9], **ask).value.p_value > 1e-3


def test_refusals_are_by_public_numbers() -> None:
    with pytest.raises(BadInput, match="probabilities"):
        FitTest(AB, (0.9, 0.9), 1.0)
    few = goodness_of_fit_test(["a"] * 5, {"a": 1.0}, epsilon=1.0, neighbours="replace", missing="keep")
    assert "told from noise" in str(few.refusal)
    test = FitTest(AB, (0.5, 0.5), 1.0)
    with pytest.raises(Refused, match="told from noise"):
        test.check(9)
    test.check(10)
    test.check(None)
    with pytest.raises(BadInput, match="one of them"):
        goodness_of_fit_test(["a"] * 5, [1.0], epsilon=1.0)
    with pytest.raises(BadInput, match="bins"):
        goodness_of_fit_test([1.0] * 50, stats.norm(), bins=1, epsilon=1.0)


def test_pieces() -> None:
    assert whole_of((0.5, 0.3)).tolist() == pytest.approx([0.5, 0.3, 0.2])
