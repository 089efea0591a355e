"""Known estimators of few people: answered by a mechanism for all of them at once, as the estimator returns them."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from tests.subsample.reading import read

import discreet
from discreet.api import posed
from discreet.audit.replay import replay
from discreet.audit.worlds import Pair
from discreet.errors import BadInput
from discreet.models.likelihood import SUMS
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import declared
from discreet.privacy.guarantee import Neighbours
from discreet.sklearn import PrivateEstimator

ASKED: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
WHOLE: dict[str, Any] = {"neighbours": "replace", "missing": "keep"}
AT_ONCE = "all of them at once"


def line(people: int, seed: int = 0, columns: int = 2) -> tuple[Any, Any]:
    draws = np.random.default_rng(seed)
    x = draws.normal(size=(people, columns))
    return x, x @ np.arange(1.0, columns + 1) + draws.normal(size=people)


def holds(release: Any, truth: dict[str, float]) -> bool:
    """Within three half-widths: a 95% interval fails that far out once in 10^8 runs."""
    low, high = release.interval().low, release.interval().high
    reach = {name: 3 * (high[name] - low[name]) / 2 for name in truth}
    return all(abs(truth[name] - release.value[name]) < reach[name] for name in truth)


def at_once(release: Any) -> bool:
    return any(AT_ONCE in note for note in release.provenance.notes)


@pytest.mark.parametrize("more", [{}, WHOLE], ids=["add or remove", "replace"])
@pytest.mark.parametrize("framed", [False, True])
def test_three_coefficients_of_few_people_are_answered(more: dict[str, Any], framed: bool) -> None:
    x, y = line(4000)
    names = ["coef_[a]", "coef_[b]"] if framed else ["coef_[0]", "coef_[1]"]
    rows = pd.DataFrame(x, columns=["a", "b"]) if framed else x
    release = discreet.fit(LinearRegression(), rows, y, rng=Seeded(1), **ASKED, **more)
    assert list(release.value) == [*names, "intercept_"]
    assert holds(release, dict(zip(release.value, (1.0, 2.0, 0.0), strict=True)))
    assert at_once(release)
    assert float(release.guarantee.epsilon) == 1.0
    assert "influence" in str(release).splitlines()[0]


def test_many_people_are_fitted_in_blocks() -> None:
    x, y = line(30_000)
    release = discreet.fit(LinearRegression(), x, y, epsilon=4.0, delta=1e-6, rng=Seeded(1), **WHOLE)
    assert holds(release, dict(zip(release.value, (1.0, 2.0, 0.0), strict=True)))
    assert not at_once(release)


@pytest.mark.parametrize(
    ("estimator", "asked"),
    [
        (Ridge(), {}),
        (LinearRegression(), {"delta": 0.0}),
        (LinearRegression(), {"aggregator": "friendly"}),
        (LinearRegression(), {"bias_correction": "half"}),
        (LinearRegression(), {"unit": np.arange(4000) // 2}),
        (LogisticRegression(), {}),  # nobody says which of two labels is yes
        (PoissonRegressor(), {}),  # its penalty is for each row
    ],
)
def test_what_is_not_known_needs_blocks(estimator: Any, asked: dict[str, Any]) -> None:
    x, y = line(4000)
    y = np.abs(np.rint(y)) if isinstance(estimator, PoissonRegressor) else y > 0 if hasattr(estimator, "C") else y
    found = discreet.fit(estimator, x, y, rng=Seeded(1), **{**ASKED, **asked})
    assert found.refusal is not None
    assert "people are needed" in found.refusal or "about" in found.refusal


def test_a_classifier_with_public_classes_answers_few_people() -> None:
    draws = np.random.default_rng(2)
    x = draws.normal(size=(8000, 4))
    sick = draws.random(8000) < 1 / (1 + np.exp(-x @ [1.0, 0.5, 0.0, -1.0]))
    model = PrivateEstimator(
        LogisticRegression(), epsilon=1.0, delta=1e-6, classes=["well", "sick"], settings={"rng": Seeded(1)}
    )
    model.fit(x, np.where(sick, "sick", "well"))
    assert at_once(model.release_)
    assert holds(model.release_, dict(zip(model.release_.value, (1.0, 0.5, 0.0, -1.0, 0.0), strict=True)))
    assert set(model.predict(x[:20])) <= {"well", "sick"}


def test_an_outcome_that_hardly_varies_is_refused_and_not_answered_with_nothing() -> None:
    """Six people in seven have the same outcome: at so little epsilon nothing tells its scale."""
    draws = np.random.default_rng(3)
    x = draws.normal(size=(5000, 2))
    days = np.where(draws.random(5000) < 0.14, draws.integers(1, 15, size=5000), 0)
    release = discreet.fit(LinearRegression(), x, days, epsilon=0.5, delta=1e-6, rng=Seeded(1))
    assert release.refusal is not None
    assert "tell the rarest level or column apart" in release.refusal


@pytest.mark.parametrize("people", [1400, 2000])
def test_rows_to_bring_are_enough_for_what_answers_so_few(people: int) -> None:
    """Blocks and the regression of all at once need other numbers of rows; what is named is enough."""

    def ask(rows: int) -> Any:
        draws = np.random.default_rng(6)
        x = draws.normal(size=(rows, 3))
        y = x @ [3.0, -2.0, 1.0] + draws.normal(size=rows)
        return discreet.fit(LinearRegression(), x, y, epsilon=0.3, delta=1e-6, rng=Seeded(2))

    refusal = ask(people).refusal
    assert refusal is not None
    assert ask(int(re.findall(r"bring (\d+) rows", refusal)[0])).refusal is None


def test_rows_to_bring_for_a_rare_column_are_of_a_size_that_does() -> None:
    """One person in twelve has another number in one column, which the noise hides among so few."""

    def ask(people: int) -> Any:
        draws = np.random.default_rng(5)
        x = np.column_stack([draws.normal(size=people), np.where(draws.random(people) < 1 / 12, 3.0, 0.0)])
        y = x @ [1.0, 1.0] + draws.normal(size=people)
        return discreet.fit(LinearRegression(), x, y, epsilon=1.0, delta=1e-6, neighbours="replace", rng=Seeded(1))

    refusal = ask(2700).refusal
    assert refusal is not None
    needed = int(re.findall(r"bring (\d+) rows", refusal)[0])  # three million, where nobody seems to be left
    assert needed < 50_000
    assert ask(needed).refusal is None


@pytest.mark.claim("counted_people.1")
@pytest.mark.claim("aggregate.1")
@pytest.mark.parametrize("relation", list(Neighbours))
def test_neighbours_of_few_people_are_treated_alike(relation: Neighbours) -> None:
    """Every draw moves by no more than it may, whoever is replaced, added or removed."""
    x, y = line(900, columns=1)
    asked = {"neighbours": relation, "missing": "keep", "epsilon": 2.0, "delta": 1e-6}
    mechanism = posed(declared("fit"), (LinearRegression(), x, y), asked).price.mechanism
    for odd in ([1e6, -1e9], [np.nan, 0.0], [np.inf, np.inf]):
        others = slice(1, None) if relation.size_is_public else slice(None)
        left, right = read(x, y), read(np.vstack([[odd[:1]], x[others]]), np.append(odd[1], y[others]))
        assert at_once(mechanism.release(left, Seeded(3)))
        assert replay(mechanism, Pair(left, right), seed=3) == []


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("kind", ["string", "category"])
def test_texts_as_an_outcome_are_in_no_message(kind: Any, relation: Neighbours) -> None:
    """Few people, for whom a line would be fitted at once: whatever an outcome is, nothing is raised that tells it."""
    x, y = line(4000)
    texts = pd.Series(np.where(y > 0, "secret", "b")).astype(kind)
    asked = {"neighbours": relation, "missing": "keep", **ASKED}
    release = discreet.fit(LinearRegression(), x, texts, rng=Seeded(1), **asked)
    assert "secret" not in f"{release}{release.refusal}"
    assert release.refusal is not None


MODELS: dict[str, tuple[Any, dict[str, float]]] = {
    "norm": (stats.norm(50, 3), {"loc": 50.0, "scale": 3.0}),
    "lognorm": (stats.lognorm(0.5, scale=3), {"s": 0.5, "scale": 3.0}),
    "gamma": (stats.gamma(2, scale=3), {"a": 2.0, "scale": 3.0}),
    "expon": (stats.expon(scale=3), {"scale": 3.0}),
    "beta": (stats.beta(2, 5), {"a": 2.0, "b": 5.0}),
}


@pytest.mark.claim("likelihood.1")
@pytest.mark.claim("likelihood.2")
@pytest.mark.parametrize("name", SUMS)
def test_a_likelihood_of_few_people_is_answered_by_sums(name: str) -> None:
    made, truth = MODELS[name]
    waits = made.rvs(size=2000, random_state=np.random.default_rng(4))
    release = discreet.maximum_likelihood(name, waits, rng=Seeded(1), **ASKED)
    assert at_once(release)
    assert holds(release, truth)
    assert float(release.guarantee.epsilon) == 1.0
    assert all(release.interval().low[one] < release.value[one] < release.interval().high[one] for one in truth)
    assert release.spread is not None
    assert 0 < release.spread.sampling[next(iter(truth))] < 1
    assert release.value.distribution().mean() == pytest.approx(made.mean(), rel=0.2)
    private = discreet.maximum_likelihood(name, waits, rng=Seeded(1), **ASKED, **WHOLE)
    assert holds(private, truth)


def test_a_likelihood_with_other_parameters_fixed_needs_blocks() -> None:
    waits = stats.gamma(2, scale=3).rvs(size=4000, random_state=np.random.default_rng(4))
    others: list[dict[str, Any]] = [{"fixed": {}}, {"fixed": {"scale": 3.0}}, {"bias_correction": "half"}]
    for asked in others:
        release = discreet.maximum_likelihood("gamma", waits, rng=Seeded(1), **ASKED, **asked)
        assert release.refusal is not None


def squares(x: Any, y: Any) -> Any:
    """Least squares as a function of one's own: nothing is known of it."""
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]


@pytest.mark.claim("aggregate.2")
@pytest.mark.parametrize("neighbours", ["add_or_remove", "replace"])
@pytest.mark.parametrize("people", [3000, 5000])
def test_a_function_of_three_numbers_answers_few_people_and_says_for_what(neighbours: str, people: int) -> None:
    x, y = line(people)
    missing = "keep" if neighbours == "replace" else "drop"
    release = discreet.fit(squares, x, y, neighbours=neighbours, missing=missing, rng=Seeded(3), **ASKED)
    assert np.abs(release.value - np.array([0.0, 1.0, 2.0])).max() < 1.5  # noise of about .2: chance below 1e-6
    found = release.interval()
    size = people // release.provenance.parameters["blocks"]
    assert found.about.startswith("the mean of the estimate over samples of about ")
    assert abs(int(found.about.split("about ")[1].split()[0]) - size) <= 1
    assert found.about.endswith(" people, those far from the others cut")
    assert 7 <= size < 30
    assert not any("bias" in note for note in release.provenance.notes)


def test_small_blocks_are_for_functions_whose_blocks_were_not_declared() -> None:
    x, y = line(5000)
    for how in ({"smallest": 30}, {"aggregator": "friendly"}, {"aggregator": "median"}, {"estimate_bias": True}):
        assert discreet.fit(squares, x, y, rng=Seeded(3), **how, **ASKED).refusal
    many = discreet.fit(squares, *line(25000), rng=Seeded(3), **ASKED)
    assert "population" in many.interval().about


def test_people_who_fill_blocks_of_the_usual_size_have_fewer_of_these_before_smaller_ones() -> None:
    for people, blocks in ((12000, 400), (16000, 524)):  # coordinatewise, friendly
        x, y = line(people)
        release = discreet.fit(squares, x, y, rng=Seeded(3), estimate_bias=False, **ASKED, **WHOLE)
        assert release.provenance.parameters["blocks"] == blocks
        about = "the population's quantity" if blocks == 524 else "the mean of the estimate over samples of about 30 "
        assert release.interval().about.startswith(about)


def test_a_refusal_says_how_many_people_small_blocks_need() -> None:
    x, y = line(2500)
    with pytest.raises(BadInput, match="bring 2592 people"):
        discreet.fit(squares, x, y, rng=Seeded(3), **ASKED, **WHOLE)


@pytest.mark.parametrize("people", [5000, 14000])
def test_what_asks_all_people_at_once_is_not_asked_in_small_blocks(people: int) -> None:
    """Wherever small blocks would answer: the regression, and the likelihood of two numbers."""
    g = np.random.default_rng(4)
    x, y = line(people)
    answers = [
        discreet.fit(LinearRegression(), x, y, rng=Seeded(3), **ASKED),
        discreet.maximum_likelihood("gamma", g.gamma(2, 1, size=people), rng=Seeded(3), **ASKED),
    ]
    for release in answers:
        assert at_once(release)


def test_a_refused_classifier_says_that_declared_classes_need_fewer_people() -> None:
    g = np.random.default_rng(5)
    x = g.normal(size=(6000, 2))
    y = (g.random(6000) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    refused = discreet.fit(LogisticRegression(), x, y, rng=Seeded(3), **ASKED)
    assert "or declare that the outcome is 0 or 1, which needs fewer" in str(refused.refusal)
    assert at_once(discreet.fit(LogisticRegression(), x, pd.Series(y).astype("boolean"), rng=Seeded(3), **ASKED))
