"""The ladder for normal distributions in several dimensions."""

import math
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput, Refused
from discreet.noise.randomness import Seeded
from discreet.privacy.loss import Approximate
from discreet.privacy.neighbours import Neighbours
from discreet.statistics import covariance_stages as second_moment
from discreet.statistics.covariance import MultivariateGaussian

CROWD = [(float(x), float(x + y)) for x, y in np.round(np.random.default_rng(4).normal(1.0, 2.0, size=(299, 2)), 2)]
ODD: tuple[Any, ...] = ((0.0, 0.0), (1e6, -1e6), (1e300, math.inf), (math.nan, 1.0), None, (1.0,))


@pytest.mark.claim("covariance.1")
def test_every_small_pair() -> None:
    mechanism = MultivariateGaussian(8.0, 1e-5, dimension=2, size=300)
    pairs = [audit.Pair([*CROWD, left], [*CROWD, right]) for left in ODD for right in ODD if left is not right]
    audit.check(mechanism, pairs[::4], hostile_values=False).require()
    assert mechanism.release([*CROWD, (0.0, 1.0)], Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, (0.0, 1.0)]), mechanism.loss) is None
    assert MultivariateGaussian(8.0, 1e-5).loss == Approximate(8.0, 1e-5)


@pytest.mark.claim("covariance.1")
def test_every_small_pair_where_the_number_of_rows_is_private() -> None:
    mechanism, crowd = (
        MultivariateGaussian(8.0, 1e-5, dimension=2, neighbours=Neighbours.ADD_OR_REMOVE),
        [*CROWD, *CROWD[:80]],
    )
    pairs = [audit.Pair([*crowd, row], crowd) for row in (*ODD, crowd[0])]
    pairs += [audit.Pair([], [(1.0, 2.0)]), audit.Pair([(1e300, math.nan)] * 2, [(1e300, math.nan)])]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert mechanism.release(crowd, Seeded(0)).refusal is None
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, crowd), mechanism.loss) is None


@pytest.mark.claim("covariance.2")
def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Recorder(Seeded(0))
    assert MultivariateGaussian(1.0, 1e-6).release(np.ones((300, 5)), door).refusal is not None
    assert door.log == []
    with pytest.raises(Refused, match="300 rows of 5 columns"):
        MultivariateGaussian(1.0, 1e-6, dimension=5).check(300)
    MultivariateGaussian(1.0, 1e-6, dimension=5).check(None)
    private = MultivariateGaussian(1.0, 1e-6, neighbours=Neighbours.ADD_OR_REMOVE)
    assert "about" in str(private.release(np.ones((0, 5)), Seeded(0)).refusal)
    rows = np.random.default_rng(0).normal(size=(4000, 2))
    monkeypatch.setattr(second_moment, "find_centre", lambda *_, **__: None)
    release = MultivariateGaussian(4.0, 1e-6).release(rows, door)
    assert "far from the others" in str(release.refusal)
    monkeypatch.undo()
    assert "column 0" in str(MultivariateGaussian(4.0, 1e-6).release(np.ones((4000, 2)), door).refusal)


def variation(mean: Any, covariance: Any, other_mean: Any, other: Any) -> float:
    """The total variation between two normal distributions, by 40,000 draws: within 0.01."""
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(covariance)
    rows = rng.normal(size=(40_000, len(mean))) @ root.T + mean

    def log_density(at: Any, spread: Any) -> Any:
        moved = np.linalg.solve(np.linalg.cholesky(spread), (rows - at).T)
        return -(moved**2).sum(axis=0) / 2 - np.linalg.slogdet(spread)[1] / 2

    ratio = np.exp(log_density(other_mean, other) - log_density(mean, covariance))
    return float(np.maximum(1 - ratio, 0).mean())


@pytest.mark.study
@pytest.mark.claim("covariance.3")
@pytest.mark.claim("covariance.4")
@pytest.mark.parametrize("relation", Neighbours)
def test_distributions_are_learnt(relation: Neighbours) -> None:
    """25 runs: an entry's coverage of 0.95 gives fewer than 15 hits once in 1e7."""
    mechanism, runs = MultivariateGaussian(1.0, 1e-6, neighbours=relation), 25
    hits, means, far, errors, plain = np.zeros((2, 2)), np.zeros(2), 0, [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        turn, centre = rng.normal(size=(2, 2)) * [[1.0], [30.0]], 1e6 * rng.normal(size=2)
        truth = turn @ turn.T
        rows = rng.normal(size=(4000, 2)) @ turn.T + centre
        release = mechanism.release(rows, Seeded(seed))
        box: Any = release.interval()
        hits += (box.low.covariance <= truth) & (truth <= box.high.covariance)
        means += (box.low.mean <= centre) & (centre <= box.high.mean)
        said = release.spread.total_variation(0.95)  # type: ignore[union-attr]
        assert said < 0.2
        found = release.value
        far += variation(found.mean - centre, found.covariance, np.zeros(2), truth) > said + 0.01
        back = np.linalg.inv(turn)
        errors.append(np.linalg.norm(back @ (found.mean - centre)))
        plain.append(np.linalg.norm(back @ (rows.mean(axis=0) - centre)))
    assert hits.min() >= 15
    assert means.min() >= 15
    assert far <= 9  # more than that once in 6e6
    assert np.median(errors) < 1.6 * np.median(plain)
    assert "total variation" in str(release)
    assert release.value.correlation[0, 0] == pytest.approx(1)


def test_the_verb() -> None:
    rows = np.random.default_rng(0).normal([3.0, -4.0], size=(5000, 2))
    release = discreet.fit_normal(rows, epsilon=2.0, delta=1e-6, rng=Seeded(1))
    assert release.value.mean == pytest.approx([3, -4], abs=0.2)
    assert release.to_dict()["value"].keys() == {"kind", "mean", "covariance", "names"}
    with pytest.raises(BadInput, match="bounds"):
        discreet.fit_normal(rows, epsilon=2.0, delta=1e-6, bounds=(0, 1))
    with pytest.raises(BadInput, match="delta > 0"):
        discreet.fit_normal(rows, epsilon=2.0)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    assert len(release.plot().lines) == 2
    plt.close("all")
