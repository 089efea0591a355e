"""Scales without bounds, and the shares that pay for them."""

import numpy as np
import pytest
from scipy import stats
from tests.friendly.worlds import ADD, REPLACE

from discreet.audit.replay import Recorder
from discreet.friendly import radius as plan
from discreet.friendly.average import blurred
from discreet.friendly.radius import LOWEST, NONE, ZERO, pair_bins, pair_scale, r_clip, r_pair, radius_quantiles
from discreet.friendly.taper import cells
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.loss import Gaussian, atoms
from discreet.tables.matrix import matrix

COST = Gaussian(1, 1e-15)


@pytest.mark.claim("radius.1")
def test_one_pair_changes_two_bins_at_most_and_bins_are_octaves() -> None:
    ends = [(0.0, 1.0), (0.0, 1.99), (0.0, 2.0), (5.0, 5.0), (0.0, np.nan), (0.0, np.inf), (0.0, 1e300), (0.0, 5e-324)]
    bins = pair_bins(np.array([[value] for pair in ends for value in pair]))
    assert (bins[:3] + LOWEST).tolist() == [0, 0, 1]
    assert bins[3:6].tolist() == [ZERO, NONE, NONE]
    assert (bins[6:] + LOWEST).tolist() == [996, -1074]
    rows = np.random.default_rng(0).normal(size=(100, 3))
    other = rows.copy()
    other[17] = 1e9
    assert (pair_bins(rows) != pair_bins(other)).sum() == 1
    requests = []
    for table in (rows, other):
        door = Recorder(Seeded(0))
        pair_scale(table, cost=COST, rng=door)
        requests.append(door.log[0][0])
        assert door.spent == COST
    assert requests[0].objection(requests[1]) is None


@pytest.mark.claim("radius.1")
def test_the_scale_is_found_wherever_it_is_and_refused_where_there_is_none() -> None:
    rng = np.random.default_rng(1)
    for scale in (1e-200, 1e-3, 1.0, 1e100):
        found = pair_scale(rng.normal(size=(4000, 10)) * scale, cost=COST, rng=Seeded(1))
        assert found.upper / 8 < scale * np.sqrt(20) < found.upper * 2
    crowd = np.concatenate([rng.normal(size=(2800, 10)), 1e6 + rng.normal(size=(1200, 10))])[rng.permutation(4000)]
    assert pair_scale(crowd, cost=COST, rng=Seeded(1)).upper < 20  # most pairs with an outlier are 3e6 apart
    for value, word in ((1.0, "same"), (np.nan, "no number")):
        assert word in str(pair_scale(np.full((4000, 2), value), cost=COST, rng=Seeded(1)).refusal)
    assert "common" in str(pair_scale(rng.normal(size=(6, 2)), cost=COST, rng=Seeded(1)).refusal)


@pytest.mark.claim("radius.2")
@pytest.mark.claim("taper.5")
def test_a_quantile_of_radii_costs_what_it_says() -> None:
    rows = np.random.default_rng(2).normal(size=(20_000, 4))
    for middle in (False, True):
        door = Recorder(Seeded(3))
        found = radius_quantiles(matrix(rows), np.zeros(4), 50.0, 400, cost=COST, rng=door, middle=middle)
        beyond = (np.linalg.norm(rows, axis=1) > found.far).mean()
        assert 0.01 < beyond <= 0.021  # within a cell of 0.02
        assert found.held == pytest.approx(20_000, abs=40)
        assert sum(exact(part.mu) ** 2 for part in atoms(door.spent) if isinstance(part, Gaussian)) <= 1
        assert len(door.log) == (13 if middle else 7)
        if middle:
            assert found.middle == pytest.approx(np.median(np.linalg.norm(rows, axis=1)), rel=0.15)
    radii = np.array([0.5, 1.0, 2.0])
    one = np.cumsum(cells([rows], np.zeros(4), radii))
    for value in (0.0, 0.4, 9.0, np.nan):
        other = rows.copy()
        other[5] = value
        assert np.abs(np.cumsum(cells([other], np.zeros(4), radii)) - one).max() <= 1
        assert np.abs(np.cumsum(cells([np.vstack([rows, other[5]])], np.zeros(4), radii))[:-1] - one[:-1]).max() <= 1


@pytest.mark.claim("radius.3")
def test_radii_of_normal_rows() -> None:
    assert stats.chi2.sf(r_pair(1000, 7) ** 2 / 2, 7) * 1000 * 999 / 2 == pytest.approx(0.05)
    assert stats.chi2.sf(r_clip(7, 0, 1e-3) ** 2, 7) == pytest.approx(1e-3)
    assert stats.ncx2.sf(r_clip(7, 3.0, 1e-3) ** 2, 7, 3.0) == pytest.approx(1e-3)
    assert np.isfinite(r_clip(1000, 1e7, 1e-9))


@pytest.mark.claim("average.1")
def test_noise_on_shifted_numbers_has_the_size_it_says() -> None:
    noisy, deviation = blurred(np.full(4000, 7), square=2, cost=Gaussian(0.1, 1e-15), rng=Seeded(1))
    assert deviation == pytest.approx(np.sqrt(2) / 0.1)
    assert noisy.mean() == pytest.approx(7, abs=5.5 * deviation / np.sqrt(4000))
    assert noisy.std() == pytest.approx(deviation, rel=5.5 / np.sqrt(8000))
    assert np.isfinite(blurred(np.array([2**62, -(2**62)]), square=1, cost=COST, rng=Seeded(1))[0]).all()


@pytest.mark.claim("radius.4")
def test_plans_are_shares_and_prefer_the_answer_as_rows_grow() -> None:
    for relation in (REPLACE, ADD):
        last = 0.0
        for rows in (2000, 20_000, 10**6):
            known = plan.known_scale(rows, 10, 0.2367, 1e-7, relation)
            free = plan.unknown_scale(rows, 10, 0.2367, relation)
            assert known is not None
            assert free is not None
            for shared in (known, free):
                assert sum(shared.values()) == pytest.approx(1)
                assert min(shared.values()) > 0
            assert known["mean"] > last
            last = known["mean"]
        assert plan.unknown_scale(50, 10, 0.2367, relation) is None
        assert plan.known_scale(20, 10, 0.2367, 1e-7, relation) is None
    assert plan.fewest_rows(1, 0.2367, REPLACE) < 1000
    near = [float(plan.clip_near(width, np.float64(off), 1e-3)) for width, off in ((1, 0.5), (10, 3.0), (100, 50.0))]
    true = [r_clip(width, off, 1e-3) for width, off in ((1, 0.5), (10, 3.0), (100, 50.0))]
    assert near == pytest.approx(true, rel=0.05)
