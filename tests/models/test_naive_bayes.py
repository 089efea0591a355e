"""The ladder for naive Bayes."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import drawn, exceeds
from discreet.errors import BadInput, DiscreetError
from discreet.models import naive_bayes as module
from discreet.models.column_bins import Meeting
from discreet.models.naive_bayes import NaiveBayes, counted
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.values import ClassCounts, recall, stored
from discreet.statistics.histogram import Categories

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CLASSES, TOWNS = Categories.of(["no", "yes"]), Categories.of(["a", "b"])
LISTED: tuple[Any, ...] = (Meeting((0.0, 10.0)), TOWNS)
CROWD: list[Any] = [(float(k % 23), "ab"[k % 2], ["no", "yes"][k % 3 > 0]) for k in range(120)]
ODD: list[Any] = [
    (math.nan, "a", "no"),
    (1e300, "b", "yes"),
    (-math.inf, None, "yes"),
    (5.0, "a", "perhaps"),
    (0.0, 3, None),
]
ODD += [None, "x", (1.0,), (5e-324, "b", "no"), (-0.0, "zebra", "yes"), ("10", True, "no"), (1e6, "a", "yes")]


def asked(sides: Any = LISTED, *, relation: Neighbours = ADD, epsilon: float = 40.0, delta: float = 0.0) -> NaiveBayes:
    names = ("x", "town")[: len(sides)]
    return NaiveBayes(sides, CLASSES, epsilon, delta, names=names, bins=4, neighbours=relation)


def world(relation: Neighbours) -> list[audit.Pair]:
    """One odd row beside a crowd."""
    if relation is REPLACE:
        pairs = [((12.0, "a", "no"), (-3.0, "b", "yes")), *itertools.combinations(ODD, 2)]
        return [audit.Pair([*CROWD, one], [*CROWD, two]) for one, two in pairs][::4]
    return [audit.Pair(CROWD, [*CROWD, one]) for one in ODD]


def counts(*columns: list[Any]) -> Any:
    return counted(iter([{str(place): one for place, one in enumerate(columns)}]), sides=LISTED, classes=CLASSES)


@pytest.mark.claim("naive_bayes.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("sides", [LISTED, (None, TOWNS)])
def test_one_person_moves_what_is_claimed(relation: Neighbours, delta: float, sides: Any) -> None:
    mechanism = asked(sides, relation=relation, delta=delta)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert mechanism.release(CROWD, Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, CROWD), mechanism.loss) is None
    assert (mechanism.guarantee.epsilon, mechanism.guarantee.delta) == (40.0, delta)


@pytest.mark.claim("naive_bayes.1")
def test_counts_are_not_limited_by_a_private_number_of_rows() -> None:
    """Everybody in one cell: with noise, about half of the times more than there are."""
    rows = [(12.0, "a", "no")] * 60
    pair = audit.Pair(rows, [*rows, (12.0, "a", "no")])
    audit.check(asked(epsilon=2.0), [pair] * 4, hostile_values=False).require()
    shown = [asked(epsilon=2.0).release(rows, Seeded(run)).value.cells.max() for run in range(8)]
    assert max(shown) > 60


@pytest.mark.claim("naive_bayes.2")
def test_whether_it_refuses_is_decided_by_noisy_numbers() -> None:
    """One person more, around the number at which it answers: with equal draws both are refused, or neither."""
    rows = [(12.0, "a", "no")] * 30
    pairs = [audit.Pair(rows[:many], rows[: many + 1]) for many in range(5, 25)]
    audit.check(asked(epsilon=2.0), pairs, hostile_values=False).require()


@pytest.mark.claim("naive_bayes.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_world_moves_counts_by_one_for_the_class_and_each_column(relation: Neighbours) -> None:
    entries = [0.0, 1.0, 2.0, 1e9, math.inf, -math.inf, math.nan]
    rows = [(x, town, one) for x in entries for town in ("a", "b", None) for one in ("no", "yes", "other")]
    found = [counts([x], [town], [one]) for x, town, one in rows]
    for one in found:
        assert one.min() >= 0
        assert one.sum() in (0, 3)
    most = 3 if relation is ADD else max(np.abs(a - b).sum() for a in found for b in found)
    assert asked(relation=relation).moved == most


@pytest.mark.claim("naive_bayes.1")
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 40.0])
def test_the_parts_are_all_of_epsilon(epsilon: float) -> None:
    whole = asked((None, None), epsilon=epsilon).stages
    assert pure(whole.loss) == (Fraction(epsilon), Fraction(0))
    assert [len(draws) for draws in whole.parts.values()] == [2, 2, 1]
    spent = asked((None, None), epsilon=epsilon, delta=1e-6).stages
    assert sum(len(draws) for draws in spent.parts.values()) == 5
    assert implies(spent.loss, asked((None, None), epsilon=epsilon, delta=1e-6).guarantee)


@pytest.mark.claim("naive_bayes.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_smaller_sensitivity_is_found_out(
    relation: Neighbours, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = counted
    monkeypatch.setattr(module, "counted", lambda given, **of: 2 * true(given, **of))
    pair = world(relation)[0] if relation is REPLACE else audit.Pair(CROWD, [*CROWD, (1.0, "a", "no")])
    with pytest.raises(DiscreetError):
        audit.check(asked(relation=relation, delta=delta), [pair], hostile_values=False).require()


@pytest.mark.claim("column_bins.2")
def test_bins_are_of_one_entry() -> None:
    meeting = Meeting((0.0, 10.0))
    entries = [-1.0, 0.0, 9.9, 10.0, math.inf, -math.inf, math.nan, None, "x", 5, True]
    together = meeting.indices(entries).tolist()
    assert together == [0, 1, 1, 2, 2, 0, 3, 3, 3, 1, 1]
    assert together == [int(meeting.indices([entry])[0]) for entry in entries]
    assert meeting.bins == max(together) + 1


@pytest.mark.claim("naive_bayes.2")
def test_refusals_read_public_numbers() -> None:
    few = asked((None,), relation=REPLACE, epsilon=1.0)
    rows = [(float(k), "no") for k in range(1000)]
    refusal = str(few.release(rows, Seeded(0)).refusal)
    assert "there are 1000 rows" in refusal
    assert few.release([(math.nan, "yes")] * 1000, Seeded(1)).refusal == refusal
    assert asked((None,), epsilon=1.0, delta=1e-6).release(rows, Seeded(0)).refusal is None
    assert "hardly anybody" in str(asked(epsilon=1.0).release([(1.0, "a", "other")] * 500, Seeded(0)).refusal)
    towns = np.array(["a"] * 500, dtype=object)
    texts = discreet.naive_bayes({"town": towns}, ["no"] * 500, epsilon=1.0, classes=["no", "yes"], rng=Seeded(0))
    assert "list the categories of columns of text (levels=)" in str(texts.refusal)
    assert asked(epsilon=1.0).release([(1.0, "a", "no")] * 500, Seeded(0)).refusal is None


@pytest.mark.claim("naive_bayes.3")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_interval_holds_all_counts(relation: Neighbours, delta: float) -> None:
    """Fails by chance less than once in 10^6 runs."""
    mechanism, held = asked(relation=relation, epsilon=2.0, delta=delta), 0
    columns = [list(part) for part in zip(*CROWD * 3, strict=True)]
    truth = counts(*columns)
    errors = []
    for seed in range(200):
        release = mechanism.release(CROWD * 3, Seeded(seed))
        low, high = release.interval(0.9)
        held += bool(((low.cells <= truth) & (truth <= high.cells)).all())
        errors.append(release.spread.noisy - truth)  # type: ignore[union-attr]
    assert 152 <= held <= 198  # of 180 expected: outside has a chance below 10^-6
    assert np.std(errors) == pytest.approx(mechanism.noise.sd, rel=0.15)
    assert "all at once" in release.interval().about


@pytest.mark.parametrize("relation", BOTH)
def test_shown_counts_are_possible_and_in_their_interval(relation: Neighbours) -> None:
    for seed in range(20):
        release = asked(relation=relation, epsilon=0.9).release(CROWD * 2, Seeded(seed))
        low, high = release.interval(0.1)
        shown = np.asarray(release.value.cells)
        assert shown.min() == 0
        assert shown.max() <= (240 if relation is REPLACE else 600)
        assert ((low.cells <= shown) & (shown <= high.cells)).all()


def test_bins_are_found_where_the_data_are() -> None:
    generator = np.random.default_rng(3)
    y = generator.integers(2, size=8000)
    x = np.column_stack([1e6 + 100 * generator.normal(size=8000) + 150 * y, 1e-3 * generator.exponential(size=8000)])
    for delta in (0.0, 1e-6):
        release = discreet.naive_bayes(x, y, epsilon=2.0, delta=delta, classes=[0, 1], rng=discreet.Seeded(4))
        edges = np.array(release.value.levels[0])
        assert 1e6 - 1200 < edges[0] < 1e6 - 100
        assert 1e6 + 200 < edges[-1] < 1e6 + 1200
        assert len(edges) == 11
        assert np.mean(release.value.predict(x) == y) > 0.72  # 0.77 is the best there is


@pytest.mark.parametrize("value", [0.0, 7.5, -1e12, math.nan])
def test_a_column_that_is_the_same_for_everybody_is_no_refusal(value: float) -> None:
    rows = [(value, ["no", "yes"][k % 2]) for k in range(1500)]
    release = asked((None,), epsilon=8.0).release(rows, Seeded(1))
    assert release.refusal is None
    assert np.isfinite(release.value.levels[0]).all()
    assert abs(release.value.predict_proba([[value]])[0, 0] - 0.5) < 0.2


def test_categories_bounds_and_missing_entries() -> None:
    pandas = pytest.importorskip("pandas")
    rows = 3000
    frame = pandas.DataFrame(
        {
            "age": [float(k % 80) if k % 7 else None for k in range(rows)],
            "town": ["ab"[k % 2] for k in range(rows)],
            "colour": pandas.array(["red"] * rows, dtype="string"),
            "old": pandas.array([k % 3 == 0 for k in range(rows)], dtype="boolean"),
        }
    )
    ill = ["yes" if k % 80 > 40 or k % 2 else "no" for k in range(rows)]
    options: dict[str, Any] = {"classes": ["no", "yes"], "bounds": {"age": (0, 80)}}
    options["levels"] = {"town": ["a", "b"], "colour": ["red", "blue"]}
    release = discreet.naive_bayes(frame, ill, epsilon=3.0, missing="keep", rng=discreet.Seeded(1), **options)
    value = release.value
    assert value.names == ("age", "town", "colour", "old")
    assert value.levels[1:] == (("a", "b"), ("red", "blue"), (0.5,))
    assert len(value.levels[0]) == 11
    assert abs(value["yes", "town"]["b"] - 1500) < 40
    assert abs(value["yes", "age"]["missing or not listed"] + value["no", "age"]["missing or not listed"] - 429) < 60
    assert value.predict(
        pandas.DataFrame(
            {"age": [10.0, 70.0, None], "town": ["a", "b", "z"], "colour": ["red"] * 3, "old": [True, False, None]}
        )
    ).tolist()[:2] == ["no", "yes"]
    assert value.predict([[10.0, "a", "red", True]]).tolist() == ["no"]
    assert value.predict_proba(frame).sum(axis=1) == pytest.approx(1.0)
    assert release.guarantee.delta == 0
    back = recall(stored(value))
    assert back.predict([[10.0, "a", "red", True], [70.0, "b", "red", False]]).tolist() == ["no", "yes"]
    for wrong, words in (
        ({"classes": ["no"]}, "two or more"),
        ({"bins": 1}, "2 to 64"),
        ({"levels": {"town": ["a"], "colour": list(map(str, range(60_000)))}}, "more than 100000"),
        ({"levels": {"colour": ["red"], "city": ["a"]}}, "categories by column"),
        ({"levels": {"town": ["a"]}}, "holds categories"),
        ({"bounds": {"town": (0, 1)}}, "by column of numbers"),
        ({"bounds": {"age": (1, 0)}}, "the lower first"),
    ):
        with pytest.raises(BadInput, match=words):
            discreet.naive_bayes(frame, ill, epsilon=3.0, **options | wrong)
    with pytest.raises(BadInput, match="is not a class"):
        value["maybe", "age"]
    with pytest.raises(BadInput, match="rows of 4 columns"):
        value.predict([[1.0]])
    with pytest.raises(BadInput, match="no column colour, old; it needs age, town, colour, old"):
        value.predict({"age": [10.0], "town": ["a"]})


def test_noise_does_not_decide_between_classes() -> None:
    """Counts that noise may have made say little: chances stay near the sizes of the classes."""
    cells = np.array([600, 400, 20, 0, 5, 0, 30, 10])
    quiet, loud = (ClassCounts(("no", "yes"), ("x",), ((0.0,),), (True,), cells, noise) for noise in (0.0, 200.0))
    assert quiet.predict_proba([[-1.0], [1.0]])[:, 1].tolist() == pytest.approx([0.019, 0.909], abs=0.005)
    assert quiet.predict_proba([[math.nan]])[0, 1] == pytest.approx(0.45, abs=0.03)  # its own bin, not the last
    assert quiet.predict_proba([[0.0]])[0, 1] > 0.9  # bins begin where they meet
    assert loud.predict_proba([[-1.0], [1.0]])[:, 1].tolist() == pytest.approx([600 / 1402] * 2, abs=0.03)
    empty = ClassCounts(("no", "yes"), ("x",), ((0.0,),), (True,), np.zeros(8), 0.0)
    assert empty.predict_proba([[1.0], [math.nan]]).tolist() == [[0.5, 0.5]] * 2
