import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.amplify import amplified
from discreet.accounting.currency import checked, gap_of_laplace, mu, pure, rho, slack
from discreet.errors import BadInput
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace, Loss, Sampled

sizes = st.floats(1e-6, 20)
simple = st.one_of(
    st.builds(Laplace, sizes),
    st.builds(Choice, sizes),
    st.builds(Gaussian, sizes, st.sampled_from([0, 1e-18])),
    st.builds(Approximate, sizes, st.sampled_from([0, 1e-9, 1e-6])),
)


@pytest.mark.claim("currency.5")
def test_ten_times_a_tenth_is_one() -> None:
    assert pure(Composed((Laplace(0.1), Choice(0.1)) * 5)) == (Fraction(1), Fraction(0))
    assert pure(Composed((Approximate(0.1, 1e-7),) * 10)) == (Fraction(1), Fraction(1, 10**6))
    assert pure(Composed((Laplace(1), Gaussian(1)))) is None
    assert pure(Composed(())) == (Fraction(0), Fraction(0))


@pytest.mark.claim("currency.6")
def test_the_formulas() -> None:
    assert rho(Gaussian(0.2)) == (Fraction(1, 50), Fraction(0))
    assert mu(Gaussian(0.2)) == (Fraction(1, 25), Fraction(0))
    assert rho(Choice(0.4)) == (Fraction(1, 50), Fraction(0))
    assert float(rho(Laplace(1))[0]) == pytest.approx(math.exp(-1), rel=1e-10)
    assert float(rho(Approximate(1, 1e-6))[0]) == pytest.approx(math.tanh(0.5), rel=1e-10)
    assert rho(Approximate(1, 1e-6))[1] == mu(Approximate(1, 1e-6))[1] == Fraction(1, 10**6)
    assert rho(Approximate(0, 0.1)) == mu(Approximate(0, 0.1)) == (Fraction(0), Fraction(1, 10))


@pytest.mark.claim("currency.3")
def test_laplace_noise_pays_for_its_grid_in_rho() -> None:
    """Once for a draw, whatever its number of coordinates; by the sampling rate on a sample; in no pure currency."""
    for epsilon in (0.1, 1, 30):
        gap = gap_of_laplace(Fraction(repr(epsilon)))
        assert gap >= Fraction(repr(epsilon)) ** 2 / 2**43
        assert rho(Laplace(epsilon))[1] == gap
        assert rho(Composed((Laplace(epsilon),) * 3 + (Choice(1),)))[1] == 3 * gap
        assert rho(Sampled(Laplace(epsilon), 0.1, 5))[1] == gap / 2
        assert mu(Laplace(epsilon))[1] == 0  # by pure epsilon, which the grid keeps
        assert pure(Laplace(epsilon)) == (Fraction(repr(epsilon)), Fraction(0))


@pytest.mark.claim("currency.6")
@settings(deadline=None)
@given(st.lists(simple, max_size=6), st.randoms(use_true_random=False))
def test_sums_whatever_the_order_and_nesting(parts: list[Any], shuffle: Any) -> None:
    other = list(parts)
    shuffle.shuffle(other)
    nested = Composed((Composed(tuple(other[:2])), *other[2:]))
    for cost in (rho, mu):
        assert cost(Composed(tuple(parts))) == cost(nested)
        assert cost(nested)[0] == sum(cost(part)[0] for part in parts)
    assert pure(Composed(tuple(parts))) == pure(nested)
    assert slack(Composed(tuple(parts))) == slack(nested)


@pytest.mark.claim("currency.7")
def test_samples_cost_no_more_than_everybody() -> None:
    for inner in (Laplace(1), Choice(2), Gaussian(0.5), Approximate(1, 1e-6), Composed((Laplace(1), Gaussian(1)))):
        for cost in (rho, mu):
            sampled, whole = cost(Sampled(inner, 0.1, 7)), cost(inner)
            assert sampled[0] <= 7 * whole[0]
            assert sampled[1] == Fraction(7, 10) * whole[1]
    assert pure(Sampled(Approximate(1, 1e-6), 0.1, 3)) == (3 * amplified(1, 0.1), Fraction(3, 10**7))
    assert rho(Sampled(Laplace(1), 0.01))[0] < rho(Laplace(1))[0] / 100  # amplified
    assert rho(Sampled(Gaussian(1), 0.01))[0] == Fraction(1, 2)  # not


def test_slack() -> None:
    loss = Composed((Gaussian(1, 1e-18), Sampled(Gaussian(1, 1e-20), 0.1, 50), Laplace(1)))
    assert slack(loss) == Fraction(3, 2) / 10**18


@pytest.mark.parametrize(
    "loss",
    [None, 1.0, "Laplace", Laplace, Composed((1,)), Composed([Laplace(1)]), Sampled(0.5, 0.5), Laplace(1e-310)],  # type: ignore[arg-type]
)
def test_what_is_not_a_loss(loss: Any) -> None:
    with pytest.raises(BadInput):
        checked(loss)


def test_a_forged_loss() -> None:
    loss = Laplace(1.0)
    object.__setattr__(loss, "epsilon", math.nan)
    with pytest.raises(BadInput):
        checked(loss)


def test_a_loss_passes_unchanged() -> None:
    loss: Loss = Composed((Laplace(1), Sampled(Gaussian(1, 1e-18), 0.5), Approximate(0, 0)))
    assert checked(loss) is loss
