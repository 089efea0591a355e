"""Logistic and Poisson regression by noisy descent."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.models.test_objective import people
from tests.models.worlds import pairs

from discreet import audit
from discreet.accounting import calibrate, compose
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, itemised
from discreet.errors import BadInput
from discreet.models import descent
from discreet.models.descent import Descent
from discreet.models.features import Features
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Gaussian
from discreet.privacy.neighbours import Neighbours

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


def counts(size: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, 2)) * [1, 20] + [0, 300]
    return np.column_stack([x, rng.poisson(np.exp(0.4 * x[:, 0] - 0.01 * (x[:, 1] - 300) + 0.7))])


@pytest.mark.claim("descent.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_audited_on_small_tables(relation: Neighbours, family: str) -> None:
    mechanism = Descent(Features(("x",)), 10.0, 1e-4, family=family, neighbours=relation)  # type: ignore[arg-type]
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, pairs(relation)[::2], hostile_values=False).require()


@pytest.mark.claim("descent.1")
@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_every_draw_is_in_the_loss(family: str) -> None:
    mechanism = Descent(Features(("a", "b")), 2.0, 1e-6, family=family, size=3000)  # type: ignore[arg-type]
    assert implies(mechanism.loss, mechanism.guarantee)
    assert itemised(drawn(mechanism, counts(3000))) == itemised(mechanism.loss)


@pytest.mark.claim("descent.2")
def test_too_few_rows_are_told_by_noise_and_bad_values_never_raise() -> None:
    release = Descent(Features(("a", "b")), 0.5, 1e-6, neighbours=ADD).release(people(60), Seeded(0))
    assert release.answer is None or release.spread is None
    odd = people(3000)
    odd[:300, 0], odd[300:600, 1], odd[600:700, 2] = np.nan, -np.inf, np.nan
    assert Descent(Features(("a", "b")), 2.0, 1e-6).release(odd, Seeded(0)).refusal is None
    assert Descent(Features(("a", "b")), 2.0, 1e-6, family="poisson").release(odd, Seeded(0)).refusal is None


@pytest.mark.claim("descent.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_coefficients_and_intervals(relation: Neighbours, family: str) -> None:
    """Of 18 intervals at 99.9% at most 2 miss (a chance of 1e-6)."""
    mechanism = Descent(Features(("a", "b")), 2.0, 1e-6, family=family, neighbours=relation)  # type: ignore[arg-type]
    truth = {"logistic": (1.0, -0.025, 7.8), "poisson": (0.4, -0.01, 3.7)}[family]
    missed = 0
    for seed in range(6):
        table = people(8000, seed) if family == "logistic" else counts(8000, seed)
        release = mechanism.release(table, Seeded(seed))
        bar = release.interval(0.999)
        missed += sum(not low <= one <= high for low, one, high in zip(bar.low, truth, bar.high, strict=False))
        missed += not bar.low.intercept <= truth[2] <= bar.high.intercept
        assert np.abs(np.array(release.value.coef) / truth[:2] - 1).max() < 0.5
    assert missed <= 2


def test_parameters_are_refused_in_words() -> None:
    base: dict[str, Any] = {"features": Features(("x",)), "epsilon": 1.0, "delta": 1e-6}
    wrong: dict[str, Any]
    for wrong, words in (
        ({"delta": 0.0}, "delta > 0"),
        ({"family": "gamma"}, "family"),
        ({"largest": 0}, "largest"),
        ({"delta": 1e-3, "size": 10_000}, "delta"),
    ):
        with pytest.raises(BadInput, match=words):
            Descent(**(base | wrong))


@pytest.mark.claim("descent.1")
def test_the_slack_of_every_draw_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """With draws whose slack is no smaller at their own strength than at the strongest: each must be reserved."""
    for name in ("score_cost", "moment_cost"):
        monkeypatch.setattr(descent, name, lambda mu, *rest: Gaussian(mu, Fraction(1, 10**9)))
    loss = Descent(Features(("a", "b")), 1.0, 1e-6, size=5_000).loss
    paid = calibrate.gaussian(1.0, 1e-6, compose.slack(loss))
    assert compose.slack(loss) > Fraction(3, 10**9)
    assert float(compose.mu(loss)[0]) ** 0.5 <= paid * (1 + 1e-12)


@pytest.mark.claim("descent.3")
def test_ten_features_rare_ones_and_constants() -> None:
    """5,000 people, ten features and epsilon 1 have intervals; a column of 4% ones has one too, a constant is refused.

    4 runs of 10 slopes: of 40 intervals of 95% fewer than 28 hold once in 1e7 runs, if they are independent.
    """
    hits, truth = 0, np.array([0.5, -0.5, 0.3, 0.0, 0.2, -0.2, 0.3, -0.3, 0.6, 1.0])
    names = tuple(f"x{place}" for place in range(10))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = np.column_stack([rng.normal(size=(5000, 6)), rng.gamma(2.0, size=(5000, 2)), rng.random((5000, 2)) < 0.3])
        y = x @ truth + rng.logistic(size=5000) > 0.2
        mechanism = Descent(Features(names), 1.0, 1e-6, neighbours=Neighbours.ADD_OR_REMOVE)
        found = mechanism.release(np.column_stack([x, y]), Seeded(seed)).interval()
        hits += int(((found.low.coef <= truth) & (truth <= found.high.coef)).sum())
    assert hits >= 28
    x[:, 3] = 1.0
    assert "'x3' is the same" in str(mechanism.release(np.column_stack([x, y]), Seeded(1)).refusal)
    rare = np.column_stack([rng.normal(size=9000), rng.random(9000) < 0.04])
    y = rare @ [1.0, 2.0] + rng.logistic(size=9000) > 0
    mechanism = Descent(Features(("a", "rare")), 1.0, 1e-6, neighbours=Neighbours.ADD_OR_REMOVE)
    found = mechanism.release(np.column_stack([rare, y]), Seeded(1)).interval(0.999999)
    assert found.low["rare"] < 2.0 < found.high["rare"] < 6.0
