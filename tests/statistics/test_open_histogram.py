"""The ladder for histograms on bins that nobody listed."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit, forecast, histogram
from discreet.audit.distinguish import proportion_bounds
from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.open_histogram import OpenBand, OpenHistogram, SparseHistogram

BOTH = list(Neighbours)
CROWD = ["a"] * 30 + ["b"] * 3


def crowded(relation: Neighbours) -> list[audit.Pair]:
    """Small worlds with a crowd beside them, so that there are rows enough."""
    return [audit.Pair(CROWD + pair.left, CROWD + pair.right) for pair in audit.labels(relation, 3)]


@pytest.mark.claim("open_histogram.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_open(relation: Neighbours) -> None:
    audit.check(OpenHistogram(2.0, 1e-4, relation), crowded(relation)).require()


@pytest.mark.claim("open_histogram.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_of_the_whole_line(relation: Neighbours) -> None:
    crowd = [0.5] * 30 + [-0.5] * 3
    pairs = [audit.Pair(crowd + pair.left, crowd + pair.right) for pair in audit.numbers(relation, 3)]
    audit.check(OpenHistogram(2.0, 1e-4, relation, width=0.75), pairs).require()


@pytest.mark.claim("open_histogram.2")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_sparse(relation: Neighbours) -> None:
    audit.check(SparseHistogram(range(0, 10**9, 2), 1.0, neighbours=relation), audit.numbers(relation, 3)).require()


@pytest.mark.claim("open_histogram.1")
def test_thresholds_of_the_theory() -> None:
    assert OpenHistogram(1.0, 1e-3).threshold == 14
    assert OpenHistogram(0.5, 1e-3).threshold == 27
    assert OpenHistogram(2.0, 1e-4).threshold == 10
    for epsilon, delta in ((1.0, 1e-6), (0.3, 1e-5)):
        a = math.exp(-epsilon)
        expected = math.ceil(1 + math.log(1 / (delta * (1 + a))) / epsilon)
        assert OpenHistogram(epsilon, delta, Neighbours.ADD_OR_REMOVE).threshold == expected


@pytest.mark.study
@pytest.mark.claim("open_histogram.1")
def test_outputs_do_not_refute_the_claim() -> None:
    shared = ["a"] * 19
    told = audit.distinguish(OpenHistogram(1.0, 5e-3), [*shared, "z"], [*shared, "a"], runs=20_000, seed=9)
    assert not told.violated
    assert told.epsilon > 0.2


@pytest.mark.claim("open_histogram.2")
def test_the_sparse_distribution_is_the_dense_distribution() -> None:
    """Which bins are shown, over a small range, against dense noise and a threshold."""
    mechanism = SparseHistogram(range(6), 1.0, spurious=1)
    a, threshold, runs = math.exp(-0.5), mechanism.threshold, 4000
    rows = [0] * 9 + [3] * 2
    shown = np.zeros(6)
    for i in range(runs):
        for key in mechanism.release(rows, Seeded(i)).value.bins:
            shown[key] += 1

    def reach(count: int) -> float:  # P(count + Z >= threshold)
        t = threshold - count
        return a**t / (1 + a) if t >= 1 else 1 - a ** (1 - t) / (1 + a)

    for key, count in enumerate([9, 0, 0, 2, 0, 0]):
        p = reach(count)
        assert abs(shown[key] / runs - p) < 6 * math.sqrt(p * (1 - p) / runs)


@pytest.mark.claim("open_histogram.3")
@pytest.mark.parametrize("relation", BOTH)
def test_bands(relation: Neighbours) -> None:
    """Of the shown, whether by luck or not, and of the others."""
    truth = {"a": 30, "b": 12, "c": 1, "d": 1} | {f"{k}": 9 for k in range(9)}
    rows = [key for key, count in truth.items() for _ in range(count)]
    mechanism = OpenHistogram(1.0, 5e-4 if relation is Neighbours.REPLACE else 1e-4, relation)
    misses: dict[int, list[bool]] = {}
    beyond = 0
    for i in range(900):
        release = mechanism.release(rows, Seeded(i))
        interval = release.interval(0.9)
        radius = release.spread.distribution.radius(0.9, release.spread.bins)  # type: ignore[union-attr]
        shown = dict(zip(release.value.bins, zip(interval.low, interval.high, strict=True), strict=True))
        missed = not all(low <= truth[key] <= high for key, (low, high) in shown.items())
        misses.setdefault(len(shown), []).append(missed)
        beyond += any(count > mechanism.threshold - 1 + radius for key, count in truth.items() if key not in shown)
    assert proportion_bounds(beyond, 900, 1e-7)[0] <= 0.1
    for given in misses.values():
        assert proportion_bounds(sum(given), len(given), 1e-7)[0] <= 0.1


@pytest.mark.claim("open_histogram.3")
@pytest.mark.parametrize(("scale", "confidence"), [(1, 0.95), (20, 0.95), (7, 0.6), (400, 0.999)])
def test_the_band_is_what_its_definition_keeps(scale: int, confidence: float) -> None:
    a, threshold = math.exp(-1 / scale), 12 * scale
    counts = threshold + np.array([0, 1, scale, 3 * scale, 5 * scale, 9 * scale, 30 * scale])
    g = (1 - confidence ** (1 / len(counts))) / 2

    def reach(k: Any) -> Any:  # P(Z >= k)
        return np.where(k >= 1, a ** np.maximum(k, 1.0), 1 + a - a ** (1.0 - np.minimum(k, 0))) / (1 + a)

    for least in (0, 1):
        band = OpenBand(
            noisy=counts,
            distribution=LaplaceDistribution(Fraction(scale)),
            size=None,
            bins=10**9,
            threshold=threshold,
            least=least,
        ).interval(confidence)
        for count, low, high in zip(counts, band.low, band.high, strict=True):
            m = np.arange(least, count + 40 * scale)
            lifted = g * reach(threshold - m)
            kept = m[(reach(count - m) > lifted) & (reach(threshold - m) - reach(count - m + 1) > lifted)]
            assert (low, high) == (min(kept, default=count), max(count, max(kept, default=count)))


def test_the_band_of_counts_well_above_the_threshold_is_that_of_listed_bins() -> None:
    people = np.random.default_rng(1).integers(0, 80, 40_000)
    terms = {"epsilon": 0.5, "neighbours": "add_or_remove", "rng": Seeded(1)}
    found = histogram(people, delta=1e-6, **terms).interval()  # type: ignore[arg-type]
    listed = histogram(people, categories=range(80), **terms).interval()  # type: ignore[arg-type]
    assert len(found.low) == 80
    assert np.median(found.high - found.low) <= 1.1 * np.median(np.subtract(listed.high, listed.low))


def test_what_it_shows() -> None:
    rows = ["flu"] * 400 + ["cold"] * 300 + ["rare"] + [None] * 200
    release = histogram(rows, epsilon=1.0, delta=1e-5, missing="keep", rng=Seeded(0))
    assert release.value.bins == ("flu", "cold", None)
    assert histogram(rows, epsilon=1.0, delta=1e-5, rng=Seeded(0)).value.bins == ("flu", "cold")
    assert "rare" not in str(release)
    assert release.value.threshold is not None
    assert "not shown" in str(release)
    reordered = histogram(rows[::-1], epsilon=1.0, delta=1e-5, missing="keep", rng=Seeded(0))
    assert reordered.value.bins == release.value.bins  # an order that says nothing about the data
    numbers = histogram(
        np.repeat([7, 4_000_000_000], [50, 60]), epsilon=2.0, categories=range(5 * 10**9), rng=Seeded(5)
    )
    assert {7, 4_000_000_000} <= set(numbers.value.bins)


def test_the_whole_line_in_bins_of_a_width() -> None:
    """Theorem 1.2 of the lectures: infinitely many bins; those that hold enough people are shown, wherever they are."""
    rows = [-1e9 + 0.25] * 200 + [0.1] * 300 + [2.6] * 5 + [math.nan, math.inf]
    shown = histogram(rows, epsilon=2.0, delta=1e-6, width=0.5, rng=Seeded(1)).value
    assert set(shown.bins) == {(-1e9, -1e9 + 0.5), (0.0, 0.5)}
    assert abs(shown[0.0, 0.5] - 300) < 15
    kept = histogram([math.nan] * 200, epsilon=2.0, delta=1e-6, width=0.5, missing="keep", rng=Seeded(1)).value
    assert kept.bins == (None,)
    far = histogram([1e300, -math.inf] * 200, epsilon=2.0, delta=1e-6, width=1.0, rng=Seeded(1)).value
    assert set(far.bins) == {(2.0**53, math.inf), (-math.inf, 1 - 2.0**53)}  # all that is further out
    with pytest.raises(BadInput, match="two of categories, edges and width"):
        histogram(rows, epsilon=1.0, delta=1e-6, width=1.0, edges=[0, 1])
    for width in (0, -1.0, math.nan, "1"):
        with pytest.raises(BadInput, match="width is"):
            histogram(rows, epsilon=1.0, delta=1e-6, width=width)  # type: ignore[arg-type]
        with pytest.raises(BadInput, match="width is"):
            forecast("histogram", rows=1000, epsilon=1.0, delta=1e-6, width=width)


def test_equal_but_different_entries_stay_apart() -> None:
    release = histogram([1.0] * 10 + [1] * 100 + [True] * 90 + ["1"] * 80, epsilon=5.0, delta=1e-5, rng=Seeded(0))
    assert sorted(map(repr, release.value.bins)) == ["'1'", "1", "True"]


def test_bad_input() -> None:
    with pytest.raises(BadInput, match="delta above 0"):
        histogram(["a"] * 50, epsilon=1.0)
    few = histogram(["a"] * 10, epsilon=0.5, delta=1e-3, neighbours="replace", missing="keep")
    assert "threshold" in str(few.refusal)
    with pytest.raises(BadInput, match="delta"):
        OpenHistogram(1e-3, 1e-3)
    with pytest.raises(BadInput, match="empty"):
        SparseHistogram(range(0), 1.0)
    with pytest.raises(BadInput, match="spurious"):
        SparseHistogram(range(5), 1.0, spurious=0)


def test_ranges_that_floats_cannot_tell_apart() -> None:
    for keys in (range(10**30), range(2**53, 2**53 + 2 * 10**6), range(-(2**60), 0)):
        with pytest.raises(BadInput, match=r"2\^53"):
            histogram([1, 2], epsilon=1.0, categories=keys)
    with pytest.raises(BadInput, match="give a range"):
        SparseHistogram([1, 2], 1.0)  # type: ignore[arg-type]
    assert len(histogram([5] * 900, epsilon=1.0, categories=range(-(2**53) + 1, 2**53)).value) >= 1


def test_no_number_warns() -> None:
    signalling = np.array([0x7FF4000000000000] * 3, dtype=np.uint64).view(np.float64)
    with np.errstate(all="raise"):
        SparseHistogram(range(10**9), 1.0).release(signalling, Seeded(1))


def test_odd_categories_can_be_shown() -> None:
    rows = [10**5000] * 200 + ["\ud800"] * 200 + [("a", 1)] * 200 + [b"\xff"] * 200
    release = histogram(rows, epsilon=2.0, delta=1e-5, rng=Seeded(1))
    assert len(release.value) == 4
    assert release.value[("a", 1)] > 150
    assert json.loads(release.to_json().encode())["value"]["counts"]
    assert str(release).isprintable() or "\ud800" not in str(release)
    release._repr_html_().encode()
