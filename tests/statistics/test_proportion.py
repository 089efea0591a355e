"""The ladder for proportion and its test."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit, proportion, proportion_test
from discreet.audit.distinguish import proportion_bounds
from discreet.errors import BadInput, Refused
from discreet.hypotheses.result import ProportionTest
from discreet.noise.distributions import laplace, pivot_tail, tulap_cdf, two_laplace_tail
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.proportion import (
    ROUNDED,
    KnownSize,
    PrivateSize,
    Proportion,
    lower_tail,
    rest,
    upper_tail,
)

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


@pytest.mark.claim("proportion.1")
def test_every_small_pair_replace() -> None:
    audit.check(Proportion(1.0), audit.truths(REPLACE, 4)).require()
    audit.check(ProportionTest(0.5, 1.0), audit.truths(REPLACE, 3)).require()


@pytest.mark.claim("proportion.2")
def test_every_small_pair_add_or_remove() -> None:
    audit.check(Proportion(1.0, ADD), audit.truths(ADD, 3)).require()


@pytest.mark.study
@pytest.mark.claim("proportion.1")
@pytest.mark.claim("proportion.2")
@pytest.mark.parametrize(("relation", "other"), [(REPLACE, [1] * 9 + [0]), (ADD, [1] * 9)])
def test_outputs_do_not_refute_epsilon(relation: Neighbours, other: list[int]) -> None:
    told = audit.distinguish(Proportion(1.0, relation), [1] * 10, other, runs=6000, seed=5)
    assert not told.violated
    assert told.epsilon > 0.5


@pytest.mark.claim("proportion.3")
def test_canonical_noise_has_its_defining_property() -> None:
    x = np.linspace(-8, 8, 3201)
    f, shifted = tulap_cdf(x, 0.8), tulap_cdf(x - 1, 0.8)
    trade = np.maximum.reduce([np.zeros_like(f), 1 - math.exp(0.8) * (1 - f), math.exp(-0.8) * f])
    assert np.allclose(shifted, trade, atol=1e-12)  # F(F^-1(p) - 1) is the trade-off curve of epsilon
    assert np.allclose(f + tulap_cdf(-x, 0.8), 1)


@pytest.mark.claim("proportion.3")
def test_tail_against_the_definition() -> None:
    from scipy.stats import binom

    for size, p, noisy, epsilon in [(7, 0.3, 2.2, 1.0), (50, 0.9, 47.3, 0.3), (5, 0.0, 0.4, 2.0), (5, 1.0, 4.9, 2.0)]:
        xs = np.arange(size + 1, dtype=np.float64)
        direct = float(binom.pmf(xs, size, p) @ tulap_cdf(xs - float(noisy), epsilon))
        assert upper_tail(size, p, noisy, epsilon) == pytest.approx(direct, abs=1e-12)
    wide = upper_tail(10**6, 0.5, 500_100.3, 1e-4)  # in blocks
    exact = float(
        binom.pmf(np.arange(10**6 + 1), 10**6, 0.5)
        @ tulap_cdf(np.arange(10**6 + 1, dtype=np.float64) - 500_100.3, 1e-4)
    )
    assert exact <= wide + 1e-12
    assert wide == pytest.approx(exact, rel=0.005)


@pytest.mark.claim("proportion.3")
def test_coverage_is_the_stated_one_without_simulating_people() -> None:
    """P(the interval holds p), by exact enumeration of the count and integration over the noise."""
    from scipy.stats import binom

    size, p, epsilon, confidence = 12, 0.3, 1.0, 0.9
    xs = np.arange(size + 1, dtype=np.float64)
    # the interval holds p iff the upper tail at p is within [miss, 1 - miss]; its distribution is uniform iff F is
    # continuous
    grid = np.linspace(-30, 42, 14401)
    tails = np.array([float(binom.pmf(xs, size, p) @ tulap_cdf(xs - z, epsilon)) for z in grid])
    z_high, z_low = np.interp([-0.05, -0.95], -tails, grid)
    held = sum(
        binom.pmf(x, size, p)
        * (tulap_cdf(np.array([z_high - x]), epsilon) - tulap_cdf(np.array([z_low - x]), epsilon))[0]
        for x in xs
    )
    assert abs(held) == pytest.approx(confidence, abs=2e-3)
    for z in (0.4, 3.3, 9.7):
        interval = KnownSize(z, size, epsilon).interval(confidence)
        inside = interval.low <= p <= interval.high
        assert inside == (0.05 <= upper_tail(size, p, z, epsilon) <= 0.95)


@pytest.mark.claim("proportion.3")
@pytest.mark.claim("proportion.4")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("p", [0.03, 0.5, 0.97])
def test_simulated_coverage(relation: Neighbours, p: float) -> None:
    people = np.random.default_rng(11)

    def draw(i: int) -> tuple[object, float]:
        return Proportion(0.5, relation).release(people.random(200) < p, Seeded(i)), p

    seen = audit.coverage(draw, runs=300)  # type: ignore[arg-type]
    assert seen.holds, str(seen)


@pytest.mark.claim("proportion.3")
@pytest.mark.claim("proportion.4")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_p_values_are_super_uniform_under_the_null(relation: Neighbours) -> None:
    people = np.random.default_rng(7)
    mechanism = ProportionTest(0.2, 1.0, neighbours=relation)
    p_values = [mechanism.release(people.random(80) < 0.2, Seeded(i)).value.p_value for i in range(600)]
    for level in (0.05, 0.2, 0.5):
        low, _ = proportion_bounds(sum(p <= level for p in p_values), 600, 1e-7)
        assert low <= level


def test_power_and_decision() -> None:
    value = proportion_test([1] * 900 + [0] * 100, 0.5, epsilon=1.0).value
    assert value.decide(0.001)
    assert proportion_test([1] * 900 + [0] * 100, 0.5, epsilon=1.0, alternative="less").value.p_value > 0.999
    with pytest.raises(BadInput, match="level"):
        value.decide(2)
    with pytest.raises(BadInput, match="alternative"):
        proportion_test([1], 0.5, epsilon=1.0, alternative="both")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="share to test"):
        proportion_test([1], 1.5, epsilon=1.0)


@pytest.mark.claim("proportion.4")
@pytest.mark.parametrize("scale", [0.3, 2.0, 40.0])
def test_discrete_noise_and_the_rests_make_laplace_noise(scale: float) -> None:
    from scipy.stats import kstest

    rng = Seeded(3)
    whole = laplace(np.random.default_rng(1), (20_000,), Fraction(scale))
    drawn = [int(k) + rest(rng, 1 / scale) for k in whole]
    assert kstest(drawn, "laplace", (0, scale)).pvalue > 1e-6


def test_the_tail_of_two_noises() -> None:
    x, step = np.linspace(-60, 60, 12_001, retstep=True)
    for one, other in ((2.0, 1.0), (1.5, 1.5), (3.0, 0.2)):
        density = np.convolve(np.exp(-np.abs(x) / one), np.exp(-np.abs(x) / other), "same")
        above = density[::-1].cumsum()[::-1] / density.sum()
        seen = two_laplace_tail(x[4000:8000:400], one, other)
        assert np.allclose(seen, above[4000:8000:400], atol=3 * step)


@pytest.mark.claim("proportion.4")
def test_the_tail_of_the_pivot_against_its_definition() -> None:
    """Sums over all X, without blocks or ends; relative errors are well below the part that is kept for them."""
    from scipy.stats import binom

    numbers = np.random.default_rng(8)
    for _ in range(200):
        size, scale = int(10 ** numbers.uniform(0, 5.3)), float(10 ** numbers.uniform(-1, 3))
        p = float(numbers.choice([numbers.random(), 10 ** numbers.uniform(-5, 0), 0.5]))
        x = np.arange(size + 1.0)
        seen = float(numbers.normal() * (2 * math.sqrt(size * p * (1 - p)) + 2 * scale))
        exact = float(binom.pmf(x, size, p) @ two_laplace_tail(seen - (x - size * p), (1 - p) * scale, p * scale))
        (tail,) = pivot_tail(np.array([float(size)]), p, seen, scale)
        assert tail == pytest.approx(exact, rel=ROUNDED / 4, abs=1e-7)


@pytest.mark.claim("proportion.4")
@pytest.mark.parametrize("seen", [PrivateSize(30.2, 150.1, 0.1), PrivateSize(900.0, 3100.0, 0.02)])
def test_sizes_that_are_not_tried_change_nothing(seen: PrivateSize) -> None:
    sizes = seen._sizes(1e-3)
    everyone = np.arange(sizes[0], sizes[-1] + 1)
    assert len(everyone) > len(sizes) or np.diff(sizes).max() == 1
    for p in (0.02, 0.1, 0.2, 0.35):
        assert seen.tail(everyone, p) <= seen.tail(sizes, p) * (1 + ROUNDED / 2)


@pytest.mark.claim("proportion.4")
@pytest.mark.parametrize(("size", "p"), [(40, 0.05), (60, 0.5), (80, 0.02), (120, 0.3)])
def test_answers_that_a_lucky_count_lets_through_are_covered_too(size: int, p: float) -> None:
    people, held, answered = np.random.default_rng(size), 0, 0
    for seed in range(400):
        release = Proportion(0.1, ADD).release(people.random(size) < p, Seeded(seed))
        if release.refusal is None:
            ends = release.interval()
            answered, held = answered + 1, held + (ends.low <= p <= ends.high)
    assert proportion_bounds(held, answered, 1e-7)[1] >= 0.95


def test_texts_that_are_neither_yes_nor_no_are_refused() -> None:
    """By the noisy number of entries that are one of them; answered by mistake once in 490 times."""
    for relation in ("replace", "add_or_remove"):
        for texts in (["a", "b"], ["a", "b"] * 500):
            release = proportion(texts, epsilon=1.0, neighbours=relation, rng=Seeded(1))
            assert release.refusal is not None
            assert "too few entries are yes or no" in release.refusal
            assert "equals=" in release.refusal
    assert proportion(["a", "b"] * 500, epsilon=1.0, equals="a", rng=Seeded(1)).interval().low < 0.5
    test = proportion_test(["a", "b"] * 500, 0.5, epsilon=1.0, rng=Seeded(1))
    assert test.refusal is not None
    with pytest.raises(Refused, match="too few"):
        Proportion(0.1, ADD).check(119)
    Proportion(0.1, ADD).check(120)


def test_values_and_words() -> None:
    release = proportion([1] * 50 + [0] * 50, epsilon=1.0, unit="patient", rng=Seeded(1))
    assert 0 <= release.value <= 1
    assert "confidence interval" in str(release)
    assert "patient" in str(release)
    assert not PrivateSize(-3.2, -1.0, 1.0).enough
    for yes in (-3.2, -40.0, 0.4, 9.0):
        private = PrivateSize(yes, 10.0 - yes, 1.0)
        interval = private.interval(0.95)
        assert 0 <= interval.low <= private.share <= interval.high <= 1


@pytest.mark.claim("proportion.3")
def test_both_tails_against_the_definition_at_random() -> None:
    """Never below the true tail, and above it by less than one part in 200, however small it is."""
    from scipy.stats import binom

    numbers = np.random.default_rng(5)
    for _ in range(300):
        size, epsilon = int(10 ** numbers.uniform(0, 4)), float(10 ** numbers.uniform(-4, 2))
        p = float(numbers.choice([numbers.random(), 10 ** numbers.uniform(-6, 0), 0.0, 1.0]))
        z = float(size * p + numbers.normal() * (3 * math.sqrt(size * p * (1 - p)) + 2 / epsilon))
        xs = np.arange(size + 1.0)
        mass = binom.pmf(xs, size, p)
        for tail, true in ((upper_tail, tulap_cdf(xs - z, epsilon)), (lower_tail, tulap_cdf(z - xs, epsilon))):
            expected = float(mass @ true)
            assert expected * (1 - 1e-9) <= tail(size, p, z, epsilon) <= expected * 1.005 + 1e-18


@pytest.mark.claim("proportion.3")
def test_both_ends_of_the_interval_err_on_the_safe_side() -> None:
    for known in (KnownSize(400_000.2, 10**6, 1e-3), KnownSize(4.2, 10, 2.0), KnownSize(4e9, 10**10, 1.0)):
        for confidence in (1e-6, 0.95, 1 - 1e-14):
            interval, miss = known.interval(confidence), (1 - confidence) / 2
            right = upper_tail(known.size, interval.low, known.noisy, known.epsilon)
            left = lower_tail(known.size, interval.high, known.noisy, known.epsilon)
            assert interval.low == 0 or right <= miss * (1 + 1e-3)
            assert interval.high == 1 or left <= miss * (1 + 1e-3)
            assert interval.low <= interval.high
    assert 0 < KnownSize(50.1, 10**6, 1.0).p_value(0.5) < 1e-15  # small, and never 0 by rounding
    assert PrivateSize(4e9, 6e9, 1e-8).interval(0.95).low >= 0  # sizes beyond 2^31


def test_the_distribution_is_that_of_the_noise_that_is_drawn() -> None:
    spread = Proportion(1e6).release([1, 0], Seeded(1)).spread
    assert isinstance(spread, KnownSize)
    assert spread.epsilon == 512  # no narrower noise is drawn


def test_a_test_is_checked_before_any_data() -> None:
    for arguments in ({"epsilon": 0}, {"epsilon": 1, "alternative": "both"}, {"null": -1, "epsilon": 1}):
        with pytest.raises(BadInput):
            ProportionTest(**({"null": 0.5} | arguments))
    named = ProportionTest(Fraction(1, 3), 1.0).release([1, 0, 0], Seeded(1)).name  # type: ignore[arg-type]
    assert "0.333333" in named


@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_a_test_tells_the_share_with_the_interval_of_the_same_count(relation: str) -> None:
    asked: dict[str, Any] = {"epsilon": 1.0, "neighbours": relation, "missing": "keep"}
    entries = [k % 3 == 0 for k in range(1500)]
    tested = proportion_test(entries, 0.3, **asked, rng=Seeded(1))
    share = proportion(entries, **asked, rng=Seeded(1)).shown().numbers[0]
    value, bar = share.told
    assert f"share: {value}\n  95% confidence interval for the population's share: {bar}" in str(tested)
