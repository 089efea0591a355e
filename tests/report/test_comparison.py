"""Two releases of the same questions: differences with intervals."""

import numpy as np
import pytest
from tests.report.made import dossier, entry, grouped, records

import discreet
from discreet import Seeded
from discreet.errors import BadInput
from discreet.report.comparison import ASSUMED, NOISE, TABLE, compare, difference
from discreet.report.record import Report


def reports(*entries: object) -> Report:
    return Report.of(dossier(*entries))  # type: ignore[arg-type]


def test_the_same_questions_are_found_whatever_they_are_called() -> None:
    mean, tally = records()["mean"], records()["histogram of categories"]
    old = reports(entry(mean, "mean of bmi", id="a"), entry(tally, "education", statistic="histogram"))
    new = reports(entry(tally, "Schools", id="x", statistic="histogram"), entry(mean, "How heavy are they?"))
    found = compare(old, new)
    assert not found.left_out
    assert {change.question for change in found.changes} == {"Schools", "How heavy are they?"}
    assert all(change.difference == 0 and not change.clear for change in found.changes)
    assert found.assumptions == [NOISE, ASSUMED, TABLE]
    assert not found.publishable
    assert len(found.to_dict()["changes"]) == len(found.changes) == 6


def test_a_stored_answer_is_not_compared_with_itself() -> None:
    answers = [discreet.count(range(900), epsilon=1.0, rng=Seeded(seed)) for seed in (1, 2)]
    then, now = (answer.signed(mark).to_dict() for answer, mark in zip(answers, ("first", "second"), strict=True))
    again = compare(reports(entry(then, statistic="count")), reports(entry(then, statistic="count")))
    assert not again.changes
    assert not again.assumptions
    assert "the same stored answer" in again.left_out[0]
    assert len(compare(reports(entry(then, statistic="count")), reports(entry(now, statistic="count"))).changes) == 1


def test_what_has_no_counterpart_is_named() -> None:
    groups = [grouped([{"key": key, "release": records()["mean"]} for key in keys]) for keys in ("ab", "bc")]
    found = compare(reports(groups[0]), reports(groups[1], entry(records()["refused"], statistic="median")))
    assert [change.name for change in found.changes] == ["b"]
    told = " ".join(found.left_out)
    assert "c is only in the new report" in told
    assert "a is only in the old report" in told
    with pytest.raises(BadInput, match="no answers"):
        compare(reports(), reports())


def test_intervals_of_differences_cover() -> None:
    """100 pairs; the seeds are fixed, so that it fails never or always."""
    draws, epsilon = np.random.default_rng(7), 0.2
    counts = shares = 0
    for seed in range(100):
        then, now = draws.random(900) < 0.2, draws.random(1100) < 0.3
        pair = [discreet.count(one, epsilon=epsilon, rng=Seeded(2 * seed + at)) for at, one in enumerate((then, now))]
        low, high = difference(*(one.shown().numbers[0] for one in pair))
        counts += low <= int(now.sum()) - int(then.sum()) <= high
        parts = [discreet.proportion(one, epsilon=epsilon, rng=Seeded(seed + len(one))) for one in (then, now)]
        low, high = difference(*(one.shown().numbers[0] for one in parts))
        shares += low <= 0.1 <= high
    assert counts >= 90
    assert shares >= 90
