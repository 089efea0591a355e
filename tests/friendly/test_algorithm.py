"""Algorithms that are private on friends only, made private on all tables."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.friendly.worlds import ADD, REPLACE, crowds

from discreet import audit
from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.friendly.core import Pairwise, Within
from discreet.friendly.weights import Retained, friendly
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Approximate, Gaussian, Laplace, Loss, Sampled
from discreet.privacy.mechanism import Randomness
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release

ONE = Approximate(1, 0)


@dataclass(frozen=True)
class Length:
    """How many rows, with noise: private on any table."""

    loss: Loss = ONE
    neighbours: Neighbours = ADD

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(1.0, 0.0, self.neighbours)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        noisy = rng.blur(len(rows), sensitivity=1, cost=Laplace(1))
        return Release(self.guarantee, Provenance("Length", {}, rng.secure), noisy)


@dataclass(frozen=True)
class Spread:
    """The span of the rows, which moves by at most a radius: on friends within a radius, and nowhere else."""

    loss: Loss = ONE

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(1.0, 1e-5, ADD)

    def release(self, rows: Any, rng: Randomness) -> Release[Any]:
        steps = np.rint(np.asarray(rows) * 1024)
        span = int(steps.max() - steps.min()) if len(steps) else 0
        noisy = rng.blur(span, sensitivity=1025, cost=Laplace(1))
        return Release(self.guarantee, Provenance("Spread", {}, rng.secure), noisy)


@pytest.mark.claim("weights.8")
def test_what_it_promises() -> None:
    for relation, times in ((ADD, 1), (REPLACE, 2)):
        mechanism = friendly(Spread(), Within(1.0), neighbours=relation)
        assert mechanism.guarantee.epsilon == times
        assert mechanism.guarantee.neighbours is relation
        assert mechanism.loss == Approximate(Fraction(times), 0)
    assert friendly(Spread(), Within(1.0)).guarantee.delta == pytest.approx((1 + np.e) * 1e-5)
    assert friendly(Length(Gaussian(1, 1e-9)), Within(1.0)).loss == Gaussian(2, 1e-9)


@pytest.mark.claim("weights.8")
def test_add_or_remove_is_sound_by_replay() -> None:
    near = Pairwise(lambda one, other: bool(abs(one[0] - other[0]) <= 1))
    for algorithm in (Spread(), Length()):
        for predicate in (Within(1.0), near):
            mechanism = friendly(algorithm, predicate, neighbours=ADD, columns=1)
            for seed, pair in enumerate(crowds(ADD, 40, (1, 12))):
                assert replay(mechanism, pair, seed=seed) == []
    audit.check(friendly(Length(), Within(1.0), neighbours=ADD, columns=1), crowds(ADD, 5, (1, 9))).require()


@pytest.mark.claim("weights.8")
def test_replaced_rows_move_it_twice_as_far_at_most() -> None:
    """Replay sees the algorithm's own sensitivity, for one row: twice that must do for two."""

    @dataclass(frozen=True)
    class Doubled(Spread):
        def release(self, rows: Any, rng: Randomness) -> Release[Any]:
            steps = np.rint(np.asarray(rows) * 1024)
            span = int(steps.max() - steps.min()) if len(steps) else 0
            noisy = rng.blur(span, sensitivity=2 * 1025, cost=Laplace(2))
            return Release(self.guarantee, Provenance("Spread", {}, rng.secure), noisy)

    mechanism = friendly(Doubled(), Within(1.0), columns=1)
    for seed, pair in enumerate(crowds(REPLACE, 150, (2, 12))):
        assert replay(mechanism, pair, seed=seed) == []


def test_without_the_core_it_would_not_be_private() -> None:
    assert not audit.check(Spread(), crowds(ADD, 20, (2, 9)), hostile_values=False).passed


def test_friends_lose_nothing_and_others_are_left_out() -> None:
    rows = np.concatenate([np.zeros((50, 1)), [[np.nan]] * 3, [[1e9]]])
    for relation in (ADD, REPLACE):
        release = friendly(Length(), Within(1.0), neighbours=relation).release(rows, Seeded(1))
        assert abs(release.value - 46) < 12
        assert release.guarantee.neighbours is relation
        assert release.provenance.mechanism == "friendly Length"
        nobody = friendly(Length(), Within(1.0), neighbours=relation).release(rows[50:51], Seeded(1))
        assert abs(nobody.value) < 12


def test_one_column_is_handed_on_as_a_column() -> None:
    from discreet.statistics.count import Count

    for relation in (ADD, REPLACE):
        for rows in (np.ones(40), np.ones(0)):
            release = friendly(Count(1.0, ADD), Within(1.0), neighbours=relation).release(rows, Seeded(0))
            assert abs(release.value - len(rows)) < 15
            assert Retained(Count(0.5, ADD), Within(1.0), relation).release(rows, Seeded(0)).refusal is None


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="ADD_OR_REMOVE"):
        friendly(Length(neighbours=REPLACE), Within(1.0))
    with pytest.raises(BadInput, match="samples"):
        friendly(Length(Sampled(Approximate(1, 0), 0.5)), Within(1.0))
