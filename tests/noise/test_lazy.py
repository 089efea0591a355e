from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.noise.distribution_checks import Script, enumerate_distribution, uniform

from discreet.noise.choose import Bounds, exp_bounds, exp_ladder, pick

WIDE = settings(derandomize=True, database=None, deadline=None, max_examples=200)
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
@WIDE
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
    for place, (s, (low, high)) in enumerate(zip(wanted, exp_ladder(base, wanted, 192), strict=True), start=1):
        assert 0 <= low <= true_exp(base * s, 192) <= high
        assert high - low == 5 * place


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
@WIDE
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
