"""What releases cost together."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from discreet.accounting import compose
from discreet.accounting.filter import Budget
from discreet.asking import Question
from discreet.errors import BadInput, OverBudget
from discreet.plan.bound_plan import Bound
from discreet.plan.pricing import price
from discreet.privacy.exact import Number, exact
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Composed
from discreet.privacy.people import People
from discreet.session import asked
from discreet.tables.opening import read
from discreet.tables.wanted import Terms

TABLE = read({"age": [30.0, 40.0], "town": ["Ulm", "Bonn"]})
PAIRS = read({"age": [30.0, 40.0], "weight": [60.0, 70.0]})
PEOPLE = People.of(None, None, Neighbours.ADD_OR_REMOVE)


def counts(place: int, epsilon: Number) -> Question:
    del place
    return asked(TABLE, PEOPLE, "count", (), {"epsilon": epsilon}, terms=Terms())


def finds(place: int, epsilon: Number) -> Question:
    del place
    return asked(TABLE, PEOPLE, "histogram", (), {"x": "town", "epsilon": epsilon, "delta": 1e-6}, terms=Terms())


@pytest.mark.claim("pricing.1")
@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("many", [1, 30])
def test_the_composed_epsilon_is_what_is_charged_and_fits(many: int, delta: float) -> None:
    found = price(counts, [None] * many, [1] * many, Budget(1.0, delta))
    losses = Composed(tuple(question.price.loss for question in found.questions))
    assert found.loss == losses
    assert found.together == Budget(compose.epsilon(losses, delta), delta)
    assert exact(found.together.epsilon) <= 1
    assert float(found.together.epsilon) > 0.98
    if delta and many > 1:  # tightly composed: each may cost more than its part of the sum
        assert found.apart > Fraction(5, 4)


def test_shares_are_kept() -> None:
    found = price(counts, [None, None, 0.25], [1, 2, 1], Budget(1.0))
    assert [exact(question.price.guarantee.epsilon) for question in found.questions] == [
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(1, 4),
    ]


@pytest.mark.claim("pricing.1")
def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(OverBudget, match=r"cost epsilon 1\.2 together, at delta 0; the plan may spend 1\."):
        price(counts, [0.6, 0.6], [1, 1], Budget(1.0))
    with pytest.raises(BadInput, match="nothing is left for those with a share"):
        price(counts, [1.0, None], [1, 1], Budget(1.0))
    with pytest.raises(BadInput, match=r"raise \[spend\] delta, or give less to histogram of town"):
        price(finds, [0.5], [1], Budget(1.0, 1e-7))


@pytest.mark.claim("pricing.1")
def test_a_plan_of_all_prices(bound: Callable[[str], Bound], head: str) -> None:
    text = head.replace("epsilon = 1.0", "epsilon = 1.0\ndelta = 1e-5").replace("unit =", "rows = 600\nunit =") + (
        "[[release]]\nid = 'fixed'\nstatistic = 'count'\nepsilon = 0.2\n"
        "[[release]]\nid = 'exactly'\nstatistic = 'count'\naccuracy = 30.0\n"
        "[[release]]\nid = 'towns'\nstatistic = 'histogram'\ncolumns = 'town'\nshare = 2\n"
        "[[release]]\nid = 'ages'\nstatistic = 'mean'\ncolumns = 'age'\nshare = 1\noptions = {bounds = [0, 120]}\n"
    )
    priced = bound(text).priced
    epsilons = [float(question.price.guarantee.epsilon) for question in priced.questions]
    assert epsilons[0] == 0.2
    assert 0.05 < epsilons[1] < 0.2
    assert epsilons[2] == pytest.approx(2 * epsilons[3])
    assert compose.epsilon(priced.loss, 1e-5) <= 1.0
    assert priced.questions[2].price.guarantee.delta == pytest.approx(5e-6)


def means(place: int, epsilon: Number) -> Question:
    del place
    options = {"epsilon": epsilon, "delta": 1e-10, "method": "refine"}
    return asked(PAIRS, PEOPLE, "mean", (["age", "weight"],), options, terms=Terms())


@pytest.mark.claim("pricing.1")
def test_a_plan_costs_no_more_than_its_releases_one_by_one() -> None:
    """The slack of several means is dear at the sum of their epsilons; each pays for its own at its own."""
    found = price(means, [6.0] * 4, [1] * 4, Budget(24.0, 4e-10))
    assert compose.epsilon(found.loss, 4e-10) > 24
    assert found.together == Budget(24.0, 4e-10)
    with pytest.raises(BadInput, match="need more"):
        price(means, [6.0] * 4, [1] * 4, Budget(24.0, 3.9e-10))


@pytest.mark.claim("pricing.1")
def test_the_price_of_a_plan_is_an_upper_bound() -> None:
    def ask(place: int, epsilon: Number) -> Question:
        return (means, counts)[place](place, epsilon)

    found = price(ask, [5.0, 5.0], [1, 1], Budget(10.0, 1.5e-10))
    assert compose.delta(found.loss, found.together.epsilon) <= 1.5e-10
