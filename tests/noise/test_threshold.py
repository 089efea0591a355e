import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise.distribution_checks import Constant, LaplaceDistribution, Script, chi_square, hockey_stick, log_ratios

from discreet.errors import BadInput
from discreet.noise.additive import ROOM
from discreet.noise.randomness import SeededSource
from discreet.noise.threshold import FirstAbove, Sift, tail_above, tail_bounds, threshold_for
from discreet.privacy.exact import exact
from discreet.privacy.loss import Approximate, Laplace

WIDE = settings(derandomize=True, database=None, max_examples=100)
Distribution = np.ndarray[Any, Any]


def tail(k: Distribution, scale: float) -> Distribution:
    """P(Z >= k)."""
    a = np.exp(-1 / scale)
    return np.asarray(np.where(k > 0, a ** np.maximum(k, 0) / (1 + a), 1 - a ** np.maximum(1 - k, 0) / (1 + a)))


def distribution(scores: tuple[int, ...], threshold: int, bar: float, each: float) -> Distribution:
    """P(index): sum over the noisy threshold."""
    y = np.arange(int(-60 * bar), int(60 * bar) + 1)
    chance = np.tanh(1 / (2 * bar)) * np.exp(-np.abs(y) / bar)
    found = []
    for score in scores:
        reaches = tail(threshold + y - score, each)
        found.append((chance * reaches).sum())
        chance = chance * (1 - reaches)
    return np.array([*found, chance.sum()])


def worst(epsilon: float, bar: float, each: float, sensitivity: int = 1) -> float:
    """The largest log ratio between neighbours of a small world."""
    distributions = {
        scores: distribution(scores, 3, bar, each) for scores in itertools.product(range(0, 7, sensitivity), repeat=3)
    }
    return max(
        float(np.abs(log_ratios(distributions[mine], distributions[other])).max())
        for mine, other in itertools.product(distributions, repeat=2)
        if max(abs(a - b) for a, b in zip(mine, other, strict=True)) <= sensitivity
    )


@pytest.mark.claim("threshold.1")
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.5, 1), (1.0, 1), (2.0, 1), (1.0, 2)])
def test_above_threshold_in_a_small_world(epsilon: float, sensitivity: int) -> None:
    bar, each = (float(s) for s in FirstAbove((0,), 3, sensitivity, Approximate(epsilon, 0))._scales())
    seen = worst(epsilon, bar, each, sensitivity)
    assert 0.5 * epsilon < seen <= epsilon * (1 + 1e-6)


@pytest.mark.claim("threshold.1")
def test_the_broken_variants_are_caught() -> None:
    assert worst(1.0, 2.0, 4.0) <= 1.0
    assert worst(1.0, 1.0, 2.0) > 1.0  # half of all the noise
    assert worst(1.0, 2.0, 1.0) > 1.0  # a quarter of the scores' noise
    assert worst(1.0, 2.0, 0.02) > 1.0  # no noise on the scores


@pytest.mark.claim("threshold.1")
def test_the_scales_are_two_and_four_times_the_rounded_up_sensitivity() -> None:
    for sensitivity, epsilon, bar in ((1, 1, 2), (Fraction(3, 2), Fraction(1, 2), 8), (Fraction(1, 9), 1, 2)):
        scales = FirstAbove((0,), 0, sensitivity, Approximate(epsilon, 0))._scales()
        assert scales == (Fraction(bar), Fraction(2 * bar))


@pytest.mark.claim("threshold.1")
@pytest.mark.parametrize(("scores", "threshold"), [((0, 2, 4), 3), ((-9, 1), 0), ((5,), 5)])
def test_above_threshold_has_its_distribution(scores: tuple[int, ...], threshold: int) -> None:
    source, request = SeededSource(13), FirstAbove(scores, threshold, 1, Approximate(1, 0))
    drawn = Counter(request.answer(source) for _ in range(3000))
    counts = [drawn[i] for i in range(len(scores) + 1)]
    assert chi_square(counts, distribution(scores, threshold, 2.0, 4.0)) > 1e-6
    assert chi_square(counts, distribution(scores, threshold + 2, 2.0, 4.0)) < 1e-6


@pytest.mark.claim("threshold.1")
def test_the_first_that_reaches_is_returned_and_all_noise_is_drawn() -> None:
    drawn: list[int] = []

    class Counting(Constant):
        def laplace(self, size: int, scale: Fraction) -> Any:
            drawn.append(size)
            return super().laplace(size, scale)

    for scores, index in (((5, 0, 5), 0), ((4, 5, 9), 1), ((0, 0, 0), 3)):
        drawn.clear()
        assert FirstAbove(scores, 5, 1, Approximate(1, 0)).answer(Counting(7)) == index
        assert drawn == [1, 3]


@pytest.mark.claim("threshold.1")
@WIDE
@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6), st.integers(-(2**70), 2**70))
def test_any_scores_are_answered(scores: list[int], threshold: int) -> None:
    for epsilon in (1e-9, 1.0, 1e6):
        index = FirstAbove(tuple(scores), threshold, 1, Approximate(epsilon, 0)).answer(SeededSource(1))
        assert 0 <= index <= len(scores)


@pytest.mark.claim("threshold.1")
def test_numpy_scores_at_the_end_of_an_int64_do_not_wrap() -> None:
    scores = tuple(np.array([2**63 - 1, -(2**63)]))
    assert FirstAbove(scores, np.int64(0), 1, Approximate(1, 0)).answer(Constant(2**40)) == 0  # type: ignore[arg-type]
    assert FirstAbove(scores[1:], 0, 1, Approximate(1, 0)).answer(Constant(-(2**40))) == 1


@pytest.mark.parametrize(
    ("scores", "threshold", "sensitivity", "cost"),
    [
        ((), 0, 1, Approximate(1, 0)),
        ((0.5,), 0, 1, Approximate(1, 0)),
        ((1,), 0.5, 1, Approximate(1, 0)),
        ((1,), True, 1, Approximate(1, 0)),
        ((1,), 0, 0, Approximate(1, 0)),
        ((1,), 0, 1, Approximate(1, 1e-6)),
        ((1,), 0, 1, Approximate(0, 0)),
        ((1,), 0, 2**50, Approximate(1, 0)),
    ],
)
def test_refusals(scores: Any, threshold: Any, sensitivity: Any, cost: Any) -> None:
    with pytest.raises(BadInput):
        FirstAbove(scores, threshold, sensitivity, cost)


@pytest.mark.claim("threshold.1")
def test_objections() -> None:
    def ask(scores: tuple[int, ...], threshold: int = 5, sensitivity: int = 1, epsilon: int = 1) -> FirstAbove:
        return FirstAbove(scores, threshold, sensitivity, Approximate(epsilon, 0))

    mine = ask((1, 2))
    assert mine.objection(ask((2, 1))) is None
    assert "claimed 1" in str(mine.objection(ask((1, 4))))
    for other in (ask((1, 2), threshold=6), ask((1, 2), sensitivity=2), ask((1, 2), epsilon=2), ask((1, 2, 3))):
        assert "parameters" in str(mine.objection(other))
    assert mine.loss == Approximate(1, 0)


def true_tail(scale: Fraction, above: int, digits: int = 400) -> Any:
    """P(Z >= above), above >= 1."""
    with mpmath.workdps(digits):
        rate = mpmath.mpf(scale.denominator) / scale.numerator
        return mpmath.exp(-above * rate) / (1 + mpmath.exp(-rate))


# --- tails and thresholds ---


@pytest.mark.claim("threshold.3")
@WIDE
@given(st.fractions(Fraction(1, 512), 10**6), st.integers(1, 10**6), st.sampled_from([64, 192, 1280]))
def test_tails_are_bounded_on_both_sides(scale: Fraction, above: int, bits: int) -> None:
    low, high = tail_bounds(scale, above, bits)
    bound = tail_above(scale, above)
    with mpmath.workdps(450):
        true = true_tail(scale, above, 450)
        assert low <= true * 2**bits <= high
        assert true <= mpmath.mpf(bound.numerator) / bound.denominator <= true + mpmath.mpf(2) ** -1270
    assert high - low <= 8


@pytest.mark.claim("threshold.3")
@pytest.mark.parametrize(
    ("epsilon", "delta", "threshold", "at", "before"),
    [(1, 1e-3, 14, 9.36e-4, 1.54e-3), (0.5, 1e-3, 27, 8.45e-4, None), (2, 1e-4, 10, 9.02e-5, None)],
)
def test_the_audited_thresholds(epsilon: float, delta: float, threshold: int, at: float, before: float | None) -> None:
    """Two moving bins, jointly: at T the hockey stick is delta, at T - 1 it is more."""
    assert threshold_for(2, epsilon, delta) == threshold
    assert replaced(threshold, epsilon, 0, 0) == pytest.approx(at, rel=1e-3)
    assert replaced(threshold, epsilon, 0, 0) <= delta
    assert replaced(threshold - 1, epsilon, 0, 0) > delta
    if before:
        assert replaced(threshold - 1, epsilon, 0, 0) == pytest.approx(before, rel=1e-2)
    Sift(counts={}, sensitivity=2, cost=Laplace(epsilon), above=threshold, delta=delta, bins=None)
    with pytest.raises(BadInput, match="lone person"):
        Sift(counts={}, sensitivity=2, cost=Laplace(epsilon), above=threshold - 1, delta=delta, bins=None)


def shown(count: int, threshold: int, scale: float) -> Any:
    """The distribution of what one bin shows: nothing first, then the values from the threshold on."""
    if count == 0:
        return np.array([1.0, *[0.0] * 400])
    distribution = LaplaceDistribution(scale)
    values = [distribution.at(value - count) for value in range(threshold, threshold + 400)]
    return np.array([1 - distribution.tail(threshold - count), *values])


def replaced(threshold: int, epsilon: float, u: int, v: int) -> float:
    """The exact delta of one person's move from a bin with `u` others to a bin with `v` others."""
    scale = 2 / epsilon
    mine = np.outer(shown(u + 1, threshold, scale), shown(v, threshold, scale))
    other = np.outer(shown(u, threshold, scale), shown(v + 1, threshold, scale))
    return max(hockey_stick(mine, other, epsilon), hockey_stick(other, mine, epsilon))


def added(threshold: int, epsilon: float, u: int) -> float:
    """The exact delta of one person who joins a bin with `u` others."""
    mine, other = (shown(count, threshold, 1 / epsilon) for count in (u + 1, u))
    return max(hockey_stick(mine, other, epsilon), hockey_stick(other, mine, epsilon))


@pytest.mark.claim("threshold.3")
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-3), (0.5, 1e-3), (2, 1e-4), (0.1, 1e-4), (3, 0.2)])
def test_one_delta_is_paid_in_every_case(epsilon: float, delta: float) -> None:
    """Both bins empty, one of them, neither, around the threshold too; the mass beyond 400 values is below 1e-12."""
    threshold = threshold_for(2, epsilon, delta)
    for u, v in itertools.product((0, 1, 2, threshold - 1, threshold), repeat=2):
        assert replaced(threshold, epsilon, u, v) <= delta + 1e-9
    threshold = threshold_for(1, epsilon, delta)
    for u in (0, 1, 2, threshold - 1, threshold, threshold + 3):
        assert added(threshold, epsilon, u) <= delta + 1e-9
    assert added(threshold - 1, epsilon, 0) > delta or threshold == 2


@pytest.mark.claim("threshold.3")
def test_two_bins_a_person_would_cost_two_deltas() -> None:
    """Why a sensitivity above 2 is refused: four bins move, and the claim of one delta is false."""
    threshold, scale = threshold_for(2, 1, 1e-3), 4.0
    assert LaplaceDistribution(scale).tail(threshold - 1) > 1e-3
    threshold = threshold_for(4, 1, 1e-3)
    lone = LaplaceDistribution(scale).tail(threshold - 1)
    assert 1 - (1 - lone) ** 2 > 1e-3  # both bins that only this person holds are shown or not, independently
    for sensitivity in (3, 4, Fraction(3, 2), 0, -1):
        with pytest.raises(BadInput):
            Sift(counts={}, sensitivity=sensitivity, cost=Laplace(1), above=threshold, delta=1e-3, bins=None)  # type: ignore[arg-type]


@pytest.mark.claim("threshold.3")
@WIDE
@given(st.integers(1, 2), st.floats(1e-9, 1e6), st.floats(1e-300, 0.4))
def test_thresholds_are_the_least(sensitivity: int, epsilon: float, delta: float) -> None:
    threshold = threshold_for(sensitivity, epsilon, delta)
    scale = max(sensitivity / exact(epsilon), Fraction(1, 512))
    assert threshold >= 2
    assert true_tail(scale * (1 - Fraction(1, 2**28)), threshold - 1) <= exact(delta)
    if threshold > 2:
        assert true_tail(scale * (1 + Fraction(1, 2**28)), threshold - 2) > exact(delta)


@pytest.mark.claim("threshold.3")
@pytest.mark.parametrize("delta", [1e-77, 1e-100, 1e-300])
def test_a_tiny_delta_terminates(delta: float) -> None:
    """Below 2^-256 the search once never ended."""
    threshold = threshold_for(2, 1, delta)
    assert threshold == math.ceil(1 + 2 * (-math.log(delta) - math.log1p(math.exp(-0.5))))
    assert (
        Sift(counts={"a": 5}, sensitivity=2, cost=Laplace(1), above=threshold, delta=delta, bins=None).answer(
            SeededSource(1)
        )
        == {}
    )


def test_a_threshold_needs_a_delta() -> None:
    for delta in (0, -1, 1e-310, 1.5, math.nan):
        with pytest.raises(BadInput):
            threshold_for(2, 1, delta)


# --- known bins ---


def joint_distribution(counts: dict[int, int], bins: int, above: int, scale: float) -> dict[tuple[int, ...], float]:
    """Dense noise and a threshold; each bin is hidden (0), just reaches it (1) or passes it (2)."""
    distribution = LaplaceDistribution(scale)
    each = []
    for key in range(bins):
        reach, beyond = (distribution.tail(above + more - counts.get(key, 0)) for more in (0, 1))
        each.append((1 - reach, reach - beyond, beyond))
    return {
        cell: math.prod(each[i][c] for i, c in enumerate(cell)) for cell in itertools.product(range(3), repeat=bins)
    }


@pytest.mark.claim("threshold.2")
@pytest.mark.parametrize(
    ("counts", "above", "epsilon"), [({}, 1, 1), ({1: 2}, 1, 1), ({0: 1, 2: 3}, 2, 2), ({0: 1, 1: 1, 2: 1}, 3, 1)]
)
def test_known_bins_have_the_distribution_of_dense_noise(counts: dict[Any, int], above: int, epsilon: float) -> None:
    request, source = (
        Sift(counts={**counts}, sensitivity=1, cost=Laplace(epsilon), above=above, delta=0, bins=3),
        SeededSource(17),
    )
    cells: Counter[tuple[int, ...]] = Counter()
    for _ in range(1600):
        answer = request.answer(source)
        assert min(answer.values(), default=above) >= above
        cells[tuple(min(2, answer[key] - above + 1) if key in answer else 0 for key in range(3))] += 1
    distribution = joint_distribution(counts, 3, above, 1 / epsilon)
    assert chi_square([cells[cell] for cell in distribution], list(distribution.values())) > 1e-6
    wrong = joint_distribution(counts, 3, above, 1.4 / epsilon)
    assert chi_square([cells[cell] for cell in distribution], list(wrong.values())) < 1e-6


@pytest.mark.claim("threshold.2")
@pytest.mark.parametrize(("size", "scale", "above"), [(1, 2.0, 1), (7, 1.0, 1), (50, 3.0, 5), (10**9, 1.0, 21)])
def test_the_number_of_lifted_bins_is_binomial(size: int, scale: float, above: int) -> None:
    request = Sift(counts={}, sensitivity=1, cost=Laplace(1 / exact(scale)), above=above, delta=0, bins=size)
    low, high = request._weights(size, 192)
    chance = true_tail(exact(scale), above)
    listed = len(low) if len(low) == size + 1 else len(low) - 1
    with mpmath.workdps(120):
        true = [mpmath.binomial(size, k) * chance**k * (1 - chance) ** (size - k) for k in range(listed)]
        one = mpmath.mpf(2) ** 192 / true[0]
        little = mpmath.mpf(10) ** -9
        assert all(low[k] - little <= true[k] * one <= high[k] + little for k in range(listed))
        if listed < len(low):
            assert low[-1] == 0
            assert (1 - sum(true)) * one <= high[-1] <= one * mpmath.mpf(2) ** -90
    assert all(large - small <= 2**60 for small, large in zip(low[:listed], high, strict=False))


@pytest.mark.claim("threshold.2")
def test_many_lifted_bins_are_drawn_in_blocks() -> None:
    """A low threshold over many bins: 100,000 empty bins of which 0.45 rise, which one list could not hold."""
    request, source = Sift(counts={}, sensitivity=1, cost=Laplace(0.1), above=1, delta=0, bins=100_000), SeededSource(3)
    chance = LaplaceDistribution(10).tail(1)
    draws = [request._how_many(100_000, source) for _ in range(10)]
    spread = math.sqrt(100_000 * chance * (1 - chance))
    assert all(abs(draw - 100_000 * chance) < 6 * spread for draw in draws)
    assert abs(sum(draws) - 10**6 * chance) < 6 * spread * math.sqrt(10)
    small = [
        Sift(counts={}, sensitivity=1, cost=Laplace(1), above=1, delta=0, bins=600)._how_many(600, source)
        for _ in range(300)
    ]
    chance = LaplaceDistribution(1).tail(1)
    centred = (np.array(small) - 600 * chance) / math.sqrt(600 * chance * (1 - chance))
    cells = np.histogram(centred, bins=[-9, -0.8, 0, 0.8, 9])[0]
    from scipy.stats import binom

    ends = [600 * chance + edge * math.sqrt(600 * chance * (1 - chance)) for edge in (-9, -0.8, 0, 0.8, 9)]
    masses = np.diff([binom.cdf(math.ceil(end) - 1, 600, chance) for end in ends])
    assert chi_square(cells, masses) > 1e-6


@pytest.mark.claim("threshold.2")
def test_lifted_bins_are_uniform_among_the_empty_ones() -> None:
    request, source = (
        Sift(counts={1: 10**6, 3: 10**6, 4: 10**6}, sensitivity=1, cost=Laplace(1), above=1, delta=0, bins=7),
        SeededSource(5),
    )
    lifted: Counter[Any] = Counter()
    for _ in range(800):
        lifted.update(key for key, count in request.answer(source).items() if count < 1000)
    assert set(lifted) == {0, 2, 5, 6}
    assert chi_square([lifted[key] for key in (0, 2, 5, 6)], [0.25] * 4) > 1e-6


@pytest.mark.claim("threshold.2")
def test_the_rank_of_an_empty_bin_is_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    for occupied in itertools.chain.from_iterable(itertools.combinations(range(6), n) for n in range(6)):
        request = Sift(counts=dict.fromkeys(occupied, 1), sensitivity=1, cost=Laplace(1), above=1, delta=0, bins=6)
        empty = [key for key in range(6) if key not in occupied]
        monkeypatch.setattr(Sift, "_how_many", lambda self, *_: self.bins - len(self.counts))
        source = Constant(2)
        source.then = list(range(len(empty)))
        assert request._from_empty(request._occupied(), source) == dict.fromkeys(empty, 3)


@pytest.mark.claim("threshold.2")
def test_billions_of_bins_and_no_empty_ones() -> None:
    request = Sift(
        counts={5: 10**6, 4 * 10**9 - 1: 1}, sensitivity=2, cost=Laplace(1), above=34, delta=0, bins=4 * 10**9
    )
    answer = request.answer(SeededSource(1))
    assert 60 < len(answer) < 160  # 103.1 empty bins are expected, plus one: 4 standard deviations
    assert next(iter(answer)) == 5
    assert all(isinstance(key, int) and 0 <= key < 4 * 10**9 for key in answer)
    full = Sift(counts=dict.fromkeys(range(50), 100), sensitivity=1, cost=Laplace(1), above=1, delta=0, bins=50).answer(
        SeededSource(1)
    )
    assert set(full) == set(range(50))
    assert Sift(counts={}, sensitivity=1, cost=Laplace(1e6), above=1, delta=0, bins=10).answer(SeededSource(1)) == {}
    assert set(
        Sift(counts={0: 3}, sensitivity=1, cost=Laplace(1e6), above=1, delta=0, bins=10).answer(SeededSource(1)).items()
    ) == {(0, 3)}


@pytest.mark.claim("threshold.2")
def test_a_shown_bin_does_not_say_whether_it_was_empty() -> None:
    """The type of a key was once numpy's for bins with people and plain for the others."""
    counts: dict[Any, int] = {np.int64(0): 50, True: 50, np.uint8(3): 50}
    answer = Sift(counts=counts, sensitivity=1, cost=Laplace(0.1), above=1, delta=0, bins=40).answer(SeededSource(2))
    assert {type(key) for key in answer} == {int}
    assert {type(count) for count in answer.values()} == {int}
    assert {0, 1, 3} <= set(answer)


@pytest.mark.claim("threshold.2")
def test_keys_that_are_no_bins_are_ignored() -> None:
    counts: dict[Any, int] = {-1: 99, 3: 99, "a": 99, 1.5: 99, math.nan: 99, None: 99, 2: 99}
    answer = Sift(counts=counts, sensitivity=1, cost=Laplace(50), above=5, delta=0, bins=3).answer(SeededSource(2))
    assert list(answer) == [2]


# --- unknown bins ---


@pytest.mark.claim("threshold.3")
def test_only_bins_with_people_are_noised_and_only_those_that_reach_are_shown() -> None:
    request = Sift(
        counts={"a": 20, "b": 13, "c": 12, "d": 0, "e": -4},
        sensitivity=2,
        cost=Laplace(1),
        above=14,
        delta=1e-3,
        bins=None,
    )
    assert request.answer(Constant(0)) == {"a": 20}
    assert request.answer(Constant(1)) == {"a": 21, "b": 14}
    assert request.answer(Constant(2**62)) == dict.fromkeys("abc", ROOM)
    assert request.loss == Approximate(1, 1e-3)
    assert Sift(counts={}, sensitivity=1, cost=Laplace(1), above=1, delta=0, bins=5).loss == Approximate(1, 0)


@pytest.mark.claim("threshold.3")
def test_the_order_is_that_of_what_is_shown() -> None:
    for keys in itertools.permutations(["b", "a", "c"]):
        counts = {"a": 30, "b": 30, "c": 40}
        answer = Sift(
            counts={key: counts[key] for key in keys}, sensitivity=2, cost=Laplace(1), above=14, delta=1e-3, bins=None
        ).answer(Constant(0))
        assert list(answer) == ["c", "a", "b"]


@pytest.mark.claim("threshold.3")
def test_counts_of_any_size_and_odd_keys() -> None:
    counts: dict[Any, Any] = {math.nan: 1, float("nan"): 1, (1, 2): np.int64(2**63 - 1), 1: np.uint64(40), "x": 10**30}
    answer = Sift(counts=counts, sensitivity=2, cost=Laplace(1), above=14, delta=1e-3, bins=None).answer(Constant(3))
    assert answer == {(1, 2): ROOM, "x": ROOM, 1: 43}
    assert (
        Sift(counts={}, sensitivity=2, cost=Laplace(1), above=14, delta=1e-3, bins=None).answer(SeededSource(0)) == {}
    )


@pytest.mark.claim("threshold.3")
def test_a_lone_person_is_shown_with_probability_delta() -> None:
    request, source = (
        Sift(counts=dict.fromkeys(range(1000), 1), sensitivity=2, cost=Laplace(1), above=8, delta=0.02, bins=None),
        SeededSource(3),
    )
    seen = sum(len(request.answer(source)) for _ in range(10))
    chance = LaplaceDistribution(2).tail(7)
    assert chi_square([seen, 10_000 - seen], [chance, 1 - chance]) > 1e-6


@pytest.mark.parametrize(
    "bad",
    [
        {"above": 0},
        {"above": 13},
        {"above": 1.5},
        {"delta": 0},
        {"delta": 1e-4},
        {"delta": math.nan},
        {"delta": 0.4, "above": 50},
        {"sensitivity": 0},
        {"counts": {"a": 1.5}},
        {"counts": {"a": math.nan}},
        {"bins": 10},
        {"bins": 0, "delta": 0},
        {"bins": 2.5, "delta": 0},
        {"sensitivity": 2**60, "bins": 5, "delta": 0},
    ],
)
def test_refusals_of_sift(bad: dict[str, Any]) -> None:
    good = {"counts": {"a": 1}, "sensitivity": 2, "cost": Laplace(1), "above": 14, "delta": 1e-3, "bins": None}
    Sift(**good)  # type: ignore[arg-type]
    with pytest.raises(BadInput):
        Sift(**{**good, **bad})


@pytest.mark.claim("threshold.3")
def test_delta_is_held_to_its_ceiling_exactly() -> None:
    """1 - e^{-epsilon/2} by intervals, not by floats, which cancel for small epsilon."""
    for epsilon in (1e-9, 1e-4, 1.0):
        ceiling = -mpmath.expm1(-mpmath.mpf(epsilon) / 2)
        make = partial(Sift, counts={}, sensitivity=2, cost=Laplace(epsilon), above=10**11, bins=None)
        make(delta=float(ceiling * (1 - mpmath.mpf(10) ** -15)))
        with pytest.raises(BadInput, match="exp"):
            make(delta=float(ceiling * (1 + mpmath.mpf(10) ** -15)))


# --- objections ---


@pytest.mark.claim("threshold.2")
@pytest.mark.claim("threshold.3")
def test_objections_of_sift() -> None:
    def ask(counts: dict[Any, int], sensitivity: int = 2, **more: Any) -> Sift:
        return Sift(
            counts=counts,
            sensitivity=sensitivity,
            cost=Laplace(1),
            **{"above": 30, "delta": 1e-3, "bins": None, **more},
        )

    mine = ask({"a": 3, "b": 1})
    assert mine.objection(ask({"a": 3, "c": 1})) is None
    assert mine.objection(ask({"a": 4})) is None
    assert "counts moved by 3" in str(mine.objection(ask({"a": 5, "b": 0})))
    assert "more than one person" in str(mine.objection(ask({"a": 3, "b": 1, "c": 2})))
    assert "more than one bin" in str(mine.objection(ask({"a": 3, "b": 1, "c": 1, "d": 1})))
    assert "depends on the data" in str(mine.objection(ask({"a": 3, "b": 1}, above=31)))
    assert "depends on the data" in str(mine.objection(ask({"a": 3, "b": 1}, sensitivity=1)))
    assert "depends on the data" in str(mine.objection(ask({"a": 3, "b": 1}, delta=1e-4)))
    known = {"bins": 9, "delta": 0}
    assert ask({1: 3, 2: 1}, **known).objection(ask({1: 3, 4: 1}, **known)) is None
    assert ask({1: 3}, **known).objection(ask({1: 3, 4: 2}, **known)) is None
    assert "counts moved by 4" in str(ask({1: 3}, **known).objection(ask({1: 1, 4: 2}, **known)))
    unsigned = {"a": np.uint64(3), "b": np.uint64(1)}
    assert ask(unsigned).objection(ask({"a": 4})) is None  # type: ignore[arg-type]


def test_the_script_of_a_source_is_used_up() -> None:
    """Nothing is drawn for bins that cannot be lifted: a threshold far away needs one number."""
    source = Script(Fraction(1, 3))
    assert Sift(counts={}, sensitivity=1, cost=Laplace(1), above=500, delta=0, bins=10)._how_many(10, source) == 0
    assert source.calls == 1
