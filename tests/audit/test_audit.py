"""The audit's own parts."""

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.audit.mutants import Mutant, counted

from discreet import audit
from discreet.audit.distinguish import proportion_bounds
from discreet.audit.replay import Recorder, exceeds, replay, trace
from discreet.audit.worlds import hostile, small
from discreet.errors import BadInput
from discreet.noise.choose_float import Staircase
from discreet.noise.randomness import Seeded
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.intervals import Interval
from discreet.privacy.loss import Approximate, Choice, Composed, Gaussian, Laplace
from discreet.privacy.mechanism import Randomness
from discreet.privacy.release import Provenance, Release
from discreet.statistics.count import Count

REPLACE, ADD = Neighbours.REPLACE, Neighbours.ADD_OR_REMOVE


def test_worlds_are_complete() -> None:
    pairs = small((0, 1, 2), 3, REPLACE)
    assert len(pairs) == (1 + 3 + 6) * 6
    assert all(len(pair.left) == len(pair.right) for pair in pairs)
    assert all(sum(a != b for a, b in zip(pair.left, pair.right, strict=True)) == 1 for pair in pairs)
    added = small((0, 1, 2), 3, ADD)
    assert len(added) == (1 + 3 + 6) * 3 * 2
    assert all(abs(len(pair.left) - len(pair.right)) == 1 for pair in added)
    assert any(pair.left == [] for pair in added)
    assert len(hostile(ADD)) > 40


def test_recorder_sees_every_draw() -> None:
    recorder = Recorder(Seeded(0))
    Count(1.0).release([1, 0], recorder)
    assert [type(request).__name__ for request, _ in recorder.log] == ["Blur"]
    assert audit.drawn(Count(0.5), [1, 0]) == Approximate(0.5, 0)


def test_what_was_asked_is_remembered_as_it_was() -> None:
    """A mechanism may write over its rows after a draw; that is not a difference between neighbours."""

    class Overwrites:
        guarantee, loss = Guarantee(1.0), Choice(1)

        def release(self, rows: Any, rng: Randomness) -> Release[float]:
            values = np.array(rows, dtype=float)
            found = rng.choose_float(Staircase(values, 2), sensitivity=1, cost=Choice(1))
            values[:] = 1e9
            return Release(self.guarantee, Provenance("Overwrites", {}, secure=rng.secure), found)

    assert replay(Overwrites(), audit.Pair([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0])) == []


def test_meter_compares_curves() -> None:
    assert exceeds(Laplace(1), Laplace(1)) is None
    assert exceeds(Composed((Laplace(0.5), Laplace(0.5))), Approximate(1, 0)) is None
    assert exceeds(Composed((Laplace(0.5), Laplace(0.6))), Approximate(1, 0)) is not None
    assert exceeds(Choice(1), Approximate(1, 0)) is None
    assert exceeds(Gaussian(0.5), Gaussian(0.6)) is None
    assert exceeds(Gaussian(0.6), Gaussian(0.5)) is not None
    noise, pure = Gaussian(0.3), Approximate(1, 0)
    parts = Composed((Choice(0.5), noise, Approximate(0.4, 0), Approximate(0.6, 0)))
    mixed = Gaussian(0.6)  # the choice is within a mu of .5 by [currency.2]
    assert exceeds(parts, Composed((mixed, pure))) is None
    assert exceeds(parts, Composed((Gaussian(0.3), pure))) is not None
    halves = Composed((noise, Approximate(0.5, 0), Approximate(0.5, 0)))
    assert exceeds(Composed((noise, pure)), halves) is not None  # two halves tell less than a whole
    assert exceeds(Composed((noise, pure)), Composed((Choice(0.5), pure))) is not None


def test_bounds_on_a_share_are_clopper_and_pearson() -> None:
    low, high = proportion_bounds(0, 10, 0.025)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert proportion_bounds(10, 10, 0.025)[1] == 1


def test_distinguish_wants_runs_and_says_what_it_found() -> None:
    with pytest.raises(BadInput, match="runs"):
        audit.distinguish(Count(1.0), [1], [0], runs=10)
    told = audit.distinguish(Count(1.0), [1], [1], runs=400)
    assert told.epsilon < 0.5
    assert "does not refute" in str(told)


def test_check_by_default_uses_numbers_and_can_look_at_outputs() -> None:
    assert audit.check(Count(1.0, ADD), runs=200).passed


def test_rows_that_can_be_read_only_once() -> None:
    pair = audit.Pair(iter([1, 0]), (row for row in [1, 1]))
    assert (pair.left, pair.right) == ([1, 0], [1, 1])
    wrong = Mutant("half the noise", lambda rows, rng: counted(rows, rng, epsilon=2))
    assert not audit.check(wrong, [pair], hostile_values=False).passed
    assert audit.distinguish(wrong, iter([1] * 5), iter([1] * 4 + [0]), runs=6000, seed=2).violated


def test_what_can_be_told_apart_and_what_cannot() -> None:
    different: list[object] = [
        0,
        0.0,
        -0.0,
        False,
        None,
        "0",
        math.nan,
        math.inf,
        [0],
        (0,),
        {0: 0},
        {"0": 0},
        Fraction(0),
        np.int32(0),
    ]
    different += [np.zeros(1), np.zeros(1, dtype=int), np.zeros((1, 1)), Fraction(1, 3), 1 / 3, {0}, REPLACE, ADD]
    assert len({repr(trace(thing)) for thing in different}) == len(different)
    for make in (lambda: [math.nan], lambda: np.array([1.0, -np.nan]), lambda: lambda: 1, lambda: Recorder(Seeded(0))):
        assert trace(make()) == trace(make())
    assert trace(Opaque(1.0).shift) != trace(Opaque(2.0).shift)
    loop: list[object] = []
    loop.append(loop)
    assert trace(loop) == trace(loop)


class Opaque:
    """An error bar that is no dataclass: where it lies in memory is nobody's secret."""

    sampling, privacy = None, 1.0

    def __init__(self, noisy: float) -> None:
        self.noisy = noisy
        self.shift: Callable[[float], float] = lambda number: number + noisy

    def interval(self, confidence: float) -> Interval:
        return Interval(self.shift(-1), self.shift(1), confidence=confidence, about="the count", population=False)


@pytest.mark.filterwarnings("ignore:for everybody")
def test_a_sound_mechanism_is_left_in_peace() -> None:
    """Not-a-number, functions and objects of one's own in a release are no findings; nor are warnings that all get."""

    def run(rows: Any, rng: Randomness) -> Release[Any]:
        warnings.warn("for everybody", stacklevel=1)
        rows.reverse()
        noisy = counted(rows, rng)
        return Release(
            Guarantee(1.0, neighbours=REPLACE),
            Provenance("m", {}, rng.secure),
            [noisy, math.nan],
            spread=Opaque(noisy),
        )

    audit.check(Mutant("sound", run), audit.numbers(REPLACE, 2)).require()
    told = audit.distinguish(Mutant("sound", lambda x, rng: run(list(x), rng)), [1], [1], runs=200, feature=None)
    assert not told.violated
