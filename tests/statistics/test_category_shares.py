"""Shares of categories, listed and found."""

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.audit.simulations import proportion_bounds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.neighbours import Neighbours
from discreet.statistics.bins import Categories
from discreet.statistics.category_shares import CategoryShares
from discreet.statistics.density_curve import on_simplex
from discreet.statistics.histogram import Histogram
from discreet.statistics.open_histogram import OpenHistogram


@pytest.mark.claim("category_shares.1")
@pytest.mark.parametrize("relation", Neighbours)
def test_audit(relation: Neighbours) -> None:
    world = list(audit.labels(relation))[::5]
    audit.check(CategoryShares(Histogram(Categories.of(["a", "b"]), 1.0, neighbours=relation)), world).require()
    crowd = ["a"] * 30 + ["b"] * 20
    pair = audit.Pair([*crowd, "a"], [*crowd, "z"] if relation is Neighbours.REPLACE else crowd)
    audit.check(CategoryShares(OpenHistogram(2.0, 1e-4, relation)), [pair]).require()


@pytest.mark.study
@pytest.mark.claim("category_shares.2")
@pytest.mark.parametrize("relation", ["replace", "add_or_remove"])
def test_shares_intervals_and_distance(relation: str) -> None:
    rng, truth, hits, away, runs = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05]), 0, [], 120
    for run in range(runs):
        rows = rng.choice(list("abcd"), size=500, p=truth)
        release = discreet.density(
            rows, epsilon=1.0, categories=list("abcd"), neighbours=relation, missing="keep", rng=Seeded(run)
        )
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
    assert set(release.value.bins) == {"a", "b"}
    assert release.value("a") == pytest.approx(2 / 3, abs=0.1)
    with pytest.raises(BadInput, match="rare"):
        release.value("rare")
    assert "a: " in str(release)


def test_one_or_the_other() -> None:
    with pytest.raises(BadInput, match="both"):
        discreet.density([1], epsilon=1.0, categories=[1], support=(0, 1))
    with pytest.raises(BadInput, match="delta"):
        discreet.density(["a"], epsilon=1.0, categories="open")


@pytest.mark.claim("category_shares.2")
def test_what_drawing_to_the_simplex_may_add_is_told() -> None:
    """It may move shares away from the truth, by no more than their sum is away from 1."""
    rng = np.random.default_rng(5)
    release = discreet.density(
        ["a"] * 900, epsilon=0.4, categories=list("abc"), neighbours="replace", missing="keep", rng=Seeded(1)
    )
    deviation = release.spread.law.sd  # type: ignore[union-attr]
    told = float(release.provenance.notes[-1].rsplit(" ", 1)[1])
    assert told == pytest.approx(((4 / 900) ** 0.5 + (4 + 2) * deviation / 900) / 2, rel=1e-4)
    noisy, truth = np.array([0.9, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    assert np.abs(on_simplex(noisy) - truth).sum() > np.abs(noisy - truth).sum()
    for _ in range(200):
        truth, noise = rng.dirichlet(np.ones(6) / 2), rng.normal(0, 0.3, 6)
        grown = np.abs(on_simplex(truth + noise) - truth).sum() - np.abs(noise).sum()
        assert grown <= abs(noise.sum()) + 1e-12


@pytest.mark.study
def test_categories_that_are_shown_for_their_noise() -> None:
    """300 categories of 90 people each, of which those whose noise is large are shown: intervals still hold them."""
    rows, hits, runs = np.repeat(np.arange(300), 90), 0, 40
    for run in range(runs):
        release = discreet.density(rows, epsilon=0.2, delta=1e-6, categories="open", rng=Seeded(run))
        bar = release.interval(0.9)
        hits += bool(np.all((bar.low.heights <= 1 / 300) & (bar.high.heights >= 1 / 300)))
    assert proportion_bounds(hits, runs, 1e-7)[1] >= 0.9


def test_where_nobody_counts_the_others_shares_are_among_those_shown() -> None:
    rows = ["a"] * 300 + ["b"] * 100 + [f"rare {k}" for k in range(400)]
    release = discreet.density(rows, epsilon=2.0, delta=1e-6, categories="open", rng=Seeded(1))
    assert release.value("a") == pytest.approx(0.75, abs=0.05)
    assert "among the people" in release.interval().about
    assert "among the people shown" in release.provenance.notes[-1]
    public = discreet.density(
        rows, epsilon=2.0, delta=1e-6, categories="open", neighbours="replace", missing="keep", rng=Seeded(1)
    )
    assert public.value("a") == pytest.approx(0.375, abs=0.05)
    assert public.interval().about == "the population's shares, all at once"
