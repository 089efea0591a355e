"""Shares of categories, listed and found."""

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.audit.coverage import proportion_bounds
from discreet.errors import BadInput
from discreet.noise.seeded import Seeded
from discreet.promise.neighbours import Neighbours
from discreet.statistics.bins import Categories
from discreet.statistics.histogram import Histogram
from discreet.statistics.open_histogram import OpenHistogram
from discreet.statistics.shares import CategoryShares


@pytest.mark.claim("SH1")
@pytest.mark.parametrize("relation", Neighbours)
def test_audit(relation: Neighbours) -> None:
    world = list(audit.labels(relation))[::5]
    audit.check(CategoryShares(Histogram(Categories.of(["a", "b"]), 1.0, neighbours=relation)), world).require()
    crowd = ["a"] * 30 + ["b"] * 20
    pair = audit.Pair([*crowd, "a"], [*crowd, "z"] if relation is Neighbours.REPLACE else crowd)
    audit.check(CategoryShares(OpenHistogram(2.0, 1e-4, relation)), [pair]).require()


@pytest.mark.claim("SH2")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_shares_intervals_and_distance(relation: str) -> None:
    rng, truth, hits, away, runs = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05]), 0, [], 120
    for run in range(runs):
        rows = rng.choice(list("abcd"), size=500, p=truth)
        release = discreet.density(rows, epsilon=1.0, categories=list("abcd"), neighbours=relation, rng=Seeded(run))
        bar = release.interval(0.9)
        hits += bool(np.all((bar.low.heights <= truth) & (truth <= bar.high.heights)))
        away.append(np.abs(release.value.heights - truth).sum() / 2)
        assert release.value.heights.sum() + release.value.other == pytest.approx(1)
    assert proportion_bounds(hits, runs, 1e-7)[1] >= 0.9
    told = float(release.provenance.notes[-1].rsplit(" ", 1)[1])
    assert np.mean(away) < told  # on average it is half of the bound: a failure is many deviations off


def test_found_categories() -> None:
    rows = ["a"] * 600 + ["b"] * 300 + ["rare"]
    release = discreet.density(rows, epsilon=1.0, delta=1e-6, categories="open", rng=Seeded(1))
    assert set(release.value.keys) == {"a", "b"}
    assert release.value("a") == pytest.approx(2 / 3, abs=0.1)
    with pytest.raises(BadInput, match="rare"):
        release.value("rare")
    assert "a: " in str(release)


def test_one_or_the_other() -> None:
    with pytest.raises(BadInput, match="both"):
        discreet.density([1], epsilon=1.0, categories=[1], support=(0, 1))
    with pytest.raises(BadInput, match="delta"):
        discreet.density(["a"], epsilon=1.0, categories="open")
