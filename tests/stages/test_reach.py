"""The ladder for where to clip: distances on a grid, who is beyond, and the tail that they tell of."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.accounting.allocation import Allocation, Share
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder
from discreet.audit.worlds import HOSTILE
from discreet.errors import DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Laplace
from discreet.stages import reach
from discreet.stages.distance_grid import PARTS, TOP, Distances, edge, far_prior
from discreet.stages.reach import Tail, beyond, farther, find_tail, on_grid, stages
from discreet.statistics.mean import RankClippedMean, tail_mean

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
@pytest.mark.parametrize("epsilon", [12.0, 40.0, 50.0])
@pytest.mark.parametrize("crowd", [CROWD, FLAGS, [7.0] * 40])
def test_no_record_moves_a_draw_by_more_than_it_claims(relation: Neighbours, epsilon: float, crowd: list[Any]) -> None:
    """Flags and constants are searched again. At 50, under ADD_OR_REMOVE at 40, those beyond the radius are counted."""
    audit.check(RankClippedMean(epsilon, relation), world(relation, crowd), hostile_values=False).require()


@pytest.mark.claim("reach.2")
@pytest.mark.claim("reach.3")
@pytest.mark.parametrize("crowd", [CROWD, FLAGS])
def test_where_people_are_few_a_third_of_them_is_looked_for(crowd: list[Any]) -> None:
    """Of 41 and of 42 people it is another number: a draw that reads the true one is found out."""
    assert beyond(stages(5.0, 41, ADD).part("scale", Choice), 41) == (13, True)
    audit.check(RankClippedMean(5.0, ADD), world(ADD, [*crowd, 1.0]), hostile_values=False).require()
    again = [find_tail(np.zeros(many), 5.0, size=50, neighbours=ADD, rng=Seeded(0))[0] for many in (60, 80)]
    assert [(tail.far, tail.beyond) for tail in again] == [(0.0, 16)] * 2


@pytest.mark.claim("reach.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("mutant", ["two for one", "a count too small", "a set counted twice"])
def test_a_score_that_moves_too_far_is_found_out(
    relation: Neighbours, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mutant == "two for one":
        true = reach.farther
        monkeypatch.setattr(reach, "farther", lambda *given: tuple(3 * side for side in true(*given)))
    elif mutant == "a set counted twice":
        true_sets = reach.beside
        monkeypatch.setattr(reach, "beside", lambda *given: (*(sets := true_sets(*given))[:2], 2 * sets[2]))
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
@pytest.mark.parametrize("asked", [False, True])
def test_all_that_is_drawn_comes_to_epsilon(relation: Neighbours, flags: float, near_zero: bool, asked: bool) -> None:
    """Also where those beyond the radius are counted, by a smaller share than that of the mean."""
    rows = (np.random.default_rng(0).random(4000) < flags) * np.random.default_rng(1).normal(size=4000)
    recorder, size = Recorder(Seeded(0)), (40_000 if relation is REPLACE else 10_000) if asked else 400
    tail, _ = find_tail(rows, Fraction(1, 3), size=size, near_zero=near_zero, neighbours=relation, rng=recorder)
    assert ("past" in tail.stages) == asked
    spent = pure(recorder.spent)
    assert pure(tail.stages.loss) == (Fraction(1, 3), Fraction(0))
    assert spent is not None
    assert spent[0] == Fraction(1, 3) - sum(tail.stages.part(name, Laplace).epsilon for name in ("mean", "square"))
    assert ("again" in tail.stages) == (flags < 1)


@pytest.mark.claim("reach.3")
def test_shares_follow_from_public_numbers() -> None:
    few, many = stages(0.1, 2_000, ADD), stages(0.1, 90_000, ADD)
    assert few.part("mean", Laplace).epsilon < many.part("mean", Laplace).epsilon
    asked = [(0.1, 100_000, ADD), (1.0, 1_000, ADD), (10.0, 90, ADD), (1.0, 4_000, REPLACE), (10.0, 180, REPLACE)]
    assert all("past" in stages(*terms) for terms in asked)
    assert not any("past" in stages(epsilon, size - 1, relation) for epsilon, size, relation in asked)
    assert "past" not in stages(1.0, 10_000, ADD, last={"mean": Share()})
    for size in (1_000, 100_000):
        shares = stages(1.0, size, ADD)
        assert 0.05 < shares.part("past", Laplace).epsilon <= shares.part("mean", Laplace).epsilon
    assert beyond(Choice(Fraction(7, 25)), 250) == (83, True)
    assert beyond(Choice(Fraction(7, 25)), 1000) == (100, False)


@pytest.mark.claim("reach.2")
def test_grid_points_and_the_records_beyond_them() -> None:
    assert edge(0) == 0.0
    one = 1023 << PARTS
    assert [edge(one + k) for k in range(9)] == [1 + k / 8 for k in range(9)]
    rows = np.array([0.0, 1.0, 1.1, 1.125, -2.0, math.inf, math.nan, -1.0])
    above, below = farther(Distances.of(rows, 0.0))
    assert (above[0], below[0]) == (4, 2)  # missing counts as at the centre
    assert above[one : one + 3].tolist() == [3, 1, 1]
    assert below[one - 1 : one + 9].tolist() == [2] + [1] * 8 + [0]
    assert above[TOP - 2 :].tolist() == [1, 1]


@pytest.mark.claim("reach.2")
def test_where_data_end_the_end_is_found() -> None:
    """1,000 ones among zeros, 100 records wanted beyond: the first grid point that none is beyond is 1 itself."""
    above = farther(Distances.of(np.repeat([0.0, 1.0], [9000, 1000]), 0.0))[0]
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
        "near": 1500.0,
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
    unsure = tail_of(far=0.0, body=0.0, up=30.0, size=1_000)
    assert "all but hardly more than 60 of about 1000 people have the value 0" in str(unsure.rare)
    assert tail_of(far=edge(TOP - 1)).endless


@pytest.mark.claim("mean.3")
def test_a_distance_with_hardly_anybody_before_it_tells_nothing() -> None:
    """500 of 10,000 are beyond the far distance, as expected; half or more are at the centre."""
    assert tail_of(body=0.0, near=61.0).rare is None
    assert "all but about 500 of about 10000 people have the value 0: too few differ" in str(
        tail_of(body=0.0, near=59.0).rare
    )
    assert tail_of(body=1.0, near=59.0).rare is None


@pytest.mark.claim("reach.5")
def test_so_few_may_be_beyond_the_radius_that_they_hardly_move_the_mean() -> None:
    """Noise of scale 2 was added to 6: 9 of 10,000 records, a radius farther out, move the mean by 0.0009 radii."""
    told = Allocation.of(2.0).split(past=Share(Fraction(1, 4)), mean=Share())
    assert tail_of().allowed(math.inf) is None  # nobody asked
    tail = tail_of(past=6.0, stages=told)
    assert tail.hardly == 9.0
    allowed = tail.allowed(2.71e-3 * tail.radius)
    assert allowed == {"below": tail.allowance[0], "above": tail.allowance[1], "shift": 9e-4 * tail.radius}
    assert tail.allowed(2.69e-3 * tail.radius) is None
    assert tail_of(past=-5.0, stages=told).hardly == 3.0
    huge = tail_of(far=1e299, body=1e299, past=1e9, stages=told)
    assert huge.allowed(1e290) is None


@pytest.mark.claim("reach.5")
@pytest.mark.claim("mean.4")
def test_the_interval_of_a_mean_knows_what_those_beyond_may_move_it_by() -> None:
    rows = np.random.default_rng(0).normal(size=9_000)
    tail, table = find_tail(rows, 1.0, size=9_000, neighbours=ADD, rng=Seeded(2))
    spread: Any = tail_mean(table, tail, neighbours=ADD, rng=Seeded(3))
    assert spread.interval(0.95).about == "the population's mean"
    hardly: Any = tail.hardly
    assert spread.shift == hardly / 9_000 * tail.radius > 0
    assert (spread.below, spread.above) == tail.allowance


@pytest.mark.claim("reach.5")
@pytest.mark.parametrize("relation", BOTH)
def test_those_beyond_the_radius_are_counted(relation: Neighbours) -> None:
    """Without noise on counts, and as if sums had much: then the radius is close, and many are beyond."""

    class Silent(Seeded):
        def blur(self, values: Any, **_: Any) -> Any:
            return values

    for rows in (np.random.default_rng(0).standard_cauchy(9000), -np.random.default_rng(1).gamma(2.0, size=9000)):
        tail, _ = find_tail(rows, 1.0, size=9000, times=1e4, neighbours=relation, rng=Silent(3))
        assert tail.past == np.count_nonzero(np.abs(rows - tail.centre) > tail.radius) > 0


@pytest.mark.claim("reach.1")
@pytest.mark.claim("reach.3")
@pytest.mark.parametrize("relation", BOTH)
def test_what_is_told_is_what_was_drawn(relation: Neighbours) -> None:
    """Whatever the data: a count that is read without its noise is found out."""

    class Fixed(Seeded):
        def blur(self, values: Any, **_: Any) -> Any:
            return np.full(np.shape(values), 77 << 26, dtype=object) if np.shape(values) else 77 << 26

    generator = np.random.default_rng(5)
    for rows in (generator.normal(size=8_000), (generator.random(8_000) < 0.06).astype(float)):
        tail, _ = find_tail(rows, 1.0, size=9_000, neighbours=relation, rng=Fixed(1))
        assert (tail.up, tail.down, tail.near, tail.past, tail.size) == (77.0, 77.0, 77.0, 77.0, 9_000)
        times = 2 if relation is REPLACE else 1  # scales of the noise on a count, and on a sum
        stated = [times / float(tail.stages.part(name, Laplace).epsilon) for name in ("sides", "mean")]
        assert [tail.doubt, tail.noise] == stated


@pytest.mark.claim("reach.5")
def test_a_radius_is_widened_only_where_the_noise_goes_unnoticed() -> None:
    wide, many = {"size": 10**7, "beyond": 500, "far": 10.0}, stages(1.0, 10**7, ADD)
    noise = 1 / float(many.part("mean", Laplace).epsilon)
    plain, told = tail_of(**wide, noise=noise), tail_of(**wide, noise=noise, stages=many)
    assert told.radius == plain.radius  # both ask who is beyond
    alone = tail_of(**wide, noise=noise, stages=stages(1.0, 10**7, ADD, last={"mean": Share()}))
    assert told.radius > 1.5 * alone.radius
    assert math.sqrt(2) * noise * told.radius / 10**7 < 0.31 * 2.5 / math.sqrt(10**7)  # the deviation is about 2.5
    assert tail_of(**wide, noise=noise, stages=many, up=3.0).radius < 1.1 * wide["far"]  # the data end there


@pytest.mark.claim("reach.5")
@pytest.mark.parametrize("relation", BOTH)
def test_a_tail_that_looks_exponential_and_is_longer_is_held_or_its_limits_are_named(relation: Neighbours) -> None:
    """3% of people have ten times as much: an exponential tail at each rank that is seen. The seeds are fixed."""

    def draw(index: int) -> tuple[Any, float]:
        generator = np.random.default_rng(index)
        rows = generator.exponential(size=5_000) * np.where(generator.random(5_000) < 0.03, 10, 1)
        release = RankClippedMean(1.0, relation).release(rows, Seeded(index))
        whole = release.interval().about == "the population's mean"
        return release, 1.27 if whole else release.value

    assert audit.coverage(draw, runs=60).share > 0.9


@pytest.mark.claim("mean.4")
def test_the_mean_of_a_rare_mark_is_held_or_its_limits_are_named() -> None:
    """Of 150 runs those about the plain mean miss it by 3 half-widths in none; the seeds are fixed."""
    for seed in range(150):
        rows = (np.random.default_rng(seed).random(2_700) < 0.038).astype(float)
        release = RankClippedMean(2.0, ADD).release(rows, Seeded(seed))
        if release.refusal is None and (found := release.interval()).about == "the population's mean":
            assert abs(0.038 - (found.low + found.high) / 2) < 1.5 * (found.high - found.low)


@pytest.mark.claim("reach.2")
@pytest.mark.parametrize("third", [False, True])
def test_no_record_moves_a_score_by_more_than_it_claims(third: bool) -> None:
    """Every pair of neighbours that one record more makes, of a column with ties, a gap and a tail."""
    seen: list[Any] = []

    class Seen(Seeded):
        def choose(self, scores: Any, **_: Any) -> int:
            seen.append(scores)
            return 0

    terms: dict[str, Any] = {"cost": Choice(Fraction(1)), "rng": Seen(1), "after": reach.BEFORE}
    crowd = [0.0] * 9 + [1.0] * 5 + [1.1, 3.0, 400.0]
    for odd in (0.0, 5e-324, 1e-9, 0.9, 1.0, 2.0, 399.0, 1e9):
        for rows in (crowd, [*crowd, odd]):
            target = Fraction(len(rows), 3) if third else Fraction(6)
            above = farther(Distances.of(np.array(rows), 0.0))[0]
            on_grid(above, target, far_prior(), sensitivity=Fraction(2, 3) if third else Fraction(1), **terms)
    moves = [np.abs(more - less).max() for less, more in zip(seen[::2], seen[1::2], strict=True)]
    assert max(moves) == (2 if third else 3) * reach.GRAIN // 3


@pytest.mark.claim("mean.3")
@pytest.mark.claim("sum.2")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("size", [700, 2_894])
def test_no_limit_falls_between_a_value_that_most_have_and_the_others(size: int, relation: Neighbours) -> None:
    """Half of such limits did where as many differ as privacy hides. By the weights of both searches one does in some
    10^7 of the runs with flags, in 10^4 with amounts, and in one of 40 of these without being refused."""
    for share in (0.03, 0.05, 0.07, 0.1, 0.15, 0.25, 0.35):
        differ = round(share * size)
        amounts = np.exp(np.random.default_rng(differ).normal(3, 1, size=differ))
        for others in (np.ones(differ), amounts):
            rows = np.concatenate([np.zeros(size - differ), others])
            tails = [
                find_tail(rows, 1.0, size=size, neighbours=relation, rng=Seeded(k), centre=0.0)[0] for k in range(5)
            ]
            assert all(tail.rare or tail.far >= others.min() for tail in tails)


@pytest.mark.claim("mean.3")
def test_a_mark_of_some_is_answered_where_enough_have_it() -> None:
    """6% of 2,894 people are refused or limited at 1; 10% are answered in nearly all runs. The seeds are fixed."""
    for every, least in ((16, 20), (10, 57)):
        rows = (np.arange(2_894) % every == 0).astype(float)
        answers = [
            found for seed in range(60) if (found := RankClippedMean(1.0, ADD).release(rows, Seeded(seed))).spread
        ]
        assert all(release.interval().high > 0.03 for release in answers)
        assert len(answers) > least
