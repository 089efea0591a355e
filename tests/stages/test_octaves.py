"""Which octave a number is in: what the bits of floats tell is what their definition tells."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.loss import Choice, Gaussian
from discreet.stages import octaves
from discreet.stages.octave_counts import ROOT

ADD = Neighbours.ADD_OR_REMOVE
G = np.random.default_rng(0)
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, 1e-310, 1.7e308, -3.0]
EDGES = [float(np.nextafter(ROOT, 0)), ROOT, ROOT / 2]
EDGES += [2.0**power for power in (-201, -200, -33, -32, 39, 40, 199, 200, 201)]
VALUES = np.array([*ODD, *EDGES, *(G.normal(size=1000) * 10.0 ** G.integers(-300, 300, 1000))])


def counted(monkeypatch: pytest.MonkeyPatch, count: Any) -> Any:
    """The counts that a stage would blur."""
    seen: list[Any] = []

    def look(found: Any, **_: Any) -> Any:
        seen.append(np.array(found))
        raise BadInput("seen")

    monkeypatch.setattr(octaves, "noisy_counts", look)
    with pytest.raises(BadInput, match="seen"):
        count()
    return seen[0]


@pytest.mark.claim("octaves.1")
@pytest.mark.parametrize("centre", [0.0, 1.0, 1e300])
def test_a_number_is_in_the_octave_of_its_distance(centre: float, monkeypatch: pytest.MonkeyPatch) -> None:
    cost: Any = None
    found = counted(monkeypatch, lambda: octaves.column_unit(VALUES, centre, cost=cost, neighbours=ADD, rng=cost))
    with np.errstate(all="ignore"):
        _, octave = np.frexp(away := np.abs(VALUES - centre))
    known = np.isfinite(away) & (away > 0) & (np.abs(octave) <= octaves.COLUMN)
    assert (found == np.bincount(octave[known] + octaves.COLUMN, minlength=2 * octaves.COLUMN + 1)).all()


@pytest.mark.claim("octaves.1")
@pytest.mark.parametrize("lengths", [VALUES, np.abs(VALUES), 2.0 ** (G.integers(-80, 90, 3000) / 2), np.zeros(0)])
def test_a_length_is_in_its_half_octave(lengths: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cost: Any = None
    found = counted(monkeypatch, lambda: octaves.tail_of(lengths, 9.0, cost=cost, neighbours=ADD, rng=cost))
    fraction, octave = np.frexp(lengths)
    known = np.isfinite(lengths) & (lengths > 0)
    half = 2 * (octave[known] - octaves.SHORT) + (fraction[known] >= ROOT)
    assert (found == np.bincount(np.clip(half, 0, octaves.HALVES - 1), minlength=octaves.HALVES)).all()


@pytest.mark.claim("octaves.2")
def test_of_a_column_that_is_mostly_0_the_others_give_the_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its centre is a number beside 0, all zeros are that far from it, and the slope of the column has no bound:
    so it was in 189 of 200 runs, and is in 10. At 1 in 20 there are 12 or more in 40 less than once in 10^6 times."""
    costs: Any = {"centre": Choice(Fraction(1, 72)), "unit": Gaussian(Fraction(1, 90))}
    costs = type("Costs", (dict,), {"part": lambda held, name, _: held[name]})(costs)
    monkeypatch.setattr(octaves, "noisy_counts", lambda found, **_: (np.where(found > 360, found, 0.0), 90.0))
    small = 0
    for seed in range(40):
        g = np.random.default_rng(seed)
        rows = np.where(g.random(2700) < 0.59, 0.0, g.geometric(0.18, 2700))
        found = octaves.place_of(rows, costs, neighbours=ADD, rng=Seeded(seed), size=2700)
        small += found is not None and found[1] < 1
    assert small < 12
