"""The inverse sensitivity mechanism."""

import math
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import audit
from discreet.audit.replay import Recorder
from discreet.errors import BadInput
from discreet.noise.randomness import Seeded
from discreet.stability.inverse_sensitivity import InverseSensitivity, trimmed_mean


def median(ordered: np.ndarray) -> float:
    return float(ordered[(len(ordered) - 1) // 2])


CROWD = [20.0 + index for index in range(40)]
WORLD = [audit.Pair([*CROWD, 40.0], [*CROWD, odd]) for odd in (0.0, 100.0, 1e300, math.nan, -math.inf)]


@pytest.mark.claim("inverse_sensitivity.1")
@pytest.mark.parametrize("statistic", [median, trimmed_mean(0.1), trimmed_mean(0.0)])
def test_audit(statistic: object) -> None:
    audit.check(InverseSensitivity(statistic, (0, 100), 8.0), WORLD).require()  # type: ignore[arg-type]


@pytest.mark.claim("inverse_sensitivity.2")
def test_reaches_nest_on_all_small_tables() -> None:
    """Every table of 4 records on 4 places, every neighbour and number of changes; they are what changes can do."""
    mechanism = InverseSensitivity(trimmed_mean(0.25), (0, 9), 1.0)
    places = (0.0, 1.0, 5.0, 9.0)
    ends = {}
    for table in product(range(4), repeat=4):
        ordered = np.sort([places[index] for index in table])
        ends[table] = [mechanism._ends(ordered, changes) for changes in range(5)]
    mean = trimmed_mean(0.25)
    for table, mine in ends.items():
        reached = []
        for place, other in product(range(4), range(4)):
            neighbour = (*table[:place], other, *table[place + 1 :])
            reached.append(mean(np.array([places[index] for index in neighbour])))
            for changes in range(4):
                wider = ends[neighbour][changes + 1]
                assert wider[0] <= mine[changes][0]
                assert mine[changes][1] <= wider[1]
        assert mine[1] == pytest.approx((min(reached), max(reached)), abs=1e-9)


@pytest.mark.claim("inverse_sensitivity.1")
def test_a_reach_of_ones_own_and_one_that_is_wrong() -> None:
    def reach(ordered: np.ndarray, changes: int) -> tuple[float, float]:
        """Of the largest record's place below 100, by hand: a maximum is not robust."""
        return float(ordered[-1 - changes]) if changes < len(ordered) else 0.0, 100.0 if changes else float(ordered[-1])

    audit.check(InverseSensitivity(None, (0, 100), 8.0, reach=reach), WORLD).require()
    with pytest.raises(BadInput, match="reach"):
        InverseSensitivity(None, (0, 100), 8.0, reach=lambda x, k: (x.mean(), x.mean()))


FALLING: dict[str, Any] = {
    "std": np.std,
    "var": np.var,
    "range": lambda rows: rows.max() - rows.min(),
    "quartiles": lambda rows: np.quantile(rows, 0.75) - np.quantile(rows, 0.25),
    "deviation": lambda rows: np.median(np.abs(rows - np.median(rows))),
    "minus": lambda rows: -np.median(rows),
    "wraps": lambda rows: float(rows.mean() * 7 % 1),
}


@pytest.mark.claim("inverse_sensitivity.1")
@pytest.mark.claim("inverse_sensitivity.2")
@pytest.mark.parametrize("name", FALLING)
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1)])
def test_a_statistic_that_does_not_rise_is_refused(name: str, bounds: tuple[float, float]) -> None:
    with pytest.raises(BadInput, match="does not rise"):
        InverseSensitivity(FALLING[name], bounds, 1.0)


RISING = [
    np.mean,
    np.median,
    np.max,
    np.min,
    np.sum,
    lambda rows: np.quantile(rows, 0.3),
    lambda rows: rows[500:-9].mean(),
]


@pytest.mark.parametrize("statistic", RISING)
@pytest.mark.parametrize("bounds", [(0, 1), (-5, 1e6), (1e9, 1e9 + 1e-3), (-1e150, 1e150)])
def test_one_that_rises_is_taken_and_the_release_says_what_it_rests_on(statistic: Any, bounds: Any) -> None:
    release = InverseSensitivity(statistic, bounds, 20.0).release([0.5] * 600, Seeded(1))
    assert "the promise rests on this" in str(release)
    assert "rises with every record" in str(release)


def test_what_is_undefined_for_so_many_records_is_refused_before_a_draw() -> None:
    recorder = Recorder(Seeded(1))
    with pytest.raises(BadInput, match="failed on the made-up rows"):
        InverseSensitivity(lambda rows: rows[500], (0, 1), 1.0).release([0.5] * 400, recorder)
    with pytest.raises(BadInput, match="does not rise"):  # as public numbers of records go, not before
        InverseSensitivity(lambda rows: rows.std() if len(rows) > 90 else 0.0, (0, 1), 1.0).release(
            [0.5] * 400, recorder
        )
    assert recorder.log == []


def test_what_a_statistic_says_of_the_data_is_not_heard() -> None:
    def loud(rows: Any) -> float:
        if rows[0] == 0.25:
            warnings.warn("a secret", stacklevel=1)
        return float(np.median(rows))

    with warnings.catch_warnings(action="error"):
        InverseSensitivity(loud, (0, 1), 1.0).release([0.25] * 30, Seeded(1))


def test_accuracy_of_a_trimmed_mean() -> None:
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(500, 1, 1900), np.full(100, 1e9)])
    mechanism = InverseSensitivity(trimmed_mean(0.1), (0, 1e6), 1.0)
    answers = np.array([mechanism.release(rows, Seeded(k)).value for k in range(9)])
    assert abs(np.median(answers) - 500) < 0.5


def test_bad_parameters_and_statistics_that_raise() -> None:
    for bad in (
        {"bounds": None},
        {"bounds": (2, 1)},
        {"statistic": None},
        {"statistic": 3},
        {"rounding": -1},
        {"epsilon": 0},
    ):
        with pytest.raises(BadInput):
            InverseSensitivity(**({"statistic": median, "bounds": (0, 1), "epsilon": 1.0} | bad))  # type: ignore[arg-type]
    with pytest.raises(BadInput):
        InverseSensitivity(median, (0, 1), 1.0, reach=lambda x, k: (0, 1))
    with pytest.raises(BadInput):
        trimmed_mean(0.6)

    def broken(ordered: np.ndarray) -> float:
        raise ValueError("a secret")

    with pytest.raises(BadInput, match="failed on the made-up rows"):
        InverseSensitivity(broken, (0, 1), 1.0).release([0.5] * 10, Seeded(1))


@pytest.mark.claim("inverse_sensitivity.2")
def test_reaches_nest_where_floats_are_coarse_beside_the_range() -> None:
    """Far from 0 a mean is rounded by more than the range times `rounding`: this one does not rise as computed."""
    low, unit, rng = 1e9, float(np.spacing(1e9)), np.random.default_rng(0)
    mechanism = InverseSensitivity(lambda rows: (rows.sum() - rows[0] - rows[-1]) / 3, (low, low + 1e-3), 8.0)
    for _ in range(500):
        rows = np.sort(low + unit * rng.integers(0, 20, 5).astype(float))
        other = np.sort([*rows[1:], low + unit * 19])
        for changes in range(3):
            mine, wider = mechanism._ends(rows, changes), mechanism._ends(other, changes + 1)
            assert wider[0] <= mine[0]
            assert mine[1] <= wider[1]
