"""The table at the top of a report, and stored answers in short lines."""

from datetime import date, timedelta

from tests.report.made import Read, dossier, entry, grouped, records

import discreet
from discreet.report import page
from discreet.report.glance import answers_in_words, glance, lines_of
from discreet.report.questions import in_words
from discreet.report.record import Report, entry_of
from discreet.report.sentences import chance
from discreet.report.svg import common


def test_every_answer_is_a_line_with_its_interval_and_epsilon() -> None:
    whole = Report.of(
        dossier(entry(records()["mean"], "mean of bmi where age >= 18"), entry(records()["refused"], "median of x"))
    )
    read = Read(glance(whole))
    assert read.links == ["#answer-1", "#answer-2"]
    for said in ("Mean of bmi where age is at least 18", " to ", "refused", "Epsilon"):
        assert said in read.text
    assert glance(Report.of(dossier())) == ""


def test_long_answers_are_cut_and_the_largest_counts_come_first() -> None:
    lines = lines_of(entry_of(entry(records()["histogram of categories"])))
    assert lines[-1].name == "and 2 more"
    counts = [int(line.value.replace(",", "")) for line in lines[:-1]]
    assert counts == sorted(counts, reverse=True)
    tested, effect = lines_of(entry_of(entry(records()["test_mean"])))
    assert tested.value.startswith("p ")
    assert " to " in effect.interval
    keyed = lines_of(entry_of(grouped([{"key": key, "release": records()["mean"]} for key in "ab"])))
    assert [line.name for line in keyed] == ["a", "b"]


def test_a_comparison_shows_its_p_value_beside_the_difference() -> None:
    x, arm = [float(k % 50 + k % 2) for k in range(4000)], ["new", "old"] * 2000
    release = discreet.ab_test(x, arm, epsilon=2.0, treatment="new", control="old", rng=discreet.Seeded(1))
    lines = lines_of(entry_of(entry(release.to_dict())))
    assert [line.name for line in lines[:3]] == ["difference", "no difference", "ratio"]
    assert lines[0].interval
    assert lines[1].value == f"p {chance(release.value.p_value)}"
    assert not lines[1].interval


def test_no_line_ends_within_a_date() -> None:
    days = [date(2020, 1, 1) + timedelta(days=k % 700) for k in range(4000)]
    span = (date(2015, 1, 1), date(2025, 1, 1))
    release = discreet.median(days, epsilon=2.0, bounds=span, rng=discreet.Seeded(1))
    whole = Report.of(dossier(entry(release.to_dict())))
    assert glance(whole).count('<span class="date">202') == 3


def test_signs_within_quotes_are_left_alone() -> None:
    assert in_words("count where town == 'a >= b' and x<3") == "How many where town is 'a >= b' and x is below 3"
    assert in_words("How old are they?") == "How old are they?"


def test_stored_answers_are_short_lines() -> None:
    (told,) = answers_in_words(dossier(entry(records()["count"], "count where ill")))
    assert told.startswith("How many where ill: ")
    assert "[" in told
    (alone,) = answers_in_words(records()["mean"])
    assert " to " in alone
    assert answers_in_words({"failed": "x"}) == ["no answer could be made"]


def test_pictures_of_groups_share_a_scale() -> None:
    several = [{"key": key, "release": records()["open histogram"]} for key in "ab"]
    made = entry_of(grouped(several))
    scale = common([shown for _, shown in made.shown()])
    assert scale is not None
    assert scale.low == 0.0
    assert (
        common([shown for name in ("density", "mean") for _, shown in entry_of(entry(records()[name])).shown()]) is None
    )


def test_the_receipt_and_the_warning_are_said_once() -> None:
    one = {**records()["count"], "provenance": {**records()["count"]["provenance"], "receipt": "entry 17"}}
    whole = dossier(entry(one), entry(one))
    whole["reproducibility"] = {"receipts": ["entry 17"]}
    assert page(whole).count("entry 17") == 1
    assert page(whole).count("NOT FOR PUBLICATION") == 1
