"""Shares of successes and of categories."""

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.audit.distinguish import proportion_bounds
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.statistics.density_curve import on_simplex
from discreet.statistics.histogram import Categories, Histogram
from discreet.statistics.open_histogram import OpenHistogram
from discreet.statistics.proportion import Proportion
from discreet.statistics.shares import BinomialFit, CategoryShares, MultinomialFit

BOTH = list(Neighbours)


@pytest.mark.claim("shares.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("trials", [1, 3])
def test_every_small_pair(relation: Neighbours, trials: int) -> None:
    audit.check(BinomialFit(trials, 1.0, relation), audit.numbers(relation, 2)[::8], hostile_values=False).require()


@pytest.mark.claim("shares.2")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair_of_categories(relation: Neighbours) -> None:
    mechanism = MultinomialFit(Categories.of(["a", "b"]), 1.0, relation)
    audit.check(mechanism, audit.numbers(relation, 2)[::8], hostile_values=False).require()


def test_one_trial_is_a_proportion() -> None:
    rows = [True, False, False] * 200
    ours, theirs = BinomialFit(1, 1.0).release(rows, Seeded(3)), Proportion(1.0).release(rows, Seeded(3))
    assert ours.value.p == theirs.value
    assert ours.interval(0.9).low.p == theirs.interval(0.9).low


@pytest.mark.claim("shares.3")
@pytest.mark.parametrize("relation", BOTH)
def test_intervals_cover(relation: Neighbours) -> None:
    """40 runs at 95%, of each parameter: fewer than 27 held has a chance below 1e-7."""
    people, held = np.random.default_rng(1), np.zeros(3)
    for i in range(40):
        binomial = BinomialFit(5, 0.5, relation).release(people.binomial(5, 0.1, 100), Seeded(i)).interval(0.95)
        held[0] += binomial.low.p <= 0.1 <= binomial.high.p
        rows = np.array(["a", "b", "c"])[people.choice(3, 200, p=[0.1, 0.3, 0.6])]
        ends = MultinomialFit(Categories.of(["a", "b"]), 0.5, relation).release(rows, Seeded(i)).interval(0.95)
        held[1:] += [ends.low[key] <= one <= ends.high[key] for key, one in (("a", 0.1), ("b", 0.3))]
    assert (held >= 27).all()


def test_odd_records_count_as_the_nearest() -> None:
    release = BinomialFit(10, 50.0).release([float("nan"), -1e300, float("inf"), 7], Seeded(1))
    assert release.value.p == pytest.approx(17 / 40, abs=0.05)


def test_probabilities_are_a_distribution() -> None:
    fitted = MultinomialFit(Categories.of(["a", "b", "c"]), 1.0).release(["a", "b", "b", "z"] * 100, Seeded(2)).value
    assert fitted.probabilities["b"] == pytest.approx(0.5, abs=0.1)
    assert fitted.distribution().p.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("trials", [0, 1.5, True, "3", 10**7])
def test_trials_are_a_whole_number(trials: object) -> None:
    with pytest.raises(BadInput, match="trials is"):
        BinomialFit(trials, 1.0)  # type: ignore[arg-type]


def test_categories_that_look_alike_are_refused() -> None:
    with pytest.raises(BadInput, match="alike"):
        MultinomialFit(Categories.of([1, "1"]), 1.0)


@pytest.mark.claim("shares.2")
@pytest.mark.parametrize("relation", Neighbours)
def test_audit(relation: Neighbours) -> None:
    world = list(audit.labels(relation))[::5]
    audit.check(CategoryShares(Histogram(Categories.of(["a", "b"]), 1.0, neighbours=relation)), world).require()
    crowd = ["a"] * 30 + ["b"] * 20
    pair = audit.Pair([*crowd, "a"], [*crowd, "z"] if relation is Neighbours.REPLACE else crowd)
    audit.check(CategoryShares(OpenHistogram(2.0, 1e-4, relation)), [pair]).require()


@pytest.mark.study
@pytest.mark.claim("shares.4")
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
    assert str(release).splitlines()[2].split()[0] == "a"


def test_one_or_the_other() -> None:
    with pytest.raises(BadInput, match="both"):
        discreet.density([1], epsilon=1.0, categories=[1], support=(0, 1))
    with pytest.raises(BadInput, match="delta"):
        discreet.density(["a"], epsilon=1.0, categories="open")


@pytest.mark.claim("shares.4")
def test_what_drawing_to_the_simplex_may_add_is_told() -> None:
    """It may move shares away from the truth, by no more than their sum is away from 1."""
    rng = np.random.default_rng(5)
    release = discreet.density(
        ["a"] * 900, epsilon=0.4, categories=list("abc"), neighbours="replace", missing="keep", rng=Seeded(1)
    )
    deviation = release.spread.distribution.sd  # type: ignore[union-attr]
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
    assert "among the rows shown" in release.provenance.notes[-1]
    public = discreet.density(
        rows, epsilon=2.0, delta=1e-6, categories="open", neighbours="replace", missing="keep", rng=Seeded(1)
    )
    assert public.value("a") == pytest.approx(0.375, abs=0.05)
    assert public.interval().about == "the population's shares, all at once"
