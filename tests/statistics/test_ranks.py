"""What the ends of an interval aim at, and what they may land on."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noise.choose_float import BINADES, LARGEST_KEY, Staircase, float_of, keys_of
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Choice
from discreet.statistics import ranks
from discreet.statistics.ranks import (
    GRAIN,
    SPAN,
    RankCells,
    lower_rank,
    lower_share,
    sample_rank,
    scale_scores,
    smooth,
    worst,
)

WIDE = settings(derandomize=True, database=None, deadline=None, max_examples=100)
ANY = st.floats(width=64, allow_nan=True, allow_infinity=True, allow_subnormal=True)
MAX = float(np.finfo(float).max)


# --- the chance to miss ---


@pytest.mark.claim("ranks.1")
@pytest.mark.parametrize(("rate", "offset"), [(0.1, 0), (0.25, 1), (0.25, 2), (1.0, 0), (1.0, 3), (4.0, 2), (60.0, 2)])
def test_the_smooth_miss_is_that_of_exponential_gaps(rate: float, offset: int) -> None:
    """Six standard errors: fails by chance once in 10^8."""
    generator, runs = np.random.default_rng([5, offset]), 40_000
    reach = math.ceil(12 / rate) + 8
    gaps = np.arange(-reach, reach + 1)
    weights = np.exp(-rate * np.abs(gaps - offset / GRAIN))
    widths = generator.exponential(size=(runs, len(gaps))) * weights
    for record in (-2, 0, 1, 3):  # the quantile lies in the gap after this one
        place = record + reach
        second = generator.exponential(size=runs) * weights[place]  # it cuts its gap into two
        above = widths[:, place:].sum(axis=1)
        below = widths[:, :place].sum(axis=1) + second
        shares = above / (above + below)
        error = shares.std() / math.sqrt(runs) + 1e-9
        assert abs(shares.mean() - float(smooth(rate)(GRAIN * record - offset))) < 6 * error


@pytest.mark.claim("ranks.1")
def test_for_small_rates_the_stand_in_is_on_the_safe_side() -> None:
    for rate in (1 / 16, 0.03, 0.01):
        table = ranks._table(rate)
        middle = len(table) // 2
        leads = (np.arange(len(table)) - middle) / GRAIN
        stand_in = ranks._laplace_tail(rate * (leads - 1))
        assert (stand_in >= table * (1 - 1e-8)).all()
        assert stand_in[middle] - table[middle] < rate
        assert (np.diff(table) < 1e-9).all()  # the miss falls in the lead
    just, under = smooth(1 / 16)(range(-400, 400)), smooth(1 / 16 - 1e-9)(range(-400, 400))
    assert ((under - just) >= -1e-9).all()
    assert np.abs(under - just).max() < 0.04
    assert smooth(1e6)([-3, -2, -1, 0, 1, 2, 3]).tolist() == pytest.approx(
        [1, 2 / 3, 1 / 2, 1 / 2, 1 / 2, 1 / 3, 0], abs=1e-9
    )


@pytest.mark.claim("ranks.2")
def test_the_worst_miss_bounds_every_choice_among_cells() -> None:
    generator = np.random.default_rng(3)
    for rate, cells in itertools.product((0.1, 0.5, 2.0), (2, 5, 40)):
        for _ in range(50):
            scores = generator.integers(0, 30, size=cells) / 4
            scores[generator.integers(cells)] = 0
            distribution = np.exp(-rate * scores)
            distribution /= distribution.sum()
            for lead in range(40):
                assert distribution[scores >= lead / GRAIN].sum() <= worst(rate, cells)(lead) + 1e-12


# --- ranks ---


def averaged(size: int, q: float, rank: Fraction, miss: ranks.Miss) -> float:
    """By hand, record by record, with the binomial coefficients of the integers."""
    return math.fsum(
        math.comb(size, k) * q**k * (1 - q) ** (size - k) * float(miss(int(GRAIN * (k - rank))))
        for k in range(size + 1)
    )


@pytest.mark.claim("ranks.3")
@pytest.mark.parametrize("q", [0.5, 0.1, 0.8])
@pytest.mark.parametrize("miss", [smooth(0.25), smooth(3.0), smooth(0.03), worst(1.0, 20)])
def test_the_rank_is_the_largest_that_misses_seldom_enough(q: float, miss: ranks.Miss) -> None:
    for size, tail in itertools.product((1, 7, 60), (0.3, 0.025, 1e-4)):
        fine = [
            Fraction(j, GRAIN) for j in range(GRAIN * size + 9) if averaged(size, q, Fraction(j, GRAIN), miss) <= tail
        ]
        assert lower_rank(size, q, miss, tail) == max(fine, default=0)


@pytest.mark.claim("ranks.3")
def test_the_other_side_is_the_mirror_image() -> None:
    """The chance that the upper end lands below the quantile, from the definition: weights below, not above."""
    size, q, rate, tail = 40, 0.3, 0.8, 0.05
    rank = size - lower_rank(size, 1 - q, smooth(rate), tail)
    generator = np.random.default_rng(8)
    gaps = np.arange(-60, size + 61)
    total = []
    for record in range(size + 1):
        weights = np.exp(-rate * np.abs(gaps - float(rank)))
        widths = generator.exponential(size=(600, len(gaps))) * weights
        second = generator.exponential(size=600) * weights[record + 60]
        below = widths[:, : record + 60].sum(axis=1) + second
        chance = math.comb(size, record) * q**record * (1 - q) ** (size - record)
        total.append(chance * (below / (below + widths[:, record + 60 :].sum(axis=1))).mean())
    assert 0.6 * tail < math.fsum(total) < 1.05 * tail


@pytest.mark.claim("ranks.3")
@pytest.mark.parametrize(("size", "q"), [(1, 0.5), (30, 0.01), (1000, 0.999), (10**5, 0.3), (10**8, 0.5)])
def test_binomial_chances(size: int, q: float) -> None:
    from scipy.stats import binom

    counts, chances = ranks.binomial(size, q)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    middle = slice(len(counts) // 2 - 5 if len(counts) > 10 else 0, len(counts) // 2 + 5)
    # scipy's own accuracy is what limits the comparison at 10^8
    assert chances[middle] == pytest.approx(binom.pmf(counts[middle], size, q), rel=1e-6, abs=1e-300)


@pytest.mark.claim("ranks.4")
@pytest.mark.parametrize("band", [(50, 50), (40, 90), (300, 420)])
@pytest.mark.parametrize("q", [0.5, 0.2])
def test_a_share_misses_seldom_enough_for_every_size_in_the_band(band: tuple[int, int], q: float) -> None:
    miss, tail = worst(3.0, 30), 0.03
    share = lower_share(band, q, miss, tail)
    assert 0 < share < q
    for size in range(band[0], band[1] + 1):
        lead = [GRAIN * (k - float(share) * size) for k in range(size + 1)]
        chances = [math.comb(size, k) * q**k * (1 - q) ** (size - k) for k in range(size + 1)]
        assert math.fsum(c * float(miss(d)) for c, d in zip(chances, lead, strict=True)) <= tail
    assert share > Fraction(9, 10) * lower_rank(band[0], q, miss, tail) / band[0]  # little is lost by the cutting


def test_the_rank_of_the_sample_quantile() -> None:
    rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    for n, q in itertools.product(range(1, 7), (Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(1, 100))):
        stairs = Staircase(rows[:n], sample_rank(q, n))
        best = [row for row in rows[:n] if stairs.score(int(keys_of([row])[0])) == 0]
        quantiles = [t for t in rows[:n] if sum(x < t for x in rows[:n]) <= q * n <= sum(x <= t for x in rows[:n])]
        assert best == quantiles


# --- the scale ---


def counted(rows: tuple[int, ...]) -> ranks.Integers:
    counts = np.zeros(BINADES, dtype=np.int64)
    for row in rows:
        counts[row] += 1
    return counts


@pytest.mark.claim("quantile.2")
@pytest.mark.claim("quantile.3")
def test_the_scores_of_the_scale_move_by_ten_or_nine() -> None:
    world = (0, 1000, 1004, 1004 + SPAN, BINADES - 1)
    replaced = added = 0
    for n in range(4):
        for rows in itertools.combinations_with_replacement(world, n):
            mine = scale_scores(counted(rows))
            for value in world:
                more = scale_scores(counted((*rows, value)))
                added = max(added, int(np.abs(mine - more).max()))
                for other in world:
                    swapped = scale_scores(counted((*rows, other)))
                    replaced = max(replaced, int(np.abs(more - swapped).max()))
    assert (replaced, added) == (10, 9)


@pytest.mark.claim("quantile.2")
def test_windows_that_hold_the_bulk_have_score_0() -> None:
    values = np.random.default_rng(2).normal(0, 1e5, size=3000)
    counts = ranks.magnitudes(values, 0.0)
    assert counts.sum() == 3000
    scores = scale_scores(counts)
    good = {ranks.flat_scale(int(place)) for place in np.flatnonzero(scores == 0)}
    assert 1 <= len(good) <= SPAN // ranks.STRIDE
    bottom, top = np.quantile(np.abs(values), [0.1, 0.9])
    for prior in good:
        flat = next(e for e, (a, b) in enumerate(itertools.pairwise(prior.weights)) if a > 2**20 and b != 2 * a)
        assert bottom / 2**8 < 2.0 ** (flat - 1023) < top * 2**8
    assert ranks.magnitudes(np.array([math.nan, -8.0, math.inf, 0.0]), 8.0)[[1026, 2046, 0]].tolist() == [2, 1, 1]


def test_counts_of_magnitudes_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).lognormal(0, 30, size=1000)
    whole = ranks.magnitudes(values, 0.0)
    monkeypatch.setattr(ranks, "BLOCK", 7)
    assert (ranks.magnitudes(values, 0.0) == whole).all()


@pytest.mark.parametrize("binade", [0, 1, 30, 1020, 1023, 2046, 2047, 2052])
def test_the_flat_prior_is_flat_below_and_falls_above(binade: int) -> None:
    weights = ranks.flat_below(binade).weights
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


@pytest.mark.claim("ranks.2")
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
