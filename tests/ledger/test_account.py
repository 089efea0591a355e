from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.filter import Amount, Budget, Currency
from discreet.errors import BadInput
from discreet.ledger.account import BITS, WIDE, Account, canonical, loss_from_plain, loss_to_plain, written
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled

sizes = st.floats(1e-300, 1e6) | st.fractions(Fraction(1, 10**9), 100) | st.integers(1, 10**9)
shares = st.floats(1e-300, 1, exclude_max=True) | st.just(0)
simple = (
    st.builds(Laplace, sizes)
    | st.builds(Choice, sizes)
    | st.builds(Gaussian, sizes, shares)
    | st.builds(Approximate, sizes, shares)
)
losses = st.recursive(
    simple,
    lambda inner: (
        st.builds(Sampled, inner, st.floats(1e-9, 1), st.integers(1, 10**6))
        | st.builds(Composed, st.lists(inner, max_size=4).map(tuple))
    ),
    max_leaves=5,
)


def opened(budget: Budget, counted: Currency = Currency.EPSILON) -> Account:
    return Account.opened(budget, counted, None, Neighbours.REPLACE, "person")


@pytest.mark.claim("account.1")
@settings(max_examples=60)
@given(losses)
def test_losses_are_read_as_they_were_written(loss: Loss) -> None:
    plain = loss_to_plain(loss)
    back = loss_from_plain(plain)
    assert loss_to_plain(back) == plain
    assert loss_from_plain(loss_to_plain(back)) == back


@pytest.mark.claim("account.1")
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_the_ones_that_were_typed(number: float) -> None:
    assert Fraction(written(number)) == exact(number)


@pytest.mark.claim("account.1")
@pytest.mark.parametrize("counted", list(Currency))
def test_accounts_are_read_as_they_were_written(counted: Currency) -> None:
    account = opened(Budget(2.0, 1e-6), counted)
    for loss in (Laplace(0.01), Choice(1 / 30), Approximate(0.01, 1e-9)):
        account, _ = account.charge(loss)
        assert Account.from_text(account.to_text()) == account
    assert account.charges == 3


@pytest.mark.claim("account.2")
def test_three_thirds_are_one() -> None:
    account = opened(Budget(1))
    for _ in range(3):
        account, _ = account.charge(Choice(Fraction(1, 3)))
    assert account.filter.left.epsilon == 0
    assert not account.overspent


@pytest.mark.claim("account.2")
def test_accounts_stay_small_and_are_rounded_against_the_spender() -> None:
    account, true = opened(Budget(1e6)), Fraction(0)
    for number in range(1, 40):
        price = Amount(Currency.EPSILON, Fraction(1, 2**3900 * 3 + 2 * number + 1), Fraction(0))  # no common divisors
        account, true = account.paid(price), true + price.cost
        spent = account.filter.spent.cost
        assert spent >= true
        assert spent.denominator.bit_length() <= WIDE
        assert Account.from_text(account.to_text()) == account
    assert 0 < spent - true < Fraction(40, 2**BITS)
    assert not account.overspent


@pytest.mark.claim("account.2")
def test_numbers_beyond_measure_are_refused() -> None:
    for loss in (Laplace(Fraction(1, 2 ** (BITS + 1))), Choice(Fraction(2**5000 + 1, 2**5000))):
        with pytest.raises(BadInput):
            opened(Budget(1.0)).charge(loss)
        with pytest.raises(BadInput, match="digits"):
            loss_to_plain(loss)


@pytest.mark.claim("account.3")
def test_nothing_is_free() -> None:
    for counted in Currency:
        for loss in (Approximate(0, 0), Composed(()), Approximate(0, 1e-9)):
            with pytest.raises(BadInput, match="more than 0"):
                opened(Budget(1.0, 1e-6), counted).charge(loss)


@pytest.mark.parametrize("plain", [{}, {"loss": "Free"}, {"loss": "Sampled", "of": {}, "rate": "1/2", "times": 1}])
def test_what_is_no_loss(plain: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="not a loss"):
        loss_from_plain(plain)


def test_there_is_one_way_to_write() -> None:
    assert canonical({"b": 1, "a": ["é", None]}) == '{"a":["\\u00e9",null],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        canonical(float("nan"))
