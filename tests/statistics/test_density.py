"""Densities: what is promised, what is reached, what is drawn."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet import audit
from discreet.accounting.currency import pure
from discreet.audit.distinguish import proportion_bounds
from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.noise.distributions import LaplaceDistribution, laplace_scale
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Laplace
from discreet.privacy.values import Density
from discreet.statistics.density import BinnedDensity, cell_edges, reach, widened
from discreet.statistics.density_curve import (
    cells_for,
    occupied,
    on_simplex,
    smoothed,
    sum_radius,
    tree,
)

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
SPREAD = [0.5 + index / 200 for index in range(200)]
CHANCE = 1e-7


def ends(relation: Neighbours) -> list[audit.Pair]:
    """One odd row among a crowd."""
    odd = (0.0, 1e12, -1e300, math.nan, math.inf)
    if relation is REPLACE:
        return [audit.Pair([*SPREAD, 1.0], [*SPREAD, one]) for one in odd]
    return [audit.Pair(SPREAD, [*SPREAD, one]) for one in odd]


@pytest.mark.claim("density.1")
@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("support", [None, (0.0, 2.0)])
def test_audit(relation: Neighbours, support: tuple[float, float] | None) -> None:
    audit.check(BinnedDensity(16.0 if support is None else 1.0, support, relation), ends(relation)).require()


@pytest.mark.claim("density.2")
def test_one_person_more_where_the_number_of_cells_would_double() -> None:
    rows = [index / 334 for index in range(668)]
    mechanism = BinnedDensity(4.0, (0, 2), ADD)
    assert cells_for(668, 0.05) < cells_for(669, 0.05)
    audit.check(mechanism, [audit.Pair(rows, [*rows, 1.0])], hostile_values=False).require()


@pytest.mark.claim("density.2")
@pytest.mark.parametrize("epsilon", [5.0, 3.06])
def test_a_private_size_decides_nothing_but_by_its_noisy_count(epsilon: float) -> None:
    """At 5 the share of the quartiles and the prior of the granularity follow the count; at 3.06 a refusal does."""
    pair, mechanism = audit.Pair(SPREAD[:-1], SPREAD), BinnedDensity(epsilon, None, ADD)
    seeds = range(6)
    assert [replay(mechanism, pair, seed=seed) for seed in seeds] == [[]] * len(seeds)
    refused = {mechanism.release(SPREAD, Seeded(seed)).refusal is not None for seed in seeds}
    assert refused == ({False} if epsilon == 5 else {False, True})


@pytest.mark.claim("density.2")
@pytest.mark.parametrize("relation", Neighbours)
def test_shares_of_epsilon_add_up(relation: Neighbours) -> None:
    for size in (10, 680, 10**6):
        stages = BinnedDensity(0.3, neighbours=relation).stages(size)
        assert pure(stages.loss) == (Fraction(3, 10), Fraction(0))
        assert isinstance(stages.noise("cells"), Laplace)


@pytest.mark.claim("density.2")
@pytest.mark.parametrize(("size", "epsilon"), [(3, 1.0), (100, 1.0), (4000, 0.1)])
def test_too_few_rows_of_a_private_number_are_refused_by_a_noisy_count(size: int, epsilon: float) -> None:
    for seed in range(5):
        release = BinnedDensity(epsilon, neighbours=Neighbours.ADD_OR_REMOVE).release(np.arange(size) / 7, Seeded(seed))
        assert "by a noisy count" in str(release.refusal)
        assert release.provenance.parameters["rows"] is None


def test_a_few_more_are_found_where_they_lie() -> None:
    """Where n is private, just above the line of refusal; quartiles that were drawn too far off would be far off."""
    rows = np.random.default_rng(1).normal(100, 15, 8000)
    for seed in range(12):
        curve = BinnedDensity(0.1, neighbours=Neighbours.ADD_OR_REMOVE).release(rows, Seeded(seed)).value
        assert 80 < curve.quantile(0.5) < 120


def test_too_few_rows_are_refused_with_what_is_needed() -> None:
    refused = BinnedDensity(1.0).release([1.0] * 100, Seeded(1))
    assert refused.refusal is not None
    assert "rows" in refused.refusal


@pytest.mark.parametrize("support", [(1, 0), (0, math.inf), "ab", (0,), (math.nan, 1)])
def test_bad_supports(support: object) -> None:
    with pytest.raises(BadInput):
        discreet.density([1.0], epsilon=1.0, support=support)


@pytest.mark.parametrize("distribution", [stats.norm(50, 3), stats.beta(2, 5), stats.expon(), stats.t(3, 1e6)])
def test_error_falls_to_what_a_plain_histogram_has(distribution: object) -> None:
    """Integrated squared error within 3 times that of the best plain histogram of the same sample."""
    rows = distribution.rvs(20_000, random_state=3)  # type: ignore[attr-defined]
    curve = BinnedDensity(1.0).release(rows, Seeded(5)).value
    low, high = distribution.ppf([1e-4, 1 - 1e-4])  # type: ignore[attr-defined]
    places = np.linspace(low, high, 4001)
    truth, step = distribution.pdf(places), places[1] - places[0]  # type: ignore[attr-defined]

    def error(heights: np.ndarray) -> float:
        return float(((heights - truth) ** 2).sum() * step)

    plain = min(_plain_error(rows, places, error, bins) for bins in (16, 24, 32, 48, 64, 96, 128, 192))
    assert error(curve(places)) < 3 * plain + 1e-4
    if distribution.dist.name != "expon":  # type: ignore[attr-defined]  # straight lines blur a jump
        assert error(curve.polygon(places)) < 2 * plain + 1e-4


def _plain_error(rows: np.ndarray, places: np.ndarray, error: object, bins: int) -> float:
    heights, edges = np.histogram(rows, bins, (places[0], places[-1]))
    shares = heights / len(rows) / (edges[1] - edges[0])
    found = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, bins - 1)
    return float(error(shares[found]))  # type: ignore[operator]


@pytest.mark.claim("density.3")
@pytest.mark.parametrize("values", ["normal", "ties"])
def test_the_band_holds_everywhere_at_once(values: str) -> None:
    rng, hits, runs = np.random.default_rng(0), 0, 60
    for run in range(runs):
        rows = rng.normal(size=2000) if values == "normal" else rng.integers(0, 4, 2000) / 2
        release = BinnedDensity(1.0, (-3, 3)).release(rows, Seeded(run))
        band, cells = release.spread.band(0.8), release.value.fine  # type: ignore[union-attr]
        truth = stats.norm.cdf(cells) if values == "normal" else np.clip(np.ceil(cells * 2) / 4, 0, 1)  # below each
        hits += bool(np.all((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)))
        middle = release.spread.quantile(0.4, 0.8)  # type: ignore[union-attr]
        assert middle.low <= middle.high
    assert proportion_bounds(hits, runs, CHANCE)[1] >= 0.8


@pytest.mark.claim("density.3")
def test_the_noise_of_the_number_missing_is_in_the_band() -> None:
    """Sampling aside: on a fixed sample of few people the band's noise part holds what the divisor adds."""
    distribution, cells = LaplaceDistribution(laplace_scale(2, 1)), 32
    rng, fail = np.random.default_rng(9), math.exp(-float(1 / distribution.scale))
    mechanism, size = BinnedDensity(1.0, (0, 1)), 4000
    radius = sum_radius(distribution, cells + 2, 0.1 / 4)
    held = np.zeros(cells + 3)
    held[2] = size  # all people in one narrow cell, so that most ends have all of them below
    for _ in range(200):
        noise = rng.geometric(1 - fail, cells + 3) - rng.geometric(1 - fail, cells + 3)
        spread = mechanism._shown(
            np.linspace(0, 1, cells + 1), held + noise, size, distribution, Seeded(1), Fraction(0)
        ).spread
        assert spread.people <= size  # type: ignore[union-attr]
        error = np.cumsum(spread.noisy)[:-1] / spread.people - np.cumsum(held / size)[: cells + 1]  # type: ignore[union-attr]
        sums = np.cumsum(noise)[: cells + 1]
        most = max(np.abs(sums).max(), np.abs(sums + noise[-1]).max())
        assert np.abs(error).max() * spread.people <= most + 1e-9  # type: ignore[union-attr]
        sampled = math.sqrt(math.log(2 / 0.1) / (2 * spread.people))  # type: ignore[union-attr]
        top = sampled + (noise[0] + radius) / spread.people  # type: ignore[union-attr]
        assert spread.band(0.8).high[0] == pytest.approx(top)  # type: ignore[union-attr]


@pytest.mark.parametrize("relation", Neighbours)
@pytest.mark.parametrize("support", [None, (-4.0, 4.0)])
def test_intervals_of_all_blocks_at_once(relation: Neighbours, support: tuple[float, float] | None) -> None:
    rng, hits, runs = np.random.default_rng(1), 0, 60
    for run in range(runs):
        release = BinnedDensity(1.0, support, relation).release(rng.normal(size=2000), Seeded(run))
        bar, ends = release.interval(0.9), release.spread.blocks  # type: ignore[union-attr]
        truth = np.diff(stats.norm.cdf(ends)) / np.diff(ends)
        of_bins = np.searchsorted(ends, release.value.edges[:-1], side="right") - 1
        hits += bool(np.all((bar.low.heights <= truth[of_bins]) & (truth[of_bins] <= bar.high.heights)))
    assert proportion_bounds(hits, runs, CHANCE)[1] >= 0.9


def test_tails_beyond_a_support_are_told() -> None:
    rows = np.concatenate([np.full(500, -9.0), np.full(300, 9.0), np.linspace(0, 1, 1200), np.full(50, np.nan)])
    release = BinnedDensity(2.0, (0, 1)).release(rows, Seeded(2))
    assert release.value.below == pytest.approx(0.25, abs=0.05)
    assert release.value.above == pytest.approx(0.15, abs=0.05)
    assert any("beyond the ends" in note for note in release.provenance.notes)
    assert any("missing" in note for note in release.provenance.notes)
    total = release.value.below + release.value.above + (release.value.heights * np.diff(release.value.edges)).sum()
    assert total == pytest.approx(1)


def test_every_place_and_scale() -> None:
    """Constant, huge, tiny, all missing: an answer of finite numbers or a refusal, never an error."""
    for rows in (
        np.full(2000, 7.0),
        np.full(2000, np.nan),
        np.full(2000, 1e308),
        np.linspace(-8e307, 8e307, 2000),
        np.full(2000, 5e-324),
        np.full(2000, np.inf),
        np.tile([0.0, 1.0], 1000),
    ):
        for relation in Neighbours:
            curve = BinnedDensity(2.0, neighbours=relation).release(rows, Seeded(1)).value
            assert np.isfinite(curve.heights).all()
            assert (np.diff(curve.edges) > 0).all()
            assert np.isfinite(curve.quantile([0.01, 0.5, 0.99])).all()


def test_curve() -> None:
    curve = Density(
        edges=np.array([0.0, 1.0, 3.0]),
        heights=np.array([0.4, 0.2]),
        below=0.1,
        above=0.1,
        fine=np.array([0.0, 1.0, 3.0]),
        reached=np.array([0.1, 0.5, 0.9]),
    )
    assert curve(0.5) == 0.4
    assert curve([-1.0, 3.0, 4.0]).tolist() == [0.0, 0.2, 0.0]
    assert curve.polygon(0.5) == pytest.approx(0.4)
    assert curve.polygon(1.25) == pytest.approx(0.3)
    assert curve.cdf([-1, 0, 0.5, 2, 3, 4]) == pytest.approx([0, 0.1, 0.3, 0.7, 0.9, 1])
    assert curve.quantile([0.05, 0.3, 0.5, 0.7, 0.99]) == pytest.approx([0, 0.5, 1, 2, 3])
    for q in (0, 1, -1, math.nan):
        with pytest.raises(BadInput):
            curve.quantile(q)
    assert curve.polygon([0.0, 3.0]) == pytest.approx([0.4 + 0.1 / 1.5, 0.2 - 0.2 / 1.5])  # the lines go on to the ends
    assert curve.polygon([-1e-9, 3 + 1e-9]).tolist() == [0.0, 0.0]
    steep = replace(curve, heights=np.array([0.1, 0.45]))
    assert steep.polygon(0.0) == 0.0
    flat = replace(curve, edges=np.array([0.0, 2.0]), heights=np.array([0.4]))
    assert flat.polygon([0.0, 0.3, 2.0, 2.1]) == pytest.approx([0.4, 0.4, 0.4, 0.0])


def test_all_cells_may_make_one_bin() -> None:
    assert tree(np.full(32, 100.0), 8.0)[1].tolist() == [0]
    release = BinnedDensity(1.0, (0, 1)).release(np.linspace(0, 1, 2000), Seeded(3))
    assert len(release.value.heights) == 1
    assert release.value.polygon(0.01) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 33, 64, 100])
def test_a_tree_keeps_the_sums_of_its_blocks(count: int) -> None:
    rng = np.random.default_rng(count)
    cells = (rng.poisson(rng.choice([5, 500], count)) + rng.integers(-9, 10, count)).astype(np.float64)
    means, begin = tree(cells, 18.0)
    assert begin[0] == 0
    assert np.add.reduceat(means, begin) == pytest.approx(np.add.reduceat(cells, begin))
    assert all(np.ptp(part) < 1e-9 for part in np.split(means, begin[1:]))
    assert smoothed(cells, 18.0).sum() == pytest.approx(cells.sum())


def test_a_narrow_peak_stands_beside_a_wide_one() -> None:
    """Within 1.5 times the error of the best width that one who knows the distribution could choose."""
    rng, truth = np.random.default_rng(2), np.linspace(-4, 4, 8193)
    middles, step = (truth[1:] + truth[:-1]) / 2, truth[1] - truth[0]
    height = 0.9 * stats.norm.pdf(middles) + 0.1 * stats.norm.pdf(middles, 1.5, 0.03)
    ours, fixed = 0.0, np.zeros(5)
    scale = float(laplace_scale(2, 0.1))
    for seed in range(3):
        rows = np.where(rng.random(50_000) < 0.9, rng.normal(size=50_000), rng.normal(1.5, 0.03, 50_000))
        curve = BinnedDensity(0.1, (-4, 4), granularity=0).release(rows, Seeded(seed)).value
        ours += ((curve(middles) - height) ** 2).sum() * step
        for place, bins in enumerate((32, 64, 128, 256, 512)):
            noisy = np.histogram(rows, bins, (-4, 4))[0] + rng.laplace(0, scale, bins)
            fixed[place] += ((np.repeat(noisy, 8192 // bins) * bins / 8 / 50_000 - height) ** 2).sum() * step
    assert ours < 1.5 * fixed.min()


def test_noise_makes_no_steps() -> None:
    """Of a flat density next to none: the mean squared error is that of a few numbers, not of many cells."""
    rng, distribution = np.random.default_rng(4), LaplaceDistribution(laplace_scale(2, 1))
    fail = math.exp(-float(1 / distribution.scale))
    steps = []
    for _ in range(200):
        noise = rng.geometric(1 - fail, 256) - rng.geometric(1 - fail, 256)
        steps.append(len(tree((40 + noise).astype(np.float64), distribution.sd**2)[1]))
    assert np.mean(steps) < 3


@pytest.mark.parametrize("relation", Neighbours)
def test_too_small_an_epsilon_is_refused_before_any_draw(relation: Neighbours) -> None:
    class Closed(Seeded):
        def draw(self, request: object) -> object:
            raise AssertionError("drawn")

    with pytest.raises(BadInput, match="epsilon"):
        BinnedDensity(1e-9, neighbours=relation).release([1.0] * 9, Closed(1))


def test_the_nearest_shares() -> None:
    assert on_simplex(np.array([0.5, 0.7, -0.1])) == pytest.approx([0.4, 0.6, 0.0])
    rng = np.random.default_rng(2)
    for _ in range(50):
        noisy = rng.normal(0.1, 0.3, 12)
        near = on_simplex(noisy)
        assert near.sum() == pytest.approx(1)
        for _ in range(20):  # no other point of the simplex is nearer
            other = rng.dirichlet(np.ones(12) / 3)
            assert ((noisy - near) ** 2).sum() <= ((noisy - other) ** 2).sum() + 1e-12


def test_more_people_more_cells() -> None:
    assert cells_for(10, 8.0) == 32
    assert cells_for(1e4, 8.0) == 512
    assert cells_for(1e3, 1e-6) == 256
    assert cells_for(1e9, 8.0) == 1024


def test_bound_on_sums_of_noise() -> None:
    """Chernoff's bound against the exact distribution of a sum, by convolution."""
    distribution = LaplaceDistribution(laplace_scale(2, 1))
    support = np.arange(-400, 401)
    one = np.exp(-np.abs(support) * float(1 / distribution.scale))
    one /= one.sum()
    total = one.copy()
    for _ in range(7):
        total = np.convolve(total, one, mode="same")
    for miss in (0.1, 1e-3, 1e-6):
        radius = sum_radius(distribution, 8, miss)
        assert total[np.abs(support) > radius].sum() <= miss
        least = next(t for t in range(400) if total[np.abs(support) > t].sum() <= miss)
        assert radius < 1.8 * least + 2  # and it is not much too wide


def test_ends() -> None:
    assert reach(-1, 0, 1) == (-9, 9)
    assert reach(0, 0, 1) == (-1, 9)
    low, high = widened(7.0, 7.0)
    assert low < 7 < high
    assert np.diff(np.linspace(low, high, 4097)).min() > 0
    low, high = widened(*reach(1.7e308, 1.7e308, 1.7e308))
    assert np.isfinite(np.linspace(low, high, 33)).all()


def test_picture() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    release = discreet.density(np.linspace(0, 1, 2000), epsilon=2.0, support=(0, 1), rng=Seeded(1))
    axes = release.plot()
    assert axes.get_ylabel() == "density"
    assert "at the widest" in str(release)


# --- rounded data ---


@pytest.mark.claim("density.4")
@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 10), Fraction(5), Fraction(1, 1000)])
@pytest.mark.parametrize(
    ("low", "high", "count"), [(0.0, 7.0, 4), (-138.2, 279.9, 512), (0.31, 0.33, 64), (7.0, 7.0, 32)]
)
def test_cells_hold_equally_many_multiples(low: float, high: float, count: int, unit: Fraction) -> None:
    edges = cell_edges(low, high, count, unit)
    first, last = math.floor(Fraction(low) / unit) - 1, math.ceil(Fraction(high) / unit) + 1
    points = [float(k * unit) for k in range(first, last + 1)]
    assert 1 <= len(edges) - 1 <= count
    assert edges[0] <= low <= high <= edges[-1]
    inside = np.histogram([point for point in points if edges[0] < point < edges[-1]], edges)[0]
    assert len(set(inside[:-1])) <= 1  # the last one may reach beyond what is asked for
    assert len(set(np.rint(np.diff(edges) / float(unit)))) == 1
    after = np.clip(np.searchsorted(points, edges), 1, len(points) - 1)
    nearest = np.minimum(np.abs(edges - np.take(points, after)), np.abs(edges - np.take(points, after - 1)))
    assert (nearest > 0.49 * float(unit)).all()  # ends lie half-way


@pytest.mark.claim("density.4")
@pytest.mark.parametrize("relation", Neighbours)
def test_rounded_data_have_no_combs_and_no_long_support(relation: Neighbours) -> None:
    """Ages in years: as near to the truth as ages that are not rounded; fixed seeds."""
    g = np.random.default_rng(3)
    ages = g.gamma(9, 5, 20_000)
    errors = []
    for rows in (np.rint(ages), ages):
        curve = BinnedDensity(1.0, neighbours=relation).release(rows, Seeded(6)).value
        places = np.linspace(5, 110, 2000)
        errors.append(float(((curve(places) - stats.gamma(9, scale=5).pdf(places)) ** 2).mean()))
        assert -5 < curve.edges[0] < 20
        assert 80 < curve.edges[-1] < 160
        assert curve.below + curve.above < 0.02
    assert errors[0] < 2 * errors[1] + 1e-6


@pytest.mark.claim("density.2")
@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([7.0] * 4000, {7: 1.0}),
        ([0.0] * 3800 + [1.0] * 200, {0: 0.95, 1: 0.05}),
        ([1.0, 2.0, 3.0, 4.0, 5.0] * 800, dict.fromkeys(range(1, 6), 0.2)),
    ],
)
@pytest.mark.parametrize("relation", Neighbours)
def test_constants_flags_and_grades_have_a_bin_for_each_value(
    rows: list[float], wanted: dict[int, float], relation: Neighbours
) -> None:
    curve = BinnedDensity(1.0, neighbours=relation).release(rows, Seeded(2)).value
    assert curve.edges[0] == min(wanted) - 0.5
    assert curve.edges[-1] == max(wanted) + 0.5
    for value, share in wanted.items():
        assert curve(float(value)) == pytest.approx(share, abs=0.02)


def test_a_declared_granularity_is_taken_and_costs_nothing() -> None:
    rows = [float(k % 50) for k in range(5000)]
    asked = BinnedDensity(1.0, granularity=1)
    assert "granularity" not in asked.stages(5000)
    assert "granularity" in BinnedDensity(1.0).stages(5000)
    assert any("multiples of 1;" in note for note in asked.release(rows, Seeded(1)).provenance.notes)
    with pytest.raises(BadInput, match="granularity"):
        BinnedDensity(1.0, granularity=-1)
    with pytest.raises(BadInput, match="categories"):
        discreet.density(["a"], epsilon=1.0, categories=["a"], granularity=1)


def test_blocks_that_hold_more_than_noise_end_the_support() -> None:
    distribution = LaplaceDistribution(laplace_scale(1, 1))
    noise = np.random.default_rng(1).integers(-2, 3, 200).astype(float)
    assert occupied(noise + 50 * (np.abs(np.arange(200) - 100) < 20), distribution) == (81, 120)
    first, last = occupied(noise + 4.0 * (np.arange(200) < 64), distribution)
    assert first < 8
    assert 55 < last < 70
    assert occupied(np.array([5.0]), distribution) == (0, 1)
