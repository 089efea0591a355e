"""Whatever people fit: adapters, made-up rows, bias correction, the scikit-learn face."""

import math
import random
import statistics
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.subsample.reading import read

import discreet
from discreet.engines.local import Local
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.subsample.block_table import BlockTable
from discreet.subsample.estimators import FunctionFit, LifelinesFit, SourceFit, adapted
from discreet.subsample.returned import Shape, declared, found_shape, shape_of, texts
from discreet.subsample.run_block import block_row

sklearn = pytest.importorskip("sklearn.linear_model")
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(3000, 3))
Y = X @ [1.0, -1.0, 0.5] + 0.3 + GENERATOR.normal(size=3000)
CLASS = (Y > 0).astype(int)
COUNT = GENERATOR.poisson(np.exp(Y / 4))


def alone(fit: Any, table: BlockTable, **options: Any) -> Any:
    shape = found_shape(fit, table)
    return shape, block_row(fit, shape, table, len(table.x) // 2, number=0, **options)


@pytest.mark.claim("run_block.1")
@pytest.mark.parametrize(
    ("estimator", "y", "names"),
    [
        (sklearn.LinearRegression(), Y, 4),
        (sklearn.LogisticRegression(), CLASS, 4),
        (sklearn.PoissonRegressor(), COUNT, 4),
        (sklearn.Ridge(alpha=2.0), Y, 4),
        (sklearn.HuberRegressor(), Y, 4),
    ],
)
def test_scikit_learn(estimator: Any, y: Any, names: int) -> None:
    shape, row = alone(adapted(estimator), read(X, y))
    assert len(shape.names) == names
    fitted = estimator.fit(X, y)
    assert row[:3] == pytest.approx(np.ravel(fitted.coef_))
    assert row[3] == pytest.approx(float(np.ravel(fitted.intercept_)[0]))


def test_pipelines_frames_and_other_attributes() -> None:
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame = pd.DataFrame(X, columns=["age", "dose", "sex"])
    shape, row = alone(adapted(make_pipeline(StandardScaler(), sklearn.LinearRegression())), read(frame, Y))
    assert shape.names == ("coef_[age]", "coef_[dose]", "coef_[sex]", "intercept_")
    assert row[0] == pytest.approx(sklearn.LinearRegression().fit(StandardScaler().fit_transform(X), Y).coef_[0])
    assert not adapted(make_pipeline(StandardScaler(), sklearn.LinearRegression())).least_squares  # type: ignore[attr-defined]
    spread = adapted(PCA(2), attributes="explained_variance_")
    assert alone(spread, read(X))[0].size == (2,)


def test_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    smf = pytest.importorskip("statsmodels.formula.api")
    shape, row = alone(adapted(sm.OLS), read(X, Y))
    assert shape.size == (3,)
    assert row == pytest.approx(sm.OLS(Y, X).fit().params)
    poisson = adapted(partial(sm.GLM, family=sm.families.Poisson()))
    assert alone(poisson, read(X, COUNT))[1] == pytest.approx(
        sm.GLM(COUNT, X, family=sm.families.Poisson()).fit().params
    )
    frame = pd.DataFrame({"y": Y, "a": X[:, 0], "g": pd.Categorical.from_codes(CLASS, ["no", "yes"])})
    formula = adapted(smf.ols, formula="y ~ a + g")
    shape, row = alone(formula, read(frame, categories={"g": ["no", "yes"]}))
    assert shape.names == ("Intercept", "g[T.yes]", "a")
    assert formula.least_squares  # type: ignore[attr-defined]
    assert formula.name == "OLS"
    with pytest.raises(BadInput, match="class"):
        adapted(sm.OLS(Y, X))


def test_lifelines() -> None:
    lifelines = pytest.importorskip("lifelines")
    rows = pd.DataFrame({"a": X[:400, 0], "T": np.exp(X[:400, 1]), "E": X[:400, 2] > -1})
    fit = adapted(lifelines.CoxPHFitter(), options={"duration_col": "T", "event_col": "E"})
    assert isinstance(fit, LifelinesFit)
    shape, row = alone(fit, read(rows))
    assert shape.names == ("a",)
    assert row[0] == pytest.approx(lifelines.CoxPHFitter().fit(rows, "T", "E").params_.iloc[0])


def test_functions_of_every_kind() -> None:
    table = read(X)
    assert found_shape(FunctionFit(lambda x: x.mean()), table).kind == "number"
    assert found_shape(FunctionFit(lambda x: x.mean(axis=0)), table).size == (3,)
    assert found_shape(FunctionFit(lambda x: {"a": 1.0, "b": 2}), table).names == ("a", "b")
    assert found_shape(FunctionFit(lambda x: "left"), table).kind == "text"
    assert found_shape(FunctionFit(lambda x: np.cov(x.T)), table).size == (3, 3)
    assert isinstance(adapted(SourceFit("", "f")), SourceFit)
    with pytest.raises(BadInput, match=r"file\.py:function"):
        adapted("no file")
    with pytest.raises(BadInput, match="read"):
        adapted("/no/such/file.py:f")
    with pytest.raises(BadInput, match="no estimator"):
        adapted(3)


@pytest.mark.claim("aggregate.2")
def test_the_shape_is_found_without_a_private_row() -> None:
    """A table whose every access to values raises: only names and types are read."""

    class Locked(pd.DataFrame):  # type: ignore[misc]
        @property
        def iloc(self) -> Any:
            raise AssertionError("a private row was read")

    table = BlockTable(Locked({"a": [1.0, 2.0], "b": pd.Categorical(["u", "v"])}), None)
    seen = []
    shape = found_shape(FunctionFit(lambda t: seen.append(t) or float(t["a"].mean())), table)  # type: ignore[func-returns-value]
    assert shape.kind == "number"
    assert len(seen[0]) == 240
    with pytest.raises(BadInput, match="names="):
        found_shape(FunctionFit(lambda t: 1.0), BlockTable(pd.DataFrame({"a": ["x"]}, dtype="string"), None))
    with pytest.raises(BadInput, match="declare"):
        found_shape(FunctionFit(lambda t: 1 / 0), read(X))


@pytest.mark.claim("run_block.1")
@pytest.mark.parametrize(
    "bad",
    [
        lambda x: 1 / 0,
        lambda x: float("nan"),
        lambda x: [1.0, float("inf")],
        lambda x: [1.0],
        lambda x: None,
        lambda x: "text",
        lambda x: {"a": 1},
        lambda x: np.linalg.inv(np.zeros((2, 2))),
        lambda x: exit(),
        lambda x: (_ for _ in ()).throw(KeyboardInterrupt),
        lambda x: (_ for _ in ()).throw(MemoryError),
        lambda x: object(),
        lambda x: [1.0, 2.0, 3.0],
    ],
)
def test_every_failure_is_one_and_the_same(bad: Any) -> None:
    shape = Shape("array", ("0", "1"), (2,))
    row = block_row(FunctionFit(bad), shape, read(X), 10, number=0)
    assert row.tobytes() == np.full(2, np.nan).tobytes()


def test_no_convergence_is_a_failure() -> None:
    fit = adapted(sklearn.LogisticRegression(max_iter=1))
    assert np.isnan(alone(fit, read(1e3 * X, CLASS))[1]).all()


@pytest.mark.claim("run_block.2")
def test_random_states_come_from_the_number() -> None:
    for draw in (lambda x: np.random.random(), lambda x: random.random()):
        rows = []
        for number in (1, 1, 2):
            random.random()  # what was drawn before, by others, decides nothing
            np.random.random()
            rows.append(block_row(FunctionFit(draw), Shape("number", ("v",)), read(X), 0, number=number)[0])
        assert rows[0] == rows[1] != rows[2]


def test_bias_corrections() -> None:
    """The variance with division by n has the bias -1/n: both corrections remove it exactly."""
    fit, shape = FunctionFit(lambda x: float(np.var(x))), Shape("number", ("v",))
    seen: dict[Any, list[float]] = {None: [], "half": [], "jackknife": []}
    for index in range(600):
        part = read(np.random.default_rng(index).normal(size=20))
        for correct, found in seen.items():
            found.append(block_row(fit, shape, part, 10, number=0, correct=correct)[0])
    assert np.mean(seen[None]) == pytest.approx(0.95, abs=0.07)
    for correct in ("half", "jackknife"):
        assert np.mean(seen[correct]) == pytest.approx(1.0, abs=0.07)
        assert np.mean(np.subtract(seen[correct], seen[None])) == pytest.approx(0.05, abs=0.02)
    people = read(np.arange(6.0), people=[0, 0, 1, 1, 2, 2])
    by_person = block_row(FunctionFit(lambda x: float(x.mean() ** 2)), shape, people, 3, number=0, correct="jackknife")
    means = [np.delete(np.arange(6.0), [2 * k, 2 * k + 1]).mean() ** 2 for k in range(3)]
    assert by_person[0] == pytest.approx(3 * 2.5**2 - 2 * np.mean(means))


def test_shapes() -> None:
    assert declared(["a", "b"], None) == Shape("named", ("a", "b"))
    assert declared("number", None) == Shape("number", ("value",))
    assert declared(2, None) == Shape("array", ("0", "1"), (2,))
    assert declared(None, None) is None
    assert shape_of({"a": 1.0}).value([2.0]) == {"a": 2.0}
    text = declared("label", None)
    assert text is not None
    rows = np.stack([text.row("größe"), np.full(200, np.nan)])
    assert texts(rows) == ["größe", None]
    with pytest.raises(ValueError, match="text"):
        text.row("x" * 300)


def test_the_scikit_learn_face() -> None:
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    x = np.tile(X, (4, 1))
    y = np.tile(Y, 4)
    model = discreet.sklearn.PrivateEstimator(sklearn.LinearRegression(), 3.0, 1e-6, settings={"rng": Seeded(1)})
    copy = clone(model)
    assert copy.get_params()["epsilon"] == 3.0
    assert copy.set_params(estimator__fit_intercept=True, epsilon=4.0).epsilon == 4.0
    with pytest.raises(ValueError, match="nothing"):
        copy.set_params(nothing=1)
    with pytest.raises(Refused):
        model.predict(x)
    assert model.fit(x, y).coef_ == pytest.approx([1, -1, 0.5], abs=0.2)
    assert model.release_.guarantee.epsilon == 3.0
    assert model.predict(x[:2]) == pytest.approx(x[:2] @ model.coef_ + model.intercept_)
    labels = np.where(y > 0, "yes", "no")
    inner = discreet.sklearn.PrivateEstimator(
        sklearn.LogisticRegression(), 4.0, 1e-6, classes=["no", "yes"], settings={"rng": Seeded(1)}
    )
    pipeline = make_pipeline(FunctionTransformer(), inner).fit(x, labels)
    assert (pipeline.predict(x) == labels).mean() > 0.7
    assert pipeline.predict_proba(x[:3]).shape == (3, 2)
    with pytest.raises(BadInput, match="no default"):
        discreet.sklearn.PrivateEstimator(sklearn.LinearRegression()).fit(x, y)


def test_the_callers_own_random_numbers_go_on() -> None:
    np.random.seed(3)
    wanted = np.random.random(2)
    np.random.seed(3)
    first = np.random.random()
    fit = FunctionFit(lambda x: float(np.random.random()))
    block_row(fit, Shape("number", ("value",)), read(np.arange(4.0)), 2, number=7)
    assert [first, np.random.random()] == wanted.tolist()


def test_options_reach_the_model_or_are_refused() -> None:
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    people = np.random.default_rng(1)
    frame = pd.DataFrame({"x": people.normal(size=200)})
    frame["y"] = (people.random(200) < 1 / (1 + np.exp(-frame["x"]))).astype(float)
    given = adapted(smf.glm, formula="y ~ x", options={"family": sm.families.Binomial(), "maxiter": 50})
    assert dict(given.answer(frame, None)) == pytest.approx(
        dict(smf.glm("y ~ x", frame, family=sm.families.Binomial()).fit().params)
    )
    with pytest.raises(BadInput, match="'famly', which GLM and its fit do not take; they take family"):
        adapted(smf.glm, formula="y ~ x", options={"famly": 1})
    with pytest.raises(BadInput, match="an entry for each row"):
        adapted(sm.GLM, options={"offset": np.ones(200)})
    with pytest.raises(BadInput, match="'q', which mean"):
        adapted(statistics.mean, options={"q": 1})
    with pytest.raises(BadInput, match="they take sample_weight"):
        adapted(sklearn.LinearRegression(), options={"q": 1})


def test_what_blocks_cannot_share_is_refused_with_the_reason() -> None:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    for estimator, attributes, words in (
        (KMeans(3), None, "clusters have no order.*discreet.kmeans"),
        (KMeans(3), "cluster_centers_", "clusters have no order"),
        (GaussianMixture(2), "means_", "clusters have no order"),
        (PCA(2), "components_", "components have no sign.*discreet.covariance"),
    ):
        with pytest.raises(BadInput, match=words):
            adapted(estimator, attributes=attributes)
    assert len(adapted(PCA(2), attributes="explained_variance_").answer(np.eye(5), None)) == 2


def test_an_estimator_without_coefficients_says_what_it_has() -> None:
    from sklearn.tree import DecisionTreeRegressor

    x = np.random.default_rng(1).normal(size=(4000, 2))
    with pytest.raises(BadInput, match=r"no coef_ and no intercept_; name what to read, .*feature_importances_"):
        discreet.fit(DecisionTreeRegressor(), x, x[:, 0], epsilon=1.0, delta=1e-6)


def test_survival_at_given_times() -> None:
    lifelines = pytest.importorskip("lifelines")
    people = np.random.default_rng(1)
    times, seen = people.exponential(size=300), (people.random(300) < 0.7).astype(float)
    fit = adapted(lifelines.KaplanMeierFitter(), options={"timeline": [0.5, 1.0]})
    found = fit.answer(times, seen)
    assert list(found) == ["0.5", "1"]
    assert found["1"] == pytest.approx(math.exp(-0.7), abs=0.15)
    with pytest.raises(BadInput, match="'timeline'"):
        adapted(lifelines.KaplanMeierFitter()).answer(times, seen)


def test_levels_of_a_formula_are_declared() -> None:
    import statsmodels.formula.api as smf

    people = np.random.default_rng(1)
    n = 12_000
    frame = pd.DataFrame(
        {"x": people.exponential(size=n), "cut": people.choice(list("abc"), p=[0.1, 0.3, 0.6], size=n)}
    )
    frame["y"] = np.exp(frame["x"] / 4 + 0.5 * (frame["cut"] == "b") + people.normal(size=n) / 4)
    ask: dict[str, Any] = {"formula": "np.log(y) ~ x + C(cut)", "epsilon": 12.0, "delta": 1e-6, "rng": Seeded(1)}
    with pytest.raises(BadInput, match=r"C\(cut\), whose levels are not declared"):
        discreet.fit(smf.ols, frame, **ask)
    release = discreet.fit(smf.ols, frame, categories={"cut": ["a", "b", "c"]}, engine=Local(workers=0), **ask)
    low, high = release.interval()
    assert low["C(cut)[T.b]"] < 0.5 < high["C(cut)[T.b]"]
    assert high["C(cut)[T.b]"] - low["C(cut)[T.b]"] < 0.3


def test_a_frame_takes_the_fast_path_of_its_array() -> None:
    people = np.random.default_rng(1)
    x = people.normal(size=(4000, 2))
    frame, y = pd.DataFrame(x, columns=["a", "b"]), x[:, 0] + people.normal(size=4000)
    for rows in (x, frame):
        release = discreet.fit(sklearn.LinearRegression(), rows, y, epsilon=16.0, delta=1e-6, rng=Seeded(1))
        assert release.provenance.parameters["path"] == "batched least squares"
    assert list(release.value) == ["coef_[a]", "coef_[b]", "intercept_"]


def test_a_session_hands_its_columns_to_a_formula_by_name() -> None:
    import statsmodels.formula.api as smf

    people = np.random.default_rng(1)
    n = 6000
    frame = pd.DataFrame({"x": people.exponential(size=n), "cut": people.choice(list("ab"), size=n)})
    frame["y"] = frame["x"] + (frame["cut"] == "b") + people.normal(size=n) / 4
    ask: dict[str, Any] = {"formula": "y ~ x + C(cut)", "categories": {"cut": ["a", "b"]}, "engine": Local(workers=0)}
    with discreet.open(frame, budget=discreet.Budget(50.0, 1e-4), ledger=":memory:", rng=Seeded(1)) as private:
        release = private.fit(smf.ols, ["x", "cut", "y"], epsilon=16.0, delta=1e-6, **ask)
    assert list(release.value) == ["Intercept", "C(cut)[T.b]", "x"]
    assert release.value["C(cut)[T.b]"] == pytest.approx(1.0, abs=0.2)
