"""Budgets in stages: what is handed out is what there was."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting.compose import implies
from discreet.accounting.currency import pure
from discreet.audit.replay import drawn, exceeds
from discreet.noise.randomness import Seeded
from discreet.privacy.exact import exact
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.loss import Gaussian, atoms
from discreet.privacy.neighbours import Neighbours
from discreet.stages.clip import concentrated, enough, fitting_bits
from discreet.statistics.mean import BoundedMean
from discreet.statistics.normal import GaussianMean


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("epsilon", [1e-9, 3e-9, 1e-8, 1e-6])
def test_the_smallest_epsilons_are_charged_as_what_they_are(epsilon: float, relation: Neighbours) -> None:
    mechanism = BoundedMean(0, 1, epsilon, neighbours=relation)
    assert exceeds(drawn(mechanism, [0.2, 0.8]), mechanism.loss) is None
    assert pure(mechanism.loss) == (exact(epsilon), Fraction(0))


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 1e-6, 1e-4])
def test_concentrated_stages_keep_the_guarantee(epsilon: float, delta: float) -> None:
    stages = concentrated(epsilon, delta, centre=Fraction(12, 100), scale=Fraction(13, 100), mean=Fraction(3, 4))
    assert stages is not None
    cost = stages.part("mean", Gaussian)
    assert implies(stages.loss, Guarantee(epsilon, delta))
    steps = 2 * 2 ** fitting_bits(cost)
    assert isinstance(Seeded(0).blur(0, sensitivity=steps, cost=cost), int)  # they can be drawn
    shared = concentrated(
        epsilon, delta, centre=Fraction(12, 100), scale=Fraction(13, 100), mean=Fraction(3, 4), times=5
    )
    assert shared is not None
    assert len(atoms(shared.loss)) == 15
    assert implies(shared.loss, Guarantee(epsilon, delta))


def test_where_the_normal_mean_takes_gaussian_noise_it_is_drawn() -> None:
    rows = np.random.default_rng(0).normal(size=10_000)
    release = GaussianMean(0.025, 1e-5, size=10_000).release(rows, Seeded(0))
    assert release.guarantee == Guarantee(0.025, 1e-5)
    assert abs(release.value) < 1


def test_where_there_is_no_room_for_slack_there_are_no_such_stages() -> None:
    shares: dict[str, Any] = {"centre": Fraction(1, 4), "scale": Fraction(1, 4), "mean": Fraction(1, 2)}
    assert concentrated(1.0, 0.0, **shares) is None
    assert concentrated(1.0, 1e-30, **shares) is None
    assert concentrated(800.0, 1e-6, **shares) is None


def test_enough() -> None:
    assert enough(80, 1000, 1.0, Fraction(1, 20), Fraction(1, 5)) == Fraction(80, 1000)
    assert enough(80, 10**6, 1.0, Fraction(1, 20), Fraction(1, 5)) == Fraction(1, 20)
    assert enough(80, 10, 1.0, Fraction(1, 20), Fraction(1, 5)) == Fraction(1, 5)
    assert enough(80, 1000, 0.5, Fraction(1, 20), Fraction(1, 5)) == Fraction(80, 500)
