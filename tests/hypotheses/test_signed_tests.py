"""Signs and signed ranks: sensitivity, exact distributions, hostile values."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from discreet import audit, paired_test
from discreet.audit.replay import drawn as drawn_by
from discreet.audit.replay import exceeds
from discreet.audit.worlds import HOSTILE, THORNS, Pair, neighbours_of
from discreet.errors import BadInput, Refused
from discreet.hypotheses import private_sizes, signed_tests
from discreet.hypotheses.null_distributions import noise_beyond
from discreet.hypotheses.signed_tests import (
    Method,
    SymmetryTest,
    coins,
    positive_ranks,
    signed_ranks_distribution,
    signs,
    signs_distribution,
)
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
VALUES = (0.0, 1.0, -2.0, np.inf, "a", np.nan)
WORLD = [pair for rows in ((0.0, 1.0), (2.0, -2.0, 0.0)) for pair in neighbours_of(rows, VALUES, REPLACE)]


@pytest.mark.claim("signed_tests.1")
def test_the_sign_test_passes_the_audit() -> None:
    audit.check(SymmetryTest(20.0, method="signs"), WORLD, hostile_values=False).require()


@pytest.mark.claim("signed_tests.2")
def test_signed_ranks_pass_the_audit() -> None:
    audit.check(SymmetryTest(40.0, method="ranks"), WORLD, hostile_values=False).require()


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
def test_the_distributions_are_those_of_all_signs(size: int) -> None:
    coins_of_all = np.array(list(product((0, 1), repeat=size)))
    for distribution, sums in (
        (signed_ranks_distribution(size, 0.7), coins_of_all @ np.arange(1, size + 1)),
        (signs_distribution(size, 0.7), coins_of_all.sum(axis=1)),
    ):
        for t in range(-5, size * (size + 1) // 2 + 6):
            assert distribution.upper(t) == pytest.approx(noise_beyond(t - sums, distribution.scale).mean(), abs=1e-11)


@pytest.mark.claim("signed_tests.3")
@pytest.mark.parametrize("table", [(0.0, 0.0, 0.0), (1.0, -1.0, 1.0), (1.0, 2.0, 2.0), (np.nan, 0.0, 3.0)])
def test_ties_and_zeros_leave_the_null_distribution_alone(table: tuple[float, ...]) -> None:
    """All signs of the differences and all coins and places equally likely: the sums 0 to 6 of three ranks."""
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


@pytest.mark.claim("signed_tests.4")
@pytest.mark.claim("private_sizes.1")
@pytest.mark.parametrize("kind", ["signs", "ranks"])
def test_a_private_number_of_rows_passes_the_audit(kind: Method) -> None:
    for rows in ((), (1.0,), (0.0, 1.0), (2.0, -2.0, 0.0, 2.0)):
        test = SymmetryTest(60.0, neighbours=ADD, method=kind)
        audit.check(test, neighbours_of(rows, VALUES, ADD), hostile_values=len(rows) == 2).require()


@pytest.mark.claim("signed_tests.4")
@pytest.mark.claim("private_sizes.2")
@pytest.mark.parametrize("kind", ["signs", "ranks"])
@pytest.mark.parametrize("size", [50, *(pytest.param(size, marks=pytest.mark.study) for size in (200, 2000))])
def test_the_level_holds_for_a_private_number_of_rows(kind: Method, size: int) -> None:
    """200 runs on skewed absolute values with ties and zeros: past the bounds with a chance below 1e-6 each."""
    people, found = np.random.default_rng(size), []
    for run in range(200):
        rows = people.choice([-1.0, 1.0], size) * np.floor(people.exponential(2.0, size))
        release = SymmetryTest(1.0, neighbours=ADD, method=kind).release(rows, Seeded(run))
        found.append(1.0 if release.refusal is not None else release.value.p_value)
    for level in (0.05, 0.2, 0.5):
        assert np.count_nonzero(np.array(found) <= level) <= stats.binom.isf(1e-6, 200, level)


@pytest.mark.claim("private_sizes.1")
def test_one_more_row_takes_one_seat() -> None:
    """Every table of up to 4 values from 3, every value more, 3 seats, two keys: one seat changes hands at most."""
    for key, count in product((bytes(32), b"k" * 32), range(5)):
        for table, new in product(product((0.0, 1.0, -1.0), repeat=count), (0.0, 1.0, np.nan)):
            one, other = (
                list(zip(*map(np.ndarray.tolist, signed_tests.seats(np.array(rows), 3, key)[:2]), strict=True))
                for rows in (list(table), [new, *table])
            )
            left = [str(row) for row in one]
            for row in other:
                if str(row) in left:
                    left.remove(str(row))
            assert len(left) <= 1


@pytest.mark.parametrize("mutant", ["words", "count"])
def test_seats_that_follow_the_order_of_rows_are_found(monkeypatch: pytest.MonkeyPatch, mutant: str) -> None:
    """Planted mutants: words of places, not of what rows hold, and a number that moves by two."""
    if mutant == "words":
        right = private_sizes.secret_words
        monkeypatch.setattr(signed_tests, "secret_words", lambda values, key: right(np.arange(len(values)) * 1.0, key))
    else:
        monkeypatch.setattr(signed_tests, "noisy_sizes", lambda n, *more: private_sizes.noisy_sizes([2 * n[0]], *more))
    pairs = [Pair([0.0, *rows], rows) for rows in ([3.0, -3.0] * 20, [2.0, -2.0] * 30)]
    assert not audit.check(SymmetryTest(20.0, neighbours=ADD, method="ranks"), pairs, hostile_values=False).passed


def test_hostile_values_raise_nothing() -> None:
    for test in (
        SymmetryTest(1.0, method="signs"),
        SymmetryTest(1.0, method="ranks"),
        SymmetryTest(9.0, neighbours=ADD, method="signs"),
        SymmetryTest(9.0, neighbours=ADD, method="ranks"),
    ):
        assert 0 < test.release([*HOSTILE, *THORNS, *HOSTILE], Seeded(1)).value.p_value <= 1


def test_decisions_and_directions() -> None:
    up = [k % 7 - 1.0 for k in range(400)]
    for method in ("ranks", "signs"):
        ask = {"epsilon": 1.0, "method": method, "rng": Seeded(1)}
        assert paired_test(up, **ask, alternative="greater").value.decide(0.001)  # type: ignore[arg-type]
        assert paired_test(up, **ask, alternative="less").value.p_value > 0.99  # type: ignore[arg-type]
        assert paired_test(up, up, **ask).value.p_value > 1e-6  # type: ignore[arg-type]
        assert paired_test(up, **ask, neighbours="add_or_remove").value.decide(0.001)  # type: ignore[arg-type]
        few = paired_test(up[:2], **ask, neighbours="add_or_remove")  # type: ignore[arg-type]
        assert "about" in str(few.refusal)


def test_refusals_are_by_public_numbers() -> None:
    few = paired_test([1.0] * 5, epsilon=0.1, neighbours="replace", missing="keep")
    assert "are needed" in str(few.refusal)
    for test in (SymmetryTest(0.1, method="signs"), SymmetryTest(0.1, method="ranks")):
        with pytest.raises(Refused, match="times as many"):
            test.check(5)
        test.check(500)
        test.check(None)
    with pytest.raises(BadInput, match="alternative"):
        SymmetryTest(1.0, "both", method="ranks")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="rows and y has"):
        paired_test([1.0], [1.0, 2.0], epsilon=1.0)
    with pytest.raises(BadInput, match="method"):
        paired_test([1.0], epsilon=1.0, method="t")  # type: ignore[arg-type]


def test_a_wrong_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mutant: ranks of which one row is worth two."""
    monkeypatch.setattr("discreet.hypotheses.signed_tests.positive_ranks", lambda *a: 2 * positive_ranks(*a))
    assert not audit.check(
        SymmetryTest(40.0, method="ranks"), [Pair([5.0, 1.0, 2.0], [-5.0, 1.0, 2.0])], hostile_values=False
    ).passed


@pytest.mark.claim("signed_tests.5")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_symmetry_by_ranks_or_by_signs_passes_the_audit(relation: Neighbours) -> None:
    world = [pair for rows in ((0.0, 1.0), (2.0, -2.0, 0.0)) for pair in neighbours_of(rows, VALUES, relation)]
    for epsilon in (3.0, 40.0):
        audit.check(SymmetryTest(epsilon, neighbours=relation), world, hostile_values=False).require()
    rows = (1.0, -2.0, 0.0, 3.0) * 5  # so many that signs are taken at epsilon 1, and so few that ranks often are
    test, seeds = SymmetryTest(1.0, neighbours=relation), range(20)
    audit.check(test, neighbours_of(rows, VALUES, relation), hostile_values=False).require()
    taken = {test.release(rows, Seeded(seed)).provenance.mechanism for seed in seeds}
    assert "SignTest" in taken
    for seed in seeds:
        assert exceeds(drawn_by(test, rows, seed=seed), test.loss) is None


@pytest.mark.claim("signed_tests.5")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_which_test_of_symmetry_runs_is_public(relation: str) -> None:
    """By n epsilon^2, wherever the values are; the p-value is that of the test that runs."""
    people = np.random.default_rng(1)
    for size, epsilon, runs in ((1000, 0.1, "SignTest"), (1000, 1.0, "SignedRankTest"), (1000, 0.3, "SignedRankTest")):
        for shift in (0.0, 3.0):
            x = people.normal(shift, 1, size)
            ask = {"epsilon": epsilon, "neighbours": relation, "missing": "keep"}
            one = paired_test(x, rng=Seeded(2), **ask)  # type: ignore[arg-type]
            other = paired_test(x, method="signs" if runs == "SignTest" else "ranks", rng=Seeded(2), **ask)  # type: ignore[arg-type]
            assert one.provenance.mechanism == other.provenance.mechanism == runs
            assert one.value == other.value or relation == "add_or_remove"  # rows are counted to choose


@pytest.mark.study
@pytest.mark.claim("signed_tests.5")
def test_signs_find_more_than_ranks_where_there_are_few() -> None:
    """300 shifts by three standard errors at n epsilon^2 = 10: 0.47 against 0.26 of them."""
    people = np.random.default_rng(2)
    rows = [people.normal(3 / 1000**0.5, 1, 1000) for _ in range(300)]
    found = [
        np.mean(
            [paired_test(x, epsilon=0.1, method=method, rng=Seeded(i)).value.decide(0.05) for i, x in enumerate(rows)]
        )
        for method in (None, "ranks")
    ]
    assert found[0] > found[1]
