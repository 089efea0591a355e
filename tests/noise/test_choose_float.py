import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise.distribution_checks import Script, chi_square, log_ratios

from discreet.errors import BadInput
from discreet.noise import choose_float as floats
from discreet.noise.choose import Bounds, pick
from discreet.noise.choose_float import (
    BINADES,
    LARGEST_KEY,
    PER_BINADE,
    ChooseFloat,
    Prior,
    ShortPrior,
    Staircase,
    float_of,
    keys_of,
    scale_free,
    short_numbers,
    uniform,
)
from discreet.noise.distributions import BitSource
from discreet.noise.randomness import SeededSource
from discreet.privacy.loss import Choice

WIDE = settings(derandomize=True, database=None, max_examples=100)
ANY = st.floats(width=64, allow_nan=True, allow_infinity=True, allow_subnormal=True)
MAX = float(np.finfo(float).max)
WORLD = [0.0, 1.0, 2.0, 1e9, math.inf, -math.inf, math.nan]
UNEVEN = Prior(tuple(1 + 3 * (e % 4) for e in range(BINADES)))
FIVE = [math.nextafter(math.nextafter(1.0, 0), 0), math.nextafter(1.0, 0), 1.0, math.nextafter(1.0, 2)]
FIVE.append(math.nextafter(FIVE[-1], 2))  # five floats on both sides of a binade's edge


# --- the order of the floats ---


@pytest.mark.claim("choose_float.3")
@WIDE
@given(st.lists(ANY, min_size=1))
def test_keys_are_the_order_of_the_floats(values: list[float]) -> None:
    keys = keys_of(values, 7.0).tolist()
    plain = [7.0 if math.isnan(value) else min(max(value, -MAX), MAX) for value in values]
    for (a, x), (b, y) in itertools.product(zip(keys, plain, strict=True), repeat=2):
        assert (a < b) == (x < y)
    assert [float_of(key) for key in keys] == plain
    assert keys_of([-value for value in plain]).tolist() == [-key for key in keys]


@pytest.mark.claim("choose_float.3")
def test_keys_at_the_ends() -> None:
    assert keys_of([0.0, -0.0, 5e-324, -5e-324, MAX, -MAX]).tolist() == [0, 0, 1, -1, LARGEST_KEY, -LARGEST_KEY]
    assert keys_of([math.inf, -math.inf, math.nan]).tolist() == [LARGEST_KEY, -LARGEST_KEY, 0]
    assert math.copysign(1, float_of(0)) == 1
    for key in (1, PER_BINADE - 1, PER_BINADE, PER_BINADE + 1, LARGEST_KEY - 1):
        assert float_of(key + 1) == math.nextafter(float_of(key), math.inf)
        assert float_of(-key - 1) == math.nextafter(float_of(-key), -math.inf)


# --- the prior ---


@pytest.mark.claim("choose_float.3")
@pytest.mark.parametrize("prior", [UNEVEN, scale_free(), scale_free(-5), uniform()])
def test_the_measure_is_the_sum_of_the_weights(prior: Prior) -> None:
    around = [0, PER_BINADE, 5 * PER_BINADE, 1023 * PER_BINADE, -PER_BINADE, -1030 * PER_BINADE]
    for centre in [*around, LARGEST_KEY - 3, -LARGEST_KEY + 3]:
        keys = range(max(centre - 3, -LARGEST_KEY), min(centre + 3, LARGEST_KEY) + 1)
        weights = [prior.weights[abs(key) // PER_BINADE] for key in keys]
        assert [prior.between(key, key) for key in keys] == weights
        assert prior.between(keys[0], keys[-1]) == sum(weights)
        assert prior.between(keys[0], keys[0] - 1) == 0
        ends = list(itertools.accumulate(weights))
        for key, end, weight in zip(keys, ends, weights, strict=True):
            for offset in {end - weight, end - 1, end - weight + weight // 2}:
                assert prior.locate(keys[0], offset) == key
    whole = prior.between(-LARGEST_KEY, LARGEST_KEY)
    assert whole == 2 * PER_BINADE * sum(prior.weights) - prior.weights[0]
    assert prior.locate(-LARGEST_KEY, 0) == -LARGEST_KEY
    assert prior.locate(-LARGEST_KEY, whole - 1) == LARGEST_KEY


@pytest.mark.claim("choose_float.3")
@WIDE
@given(st.integers(-LARGEST_KEY, LARGEST_KEY), st.fractions(0, 1).filter(lambda u: u < 1))
def test_locating_inverts_the_measure(low: int, share: Fraction) -> None:
    for prior in (UNEVEN, scale_free(), uniform()):
        offset = int(share * prior.between(low, LARGEST_KEY))
        key = prior.locate(low, offset)
        assert prior.between(low, key) > offset >= prior.between(low, key) - prior.between(key, key)


def test_the_two_priors_are_what_they_say() -> None:
    assert scale_free().weights[1023] == 2**24
    assert scale_free(3).weights[1026] == 2**24
    assert scale_free().weights[1033] == 2**23
    assert all(
        w == max(1, round(Fraction(2**24 * 100, 100 + k * k))) for k, w in enumerate(scale_free().weights[1023:])
    )
    assert min(scale_free().weights) >= 1
    room = [Fraction(float_of(key + 1)) - Fraction(float_of(key)) for key in range(0, 30 * PER_BINADE, PER_BINADE)]
    assert [size / room[0] for size in room] == list(uniform().weights[:30])
    for weights in ((1,) * 5, (0,) * BINADES):
        with pytest.raises(BadInput):
            Prior(weights)


# --- the score ---


def scores_by_hand(rows: tuple[float, ...], rank: Fraction, place: float) -> Fraction:
    plain = [0.0 if math.isnan(row) else min(max(row, -MAX), MAX) for row in rows]
    below, upto = sum(row < place for row in plain), sum(row <= place for row in plain)
    return max(Fraction(0), below - rank, rank - upto)


PLACES = [-MAX, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e9, 1e10, MAX]
TABLES = [rows for n in range(5) for rows in itertools.combinations_with_replacement(WORLD, n)]


@pytest.mark.claim("choose_float.2")
def test_the_score_moves_by_at_most_one_when_a_record_is_replaced() -> None:
    for rank in (Fraction(0), Fraction(1), Fraction(3, 2), Fraction(7)):
        scores = {rows: [scores_by_hand(rows, rank, place) for place in PLACES] for rows in TABLES}
        for rows, mine in scores.items():
            stairs = Staircase(rows, rank)
            assert [stairs.score(int(keys_of([place])[0])) for place in PLACES] == mine
        reached = Fraction(0)
        for rows, mine in scores.items():
            for i, value in itertools.product(range(len(rows)), WORLD):
                other = scores[tuple(sorted((*rows[:i], *rows[i + 1 :], value), key=WORLD.index))]
                reached = max(reached, *(abs(a - b) for a, b in zip(mine, other, strict=True)))
        assert reached == 1 or rank in (0, 7)
        assert reached <= 1


@pytest.mark.claim("choose_float.2")
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)])
def test_the_score_moves_by_at_most_the_larger_share_when_a_record_is_added(q: Fraction) -> None:
    reached = Fraction(0)
    for rows in TABLES:
        mine = [scores_by_hand(rows, q * len(rows), place) for place in PLACES]
        for value in WORLD:
            other = [scores_by_hand((*rows, value), q * (len(rows) + 1), place) for place in PLACES]
            reached = max(reached, *(abs(a - b) for a, b in zip(mine, other, strict=True)))
    assert reached == max(q, 1 - q)


@pytest.mark.claim("choose_float.3")
@pytest.mark.parametrize("reach", [1, 2, 50])
def test_segments_are_all_floats_below_the_reach(reach: int) -> None:
    """On six floats every table of up to four records: the segments and the definition agree float by float."""
    six = [*FIVE, math.nextafter(FIVE[-1], 2)]
    low, high = (int(key) for key in keys_of([six[0], six[-1]]))
    for n in range(5):
        for rows in itertools.combinations_with_replacement([*six, 0.0, math.inf], n):
            for rank in (Fraction(-3), Fraction(0), Fraction(n, 2), Fraction(n) / 3, Fraction(n), Fraction(n + 40)):
                stairs = Staircase(rows, rank, low=six[0], high=six[-1])
                excess = max(Fraction(0), -rank, rank - n)  # a rank beyond all records
                found = {key: score for score, first, last in stairs.segments(reach) for key in range(first, last + 1)}
                wanted = {key: stairs.score(key) - excess for key in range(low, high + 1)}
                assert found == {key: score for key, score in wanted.items() if score < reach}


@pytest.mark.claim("choose_float.3")
def test_segments_of_long_tables_are_cut_out_correctly() -> None:
    shuffle = random.Random(5)
    for size in (50, 300):
        rows = [float(shuffle.choice([*range(20), 1e300, -1e300])) for _ in range(size)]
        for rank in (0, size // 3, size // 2, size, Fraction(size, 2) + Fraction(1, 3)):
            stairs = Staircase(rows, rank)
            everything = stairs.segments(10**9)
            assert sum(last - first + 1 for _, first, last in everything) == 2 * LARGEST_KEY + 1
            assert all(stairs.score(first) == stairs.score(last) == score for score, first, last in everything)
            for reach in (1, 3, 20, 140):
                assert stairs.segments(reach) == [one for one in everything if one[0] < reach]
            assert everything == sorted(everything)


# --- the distribution ---


def weighed(request: ChooseFloat, patch: pytest.MonkeyPatch) -> dict[float, float]:
    """The distribution of the implementation from its own weights, which `lazy.pick` draws from exactly [choose.2]."""
    seen: list[Bounds] = []

    def look(weights: Callable[[int], Bounds], source: BitSource, bits: int, **_: Any) -> int:
        seen.append(weights(bits))
        return 0

    with patch.context() as context:
        context.setattr(floats, "pick", look)
        request.answer(SeededSource(0))
    low, high = seen[0]
    stairs, unit = request.staircase, Fraction(request.cost.epsilon) / (2 * Fraction(request.sensitivity))
    segments = stairs.segments(10**9)
    assert len(low) == len(segments), "on few floats nothing is left over unless epsilon is huge"
    total = sum(low)
    assert sum(high) - total <= total >> 55
    assert unit > 0
    distribution = {}
    for weight, (_, first, last) in zip(low, segments, strict=True):
        whole = stairs.measure.between(first, last)
        for key in range(first, last + 1):
            distribution[float_of(key)] = weight / total * stairs.measure.between(key, key) / whole
    return distribution


def by_hand(rows: tuple[float, ...], rank: Fraction, epsilon: float, sensitivity: float, prior: Prior) -> list[float]:
    weights = [
        prior.weights[int(keys_of([t])[0]) // PER_BINADE]
        * math.exp(-epsilon * float(scores_by_hand(rows, rank, t)) / (2 * sensitivity))
        for t in FIVE
    ]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.claim("choose_float.1")
@pytest.mark.claim("choose_float.3")
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)])
def test_exact_log_ratios_on_five_floats(q: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables of up to four records on a lattice of five floats with an uneven prior, both relations, epsilon 1."""
    tables = [rows for n in range(5) for rows in itertools.combinations_with_replacement(FIVE, n)]

    def distributions(sensitivity: Fraction, rank: Callable[[int], Fraction]) -> dict[tuple[float, ...], Any]:
        found = {}
        for rows in tables:
            stairs = Staircase(rows, rank(len(rows)), low=FIVE[0], high=FIVE[-1], prior=UNEVEN)
            distribution = weighed(ChooseFloat(stairs, sensitivity, Choice(1)), monkeypatch)
            found[rows] = np.array([distribution[t] for t in FIVE])
            wanted = by_hand(rows, rank(len(rows)), 1, float(sensitivity), UNEVEN)
            assert found[rows] == pytest.approx(wanted, rel=1e-12)
        return found

    replaced = distributions(Fraction(1), lambda n: Fraction(round(q * n)))
    added = distributions(max(q, 1 - q), lambda n: q * n)
    worst, widest, steepest = [0.0, 0.0], [0.0, 0.0], 0.0
    for rows in tables:
        swaps = {tuple(sorted((*rows[:i], *rows[i + 1 :], t))) for i in range(len(rows)) for t in FIVE}
        pairs = [(0, replaced[rows], replaced[other]) for other in swaps]
        if len(rows) < 4:
            pairs += [(1, added[rows], added[tuple(sorted((*rows, t)))]) for t in FIVE]
        for relation, mine, other in pairs:
            ratios = log_ratios(mine, other)
            worst[relation] = max(worst[relation], np.abs(ratios).max())
            widest[relation] = max(widest[relation], np.ptp(ratios))
            for order in (1.0001, 2, 8, 64):  # epsilon^2 / 8 zCDP
                renyi = np.log((mine**order * other ** (1 - order)).sum()) / (order - 1)
                steepest = max(steepest, renyi / order)
    assert max(worst) <= 1 + 1e-9
    assert max(worst) > 0.5
    assert max(widest) <= 1 + 1e-9
    if q == Fraction(1, 2):
        assert max(widest) == pytest.approx(1)  # bounded range is reached
    assert steepest <= 1 / 8


@pytest.mark.claim("choose_float.1")
def test_a_quarter_of_the_sensitivity_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    distributions = []
    for rows in ((FIVE[0], FIVE[4]), (FIVE[0], FIVE[0])):
        stairs = Staircase(rows, 1, low=FIVE[0], high=FIVE[-1], prior=UNEVEN)
        distribution = weighed(ChooseFloat(stairs, Fraction(1, 4), Choice(1)), monkeypatch)
        distributions.append(np.array([distribution[t] for t in FIVE]))
    assert np.abs(log_ratios(*distributions)).max() > 1.1


@pytest.mark.claim("choose_float.3")
def test_the_distribution_by_sampling() -> None:
    rows, source = (FIVE[0], FIVE[2], FIVE[2], FIVE[4]), SeededSource(6)
    request = ChooseFloat(Staircase(rows, 2, low=FIVE[0], high=FIVE[-1], prior=UNEVEN), 1, Choice(1))
    drawn = Counter(request.answer(source) for _ in range(2500))
    assert chi_square([drawn[t] for t in FIVE], by_hand(rows, Fraction(2), 1, 1, UNEVEN)) > 1e-6


@pytest.mark.claim("choose_float.3")
def test_without_data_the_prior_is_drawn() -> None:
    source = SeededSource(9)
    request = ChooseFloat(Staircase([], 0, low=0.0, high=1.0, prior=uniform()), 1, Choice(1))
    drawn = np.array([request.answer(source) for _ in range(1500)])
    assert chi_square(np.histogram(drawn, bins=20, range=(0, 1))[0], [0.05] * 20) > 1e-6
    request = ChooseFloat(Staircase([], 0), 1, Choice(1))
    drawn = np.array([request.answer(source) for _ in range(1500)])
    assert chi_square([(drawn < 0).sum(), (drawn > 0).sum()], [0.5, 0.5]) > 1e-6
    within = np.array([2.0**-10, 2.0**10])  # the middle of a half-Cauchy with scale 10
    share = sum(scale_free().weights[1013:1033]) / sum(scale_free().weights)
    inside = ((np.abs(drawn) >= within[0]) & (np.abs(drawn) < within[1])).sum()
    assert chi_square([inside, 1500 - inside], [share, 1 - share]) > 1e-6


@pytest.mark.claim("choose_float.3")
def test_a_huge_epsilon_gives_the_order_statistic() -> None:
    rows = [5.0, 1.0, 3.0, 2.0, 4.0]
    answers = {ChooseFloat(Staircase(rows, 3), 1, Choice(1e6)).answer(SeededSource(seed)) for seed in range(20)}
    assert all(3.0 <= answer <= 4.0 for answer in answers)
    assert ChooseFloat(Staircase(rows, Fraction(5, 2)), 1, Choice(1e6)).answer(SeededSource(1)) == 3.0


@pytest.mark.claim("choose_float.3")
@WIDE
@given(
    st.lists(ANY, max_size=12),
    st.fractions(-5, 20),
    st.sampled_from([1e-9, 1e-3, 1.0, 50.0, 1e6]),
    st.sampled_from([scale_free(), uniform()]),
)
def test_any_values_are_answered_within_the_bounds(
    values: list[float], rank: Fraction, epsilon: float, prior: Prior
) -> None:
    answer = ChooseFloat(Staircase(values, rank, prior=prior), 1, Choice(epsilon)).answer(SeededSource(3))
    assert math.isfinite(answer)
    stairs = Staircase(values, rank, low=-1.0, high=2.5, prior=prior)
    assert -1.0 <= ChooseFloat(stairs, 1, Choice(epsilon)).answer(SeededSource(3)) <= 2.5


@pytest.mark.claim("choose_float.3")
@pytest.mark.parametrize("rank", [-(10**18), 10**18, 10**300, Fraction(10**40, 3)])
def test_a_rank_far_outside_is_an_end_and_terminates(rank: Any) -> None:
    """It once asked for as many bits as the rank is far away."""
    near = 0 if rank < 0 else 3
    for rows in ([1.0, 2.0, 3.0], []):
        far = ChooseFloat(Staircase(rows, rank, low=0.0, high=4.0), 1, Choice(1)).answer(SeededSource(2))
        close = ChooseFloat(Staircase(rows, near, low=0.0, high=4.0), 1, Choice(1)).answer(SeededSource(2))
        assert far == close


@pytest.mark.claim("choose_float.3")
@pytest.mark.parametrize("prior", [scale_free(), uniform()])
@pytest.mark.parametrize("value", [0.0, 5e-324, 0.5, 1.0, 1e-300])
def test_the_first_round_decides_wherever_the_data_lie(prior: Prior, value: float) -> None:
    """Data at the lightest floats must not need more bits than others: time would tell."""
    for size in (0, 1, 400, 10_000):
        rounds: list[int] = []

        class Counting(SeededSource):
            def below(self, bound: int, rounds: list[int] = rounds) -> int:
                rounds.append(bound)
                return super().below(bound)

        stairs = Staircase([value] * size, Fraction(size, 2), low=0.0, high=1.0, prior=prior)
        ChooseFloat(stairs, 1, Choice(1)).answer(Counting(1))
        assert len(rounds) == 2  # a segment, a float inside it


@pytest.mark.claim("choose_float.3")
def test_what_is_beyond_the_reach_is_not_cut_off() -> None:
    """All data at 0: the floats above it weigh 2^-277 of the whole, and the last real numbers U belong to them."""
    stairs = Staircase([0.0] * 1000, 500, low=0.0, high=1.0)
    assert len(stairs.segments(250)) == 1  # at first the others stand together
    for uniform_real, above in ((1 - Fraction(1, 2**100), False), (1 - Fraction(1, 2**400), True)):
        source = Script(uniform_real, then=[0])
        assert (ChooseFloat(stairs, 1, Choice(1)).answer(source) > 0) is above
        assert source.calls == (3 if above else 2)


@pytest.mark.claim("choose_float.3")
def test_one_float_is_chosen_if_there_is_but_one() -> None:
    stairs = Staircase([5.0, 7.0], 1, low=1.0, high=1 + Fraction(1, 10**30))  # type: ignore[arg-type]
    assert ChooseFloat(stairs, 1, Choice(1)).answer(Script(Fraction(1, 3), then=[0])) == 1.0


def test_order_and_clamping_of_records_do_not_matter() -> None:
    rows = [3.0, math.nan, -math.inf, 8.0, 2.0, math.inf]
    clean = [3.0, 2.5, 1.0, 4.0, 2.0, 4.0]
    answers = {
        ChooseFloat(Staircase(some, 3, low=1.0, high=4.0, default=2.5), 1, Choice(1)).answer(SeededSource(4))
        for some in (rows, rows[::-1], clean, np.array(clean).reshape(2, 3))
    }
    assert len(answers) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"low": 1.0, "high": 1.0},
        {"low": 2.0, "high": 1.0},
        {"low": -math.inf},
        {"high": math.nan},
        {"default": math.nan},
        {"default": math.inf},
        {"rank": math.nan},
        {"rank": math.inf},
        {"rank": "half"},
    ],
)
def test_refusals(bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Staircase([1.0], **{"rank": 1, **bad})


def test_a_choice_needs_a_sensitivity() -> None:
    for sensitivity in (0, -1, math.nan, math.inf):
        with pytest.raises(BadInput):
            ChooseFloat(Staircase([1.0], 1), sensitivity, Choice(1))


# --- objections ---


@pytest.mark.claim("choose_float.1")
@pytest.mark.claim("choose_float.2")
def test_objections() -> None:
    def ask(rows: list[float], rank: Any = 1, sensitivity: Any = 1, epsilon: float = 1, **more: Any) -> ChooseFloat:
        return ChooseFloat(Staircase(rows, rank, **more), sensitivity, Choice(epsilon))

    mine = ask([0.0, 1.0, 2.0])
    assert mine.objection(ask([0.0, 1e300, 2.0])) is None
    assert mine.objection(ask([math.nan, 1.0, 2.0])) is None
    assert "claimed 1" in str(mine.objection(ask([7.0, 8.0, 2.0])))
    assert "claimed 0.5" in str(ask([0.0, 1.0], sensitivity=0.5).objection(ask([0.0, -9.0], sensitivity=0.5)))
    assert "claimed" in str(mine.objection(ask([0.0, 1.0, 2.0], rank=3)))
    assert "parameters" in str(mine.objection(ask([0.0, 1.0, 2.0], epsilon=2)))
    assert "parameters" in str(mine.objection(ask([0.0, 1.0, 2.0], sensitivity=2)))
    assert "parameters" in str(mine.objection(ask([0.0, 1.0, 2.0], low=-1.0, high=2.0)))
    assert "prior" in str(mine.objection(ask([0.0, 1.0, 2.0], prior=uniform())))
    half = Fraction(1, 2)
    added = ask([0.0, 1.0, 2.0, 2.0], rank=4 * half, sensitivity=half)
    assert ask([0.0, 1.0, 2.0], rank=3 * half, sensitivity=half).objection(added) is None
    less = Fraction(49, 100)
    assert ask([0.0, 1.0, 2.0], 3 * half, less).objection(ask([0.0, 1.0, 2.0, 2.0], 4 * half, less)) is not None
    assert mine.loss == Choice(1)


@pytest.mark.claim("choose_float.3")
def test_short_numbers_weigh_more_and_weights_add_up() -> None:
    prior, generator = short_numbers(), np.random.default_rng(0)
    whole = prior.between(-LARGEST_KEY, LARGEST_KEY)
    for value, nats in ((0.0, 5), (1.0, 6), (5.0, 9), (-40.0, 9), (37.25, 14), (0.1, 42)):
        key = int(keys_of([value])[0])
        weight = prior.between(key, key)
        assert math.log(whole / weight) < nats
        assert [prior.locate(key - 1, prior.between(key - 1, key - 1) + k) for k in (0, weight - 1)] == [key, key]
    for _ in range(20):
        low = int(keys_of([generator.normal() * 10.0 ** generator.integers(-20, 20)])[0])
        high = low + int(generator.integers(2, 1 << 50))
        between = (low + high) // 2
        assert prior.between(low, high) == prior.between(low, between) + prior.between(between + 1, high)
        assert (
            prior.between(low, high) == prior.between(-high, -low) == prior.between_all(*np.array([[low], [high]]))[0]
        )
        offset = int(generator.random() * prior.between(low, high))
        found = prior.locate(low, offset)
        assert 0 <= offset - prior.between(low, found) + prior.between(found, found) < prior.between(found, found)
    weights = [prior.between(key, key) for key in range(-3, 4)]
    assert sum(weights) == prior.between(-3, 3)


@pytest.mark.claim("choose_float.5")
@pytest.mark.parametrize("prior", [None, uniform(), short_numbers()])
def test_what_floats_tell_is_what_exact_weights_tell(prior: Prior | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same bits, of which equally many are used: ties, far and tiny values, few and many records."""
    told: list[bool] = []

    def both(weights: Any, source: Any, bits: int, sure: Any) -> int:
        def watched(digits: int, uniform: int) -> int | None:
            found: int | None = sure(digits, uniform)
            told.append(found is not None)
            return found

        at, ahead = source._at, source._ahead
        state = source._generator.bit_generator.state
        quick, used = pick(weights, source, bits, watched), source._at
        source._at, source._ahead, source._generator.bit_generator.state = at, ahead, state
        assert pick(weights, source, bits) == quick
        assert source._at == used
        return quick

    monkeypatch.setattr(floats, "pick", both)
    for seed in range(120):
        g = np.random.default_rng(seed)
        rows = g.normal(g.choice([0.0, 1e9]), g.choice([1.0, 1e-9]), size=int(g.choice([0, 3, 300, 4000])))
        rows = np.round(rows, 1) if seed % 3 == 0 else rows
        low, high = (-MAX, MAX) if prior is not uniform() else (-10.0, 1e10)
        stairs = Staircase(rows, Fraction(len(rows), 2), low=low, high=high, prior=prior)
        ChooseFloat(stairs, 1, Choice(Fraction(int(g.choice([1, 10, 200])), 100))).answer(SeededSource(seed))
    assert sum(told) > 40


@pytest.mark.claim("choose_float.5")
@pytest.mark.parametrize("off", [Fraction(0), Fraction(1, 2**27), Fraction(1, 2**31), Fraction(-1, 2**31)])
def test_a_number_near_the_end_of_a_segment_is_left_to_the_exact_weights(off: Fraction) -> None:
    """Two floats of equal weights: half of all numbers, more or less a little, is as exact weights have it."""
    stairs = Staircase([], 0, low=1.0, high=math.nextafter(1.0, 2))
    chosen = ChooseFloat(stairs, 1, Choice(1))
    assert chosen.answer(Script(Fraction(1, 3), then=[0])) == 1.0
    two = Staircase([1.0], Fraction(1, 2), low=1.0, high=math.nextafter(1.0, 2))  # scores 0 and 1/2
    edge = Fraction(1 / (1 + math.exp(-0.25)))
    found = ChooseFloat(two, 1, Choice(1)).answer(Script(edge + off, then=[0]))
    if off:
        assert (found > 1.0) is (off > 0)


@pytest.mark.parametrize("rank", [50, 50.25, 1e-300, 5e-324])
@pytest.mark.parametrize("epsilon", [1e-300, 1.0, 1e7, 1e300])
def test_ranks_and_costs_beyond_floats_raise_nothing(rank: float, epsilon: float) -> None:
    """Not even where numpy is told to raise: the scores depend on the data."""
    for prior in (None, short_numbers(), uniform()):
        stairs = Staircase(np.arange(100.0) * 1e3, rank, prior=prior)
        with np.errstate(all="raise"):
            found = ChooseFloat(stairs, 1, Choice(epsilon)).answer(SeededSource(1))
        assert math.isfinite(found)


@pytest.mark.claim("choose_float.3")
def test_weights_of_short_numbers_are_counted_exactly() -> None:
    """In two halves as in Python's integers, and as they are defined."""
    prior, g = short_numbers(), np.random.default_rng(0)
    top = LARGEST_KEY
    keys = np.concatenate([
        [0, 1, -1, 2, PER_BINADE, PER_BINADE - 1, -PER_BINADE, 1 - PER_BINADE, top, top + 1, -top],
        g.integers(-top, top, 300),
        g.integers(-2046, 2046, 100) * PER_BINADE + g.integers(-2, 3, 100),
        keys_of(np.round(g.normal(0, 100, 100), 1)),
    ])  # fmt: skip

    def defined(key: int) -> int:
        mirrored = 1 - key if key < 0 else key
        binade, rest = divmod(mirrored, PER_BINADE)
        weights = [*prior.weights, 0]
        zero = sum(weights) * PER_BINADE // 2
        shares = [PER_BINADE // (b * (b + 1) << (b - 1)) for b in range(1, 31)]
        full = sum(share * (PER_BINADE >> (53 - b)) for b, share in enumerate(shares, 1))
        begun = sum(share * -(-rest >> (53 - b)) for b, share in enumerate(shares, 1)) if binade else 0
        plain = sum(weights[:binade]) * PER_BINADE + rest * weights[binade]
        short = sum(weights[1:binade]) * full + begun * weights[binade] + (zero if mirrored else 0)
        return weights[0] + zero - plain - short if key < 0 else plain + short

    assert prior.up_to(keys).tolist() == [defined(key) for key in keys.tolist()]
    low = np.sort(keys)
    wanted = prior.up_to(low[1:]) - prior.up_to(low[:-1])
    assert prior.between_all(low[:-1], low[1:] - 1).tolist() == wanted.tolist()


def test_weights_that_could_wrap_around_are_refused() -> None:
    with pytest.raises(BadInput, match="2\\^25"):
        ShortPrior((2**25,) * BINADES)
