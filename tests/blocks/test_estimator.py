"""Whatever people fit: adapters, made-up rows, bias correction, fast paths, the scikit-learn face."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.blocks.aggregate import SubsampleAggregate
from discreet.blocks.batched import Batched, batched
from discreet.blocks.centre import BlockMean
from discreet.blocks.estimator import FunctionFit, LifelinesFit, ModelFit, SklearnFit, SourceFit, adapted
from discreet.blocks.firth import firth, inverses
from discreet.blocks.partition import partition
from discreet.blocks.run import block_row
from discreet.blocks.schema import found_shape
from discreet.blocks.shape import Shape, declared, shape_of, texts
from discreet.blocks.table import Table
from discreet.errors import BadInput, Refused
from discreet.noise.seeded import Seeded
from discreet.promise.neighbours import Neighbours

sklearn = pytest.importorskip("sklearn.linear_model")
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(3000, 3))
Y = X @ [1.0, -1.0, 0.5] + 0.3 + GENERATOR.normal(size=3000)
CLASS = (Y > 0).astype(int)
COUNT = GENERATOR.poisson(np.exp(Y / 4))


def alone(fit: Any, table: Table, **options: Any) -> Any:
    shape = found_shape(fit, table)
    return shape, block_row(fit, shape, table, len(table.x) // 2, number=0, **options)


@pytest.mark.claim("RB1")
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
    shape, row = alone(adapted(estimator), Table.of(X, y))
    assert len(shape.names) == names
    fitted = estimator.fit(X, y)
    assert row[:3] == pytest.approx(np.ravel(fitted.coef_))
    assert row[3] == pytest.approx(float(np.ravel(fitted.intercept_)[0]))


def test_pipelines_frames_and_other_attributes() -> None:
    from sklearn.cluster import KMeans
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame = pd.DataFrame(X, columns=["age", "dose", "sex"])
    shape, row = alone(adapted(make_pipeline(StandardScaler(), sklearn.LinearRegression())), Table.of(frame, Y))
    assert shape.names == ("coef_[age]", "coef_[dose]", "coef_[sex]", "intercept_")
    assert row[0] == pytest.approx(sklearn.LinearRegression().fit(StandardScaler().fit_transform(X), Y).coef_[0])
    assert not adapted(make_pipeline(StandardScaler(), sklearn.LinearRegression())).unbiased
    centres = adapted(KMeans(2, n_init=1, random_state=0), attributes="cluster_centers_")
    assert found_shape(centres, Table.of(X)).size == (2, 3)


def test_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    smf = pytest.importorskip("statsmodels.formula.api")
    shape, row = alone(adapted(sm.OLS), Table.of(X, Y))
    assert shape.size == (3,)
    assert row == pytest.approx(sm.OLS(Y, X).fit().params)
    poisson = adapted(partial(sm.GLM, family=sm.families.Poisson()))
    assert alone(poisson, Table.of(X, COUNT))[1] == pytest.approx(
        sm.GLM(COUNT, X, family=sm.families.Poisson()).fit().params
    )
    frame = pd.DataFrame({"y": Y, "a": X[:, 0], "g": pd.Categorical.from_codes(CLASS, ["no", "yes"])})
    formula = adapted(smf.ols, formula="y ~ a + g")
    shape, row = alone(formula, Table.of(frame))
    assert shape.names == ("Intercept", "g[T.yes]", "a")
    assert formula.unbiased
    assert formula.name == "OLS"
    with pytest.raises(BadInput, match="class"):
        adapted(sm.OLS(Y, X))


def test_lifelines() -> None:
    lifelines = pytest.importorskip("lifelines")
    rows = pd.DataFrame({"a": X[:400, 0], "T": np.exp(X[:400, 1]), "E": X[:400, 2] > -1})
    fit = adapted(lifelines.CoxPHFitter(), options={"duration_col": "T", "event_col": "E"})
    assert isinstance(fit, LifelinesFit)
    shape, row = alone(fit, Table.of(rows))
    assert shape.names == ("a",)
    assert row[0] == pytest.approx(lifelines.CoxPHFitter().fit(rows, "T", "E").params_.iloc[0])


def test_functions_of_every_kind() -> None:
    table = Table.of(X)
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


@pytest.mark.claim("SA2")
def test_the_shape_is_found_without_a_private_row() -> None:
    """A table whose every access to values raises: only names and types are read."""

    class Locked(pd.DataFrame):  # type: ignore[misc]
        @property
        def iloc(self) -> Any:
            raise AssertionError("a private row was read")

    table = Table(Locked({"a": [1.0, 2.0], "b": pd.Categorical(["u", "v"])}), None)
    seen = []
    shape = found_shape(FunctionFit(lambda t: seen.append(t) or float(t["a"].mean())), table)  # type: ignore[func-returns-value]
    assert shape.kind == "number"
    assert len(seen[0]) == 240
    with pytest.raises(BadInput, match="names="):
        found_shape(FunctionFit(lambda t: 1.0), Table(pd.DataFrame({"a": ["x"]}), None))
    with pytest.raises(BadInput, match="declare"):
        found_shape(FunctionFit(lambda t: 1 / 0), Table.of(X))


@pytest.mark.claim("RB1")
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
    row = block_row(FunctionFit(bad), shape, Table.of(X), 10, number=0)
    assert row.tobytes() == np.full(2, np.nan).tobytes()


def test_no_convergence_is_a_failure() -> None:
    fit = adapted(sklearn.LogisticRegression(max_iter=1))
    assert np.isnan(alone(fit, Table.of(1e3 * X, CLASS))[1]).all()


@pytest.mark.claim("RB2")
def test_random_states_come_from_the_number() -> None:
    fit = FunctionFit(lambda x: np.random.random())
    rows = [block_row(fit, Shape("number", ("v",)), Table.of(X), 0, number=number)[0] for number in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


def test_bias_corrections() -> None:
    """The variance with division by n has the bias -1/n: both corrections remove it exactly."""
    fit, shape = FunctionFit(lambda x: float(np.var(x))), Shape("number", ("v",))
    seen: dict[Any, list[float]] = {None: [], "half": [], "jackknife": []}
    for index in range(600):
        part = Table.of(np.random.default_rng(index).normal(size=20))
        for correct, found in seen.items():
            found.append(block_row(fit, shape, part, 10, number=0, correct=correct)[0])
    assert np.mean(seen[None]) == pytest.approx(0.95, abs=0.07)
    for correct in ("half", "jackknife"):
        assert np.mean(seen[correct]) == pytest.approx(1.0, abs=0.07)
        assert np.mean(np.subtract(seen[correct], seen[None])) == pytest.approx(0.05, abs=0.02)
    people = Table.of(np.arange(6.0), people=[0, 0, 1, 1, 2, 2])
    by_person = block_row(FunctionFit(lambda x: float(x.mean() ** 2)), shape, people, 3, number=0, correct="jackknife")
    means = [np.delete(np.arange(6.0), [2 * k, 2 * k + 1]).mean() ** 2 for k in range(3)]
    assert by_person[0] == pytest.approx(3 * 2.5**2 - 2 * np.mean(means))


@pytest.mark.claim("BB1")
@pytest.mark.parametrize("correct", [None, "half"])
@pytest.mark.parametrize(
    ("estimator", "y", "tolerance"),
    [
        (sklearn.LinearRegression(), Y, 1e-9),
        (sklearn.LogisticRegression(tol=1e-10), CLASS, 1e-5),
        (sklearn.LogisticRegression(C=0.3, tol=1e-10), CLASS, 1e-5),
        (sklearn.PoissonRegressor(tol=1e-10), COUNT, 1e-5),
        (sklearn.PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000), COUNT, 1e-4),
    ],
    ids=lambda one: str(one)[:30],
)
def test_fast_paths_give_the_same(estimator: Any, y: Any, tolerance: float, correct: Any) -> None:
    fit, table = adapted(estimator), Table.of(X[:1300], y[:1300])
    shape = found_shape(fit, table)
    one, other = (
        SubsampleAggregate(fit, shape, BlockMean(11, 4, 100.0), correct=correct, vectorised=fast).estimates(
            table, Seeded(1)
        )
        for fast in (True, False)
    )
    both = np.isfinite(one).all(axis=1) & np.isfinite(other).all(axis=1)
    assert both.sum() >= 9
    assert np.abs(one - other)[both].max() < tolerance * np.abs(other[both]).max()


@pytest.mark.claim("BB1")
def test_fast_paths_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.api")
    for model, y in ((sm.OLS, Y), (sm.Logit, CLASS), (sm.Poisson, COUNT)):
        fit, table = adapted(model), Table.of(X, y)
        shape = found_shape(fit, table)
        assert batched(fit, shape, table.x, table.y, None) is not None
        one, other = (
            SubsampleAggregate(fit, shape, BlockMean(20, 3, 100.0), vectorised=fast).estimates(table, Seeded(1))
            for fast in (True, False)
        )
        assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.claim("BB1")
def test_poor_blocks_on_the_fast_path() -> None:
    """Collinear, short, spoilt and separated blocks: the same as alone, and no effect on the others."""
    x = GENERATOR.normal(size=(200, 2))
    x[:, 1] = np.where(np.arange(200) < 100, 2 * x[:, 0], x[:, 1])
    y = x[:, 0] + GENERATOR.normal(size=200)
    blocks = partition(Table.of(x, y), 10, Neighbours.REPLACE, Seeded(0))
    fit = adapted(sklearn.LinearRegression())
    shape = found_shape(fit, blocks.table)
    path = batched(fit, shape, blocks.table.x, blocks.table.y, None)
    assert path is not None
    clean = path.rows(blocks, None)
    for spoil in (blocks.table.x[:, 0], blocks.table.y):
        for odd in (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324):
            kept, spoil[3] = spoil[3], odd
            spoilt = path.rows(blocks, None)
            assert np.isnan(spoilt[0]).all() or (np.isfinite(odd) and np.isfinite(spoilt[0]).all())
            assert spoilt[1:].tobytes() == clean[1:].tobytes()
            spoil[3] = kept
    assert path.rows(blocks, None).tobytes() == clean.tobytes()
    collinear = Table.of(np.stack([np.arange(20.0), 2 * np.arange(20.0)], axis=1), np.arange(20.0))
    one = partition(collinear, 1, Neighbours.REPLACE, Seeded(0))
    expected = sklearn.LinearRegression().fit(one.table.x, one.table.y)
    assert path.rows(one, None)[0] == pytest.approx([*expected.coef_, expected.intercept_], abs=1e-9)
    logit = batched(adapted(sklearn.LogisticRegression(C=np.inf)), shape, x, y, None)
    assert logit is not None
    separated = Table.of(np.arange(40.0).reshape(20, 2), (np.arange(20) > 9).astype(float))
    assert np.isnan(logit.rows(partition(separated, 1, Neighbours.REPLACE, Seeded(0)), None)).all()


@pytest.mark.claim("BB1")
def test_fast_paths_in_parts_are_the_same() -> None:
    fit, table = adapted(sklearn.LogisticRegression()), Table.of(X, CLASS)
    shape = found_shape(fit, table)
    blocks = partition(table, 31, Neighbours.REPLACE, Seeded(0))
    path = batched(fit, shape, table.x, table.y, "half")
    assert path is not None
    whole = path.rows(blocks, "half")
    parts = [path.rows(blocks, "half", first, last) for first, last in ((0, 7), (7, 8), (8, 31))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


def test_no_fast_path_where_it_would_differ() -> None:
    table = Table.of(X, Y)
    for estimator in (
        sklearn.LinearRegression(positive=True),
        sklearn.LinearRegression(fit_intercept=False),
        sklearn.Ridge(),
        sklearn.LogisticRegression(class_weight="balanced"),
    ):
        fit = adapted(estimator)
        assert batched(fit, Shape("named", ("a", "b", "c", "d")), table.x, table.y, None) is None
    assert batched(adapted(sklearn.LinearRegression()), Shape("number", ("a",)), table.x, None, None) is None
    assert isinstance(adapted(sklearn.LinearRegression()), SklearnFit)
    assert not isinstance(adapted(sklearn.LinearRegression()), ModelFit)


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
    model = discreet.PrivateEstimator(sklearn.LinearRegression(), 3.0, 1e-6, settings={"rng": Seeded(1)})
    copy = clone(model)
    assert copy.get_params()["epsilon"] == 3.0
    assert copy.set_params(estimator__fit_intercept=True, epsilon=4.0).epsilon == 4.0
    with pytest.raises(BadInput, match="nothing"):
        copy.set_params(nothing=1)
    with pytest.raises(Refused):
        model.predict(x)
    assert model.fit(x, y).coef_ == pytest.approx([1, -1, 0.5], abs=0.2)
    assert model.release_.guarantee.epsilon == 3.0
    assert model.predict(x[:2]) == pytest.approx(x[:2] @ model.coef_ + model.intercept_)
    labels = np.where(y > 0, "yes", "no")
    inner = discreet.PrivateEstimator(
        sklearn.LogisticRegression(), 4.0, 1e-6, classes=["no", "yes"], settings={"rng": Seeded(1)}
    )
    pipeline = make_pipeline(FunctionTransformer(), inner).fit(x, labels)
    assert (pipeline.predict(x) == labels).mean() > 0.7
    assert pipeline.predict_proba(x[:3]).shape == (3, 2)
    with pytest.raises(BadInput, match="no default"):
        discreet.PrivateEstimator(sklearn.LinearRegression()).fit(x, y)


@pytest.mark.claim("BB1")
@pytest.mark.claim("BB2")
@pytest.mark.parametrize("law", ["logistic", "poisson"])
@pytest.mark.parametrize("adjusted", [False, True])
def test_a_block_has_the_same_row_whatever_the_others_hold(law: str, adjusted: bool) -> None:
    """To the last bit: others that settle sooner, later or never must not move it."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=(12, 30, 3))
    y = (generator.random((12, 30)) < 0.5).astype(float)
    path = Batched(law, intercept=True)
    with np.errstate(all="ignore"):
        alone = [path._solve(x[k : k + 1], y[k : k + 1], adjusted)[0] for k in range(12)]
        for odd in (1e6, 1e-9, np.nan):
            other = x.copy()
            other[::3] *= odd
            found = path._solve(other, y, adjusted)
            for k in range(12):
                assert k % 3 == 0 or found[k].tobytes() == alone[k].tobytes()


@pytest.mark.claim("BB2")
def test_a_singular_block_leaves_the_others_alone() -> None:
    good = np.random.default_rng(0).normal(size=(1, 3, 3))
    both = np.concatenate([good, np.zeros((1, 3, 3)), good])
    found = inverses(both)
    assert np.isnan(found[1]).all()
    assert found[0].tobytes() == found[2].tobytes() == inverses(good)[0].tobytes()


@pytest.mark.claim("BB2")
def test_hostile_blocks_change_no_other_under_firth() -> None:
    people = np.random.default_rng(1)
    for law in ("logistic", "poisson"):
        x = people.normal(size=(3, 30, 2))
        y = (people.random((3, 30)) < 0.5).astype(float)
        plain = firth(x, y, law, True)
        for value in (1e160, 1.7e308, 5e-324, 0.0, -1e154):
            for column in (0, slice(None)):
                hostile = x.copy()
                hostile[1, :, column] = value
                with np.errstate(all="ignore"):
                    seen = firth(hostile, y, law, True)
                assert seen[[0, 2]].tobytes() == plain[[0, 2]].tobytes()


def test_the_callers_own_random_numbers_go_on() -> None:
    np.random.seed(3)
    wanted = np.random.random(2)
    np.random.seed(3)
    first = np.random.random()
    fit = FunctionFit(lambda x: float(np.random.random()))
    block_row(fit, Shape("number", ("value",)), Table.of(np.arange(4.0)), 2, number=7)
    assert [first, np.random.random()] == wanted.tolist()
