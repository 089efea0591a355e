"""Lecture 4 under its own names; the medians; lower bounds."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet import lectures
from discreet.errors import BadInput
from discreet.lectures import lower_bound
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours

TINY = {"interval": (0, 1), "width": 1e-320}
ROWS = np.random.default_rng(0).normal(53.0, 1.0, 1500)


def test_means_in_an_interval_that_is_not_centred_at_0() -> None:
    for far in ("remove", "clip"):
        naive = lectures.naive_mean(ROWS, (40, 60), epsilon=1.0, far=far, rng=Seeded(1))
        assert abs(naive.value - 53) < 0.5
    assert abs(lectures.two_stage_mean(ROWS, (0, 1e6), epsilon=1.0, rng=Seeded(1)).value - 53) < 0.3
    assert abs(lectures.coarse_mean(ROWS, (0, 1e6), epsilon=1.0, rng=Seeded(1)).value - 53) < 5
    assert abs(lectures.stability_mean(ROWS, epsilon=1.0, delta=1e-6, rng=Seeded(1)).value - 53) < 0.3
    with pytest.raises(BadInput, match="interval is None"):
        lectures.naive_mean(ROWS, None, epsilon=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "delta"),
    [
        (partial(lectures.naive_mean, interval=(40, 60)), 0.0),
        (partial(lectures.naive_mean, interval=(40, 60), far="clip"), 0.0),
        (partial(lectures.coarse_mean, interval=(40, 60)), 0.0),
        (partial(lectures.two_stage_mean, interval=(40, 60)), 0.0),
        (partial(lectures.stability_mean, delta=1e-5), 1e-5),
        (partial(lectures.infinite_histogram, delta=1e-5, width=1.0), 1e-5),
        (partial(lectures.finite_histogram, interval=(40, 60), width=1.0), 0.0),
        (partial(lectures.smooth_median, bounds=(0, 100)), 0.0),
    ],
)
def test_what_was_asked_is_what_is_promised(ask: Any, delta: float) -> None:
    assert ask(ROWS, epsilon=0.7, rng=Seeded(1)).guarantee == Guarantee(0.7, delta, Neighbours.REPLACE, "row")


def test_the_interval_costs_a_factor_or_a_logarithm() -> None:
    """Lemma 2.2 against Theorem 2.5: noise in proportion to the interval, or hardly any more."""
    wide = {
        maker: [
            maker(ROWS, (-reach, reach), epsilon=1.0, rng=Seeded(1)).spread.privacy  # type: ignore[union-attr]
            for reach in (100, 10_000)
        ]
        for maker in (lectures.naive_mean, lectures.two_stage_mean)
    }
    assert wide[lectures.naive_mean][1] > 50 * wide[lectures.naive_mean][0]
    assert wide[lectures.two_stage_mean][1] == pytest.approx(wide[lectures.two_stage_mean][0])


def test_histograms_of_finite_and_infinite_partitions() -> None:
    counts = lectures.finite_histogram(ROWS, epsilon=1.0, interval=(50, 56), width=2.5, rng=Seeded(1)).value
    assert counts.bins == ((50.0, 52.5), (52.5, 55.0), (55.0, 56.0))
    named = lectures.finite_histogram(["a", "b"] * 50, epsilon=1.0, categories=["a", "b"], rng=Seeded(1)).value
    assert abs(named["a"] - 50) < 20
    shown = lectures.infinite_histogram(ROWS, epsilon=1.0, delta=1e-6, width=1.0, rng=Seeded(1)).value
    assert (52.0, 53.0) in shown.bins
    for wrong in ({}, {"width": 1.0}, {"interval": (0, 1), "width": 0}, {"interval": (0, 1e9), "width": 1.0}, TINY):
        with pytest.raises(BadInput):
            lectures.finite_histogram(ROWS, epsilon=1.0, **wrong)


def test_the_fullest_interval_is_near_the_mean() -> None:
    """Lemma 2.3: it holds a tenth of the rows, it is within 5 of the mean, and none further out holds 2%."""
    people = np.random.default_rng(7)
    for mean in (-3.2, 0.0, 0.5, 17.9):
        counts, edges = np.histogram(people.normal(mean, 1.0, 500), np.arange(-30, 31))
        assert counts.max() >= 50
        assert abs(edges[counts.argmax()] - mean) <= 5
        assert counts[np.abs(edges[:-1] - mean) > 5].max() < 10


def test_so_many_rows_are_enough_for_an_error() -> None:
    """Equations (1), (2) and (6): at that number 96% of errors are within alpha."""
    people = np.random.default_rng(8)
    asked: dict[str, Any] = {"epsilon": 0.5}
    cases: list[tuple[Any, dict[str, Any]]] = [
        (partial(lectures.naive_mean, interval=(0, 20), **asked), {"interval": (0, 20), "naive": True}),
        (partial(lectures.two_stage_mean, interval=(0, 200), **asked), {"interval": (0, 200)}),
        (partial(lectures.stability_mean, delta=1e-6, **asked), {"delta": 1e-6}),
    ]
    for maker, given in cases:
        needed = lectures.rows_for(0.1, epsilon=0.5, **given)
        errors = [abs(maker(people.normal(7.0, 1.0, needed), rng=Seeded(seed)).value - 7.0) for seed in range(100)]
        assert sum(error > 0.1 for error in errors) <= 15  # of 4 expected: less than once in 10^6
    wide = [lectures.rows_for(0.1, epsilon=0.1, interval=(-reach, reach), naive=True) for reach in (100, 10_000)]
    assert wide[1] > 50 * wide[0]  # linear in the interval
    for wrong, words in (((0, 0.96), "alpha is 0"), ((1e-300, 0.96), "10.15 rows"), ((0.1, 0.99), "below 0.98")):
        with pytest.raises(BadInput, match=words):
            lectures.rows_for(wrong[0], epsilon=1.0, interval=(0, 1), confidence=wrong[1])


def test_a_private_likelihood_estimate_becomes_efficient() -> None:
    """Lecture 1: its interval is 1.7 times as wide as without privacy at 4,000 people and 1.1 times at 32,000."""
    people, ratios = np.random.default_rng(0), []
    for size in (4000, 32_000):
        waits = people.exponential(size=size)
        bar = discreet.maximum_likelihood("expon", waits, epsilon=2.0, delta=1e-6, rng=Seeded(1)).interval(0.95)
        ratios.append(float(bar.high.scale - bar.low.scale) / (2 * 1.96 * waits.mean() / math.sqrt(size)))
    assert 1.2 * ratios[1] < ratios[0]
    assert ratios[1] < 1.3


def test_fact_2_1() -> None:
    for gap in (0.01, 0.3, 1.0, 3.0):
        apart = lectures.normals_apart(5.0, 5.0 + gap)
        assert min(gap, 1.0) / 4 <= apart <= gap / 2.5
        assert apart == pytest.approx(lectures.normals_apart(0.0, 2 * gap, sigma=2.0))


def test_packing_and_two_points() -> None:
    """Theorem 2.6 grows with the logarithm of the range; Lemma 2.7 with 1 / (alpha epsilon)."""
    steps = np.diff([lower_bound.packing(10.0**power, epsilon=0.01) for power in (1, 2, 3, 4)])
    assert np.all(np.abs(steps - math.log(10) / 0.01) < 12)
    assert lower_bound.packing(10.0, epsilon=1.0) * 10 == pytest.approx(lower_bound.packing(10.0, epsilon=0.1), abs=10)
    for alpha, epsilon in ((0.1, 0.1), (0.02, 0.5), (0.3, 0.05)):
        people = lower_bound.two_point(alpha, epsilon=epsilon)
        assert math.log(9) / (10 * alpha * epsilon) <= people <= 6 / (alpha * epsilon)  # the lemma's own constant
    assert lower_bound.two_point(0.1, epsilon=0.1, delta=1e-3) < lower_bound.two_point(0.1, epsilon=0.1)
    for wrong in (0.0, 2.0, math.nan):
        with pytest.raises(BadInput, match="alpha"):
            lower_bound.two_point(wrong, epsilon=0.1)
    with pytest.raises(BadInput, match="reach"):
        lower_bound.packing(0.01, epsilon=0.1)
    with pytest.raises(BadInput, match="delta is -1"):
        lower_bound.two_point(0.1, epsilon=0.1, delta=-1)


def test_packing_counts_places_that_are_more_than_twice_the_accuracy_apart() -> None:
    for reach, accuracy in ((10.0, 0.1), (1.0, 0.3), (5.0, 2.5), (7.0, 3.0)):
        places = next(k for k in range(2, 10**4) if 2 * reach / k <= 2 * accuracy)  # k + 1 places would touch
        needed = lower_bound.packing(reach, epsilon=1e-3, accuracy=accuracy, correct=0.9)
        assert needed == math.ceil(math.log((places - 1) * 9) / 1e-3)


def test_a_mechanism_is_above_the_two_point_bound() -> None:
    """Laplace noise on a share tells coins of 0.4 and 0.6 apart with not many more people than must be."""
    needed = lower_bound.two_point(0.2, epsilon=0.1, correct=0.9)
    scale, people = 10, needed

    def right(n: int) -> float:
        cut = 0.1 * n  # half of the gap of the counts
        return 1 - math.exp(-cut / scale) / 2

    assert right(people) < 0.999
    while right(people) < 0.9:
        people += 10
    assert needed <= people + 10 < 4 * needed


def test_epsilon_far_below_one_over_n_tells_nothing() -> None:
    assert lower_bound.all_or_none(100, epsilon=1e-4) < 0.51
    assert lower_bound.all_or_none(100, epsilon=0.1) > 0.99


def test_the_mean_of_many_columns_needs_people_in_proportion_to_them() -> None:
    """Every step of the argument of `gaussian_mean` that can be counted out, and both of its rates."""
    for d in (8, 16, 24):  # words that differ from 0 and from each other in d / 8 places
        words = [0]
        for word in range(1 << min(d, 16)):
            if all((word ^ other).bit_count() * 8 >= d for other in words):
                words.append(word)
            if len(words) > 2 ** (d / 8):
                break
        assert len(words) - 1 >= 2 ** (d / 8)
    for alpha in (0.01, 0.1, 0.5):  # the total variation of means 2 sqrt(8) alpha apart
        away = 2 * math.sqrt(8) * alpha
        assert math.erf(2 * alpha) == pytest.approx(2 * stats.norm.cdf(away / 2) - 1)
    assert lower_bound.gaussian_mean(800, 0.1, epsilon=0.001) == pytest.approx(
        100 * math.log(2) / 0.002 / math.erf(0.2), abs=1
    )
    assert lower_bound.gaussian_mean(1600, 0.1, epsilon=0.001) == pytest.approx(
        2 * lower_bound.gaussian_mean(800, 0.1, epsilon=0.001), abs=2
    )
    assert lower_bound.gaussian_mean(80, 0.1, epsilon=10.0) == math.ceil(stats.chi2.ppf(0.75, 80) / 0.01)
    with pytest.raises(BadInput, match="columns"):
        lower_bound.gaussian_mean(0, 0.1, epsilon=1.0)
