"""Regressions of people who were drawn in clusters."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Seeded, audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, itemised
from discreet.errors import BadInput
from discreet.models import design_effects
from discreet.models.descent import Descent
from discreet.models.design_effects import GROUPS, Between, in_clusters, in_groups
from discreet.models.features import Features
from discreet.models.least_squares import LeastSquares
from discreet.plan.plan_file import PlannedRelease
from discreet.privacy.guarantee import Neighbours
from discreet.stages.gram import first_moments, sum_sensitivity
from discreet.statistics.survey_design import Design

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
SIX = Design.of(range(6), False)
FAMILIES = ("linear", "logistic", "poisson")


def people(size: int, family: str = "linear", *, clusters: int = 6, shared: float = 0.0, seed: int = 0) -> np.ndarray:
    """Rows of x, y and the number of a cluster, which share a part of y."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(clusters, size=size)
    x = rng.normal(3.0, 2.0, size)
    linear = 0.4 * x - 1.0 + shared * rng.normal(size=clusters)[cluster]
    y = linear + rng.exponential(1.0, size) - 1
    if family == "logistic":
        y = (rng.random(size) < 1 / (1 + np.exp(-linear))).astype(float)
    elif family == "poisson":
        y = rng.poisson(np.exp(linear)).astype(float)
    return np.column_stack([x, y, cluster])


def made(family: str, **options: Any) -> Any:
    given: dict[str, Any] = {"clusters": SIX, "delta": 1e-5} | options
    budget = given.pop("epsilon"), given.pop("delta")
    if family == "linear":
        return LeastSquares(*budget, names=("x",), **given)
    return Descent(Features(("x",)), *budget, family=family, **given)  # type: ignore[arg-type]


def neighbours(relation: Neighbours, family: str, step: int = 83) -> list[audit.Pair]:
    """Odd rows against each other, or there and not there, beside a crowd."""
    crowd, pairs = people(300, family), []
    odd = [
        (x, y, place)
        for x, y in ((4.0, 1.0), (1e6, 1.0), (3.0, 1e6), (-9.0, 0.0), (math.nan, 0.0), (3.0, 0.0))
        for place in (0.0, 5.0, -1.0, math.nan)
    ]
    several = [(a, b) for a in odd for b in odd if a is not b][::step]
    for index, (left, right) in enumerate(several):
        one = np.vstack([crowd[:150], [left], crowd[150:]])
        other = np.vstack([crowd[:150], *([[right]] if relation is REPLACE else []), crowd[150:]])
        pairs.append(audit.Pair(one, other) if index % 2 else audit.Pair(other, one))
    return pairs


@pytest.mark.claim("design_effects.1")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_neighbours_stay_within_the_sensitivity_of_every_draw(family: str, relation: Neighbours) -> None:
    mechanism = made(family, epsilon=60.0, neighbours=relation)
    assert implies(mechanism.loss, mechanism.guarantee)
    audit.check(mechanism, neighbours(relation, family), hostile_values=False).require()
    assert mechanism.release(people(300, family), Seeded(1)).refusal is None  # all stages were seen


@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_every_draw_is_in_the_loss(relation: Neighbours) -> None:
    size = 5000 if relation is REPLACE else None
    for family in FAMILIES:
        mechanism = made(family, epsilon=4.0, neighbours=relation, size=size)
        assert implies(mechanism.loss, mechanism.guarantee)
        assert itemised(drawn(mechanism, people(5000, family))) == itemised(mechanism.loss)


@pytest.mark.claim("design_effects.1")
@pytest.mark.parametrize("wrong", ["half of the sensitivity", "a row in two groups", "scores that are not cut"])
def test_planted_mistakes_are_caught(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, sums = sum_sensitivity, first_moments
    if wrong == "half of the sensitivity":
        monkeypatch.setattr(design_effects, "sum_sensitivity", lambda *given: honest(*given) * Fraction(1, 2))
    elif wrong == "a row in two groups":
        monkeypatch.setattr(design_effects, "pairwise", lambda ends: [(0, end) for end in ends[1:]])
    else:
        monkeypatch.setattr(
            design_effects,
            "first_moments",
            lambda rows, seen, reach, shape, bits: 4 * sums(rows, seen, reach / 4, shape, bits),
        )
    mechanism = made("linear", epsilon=60.0, neighbours=ADD)
    assert not audit.check(mechanism, neighbours(ADD, "linear", 41), hostile_values=False).passed


@pytest.mark.claim("design_effects.1")
def test_whoever_is_in_no_cluster_does_not_count() -> None:
    rows = people(3000)
    answers = set()
    for wrong in (-1.0, math.nan, -math.inf):
        rows[::5, -1] = wrong
        answers.add(repr(made("linear", epsilon=4.0, neighbours=ADD).release(rows, Seeded(1)).value))
    rows[::5, :2] = math.nan
    rows[::5, -1] = 2.0
    answers.add(repr(made("linear", epsilon=4.0, neighbours=ADD).release(rows, Seeded(1)).value))
    assert len(answers) == 1
    found = in_clusters(rows, ready=np.negative)
    assert found["rows"].shape == (3000, 2)
    assert np.isnan(found["rows"][~(rows[:, -1] >= 0)]).all()
    assert np.array_equal(found["places"], rows[:, -1], equal_nan=True)


@pytest.mark.claim("design_effects.2")
def test_groups_keep_strata_apart_and_share_clusters_alike() -> None:
    design = Design.of({"north": list(range(300)), "south": list(range(100)), "west": [1, 2]}, True)
    found = in_groups(design)
    assert len(found.strata) == 12 + 4 + 2
    sizes = np.bincount(list(found.places.values()))
    assert sizes.tolist() == [25] * 16 + [1, 1]
    for (stratum, _), place in found.places.items():
        assert ("north", "south", "west")[found.strata[place]] == stratum
    assert in_groups(design) == found
    assert in_groups(SIX).freedom == 5
    assert in_groups(Design.of(range(17), False)).freedom == GROUPS - 1


@pytest.mark.claim("design_effects.2")
def test_the_variance_between_groups_is_not_below_the_truth() -> None:
    """Normal sums: the mean of 4,000 estimates is above the variance; 5 standard errors of that mean stay below it."""
    rng, ways = np.random.default_rng(1), np.array([[1.0, 0.0], [0.6, 0.8]])
    found = []
    for _ in range(4000):
        sums = rng.normal(0, 3.0, (16, 2)) + 50 + rng.normal(0, 4.0, (16, 2))
        found.append(Between(sums, 4.0, 0.0, in_groups(Design.of(range(16), False))).variance(ways))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(4000)
    assert (mean - 5 * error > 16 * 9.0).all()
    assert (mean < 320).all()  # 285: with the noise in it as it is, 256 more


@pytest.mark.claim("design_effects.2")
@pytest.mark.parametrize("family", ["linear", "poisson"])
def test_the_error_has_its_parts(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that tell nothing leave the error of people drawn one by one; clusters and what was cut make it larger."""
    seen: list[Any] = []
    module = "least_squares" if family == "linear" else "descent"
    rows = people(6000, family)

    def spread(sums: Any, excess: float) -> Any:
        found = Between(sums, 0.0, excess, SIX)

        def between(*given: Any, **_: Any) -> Between:
            seen.append(given)
            return found

        monkeypatch.setattr(f"discreet.models.{module}.between", between)
        release = made(family, epsilon=20.0, neighbours=ADD).release(rows, Seeded(1))
        assert release.refusal is None, release.refusal
        return release.spread

    alone, cut = spread(np.zeros((6, 2)), 0.0), spread(np.zeros((6, 2)), 3e4)
    apart = spread(np.array([[200.0, 0.0], [-200.0, 0.0]] * 3), 0.0)
    more = spread(np.array([[200.0, 0.0], [-200.0, 0.0]] * 3), 1e4)
    plain = made(family, epsilon=20.0, clusters=None, neighbours=ADD).release(rows[:, :-1], Seeded(1)).spread
    assert np.allclose(alone.sampling_all, plain.sampling_all, rtol=0.3)
    assert (cut.sampling_all > 1.5 * alone.sampling_all).all()
    assert apart.sampling_all.max() > 2 * alone.sampling_all.max()
    assert more.sampling_all.max() > 1.1 * apart.sampling_all.max()
    assert alone.freedom == 5
    wide, normal = (replace(apart, freedom=freedom).interval(0.95) for freedom in (5.0, math.inf))
    ratio = (wide.high.intercept - wide.low.intercept) / (normal.high.intercept - normal.low.intercept)
    assert 1.2 < ratio < 1.35  # Student's factor is 1.31
    assert len(seen) == 4


@pytest.mark.claim("design_effects.3")
def test_the_length_of_scores_depends_on_what_was_released() -> None:
    """Where noise is small nobody more is cut; where it is large at most a tenth."""

    lengths = []
    for epsilon in (0.8, 900.0):
        radii: list[float] = []

        def sums(rows: Any, seen: Any, reach: float, *rest: Any, radii: list[float] = radii) -> Any:
            radii.append(reach)
            return first_moments(rows, seen, reach, *rest)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(design_effects, "first_moments", sums)
            assert made("linear", epsilon=epsilon, neighbours=ADD).release(people(6000), Seeded(1)).refusal is None
        assert len(radii) == 6
        assert len(set(radii)) == 1
        lengths.append(radii[0])
    assert lengths[0] < lengths[1]


@pytest.mark.claim("design_effects.2")
@pytest.mark.claim("least_squares.3")
@pytest.mark.claim("descent.3")
@pytest.mark.parametrize("family", FAMILIES)
def test_people_who_share_much_have_wider_intervals(family: str) -> None:
    thirty = in_groups(Design.of(range(30), False))
    widths, other = [], None
    for shared, clusters in ((0.8, thirty), (0.8, None), (0.0, thirty)):
        rows = people(9000, family, clusters=30, shared=shared)
        rows[:, -1] = thirty.numbers(rows[:, -1].astype(int))
        rows = rows if clusters is not None else rows[:, :-1]
        release = made(family, epsilon=8.0, clusters=clusters, neighbours=ADD).release(rows, Seeded(2))
        interval = release.interval()
        assert ("people drawn in these clusters" in interval.about) is (clusters is not None)
        widths.append(interval.high.intercept - interval.low.intercept)
        other = release if clusters is None else other
    assert widths[0] > 1.4 * max(widths[1:])
    assert other is not None
    assert widths[2] < 4 * widths[1]  # what looking for it costs


def test_the_same_digits_by_array_frame_formula_session_and_labels() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(people(2500, clusters=20), columns=["x", "y", "c"])
    frame["s"] = np.where(frame.c < 8, "north", "south")
    design = {"north": list(range(8)), "south": list(range(8, 20))}
    terms: dict[str, Any] = {"epsilon": 6.0, "delta": 1e-6, "design": design}
    verb = discreet.linear_regression
    beside = {"clusters": frame["c"].astype(int), "strata": frame["s"]}
    seen = [
        verb(frame[["x"]].to_numpy(), frame["y"], **beside, **terms, rng=Seeded(3)),
        verb("y ~ x", frame.assign(c=frame.c.astype(int)), clusters="c", strata="s", **terms, rng=Seeded(3)),
        verb("y ~ x", frame, **beside, **terms, rng=Seeded(3)),
    ]
    whole = frame.assign(c=frame.c.astype(int))
    budget = discreet.Budget(99.0, 1e-3)
    with discreet.open(whole, budget=budget, ledger=":memory:", unit="row", rng=Seeded(3)) as session:
        seen.append(session.linear_regression(["x"], "y", clusters="c", strata="s", **terms))
    assert len({(one.refusal, tuple(one.value.coef), one.value.intercept) for one in seen}) == 1
    assert "y ~ x, clusters c, strata s" in str(seen[1]).splitlines()[0]
    yes = {"epsilon": 6.0, "delta": 1e-6, "design": list(range(20)), "clusters": whole["c"]}
    numbers, labels = frame.y > 0, np.where(frame.y > 0, "yes", "no")
    one = discreet.logistic_regression(frame[["x"]], numbers, **yes, rng=Seeded(1))
    two = discreet.logistic_regression(frame[["x"]], labels, classes=["no", "yes"], **yes, rng=Seeded(1))
    assert one.value.coef == two.value.coef
    assert "by steps: the one that takes weights, clusters" in str(one)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"design": None}, "clusters= needs design=, the public list of clusters"),
        ({"clusters": None}, "design= needs clusters="),
        ({"design": [1]}, "list the public clusters, two or more"),
        ({"method": "friendly"}, "method is 'friendly', which has no clusters"),
        ({"clusters": None, "design": None, "strata": [1] * 1000}, "strata= are of clusters="),
    ],
)
def test_what_cannot_be_clustered_says_so(given: dict[str, Any], words: str) -> None:
    x, y, cluster = people(1000).T
    terms: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "clusters": cluster, "design": range(6)} | given
    with pytest.raises(BadInput, match=words):
        discreet.linear_regression(x[:, None], y, **terms)
    with pytest.raises(BadInput, match="clusters need delta > 0"):
        discreet.logistic_regression(x[:, None], y > 0, epsilon=1.0, clusters=cluster, design=range(6))
    with pytest.raises(BadInput, match="offset, weights or clusters"):
        replace(made("logistic", epsilon=1.0), tilted=True)


@pytest.mark.study
@pytest.mark.claim("design_effects.2")
@pytest.mark.parametrize("relation", ["add_or_remove", "replace"])
def test_intervals_hold_for_people_drawn_in_clusters(relation: str) -> None:
    """200 runs at 95%: fewer than 171 of an honest interval once in 10^6 (binomial)."""
    rng, held = np.random.default_rng(8), np.zeros(3)
    terms: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6, "neighbours": relation, "design": range(40)}
    terms |= {"missing": "keep"} if relation == "replace" else {}
    for seed in range(200):
        shared, places = rng.exponential(0.5, 40), rng.normal(size=40)
        cluster = np.repeat(np.arange(40), rng.integers(100, 300, 40))
        x = np.column_stack([places[cluster] + rng.normal(size=len(cluster)), rng.normal(size=len(cluster))])
        y = 0.5 * x[:, 0] - 0.3 * x[:, 1] + shared[cluster] - 0.5 + rng.exponential(1.0, len(cluster))
        low, high = discreet.linear_regression(x, y, clusters=cluster, **terms, rng=Seeded(seed)).interval()
        truth = (1.0, 0.5, -0.3)
        ends = [(low.intercept, high.intercept), *zip(low.coef, high.coef, strict=True)]
        held += [one <= true <= other for (one, other), true in zip(ends, truth, strict=True)]
    assert held.min() >= 171


def test_plans_and_forecasts_take_clusters() -> None:
    entry = {"id": "a", "statistic": "linear_regression", "formula": "y ~ x", "clusters": "c", "strata": "s"}
    assert PlannedRelease.model_validate(entry).placed() == {"X": "y ~ x", "clusters": "c", "strata": "s"}
    known: dict[str, Any] = {"rows": 3000, "epsilon": 4.0, "delta": 1e-6}
    design = {"a": [1, 2], "b": [1, 2, 3]}
    plain = discreet.forecast("linear_regression", **known)
    drawn = discreet.forecast("linear_regression", **known, clusters=True, strata="s", design=design)
    assert drawn.half_width is not None
    assert plain.half_width is not None
    assert drawn.half_width > 1.2 * plain.half_width
    assert "people of a cluster are no more alike than others; where they are, the error is larger" in drawn.assumptions
