"""Effects of tests: intervals that hold, agree with p-values, and survive being stored."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet.hypotheses.effects import Named, ShareEffect, reached
from discreet.hypotheses.limited_tests import LimitedMeansTest, effect_of_mean
from discreet.hypotheses.mean_tests import NormalMeansTest
from discreet.hypotheses.null_distributions import tail_of_two
from discreet.hypotheses.rank_tests import RankSumTest
from discreet.hypotheses.sign_balance import noisy_balance
from discreet.hypotheses.signed_tests import positive_ranks, share_of_signs
from discreet.hypotheses.tail_limits import Limits
from discreet.noise.randomness import Seeded
from discreet.privacy.stored import recalled
from discreet.privacy.values import TestResult, recall, stored
from discreet.stages.clip import Moment

RUNS = 120
MISSED = int(stats.binom.isf(1e-7, RUNS, 0.05))  # intervals of 95%: more are missed with a chance of 10^-7


def missed(ask: Callable[[np.random.Generator, int], Any], truth: float) -> int:
    """How many of the runs' intervals leave the truth out."""
    bars = [ask(np.random.default_rng(seed), seed).interval(0.95) for seed in range(RUNS)]
    return sum(not low <= truth <= high for low, high in bars)


@pytest.mark.claim("effects.1")
@pytest.mark.parametrize("null", [50.0, 0.0])
def test_the_limited_mean_is_held_wherever_the_null_hypothesis_is(null: float) -> None:
    """Far from it, the noise on the number of people counts, and the squares are of values far from the mean."""

    def ask(draw: np.random.Generator, seed: int) -> Any:
        return discreet.mean_test(draw.normal(50, 5, 1500), null, epsilon=1.0, rng=Seeded(seed))

    assert missed(ask, 50.0) <= MISSED


@pytest.mark.claim("effects.1")
def test_differences_of_means_are_held() -> None:
    for inner in (LimitedMeansTest(800, 1.0), NormalMeansTest(800, 1.0), LimitedMeansTest(800, 1.0, bounds=(0, 40))):

        def ask(draw: np.random.Generator, seed: int, test: Any = inner) -> Any:
            return test.release(np.append(draw.normal(22, 3, 800), draw.normal(20, 4, 600)), Seeded(seed))

        assert missed(ask, 2.0) <= MISSED


@pytest.mark.claim("effects.1")
@pytest.mark.parametrize(("first", "options"), [(800, {}), (None, {}), (800, {"bounds": (0, 40)})])
def test_an_interval_of_means_ends_where_its_confidence_is_that_of_the_p_value(first: Any, options: Any) -> None:
    """Alike groups with one mean: there the p-value has the same distribution."""
    draw = np.random.default_rng(3)
    x, y = draw.normal(20.3, 4, 800), draw.normal(20, 4, 800)
    rows = np.append(x, y) if first else np.column_stack([np.repeat([0.0, 1.0], 800), np.append(x, y)])
    found = LimitedMeansTest(first, 1.0, **options).release(rows, Seeded(2))
    low, high = found.interval(1 - found.value.p_value)
    assert found.value.effect is not None
    near = low if found.value.effect > 0 else high
    assert abs(near) < (0.02 if first is None else 1e-6) * (high - low)


@pytest.mark.claim("effects.1")
def test_what_a_long_tail_may_hide_widens_its_side_alone() -> None:
    one, square = Moment(0.1, 0.01, 500), Moment(0.05, 0.01, 500)
    plain = effect_of_mean(7.0, Limits(7.0, 3.0, 4.0), one, square, 0.0)
    above = effect_of_mean(7.0, Limits(7.0, 3.0, 4.0, above=3.0), one, square, 0.0)
    counted = effect_of_mean(7.0, Limits(7.0, 3.0, 4.0), one, square, 50.0)
    assert plain.estimate == pytest.approx(7.4)
    assert above.interval(0.95).low == plain.interval(0.95).low
    assert above.interval(0.95).high == pytest.approx(plain.interval(0.95).high + 4.0 * 3.0 * 0.01)
    assert counted.interval(0.95).low < plain.interval(0.95).low
    assert plain.sampling == pytest.approx(4 * math.sqrt((0.05 - 0.01) / 500))


@pytest.mark.claim("effects.2")
def test_shares_of_pairs_are_held_with_ties() -> None:
    """Of 0 to 3 beside 1 to 4, in a group of each relation."""
    x, y = np.arange(4), np.arange(1, 5)
    truth = float(np.mean((x[:, None] > y) + 0.5 * (x[:, None] == y)))

    def public(draw: np.random.Generator, seed: int) -> Any:
        rows = np.append(draw.choice(x, 200), draw.choice(y, 120)).astype(float)
        return RankSumTest(200, 1.0).release(rows, Seeded(seed))

    def private(draw: np.random.Generator, seed: int) -> Any:
        return discreet.two_samples_test(draw.choice(x, 300), draw.choice(y, 200), epsilon=1.0, rng=Seeded(seed))

    assert missed(public, truth) <= MISSED
    assert missed(private, truth) <= MISSED


@pytest.mark.claim("effects.2")
@pytest.mark.parametrize("neighbours", ["add_or_remove", "replace"])
@pytest.mark.parametrize("method", ["ranks", "signs"])
def test_shares_of_differences_are_held_with_ties_and_zeros(neighbours: str, method: str) -> None:
    """Of -1 to 3."""
    d = np.arange(-1, 4)
    sums = d[:, None] + d
    truth = float(np.mean((sums > 0) + 0.5 * (sums == 0))) if method == "ranks" else 0.7

    def ask(draw: np.random.Generator, seed: int) -> Any:
        asked: dict[str, Any] = {"method": method, "neighbours": neighbours, "missing": "keep"}
        return discreet.paired_test(draw.choice(d, 300).astype(float), epsilon=0.9, rng=Seeded(seed), **asked)

    assert missed(ask, truth) <= MISSED


@pytest.mark.claim("effects.2")
def test_the_variance_of_shares_of_pairs_is_no_larger_than_what_intervals_take() -> None:
    """Exhaustively, of three values a group and of two with their chances."""
    for chance in np.linspace(0.05, 0.95, 7):
        for size in (2, 3, 4):
            rows = np.array(np.meshgrid(*[[0.0, 1.0]] * size)).reshape(size, -1).T
            weights = np.prod(np.where(rows == 1, chance, 1 - chance), axis=1)
            values = np.where(rows == 1, 1.0, -0.4)
            pairs = size * (size - 1) / 2
            added = [sum((a + b) > 0 for k, a in enumerate(row) for b in row[k + 1 :]) for row in values]
            shares = np.array(added) / pairs
            mean = float(weights @ shares)
            assert weights @ (shares - mean) ** 2 <= mean * (1 - mean) / (size // 2) + 1e-12


@pytest.mark.claim("effects.2")
def test_stand_ins_and_pairs_of_one_move_a_share_by_no_more_than_is_allowed() -> None:
    """The expectation, over all tables of values with chances, f of which stand in with fair signs below all others."""
    draw = np.random.default_rng(1)
    for _ in range(200):
        values, chances = np.sort(draw.normal(0.3, 1, 4)), draw.dirichlet(np.ones(4))
        s = float(chances @ (values[:, None] + values > 0) @ chances)
        q = float(chances @ (values > 0))
        assert q * q - 1e-12 <= s <= 1 - (1 - q) ** 2 + 1e-12
        for f in (0.01, 0.2, 0.7):
            assert abs((1 - f) ** 2 * s + 2 * f * (1 - f) * q + f * f / 2 - s) <= f / 2 + 1e-12
    ranked = positive_ranks(np.array([3.0, -1.0, 2.0]), np.ones(3, dtype=bool), np.arange(3))
    assert ranked == sum(a + b > 0 for k, a in enumerate((3.0, -1.0, 2.0)) for b in (3.0, -1.0, 2.0)[k:])


@pytest.mark.claim("effects.2")
def test_ends_are_where_the_share_seen_is_as_unlikely_as_the_confidence_says() -> None:
    effect = ShareEffect(0.6, 100, 0.01, "a share", counted=0.02)
    low, high = effect.interval(0.9)
    for end, apart in ((low, 0.6 - low), (high, high - 0.6)):
        normal = math.sqrt(end * (1 - end) / 100)
        assert tail_of_two(apart, normal, 0.01, 0.02 * abs(2 * end - 1)) == pytest.approx(0.05, rel=1e-6)
    wider = ShareEffect(0.6, 100, 0.01, "a share", counted=0.02, stand_ins=0.01, off=0.1).interval(0.9)
    assert wider.low < low - 0.1
    assert wider.high > high + 0.1
    assert ShareEffect(1.7, 50, 0.01, "a share").interval(0.95).high == 1.0
    assert ShareEffect(-0.2, 50, 0.01, "a share").interval(0.95).low == 0.0
    assert reached(lambda t: math.exp(-t), 0.05) == pytest.approx(math.log(20))


@pytest.mark.claim("effects.2")
def test_a_balance_over_few_signs_is_held() -> None:
    """Few of them, and nearly all up: the noise on their number matters."""

    def ask(draw: np.random.Generator, seed: int) -> Any:
        ups = int(draw.binomial(100, 0.95))
        return share_of_signs(noisy_balance(ups, 100, 0.5, Seeded(seed)))

    assert missed(ask, 0.95) <= MISSED


def test_effects_are_named_by_the_groups_and_stay_when_stored() -> None:
    x, arm = [float(k % 50 + 15 * (k % 2)) for k in range(1000)], ["old", "new"] * 500
    release = discreet.groups_test(x, arm, epsilon=1.0, between=["new", "old"], rng=Seeded(1))
    assert release.value.measure == "chance that new is larger"
    assert isinstance(release.spread, Named)
    again = recalled(release.to_dict())
    assert (again.value.effect, again.value.measure) == (release.value.effect, release.value.measure)
    assert tuple(again.interval()) == tuple(release.interval())
    assert "chance that new is larger: " in str(release).splitlines()[0]
    assert "95% confidence interval" in str(release).splitlines()[1]
    assert "alternative: new tends to larger or smaller values" in str(release)
    names = release.to_frame()["name"].tolist()
    assert names == ["chance that new is larger", "p-value", "statistic"]


def test_results_that_were_stored_without_an_effect_are_read() -> None:
    for record in ({"kind": "test", "statistic": 1.5, "p_value": 0.25}, {"statistic": 1.5, "p_value": 0.25}):
        assert recall(record) == TestResult(1.5, 0.25)
    assert recall(stored(TestResult(1.5, 0.25, 3.0, "mean"))) == TestResult(1.5, 0.25, 3.0, "mean")


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("proportion_test", 1, {"null": 0.4}),
        ("mean_test", 1, {"null": 3.0}),
        ("mean_test", 1, {"null": 3.0, "model": "symmetric"}),
        ("mean_test", 1, {"null": 3.0, "bounds": (0, 9)}),
        ("two_means_test", 2, {}),
        ("two_means_test", 2, {"model": "gaussian"}),
        ("two_samples_test", 2, {}),
        ("paired_test", 2, {}),
        ("paired_test", 2, {"method": "signs"}),
    ],
)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_each_test_has_an_effect_with_its_interval_and_its_null_in_words(
    name: str, given: int, options: dict[str, Any], alternative: str
) -> None:
    columns = [[float((k * 7) % 10 + place * (k % 3)) for k in range(2000)] for place in range(given)]
    asked: dict[str, Any] = {"alternative": alternative, "epsilon": 1.0, "rng": Seeded(1), **options}
    release = getattr(discreet, name)(*columns, **asked)
    low, high = release.interval()
    assert low <= release.value.effect <= high
    way = {"two-sided": "larger or smaller", "greater": "larger", "less": "smaller"}[alternative]
    (null,) = (note for note in release.provenance.notes if note.startswith("null hypothesis: "))
    assert f" {way}" in null.partition("; alternative: ")[2]


def test_tests_without_an_effect_say_their_null_in_words() -> None:
    x, y = [k % 3 for k in range(600)], [k % 2 for k in range(600)]
    asked: dict[str, Any] = {"epsilon": 1.0, "rng": Seeded(1)}
    for release in (
        discreet.anova(x, y, x, **asked),
        discreet.goodness_of_fit_test(x, {0: 0.3, 1: 0.3, 2: 0.4}, **asked),
        discreet.independence_test(x, y, categories=([0, 1, 2], [0, 1]), **asked),
        discreet.closeness_test(x, y, categories=[0, 1, 2], **asked),
        discreet.likelihood_ratio_test(x, stats.norm(0, 1), stats.norm(1, 1), **asked),
    ):
        assert release.provenance.notes[0].startswith("null hypothesis: ")
        assert release.value.effect is None
