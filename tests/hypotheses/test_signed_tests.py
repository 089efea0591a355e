"""Signs and signed ranks: sensitivity, exact laws, hostile values."""

from itertools import product

import numpy as np
import pytest

from discreet import audit, paired_test
from discreet.audit.worlds import HOSTILE, THORNS, Pair, neighbours_of
from discreet.errors import BadInput
from discreet.hypotheses.null_distributions import noise_beyond
from discreet.hypotheses.signed_tests import (
    SignedRankTest,
    SignTest,
    coins,
    positive_ranks,
    signed_ranks_law,
    signs,
    signs_law,
)
from discreet.noise.randomness import Seeded
from discreet.privacy.neighbours import Neighbours

REPLACE = Neighbours.REPLACE
VALUES = (0.0, 1.0, -2.0, np.inf, "a", np.nan)
WORLD = [pair for rows in ((0.0, 1.0), (2.0, -2.0, 0.0)) for pair in neighbours_of(rows, VALUES, REPLACE)]


@pytest.mark.claim("signed_tests.1")
def test_the_sign_test_passes_the_audit() -> None:
    audit.check(SignTest(20.0), WORLD, hostile_values=False).require()


@pytest.mark.claim("signed_tests.2")
def test_signed_ranks_pass_the_audit() -> None:
    audit.check(SignedRankTest(40.0), WORLD, hostile_values=False).require()


@pytest.mark.claim("signed_tests.2")
def test_one_row_moves_signed_ranks_by_n_and_no_more() -> None:
    """Every table of 4 values from 5, every replacement, two orders of places, two draws of coins: 4 is reached."""
    reached, values = 0, (0.0, 1.0, -1.0, 2.0, -2.0)
    places = [np.array(order) for order in ((0, 1, 2, 3), (3, 1, 0, 2))]
    for table in product(values, repeat=4):
        for new, order, coin in product(values, places, (0, 10)):
            drawn = np.array([bool(coin >> i & 1) for i in range(4)])
            moved = np.array([new, *table[1:]])
            step = abs(positive_ranks(np.array(table), drawn, order) - positive_ranks(moved, drawn, order))
            reached = max(reached, step)
    assert reached == 4


@pytest.mark.claim("signed_tests.3")
@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_the_laws_are_those_of_all_signs(size: int) -> None:
    coins_of_all = np.array(list(product((0, 1), repeat=size)))
    for law, sums in (
        (signed_ranks_law(size, 0.7), coins_of_all @ np.arange(1, size + 1)),
        (signs_law(size, 0.7), coins_of_all.sum(axis=1)),
    ):
        for t in range(-5, size * (size + 1) // 2 + 6):
            assert law.upper(t) == pytest.approx(noise_beyond(t - sums, law.scale).mean(), abs=1e-11)


@pytest.mark.claim("signed_tests.3")
@pytest.mark.parametrize("table", [(0.0, 0.0, 0.0), (1.0, -1.0, 1.0), (1.0, 2.0, 2.0), (np.nan, 0.0, 3.0)])
def test_ties_and_zeros_leave_the_null_law_alone(table: tuple[float, ...]) -> None:
    """All signs of the differences and all coins and places equally likely: the law of 0 to 6 of three ranks."""
    seen = np.zeros(7)
    for signing, drawn in product(product((1, -1), repeat=3), product((False, True), repeat=3)):
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            values = np.array(table) * np.array(signing)
            seen[positive_ranks(values, np.array(drawn), np.array(order))] += 1
    assert (seen / seen.sum() == np.array([1, 1, 1, 2, 1, 1, 1]) / 8).all()


@pytest.mark.claim("signed_tests.3")
def test_signs_of_zeros_are_their_coins() -> None:
    drawn = coins(1000, Seeded(1))
    assert 400 < drawn.sum() < 600  # a fair coin is outside with a chance below 1e-9
    assert (signs(np.zeros(1000), drawn) == drawn).all()
    assert signs(np.array([1.0, -1.0, np.inf]), drawn[:3]).tolist() == [True, False, True]


def test_hostile_values_raise_nothing() -> None:
    for test in (SignTest(1.0), SignedRankTest(1.0)):
        assert 0 < test.release([*HOSTILE, *THORNS, *HOSTILE], Seeded(1)).value.p_value <= 1


def test_decisions_and_directions() -> None:
    up = [k % 7 - 1.0 for k in range(400)]
    for method in ("ranks", "signs"):
        ask = {"epsilon": 1.0, "method": method, "rng": Seeded(1)}
        assert paired_test(up, **ask, alternative="greater").value.decide(1e-6)  # type: ignore[arg-type]
        assert paired_test(up, **ask, alternative="less").value.p_value > 0.99  # type: ignore[arg-type]
        assert paired_test(up, up, **ask).value.p_value > 1e-6  # type: ignore[arg-type]


def test_refusals_are_by_public_numbers() -> None:
    with pytest.raises(BadInput, match="power of"):
        paired_test([1.0] * 5, epsilon=0.1)
    with pytest.raises(BadInput, match="number of people"):
        SignTest(1.0, neighbours=Neighbours.ADD_OR_REMOVE)
    with pytest.raises(BadInput, match="alternative"):
        SignedRankTest(1.0, "both")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="lengths"):
        paired_test([1.0], [1.0, 2.0], epsilon=1.0)
    with pytest.raises(BadInput, match="method"):
        paired_test([1.0], epsilon=1.0, method="t")  # type: ignore[arg-type]


def test_a_wrong_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mutant: ranks of which one row is worth two."""
    monkeypatch.setattr("discreet.hypotheses.signed_tests.positive_ranks", lambda *a: 2 * positive_ranks(*a))
    assert not audit.check(SignedRankTest(40.0), [Pair([5.0, 1.0, 2.0], [-5.0, 1.0, 2.0])], hostile_values=False).passed
