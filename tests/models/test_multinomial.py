"""Multinomial logistic regression on clipped Kronecker scores."""

import math
from typing import Any

import numpy as np
import pytest
from tests.models.worlds import pairs

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, itemised
from discreet.errors import BadInput, DiscreetError
from discreet.models import multinomial_stages
from discreet.models.class_scores import CurvesByClass, ScoresByClass, contrasts, likely_rows, of_classes
from discreet.models.features import Features
from discreet.models.multinomial import Multinomial, likeliest_coefficients
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.values import ClassCoefficients, recall, stored
from discreet.stages.gram import Frame, lengths_of

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
LABELS = ("low", "mid", "top")
COMMON = [(math.sin(7.0 * k), float(round(1 + 0.6 * math.sin(7.0 * k) + 0.7 * math.cos(3.0 * k)))) for k in range(400)]
HOSTILE = (0.0, -1.0, 1.0, 2.0, 5e-324, 1e-300, 1e300, math.inf, -math.inf, math.nan)
TRUTH = np.array([[-0.5, 0.5, 0.02], [0.3, 1.0, -0.02]])  # intercepts first


def asked(relation: Neighbours = ADD, epsilon: float = 60.0, **options: Any) -> Multinomial:
    return Multinomial(Features(("x",)), LABELS, epsilon, 1e-4, neighbours=relation, **options)


def people(size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(size, 2)) * [1, 30] + [0, 100]
    linear = np.column_stack([np.zeros(size), (x - [0, 100]) @ TRUTH[:, 1:].T + TRUTH[:, 0]])
    return x, (linear + rng.gumbel(size=(size, 3))).argmax(axis=1)


def few_pairs(relation: Neighbours) -> list[audit.Pair]:
    """A row more, or another one: in turn far out, missing, and of another class."""
    near, far, gone = (0.3, 0.0), (1e12, 2.0), (math.nan, 1.0)
    both = [(near, far), (gone, near), (far, (-2.0, 1.0))]
    if relation is REPLACE:
        return [audit.Pair([*COMMON, one], [*COMMON, other]) for one, other in both]
    return [audit.Pair(COMMON, [*COMMON, one]) for one in (near, far, (-2.0, 1.0))]


def views() -> list[Any]:
    """Rows of one feature at a fit: as scores, and as information."""
    turn = np.array([[1.0, 0.2], [0.1, 0.9]])
    inner = Frame.of(np.array([1.0, 2.0]), np.vstack([turn, contrasts(3) @ [[0.3, 1.0], [-0.2, 0.5]]]), np.zeros(2))
    scores = ScoresByClass(inner, inner.step, contrasts(3))
    even = Frame.of(np.ones(4), np.eye(4) + 0.1)
    return [scores, CurvesByClass(scores, 0.9, even), CurvesByClass(scores, math.inf, even)]


@pytest.mark.claim("multinomial.1")
@pytest.mark.claim("multinomial_stages.1")
@pytest.mark.claim("multinomial_stages.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_audited_on_small_tables(relation: Neighbours) -> None:
    mechanism = asked(relation)
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, [*pairs(relation, COMMON)[1::4], *few_pairs(relation)], hostile_values=False).require()
    assert mechanism.release(np.array(COMMON), Seeded(1)).refusal is None  # all stages were seen


@pytest.mark.claim("multinomial.1")
@pytest.mark.claim("multinomial_stages.1")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_every_draw_is_in_the_loss(relation: Neighbours) -> None:
    size = 400 if relation is REPLACE else None
    mechanism = asked(relation, size=size)
    assert itemised(mechanism.loss) == itemised(drawn(mechanism, COMMON))
    assert implies(mechanism.loss, mechanism.guarantee)


@pytest.mark.claim("multinomial_stages.1")
@pytest.mark.parametrize(
    ("mutant", "relation"), [("scores", ADD), ("curves", ADD), ("classes", ADD), ("classes", REPLACE)]
)
def test_mutants_are_caught(mutant: str, relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    if mutant == "classes":
        true = of_classes
        monkeypatch.setattr(
            multinomial_stages, "of_classes", lambda *given, **known: tuple(2 * one for one in true(*given, **known))
        )
    else:
        kind = CurvesByClass if mutant == "curves" else ScoresByClass
        turned = kind.turned

        def nosy(self: Any, rows: Any) -> Any:
            seen, lost = turned(self, rows)
            return seen * (1 + len(rows) % 7), lost

        monkeypatch.setattr(kind, "turned", nosy)
    with pytest.raises(DiscreetError):
        audit.check(asked(relation), few_pairs(relation)[:2], hostile_values=False).require()


@pytest.mark.claim("multinomial_stages.3")
def test_people_of_a_label_that_is_not_listed_are_nobody() -> None:
    x, y = people(4000)
    labels, kept = np.array(LABELS, dtype=object)[y], np.arange(4000) % 5 > 0
    others = np.where(kept, labels, "none of these")
    terms: dict[str, Any] = {"epsilon": 20.0, "delta": 1e-6, "classes": LABELS, "bounds": [(-4, 4), (-50, 250)]}
    with_others, without = (
        discreet.multinomial_regression(*table, rng=Seeded(1), **terms).value
        for table in ((x, others), (x[kept], labels[kept]))
    )
    np.testing.assert_array_equal(with_others.coef, without.coef)


@pytest.mark.claim("multinomial_stages.3")
def test_a_row_of_no_listed_class_is_no_row() -> None:
    """Nor is one with a missing entry, where places are public."""
    rows, answers = np.array(COMMON), set()
    placed = Multinomial(Features(("x",), bounds=(-2, 2)), LABELS, 60.0, 1e-4, neighbours=ADD)
    for x, entry in ((0.1, 3.0), (9.0, -1.0), (0.1, math.nan), (math.nan, 1.0)):
        rows[::5] = x, entry
        answers.add(repr(placed.release(rows, Seeded(1)).answer))
    assert len(answers) == 1
    assert "None" not in answers


@pytest.mark.claim("class_scores.1")
def test_what_is_seen_of_a_row_depends_on_that_row_alone() -> None:
    odd = [(1.0, one, other) for one in HOSTILE for other in HOSTILE]
    table = np.array([*odd, *[(1.0, *row) for row in COMMON]])
    for view in views():
        together, lost = view.turned(table)
        assert np.isfinite(together).all()
        assert lost[: len(odd)].sum() == 19
        assert not together[:, lost].any() if isinstance(view, CurvesByClass) else True
        for place in [*range(0, len(odd), 7), *range(len(odd), len(table), 31)]:
            alone, _ = view.turned(table[place : place + 1])
            assert (alone[:, 0] == together[:, place]).all()
        backwards, _ = view.turned(table[::-1])
        assert (backwards[:, ::-1] == together).all()


@pytest.mark.claim("class_scores.1")
@pytest.mark.claim("class_scores.2")
def test_scores_and_information_are_those_of_the_likelihood() -> None:
    """Beside the formulas, by products of matrices; the length of a vector is that of the matrix."""
    scores, cut, curves = views()
    rows = np.array([(1.0, *row) for row in COMMON])
    seen = scores.inner.turned(rows[:, :2])[0].T * scores.step
    u, linear = seen[:, :2], seen[:, 2:] / scores.step * scores.per
    chances = np.exp(linear) / np.exp(linear).sum(axis=1, keepdims=True)
    residuals = ((rows[:, 2:] == np.arange(3)) - chances) @ contrasts(3)
    expected = np.einsum("na,ni->nai", residuals, u).reshape(len(rows), 4)
    assert scores.turned(rows)[0].T * scores.step == pytest.approx(expected, abs=1e-4)
    entries, even = curves.turned(rows)[0].T * curves.step, curves.even.step * 2.0**20 * curves.even.whole
    for place in range(0, 400, 37):
        spread = np.diag(chances[place]) - np.outer(chances[place], chances[place])
        matrix = even @ np.kron(contrasts(3).T @ spread @ contrasts(3), np.outer(u[place], u[place])) @ even.T
        assert curves.matrix(entries[place]) == pytest.approx(matrix, abs=1e-4)
        assert np.linalg.norm(entries[place]) == pytest.approx(np.linalg.norm(matrix), rel=1e-4)
    long = lengths_of(scores.turned(rows)[0]) * scores.step > cut.limit
    assert 0 < long.sum() < 400
    assert not cut.turned(rows)[0][:, long].any()
    assert cut.turned(rows)[0][:, ~long].any(axis=0).all()


@pytest.mark.claim("class_scores.3")
def test_counts_of_classes_are_of_disjoint_rows() -> None:
    piece = np.array([0.0, 1.0, 1.0, 2.0, 3.0, -1.0, 0.5, math.nan, math.inf])
    assert of_classes(iter([piece, piece[:2]]), classes=3) == (2, 3, 1)


@pytest.mark.claim("multinomial.2")
@pytest.mark.claim("multinomial_stages.2")
def test_refusals_read_public_numbers_and_noisy_ones() -> None:
    few = asked(REPLACE, epsilon=1.0)
    words = str(few.release(np.array(COMMON), Seeded(1)).refusal)
    assert "there are 400 rows of 1 columns and 3 classes" in words
    assert few.release(np.full((400, 2), np.nan), Seeded(2)).refusal == words
    assert "by a noisy count" in str(asked(epsilon=1.0).release(np.array(COMMON), Seeded(1)).refusal)
    one = np.column_stack([np.sin(7.0 * np.arange(400)), np.arange(400) % 2])
    assert "class 'top' has hardly any rows" in str(asked().release(one, Seeded(1)).refusal)
    for value in (0.0, 1e300, -math.inf, math.nan):
        for rows in (np.full((400, 2), value), np.array([*COMMON, (value, value)])):
            assert asked(REPLACE).release(rows, Seeded(1)).guarantee.epsilon == 60


@pytest.mark.claim("multinomial_stages.2")
def test_made_up_rows_have_the_released_moments() -> None:
    moments = np.array([[1.0, 0.3], [0.3, 1.4]])
    turn = np.linalg.inv(np.linalg.cholesky(moments))
    rows = likely_rows(turn)
    assert rows.T @ rows / len(rows) == pytest.approx(moments, abs=0.05)
    assert (likely_rows(turn) == rows).all()


@pytest.mark.claim("multinomial.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_coefficients_and_intervals(relation: Neighbours) -> None:
    """Fails by chance less than once in 10^6 runs: each misses a population's value by 5 half-widths at most."""
    truth = np.column_stack([TRUTH[:, 0] - TRUTH[:, 1:] @ [0, 100], TRUTH[:, 1:]]).ravel()
    held, errors = [], []
    for seed in range(6):
        x, y = people(6000, seed)
        release = discreet.multinomial_regression(
            x, y, epsilon=2.0, delta=1e-6, classes=[0, 1, 2], neighbours=relation, rng=Seeded(seed)
        )
        low, high = (np.array(end.numbers) for end in release.interval())
        held.append((low <= truth) & (truth <= high))
        value = np.array(release.value.numbers)
        errors.append((value - truth) / ((high - low) / 2))
    assert np.mean(held) > 0.7
    assert np.abs(errors).max() < 2.6
    assert np.abs(errors).mean() > 0.15  # and they are no wider than they need to be
    assert "influence limited" in release.interval().about
    assert "epsilon 2, delta 1e-06" in str(release)


@pytest.mark.claim("multinomial.3")
def test_the_order_of_classes_only_says_which_is_compared_with() -> None:
    x, y = people(20_000, 5)
    one, other = (
        discreet.multinomial_regression(x, y, epsilon=20.0, delta=1e-6, classes=listed, rng=Seeded(1)).value
        for listed in ([0, 1, 2], [2, 0, 1])
    )
    assert other[1, "x0"] == pytest.approx(one[1, "x0"] - one[2, "x0"], abs=0.05)
    assert other.predict_proba(x[:9])[:, 1] == pytest.approx(one.predict_proba(x[:9])[:, 0], abs=0.02)
    plain = likeliest_coefficients(np.column_stack([np.ones(len(x)), x - [0, 100]]), y, 3)
    assert np.asarray(one.coef) == pytest.approx(plain[:, 1:], rel=0.2, abs=0.003)


def test_two_classes_are_a_logistic_model() -> None:
    x, y = people(20_000, 6)
    price: dict[str, Any] = {"epsilon": 10.0, "delta": 1e-6, "rng": Seeded(2)}
    many = discreet.multinomial_regression(x, y > 0, classes=[False, True], **price).value
    two = discreet.logistic_regression(x, y > 0, **price).value
    assert np.asarray(many.coef)[0] == pytest.approx(np.asarray(two.coef), rel=0.1, abs=0.003)


def test_parameters_are_refused_in_words() -> None:
    x, y = people(100)
    options: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "classes": [0, 1, 2]}
    for wrong, words in (
        ({"classes": [0]}, "2 to 20 public labels"),
        ({"classes": [0, 1, 1]}, "each once"),
        ({"classes": "abc"}, "2 to 20 public labels"),
        ({"delta": 0.0}, "delta > 0"),
        ({"bounds": {"z": (0, 1)}}, "the columns are x0, x1"),
        ({"names": ["a"]}, "names=1 was declared"),
    ):
        with pytest.raises(BadInput, match=words):
            discreet.multinomial_regression(x, y, **options | wrong)
    with pytest.raises(BadInput, match="leave columns out, or join classes"):
        discreet.multinomial_regression(np.zeros((9, 80)), y[:9], **options)
    with pytest.raises(BadInput, match="takes no formula"):
        discreet.multinomial_regression("y ~ x", {"y": y, "x": x[:, 0]}, **options)
    with pytest.raises(BadInput, match="make a multinomial_regression"):
        discreet.logistic_regression(x, y, epsilon=1.0, classes=[0, 1, 2])


def test_the_value_predicts_and_is_stored() -> None:
    value = ClassCoefficients(np.array([[1.0, 0.0], [3.0, -1.0]]), np.array([0.5, -2.0]), ("age", "bmi"), LABELS)
    assert value.labels == ["mid, intercept", "mid, age", "mid, bmi", "top, intercept", "top, age", "top, bmi"]
    assert value["top", "intercept"] == -2.0
    assert value.predict([[-9.0, 0.0], [0.0, 0.0], [9.0, 0.0]]).tolist() == ["low", "mid", "top"]
    odds = np.exp([0.0, 1.5, 0.0])
    assert value.predict_proba([[1.0, 1.0]])[0] == pytest.approx(odds / odds.sum())
    back = recall(stored(value))
    assert back.numbers == value.numbers
    assert back.classes == LABELS
    assert list(value.to_frame().columns) == ["class", "name", "value"]
    assert str(value).startswith("log odds of mid, top against low: mid, intercept 0.5")
    assert value.with_numbers(np.arange(6.0)).numbers == list(range(6))
    for wrong in (("low", "age"), ("mid", "height"), "mid"):
        with pytest.raises(BadInput, match="is not a class beside the first"):
            value[wrong]  # type: ignore[index]
    with pytest.raises(BadInput, match="rows of 2 columns"):
        value.predict([[1.0]])
    for broken in ({"coef": [[1.0, 2.0]]}, {"intercept": [1.0]}, {"names": ["age"]}):
        with pytest.raises(BadInput):
            recall(stored(value) | broken)
