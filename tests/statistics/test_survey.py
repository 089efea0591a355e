"""The ladder for means, shares and totals with a survey's weights and clusters."""

import math
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput, DiscreetError, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics import survey_sums as module
from discreet.statistics.survey import WeightedMean
from discreet.statistics.survey_design import Design, survey_rows
from discreet.statistics.survey_sums import Units

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
SCHOOLS = Design.of({"a": [1, 2], "b": [1, 2]}, True)
ODD: tuple[tuple[Any, Any], ...] = (
    (0.0, 1.0),
    (-3.0, 2.0),
    (7.5, 0.0),
    (1e300, 1e300),
    (math.inf, math.inf),
    (-math.inf, 5e-324),
    (math.nan, 1.0),
    (1.0, math.nan),
    (2.0, -4.0),
)
SHAPES: list[dict[str, Any]] = [
    {"bounds": (0.0, 5.0), "largest": 3.0},
    {"bounds": (0.0, 1.0), "largest": 3.0, "of": "share"},
    {"bounds": (-2.0, 5.0), "largest": 3.0, "of": "sum"},
    {"largest": 3.0},
    {"bounds": (0.0, 5.0)},
    {"of": "sum"},
    {"bounds": (0.0, 5.0), "largest": 3.0, "design": SCHOOLS},
    {"bounds": (0.0, 5.0), "largest": 3.0, "design": SCHOOLS, "of": "sum"},
    {"design": SCHOOLS},
]


def crowd(designed: bool) -> list[Any]:
    rng = np.random.default_rng(4)
    rows = np.column_stack([np.round(rng.gamma(2.0, 1.0, 90), 1), np.round(rng.uniform(0.5, 3, 90), 1)]).tolist()
    return [[*row, place % 2 + 1, "ab"[place // 2 % 2]] for place, row in enumerate(rows)] if designed else rows


def table(rows: list[Any]) -> Any:
    found = np.empty((len(rows), len(rows[0])), dtype=object if len(rows[0]) == 4 else float)
    for place, row in enumerate(rows):
        found[place] = row
    return found


def world(relation: Neighbours, designed: bool) -> list[audit.Pair]:
    """Odd rows in every place that they may have, with a crowd beside them."""
    many = crowd(designed)
    odd = [[*row, *place] for row in ODD for place in ([(1, "a"), (2, "b"), (9, None)] if designed else [()])]
    if relation is REPLACE:
        chosen = [(left, right) for at, left in enumerate(odd) for right in odd[at + 1 :: 4]]
        return [audit.Pair(table([*many, left]), table([*many, right])) for left, right in chosen]
    return [audit.Pair(table(many), table([*many, one])) for one in odd]


@pytest.mark.claim("survey.1")
@pytest.mark.claim("survey_design.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("shape", SHAPES, ids="-".join)
def test_every_draw_moves_within_its_sensitivity(relation: Neighbours, shape: dict[str, Any]) -> None:
    mechanism = WeightedMean(64.0, neighbours=relation, **shape)
    rows = table(crowd("design" in shape))
    audit.check(mechanism, world(relation, "design" in shape), hostile_values=False).require()
    assert mechanism.release(rows, Seeded(0)).refusal is None  # the world is one of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None


@pytest.mark.claim("survey.1")
@pytest.mark.parametrize("relation", BOTH)
def test_a_smaller_sensitivity_is_found_out(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    true: Any = vars(module)["steps_of"]
    monkeypatch.setattr(module, "steps_of", lambda *given, **named: tuple(2 * a for a in true(*given, **named)))
    many, far, near = crowd(False), [1e300, 1e300], [-1e300, 1e300]
    pair = audit.Pair(table([*many, far]), table([*many, near] if relation is REPLACE else many))
    mechanism = WeightedMean(16.0, bounds=(0, 5), largest=3.0, neighbours=relation)
    with pytest.raises(DiscreetError):
        audit.check(mechanism, [pair], hostile_values=False).require()


@pytest.mark.claim("survey_design.1")
def test_a_record_of_no_listed_cluster_is_in_none() -> None:
    rows = survey_rows({"x": np.ones(6), "clusters": np.array([0, 1, 1, 7, None, 9], dtype=object)})
    units = Units(1.0, 0.0, 1.0, 4, design=Design.of([0, 1], stratified=False))
    assert units.sums(rows) == ([16, 32], [0, 0], 0)
    assert units.sums(rows[3:]) == ([0, 0], [0, 0], 0)


def test_a_total_limits_values_to_bounds_of_any_place() -> None:
    """Bounds that are not about 0: a step is of the larger end, and what is below the lower end counts as that."""
    rows = np.array([[1.0, 1.0], [9.0, 1.0], [5.0, 0.5], [np.nan, 1.0]])
    units = Units(1.0, 0.0, 8.0, 4, (4.0, 8.0))
    weighed, steps = units.of(rows)
    assert weighed.tolist() == [16, 16, 8, 16]
    assert steps.tolist() == [8, 16, 10, 8]


@pytest.mark.claim("survey.2")
def test_too_few_rows_are_refused_before_any_draw_where_their_number_is_public() -> None:
    rows = table(crowd(False))
    recorder = Recorder(Seeded(0))
    assert WeightedMean(1.0, neighbours=REPLACE).release(rows, recorder).refusal is not None
    assert recorder.log == []
    with pytest.raises(Refused, match="public largest_weight="):
        WeightedMean(1.0, neighbours=REPLACE, bounds=(0, 1)).check(100)
    small = WeightedMean(1.0, bounds=(0, 5), largest=1e6).release(rows, Seeded(0))
    assert "add up to too little" in str(small.refusal)
    nothing = WeightedMean(1.0, bounds=(0, 5), largest=1.0).release(np.zeros((0, 2)), Seeded(0))
    assert nothing.refusal is not None


def test_without_noise_it_is_the_weighted_mean_share_and_total() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(5, 1, 4000), rng.uniform(0.1, 2, 4000)
    rows = np.column_stack([x, w])
    for shape in ({}, {"largest": 2.0}, {"bounds": (0, 10)}, {"bounds": (0, 10), "largest": 2.0}):
        found = WeightedMean(1e5, **shape).release(rows, Seeded(0))
        assert found.value == pytest.approx(np.average(x, weights=w), rel=1e-3)
        total = WeightedMean(1e5, of="sum", **shape).release(rows, Seeded(0))
        assert total.value == pytest.approx(x @ w, rel=1e-3)
        middle = np.average(x, weights=w)
        error = math.sqrt(w**2 @ (x - middle) ** 2) / w.sum()
        assert found.spread is not None
        assert found.spread.sampling == pytest.approx(error, rel=1e-2)
    share = WeightedMean(1e5, of="share", bounds=(0, 1), largest=2.0).release(
        np.column_stack([x > 5, w]).astype(float), Seeded(0)
    )
    assert share.value == pytest.approx(np.average(x > 5, weights=w), rel=1e-4)


@pytest.mark.claim("survey_design.2")
@pytest.mark.claim("survey.3")
def test_clusters_have_the_variance_of_textbooks() -> None:
    """Stratified clusters: the linearised variance of a ratio, computed by hand."""
    rng = np.random.default_rng(2)
    stratum, cluster = np.repeat(["a", "a", "b", "b", "b"], 40), np.repeat([1, 2, 1, 2, 3], 40)
    x, w = rng.normal(0, 1, 200) + cluster, rng.uniform(1, 2, 200)
    rows = survey_rows({"x": x, "weights": w, "clusters": cluster, "strata": stratum})
    design = Design.of({"a": [1, 2], "b": [1, 2, 3]}, True)
    found = WeightedMean(1e6, bounds=(-10, 10), largest=2.0, design=design).release(rows, Seeded(0))
    middle = np.average(x, weights=w)
    sums = {pair: ((w * (x - middle))[(stratum == pair[0]) & (cluster == pair[1])]).sum() for pair in design_pairs()}
    wanted = 0.0
    for name, many in (("a", 2), ("b", 3)):
        mine = np.array([sums[name, one] for one in range(1, many + 1)])
        wanted += many / (many - 1) * ((mine - mine.mean()) ** 2).sum()
    assert found.value == pytest.approx(middle, rel=1e-3)
    assert found.spread is not None
    assert found.spread.sampling == pytest.approx(math.sqrt(wanted) / w.sum(), rel=1e-2)
    assert design.freedom == 3
    low, high = found.interval(0.95)
    assert (high - low) / 2 == pytest.approx(3.182 * math.sqrt(wanted) / w.sum(), rel=1e-2)


def design_pairs() -> list[tuple[str, int]]:
    return [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)]


def test_functions_sessions_and_groups_take_weights() -> None:
    rng = np.random.default_rng(3)
    old = rng.uniform(size=6000) < 0.5
    people = {"x": np.where(old, 10.0, 20.0) + rng.normal(0, 1, 6000), "w": np.where(old, 1.0, 3.0), "old": old}
    people["school"] = rng.integers(0, 40, 6000)
    options: dict[str, Any] = {"epsilon": 2.0, "weights": people["w"], "largest_weight": 3.0}
    r = discreet.mean(people["x"], rng=Seeded(1), **options)
    assert float(r) == pytest.approx(17.5, abs=0.4)
    assert "that the weights stand for, people drawn one by one" in str(r)
    share = discreet.proportion(people["old"], rng=Seeded(1), **options)
    assert float(share) == pytest.approx(0.25, abs=0.02)
    with discreet.open(people, budget=50.0, ledger=":memory:", rng=Seeded(1)) as session:
        same = session.mean("x", epsilon=2.0, weights="w", largest_weight=3.0)
        assert float(same) == pytest.approx(17.5, abs=0.4)
        groups = session.mean("x", epsilon=2.0, weights="w", largest_weight=3.0, groupby="old", keys=[True, False])
        assert float(groups[True]) == pytest.approx(10, abs=0.5)
        drawn_in = session.mean(
            "x", epsilon=2.0, weights="w", clusters="school", design=list(range(40)), bounds=(0, 30)
        )
        assert "people drawn in these clusters" in str(drawn_in)
        assert float(drawn_in) == pytest.approx(17.5, abs=1.0)
        total = session.sum("x", epsilon=2.0, weights="w", bounds=(0, 30))
        assert float(total) == pytest.approx(people["x"] @ people["w"], rel=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"largest_weight": 3.0}, "there are none"),
        ({"clusters": [1, 2]}, "clusters= needs design="),
        ({"design": [1, 2]}, "clusters= needs design="),
        ({"weights": [1, 1], "strata": [1, 2]}, "strata= are of clusters="),
        ({"clusters": [1, 2], "design": [1]}, "two or more"),
        ({"clusters": [1, 2], "design": [1, 1]}, "list each once"),
        ({"clusters": [1, 2], "strata": [1, 1], "design": [1, 2]}, "in each stratum"),
        ({"weights": [1, 1], "largest_weight": -1.0}, "give a positive number"),
        ({"weights": [1, 1], "model": "gaussian"}, "takes no model"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_read(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        discreet.mean([1.0, 2.0], epsilon=1.0, **options)


@pytest.mark.study
@pytest.mark.claim("survey.3")
@pytest.mark.parametrize("clusters", [False, True])
def test_intervals_hold_the_populations_mean_and_total(clusters: bool) -> None:
    """300 samples; a 95% interval that holds in fewer than 265 has a chance of one in a million."""
    rng = np.random.default_rng(7)
    size = rng.gamma(3, 1, 20_000)
    school = rng.integers(0, 500, 20_000)
    x = 10 * size + rng.normal(0, 5, 20_000) + rng.normal(0, 4, 500)[school]
    chance = 1 / (1 + size)
    chance /= chance.sum()
    held = {"mean": 0, "sum": 0}
    for run in range(300):
        if clusters:
            chosen = rng.integers(0, 500, 50)
            who = [np.flatnonzero(school == one) for one in chosen]
            places, label = np.concatenate(who), np.repeat(np.arange(50), [len(one) for one in who])
            options: dict[str, Any] = {"clusters": label, "design": range(50), "weights": np.full(len(label), 10.0)}
        else:
            places = rng.choice(20_000, 3000, p=chance)
            options = {"weights": 1 / (3000 * chance[places])}
        options |= {"epsilon": 1.0, "rng": Seeded(run), "bounds": (-40, 160)}
        for name, verb, truth in (("mean", discreet.mean, x.mean()), ("sum", discreet.sum, x.sum())):
            low, high = verb(x[places], **options).interval(0.95)
            held[name] += low <= truth <= high
    assert min(held.values()) >= 265


@pytest.mark.claim("survey.2")
@pytest.mark.parametrize("relation", BOTH)
def test_a_total_that_is_no_float_is_refused(relation: Neighbours) -> None:
    """Of values and of weights each is within the limit; their product is not."""
    rows = np.column_stack([np.arange(3000.0), 1 + np.arange(3000.0) % 7]) * 1e200
    found = WeightedMean(1.0, of="sum", neighbours=relation).release(rows, Seeded(1))
    assert "weights times values reach beyond 1e250" in str(found.refusal)
    assert WeightedMean(1.0, neighbours=relation).release(rows, Seeded(1)).refusal is None


@pytest.mark.claim("survey.3")
@pytest.mark.parametrize("relation", BOTH)
def test_those_far_from_the_mean_count_in_its_error(relation: Neighbours) -> None:
    """Of a share of 95% one in 20 is at nearly twice the radius from the mean."""
    rows = np.column_stack([np.arange(4000) % 20 > 0, np.ones(4000)]).astype(float)
    terms: dict[str, Any] = {"of": "share", "bounds": (0.0, 1.0), "largest": 1.0, "neighbours": relation}
    found = WeightedMean(1000.0, **terms).release(rows, Seeded(1))
    assert found.spread is not None
    assert found.spread.sampling == pytest.approx(math.sqrt(0.95 * 0.05 / 4000), rel=0.02)


@pytest.mark.claim("survey_design.1")
def test_whoever_is_in_no_listed_cluster_counts_nowhere() -> None:
    rows = table(
        [[1.0, 1.0, 1, "a"], [1.0, 1.0, "2", "b"], [1.0, 1.0, 3, "a"], [1.0, 1.0, 1, "c"], [1.0, 1.0, None, "a"]]
    )
    assert SCHOOLS.cluster(rows).tolist() == [0, 3, -1, -1, -1]


def test_clusters_without_weights_speak_of_no_weights() -> None:
    table = {"x": [k % 10 for k in range(3000)], "c": [k % 12 for k in range(3000)]}
    with discreet.open(table, budget=9.0, ledger=":memory:", unit="person", rng=Seeded(1)) as session:
        found = session.mean("x", epsilon=2.0, bounds=(0, 9), clusters="c", design=list(range(12)))
    assert found.interval().about == "the mean of the population, people drawn in these clusters"
    assert "weight" not in " ".join(found.provenance.notes)
    assert "mean of x, clusters c" in str(found)
