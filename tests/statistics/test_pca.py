"""The ladder for principal components."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import audit
from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import Recorder, drawn, exceeds
from discreet.errors import BadInput, DiscreetError
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.values import recall, stored
from discreet.statistics import pca as module
from discreet.statistics.pca import Pca

BOTH = list(Neighbours)
REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE
LOADED = np.array([[1.0, 1.0, 0.2], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
CROWD = np.round(np.random.default_rng(4).normal(1.0, 2.0, size=(300, 3)) @ LOADED, 2).tolist()
VALUES: tuple[Any, ...] = (
    *((0.0, 0.0, 0.0), (1.0, 2.0, 3.0), (1e6, -1e6, 0.0), (1e300, 1e300, -1e300), (math.inf, 0.0, 1.0)),
    *((math.nan, 1.0, 1.0), (5e-324, -0.0, 0.0), (1e160, 0.0, 0.0), (-3.0, 9.0, -30.0)),
)
FAR = ([1e6, 1e6, 1e6], [-1e6, 1e6, 0.0])


def asked(relation: Neighbours, epsilon: float = 24.0, k: int = 1) -> Pca:
    return Pca(epsilon, 1e-6, k=k, dimension=3, standardise=True, neighbours=relation)


def world(relation: Neighbours) -> list[audit.Pair]:
    """Odd rows with a crowd beside them."""
    if relation is REPLACE:
        far = audit.Pair([*CROWD, FAR[0]], [*CROWD, FAR[1]])  # at right angles: nearly as far as one row may move
        return [far, *[audit.Pair([*CROWD, a], [*CROWD, b]) for a in VALUES for b in VALUES if a is not b][::14]]
    return [audit.Pair(CROWD, [*CROWD, one]) for one in VALUES]


@pytest.mark.claim("pca.1")
@pytest.mark.parametrize("relation", BOTH)
def test_every_small_pair(relation: Neighbours) -> None:
    mechanism = asked(relation)
    audit.check(mechanism, world(relation), hostile_values=False).require()
    assert mechanism.release([*CROWD, VALUES[0]], Seeded(0)).refusal is None  # a world of answers
    assert implies(mechanism.loss, mechanism.guarantee)
    assert exceeds(drawn(mechanism, [*CROWD, VALUES[0]]), mechanism.loss) is None


@pytest.mark.claim("pca.1")
@pytest.mark.parametrize("relation", BOTH)
def test_the_parts_are_all_of_epsilon(relation: Neighbours) -> None:
    mechanism = asked(relation, 8.0)
    assert pure(mechanism.stages.loss) == (Fraction(4), Fraction(0))
    assert (mechanism.inner.epsilon, mechanism.inner.delta) == (4, mechanism.delta)


@pytest.mark.claim("pca.1")
@pytest.mark.parametrize("relation", BOTH)
def test_a_smaller_sensitivity_is_found_out(relation: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    true: Any = vars(module)["_noisy"]
    monkeypatch.setattr(module, "_noisy", lambda parts, *given: true(parts * 2, *given))
    one = [
        audit.Pair([*CROWD, FAR[0]], [*CROWD, FAR[1]]) if relation is REPLACE else audit.Pair(CROWD, [*CROWD, FAR[0]])
    ]
    with pytest.raises(DiscreetError):
        audit.check(asked(relation), one, hostile_values=False).require()


@pytest.mark.claim("pca.1")
def test_a_row_s_weight_is_shared_out() -> None:
    """Whatever the shares: the squares of influences add up to at most 2 + |s|^2 times that of the length."""
    generator = np.random.default_rng(0)
    for _ in range(2000):
        many = int(generator.integers(2, 9))
        k = int(generator.integers(1, many))
        p, s = generator.dirichlet(np.full(many, 0.1), size=2)
        one = np.append(p[:k] - s[:k], p[:k].sum() - s[:k].sum())
        assert (one**2).sum() <= 2 + s @ s


@pytest.mark.claim("pca.3")
@pytest.mark.parametrize("relation", BOTH)
def test_the_noise_is_as_stated(relation: Neighbours) -> None:
    """20 seeded releases of the same rows: noise within a factor of 3 of what is stated, sampling no less."""
    rows, gaps = np.random.default_rng(6).normal(size=(1500, 3)) @ LOADED, []
    for seed in range(20):
        release = asked(relation, 3.0).release(rows, Seeded(seed))
        seen, spread = release.value, release.spread
        inside = (rows - seen.centre) / seen.scales
        inside *= np.minimum(1.0, spread.clips[0][1] / np.linalg.norm(inside, axis=1))[:, None]  # type: ignore[union-attr]
        along, length = (inside @ seen.directions[0]) ** 2, (inside**2).sum(axis=1)
        held = along.sum() / length.sum()
        assert spread.sampling[-1] > 0.8 * np.std(along - held * length) / length.mean() / math.sqrt(1500)  # type: ignore[union-attr]
        gaps.append((seen.captured - held) / spread.privacy[-1])  # type: ignore[union-attr]
    assert 1 / 3 < np.sqrt(np.mean(np.square(gaps))) < 3


@pytest.mark.claim("pca.2")
def test_refusals() -> None:
    rows = np.array(CROWD)
    recorder = Recorder(Seeded(0))
    assert asked(REPLACE, 1.0).release(rows, recorder).refusal is not None
    assert recorder.log == []
    assert asked(ADD, 1.0).release(rows, Seeded(0)).refusal is not None
    for options, words in (
        ({"k": 3}, "1 to 2"),
        ({"k": True}, "how many"),
        ({"dimension": 1}, "2 to 100"),
        ({"standardise": 1}, "standardise is"),
        ({"delta": 0.0}, "delta"),
    ):
        given: dict[str, Any] = {"delta": 1e-6, "k": 1, "dimension": 3, "standardise": True} | options
        with pytest.raises(BadInput, match=words):
            Pca(1.0, given.pop("delta"), **given)


@pytest.mark.claim("pca.3")
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("relation", BOTH)
def test_the_interval_holds_what_the_released_directions_hold(relation: Neighbours, scale: bool) -> None:
    """12 runs of 3 numbers: a true 0.95 holds fewer than 24 of 36 less than once in a million."""
    true, held, wide = LOADED.T @ LOADED, 0, []
    for seed in range(12):
        rows = np.random.default_rng([1, seed]).normal(size=(3000, 3)) @ LOADED
        release = Pca(3.0, 1e-6, k=2, dimension=3, standardise=scale, neighbours=relation).release(rows, Seeded(seed))
        seen = release.value
        inside = true / np.outer(seen.scales, seen.scales)
        shares = np.einsum("ij,jk,ik->i", seen.directions, inside, seen.directions) / np.trace(inside)
        low, high = release.interval(0.95)
        held += int(((low <= (both := np.append(shares, shares.sum()))) & (both <= high)).sum())
        wide.append(np.max(high - low) / 2)
    assert held >= 24
    assert np.mean(wide) < 0.08


def test_names_transform_and_record() -> None:
    import pandas as pd

    rows = np.random.default_rng(3).normal(size=(3000, 3)) @ LOADED
    frame = pd.DataFrame(rows, columns=["age", "height", "score"])
    release = discreet.pca(frame, k=2, epsilon=3.0, delta=1e-6, rng=Seeded(0))
    found = release.value
    assert found.columns == ["age", "height", "score"]
    assert found.transform(rows).shape == (3000, 2)
    assert np.allclose(found.directions @ found.directions.T, np.eye(2))
    assert abs(found.shares.sum() - found.captured) < 1e-9
    assert list(found.to_frame()) == ["share", "age", "height", "score"]
    assert "released directions" in str(release)
    again = recall(stored(found))
    assert np.allclose(again.directions, found.directions)
    assert again.captured == found.captured
    with pytest.raises(BadInput, match="3 columns"):
        found.transform(rows[:, :2])
