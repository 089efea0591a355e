"""What the ends of an interval aim at."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from discreet.noise.choose_float import Staircase, keys_of
from discreet.statistics import ranks
from discreet.statistics.ranks import GRAIN, lower_rank, lower_share, sample_rank, smooth, tied, worst

WIDE = settings(derandomize=True, database=None, max_examples=100)
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


@pytest.mark.claim("ranks.5")
@pytest.mark.parametrize("rate", [0.005, 0.05, 0.3, 2.0])
def test_the_tied_miss_bounds_the_choice_on_a_grid(rate: float) -> None:
    """The definition: points with c records each, the score is how far tau is from a point's ranks."""
    for each, lead in itertools.product((1, 2, 7, 40, 500), (-90.0, -3.25, -0.5, 0.0, 0.25, 1.0, 6.5, 41.0, 300.0)):
        points = np.arange(-math.ceil(40 / rate / each) - 200, math.ceil(40 / rate / each) + 200)
        upto = each * (points + 1.0)  # ranks of a point's records: (upto - each, upto]; the quantile is at point 0
        tau = each - lead
        scores = np.maximum(0.0, np.maximum(upto - each - tau, tau - upto))
        weights = np.exp(-rate * (scores - scores.min()))
        missed = weights[points > 0].sum() / weights.sum()
        assert missed <= float(tied(rate)(int(GRAIN * lead))) + 1e-9


@pytest.mark.claim("ranks.5")
def test_the_tied_miss_is_no_less_than_the_smooth_one() -> None:
    for rate in (0.01, 0.2, 3.0):
        assert (tied(rate)(range(-400, 400)) >= smooth(rate)(range(-400, 400))).all()
        assert (np.diff(tied(rate)(range(-400, 400))) < 1e-9).all()


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
