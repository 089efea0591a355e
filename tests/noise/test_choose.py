import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise.distribution_checks import Constant, Script, chi_square, enumerate_distribution, log_ratios, uniform

from discreet.errors import BadInput
from discreet.noise import choose
from discreet.noise.additive import ROOM
from discreet.noise.choose import Bounds, Choose, NoisyMax, clear_index, exp_bounds, exp_ladder, pick
from discreet.noise.distributions import BitSource, drawn_scale, geometric
from discreet.noise.randomness import SeededSource, SystemSource
from discreet.privacy.loss import Approximate, Choice

WIDE = settings(derandomize=True, database=None, max_examples=150)
Distribution = np.ndarray[Any, Any]


def weighed(request: Choose, monkeypatch: pytest.MonkeyPatch) -> Distribution:
    """The distribution of the implementation from its own weights, which `lazy.pick` draws from exactly [choose.2]."""
    seen: list[Bounds] = []

    def look(weights: Callable[[int], Bounds], source: BitSource, **_: Any) -> int:
        seen.append(weights(192))
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(choose, "pick", look)
        request.answer(Script(Fraction(0), then=[0]))
    low, high = seen[0]
    assert all(small <= large <= small + 2**40 for small, large in zip(low, high, strict=True))
    levels, members = np.unique(request.scores, return_counts=True)
    share = dict(zip(levels.tolist(), [w / sum(low) for w in low], strict=True))
    size = dict(zip(levels.tolist(), members.tolist(), strict=True))
    return np.array([share[score] / size[score] for score in np.asarray(request.scores).tolist()])


def exponential(scores: Any, epsilon: float, sensitivity: float) -> Distribution:
    weights = np.exp(-epsilon * (np.asarray(scores) - min(scores)) / (2 * sensitivity))
    return np.asarray(weights / weights.sum())


@pytest.mark.claim("choose.3")
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 7.0, 300.0])
def test_the_weights_are_those_of_the_exponential_mechanism(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for scores in ([0], [3, 3, 3], [5, 1, 1, 2, 9], [-7, 100, -7, 60], [0, 10**9]):
        for sensitivity in (1, Fraction(3, 2), 4):
            distribution = weighed(Choose(scores, sensitivity, Choice(epsilon)), monkeypatch)
            assert distribution == pytest.approx(exponential(scores, epsilon, float(sensitivity)), rel=1e-12, abs=1e-40)


@pytest.mark.claim("choose.3")
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_neighbours_in_a_small_world_are_within_epsilon_and_bounded_range(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributions = {
        scores: weighed(Choose(scores, 1, Choice(epsilon)), monkeypatch)
        for scores in itertools.product((0, 1, 2, 9), repeat=3)
    }
    worst = widest = 0.0
    for mine, other in itertools.product(distributions, repeat=2):
        if max(abs(a - b) for a, b in zip(mine, other, strict=True)) <= 1:
            ratios = log_ratios(distributions[mine], distributions[other])
            worst, widest = max(worst, np.abs(ratios).max()), max(widest, np.ptp(ratios))
    assert worst <= epsilon * (1 + 1e-9)
    assert epsilon * (1 - 1e-9) <= widest <= epsilon * (1 + 1e-9)  # the range is reached, and not passed


@pytest.mark.claim("choose.3")
def test_the_draw_follows_the_real_number_and_then_the_member() -> None:
    request = Choose([4, 1, 4, 1, 1], 1, Choice(1))
    boundary = 3 / (3 + 2 * math.exp(-1.5))
    for drawn, then, index in [(0.0, 0, 1), (0.0, 2, 4), (boundary - 1e-9, 1, 3), (boundary + 1e-9, 1, 2)]:
        assert request.answer(Script(Fraction(drawn), then=[then])) == index


@pytest.mark.claim("choose.3")
def test_the_distribution_by_sampling() -> None:
    scores, source = [3, 0, 1, 1], SeededSource(8)
    drawn = Counter(Choose(scores, 1, Choice(1)).answer(source) for _ in range(6000))
    assert chi_square([drawn[i] for i in range(4)], exponential(scores, 1, 1)) > 1e-6


@pytest.mark.claim("choose.3")
@WIDE
@given(
    st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=8),
    st.sampled_from([1e-9, 1e-3, 1.0, 1e6]),
    st.sampled_from([1, Fraction(1, 3), 10**6]),
)
def test_any_scores_are_answered(scores: list[int], epsilon: float, sensitivity: Any) -> None:
    index = Choose(scores, sensitivity, Choice(epsilon)).answer(SeededSource(0))
    assert 0 <= index < len(scores)
    top = NoisyMax(scores, 1, Approximate(epsilon, 0)).answer(SeededSource(0))
    assert 0 <= top < len(scores)


@pytest.mark.claim("choose.3")
def test_many_levels_far_apart_need_little_memory() -> None:
    """Levels 4000 apart once filled a table with every power in between."""
    scores = np.arange(2000, dtype=np.int64) * 4000
    source = Script(Fraction(1, 3), then=[0])
    assert Choose(scores, 1, Choice(1e-9)).answer(source) in range(2000)
    assert source.calls == 1


def noisy_max_distribution(scores: tuple[int, ...], scale: float, ties_low: bool = True) -> Distribution:
    """Sum over the value of the winner: every other is below it, or equal and later."""
    a, reach = math.exp(-1 / scale), int(60 * scale) + max(scores) + 5
    values = np.arange(min(scores), reach)

    def at_most(score: int, value: Distribution) -> Distribution:
        return np.where(value >= score, 1 - a ** np.maximum(value - score + 1, 0), 0.0)

    distribution = []
    for i, score in enumerate(scores):
        chance = np.where(values >= score, (1 - a) * a ** np.maximum(values - score, 0), 0.0)
        for j, other in enumerate(scores):
            if j != i:
                chance = chance * at_most(other, values - (j < i if ties_low else 0))
        distribution.append(chance.sum())
    return np.array(distribution)


@pytest.mark.claim("choose.4")
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_noisy_max_in_a_small_world(epsilon: float) -> None:
    scale = float(NoisyMax([0], 1, Approximate(epsilon, 0)).scale)
    distributions = {
        scores: noisy_max_distribution(scores, scale) for scores in itertools.product((0, 1, 2, 6), repeat=3)
    }
    assert all(distribution.sum() == pytest.approx(1) for distribution in distributions.values())
    worst = max(
        np.abs(log_ratios(distributions[mine], distributions[other])).max()
        for mine, other in itertools.product(distributions, repeat=2)
        if max(abs(a - b) for a, b in zip(mine, other, strict=True)) <= 1
    )
    assert 0.75 * epsilon < worst <= epsilon * (1 + 1e-7)


@pytest.mark.claim("choose.4")
def test_noisy_max_with_half_the_noise_is_caught() -> None:
    distributions = [noisy_max_distribution(scores, 1.0) for scores in ((3, 1, 0), (2, 2, 1))]
    assert np.abs(log_ratios(*distributions)).max() > 1.4  # scale D / epsilon, epsilon = 1: the planted bug


@pytest.mark.claim("choose.4")
def test_noisy_max_has_its_distribution() -> None:
    for scores in ((2, 2, 0), (0, 1, 2, 3)):
        source, request = SeededSource(21), NoisyMax(scores, 1, Approximate(1, 0))
        drawn = Counter(request.answer(source) for _ in range(2000))
        counts = [drawn[i] for i in range(len(scores))]
        assert chi_square(counts, noisy_max_distribution(scores, 2.0)) > 1e-6
        assert chi_square(counts, noisy_max_distribution(scores, 1.0)) < 1e-6
        assert chi_square(counts, noisy_max_distribution(scores, 2.0, ties_low=False)) < 1e-6


@pytest.mark.claim("choose.4")
def test_ties_go_to_the_lower_index_and_the_noise_is_one_sided() -> None:
    assert NoisyMax([1, 3, 3, 2], 1, Approximate(1, 0)).answer(Constant(5)) == 1
    draws = geometric(SeededSource(4), 900, drawn_scale(Fraction(2)))
    a = math.exp(-0.5)
    counts = [int((draws == k).sum()) for k in range(10)]
    assert draws.min() >= 0
    assert chi_square([*counts, 900 - sum(counts)], [*((1 - a) * a**k for k in range(10)), a**10]) > 1e-6
    assert geometric(SeededSource(4), 0, Fraction(2)).tolist() == []


@pytest.mark.claim("choose.4")
def test_the_scale_of_noisy_max() -> None:
    assert NoisyMax([0], Fraction(3, 2), Approximate(0.25, 0)).scale == 12
    assert NoisyMax([0], 1, Approximate(3, 0)).scale >= Fraction(2, 3)


def test_accuracy_of_both_is_within_the_stated_bound() -> None:
    """P(gap > t) <= K e^{-epsilon t / 2D}, however the candidates are ordered."""
    for scores in itertools.permutations((9, 5, 5, 0)):
        distribution = noisy_max_distribution(scores, 2.0)
        em = exponential([-score for score in scores], 1, 1)
        for gap in (4, 9):
            far = [score <= 9 - gap for score in scores]
            assert max(distribution[far].sum(), em[far].sum()) <= 4 * math.exp(-gap / 2)


def test_ties_by_index_can_cost_noisy_max_its_lead_on_coarse_scores() -> None:
    """With many ties in front of the best, report noisy max is not better than the exponential mechanism."""
    scores = (0, 0, 1)
    scale = 1 / math.log(2)
    assert noisy_max_distribution(scores, scale)[2] < exponential([1, 1, 0], 2, scale)[2] == pytest.approx(0.5)


@pytest.mark.parametrize("kind", [Choose, NoisyMax])
@pytest.mark.parametrize(
    ("scores", "sensitivity"),
    [([], 1), ([1.5], 1), ([[1]], 1), (3, 1), ([True], 1), ([1], 0), ([1], -2), ([1], math.nan), ([1], math.inf)],
)
def test_refusals(kind: Any, scores: Any, sensitivity: Any) -> None:
    with pytest.raises(BadInput):
        kind(scores, sensitivity, Choice(1) if kind is Choose else Approximate(1, 0))


def test_noisy_max_is_pure_and_its_noise_fits() -> None:
    for cost in (Approximate(1, 1e-9), Approximate(0, 0)):
        with pytest.raises(BadInput, match="pure"):
            NoisyMax([1], 1, cost)
    with pytest.raises(BadInput, match=r"2\^50"):
        NoisyMax([1], 10**12, Approximate(1e-9, 0))


@pytest.mark.claim("choose.3")
@pytest.mark.claim("choose.4")
@pytest.mark.parametrize(("kind", "cost"), [(Choose, Choice(1)), (NoisyMax, Approximate(1, 0))])
def test_objections(kind: Any, cost: Any) -> None:
    mine = kind([1, 2, 3], 1, cost)
    assert mine.objection(kind([2, 1, 4], 1, cost)) is None
    assert mine.objection(kind(np.array([2, 1, 4]), 1, cost)) is None
    assert "claimed 1" in str(mine.objection(kind([1, 2, 5], 1, cost)))
    assert "number of candidates" in str(mine.objection(kind([1, 2], 1, cost)))
    assert "parameters" in str(mine.objection(kind([1, 2, 3], 2, cost)))
    assert "parameters" in str(mine.objection(kind([1, 2, 3], 1, type(cost)(*([2, 0][: 1 if kind is Choose else 2])))))
    assert mine.loss == cost


def test_scores_beyond_an_int64_saturate_instead_of_raising() -> None:
    pairs: list[tuple[Any, Any]] = [(Choose, Choice(1000)), (NoisyMax, Approximate(1000, 0))]
    for kind, cost in pairs:
        scores = [2**80, -(2**80), 0]
        assert kind(scores, 1, cost).answer(SystemSource()) == (1 if kind is Choose else 0)
        assert kind([ROOM, 2**80], 1, cost).answer(SystemSource()) in (0, 1)


WIDE_OF_LAZY = settings(derandomize=True, database=None, max_examples=200)
RATES = st.one_of(
    st.fractions(min_value=0, max_value=2000),
    st.builds(Fraction, st.integers(0, 10**6), st.integers(1, 10**30)),
    st.integers(0, 10**400).map(Fraction),
)


def true_exp(rate: Fraction, bits: int) -> mpmath.mpf:
    """2^bits exp(-rate), to far more digits than needed."""
    with mpmath.workprec(bits + 200):
        return mpmath.mpf(2) ** bits * mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)


@pytest.mark.claim("choose.1")
@WIDE_OF_LAZY
@given(RATES, st.integers(8, 1500))
def test_exp_bounds_hold_the_truth_and_are_narrow(rate: Fraction, bits: int) -> None:
    low, high = exp_bounds(rate, bits)
    assert 0 <= low <= true_exp(rate, bits) <= high
    assert high - low <= 4


@pytest.mark.claim("choose.1")
@pytest.mark.parametrize("bits", [16, 64, 192, 1280])
def test_exp_bounds_at_the_edges_of_their_cases(bits: int) -> None:
    cut = bits * 0.7 + 2
    last = Fraction(693147, 10**6) * bits  # where 2^bits exp(-x) is just above 1
    for rate in (Fraction(0), Fraction(1, 2), Fraction(1), last, Fraction(cut), Fraction(cut) + Fraction(1, 10**9)):
        low, high = exp_bounds(rate, bits)
        assert low <= true_exp(rate, bits) <= high <= low + 4
    for k in range(-5, 12):
        for nudge in (-Fraction(1, 10**40), 0, Fraction(1, 10**40)):
            rate = Fraction(2) ** k + nudge
            low, high = exp_bounds(rate, bits)
            assert low <= true_exp(rate, bits) <= high <= low + 4


@pytest.mark.claim("choose.1")
@pytest.mark.parametrize("base", [Fraction(5, 10**10), Fraction(1, 7), Fraction(1, 2), Fraction(500000)])
def test_a_ladder_of_powers_holds_the_truth(base: Fraction) -> None:
    wanted = [0, 1, 2, 3, 64, 65, 130, 131, 200, *range(1000, 60_000, 997), 10**6, 10**18]
    last = factors = 0
    for s, (low, high) in zip(wanted, exp_ladder(base, wanted, 192), strict=True):
        factors, last = factors + (s - last).bit_count(), s
        assert 0 <= low <= true_exp(base * s, 192) <= high
        assert high - low <= 5 * factors


def weights_of(rates: list[Fraction], spread: int = 0) -> "tuple[list[mpmath.mpf], object]":
    """True weights exp(-rate), and intervals around them that are wider by `spread` on both sides."""

    def weights(bits: int) -> Bounds:
        pairs = [exp_bounds(rate, bits) for rate in rates]
        return [max(0, low - spread) for low, _ in pairs], [high + spread for _, high in pairs]

    return [true_exp(rate, 0) for rate in rates], weights


@pytest.mark.claim("choose.2")
@pytest.mark.parametrize("spread", [0, 1 << 100, 1 << 150])
def test_pick_is_the_index_of_a_real_number(spread: int) -> None:
    """At a boundary plus or minus 2^-700 the answer must still be on the right side, however wide the intervals."""
    rates = [Fraction(3, 10), Fraction(2), Fraction(0), Fraction(7, 3), Fraction(130)]
    with mpmath.workprec(1500):
        true = [mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator) for rate in rates]
        _, weights = weights_of(rates, spread)
        running = mpmath.mpf(0)
        for index, weight in enumerate(true[:-1]):
            running += weight
            boundary = Fraction(int(mpmath.floor(running / sum(true) * mpmath.mpf(2) ** 1200)), 2**1200)
            for side, nudge in ((index, -1), (index + 1, 1)):
                source = Script(boundary + Fraction(nudge, 2**700))
                assert pick(weights, source) == side  # type: ignore[arg-type]
                assert source.drawn >= 700 or spread  # it had to look that far
    for real, index in ((Fraction(0), 0), (1 - Fraction(1, 2**900), 4)):
        assert pick(weights, Script(real)) == index  # type: ignore[arg-type]


@pytest.mark.claim("choose.2")
@WIDE_OF_LAZY
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), st.fractions(0, 1).filter(lambda u: u < 1))
def test_pick_with_whole_weights(whole: list[int], real: Fraction) -> None:
    place, index = real * sum(whole), 0
    while sum(whole[: index + 1]) <= place:
        index += 1
    if place in [sum(whole[:i]) for i in range(1, len(whole))]:
        return  # on a boundary, which has probability 0 and which no number of bits decides
    source = Script(real)
    assert pick(lambda bits: ([w << bits for w in whole],) * 2, source) == index


@pytest.mark.claim("choose.2")
def test_the_distribution_of_pick_by_every_path() -> None:
    """Starting from 4 bits, so that every path can be followed; weights 1, e^-1, e^-1/2 and a hidden remainder."""
    rates = [Fraction(0), Fraction(1), Fraction(1, 2)]

    def weights(bits: int) -> Bounds:
        pairs = [exp_bounds(rate, bits) for rate in rates]
        hidden = bits < 16  # the last one is not listed yet: its low end is 0
        return [low for low, _ in pairs[:2]] + [0 if hidden else pairs[2][0]], [high for _, high in pairs]

    class Paths(Script):
        def __init__(self, draw: object) -> None:
            super().__init__(Fraction(0))
            self.draw = draw

        def below(self, bound: int) -> int:
            return int(self.draw(bound))  # type: ignore[operator]

    distribution, lost = enumerate_distribution(
        lambda branch: pick(weights, Paths(uniform(branch)), bits=4), prune=2**-9
    )
    true = [float(mpmath.exp(-float(rate))) for rate in rates]
    assert sum(distribution.values()) + lost == pytest.approx(1)
    assert all(distribution[i] <= true[i] / sum(true) + 1e-12 <= distribution[i] + lost + 2e-12 for i in range(3))


@pytest.mark.claim("choose.2")
def test_a_remainder_is_refined_and_never_returned() -> None:
    asked = []

    def weights(bits: int) -> Bounds:
        asked.append(bits)
        one = 1 << bits
        return ([one, 0], [one, one]) if bits < 1000 else ([one, one], [one, one])

    assert pick(weights, Script(Fraction(9, 10))) == 1
    assert asked == [192, 384, 768, 1536]
    assert pick(weights, Script(Fraction(1, 10))) == 0


def test_one_candidate_needs_one_look() -> None:
    source = Script(1 - Fraction(1, 2**2000))
    assert pick(lambda bits: ([1 << bits], [1 << bits]), source) == 0
    assert source.calls == 1


@pytest.mark.claim("choose.5")
def test_floats_tell_an_index_only_away_from_its_ends() -> None:
    weights = np.array([1.0, 2.0, 0.0, 1.0])
    whole = 1 << 128
    for place, found in ((0.1, 0), (0.3, 1), (0.74, 1), (0.76, 3), (0.999, 3)):
        assert clear_index(weights, int(place * whole), 128) == found
    for end in (Fraction(1, 4), Fraction(3, 4), Fraction(1)):
        for off in (0, 1, -1, 1 << 99, -(1 << 99)):  # 2^-29 of all
            assert clear_index(weights, min(int(end * whole) + off, whole - 1), 128) is None
    assert clear_index(np.zeros(3), 5, 128) is None
    assert clear_index(np.zeros(0), 5, 128) is None
    assert clear_index(weights * 2.0**-90, whole // 8, 128) is None  # what is not listed could weigh as much
    assert clear_index(weights, whole // 8, 128, 2.0**-38) == 0  # 2^-40 of the total
    assert clear_index(weights, whole // 8, 128, 2.0**-37) is None
    assert clear_index(np.ones(2**20), whole // 8, 128) is None
    assert clear_index(np.array([np.nan, 1.0]), whole // 8, 128) is None


@pytest.mark.claim("choose.5")
def test_candidates_that_floats_tell_are_those_that_exact_weights_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(60):
        g = np.random.default_rng(seed)
        scores = g.integers(0, int(g.choice([2, 50, 2**50])), size=int(g.choice([1, 5, 300])))
        request = Choose(scores, 1, Choice(Fraction(int(g.choice([1, 100, 3000])), 1000)))
        found = [request.answer(SeededSource(seed))]
        with monkeypatch.context() as context:
            context.setattr(choose, "clear_index", lambda *_: None)
            found.append(request.answer(SeededSource(seed)))
        assert found[0] == found[1]


@pytest.mark.parametrize("scores", [[0, 5000, 10**18], [3], [0, 2**61, -(2**61)]])
@pytest.mark.parametrize("epsilon", [1, 1e9, 1e300])
def test_scores_far_apart_raise_nothing_where_numpy_is_told_to_raise(scores: list[int], epsilon: float) -> None:
    """Whether a weight is too small for a float depends on the data: nobody may learn it from an exception."""
    with np.errstate(all="raise"):
        assert Choose(scores, 1, Choice(epsilon)).answer(SeededSource(1)) in range(len(scores))


@pytest.mark.claim("choose.5")
def test_floats_agree_with_exact_weights_beside_every_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers at and around the ends of the parts, found in many digits, and not only numbers by chance."""
    seen: list[tuple[Any, ...]] = []

    def watched(weights: Any, _: BitSource, sure: Any) -> int:
        seen.append((weights, sure))
        return 0

    with monkeypatch.context() as context:
        context.setattr(choose, "pick", watched)
        for seed in range(40):
            g = np.random.default_rng(seed)
            size = int(g.choice([1, 2, 30, 300]))
            scores = [g.integers(0, 3, size), g.integers(0, 2**60, size), np.arange(size), g.integers(700, 760, size)]
            epsilon = Fraction(int(g.choice([1, 100, 1999, 10**6])), 1000)
            Choose(scores[seed % 4], 1, Choice(epsilon)).answer(SeededSource(seed))
    told = 0
    for weights, sure in seen:
        least = weights(400)[0]
        ends = [Fraction(end, sum(least)) for end in itertools.accumulate(least, initial=0)]
        for end, off in itertools.product(ends[:3] + ends[-2:], (0, -29, -28, -27.99, -27, -20, -10)):
            for place in (end + Fraction(2**off), end - Fraction(2**off)):
                if 0 <= place < 1 and (found := sure(192, int(place * 2**192))) is not None:
                    told += 1
                    assert ends[found] <= place < ends[found + 1]
                    assert pick(weights, Script(place, then=[0])) == found
    assert told > 500
