"""Weights and offsets of regressions."""

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import discreet
from discreet import Seeded, audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, itemised
from discreet.errors import BadInput
from discreet.models.descent import Descent
from discreet.models.features import Features
from discreet.models.first_frame import Scores
from discreet.models.least_squares import LeastSquares
from discreet.models.score import AtFit
from discreet.models.weighted import MOST, Weighted, WeightedOutcomes, weight_unit
from discreet.plan.plan_file import PlannedRelease
from discreet.privacy.declaration import declared
from discreet.privacy.guarantee import Neighbours
from discreet.stages import gram
from discreet.stages.gram import Frame

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
HOSTILE = (0.0, -1.0, 1.0, 5e-324, 1e-300, 1e300, math.inf, -math.inf, math.nan)
BOTH: dict[str, Any] = {"offset": True, "weights": True}


def people(size: int, family: str = "linear", seed: int = 0) -> np.ndarray:
    """Rows of x, y, offset and weight."""
    rng = np.random.default_rng(seed)
    x, offset, weight = rng.normal(3.0, 2.0, size), rng.normal(1.0, 0.5, size), np.exp(rng.normal(5.0, 0.7, size))
    linear = 0.4 * x - 1.0 + offset
    y = linear + rng.exponential(1.0, size) - 1
    if family == "logistic":
        y = (rng.random(size) < 1 / (1 + np.exp(-linear))).astype(float)
    elif family == "poisson":
        y = rng.poisson(np.exp(linear)).astype(float)
    return np.column_stack([x, y, offset, weight])


def made(family: str, **options: Any) -> Any:
    """A model of x with offset and weights."""
    if family == "linear":
        return LeastSquares(options.pop("epsilon"), options.pop("delta"), names=("x",), **options)
    return Descent(Features(("x",)), options.pop("epsilon"), options.pop("delta"), family=family, **options)  # type: ignore[arg-type]


@pytest.mark.claim("weighted.1")
def test_what_is_seen_of_a_row_depends_on_that_row_alone() -> None:
    table = np.column_stack([people(50)[:, :2], np.resize(HOSTILE, 50)])
    frame = Frame.of(np.array([2.0, 3.0]), np.eye(2), np.array([1.0, 0.0]))
    views: list[Any] = [
        *(Weighted(inner, 0.5, root) for inner in (frame, Scores(frame)) for root in (True, False)),
        WeightedOutcomes(2.0, 5.0),
    ]
    for view in views:
        seen, _ = view.turned(table)
        assert np.isfinite(seen).all()
        alone = np.column_stack([view.turned(row[None, :])[0] for row in table])
        assert np.array_equal(seen, alone)
    none, _ = Weighted(frame, 0.5, False).turned(table[np.isnan(table[:, -1])])
    assert not none.any()
    most, _ = Weighted(frame, 1e-300, False).turned(table[:1] * [1, 1, 0] + [0, 0, 1e300])
    assert np.array_equal(most, MOST * frame.turned(table[:1, :-1])[0])


@pytest.mark.claim("weighted.2")
@pytest.mark.parametrize("family", ["linear", "logistic", "poisson"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_a_row_without_a_weight_above_0_is_no_row(family: str, relation: Neighbours) -> None:
    mechanism = made(family, epsilon=8.0, delta=1e-6, neighbours=relation, **BOTH)
    rows = people(4000, family)
    answers = set()
    for wrong in (math.nan, 0.0, -2.0, math.inf):
        rows[::4, -1] = wrong
        rows[1::4, -2] = math.nan  # nor one without an offset
        release = mechanism.release(rows, Seeded(1))
        answers.add((release.refusal, repr(release.value)))
    assert len(answers) == 1


@pytest.mark.claim("weighted.3")
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_the_unit_of_the_weights_costs_one_draw_and_grows_with_them(relation: Neighbours) -> None:
    costs = (
        made("linear", epsilon=1.0, delta=1e-6, neighbours=relation, **BOTH)
        .stages(9000 if relation is REPLACE else None)
        .costs
    )
    rows = people(9000)

    class Once(Seeded):
        costs: tuple[Any, ...] = ()

        def blur(self, *given: Any, **terms: Any) -> Any:
            self.costs += (terms["cost"],)
            return super().blur(*given, **terms)

    units = []
    for times in (1.0, 2.0, 1024.0):
        rng = Once(1)
        units.append(weight_unit(rows * [1, 1, 1, times], costs, {"neighbours": relation, "rng": rng}))
        assert rng.costs == costs.parts["weights"]
    assert units[0] is not None
    assert [unit / units[0] for unit in units if unit] == pytest.approx([1.0, 2.0, 1024.0], rel=0.1)
    assert 0.5 < units[0] / math.sqrt(float(np.mean(rows[:, -1] ** 2))) < 2
    assert weight_unit(rows * [1, 1, 1, 0], costs, {"neighbours": relation, "rng": Seeded(1)}) is None


def neighbours(relation: Neighbours, family: str, step: int) -> list[audit.Pair]:
    """Odd rows against each other, or there and not there, beside a crowd."""
    crowd, pairs = people(300, family), []
    odd = [(4.0, 1.0, offset, weight) for offset in (0.0, 70.0, 1e300, math.nan) for weight in HOSTILE]
    odd += [(1e6, 1e6, 0.0, 100.0), (math.nan, 0.0, 1.0, 1e5), (-9.0, 0.0, 4.0, 1e6), (3.0, 0.0, 1.0, 150.0)]
    several = [(a, b) for a in odd for b in odd if a is not b][::step]
    for index, (left, right) in enumerate(several):
        one = np.vstack([crowd[:150], [left], crowd[150:]])
        other = np.vstack([crowd[:150], *([[right]] if relation is REPLACE else []), crowd[150:]])
        pairs.append(audit.Pair(one, other) if index % 2 else audit.Pair(other, one))
    return pairs


@pytest.mark.claim("weighted.1")
@pytest.mark.claim("least_squares.1")
@pytest.mark.claim("descent.1")
@pytest.mark.parametrize("family", ["linear", "logistic", "poisson"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_neighbours_stay_within_the_sensitivity_of_every_draw(family: str, relation: Neighbours) -> None:
    mechanism = made(family, epsilon=60.0, delta=1e-4, neighbours=relation, **BOTH)
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, neighbours(relation, family, 197), hostile_values=False).require()
    assert mechanism.release(people(300, family), Seeded(1)).refusal is None  # all stages were seen


@pytest.mark.parametrize("family", ["linear", "logistic", "poisson"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_every_draw_is_in_the_loss(family: str, relation: Neighbours) -> None:
    size = 5000 if relation is REPLACE else None
    mechanism = made(family, epsilon=4.0, delta=1e-6, neighbours=relation, size=size, **BOTH)
    assert implies(mechanism.loss, mechanism.guarantee)
    assert itemised(drawn(mechanism, people(5000, family))) == itemised(mechanism.loss)


def test_weighted_scores_are_counted_by_outcome() -> None:
    """Cases and controls may weigh very differently: each has a tail of its own, twice."""
    weighted, plain = (
        made("logistic", epsilon=1.0, delta=1e-6, weights=one).stages(5000).costs.parts for one in (True, False)
    )
    assert [len(weighted[stage]) for stage in ("early", "late")] == [2, 2]
    assert len(plain["early"]) == 1
    assert "late" not in plain


@pytest.mark.claim("newton_stages.4")
@pytest.mark.parametrize(("family", "view"), [("linear", Weighted), ("logistic", Weighted), ("logistic", AtFit)])
def test_weights_after_the_clip_are_caught(family: str, view: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake that would cost most: a clipped row times an unbounded weight."""
    honest = gram.steps_of

    def late(rows: Any, frame: Any, *given: Any) -> Any:
        if not isinstance(frame, view):
            return honest(rows, frame, *given)
        inner: Any = frame.inner if isinstance(frame, Weighted) else replace(frame, unit=None)  # type: ignore[type-var]
        factor = np.nan_to_num(np.clip(rows[:, -1] / frame.unit, 0, MOST))  # type: ignore[attr-defined]
        return np.rint(honest(rows[:, :-1], inner, *given) * factor)

    monkeypatch.setattr(gram, "steps_of", late)
    mechanism = made(family, epsilon=60.0, delta=1e-4, neighbours=ADD, **BOTH)
    assert not audit.check(mechanism, neighbours(ADD, family, 211), hostile_values=False).passed


@pytest.mark.claim("descent.3")
@pytest.mark.parametrize("family", ["logistic", "poisson"])
def test_an_answer_tells_the_limit_of_weighted_influence(family: str) -> None:
    """Twice the weights have twice the limit; hardly a row exceeds it."""
    rows = people(9000, family)
    release = made(family, epsilon=2.0, delta=1e-6, **BOTH).release(rows, Seeded(1))
    twice = made(family, epsilon=2.0, delta=1e-6, **BOTH).release(rows * [1, 1, 1, 2], Seeded(1))
    (way, limit), (_, more) = (cast("Any", one.spread).limit for one in (release, twice))
    assert more == pytest.approx(2 * limit, rel=0.1)
    linear = release.value.intercept + release.value.coef[0] * rows[:, 0] + rows[:, 2]
    mean = np.exp(linear) if family == "poisson" else 1 / (1 + np.exp(-linear))
    lengths = np.linalg.norm(np.column_stack([np.ones(len(rows)), rows[:, 0]]) @ way, axis=1)
    assert (rows[:, -1] * lengths * np.abs(rows[:, 1] - mean) > limit).sum() < 40
    assert "weighted population's" in release.interval().about


@pytest.mark.parametrize("family", ["linear", "logistic", "poisson"])
def test_constant_weights_change_little_and_their_scale_nothing(family: str) -> None:
    x, y, offset, _ = people(6000, family, seed=1).T
    verb, budget = getattr(discreet, f"{family}_regression"), {"epsilon": 2.0, "delta": 1e-6}
    found = [
        verb(x[:, None], y, offset=offset, weights=weights, rng=Seeded(2), **budget).interval()
        for weights in (None, np.full(6000, 3.0), np.full(6000, 6.0), np.full(6000, 7e6))
    ]
    ends = np.array([[one.low["x0"], one.high["x0"]] for one in found])
    width = ends[0, 1] - ends[0, 0]
    assert np.abs(ends[2:] - ends[1]).max() < 0.2 * width
    assert np.abs(ends[1] - ends[0]).max() < 1.5 * width


@pytest.mark.parametrize(
    ("family", "relation"),
    [("linear", "add_or_remove"), ("linear", "replace"), ("logistic", "add_or_remove"), ("poisson", "add_or_remove")],
)
def test_the_same_digits_by_array_frame_formula_and_session(family: str, relation: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(people(4000, family), columns=["x", "y", "o", "w"])
    frame.loc[::50, "w"] = np.nan
    verb = getattr(discreet, f"{family}_regression")
    terms: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "neighbours": relation}
    given = [
        (
            (frame[["x"]].to_numpy(), frame["y"].to_numpy()),
            {"weights": frame["w"].to_numpy(), "offset": list(frame["o"])},
        ),
        ((frame[["x"]], frame["y"]), {"weights": frame[["w"]], "offset": frame["o"]}),
        (("y ~ x", frame), {"weights": "w", "offset": "o"}),
        (("y ~ x", frame), {"weights": frame["w"], "offset": frame["o"].to_numpy()}),
    ]
    seen = [verb(*columns, **beside, rng=Seeded(3), **terms) for columns, beside in given]
    with discreet.open(
        frame, budget=discreet.Budget(9.0, 1e-3), ledger=":memory:", neighbours=relation, rng=Seeded(3)
    ) as session:
        seen.append(session.ask(verb.__name__, ["x"], "y", weights="w", offset="o", epsilon=4.0, delta=1e-6))
    assert len({(one.refusal, tuple(one.value.coef), one.value.intercept) for one in seen}) == 1
    assert "weighted" in str(seen[-1]).splitlines()[0]
    assert ", offset o, weights w" in str(seen[2]).splitlines()[0]
    assert ", offset o, weights w" in str(seen[-1]).splitlines()[0]
    assert seen[-1].provenance.parameters["weights"] is True


def test_labels_have_weights_too() -> None:
    x, y, offset, weight = people(4000, "logistic").T
    terms: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "weights": weight, "offset": offset}
    plain = discreet.logistic_regression(x[:, None], y, rng=Seeded(1), **terms)
    for labels in (np.where(y == 1, "yes", "no"), (y + 1).astype(int), np.where(y == 1, "yes", "no").astype(object)):
        classes = ("no", "yes") if labels.dtype.kind != "i" else (1, 2)
        coded = discreet.logistic_regression(x[:, None], labels, classes=classes, rng=Seeded(1), **terms)
        assert coded.value.coef == plain.value.coef
    formula = discreet.logistic_regression(
        "C(label) ~ x",
        {"x": x, "label": np.where(y == 1, "yes", "no")},
        levels={"label": ["no", "yes"]},
        rng=Seeded(1),
        **terms,
    )
    assert formula.value.coef == plain.value.coef


@pytest.mark.parametrize(
    ("verb", "given", "words"),
    [
        ("linear_regression", {"method": "friendly"}, "has no weights; leave method out"),
        ("linear_regression", {"method": "sgd"}, "has no weights"),
        ("logistic_regression", {"method": "objective"}, "has no weights"),
        ("logistic_regression", {"delta": 0.0}, "need delta > 0"),
        ("poisson_regression", {"method": "friendly"}, "has no weights"),
        ("linear_regression", {"weights": "w"}, "give the column itself"),
        ("linear_regression", {"weights": np.ones(9)}, "weights has 9"),
        ("linear_regression", {"weights": np.ones((1000, 2))}, "several columns"),
    ],
)
def test_what_cannot_be_weighted_says_so(verb: str, given: dict[str, Any], words: str) -> None:
    x, y, _, weight = people(1000, "logistic").T
    terms: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "weights": weight} | given
    with pytest.raises(BadInput, match=words):
        getattr(discreet, verb)(x[:, None], y, **terms)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("nobody", "there is no column"),
        ("kind", "takes as C"),
        (np.ones(3), "weights has 3"),
        ("text", "text"),
    ],
)
def test_weights_beside_a_formula_that_cannot_be(weights: Any, words: str) -> None:
    x, y, _, _ = people(1000).T
    frame = {"x": x, "y": y, "kind": np.arange(1000) % 3, "text": np.full(1000, "a")}
    with pytest.raises(BadInput, match=words):
        discreet.linear_regression("y ~ x + C(kind)", frame, weights=weights, epsilon=1.0, delta=1e-6)


def test_an_outcome_within_bounds_keeps_them_before_its_offset() -> None:
    x, y, offset, _ = people(3000).T
    wild = np.where(np.arange(3000) % 10, y, 1e9)
    one, two = (
        discreet.linear_regression(
            x[:, None], outcome, offset=offset, bounds=[None, (-9, 9)], epsilon=4.0, delta=1e-6, rng=Seeded(1)
        )
        for outcome in (wild, np.clip(wild, -9, 9))
    )
    assert one.value.coef == two.value.coef


def test_plans_and_forecasts_take_weights_and_offset() -> None:
    entry = {"id": "a", "statistic": "poisson_regression", "formula": "y ~ x", "weights": "w", "offset": "o"}
    assert PlannedRelease.model_validate(entry).placed() == {"X": "y ~ x", "weights": "w", "offset": "o"}
    with pytest.raises(BadInput, match="variance takes no weights"):
        PlannedRelease.model_validate({"id": "a", "statistic": "variance", "columns": "x", "weights": "w"}).placed()
    assert declared("logistic_regression").needs_delta({}, {"weights": object()})  # type: ignore[dict-item]
    assert not declared("logistic_regression").needs_delta({}, {"weights": None})
    seen = discreet.forecast("poisson_regression", rows=1500, epsilon=8.0, delta=1e-6, weights="w", offset=True)
    assert seen.error is not None
    assert seen.without_privacy is not None
    assert 1.0 < seen.error / seen.without_privacy < 3.0
    assert any("weights: lognormal" in said for said in seen.assumptions)


def least_squares(x: Any, y: Any, weight: Any) -> Any:
    design = np.column_stack([x, np.ones(len(x))])
    return np.linalg.solve(design.T @ (design * weight[:, None]), design.T @ (weight * y))


@pytest.mark.study
@pytest.mark.claim("least_squares.3")
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_intervals_hold_the_weighted_projection_of_a_curve(relation: str, spread: float) -> None:
    """200 runs at 95%: fewer than 171 of an honest interval once in 10^6 (binomial)."""
    rng = np.random.default_rng(8)
    x = rng.uniform(0.0, 4.0, 400_000)
    y = 1 + 0.5 * x + 0.05 * x**2 + (0.5 + 0.3 * x) * rng.exponential(1.0, len(x))
    weight = np.exp(spread * rng.normal(size=len(x)) + 0.2 * x)
    truth, held = least_squares(x, y, weight), 0
    for run in range(200):
        chosen = rng.integers(0, len(x), 8000)
        found = discreet.linear_regression(
            x[chosen, None],
            y[chosen],
            weights=weight[chosen],
            epsilon=1.0,
            delta=1e-6,
            neighbours=relation,
            missing="keep",
            rng=Seeded(run),
        ).interval()
        held += found.low["x0"] <= truth[0] <= found.high["x0"]
    assert held >= 171
