"""The balance of a private number of signs: exact tails, exact levels, sensitivity."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from discreet import audit, paired_test
from discreet.audit.replay import drawn as drawn_by
from discreet.audit.replay import exceeds
from discreet.audit.worlds import Pair, neighbours_of
from discreet.hypotheses import private_sizes, sign_balance, signed_tests
from discreet.hypotheses.null_distributions import noise_beyond
from discreet.hypotheses.sign_balance import COIN, Balance, beyond, noisy_balance, suits
from discreet.hypotheses.signed_tests import SymmetryTest
from discreet.noise.distributions import laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

ADD = Neighbours.ADD_OR_REMOVE
VALUES = (0.0, 1.0, -2.0, np.inf, "a", np.nan)
SIZES = (0, 1, 2, 5, 8, 12, 20, 30)


def seen_at(number: int, balance: int, epsilon: Fraction) -> Balance:
    scales = laplace_scale(1, epsilon * sign_balance.NUMBER), laplace_scale(1, epsilon * (1 - sign_balance.NUMBER))
    return Balance(number, balance, scales, -int(-7 // epsilon))


@pytest.mark.claim("sign_balance.1")
@pytest.mark.parametrize("rows", [(), (1.0,), (0.0, 1.0), (2.0, -2.0, 0.0, 2.0), (1.0, -2.0, 0.0) * 6])
def test_the_balance_passes_the_audit(rows: tuple[float, ...]) -> None:
    test = SymmetryTest(0.9, neighbours=ADD, method="signs")
    audit.check(test, neighbours_of(rows, VALUES, ADD), hostile_values=len(rows) == 2).require()
    drawn = drawn_by(test, rows, seed=1)
    assert exceeds(drawn, test.loss) is None


@pytest.mark.claim("sign_balance.1")
def test_all_of_epsilon_is_spent_and_no_more() -> None:
    scales = noisy_balance(30, 60, Fraction(1, 2), Seeded(1)).scales
    assert sum(1 / scale for scale in scales) == pytest.approx(0.5, rel=1e-6)
    assert [suits(one) for one in (0.001, 0.002, 0.5, 1, 1.01)] == [False, True, True, True, False]


def test_what_is_released_is_a_number_and_a_balance() -> None:
    for ups, balance in ((3000, 0), (5000, 4000), (0, -6000)):
        seen = noisy_balance(ups, 6000, 1.0, Seeded(1))
        assert abs(seen.number - 6000) < 200
        assert abs(seen.balance - balance) < 40
        assert seen.share == pytest.approx(ups / 6000, abs=0.03)


@pytest.mark.claim("sign_balance.1")
@pytest.mark.parametrize("mutant", ["doubled", "two people", "coins of places"])
def test_signs_that_count_twice_are_found(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    """Planted mutants."""
    if mutant == "coins of places":
        right = private_sizes.secret_words
        monkeypatch.setattr(signed_tests, "secret_words", lambda values, key: right(np.arange(len(values)) * 1.0, key))
    else:
        twice = (2, 2) if mutant == "two people" else (2, 1)

        def wrong(ups: int, signs: int, *more: object) -> Balance:
            return noisy_balance(twice[0] * ups, twice[1] * signs, *more)  # type: ignore[arg-type]

        monkeypatch.setattr(signed_tests, "noisy_balance", wrong)
    tables = ([0.0, np.nan] * 6, [1.0, -1.0], [0.0] * 9, [1.0])
    pairs = [Pair([new, *rows], rows) for rows in tables for new in (0.0, 3.0)]
    assert not audit.check(SymmetryTest(0.9, neighbours=ADD, method="signs"), pairs, hostile_values=False).passed


@pytest.mark.claim("sign_balance.2")
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_tails_are_those_of_all_signs_coins_and_noise(epsilon: Fraction) -> None:
    scale = laplace_scale(1, epsilon)
    for size in range(6):
        sums = [sum(signs) + coin for signs in product((-1, 1), repeat=size) for coin in COIN]
        tails = beyond(size, scale)
        for k in (1, 2, 3, 7, 12):
            assert tails[k] == pytest.approx(2 * np.mean([noise_beyond(k - one, scale) for one in sums]), abs=1e-13)
        assert tails[0] == 1.0


@pytest.mark.claim("sign_balance.2")
@pytest.mark.parametrize("epsilon", [0.02, 0.3, 0.85, 3.0])
def test_one_sign_more_makes_every_tail_heavier(epsilon: float) -> None:
    scale = laplace_scale(1, epsilon)
    for size in (0, 1, 2, 3, 10, 31, 200):
        one, more = beyond(size, scale), beyond(size + 1, scale)
        shared = min(len(one), len(more))
        assert (more[:shared] - one[:shared] >= -1e-13).all()
        assert (np.diff(one) <= 1e-15).all()


@pytest.mark.claim("sign_balance.2")
@pytest.mark.parametrize("number", [7, 20, 60, 1000])
def test_every_number_that_is_not_ruled_out_is_bounded(number: int) -> None:
    """The intervals lie side by side, from 0 or as far below the noisy number as above it; each bounds what is in it.
    The chance of a noisy number so far away, among answers, is at most MISS."""
    seen = seen_at(number, 9, Fraction(1))
    pieces = list(seen._intervals())
    assert all(before[1] + 1 == after[0] for before, after in pairwise(pieces))
    reach, scale = pieces[-1][1] - number, seen.scales[0]
    assert pieces[0][0] == (number - reach if number - reach >= seen.least else 0)
    for size in (*range(pieces[0][0]), pieces[-1][1] + 1, pieces[-1][1] + 40):
        away = 2 * noise_beyond(abs(number - size), scale)
        assert away / noise_beyond(seen.least - size, scale) <= sign_balance.MISS
    first, last = next(piece for piece in pieces if piece[1] > piece[0] + 1 or piece is pieces[-1])
    for size in range(first, last + 1):
        exact = seen._tail(size, size)
        assert seen._tail(first, last, strict=True) <= exact <= seen._tail(last, first)


@pytest.mark.claim("sign_balance.2")
def test_the_p_value_is_that_of_the_worst_number() -> None:
    """Of every number that is not ruled out, one by one."""
    for balance in (80, -95):
        seen = seen_at(1000, balance, Fraction(1, 2))
        (first, _), *_, (_, last) = seen._intervals()
        each = [(seen._tail(size, size), seen._tail(size, size, strict=True)) for size in range(first, last + 1)]
        worst, least = max(one for one, _ in each), min(one for _, one in each)
        assert worst + sign_balance.MISS <= seen.p_value("two-sided") <= 1.1 * (worst + sign_balance.MISS)
        away = seen.p_value("less" if balance > 0 else "greater")
        assert 1 - least / 2 + sign_balance.MISS <= away or away == 1.0
        assert away > 0.9


@pytest.mark.claim("sign_balance.2")
def test_the_level_holds_exactly_for_every_number() -> None:
    """No runs: for each noisy number the least balance that is rejected, then the chance of that or more. At most
    the level for every number of signs, and about the level where there are many."""
    epsilon, level = Fraction(9, 10), 0.05
    least, scale = seen_at(0, 0, epsilon).least, seen_at(0, 0, epsilon).scales[0]
    last = max(SIZES) + 60
    critical, reached = {}, 8

    def rejected(number: int, balance: int) -> bool:
        return seen_at(number, balance, epsilon).p_value("two-sided") <= level

    for number in range(least, last):
        while not rejected(number, reached):
            reached += 1
        while rejected(number, reached - 1):
            reached -= 1
        critical[number] = reached
    for size in SIZES:
        tails = np.append(beyond(size, seen_at(0, 0, epsilon).scales[1]), np.zeros(500))
        chances = {n: float(noise_beyond(n - size, scale) - noise_beyond(n + 1 - size, scale)) for n in critical}
        answered = float(noise_beyond(least - size, scale))
        found = sum(chance * tails[critical[number]] for number, chance in chances.items()) / answered
        assert (0.9 * level if size >= 20 else 0.0) <= found <= level


@pytest.mark.claim("sign_balance.2")
def test_sides_and_ties() -> None:
    for balance in (-30, -5, 0, 5, 30):
        seen, mirrored = (seen_at(100, sign * balance, Fraction(1, 2)) for sign in (1, -1))
        up, down, both = (seen.p_value(side) for side in ("greater", "less", "two-sided"))
        assert (mirrored.p_value("less"), mirrored.p_value("greater")) == (up, down)
        assert up + down >= 1
        assert both == pytest.approx(min(1.0, 2 * min(up, down)))
        assert (up < down) == (balance > 0) or balance == 0
    even = seen_at(100, 0, Fraction(1, 2))
    other = beyond(100, even.scales[1])[1]  # P(Z != 0)
    assert even._tail(100, 100) == 1.0
    assert even._tail(100, 100, strict=True) == pytest.approx(other, abs=1e-9)
    assert min(even.p_value("greater"), even.p_value("less")) >= 1 - other / 2


@pytest.mark.claim("sign_balance.2")
def test_refusals_and_few_signs() -> None:
    few = paired_test([1.0, -2.0], epsilon=0.9, method="signs", rng=Seeded(3))
    assert few.refusal is None or "too few differences" in few.refusal
    found = [SymmetryTest(0.5, neighbours=ADD, method="signs").release([1.0] * 3, Seeded(run)) for run in range(40)]
    assert 10 < sum(one.refusal is not None for one in found) < 40


@pytest.mark.study
@pytest.mark.claim("sign_balance.2")
def test_the_level_and_the_power_of_signs_that_few_can_see() -> None:
    """1,000 runs each: level .05 past the bound with a chance below 1e-6; a shift of three standard errors in half."""
    people = np.random.default_rng(5)
    for shift, low, high in ((0.0, 0, stats.binom.isf(1e-6, 1000, 0.05)), (3 / 1000**0.5, 480, 620)):
        found = 0
        for run in range(1000):
            rows = people.normal(shift, 1, 1000)
            release = SymmetryTest(0.1, neighbours=ADD, method="signs").release(rows, Seeded(run))
            found += release.value.decide(0.05)
        assert low <= found <= high
