"""The ladder for additive models."""

import itertools
import math
from typing import Any, Final

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput, DiscreetError
from discreet.models import additive_model as module
from discreet.models import binned_scores
from discreet.models.additive_bands import ShapesSpread
from discreet.models.additive_model import ROUNDS, AdditiveModel
from discreet.models.additive_rounds import Rounds
from discreet.models.binned_scores import FAR, ONE, STEPS, binned, scored
from discreet.models.column_bins import Meeting
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.value_shapes import LIMIT
from discreet.privacy.values import Shapes, recall, stored
from discreet.statistics.histogram import MOST_PEOPLE, Categories

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CLASSES, TOWNS = Categories.of(["no", "yes"]), Categories.of(["a", "b"])
LISTED: Final[tuple[Any, ...]] = (Meeting((0.0, 10.0)), TOWNS)
WIDTHS: Final = (4, 3)
CROWD: list[Any] = [(float(k % 23), "ab"[k % 2], ["no", "yes"][k % 3 > 0]) for k in range(120)]
ODD: list[Any] = [
    (math.nan, "a", "no"),
    (1e300, "b", "yes"),
    (-math.inf, None, "yes"),
    (5.0, "a", "perhaps"),
    (0.0, 3, None),
]
ODD += [None, "x", (1.0,), (5e-324, "b", "no"), (-0.0, "zebra", "yes"), ("10", True, "no"), (1e6, "a", "yes")]


def asked(sides: Any = LISTED, *, relation: Neighbours = ADD, epsilon: float = 40.0) -> AdditiveModel:
    names = ("x", "town")[: len(sides)]
    return AdditiveModel(sides, CLASSES, epsilon, 1e-6, names=names, bins=4, neighbours=relation)


def world(relation: Neighbours) -> list[audit.Pair]:
    """One odd row beside a crowd."""
    if relation is REPLACE:
        pairs = [((12.0, "a", "no"), (-3.0, "b", "yes")), *itertools.combinations(ODD, 2)]
        return [audit.Pair([*CROWD, one], [*CROWD, two]) for one, two in pairs][::4]
    return [audit.Pair(CROWD, [*CROWD, one]) for one in ODD]


def sums(rows: list[Any], base: int = 0, shapes: Any = None) -> Any:
    """What the kernel sees: by columns residuals, then slopes."""
    columns = {str(place): list(one) for place, one in enumerate(zip(*rows, strict=True))}
    shapes = [np.zeros(width, dtype=np.int64) for width in WIDTHS] if shapes is None else shapes
    cells = binned(columns, sides=LISTED, classes=CLASSES)
    return scored(iter([cells]), base=base, shapes=shapes, classes=len(CLASSES))


@pytest.mark.claim("column_bins.1")
@pytest.mark.claim("additive_model.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("sides", [LISTED, (None, TOWNS)])
def test_one_person_moves_what_is_claimed(relation: Neighbours, sides: Any) -> None:
    mechanism = asked(sides, relation=relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert mechanism.release(CROWD, Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, CROWD), mechanism.loss) is None
    assert (mechanism.guarantee.epsilon, mechanism.guarantee.delta) == (40.0, 1e-6)


@pytest.mark.claim("additive_model.1")
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 40.0])
def test_the_parts_are_within_epsilon_and_delta(epsilon: float) -> None:
    whole = asked((None, None), epsilon=epsilon).stages
    assert [len(draws) for draws in whole.parts.values()] == [2, 2, 1, ROUNDS]
    assert implies(whole.loss, asked((None, None), epsilon=epsilon).guarantee)


@pytest.mark.claim("additive_model.1")
@pytest.mark.parametrize("relation", BOTH)
def test_larger_sums_than_claimed_are_found_out(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "scored", lambda given, **of: 3 * scored(given, **of))
    pair = world(relation)[0] if relation is REPLACE else audit.Pair(CROWD, [*CROWD, (1.0, "a", "no")])
    with pytest.raises(DiscreetError):
        audit.check(asked(relation=relation), [pair], hostile_values=False).require()


@pytest.mark.claim("additive_model.1")
def test_under_replace_a_person_may_move_twice_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug that is planted: the noise of add-or-remove. Somebody moves to other bins and to the other class."""
    monkeypatch.setattr(AdditiveModel, "moved", property(lambda self: len(self.sides)))
    with pytest.raises(DiscreetError):
        audit.check(asked(relation=REPLACE), [world(REPLACE)[0]], hostile_values=False).require()


@pytest.mark.claim("binned_scores.1")
@pytest.mark.parametrize("base", [-FAR, -3 * STEPS, 0, STEPS // 3, FAR])
def test_every_small_world_moves_each_column_by_one_at_most(base: int) -> None:
    """All rows of few entries, at models near and far: by column of length at most 1, and all of it in one bin."""
    entries = [0.0, 1.0, 2.0, 1e9, math.inf, -math.inf, math.nan]
    rows = [(x, town, one) for x in entries for town in ("a", "b", None) for one in ("no", "yes", "other")]
    shapes = [np.array([-FAR, 5, 700, 0]), np.array([1, 2 * STEPS, -FAR])]
    longest = 0.0
    for row in rows:
        residuals, slopes = np.split(sums([row], base, shapes), 2)
        for part in (slice(0, 4), slice(4, 7)):
            length = math.hypot(*residuals[part].tolist(), *slopes[part].tolist())
            assert length <= ONE
            assert np.count_nonzero(np.abs(residuals[part]) + slopes[part]) == (row[2] != "other")
            longest = max(longest, length)
    assert longest >= 0.99 * ONE if abs(base) > STEPS else longest > 0.6 * ONE


@pytest.mark.claim("additive_model.1")
@pytest.mark.parametrize("relation", BOTH)
def test_two_rows_are_never_farther_apart_than_claimed(relation: Neighbours) -> None:
    """At a model that is sure of opposite things in two bins, those who are wrong move most."""
    shapes = [np.array([-FAR, FAR, 0, 0]), np.zeros(3, dtype=np.int64)]
    rows = [(x, town, one) for x in (-1.0, 5.0, 20.0) for town in ("a", "b") for one in ("no", "yes")]
    found = [sums([row], 0, shapes) / ONE for row in rows]
    pairs = itertools.combinations(found, 2) if relation is REPLACE else [(one, 0 * one) for one in found]
    farthest = max(float(((one - other) ** 2).sum()) for one, other in pairs)
    assert farthest <= asked(relation=relation).moved
    assert farthest > (5.9 if relation is REPLACE else 1.9)


@pytest.mark.claim("additive_model.3")
def test_the_interval_allows_for_noise_and_sampling() -> None:
    """20,000 bins that lack nothing: of 90% intervals fewer than 88.5% would have a chance below 10^-6."""
    g, many, slope, noise = np.random.default_rng(1), 20_000, 400.0, 30.0
    shown = Shapes(("no", "yes"), ("x",), (tuple(map(float, range(many - 2))),), (True,), np.zeros(many), 0.0)
    residuals = g.normal(0, math.sqrt(slope + noise**2), many)
    slopes = slope + g.normal(0, noise / 2, many)
    low, high = (np.asarray(end.cells) for end in ShapesSpread(shown, residuals, slopes, noise=noise).interval(0.9))
    assert 0.885 < np.mean((low <= 0) & (high >= 0)) < 0.96  # as squared residuals may be twice the slopes


@pytest.mark.claim("binned_scores.1")
def test_chances_and_slopes_are_those_of_the_logistic_function() -> None:
    chances, slopes = binned_scores.table()
    odds = np.arange(-FAR, FAR + 1) / STEPS
    true = 1 / (1 + np.exp(-odds))
    assert len(odds) == 2 * LIMIT * STEPS + 1
    assert np.abs(chances / ONE - true).max() < 1e-5
    assert np.abs(slopes / ONE - 2 * true * (1 - true)).max() < 1e-4
    assert (np.maximum(chances, ONE - chances) ** 2 + slopes**2).max() <= ONE**2


@pytest.mark.claim("binned_scores.2")
def test_sums_do_not_depend_on_pieces_or_order() -> None:
    shapes = [np.array([300, -700, 40, 0]), np.array([11, -13, 17])]
    together = sums(CROWD, 17, shapes)
    apart = sums(CROWD[50:], 17, shapes) + sums(CROWD[:50][::-1], 17, shapes)
    assert together.tolist() == apart.tolist()
    assert together.tolist() == sum(sums([row], 17, shapes) for row in CROWD).tolist()


@pytest.mark.claim("additive_model.2")
def test_refusals_read_public_numbers() -> None:
    few = AdditiveModel((None,), CLASSES, 1.0, 1e-6, names=("x",), neighbours=REPLACE)
    rows = [(float(k), "no") for k in range(300)]
    refusal = str(few.release(rows, Seeded(0)).refusal)
    assert "there are 300 rows" in refusal
    assert few.release([(math.nan, "yes")] * 300, Seeded(1)).refusal == refusal
    assert "hardly anybody" in str(asked(epsilon=1.0).release([(1.0, "a", "other")] * 500, Seeded(0)).refusal)
    assert asked(epsilon=1.0).release([(1.0, "a", "no")] * 900, Seeded(0)).refusal is None


@pytest.mark.claim("additive_model.2")
def test_whether_it_refuses_is_decided_by_noisy_numbers() -> None:
    """One person more, around the number at which it answers: with equal draws both are refused, or neither."""
    rows = [(12.0, "a", "no")] * 80
    pairs = [audit.Pair(rows[:many], rows[: many + 1]) for many in range(5, 79, 6)]
    audit.check(asked(epsilon=8.0), pairs, hostile_values=False).require()


def population(seed: int, rows: int) -> tuple[dict[str, Any], Any]:
    """Columns that go together, of which one bends."""
    g = np.random.default_rng(seed)
    x = g.normal(size=rows)
    z = 0.8 * x + 0.6 * g.normal(size=rows)
    town = np.where(g.uniform(size=rows) < 0.3 + 0.2 * (x > 0), "a", "b")
    odds = 1.5 * np.abs(x) - 1.5 + 0.7 * z + 0.8 * (town == "a")
    return {"x": x, "z": z, "town": town}, np.where(g.logistic(size=rows) < odds, "yes", "no")


def best_alone(value: Shapes, columns: dict[str, Any], y: Any) -> np.ndarray:
    """What each bin would add if it were chosen alone: by Newton's method, of everybody in it."""
    bins, found = value._bins, list[Any]()
    odds, yes = value.decision_function(columns), y == value.classes[1]
    for place, part in enumerate(value._parts()):
        cell, more = bins.places(columns[value.names[place]], place), np.zeros(len(part))
        step = more + 1
        while np.abs(step).max() > 1e-6:
            chance = 1 / (1 + np.exp(-odds - more[cell]))
            lacking, slope = (np.bincount(cell, one, len(part)) for one in (yes - chance, chance * (1 - chance)))
            step = np.clip(more + np.clip(lacking / (slope + 1e-9), -1, 1), -2 * LIMIT, 2 * LIMIT) - more
            more += step
        there = np.bincount(cell, minlength=len(part)) > 0
        found.append(np.where(there, np.clip(part + more, -LIMIT, LIMIT), math.nan))
    return np.concatenate(found)


@pytest.mark.claim("additive_model.3")
@pytest.mark.parametrize("relation", BOTH)
def test_intervals_hold_what_bins_would_add_alone(relation: Neighbours) -> None:
    """About 33 bins in each of 12 runs, 90% intervals; that fewer than 86% hold has a chance below 10^-6 if bins are
    independent within runs, and they nearly are."""
    truth = population(99, 400_000)
    held, wide = [], []
    for seed in range(12):
        columns, y = population(seed, 6000)
        release = discreet.additive_model(
            columns, y, epsilon=4.0, delta=1e-6, classes=["no", "yes"], levels={"town": ["a", "b"]}, bins=12,
            neighbours=relation, rng=discreet.Seeded(seed),
        )  # fmt: skip
        low, high = (np.asarray(end.cells) for end in release.interval(0.9))
        target = best_alone(release.value, *truth)
        there = ~np.isnan(target)
        held += ((low <= target) & (target <= high))[there].tolist()
        wide += (high - low)[there].tolist()
    assert len(held) > 250
    assert np.mean(held) > 0.84
    assert np.median(wide) < 1.5
    assert "by itself" in release.interval().about


def held_of(residuals: Any, slopes: float, noise: float, truth: float) -> int:
    """Of how many bins the interval of 90% holds the truth, where sums have noise; 0 is what was released."""
    g, bins = np.random.default_rng(1), len(residuals)
    shown = Shapes(("no", "yes"), ("x",), (tuple(range(bins - 1)),), (False,), np.zeros(bins), 0.0)
    noisy = residuals + noise * g.normal(size=bins), slopes + noise / 2 * g.normal(size=bins)
    low, high = (np.asarray(end.cells) for end in ShapesSpread(shown, *noisy, noise=noise).interval(0.9))
    return int(np.sum((low <= truth) & (truth <= high)))


@pytest.mark.claim("additive_model.3")
@pytest.mark.parametrize("noise", [1e-3, 300.0])
def test_intervals_hold_where_the_model_is_wrong_about_everybody(noise: float) -> None:
    """About half of a bin's people have log odds of 1 and half of -1 by the model, and all a chance of one half: the
    bin lacks nothing, and squared residuals are 1.54 times p (1 - p). Of 4,000 intervals of 90% some 3,790 hold without
    noise, and 3,310 would by p (1 - p) alone."""
    people, p, g = 4000, 1 / (1 + math.exp(-1)), np.random.default_rng(5)
    larger = g.binomial(people, 0.5, size=4000)
    residuals = g.binomial(people, 0.5, size=4000) - larger * p - (people - larger) * (1 - p)
    assert held_of(residuals, people * p * (1 - p), noise, 0.0) > 3550


@pytest.mark.claim("additive_model.3")
@pytest.mark.parametrize("noise", [1e-3, 30.0, 100.0])
def test_intervals_hold_of_rare_outcomes_that_the_model_has_far_too_rare(noise: float) -> None:
    """By the model 1 of 200 says yes, and 1 of 50 does: residuals vary by four times p (1 - p), and the noise on slopes
    counts as well. Some 99 of 100 hold; 87 if hardly anything were allowed for slopes."""
    people, p, q = 40_000, 0.005, 0.02
    residuals = np.random.default_rng(6).binomial(people, q, size=4000) - people * p
    truth = math.log(q / (1 - q)) - math.log(p / (1 - p))
    assert held_of(residuals, people * p * (1 - p), noise, truth) > 3850


@pytest.mark.claim("additive_model.1")
def test_sums_of_more_people_than_there_can_be_are_cut() -> None:
    mechanism = asked(epsilon=1.0)
    for many in (2**33, -(2**33)):
        seen = np.full(2 * mechanism.cells, many * ONE, dtype=np.int64)
        residuals, _ = mechanism._sums(lambda given, seen=seen: [*given] and seen, {"0": [1.0]}, "last", Seeded(0))
        assert residuals == pytest.approx(math.copysign(MOST_PEOPLE, many), rel=1e-3)


def test_it_is_right_where_lines_are_not() -> None:
    columns, y = population(3, 12_000)
    given: dict[str, Any] = {"classes": ["no", "yes"], "levels": {"town": ["a", "b"]}, "rng": discreet.Seeded(4)}
    release = discreet.additive_model(columns, y, epsilon=1.0, delta=1e-6, **given)
    fresh, truth = population(5, 50_000)
    odds = 1.5 * np.abs(fresh["x"]) - 1.5 + 0.7 * fresh["z"] + 0.8 * (fresh["town"] == "a")
    best = np.mean(np.where(odds > 0, "yes", "no") == truth)
    right = np.mean(release.value.predict(fresh) == truth)
    simple = np.mean(discreet.naive_bayes(columns, y, epsilon=1.0, **given).value.predict(fresh) == truth)
    assert right > best - 0.015
    assert right > simple
    shape = list(release.value["x"].values())
    assert min(shape[0], shape[-2]) > min(shape) + 0.8


@pytest.mark.parametrize("copies", [2, 12])
def test_columns_that_are_all_the_same_do_no_harm(copies: int) -> None:
    """All step at once: each only so far as rounds before have shown to be right."""
    g = np.random.default_rng(0)
    x = g.normal(size=8000)
    y = (x + g.logistic(size=8000) / 2 > 0).astype(int)
    table = np.tile(x[:, None], copies)
    release = discreet.additive_model(table, y, epsilon=50.0, delta=1e-6, classes=[0, 1], rng=discreet.Seeded(1))
    lost = [
        np.mean(np.log1p(np.exp(np.where(y == 1, -odds, odds))))
        for odds in (2 * x, release.value.decision_function(table))
    ]
    assert lost[1] < lost[0] + 0.01


def test_rounds_without_noise_come_to_the_likeliest_model() -> None:
    """One column: what its bins add is the log odds in them, but for the penalty."""
    counts, yes = np.array([4000.0, 6000.0, 5000.0]), np.array([1000.0, 3000.0, 4000.0])
    rounds = Rounds(widths=(3,), ordered=(False,), noise=1e-6, many=ROUNDS)
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-(rounds.base + rounds.shapes[0]) / STEPS))
        rounds.take(yes - counts * chance, counts * chance * (1 - chance))
    base, (shape,) = rounds.result()
    assert (base + shape) / STEPS == pytest.approx(np.log(yes / (counts - yes)), abs=0.01)


@pytest.mark.parametrize("value", [0.0, 7.5, -1e12, math.nan])
def test_a_column_that_is_the_same_for_everybody_is_no_refusal(value: float) -> None:
    rows = [(value, ["no", "yes"][k % 2]) for k in range(3000)]
    release = asked((None,), epsilon=8.0).release(rows, Seeded(1))
    assert release.refusal is None
    assert np.isfinite(release.value.levels[0]).all()
    assert abs(release.value.predict_proba([[value]])[0, 0] - 0.5) < 0.2


def test_categories_bounds_missing_entries_and_what_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    rows = 4000
    frame = pandas.DataFrame(
        {
            "age": [float(k % 80) if k % 7 else None for k in range(rows)],
            "town": ["ab"[k % 2] for k in range(rows)],
            "old": pandas.array([k % 3 == 0 for k in range(rows)], dtype="boolean"),
        }
    )
    ill = ["yes" if k % 80 > 40 or k % 20 == 0 else "no" for k in range(rows)]
    options: dict[str, Any] = {"classes": ["no", "yes"], "bounds": {"age": (0, 80)}, "levels": {"town": ["a", "b"]}}
    options["delta"] = 1e-6
    release = discreet.additive_model(frame, ill, epsilon=3.0, missing="keep", rng=discreet.Seeded(1), **options)
    value = release.value
    assert value.names == ("age", "town", "old")
    assert value.levels[1:] == (("a", "b"), (0.5,))
    assert len(value.levels[0]) == 15
    assert value.predict([[10.0, "a", True], [70.0, "b", False]]).tolist() == ["no", "yes"]
    assert value.predict_proba(frame).sum(axis=1) == pytest.approx(1.0)
    assert "log odds of yes from the bins of 3 columns, which span age" in str(value)
    shown = release.to_frame()
    assert len(shown) == 17 + 3 + 3 + 1
    low, high = release.interval()
    assert (np.asarray(low.cells) <= np.asarray(high.cells)).all()
    assert np.abs([*low.cells, *high.cells]).max() <= LIMIT
    back = recall(stored(value))
    assert back.predict([[10.0, "a", True], [70.0, "b", False]]).tolist() == ["no", "yes"]
    for wrong, words in (
        ({"classes": ["no"]}, "list the two public ones"),
        ({"classes": ["no", "yes", "perhaps"]}, "list the two public ones"),
        ({"delta": 0.0}, "needs delta > 0"),
        ({"bins": 1}, "2 to 64"),
        ({"levels": {"town": list(map(str, range(30_000)))}}, "more than 20000"),
        ({"levels": {"city": ["a"]}}, "categories by column"),
        ({"bounds": {"town": (0, 1)}}, "by column of numbers"),
    ):
        with pytest.raises(BadInput, match=words):
            discreet.additive_model(frame, ill, epsilon=3.0, **options | wrong)
    with pytest.raises(BadInput, match="is not a column"):
        value["height"]
    with pytest.raises(BadInput, match="rows of 3 columns"):
        value.predict([[1.0]])


def test_bins_that_tell_nothing_are_counted() -> None:
    shown = Shapes(("no", "yes"), ("x",), ((0.0, 1.0),), (True,), np.zeros(4), 0.0)
    few = ShapesSpread(shown, np.array([0.0, 0.0, 3.0, 0.0]), np.array([900.0, 0.0, 0.0, 900.0]), noise=5.0)
    (told,) = few.silent
    assert told.startswith("2 of 4 bins hold too few rows to say anything")
    assert ShapesSpread(shown, np.zeros(4), np.full(4, 900.0), noise=5.0).silent == ()
