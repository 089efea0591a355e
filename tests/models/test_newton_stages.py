"""What the stages of least squares pay for."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting import compose
from discreet.accounting.calibrate import gaussian
from discreet.models import newton_stages as stages
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Gaussian
from discreet.stages import octaves
from discreet.stages.octaves import column_cost, column_unit, tail_cost, tail_of


@pytest.mark.claim("newton_stages.1")
@pytest.mark.parametrize("rows", [None, 2_000])
@pytest.mark.parametrize("width", [2, 3, 4, 9])
def test_the_slack_of_every_draw_is_paid(monkeypatch: pytest.MonkeyPatch, width: int, rows: int | None) -> None:
    """With draws whose slack is no smaller at their own strength than at the strongest: each must be reserved."""

    def costing(mu: Fraction, *rest: Any) -> Gaussian:
        del rest
        return Gaussian(mu, Fraction(1, 10**12))

    for name in ("gram_cost", "sum_cost", "tail_cost", "column_cost", "counts_cost"):
        monkeypatch.setattr(stages, name, costing)
    loss = stages.plan(1.0, 1e-7, rows, width, 2, centred=True).loss
    size, lost = compose.mu(loss)
    assert not lost
    assert float(size) ** 0.5 <= gaussian(1.0, 1e-7, compose.slack(loss)) * (1 + 1e-12)
    assert float(size) ** 0.5 >= gaussian(1.0, 1e-7, compose.slack(loss)) * (1 - 1e-3)  # and nothing twice


def test_a_tail_is_found_and_continued() -> None:
    """Lognormal lengths: what k rows exceed, and by how much, beyond what is seen through the noise."""
    drawn: dict[str, Any] = {"neighbours": Neighbours.ADD_OR_REMOVE, "rng": Seeded(1)}
    lengths = np.exp(np.abs(np.random.default_rng(0).normal(size=50_000)) * 0.8)
    tail = tail_of(lengths, 50_000.0, cost=tail_cost(Fraction(1, 20), Neighbours.ADD_OR_REMOVE), **drawn)
    assert tail is not None
    for k in (10, 100, 1000):
        largest = np.sort(lengths)[-k:]
        assert tail.at(k) == pytest.approx(largest[0], rel=0.3)
        assert tail.excess(k) == pytest.approx((largest - largest[0]).sum(), rel=1.0)
    assert tail.most(2.0, 200.0, 1e9) == pytest.approx(200.0)
    assert tail.most(2.0, 200.0, 0.0) == 2.0
    nothing = np.full(50_000, np.nan)
    assert tail_of(nothing, 50_000.0, cost=tail_cost(Fraction(1, 20), Neighbours.ADD_OR_REMOVE), **drawn) is None


@pytest.mark.parametrize("centre", [0.0, 1e-9, 1.0])
def test_the_unit_of_a_rare_column(centre: float) -> None:
    """A column of 3% ones has a unit near 1 wherever its centre is put; a constant has none."""
    values = (np.arange(20_000) % 33 == 0).astype(float)
    drawn: dict[str, Any] = {"neighbours": Neighbours.ADD_OR_REMOVE, "rng": Seeded(1)}
    cost = column_cost(Fraction(1, 30), Neighbours.ADD_OR_REMOVE)
    found = column_unit(values, centre, cost=cost, **drawn)
    assert found is not None
    assert found[0] in (1.0, 2.0)
    assert 0.5 <= found[1] <= 2.0
    assert column_unit(np.full(20_000, 7.0), 7.0, cost=cost, **drawn) is None


@pytest.mark.claim("octaves.2")
@pytest.mark.parametrize(("octave", "deviations", "seen"), [(0, 5.0, True), (-100, 5.0, False), (-100, 7.0, True)])
def test_noise_alone_makes_no_unit_far_from_everything(
    octave: int, deviations: float, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bin of numbers below 2^-20 has to stand out more: one of 180 does by chance, and spoils all sums."""
    relation = Neighbours.ADD_OR_REMOVE
    cost = column_cost(Fraction(1, 20), relation)
    noise = octaves.counts_noise(cost, relation)
    counts = np.zeros(2 * octaves.COLUMN + 1)
    counts[octaves.COLUMN + octave] = deviations * noise
    monkeypatch.setattr(octaves, "noisy_counts", lambda *_, **__: (counts, noise))
    found = column_unit(np.zeros(9), 0.0, cost=cost, neighbours=relation, rng=Seeded(1))
    assert (found is not None) == seen
    assert found is None or found[0] == 2.0**octave


@pytest.mark.claim("octaves.2")
def test_zeros_beside_a_centre_that_is_nearly_zero_are_no_unit() -> None:
    values = np.where(np.arange(4000) % 5, 0.0, 3.0)
    cost = column_cost(Fraction(1, 20), Neighbours.ADD_OR_REMOVE)
    found = column_unit(values, 1e-16, cost=cost, neighbours=Neighbours.ADD_OR_REMOVE, rng=Seeded(1))
    assert found is not None
    assert found[0] == 4.0


@pytest.mark.claim("octaves.1")
@pytest.mark.parametrize("count", [2**27, 2**28, 2**29, 2**40])
def test_counts_of_very_many_rows_do_not_wrap_around(count: int) -> None:
    relation = Neighbours.REPLACE
    cost = octaves.counts_cost(Fraction(1, 20), 1, relation)
    found, noise = octaves.noisy_counts([count], cost=cost, neighbours=relation, rng=Seeded(1))
    assert abs(found[0] - 2**27) < 9 * noise
