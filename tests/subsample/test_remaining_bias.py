"""What is left of a bias: its price, what it is, the interval that allows for it, blocks that lack a level."""

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from tests.subsample.reading import read

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, exceeds, replay
from discreet.audit.worlds import neighbours_of
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.stages.normal_laplace import EstimateSpread
from discreet.subsample.aggregate import SubsampleAggregate
from discreet.subsample.block_fits import jackknifed, least_squares
from discreet.subsample.coordinatewise import BlockMean
from discreet.subsample.counted_people import CountedPeople, rarest
from discreet.subsample.estimators import FunctionFit, SklearnFit
from discreet.subsample.friendly_aggregate import BlockFriends
from discreet.subsample.remaining_bias import ROUGH, AllowingSpread, RemainingBias, allowing_for_lost
from discreet.subsample.returned import Shape

NUMBER = Shape("number", ("value",))


@pytest.mark.claim("remaining_bias.1")
@pytest.mark.parametrize(
    "mean", [BlockMean(5, 1, 40.0), BlockMean(5, 2, 40.0, 1e-6), BlockFriends(60, 2, epsilon=40.0, delta=1e-4)]
)
def test_one_row_moves_each_sum_by_what_it_may(mean: BlockMean | BlockFriends) -> None:
    told = RemainingBias(mean, 10.0, ROUGH)
    assert implies(told.loss, told.guarantee)
    people = np.random.default_rng(1)
    rows = people.normal(size=(told.blocks, 2 * told.width))
    for seed, odd in enumerate(([math.nan] * 4, [1e300] * 4, [-math.inf] * 4, [0.0] * 4, [5.0, 1.0, -9.0, 2.0])):
        other = rows.copy()
        other[seed] = odd[: 2 * told.width]
        assert not replay(told, audit.Pair(rows, other), seed=seed)


@pytest.mark.claim("remaining_bias.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_blocks_in_quarters_hide_one_person(relation: Neighbours) -> None:
    fit = SubsampleAggregate(
        FunctionFit(np.mean), NUMBER, RemainingBias(BlockMean(3, 1, 30.0), 10.0), neighbours=relation, correct="half"
    )
    world = list(neighbours_of((0.0, 1.0, 2.0, 0.5, -1.0), (3.0, math.nan), relation))
    audit.check(fit, world, hostile_values=False).require()


@pytest.mark.claim("remaining_bias.2")
def test_the_interval_holds_what_ever_larger_blocks_would_find() -> None:
    """A bias of 0.4 / sqrt(m), which halves hardly mend: without D the interval misses it in every run."""
    people, hits, plain = np.random.default_rng(3), 0, 0
    rows = people.normal(size=40_000)

    def rough(x: Any) -> float:
        return float(x.mean() + 0.4 / math.sqrt(len(x)))

    for seed in range(12):
        people.shuffle(rows)
        ask: dict[str, Any] = {"epsilon": 4.0, "names": "number", "rng": Seeded(seed), "blocks": 400}
        ask |= {"neighbours": "replace", "missing": "keep"}
        low, high = discreet.fit(rough, rows, **ask).interval()
        hits += low < rows.mean() < high
        low, high = discreet.fit(rough, rows, estimate_bias=False, **ask).interval()
        plain += low < rows.mean() < high
    assert hits >= 10  # seeded
    assert plain <= 3


@pytest.mark.claim("remaining_bias.2")
def test_the_hull_contains_every_interval_between() -> None:
    inner = BlockMean(400, 1, 2.0).release(np.sin(np.arange(400.0))[:, None], Seeded(1)).spread
    assert isinstance(inner, EstimateSpread)
    bias, error = np.array([0.03]), np.array([0.02])
    whole = AllowingSpread(inner, bias, error, ROUGH, np.zeros(1)).interval(0.95)
    low, high = inner.interval(0.95)
    for t in np.linspace(0, ROUGH, 20):
        wide = np.hypot((high - low) / 2, 1.96 * t * error)
        assert whole.low <= (low + high) / 2 + t * bias - wide + 1e-4
        assert whole.high >= (low + high) / 2 + t * bias + wide - 1e-4


@pytest.mark.claim("remaining_bias.3")
def test_lost_blocks_widen_the_interval() -> None:
    mean = BlockMean(2000, 1, 4.0)
    rows = np.random.default_rng(1).normal(size=(2000, 1))
    whole = mean.release(rows, Seeded(1))
    assert allowing_for_lost(whole, mean) is whole
    rows[:300] = np.nan
    found = mean.release(rows, Seeded(1))
    plain, wider = found.interval(), allowing_for_lost(found, mean).interval()
    assert 0.1 < float((wider.high - wider.low - plain.high + plain.low)[0]) / 2 < 0.2  # 0.15 of a deviation of 1


def test_a_bias_is_told_only_where_that_makes_sense() -> None:
    rows = np.random.default_rng(0).normal(size=40_000)
    ask: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}
    with pytest.raises(BadInput, match="labels"):
        discreet.fit(lambda x: "a", rows, epsilon=8.0, blocks=100, labels=["a", "b"], estimate_bias=True, **ask)
    with pytest.raises(BadInput, match="aggregator='median'"):
        discreet.fit(np.mean, rows, epsilon=8.0, aggregator="median", names="number", estimate_bias=True, **ask)
    with pytest.raises(BadInput, match="too small"):
        discreet.fit(np.mean, rows, epsilon=8.0, blocks=4000, names="number", estimate_bias=True, **ask)
    told = discreet.fit(np.var, rows, epsilon=4.0, rng=Seeded(1), **ask)
    assert "difference of half blocks" in told.provenance.parameters
    assert told.guarantee.epsilon == 4.0
    free = discreet.fit(np.mean, rows, epsilon=4.0, unbiased=True, rng=Seeded(1), **ask)
    assert "difference of half blocks" not in free.provenance.parameters


@pytest.mark.claim("block_fits.3")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("several", [1, 3])
def test_the_jackknife_in_closed_form(intercept: bool, several: int) -> None:
    people = np.random.default_rng(several)
    whose = np.repeat(np.arange(20), several)
    x = people.normal(size=(len(whose), 3)) + 30 * intercept
    y = x[:, 0] ** 2 + people.normal(size=len(whose))
    without = [least_squares(x[whose != one], y[whose != one], intercept) for one in range(20)]
    expected = 20 * least_squares(x, y, intercept) - 19 * np.mean(without, axis=0)
    assert jackknifed(x, y, whose, intercept) == pytest.approx(expected, rel=1e-8)
    if several == 1:
        assert jackknifed(x, y, None, intercept) == pytest.approx(expected, rel=1e-8)


@pytest.mark.claim("block_fits.2")
def test_a_coefficient_that_is_not_identified_has_no_estimate() -> None:
    people = np.random.default_rng(1)
    x, y = people.normal(size=(30, 2)), people.normal(size=30)
    x[:, 1] = 0.0  # a level that nobody has
    assert np.isnan(least_squares(x, y, intercept=True)).all()
    assert np.isnan(jackknifed(x, y, None, intercept=True)).all()
    with pytest.raises(ArithmeticError):
        SklearnFit(LinearRegression()).answer(x, y)
    x[0, 1] = 1.0  # one person alone tells it: an estimate, but none without that person
    assert np.isfinite(least_squares(x, y, intercept=True)).all()
    assert np.isnan(jackknifed(x, y, None, intercept=True)).all()


@pytest.mark.claim("counted_people.3")
def test_the_number_of_the_rarest_moves_by_at_most_one() -> None:
    people = np.random.default_rng(2)
    for _, several in product(range(60), (False, True)):
        x = people.integers(0, 3, size=(9, 3)).astype(float)
        whose = people.integers(0, 5, size=9) if several else np.arange(9)
        frame = pd.DataFrame(x, columns=list("abc"))
        kept = whose != people.integers(0, 5)
        for spare in (0, 1):
            every = rarest([read(frame, None, whose, {"c": [0, 1, 2]})], spare)
            fewer = rarest([read(frame[kept], None, whose[kept], {"c": [0, 1, 2]})], spare)
            assert 0 <= every - fewer <= 1
        other = x.copy()
        other[whose == 0] = people.integers(0, 9, size=3)
        assert abs(rarest([read(x, None, whose)]) - rarest([read(other, None, whose)])) <= 1


@pytest.mark.claim("counted_people.1")
@pytest.mark.parametrize("size", [None, 12])
def test_counting_the_rarest_hides_one_person(size: int | None) -> None:
    relation = Neighbours.ADD_OR_REMOVE if size is None else Neighbours.REPLACE

    def made(people: int, epsilon: Any, fewest: int) -> SubsampleAggregate:
        blocks = BlockMean(3 if fewest > people // 2 else 2, 1, epsilon)
        return SubsampleAggregate(FunctionFit(lambda x: float(x.mean())), NUMBER, blocks, neighbours=relation)

    counted = CountedPeople(made, 400.0, size=size, rare=0)
    assert implies(counted.loss, counted.guarantee)
    rows = np.column_stack([np.arange(12.0), np.arange(12) % 3])
    for seed in range(8):
        other = rows.copy()
        other[seed] = [(math.nan, 1.0), (1e300, 0.0), (5.0, 5.0)][seed % 3]
        pair = audit.Pair(rows, np.delete(rows, seed, axis=0) if size is None else other)
        assert not replay(counted, pair, seed=seed)


@pytest.mark.claim("counted_people.1")
@pytest.mark.parametrize(("size", "rare"), [(None, 0), (None, None), (900, 0)])
def test_both_numbers_and_the_estimates_spend_epsilon_and_no_more(size: int | None, rare: int | None) -> None:
    relation = Neighbours.ADD_OR_REMOVE if size is None else Neighbours.REPLACE

    def made(people: int, epsilon: Any, fewest: int = 0) -> SubsampleAggregate:
        del people, fewest
        return SubsampleAggregate(
            FunctionFit(lambda x: float(x.mean())), NUMBER, BlockMean(60, 1, epsilon), neighbours=relation
        )

    counted = CountedPeople(made, 40.0, size=size, rare=rare)
    recorder = Recorder(Seeded(1))
    assert counted.release(np.random.default_rng(1).normal(size=(900, 2)), recorder).refusal is None
    spent = pure(recorder.spent)
    assert spent is not None
    assert spent[0] == 40
    assert exceeds(recorder.spent, counted.loss) is None


def test_a_rare_level_makes_blocks_larger_or_is_refused() -> None:
    people = np.random.default_rng(4)
    n = 20_000
    x = np.column_stack([people.normal(size=n), people.random(n) < 0.5, people.random(n) < 0.0005]).astype(float)
    y = x[:, 0] + people.normal(size=n)
    ask: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-6, "rng": Seeded(1)}
    assert "rarest" in str(discreet.fit(LinearRegression(), x, y, **ask).refusal)
    release = discreet.fit(LinearRegression(), x[:, :2], y, **ask)
    assert release.provenance.parameters["bias_correction"] == "jackknife"
    low, high = release.interval()
    assert low["coef_[0]"] < 1.0 < high["coef_[0]"]


def test_least_squares_holds_the_line_of_all_people_where_the_truth_is_curved() -> None:
    people, hits = np.random.default_rng(5), 0
    for seed in range(10):
        x = people.exponential(size=(20_000, 1))
        y = x[:, 0] ** 2 + people.normal(size=20_000) * (1 + x[:, 0])
        ask: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "rng": Seeded(seed)}
        low, high = discreet.fit(LinearRegression(), x, y, **ask).interval()
        hits += low["coef_[0]"] < 4.0 < high["coef_[0]"]  # cov(x, x^2) / var(x) = 4
    assert hits >= 8  # seeded
