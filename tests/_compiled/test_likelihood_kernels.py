"""Maximum likelihood for all blocks at once: the same as scipy's, block by block."""

import numpy as np
import pytest
from scipy import stats

from discreet._compiled.likelihood_kernels import FAST, fast_rows

DISTRIBUTIONS = {
    "gamma": (("a", "scale"), stats.gamma(2.0, scale=3.0), {"floc": 0}, (0, 2)),
    "weibull_min": (("c", "scale"), stats.weibull_min(1.5, scale=3.0), {"floc": 0}, (0, 2)),
    "expon": (("scale",), stats.expon(scale=3.0), {"floc": 0}, (1,)),
    "norm": (("loc", "scale"), stats.norm(1e6, 3.0), {}, (0, 1)),
    "lognorm": (("s", "scale"), stats.lognorm(0.7, scale=3.0), {"floc": 0}, (0, 2)),
    "beta": (("a", "b"), stats.beta(2.0, 3.0), {"floc": 0, "fscale": 1}, (0, 1)),
}


def natural(name: str, rows: np.ndarray) -> np.ndarray:
    """Linked parameters on their own scales."""
    found = np.exp(np.where(np.abs(rows) > 100, 0, rows))
    if name == "norm":
        found[:, 0] = rows[:, 0]
    return found


@pytest.mark.claim("likelihood_kernels.1")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_same_as_scipy(name: str) -> None:
    free, distribution, fixed, kept = DISTRIBUTIONS[name]
    rows = distribution.rvs(180, random_state=np.random.default_rng(3))
    ours = natural(name, fast_rows(FAST[name, free], rows, np.array([0, 60, 120, 180]), len(free), jackknife=False))
    theirs = [np.array(distribution.dist.fit(rows[start : start + 60], **fixed))[list(kept)] for start in (0, 60, 120)]
    assert ours == pytest.approx(np.array(theirs), rel=2e-4)


@pytest.mark.claim("likelihood_kernels.1")
@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("jackknife", [False, True])
def test_a_block_is_fitted_by_itself(name: str, jackknife: bool) -> None:
    free, distribution, _, _ = DISTRIBUTIONS[name]
    rows = distribution.rvs(125, random_state=np.random.default_rng(3))
    edges = np.array([0, 25, 50, 75, 100, 125])
    before = fast_rows(FAST[name, free], rows, edges, len(free), jackknife)
    for value in (np.nan, np.inf, -1.0, 0.0, 1e300):
        changed = rows.copy()
        changed[30] = value
        after = fast_rows(FAST[name, free], changed, edges, len(free), jackknife)
        assert np.array_equal(np.delete(after, 1, axis=0), np.delete(before, 1, axis=0))
    for block in range(5):  # bit for bit, whatever is beside it, before it and after it
        mine = rows[25 * block : 25 * block + 25]
        for first in (0, 1, 3):
            table = np.concatenate([rows[:first], mine, rows[:25]])
            steps = np.cumsum([0, first, 25, 25])
            alone = fast_rows(FAST[name, free], table, steps, len(free), jackknife)
            assert np.array_equal(alone[1], before[block])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_jackknife_leaves_out_each(name: str) -> None:
    free, distribution, _, _ = DISTRIBUTIONS[name]
    rows = distribution.rvs(12, random_state=np.random.default_rng(8))
    whole = fast_rows(FAST[name, free], rows, np.array([0, 12]), len(free), False)[0]
    without = [
        fast_rows(FAST[name, free], np.delete(rows, k), np.array([0, 11]), len(free), False)[0] for k in range(12)
    ]
    ours = fast_rows(FAST[name, free], rows, np.array([0, 12]), len(free), True)[0]
    assert ours == pytest.approx(12 * whole - 11 * np.mean(without, axis=0), rel=1e-6, abs=1e-6)
