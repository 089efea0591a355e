"""The ladder for where to clip: distances on a grid, who is beyond, and the tail that they tell of."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder
from discreet.audit.worlds import HOSTILE
from discreet.errors import DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Laplace
from discreet.stages import reach
from discreet.stages.reach import PARTS, TOP, Tail, beyond, edge, far_prior, farther, find_tail, on_grid, stages
from discreet.statistics.mean import RankClippedMean

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
CROWD: list[Any] = [float(x) for x in np.round(np.random.default_rng(4).gamma(2.0, 3.0, size=40), 1)]
FLAGS: list[Any] = [0.0] * 38 + [1.0] * 2


def world(relation: Neighbours, crowd: list[Any]) -> list[audit.Pair]:
    """A crowd, and one odd record: added, or in place of another."""
    pairs = []
    for value in (*HOSTILE, 3.0, 0.0):
        left = [*crowd, 2.0] if relation is REPLACE else crowd
        pairs += [audit.Pair(left, [*crowd, value]), audit.Pair([*crowd, value], left)]
    return pairs


@pytest.mark.claim("reach.1")
@pytest.mark.claim("reach.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("epsilon", [12.0, 40.0])
@pytest.mark.parametrize("crowd", [CROWD, FLAGS, [7.0] * 40])
def test_no_record_moves_a_draw_by_more_than_it_claims(relation: Neighbours, epsilon: float, crowd: list[Any]) -> None:
    """At epsilon 12 the rank is a third of the records, at 40 a fixed one; flags and constants are searched again."""
    audit.check(RankClippedMean(epsilon, relation), world(relation, crowd), hostile_values=False).require()


@pytest.mark.claim("reach.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("mutant", ["two for one", "a count too small"])
def test_a_score_that_moves_too_far_is_found_out(
    relation: Neighbours, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mutant == "two for one":
        true = reach.farther
        monkeypatch.setattr(reach, "farther", lambda *given: tuple(3 * side for side in true(*given)))
    else:
        monkeypatch.setattr(reach, "sides_moved", lambda neighbours: 1)
        if relation is ADD:
            true_counts = reach.beside
            monkeypatch.setattr(reach, "beside", lambda *given: tuple(2 * count for count in true_counts(*given)))
    found = audit.check(RankClippedMean(40.0, relation), world(relation, CROWD), hostile_values=False)
    with pytest.raises(DiscreetError):
        found.require()


@pytest.mark.claim("reach.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("near_zero", [False, True])
@pytest.mark.parametrize("flags", [0.0, 0.004, 1.0])
def test_all_that_is_drawn_comes_to_epsilon(relation: Neighbours, flags: float, near_zero: bool) -> None:
    rows = (np.random.default_rng(0).random(4000) < flags) * np.random.default_rng(1).normal(size=4000)
    recorder = Recorder(Seeded(0))
    tail = find_tail(rows, Fraction(1, 3), size=400, near_zero=near_zero, neighbours=relation, rng=recorder)
    spent = pure(recorder.spent)
    assert pure(tail.stages.loss) == (Fraction(1, 3), Fraction(0))
    assert spent is not None
    assert spent[0] == Fraction(1, 3) - sum(tail.stages.part(name, Laplace).epsilon for name in ("mean", "square"))
    assert ("again" in tail.stages) == (flags < 1)


@pytest.mark.claim("reach.3")
def test_shares_follow_from_public_numbers() -> None:
    few, many = stages(1.0, 200, ADD), stages(1.0, 10_000, ADD)
    assert few.part("mean", Laplace).epsilon < many.part("mean", Laplace).epsilon
    assert beyond(Choice(Fraction(7, 25)), 250) == (83, True)
    assert beyond(Choice(Fraction(7, 25)), 1000) == (100, False)


@pytest.mark.claim("reach.2")
def test_grid_points_and_the_records_beyond_them() -> None:
    assert edge(0) == 0.0
    one = 1023 << PARTS
    assert [edge(one + k) for k in range(9)] == [1 + k / 8 for k in range(9)]
    above, below = farther(np.array([0.0, 1.0, 1.1, 1.125, -2.0, math.inf, math.nan, -1.0]), 0.0)
    assert (above[0], below[0]) == (4, 2)  # missing counts as at the centre
    assert above[one : one + 3].tolist() == [3, 1, 1]
    assert below[one - 1 : one + 9].tolist() == [2] + [1] * 8 + [0]
    assert above[TOP - 2 :].tolist() == [1, 1]


@pytest.mark.claim("reach.2")
def test_where_data_end_the_end_is_found() -> None:
    """1,000 ones among zeros, 100 records wanted beyond: the first grid point that none is beyond is 1 itself."""
    above = farther(np.repeat([0.0, 1.0], [9000, 1000]), 0.0)[0]
    terms: dict[str, Any] = {"sensitivity": Fraction(1), "cost": Choice(Fraction(1, 2))}
    found = [edge(on_grid(above, Fraction(100), far_prior(), rng=Seeded(seed), **terms)) for seed in range(40)]
    assert found == [1.0] * 40
    nothing = [edge(on_grid(above, Fraction(1500), far_prior(), rng=Seeded(seed), **terms)) for seed in range(40)]
    assert nothing == [0.0] * 40


def tail_of(**changed: Any) -> Tail:
    """An exponential tail of slope 1 beyond ln 20, above the centre alone."""
    kinds: dict[str, Any] = {
        "centre": 0.0,
        "far": math.log(20),
        "body": math.log(2),
        "beyond": 500,
        "up": 500.0,
        "down": 0.0,
        "doubt": 20.0,
        "size": 10_000,
        "noise": 2.0,
        "stages": stages(1.0, 10_000, ADD),
    }
    return Tail(**(kinds | changed))


@pytest.mark.claim("reach.4")
def test_the_allowance_is_the_excess_of_an_exponential_tail() -> None:
    tail = tail_of()
    assert tail.slope >= 1
    below, above = tail.allowance
    assert above > math.exp(-tail.radius)  # the mean excess of an exponential distribution beyond the radius
    assert above > 3 * below
    both = tail_of(up=250.0, down=250.0)
    assert both.allowance[0] == both.allowance[1]
    assert both.radius < tail.radius  # one-sided distances hide a longer tail
    assert tail_of(up=0.0, down=3.0).radius < 1.3 * tail.far  # the data end there
    wider = tail_of(body=math.log(2) / 3)
    assert wider.heavier > 1
    assert wider.slope > tail.slope


def test_a_few_who_differ_are_said_to_be_too_few() -> None:
    none, some = tail_of(far=0.0, body=0.0, up=99.0), tail_of(far=0.0, body=0.0, up=900.0)
    assert none.rare is None
    assert "all but about 900 of about 10000 people have the value 0" in str(some.rare)
    assert tail_of(far=edge(TOP - 1)).endless


def test_a_radius_between_the_centre_and_all_others_is_noticed_by_sums_of_clipped_records() -> None:
    """Of 2,700 records 96 are 1, the others 0; the sum of squares was drawn with noise of scale 11."""
    inside = {"body": 0.0, "size": 2_700, "beyond": 100, "doubt": 11.0, "noise": 0.78}

    def gap(tail: Tail, total: float, squares: float) -> bool:
        shift = total / tail.size
        return tail.gap(shift * tail.radius, tail.radius * math.sqrt(squares / tail.size - shift**2))

    short = tail_of(far=1e-4, up=132.0, down=-1.0, **inside)
    assert gap(short, 96.0, 96.0)
    assert gap(short, 96.0, 60.0)  # three scales less, and the sum tells
    assert gap(tail_of(far=1e-7, up=32.0, down=-2.0, **inside), 78.0, 71.0)  # too few were counted for its end
    assert not gap(short, 130.0, 40.0)  # many are between
    assert not gap(tail_of(far=1.0, up=2.0, down=0.0, **inside), 96.0, 96.0)  # the data end at 1
    assert not gap(tail_of(far=1e-4, **(inside | {"body": 1e-5})), 96.0, 96.0)  # half of them are not at the centre


@pytest.mark.claim("mean.4")
def test_the_mean_of_a_rare_mark_is_held_or_its_limits_are_named() -> None:
    """Of 150 runs those about the plain mean miss it by 3 half-widths in none; the seeds are fixed."""
    for seed in range(150):
        rows = (np.random.default_rng(seed).random(2_700) < 0.038).astype(float)
        release = RankClippedMean(2.0, ADD).release(rows, Seeded(seed))
        if release.refusal is None and (found := release.interval()).about == "the population's mean":
            assert abs(0.038 - (found.low + found.high) / 2) < 1.5 * (found.high - found.low)
