"""What the ends of an interval may land on, and how a grid is found."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.choose import Choose
from discreet.noise.choose_float import BINADES, LARGEST_KEY, Staircase, cell_tops, float_of, keys_of, uniform
from discreet.noise.float_cells import multiples
from discreet.noise.order_statistics import Ordered
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Choice
from discreet.statistics import quantile_cells
from discreet.statistics.quantile import Quantile
from discreet.statistics.quantile_cells import (
    GRAINS,
    SPAN,
    UNITS,
    find_scale,
    find_unit,
    floored,
    off_grids,
    scale_scores,
)
from discreet.statistics.rank_cells import RankCells
from discreet.tables.streams import Stream

WIDE = settings(derandomize=True, database=None, max_examples=100)
ANY = st.floats(width=64, allow_nan=True, allow_infinity=True, allow_subnormal=True)
MAX = float(np.finfo(float).max)


UNIT = [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 3), Fraction(7, 100), Fraction(1)]
UNIT += [
    Fraction(3),
    Fraction(10),
    Fraction(1000),
    Fraction(1, 10**12),
    Fraction(10**12),
    Fraction(7, 10**200),
    Fraction(1, 10**320),
]


@pytest.mark.claim("choose_float.4")
@pytest.mark.parametrize("unit", UNIT)
def test_cells_of_different_records_do_not_overlap(unit: Fraction) -> None:
    """Up to the edge of the cells and beyond it, where quotients are off by one: also the floats beside multiples."""
    edges = [2**power for power in (0, 10, 40, 41, 48, 49, 50, 51, 52, 53)]
    drawn = np.random.default_rng(5).integers(2**51, 2**52, 20_000)
    times = np.unique([k + move for k in (*edges, *drawn.tolist()) for move in (-2, -1, 0, 1, 2)]).astype(np.float64)
    places = multiples(np.concatenate([-times, times]), unit)
    beside = [places, np.nextafter(places, np.inf), np.nextafter(places, -np.inf)]
    for side in (1, -1):
        records = np.unique(floored(np.concatenate(beside), 0.0, unit, side, (-MAX, MAX)))
        keys, tops = keys_of(records), cell_tops(records, unit)
        assert (tops >= keys).all()
        assert (tops[:-1] < keys[1:]).all()


# --- the scale ---


def counted(rows: tuple[int, ...]) -> quantile_cells.Integers:
    counts = np.zeros(BINADES, dtype=np.int64)
    for row in rows:
        counts[row] += 1
    return counts


@pytest.mark.claim("quantile.2")
@pytest.mark.claim("quantile.3")
@pytest.mark.claim("quantile_cells.2")
def test_the_scores_of_the_scale_move_by_ten_or_nine() -> None:
    def scores(rows: tuple[int, ...]) -> Any:
        return scale_scores(counted(rows), Choice(1), 10)

    world = (0, 1000, 1004, 1004 + SPAN, BINADES - 1)
    replaced = added = 0
    for n in range(4):
        for rows in itertools.combinations_with_replacement(world, n):
            mine = scores(rows)
            for value in world:
                more = scores((*rows, value))
                added = max(added, int(np.abs(mine - more).max()))
                for other in world:
                    swapped = scores((*rows, other))
                    replaced = max(replaced, int(np.abs(more - swapped).max()))
    assert (replaced, added) == (10 * GRAINS, 9 * GRAINS)
    for swap, moved in ((True, replaced), (False, added)):
        recorder = Recorder(Seeded(0))
        find_scale(np.array([1.0, 2.0]), 0.0, swap=swap, cost=Choice(1), rng=recorder)
        (request,) = (request for request, _ in recorder.log if isinstance(request, Choose))
        assert request.sensitivity == moved


@pytest.mark.claim("quantile.2")
def test_windows_that_hold_the_bulk_have_score_0() -> None:
    values = np.random.default_rng(2).normal(0, 1e5, size=3000)
    counts = quantile_cells.magnitudes(values, 0.0)
    assert counts.sum() == 3000
    free = scale_scores(np.zeros(BINADES, dtype=np.int64), Choice(1), 10)  # what the prior is worth
    best = np.flatnonzero(scale_scores(counts, Choice(1), 10) == free)
    good = {quantile_cells.flat_below(quantile_cells.STRIDE * int(place)) for place in best}
    assert 1 <= len(good) <= SPAN // quantile_cells.STRIDE
    bottom, top = np.quantile(np.abs(values), [0.1, 0.9])
    for prior in good:
        flat = next(e for e, (a, b) in enumerate(itertools.pairwise(prior.weights)) if a > 2**20 and b != 2 * a)
        assert bottom / 2**8 < 2.0 ** (flat - 1023) < top * 2**8
    assert quantile_cells.magnitudes(np.array([math.nan, -8.0, math.inf, 0.0]), 8.0)[[1026, 2046, 0]].tolist() == [
        2,
        1,
        1,
    ]


def test_counts_of_magnitudes_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).lognormal(0, 30, size=1000)
    whole = quantile_cells.magnitudes(values, 0.0)
    monkeypatch.setattr(quantile_cells, "BLOCK", 7)
    assert (quantile_cells.magnitudes(values, 0.0) == whole).all()


@pytest.mark.parametrize("binade", [0, 1, 30, 1020, 1023, 2046, 2047, 2052])
def test_the_flat_prior_is_flat_below_and_falls_above(binade: int) -> None:
    weights = quantile_cells.flat_below(binade + quantile_cells.BACK).weights
    for e in range(max(1, binade - 40), min(binade, BINADES - 1)):
        assert weights[e + 1] == 2 * weights[e]  # twice the room, twice the weight: Lebesgue
    density = [math.log2(weights[e]) - e for e in range(max(binade - 40, 0), BINADES)]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(density))
    assert all(a - b < 1.71 for a, b in itertools.pairwise(density))
    assert min(weights) >= 1


# --- cells ---

BOUNDS = [
    None,
    (0.0, 120.0),
    (-3.0, 1e-300),
    (1e15, 1e15 + 1),
    (-MAX, MAX),
    (0.0, 5e-324),
    (-1.0, -1.0 + 2**-53),
    (1.0, math.nextafter(1.0, 2)),
]


@pytest.mark.claim("quantile.5")
@pytest.mark.parametrize("bounds", BOUNDS)
@WIDE
@given(values=st.lists(ANY, min_size=1, max_size=8), granularity=st.sampled_from([None, 0.1, 1.0, 7.0]))
def test_cells_are_in_order_and_hold_their_values(
    bounds: tuple[float, float] | None, values: list[float], granularity: float | None
) -> None:
    cells = RankCells.of(bounds, granularity)
    low, high = bounds or (-MAX, MAX)
    plain = [min(max(2.0 if math.isnan(value) else value, low), high) for value in values]
    places = cells.places(np.array(values), 2.0).tolist()
    assert all(0 <= place < cells.size for place in places)
    for (a, x), (b, y) in itertools.product(zip(places, plain, strict=True), repeat=2):
        assert a <= b or x > y
    for place, value in zip(places, plain, strict=True):
        first, last = cells.edges(place)
        assert low <= first <= value <= last <= high


@pytest.mark.claim("quantile.5")
def test_the_number_and_the_fineness_of_cells() -> None:
    assert RankCells.of(None, None).size == 2 * 2047 * 2**20
    assert RankCells.of(None, None).edges(0)[0] == -MAX
    assert RankCells.of(None, None).edges(RankCells.of(None, None).size - 1)[1] == MAX
    assert 2**19 <= RankCells.of((0.0, 120.0), None).size <= 2**20 + 2
    assert RankCells.of((0.0, 120.0), 1.0).size == 121
    assert RankCells.of((0.0, 120.0), 1.0).edges(3) == (3.0, 4.0)
    assert RankCells.of((-1.0, -1.0 + 2**-53), None).size == 1
    assert RankCells.of(None, None).edges(int(RankCells.of(None, None).places(np.array([1.0]), 0.0)[0])) == (
        1.0,
        float_of(int(keys_of([1.0])[0]) + 2**32 - 1),
    )
    assert LARGEST_KEY >> 32 == 2047 * 2**20 - 1


@pytest.mark.claim("quantile_cells.2")
def test_all_cells_weigh_the_same() -> None:
    cells = RankCells.of((0.0, 4.0), 1.0)
    assert cells.size == 5
    rng = Seeded(4)
    empty = np.zeros(0, dtype=np.int64)
    drawn = [cells.draw(empty, Fraction(0), Fraction(1), Choice(1), rng) for _ in range(2000)]
    seen = np.bincount(drawn, minlength=5)
    assert ((seen - 400) ** 2 / 400).sum() < 40  # chi-square with 4 degrees of freedom: once in 10^7
    places = np.array([0, 3, 3, 4])
    distribution = np.exp(
        -np.array([1.0, 1.0, 1.0, 0.0, 1.0]) / 2
    )  # scores of rank 2: F- and F are 0 1, 1 1, 1 1, 1 3, 3 4
    drawn = [cells.draw(places, Fraction(2), Fraction(1), Choice(1), rng) for _ in range(2000)]
    wanted = 2000 * distribution / distribution.sum()
    assert ((np.bincount(drawn, minlength=5) - wanted) ** 2 / wanted).sum() < 40
    assert RankCells.of((-1.0, -1.0 + 2**-53), None).draw(empty, Fraction(0), Fraction(1), Choice(1), rng) == 0


# --- what data are rounded to ---


@pytest.mark.claim("quantile_cells.2")
@pytest.mark.parametrize("swap", [False, True])
def test_the_scores_of_the_granularity_move_by_at_most_what_is_claimed(swap: bool) -> None:
    """Every small pair, by what is asked of the randomness."""

    class Asked(Seeded):
        scores: Any = None
        claimed = 0

        def choose(self, scores: Any, *, sensitivity: Any, cost: Choice) -> int:
            self.scores, self.claimed = np.array(scores), int(sensitivity)
            return 0

    def asked(rows: tuple[float, ...]) -> Asked:
        rng = Asked(0)
        find_unit(np.array(rows), 0.0, 10_000, swap=swap, cost=Choice(1), rng=rng)
        return rng

    world, moved = (0.0, 1.0, 0.3, math.pi, 2000.0, math.inf, math.nan), 0
    for rows in itertools.combinations_with_replacement(world, 2):
        for one, other in itertools.product(world, repeat=2):
            first, second = asked((*rows, one)), asked((*rows, other) if swap else rows)
            moved = max(moved, int(np.abs(first.scores - second.scores).max()))
    assert moved == first.claimed == (2 if swap else 1) * GRAINS


@pytest.mark.claim("quantile_cells.1")
@pytest.mark.claim("quantile_cells.3")
@pytest.mark.parametrize("unit", [unit for unit, _ in UNITS if unit > 0] + [Fraction(7), Fraction(1, 3)])
@WIDE
@given(values=st.lists(ANY, min_size=1, max_size=8), side=st.sampled_from([1, -1]))
def test_rounding_down_keeps_the_order_and_what_is_round(unit: Fraction, values: list[float], side: int) -> None:
    plain = side * np.clip(np.where(np.isnan(values), 2.0, values), -MAX, MAX)
    low = floored(np.array(values), 2.0, unit, side, (-MAX, MAX))
    order = np.argsort(plain)
    assert (np.diff(low[order]) >= 0).all()
    assert (low / 2 <= plain / 2 + 2.0**-50 * np.abs(plain)).all()
    for times in (0, 1, 3, 7, 29, 1_000_003, 123_456_789):
        multiple = side * float(times * unit)
        assert floored(np.array([multiple]), 0.0, unit, side, (-MAX, MAX))[0] == abs(multiple)
        assert off_grids(np.array([multiple]), 0.0, [unit]) == (times == 0 and unit > 1,)
    assert off_grids(np.array([float(unit) * math.pi, float(unit) / 7, math.inf, 1e300]), 0.0, [unit]) == (4,)


@pytest.mark.claim("quantile_cells.2")
@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (lambda g: np.rint(g.normal(50, 9, 4000)), {1, 0.5, 0.1}),
        (lambda g: g.integers(0, 2, 4000) * 1.0, {1, 0.5, 0.1}),
        (lambda g: np.full(4000, 7.0), {1, 0.5, 0.1}),
        (lambda g: 100.0 * g.integers(5, 400, 4000), {100, 10, 1}),
        (lambda g: np.round(g.normal(5, 1, 4000), 1), {0.1, 0.01, 0.001}),
        (lambda g: g.normal(5, 1, 4000), {0}),
        (lambda g: g.random(4000) * 1e-9, {0}),
        (lambda g: g.normal(1.7e9, 3600, 4000), {0}),
        (lambda g: g.choice(np.log([2.0, 3, 5, 7]), 4000), {-1}),
        (lambda g: np.where(g.random(4000) < 0.6, 0.0, g.lognormal(3, 1, 4000)), {-1}),
    ],
)
def test_what_data_are_rounded_to_is_found(column: Any, wanted: set[float]) -> None:
    """A wrong one has odds of e^-7 or less in each of 20 runs; fixed seeds."""
    for seed in range(20):
        rows = column(np.random.default_rng(seed))
        found = find_unit(rows, 0.0, 4000, swap=bool(seed % 2), cost=Choice(Fraction(1, 8)), rng=Seeded(seed))
        assert float(found) in wanted


@pytest.mark.claim("choose_float.2")
@pytest.mark.claim("choose_float.3")
def test_a_record_on_a_grid_stands_for_its_cell() -> None:
    """From the definition: cells of one unit weigh the same, and their score is that of their records."""
    unit, rank = Fraction(1, 10), Fraction(2)
    rows = np.array([0.1, 0.3, 0.3, 0.3, 0.5])
    stairs = Staircase(rows, rank, low=0.0, high=0.6, prior=uniform(), unit=unit)
    rng, seen = Seeded(3), np.zeros(7)
    for _ in range(3000):
        drawn = rng.choose_float(stairs, sensitivity=1, cost=Choice(2))
        seen[round(quantile_cells.floor_to(drawn, unit) * 10)] += 1
    scores = np.array([2.0, 1.0, 1.0, 0.0, 2.0, 2.0])
    wanted = np.exp(-scores) / np.exp(-scores).sum() * 3000
    assert ((seen[:6] - wanted) ** 2 / wanted).sum() < 45  # chi-square with 5 degrees of freedom: once in 10^7
    for key in (*keys_of(rows), *keys_of([0.15, 0.35, 0.399999, 0.4, 0.55])):
        value = float_of(int(key))
        below = sum(float(quantile_cells.nearest_to(row + 0.1, unit)) <= value for row in rows)
        assert stairs.score(int(key)) == max(0, below - rank, rank - sum(row <= value for row in rows))


@pytest.mark.claim("quantile_cells.1")
def test_different_records_are_counted_alike_in_an_array_and_in_a_stream() -> None:
    rows = np.array([1.0, 0.0, -0.0, math.nan, 7.5, 7.5, math.inf, 1.0])
    stream, none = Ordered(Stream(8, lambda: iter([rows[:3], rows[3:]])), 7.5), quantile_cells.NOT_ROUNDED
    assert quantile_cells.against(rows, 7.5, [none]) == quantile_cells.against(stream, 7.5, [none]) == [4]
    assert quantile_cells.against(rows, 7.5, [quantile_cells.TIED]) == [0]


@pytest.mark.parametrize("granularity", [1e250, 1e-320])
@pytest.mark.parametrize("confidence", [0.95, None])
def test_no_value_warns_or_raises_at_the_largest_granularity(granularity: float, confidence: float | None) -> None:
    rows = np.random.default_rng(3).normal(50, 10, 500)
    for odd in (MAX, -MAX, math.inf, math.nan, 5e-324):
        mechanism = Quantile(0.5, epsilon=2.0, granularity=granularity, confidence=confidence)
        assert mechanism.release([*rows, odd], Seeded(1)).refusal is None
    with pytest.raises(BadInput, match="granularity"):
        Quantile(0.5, epsilon=2.0, granularity=1e300)
