"""Medians, distances and windows: one record moves no score further than is claimed."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import audit
from discreet.errors import BadInput
from discreet.noise.choose_float import keys_of
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.loss import Choice
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release
from discreet.stages import locate
from discreet.stages.locate import (
    COARSE,
    FINE,
    cells,
    faded,
    far_distance,
    finest,
    laid_out,
    median_distance,
    middle,
    some_places,
    taken,
)
from discreet.tables.entries import numbers
from discreet.tables.streams import Stream

BOTH = list(Neighbours)
SIX = [0, 1, 2, 2, 3, 5]


@dataclass(frozen=True)
class Probe:
    """One stage as a mechanism."""

    stage: Literal["middle", "bounded", "distance", "far"]
    epsilon: float
    neighbours: Neighbours
    centre: float = 1.0
    least: float = 0.0

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, self.neighbours)

    @property
    def loss(self) -> Choice:
        return Choice(self.epsilon)

    def release(self, rows: Any, rng: Randomness) -> Release[float]:
        values, cost, near = numbers(rows), self.loss, self.neighbours
        if self.stage == "middle":
            found = middle(values, cost=cost, neighbours=near, rng=rng)
        elif self.stage == "bounded":
            found = middle(values, cost=cost, neighbours=near, rng=rng, bounds=(0.0, 3.0))
        elif self.stage == "distance":
            found = median_distance(values, centre=self.centre, cost=cost, neighbours=near, rng=rng)
        else:
            found = far_distance(values, centre=self.centre, beyond=2, cost=cost, rng=rng, least=self.least)
        return Release(self.guarantee, Provenance(self.stage, {}, rng.secure), found)


@pytest.mark.claim("locate.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("stage", ["middle", "bounded", "distance"])
@pytest.mark.parametrize("epsilon", [2.0, 200.0])  # with 200, the window holds two or three records
def test_medians_on_small_worlds(
    stage: Literal["middle", "bounded", "distance"], relation: Neighbours, epsilon: float
) -> None:
    world = audit.numbers(relation, 3)[:: 2 if relation is Neighbours.REPLACE else 1]
    wide = [audit.Pair(SIX + pair.left, SIX + pair.right) for pair in world[::7]]
    audit.check(Probe(stage, epsilon, relation), world[::3] + wide, hostile_values=relation is not BOTH[0]).require()


@pytest.mark.claim("locate.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("epsilon", "least"), [(5.0, 0.0), (200.0, 0.0), (200.0, 1.5)])
def test_far_distances_on_small_worlds(relation: Neighbours, epsilon: float, least: float) -> None:
    world = audit.numbers(relation, 3)[:: 4 if relation is Neighbours.REPLACE else 1]
    crowd = [0.0, 1.0, 1.0, 1.0, 2.0, 1e300, math.nan] * 3
    wide = [audit.Pair(crowd + pair.left, crowd + pair.right) for pair in world[::3]]
    probe = Probe("far", epsilon, relation, least=least)
    audit.check(probe, world[::3] + wide, hostile_values=relation is not BOTH[0]).require()


@pytest.mark.claim("locate.2")
def test_each_record_below_the_least_distance_counts_as_there() -> None:
    values = np.array([0.0, 0.1, -0.1, 0.3, 0.3, 1.4, -7.0, math.nan, math.inf, 1e-300])
    distances = np.where(np.isnan(values), 0.0, np.abs(values))
    for least in (0.0, 2.0**-24, 0.3, 1.4, 9.0, 1e300):
        found = locate._raised(cells(values, 0.0, COARSE), locate._cell_of(np.array([least]), 0.0, 52 - COARSE))
        wanted = cells(np.maximum(distances, least), 0.0, COARSE)
        assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


@pytest.mark.claim("locate.1")
def test_a_subset_of_very_many_rows_is_chosen_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "ENOUGH", 4)
    crowd = [float(k) for k in range(13)]
    world = [audit.Pair(crowd + pair.left, crowd + pair.right) for pair in audit.numbers(Neighbours.REPLACE, 1)]
    audit.check(Probe("middle", 1000.0, Neighbours.REPLACE), world, hostile_values=False).require()


@pytest.mark.claim("locate.1")
@pytest.mark.claim("locate.2")
@given(st.lists(st.integers(0, 30), min_size=6, max_size=6), st.integers(0, 5), st.booleans())
@settings(max_examples=200)
def test_a_record_more_moves_the_number_beyond_anything_by_at_most_one(few: list[int], place: int, fade: bool) -> None:
    """Laid out evenly, faded or not: the count beyond t rises by 0 or 1, at every place where either count steps."""
    where = np.arange(4092, 4098)
    more = np.array(few) + (np.arange(6) == place)
    before, after = (
        faded((where[counts > 0], counts[counts > 0])) if fade else (where[counts > 0], counts[counts > 0])
        for counts in (np.array(few), more)
    )
    assert before[1].sum() == sum(few)
    old = keys_of(laid_out(before, COARSE, 0, sum(few)))
    new = keys_of(laid_out(after, COARSE, 0, sum(few) + 1))
    places = np.unique(np.concatenate([old - 1, old, old + 1, new - 1, new, new + 1]))
    for strict in (False, True):
        beyond = [
            np.array([np.count_nonzero(keys >= t if strict else keys > t) for t in places]) for keys in (old, new)
        ]
        assert set((beyond[1] - beyond[0]).tolist()) <= {0, 1}


def test_cells_are_those_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.concatenate([np.random.default_rng(0).normal(size=500), [math.nan, math.inf, -math.inf, 1e300, 0.2]])
    plain = cells(values, 0.2, FINE)
    for name, bound in (("FEW", 1), ("LARGE", 1)):  # by a table, and compiled
        monkeypatch.setattr(locate, name, bound)
        other = cells(values, 0.2, FINE)
        assert (other[0] == plain[0]).all()
        assert (other[1] == plain[1]).all()
    assert plain[1].sum() == len(values)
    assert (plain[0][0], plain[1][0]) == (0, 2)  # the centre itself, and what is missing
    laid = laid_out(plain, FINE, 0, len(values))
    distances = np.sort(np.minimum(np.abs(values[~np.isnan(values)] - 0.2), np.finfo(float).max))
    assert np.allclose(laid[2:], distances[1:], rtol=2**-FINE)


def test_they_find_what_they_look_for() -> None:
    values = np.random.default_rng(0).normal(1e6, 3.0, size=5000)
    for relation in BOTH:
        cost = Choice(Fraction(1, 5))
        centre = middle(values, cost=cost, neighbours=relation, rng=Seeded(1))
        assert abs(centre - 1e6) < 1
        spread = median_distance(values, centre=centre, cost=cost, neighbours=relation, rng=Seeded(2))
        assert 1.7 < spread < 2.4
        far = far_distance(values, centre=centre, beyond=150, cost=cost, rng=Seeded(3))
        assert 5 < far < 11


def test_a_target_counts_from_the_far_end_even_if_there_are_few() -> None:
    values = np.concatenate([np.ones(30), np.full(30, 1000.0)])
    found = [far_distance(values, centre=0.0, beyond=beyond, cost=Choice(2), rng=Seeded(7)) for beyond in (15, 45)]
    assert 900 < found[0] < 3000
    assert found[1] < 10


@pytest.mark.parametrize("size", [2000, 300_000])
def test_truth_values_are_found_however_many(size: int) -> None:
    """Nothing but a fading tail tells a little beyond the data from far beyond."""
    values = (np.arange(size) % 10 == 0).astype(float)
    found = [
        far_distance(values, centre=0.0, beyond=90, cost=Choice(Fraction(3, 10)), rng=Seeded(seed))
        for seed in range(20)
    ]
    assert sorted(found)[-2] < 3  # one overshoot in 20 would be chance: 1 in 1000 each
    assert min(found) > 0.9


@pytest.mark.claim("locate.1")
def test_some_places_are_public_distinct_and_in_step_with_no_period() -> None:
    for size in (1, 100, 299, 300, 1000, 12345):
        places = np.arange(size)[some_places(size, 100)]
        assert len(set(places.tolist())) == len(places)
        assert places.min() >= 0
        assert places.max() < size
        assert len(places) == size if size < 200 else 100 <= len(places) <= 200
    for period in (2, 3, 4, 7, 12, 52):
        residues = np.bincount(np.arange(2**20)[some_places(2**20, 2**13)] % period, minlength=period)
        assert residues.min() > 0.9 * residues.mean()


@pytest.mark.claim("locate.2")
@pytest.mark.parametrize("constant", [20.0, 0.0, -37.25, 1.7e9])
def test_records_that_are_all_the_same_seem_next_to_nothing_apart(constant: float) -> None:
    """Where every record is at the centre a distance used to be drawn from the prior alone, a quarter of the time."""
    values, rng = np.full(3000, constant), Seeded(1)
    cost, least = Choice(Fraction(3, 10)), finest(constant)
    found = [far_distance(values, centre=constant, beyond=93, cost=cost, rng=rng, least=least) for _ in range(60)]
    assert sum(least <= distance < 1.0 for distance in found) >= 52


def test_records_at_public_places_are_not_taken_of_pieces_that_changed() -> None:
    """As many as were counted, in pieces of any length; else the data changed, and places mean nothing."""
    for lengths in ((30, 0, 70), (30, 71), (99,)):
        pieces = np.split(np.arange(float(sum(lengths))), np.cumsum(lengths)[:-1])

        def gather(work: Any, pieces: Any = pieces) -> list[Any]:
            return [work((0, place), piece) for place, piece in enumerate(pieces)]

        stream, places = Stream(100, lambda: iter(()), gather=gather), np.array([0, 29, 30, 31, 98])
        if sum(lengths) == 100:
            assert taken(stream, places).tolist() == places.tolist()
        else:
            with pytest.raises(BadInput, match="the data changed"):
                taken(stream, places)
