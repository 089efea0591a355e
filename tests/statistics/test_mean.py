"""The ladder for means of data of any shape."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn
from discreet.audit.worlds import HOSTILE
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Approximate
from discreet.stages.distance_grid import Distances
from discreet.stages.reach import Tail, stages
from discreet.statistics.bounded_mean import BoundedMean
from discreet.statistics.mean import NOWHERE, RankClippedMean, plan_mean, tail_mean
from discreet.statistics.normal import GaussianMean

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD: list[Any] = [float(x) for x in np.round(np.random.default_rng(4).gamma(2.0, 3.0, size=40), 1)]
Draw = Callable[[np.random.Generator, int], Any]
SHAPES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda g, n: g.normal(size=n), 0.0),
    "exponential": (lambda g, n: g.exponential(size=n), 1.0),
    "lognormal": (lambda g, n: g.lognormal(size=n), math.exp(0.5)),
    "t3": (lambda g, n: g.standard_t(3, size=n), 0.0),
    "gamma": (lambda g, n: g.gamma(0.3, size=n), 0.3),
    "poisson": (lambda g, n: g.poisson(3, size=n), 3.0),
    "bernoulli": (lambda g, n: g.random(n) < 0.1, 0.1),
    "mostly zero": (lambda g, n: np.where(g.random(n) < 0.8, 0, g.lognormal(7, 1, size=n)), 0.2 * math.exp(7.5)),
}


def world(relation: Neighbours, step: int) -> list[audit.Pair]:
    """Ordinary and odd rows with a crowd beside them, enough for an answer; 42 rows where their number is public."""
    small = [pair for pair in audit.numbers(relation, 2) if relation is ADD or len(pair.left) == 2][::step]
    for value in HOSTILE:
        odd = audit.Pair([2.0, 1.0], [2.0, value]) if relation is REPLACE else audit.Pair([2.0], [2.0, value])
        small += [odd, audit.Pair(odd.right, odd.left)]
    return [audit.Pair(CROWD + pair.left, CROWD + pair.right) for pair in small]


@pytest.mark.claim("mean.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_without_bounds(relation: Neighbours) -> None:
    mechanism = RankClippedMean(16.0, relation, size=42 if relation is REPLACE else None)
    audit.check(mechanism, world(relation, 4), hostile_values=False).require()
    assert mechanism.release([*CROWD, 0.0, 1.0], Seeded(0)).refusal is None  # the world is one of answers
    audit.check(replace(mechanism, size=None), audit.numbers(relation, 2)[::8], hostile_values=False).require()


@pytest.mark.claim("mean.1")
@pytest.mark.claim("bounded_mean.1")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, Fraction(2, 3)])
def test_the_stages_are_what_is_drawn_and_sum_to_epsilon(epsilon: Any) -> None:
    whole = Fraction(str(epsilon))
    rows = np.random.default_rng(0).normal(size=4000)
    for relation in BOTH:
        size = 4000 if relation is REPLACE else None
        for mechanism in (
            RankClippedMean(epsilon, relation, size=size),
            BoundedMean(0, 1, epsilon, neighbours=relation),
        ):
            assert pure(mechanism.loss) == (whole, Fraction(0))
            assert implies(mechanism.loss, mechanism.guarantee)
            assert pure(drawn(mechanism, rows)) == (whole, Fraction(0))
    assert RankClippedMean(epsilon).loss == Approximate(epsilon, 0)  # the shares wait for the size


@pytest.mark.claim("mean.3")
def test_a_refusal_comes_before_any_draw_or_from_the_noisy_size() -> None:
    rows = np.random.default_rng(0).normal(size=300)
    recorder = Recorder(Seeded(0))
    release = RankClippedMean(1.0).release(rows, recorder)
    assert recorder.log == []
    assert release.refusal is not None
    for word in ("n * epsilon is 300", "at least 360", "epsilon=1.3", "380 rows", "bounds"):
        assert word in release.refusal
    recorder = Recorder(Seeded(0))
    release = RankClippedMean(1.0, ADD).release(rows[:100], recorder)
    assert len(recorder.log) == 1
    assert "noisy number" in str(release.refusal)
    assert RankClippedMean(1.0, ADD).release([], Seeded(0)).refusal is not None  # emptiness is private here
    assert BoundedMean(0, 1, 1.0, neighbours=ADD).release([], Seeded(0)).refusal is None
    beyond = RankClippedMean(1.0).release(rows.repeat(10) * 1e306, Seeded(0))
    assert "1e299" in str(beyond.refusal)


@pytest.mark.claim("mean.4")
@pytest.mark.parametrize("relation", BOTH)
def test_coverage_and_width_without_bounds(relation: Neighbours) -> None:
    """n = 10,000, epsilon = 1. All shapes together: a true 0.95 fails once in ten million, 0.85 hardly ever passes."""
    mechanism, size, runs = RankClippedMean(1.0, relation), 10_000, 14 if relation is REPLACE else 8
    names = list(SHAPES)
    widths: dict[str, list[float]] = {name: [] for name in names}

    def draw(index: int) -> tuple[Any, float]:
        shape, truth = SHAPES[names[index % len(names)]]
        rows = np.asarray(shape(np.random.default_rng(index), size), dtype=float)
        release = mechanism.release(rows, Seeded(index))
        interval = release.interval()
        plain = 2 * 1.96 * rows.std() / math.sqrt(size)
        widths[names[index % len(names)]].append((interval.high - interval.low) / plain)
        return release, truth

    seen = audit.coverage(draw, runs=runs * len(names))
    assert seen.holds
    assert seen.share > 0.87
    for name in names:
        assert np.median(widths[name]) < 2.5, name


def test_the_release_says_who_can_be_invisible() -> None:
    people = np.random.default_rng(0).exponential(size=3000)
    release = RankClippedMean(0.2).release(people, Seeded(0))
    assert " people more than " in str(release)
    assert "after limiting values to between" in release.interval().about
    first, *notes = str(release).splitlines()
    assert re.match(r"mean after limiting values to between -?[\d.]+ and [\d.]+: ", first)
    whole = RankClippedMean(4.0).release(people, Seeded(0))
    assert re.match(r"mean: [\d.]+", str(whole))
    assert "at most 37% of the people remain" in str(whole)
    assert re.search(
        r"hardly more than \d+ people are more than [\d.]+ away from [\d.]+; if those are twice that far", str(whole)
    )
    assert whole.interval().about == "the population's mean"
    (price,) = (float(note.split("up to ")[1].split()[0]) for note in notes if "without such limits" in note)
    bounded = BoundedMean(-500.0, 500.0, 0.2).release(np.zeros(3000), Seeded(0))  # the advice, followed
    assert bounded.spread is not None
    assert price * 1000 == pytest.approx(3 * bounded.spread.privacy / math.sqrt(2), rel=0.01)
    rows = np.concatenate([np.zeros(9000) + np.random.default_rng(1).normal(size=9000), np.full(40, 1e9)])
    hidden = RankClippedMean(1.0).release(rows, Seeded(0))
    assert hidden.interval().high < 1e3  # forty people with 1e9 each: the mean would be 4e6


@pytest.mark.claim("mean.4")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("place", "scale"), [(1e6, 1.0), (1.7e9, 3600.0)])
def test_data_far_from_zero_are_found_and_their_mean_is_covered(
    relation: Neighbours, place: float, scale: float
) -> None:
    """Three sizes, 25 seeded runs each: 5% may miss by sampling; a centre outside the data gives a wide interval."""
    rng, missed, off = np.random.default_rng(8), 0, 0
    for size in (450, 900, 3000):
        for run in range(25):
            release = RankClippedMean(1.0, relation).release(rng.normal(place, scale, size), Seeded(run))
            if release.refusal is None:
                low, high = release.interval(0.95)
                missed += not low <= place <= high
                off += abs(release.value - place) > scale
    assert missed <= 10
    assert off <= 8


@pytest.mark.claim("mean.3")
def test_a_very_flat_tail_is_limited_until_there_are_many_people() -> None:
    """Small towns and a few large cities: what is farther out than was seen may be anywhere. Of 12,000 in half of the
    runs."""
    for size, limited in ((1500, {True}), (12_000, {True, False})):
        generator = np.random.default_rng(2)
        towns = generator.exponential(size=size) * np.where(generator.random(size) < 0.8, 1.0, 60.0)
        releases = [RankClippedMean(1.0, ADD).release(towns, Seeded(seed)) for seed in range(8)]
        assert {"after limiting" in str(release).splitlines()[0] for release in releases} == limited


NEAR: dict[str, Draw] = {
    "normal": lambda g, n: g.normal(size=n),
    "t3": lambda g, n: g.standard_t(3, size=n),
    "lognormal": lambda g, n: g.lognormal(0, 0.8, size=n),
    "rounded": lambda g, n: np.round(g.normal(170, 10, size=n)),
    "truth": lambda g, n: (g.random(n) < 0.3) * 1.0,
    "90 away": lambda g, n: g.normal(90, 1, size=n),
    "false: far away": lambda g, n: g.normal(1.7e9, 3600, size=n),
}


def named(release: Any, people: Any) -> float:
    """The mean of values limited as the first line of a release says, in a large population."""
    found = re.search(r"between (-?[\d.e+-]+) and (-?[\d.e+-]+)", release.interval().about)
    assert found is not None
    return float(np.clip(people, float(found[1]), float(found[2])).mean())


@pytest.mark.claim("mean.2")
@pytest.mark.parametrize("relation", BOTH)
def test_a_mean_near_zero_is_told_from_fewer_people_and_a_false_declaration_is_refused_or_held(
    relation: Neighbours,
) -> None:
    """n epsilon of 130 (REPLACE: 260). All shapes together: a true 0.95 fails once in ten million; what was declared
    and is false is refused, or missed, by an answer, no more often than other intervals miss."""
    runs, size = 12 if relation is ADD else 10, 130 if relation is ADD else 260
    mechanism = RankClippedMean(1.0, relation, near_zero=True)
    held, wrong, answered = [], 0, 0
    for name, draw in NEAR.items():
        people = draw(np.random.default_rng(0), 10_000)
        for run in range(runs):
            release = mechanism.release(draw(np.random.default_rng([run, 1]), size), Seeded(run))
            if release.refusal is not None:
                continue
            low, high = release.interval()
            inside = low <= named(release, people) <= high
            if name.startswith("false"):
                wrong += not inside
            else:
                held.append(inside)
                answered += 1
    assert answered > 0.5 * runs * (len(NEAR) - 1)
    assert np.mean(held) > 0.87
    assert wrong <= 0.2 * runs


@pytest.mark.claim("mean.2")
@pytest.mark.parametrize("relation", BOTH)
def test_a_declaration_changes_shares_by_public_numbers_alone(relation: Neighbours) -> None:
    """42 rows of which 42 and 84 are enough at most: n epsilon is between what is needed with it and without."""
    epsilon = Fraction(7, 2) * (2 if relation is REPLACE else 1)
    mechanism = RankClippedMean(epsilon, relation, near_zero=True)
    assert mechanism.release([*CROWD, 0.0, 1.0], Seeded(1)).refusal is None
    audit.check(mechanism, world(relation, 8), hostile_values=False).require()
    assert pure(drawn(mechanism, np.asarray(CROWD))) == (epsilon, Fraction(0))
    sizes = (120, 119, 180) if relation is ADD else (240, 239, 360)
    RankClippedMean(1.0, relation, near_zero=True).check(sizes[0])
    for near, size in ((True, sizes[1]), (False, sizes[2] - 1)):
        with pytest.raises(Refused):
            RankClippedMean(1.0, relation, near_zero=near).check(size)
    RankClippedMean(1.0, relation).check(sizes[2])
    with pytest.raises(Refused, match="near_zero=True"):
        RankClippedMean(1.0, relation).check(sizes[2] - 1)
    with pytest.raises(Refused, match=r"bounds=\(low, high\)$"):
        RankClippedMean(1.0, relation).check(sizes[1])


@pytest.mark.claim("mean.3")
def test_a_centre_beside_the_data_is_refused_as_far_as_the_number_of_rows_may_be_off() -> None:
    """All at 70, seen from 0: 0.73 of the far distance, which may be 0.8 if the number of rows is a tenth too large."""
    shares = stages(1.0, 10_000, ADD)
    tail = Tail(0.0, 96.0, 96.0, 100, 0.0, 0.0, 99.0, 20.0, 10_000, 2.0, shares)
    for off, refused in ((0.0, False), (0.1, True)):
        found = tail_mean(Distances.of(np.full(10_000, 70.0), 0.0), tail, neighbours=ADD, rng=Seeded(1), off=off)
        assert (found == NOWHERE) == refused


def test_small_groups_are_pooled_where_the_pool_is_near_zero() -> None:
    """Groups of 100 and 55: 155 people are too few by themselves, and enough if they are declared to be near 0."""
    groups = [np.random.default_rng(size).normal(5, 1, size) for size in (100, 55)]
    refused = RankClippedMean(1.0, ADD).by_group(groups, Seeded(2))
    found = RankClippedMean(1.0, ADD, near_zero=True).by_group(groups, Seeded(2))
    assert all("n * epsilon is" in str(one.refusal) for one in refused)
    assert found[0].interval().low < 5 < found[0].interval().high
    assert "too few" in str(found[1].refusal)


def test_offsets_ties_and_extreme_values() -> None:
    generator = np.random.default_rng(0)
    base = generator.exponential(size=4000)
    for offset, scale in ((1e12, 1.0), (-1e12, 1e3), (0.0, 1e-9), (0.0, 1e290), (5e-324, 0.0), (7.0, 0.0)):
        release = RankClippedMean(2.0).release(base * scale + offset, Seeded(1))
        truth = offset + scale
        assert release.interval(0.999).low <= truth <= release.interval(0.999).high
        if scale:
            assert abs(release.value - truth) < 0.2 * scale
    spoilt = np.concatenate([base, [math.inf, -math.inf, math.nan, 1e300, -1e300, 5e-324] * 3])
    assert abs(RankClippedMean(1.0).release(spoilt, Seeded(3)).value - 1) < 0.3
    assert abs(BoundedMean(0, 10, 1.0).release(spoilt, Seeded(3)).value - 1) < 0.3
    missing = BoundedMean(0, 10, 100.0).release([math.nan] * 100, Seeded(0))
    assert missing.value == pytest.approx(5, abs=0.1)  # the middle of the bounds


def test_the_planner_goes_by_public_quantities() -> None:
    assert plan_mean(1000, 1.0, 1e-6, model="gaussian", sigma=2.0) == GaussianMean(1.0, 1e-6, sigma=2.0, size=1000)
    assert plan_mean(1000, 1.0) == RankClippedMean(1.0, size=1000)
    assert plan_mean(None, 1.0, neighbours=ADD, unit="patient") == RankClippedMean(1.0, ADD, "patient")
    assert plan_mean(1000, 1.0, bounds=(0, 120)) == BoundedMean(0, 120, 1.0)
    assert plan_mean(1000, 1.0, bounds=(0, 120), sigma=10.0) == BoundedMean(0, 120, 1.0)
    assert plan_mean(1000, 1.0, bounds=(0, 1e9), sigma=10.0) == RankClippedMean(1.0, size=1000)
    assert plan_mean(100, 1.0, bounds=(0, 1e9), sigma=10.0) == BoundedMean(0, 1e9, 1.0)  # too few to find a clip
    with pytest.raises(BadInput, match="model"):
        plan_mean(1000, 1.0, model="poisson")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: RankClippedMean(0), "epsilon"),
        (lambda: RankClippedMean(1.0, size=-1), "size"),
        (lambda: RankClippedMean(1.0, ADD, size=10), "size"),
        (lambda: BoundedMean(1, 0, 1.0), "bounds"),
        (lambda: BoundedMean(0, math.nan, 1.0), "bounds"),
        (lambda: BoundedMean(0, 1, -1.0), "epsilon"),
        (lambda: plan_mean(10, 1.0, bounds=(3, 3)), "bounds"),
        (lambda: plan_mean(10, 1.0, bounds=(0, 3), near_zero=True), "near_zero"),
        (lambda: plan_mean(10, 1.0, model="gaussian", near_zero=True), "near_zero"),
        (lambda: RankClippedMean(1.0, near_zero=100), "near_zero"),  # type: ignore[arg-type]
        (lambda: plan_mean(10, 1.0, 0.5), "delta"),
        (lambda: plan_mean(10, 1.0, sigma=-1.0), "sigma"),
        (lambda: plan_mean(10, 1.0, neighbours=ADD), "size"),
    ],
)
def test_bad_arguments(make: Callable[[], object], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        make()


def test_bad_data_is_refused_before_any_draw() -> None:
    recorder = Recorder(Seeded(0))
    odd: list[Any] = [[], np.ones((3, 2)), "text"]
    for mechanism in (RankClippedMean(1.0, size=5), BoundedMean(0, 1, 1.0)):
        for rows in odd:
            with pytest.raises(BadInput):
                mechanism.release(rows, recorder)
    with pytest.raises(BadInput, match="size=5"):
        RankClippedMean(1.0, size=5).release(np.ones(7), recorder)
    assert recorder.log == []
