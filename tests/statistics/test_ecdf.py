"""The ladder for distribution functions."""

from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import drawn, exceeds
from discreet.noise.randomness import Seeded
from discreet.privacy.declaration import Columns, Public, declared
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.values import StepCurve
from discreet.report.sentences import answer

BOTH = list(Neighbours)


def made(relation: Neighbours, **options: Any) -> Any:
    """The mechanism of a question."""
    return declared("ecdf").make(Public(relation, "row", None), Columns(("x",), ("number",)), **options)


@pytest.mark.claim("ecdf.1")
@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("support", [None, (0.0, 9.0)])
def test_one_person_moves_what_is_claimed(relation: Neighbours, support: Any) -> None:
    rows: list[Any] = [float(k % 10) for k in range(100)]
    mechanism = made(relation, epsilon=20.0, support=support)
    odd = (0.0, 1e300, float("nan"), -5.0, None)
    if relation is Neighbours.REPLACE:
        pairs = [audit.Pair([*rows, a], [*rows, b]) for a in odd for b in odd if a is not b][::3]
    else:
        pairs = [audit.Pair(rows, [*rows, one]) for one in odd]
    audit.check(mechanism, pairs, hostile_values=False).require()
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, rows), mechanism.loss) is None
    assert mechanism.release(rows, Seeded(0)).refusal is None


@pytest.mark.claim("ecdf.2")
@pytest.mark.parametrize("relation", BOTH)
def test_the_band_holds_everywhere_at_once(relation: Neighbours) -> None:
    def run(seed: int) -> tuple[Any, Any]:
        rows = np.random.default_rng(seed).exponential(size=2000)
        release = made(relation, epsilon=1.0).release(rows, Seeded(seed))
        return release, -np.expm1(-np.maximum(release.value.at, 0.0))

    assert audit.coverage(run, runs=60).holds


@pytest.mark.claim("ecdf.1")
def test_it_is_the_density_with_its_band() -> None:
    rows = np.random.default_rng(1).normal(size=5000)
    curve = discreet.density(rows, epsilon=1.0, rng=Seeded(2))
    release = discreet.ecdf(rows, epsilon=1.0, rng=Seeded(2))
    assert isinstance(release.value, StepCurve)
    assert np.allclose(release.value.heights, curve.value.cdf(release.value.at))
    band = curve.spread.band(0.9)  # type: ignore[union-attr]
    assert set(release.interval(0.9).low) <= set(band.low)


def test_words_frames_and_pictures() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    rows = np.random.default_rng(1).normal(50.0, 10.0, 5000)
    with discreet.open({"x": rows, "sex": ["F", "M"] * 2500}, budget=9.0, ledger=":memory:", rng=Seeded(1)) as session:
        release = session.ecdf("x", epsilon=2.0)
        groups = session.ecdf("x", epsilon=2.0, groupby="sex", keys=["F", "M"])
    assert 0.45 < release.value(50.0) < 0.55
    half = release.value.reaches(0.5)
    assert half is not None
    assert abs(half - 50) < 2
    assert (np.diff(release.value.heights) >= 0).all()
    assert len(release.to_frame()) == len(release.value)
    assert "half is reached at" in answer("the distribution of x", release.shown())
    axes = release.plot()
    assert axes.get_ylabel() == "share of people"
    assert "all at once" in axes.get_legend().get_texts()[0].get_text()
    assert all(one.refusal is None for one in groups.values())
