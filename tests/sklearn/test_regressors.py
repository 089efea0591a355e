"""The scikit-learn faces, by scikit-learn's own checks."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import discreet
from discreet.errors import BadInput, Refused
from discreet.sklearn import (
    PrivateAdditiveModel,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateNaiveBayes,
)

VALUES = "an exception that depends on a value of the data tells of it: missing and infinite outcomes are no error"
PAID = "weights of a logistic model need delta > 0, and then more rows than the checks have"
EXCLUDED = {
    "check_supervised_y_no_nan": VALUES,
    "check_dtype_object": VALUES,
    "check_classifiers_regression_target": VALUES,
    "check_classifier_not_supporting_multiclass": VALUES,
    "check_fit2d_1sample": "one row tells no scale: a refusal, which says so in words of its own",
    "check_complex_data": "one complex number makes all of an array complex: it is missing, and the others are not",
    "check_classifiers_classes": "the classes are public and declared, not read off the data",
    "check_estimators_empty_data_messages": "scikit-learn's words for an array without columns tell the number of rows",
    "check_all_zero_sample_weights_error": VALUES,
    "check_sample_weight_equivalence_on_dense_data": "50 rows: a refusal, which says so in words of its own",
}
PURE = {  # a logistic model with delta 0 takes no weights, which it says
    "check_sample_weights_pandas_series": PAID,
    "check_sample_weights_not_an_array": PAID,
    "check_sample_weights_list": PAID,
    "check_sample_weights_shape": PAID,
    "check_sample_weights_not_overwritten": PAID,
    "check_classifiers_one_label_sample_weights": PAID,
}


class Listed(PrivateLogisticRegression):
    """Lists of rows as arrays: the checks fit with them, and the face refuses them."""

    def _rows(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        return super()._rows(np.array(X) if isinstance(X, list) else X, reset=reset)


class Classed(PrivateLogisticRegression):
    """The same, with the classes of each check, every row 60 times, of which the class of some is another: the checks'
    tables are small, and their classes often apart."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803
        declared = self.classes
        try:
            found = sorted(set(np.asarray(y).ravel().tolist())) if y is not None else []
            self.classes = found if len(found) > 1 else declared
            return super().fit(X, y, sample_weight)
        finally:
            self.classes = declared

    def _rows(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        rows = super()._rows(np.array(X) if isinstance(X, list) else X, reset=reset)
        return np.tile(rows, (60, 1)) if reset else rows

    def _checked(self, outcome: Any, rows: Any) -> Any:
        found, named = np.tile(super()._checked(outcome, rows[: len(rows) // 60]), 60), list(self.classes)
        others = dict(zip(named, [*named[1:], named[0]], strict=True))
        for cut in (len(found) // 4, len(found) // 8):  # an eighth are of the next class, an eighth of the one after
            found[:cut] = [others.get(one, one) for one in found[:cut].tolist()]
        return found


class Counted(PrivateNaiveBayes):
    """The same, and the classes of each check, of which some have two and some three."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
        declared = self.classes
        try:
            self.classes = sorted(set(np.asarray(y).ravel().tolist())) if y is not None else declared
            self.classes = declared if len(self.classes) < 2 else self.classes
            return super().fit(X, y)
        finally:
            self.classes = declared

    def _rows(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        return super()._rows(np.array(X) if isinstance(X, list) else X, reset=reset)


class Shaped(PrivateAdditiveModel):
    """The same, with the classes of each check, every row 60 times."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
        declared = self.classes
        try:
            found = sorted(set(np.asarray(y).ravel().tolist())) if y is not None else []
            self.classes = found if len(found) == 2 else declared
            return super().fit(X, y)
        finally:
            self.classes = declared

    def _rows(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        rows = super()._rows(np.array(X) if isinstance(X, list) else X, reset=reset)
        return np.tile(rows, (60, 1)) if reset else rows

    def _checked(self, outcome: Any, rows: Any) -> Any:
        return np.tile(super()._checked(outcome, rows[: len(rows) // 60]), 60)


class Repeated(PrivateLinearRegression):
    """Every row 200 times: the checks' tables are too small for a private regression, which refuses them."""

    def _rows(self, X: Any, *, reset: bool) -> Any:  # noqa: N803
        rows = super()._rows(np.array(X) if isinstance(X, list) else X, reset=reset)
        return np.tile(rows, (200, 1)) if reset else rows

    def _checked(self, outcome: Any, rows: Any) -> Any:
        return np.tile(super()._checked(outcome, rows[: len(rows) // 200]), 200)

    def _weights(self, given: Any, rows: Any) -> Any:
        found = super()._weights(given, rows[: len(rows) // 200])
        return None if found is None else np.tile(found, 200)


MODELS = {
    "logistic": Listed(1000.0, bounds=(-5, 5)),
    "multinomial": Classed(200.0, 1e-6, classes=(0, 1, 2)),
    "linear": Repeated(20.0),
    "additive model": Shaped(200.0, bounds=(-5, 5)),
    "naive Bayes": Counted(1000.0, bounds=(-5, 5), classes=(0, 1, 2)),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_scikit_learns_own_checks(model: Any) -> None:
    excluded = EXCLUDED | PURE if isinstance(model, PrivateLogisticRegression) else EXCLUDED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, expected_failed_checks=excluded, on_fail=None, on_skip=None)
    failed = [f"{one['check_name']}: {one['exception']}" for one in results if one["status"] == "failed"]
    assert not failed
    assert sum(one["status"] == "passed" for one in results) > 35


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6000, 2)) * [1, 30]
    return x, x @ [1.0, -0.05] + rng.logistic(size=6000)


def test_in_pipelines_and_pickles() -> None:
    x, y = table()
    labels = np.where(y > 0, "ill", "well")
    model = PrivateLogisticRegression(2.0, classes=("well", "ill"), random_state=1)
    pipeline = make_pipeline(FunctionTransformer(), model).fit(x, labels)
    assert pipeline.score(x, labels) > 0.7
    assert pipeline.predict_proba(x[:3]).sum(axis=1) == pytest.approx(1)
    again = pickle.loads(pickle.dumps(model))
    assert (again.coef_ == model.coef_).all()
    assert str(again.release_) == str(model.release_)
    assert cross_val_score(model, x, labels, cv=2).mean() > 0.7
    line = PrivateLinearRegression(2.0, random_state=1).fit(x, y)
    assert line.coef_ == pytest.approx([1.0, -0.05], abs=0.3)
    assert line.score(x, y) > 0.4
    assert set(vars(line)) >= {"coef_", "intercept_", "release_"}


def test_weights_and_several_classes() -> None:
    x, y = table()
    rows, outcome = np.vstack([x, x]), np.concatenate([y, y + 5])
    near = np.repeat([1.0, 1e-9], len(x))  # the second half counts for nothing
    line = PrivateLinearRegression(3.0, ridge=1.0, random_state=1)
    assert line.fit(rows, outcome, near).intercept_ == pytest.approx(0.0, abs=0.4)
    assert line.fit(rows, outcome).intercept_ == pytest.approx(2.5, abs=0.4)
    assert "with this ridge" in line.release_.interval().about
    logit = PrivateLogisticRegression(3.0, 1e-6, random_state=1)
    assert logit.fit(rows, outcome > 0, sample_weight=near).intercept_[0] == pytest.approx(0.0, abs=0.5)
    assert logit.fit(rows, outcome > 0).intercept_[0] > 1
    with pytest.raises(BadInput, match="one weight for each row"):
        line.fit(rows, outcome, near[:-1])
    grades = np.array(["low", "mid", "top"])[np.digitize(y, [-1.0, 1.0])]
    model = PrivateNaiveBayes(3.0, 1e-6, classes=("low", "mid", "top"), random_state=1).fit(x, grades)
    assert model.score(x, grades) > 0.5
    assert model.predict_proba(x).shape == (6000, 3)
    assert abs(model.class_count_.sum() - 6000) < 200
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(x) == model.predict(x)).all()
    shaped = PrivateAdditiveModel(3.0, 1e-6, classes=("mid", "ends"), random_state=1)
    ends = np.where(np.abs(x[:, 0]) > 0.7, "ends", "mid")
    assert shaped.fit(x, ends).score(x, ends) > 0.9
    assert (pickle.loads(pickle.dumps(shaped)).predict(x) == shaped.predict(x)).all()
    assert set(shaped.shapes_) == {"x0", "x1"}
    lines = PrivateLogisticRegression(3.0, 1e-6, classes=("low", "mid", "top"), random_state=1).fit(x, grades)
    assert lines.score(x, grades) > 0.55
    assert lines.coef_.shape == (3, 2)
    assert (lines.predict(x) == lines.release_.value.predict(x)).all()
    with pytest.raises(BadInput, match="with more than two classes"):
        lines.fit(x, grades, near[:6000])


def test_what_is_refused() -> None:
    x, y = table()
    with pytest.raises(BadInput, match="no default"):
        discreet.sklearn.PrivateLogisticRegression().fit(x, y > 0)
    with pytest.raises(BadInput, match="length"):
        discreet.sklearn.PrivateLinearRegression(1.0).fit(x, y[:-1])
    with pytest.raises(Refused):
        discreet.sklearn.PrivateLinearRegression(1.0).fit(x[:20], y[:20])


@pytest.mark.claim("entries.2")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_one_odd_cell_is_missing_and_changes_how_no_other_is_read(relation: str) -> None:
    """Outcomes of 1 count as yes, beside a text as well: left to numpy, a text would make texts of all."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 2)), [1] * 300

    def fitted(rows: Any, outcome: Any) -> Any:
        model = PrivateLogisticRegression(50.0, bounds=(-2, 2), neighbours=relation, random_state=1)
        return model.fit(rows, outcome).intercept_[0]

    expected = fitted(x, np.array(y))
    assert expected > 2
    odd = ["a", *y[1:]]
    cells = x.astype(object)
    cells[5, 1] = "a"
    frame = pd.DataFrame(cells, columns=["u", "v"])
    for rows, outcome in (
        (x, odd),
        (x, np.array(odd, dtype=object)),
        (cells, y),
        (frame, pd.Series(odd)),
    ):
        assert fitted(rows, outcome) == pytest.approx(expected, abs=0.5)
    line = PrivateLinearRegression(20.0, neighbours=relation, random_state=1)
    assert line.fit(np.tile(frame, (20, 1)), ["a", *rng.normal(size=5999)]).coef_.shape == (2,)


@pytest.mark.parametrize("first", [[1.0, 2.0], [1.0, 2.0, 3.0], [1.0], None, "a", ["a", None], 7])
def test_no_row_of_a_list_says_how_wide_the_others_are(first: Any) -> None:
    """A list is refused by its type, whoever is in it; what was fitted has a width, by which lists are read."""
    x, y = table()
    rows, words = [first, *x[1:].tolist()], set()
    for model in (
        PrivateLogisticRegression(2.0),
        PrivateLinearRegression(2.0),
        discreet.sklearn.PrivateKMeans(2, 2.0, 1e-6),
    ):
        with pytest.raises(BadInput, match="list") as caught:
            model.fit(rows, y)
        words.add(str(caught.value))
    assert len(words) == 2
    assert "6000" not in "".join(words)
    fitted = PrivateLinearRegression(2.0, random_state=1).fit(x, y)
    assert (fitted.predict(rows)[1:] == fitted.predict(x)[1:]).all()
    centres = discreet.sklearn.PrivateKMeans(2, 2.0, 1e-6, settings={"rng": discreet.Seeded(1)}).fit(x)
    assert (centres.transform(rows)[1:] == centres.transform(x)[1:]).all()


@pytest.mark.parametrize("model", [PrivateLogisticRegression(2.0), PrivateLinearRegression(2.0)])
def test_what_a_face_refuses_tells_no_value_and_not_how_many(model: Any) -> None:
    x, y = table()
    for rows, outcome in ((x[:, 0] + 4711.0, y), (x, np.stack([y, y], axis=1)), (x[:, :0], y), (x, y[:-1])):
        with pytest.raises(BadInput) as caught:
            model.fit(rows, outcome)
        assert not {"4711", "6000", "5999"} & set(str(caught.value).replace(",", " ").split())
    for odd in ("a", None, 1j):
        cells = x.astype(complex if odd == 1j else object)
        cells[0, 0] = odd
        model.set_params(neighbours="add_or_remove", epsilon=20.0)
        assert model.fit(cells, y).coef_.size == 2


def test_one_complex_outcome_is_missing_and_shows_nobody_elses() -> None:
    x, y = table()
    odd = y.astype(complex)
    odd[0] = 1j
    for rows, outcome in ((x, odd), (x, odd[:, None]), (np.ma.MaskedArray(x), np.ma.MaskedArray(y))):
        model = PrivateLinearRegression(20.0, random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert model.fit(rows, outcome).coef_.size == 2
    hidden = np.ma.MaskedArray(x, mask=np.zeros_like(x, dtype=bool))
    hidden[:, 1] = np.ma.masked
    assert np.isnan(PrivateLinearRegression()._rows(hidden, reset=True)[:, 1]).all()


def test_whether_anybody_is_there_is_told_only_where_it_is_public() -> None:
    nobody = np.empty((0, 2)), np.empty(0)
    PrivateLogisticRegression(1.0, bounds=(-2, 2)).fit(*nobody)
    with pytest.raises(ValueError, match="0 sample"):
        PrivateLogisticRegression(1.0, bounds=(-2, 2), neighbours="replace").fit(*nobody)


@pytest.mark.parametrize("face", [PrivateAdditiveModel, PrivateNaiveBayes, PrivateLogisticRegression])
def test_truth_values_are_the_classes_0_and_1(face: Any) -> None:
    rows = np.stack([np.arange(9000) % 7, np.arange(9000) % 11], axis=1).astype(float)
    flags = rows[:, 0] > 3
    some = flags.astype(object)
    some[0] = None  # one missing entry makes objects of them
    for outcome in (flags, some, flags.astype(int)):
        fitted = face(2.0, 1e-6, random_state=1) if face is not PrivateNaiveBayes else face(2.0, random_state=1)
        assert fitted.fit(rows, outcome).predict(rows[[0, 6]]).tolist() == [0, 1]
