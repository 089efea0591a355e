"""What is printed and does not hold: every counterexample runs, and what stands in its place holds."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from scripts.errata import PAGE, page

from discreet import audit
from discreet.accounting.compose import implies
from discreet.audit.replay import replay
from discreet.errors import BadInput
from discreet.lectures import ERRATA, basic_filter, erratum, is_friendly
from discreet.lectures.errata import moved, near
from discreet.lectures.finite import Ramp
from discreet.lectures.printed import PRINTED
from discreet.noise.randomness import Seeded

FOUND = {
    "ramp": 51.49,
    "divided by n": 2998,
    "sensitivity": 0.02,
    "delta of the average": 0.0048,
    "scale of the test": 0.585,
    "epsilon twice": 0.047,
    "empty weights": 0.0081,
    "odd n": 10,
    "histogram": 2,
    "median": 1e6,
    "tuples": 2,
    "linear time": 41,
    "random retention": 5.155,
    "bins": 20,
    "packing": 4.54e-5,
    "name and shame": 0.99996,
    "groups": 0.0372,
    "bias": 10,
    "soundness": 20,
    "weights alone": 2,
    "blocks": 10,
    "radius": 0.2763,
    "many bins": 27.63,
    "domain": 100,
    "exponential family": 1e4,
    "floats": 1,
    "distribution": 0.525,
    "rate": 0.1,
    "lower bound": 1e4,
    "two points": 148.4,
}
TOLD = {
    "ramp": ([[0.0]] * 60, [[999.0], *[[0.0]] * 59]),
    "divided by n": ([[1000.0]] * 60, [[0.0], *[[1000.0]] * 59]),
    "scale of the test": ([0.0] * 20, [9.0] + [0.0] * 19),
    "histogram": ([0, 1], [1, 1]),
    "median": ([0.0] * 3 + [9.0] * 2, [0.0] * 2 + [9.0] * 3),
    "sensitivity": ([[10.0], *[[0.0]] * 59], [[-10.0], *[[0.0]] * 59]),
    "delta of the average": ([[10.0], *[[0.0]] * 59], [[-10.0], *[[0.0]] * 59]),
    "epsilon twice": ([[0.0]] * 60, [[1.0], *[[0.0]] * 59]),
    "blocks": ([1, 0] * 5, [0, *[1, 0] * 4]),
    "domain": ([[0.0], [1.0]], [[100.0], [1.0]]),
    "exponential family": ([0.0] * 100, [1000.0] + [0.0] * 99),
}


def test_every_counterexample_runs_and_contradicts_the_print() -> None:
    assert [found.name for found in ERRATA] == list(FOUND)
    for found in ERRATA:
        printed, seen = found.run()
        assert seen == pytest.approx(FOUND[found.name], rel=0.01)
        assert seen != pytest.approx(printed, rel=0.05)
        assert erratum(found.name) is found


@pytest.mark.parametrize("name", list(TOLD))
def test_the_printed_thing_is_caught_and_marked(name: str) -> None:
    """As an object that runs: a draw moves by more than it claims, and no release of it may be published."""
    found = erratum(name)
    assert found.unsafe
    assert found.as_printed.unsafe
    pair = audit.Pair(*TOLD[name])
    if name == "epsilon twice":  # each draw is as it says; together they cost more than is promised
        assert not implies(found.as_printed.loss, found.as_printed.guarantee)
    else:
        assert replay(found.as_printed, pair, seed=1)
    release = found.as_printed.release(TOLD[name][0], Seeded(1))
    assert not release.provenance.secure
    assert "UNSAFE" in release.provenance.notes[0]
    assert "UNSAFE" in release.name
    assert set(PRINTED) == set(TOLD)
    assert erratum("bins").as_printed is None
    assert {found.name for found in ERRATA if found.unsafe} - set(PRINTED) == {"floats"}  # noise has one door


def test_an_attack_tells_the_printed_average_from_its_neighbour() -> None:
    """All rows agree, or one is an outlier: the printed ramp halves all weights, and the answer is refused."""
    told = audit.distinguish(PRINTED["ramp"], *TOLD["ramp"], runs=600)
    assert told.violated
    assert told.epsilon > 2


def test_the_page_is_current() -> None:
    assert Path(PAGE).read_text() == page(), "run python -m scripts.errata"


def test_an_unknown_name_is_answered_with_the_names() -> None:
    with pytest.raises(BadInput, match="there are ramp, divided by n"):
        erratum("slope")


@pytest.mark.parametrize("ramp", ["figure", "others"])
def test_weights_of_neighbours_move_by_three_at_most(ramp: Ramp) -> None:
    """Claim 3.9, on all tables of five rows with three places; the printed ramp moves by more."""
    kinds: tuple[Ramp, Ramp] = (ramp, "printed")
    most = dict.fromkeys(kinds, Fraction(0))
    for rows in product((0.0, 1.0, 2.0), repeat=5):
        for other in (0.0, 1.0, 2.0, 9.0):
            for kind in kinds:
                pair = (basic_filter(table, near, kind) for table in (rows, (other, *rows[1:])))
                far = sum((abs(a - b) for a, b in zip(*pair, strict=True)), Fraction(0))
                most[kind] = max(most[kind], far)
    assert most[ramp] <= 3
    assert most["printed"] > most[ramp]
    assert moved(ramp, 100) <= 3


def test_survivors_of_neighbours_have_a_common_friend_only_if_others_are_counted() -> None:
    """Claim 3.7 between neighbours, on all tables of three rows."""
    ramps: tuple[Ramp, Ramp] = ("figure", "others")
    apart = dict.fromkeys(ramps, 0)
    places = (0.0, 1.0, 2.0, 9.0, 10.0)
    for rows in product(places, repeat=3):
        for other, ramp in product(places, ramps):
            tables = (rows, (other, *rows[1:]))
            kept = [
                [x for x, w in zip(table, basic_filter(table, near, ramp), strict=True) if w > 0] for table in tables
            ]
            apart[ramp] += any(abs(a - b) > 2 for a in kept[0] for b in kept[1])
    assert apart["others"] == 0
    assert apart["figure"] > 0


def test_completeness_and_words() -> None:
    assert basic_filter(["a", "b"], lambda a, b: True) == [1, 1]
    assert basic_filter([], near) == []
    assert is_friendly([], near)
    with pytest.raises(BadInput, match="'figure', 'printed' or 'others'"):
        basic_filter([1], near, "straight")  # type: ignore[arg-type]
