import copy
from typing import Any

import pytest
from tests.report.made import entry, records

from discreet.report.pictures import group_rows, grouped, pictured


def drawn(name: str, **asked: Any) -> str:
    return pictured(entry(None, **asked), records()[name], "a title")


DRAWN = sorted(set(records()) - {"vote", "refused", "median without interval"})


@pytest.mark.parametrize("name", DRAWN)
def test_every_answer_has_a_picture_or_a_table(name: str) -> None:
    assert "<svg" in drawn(name) or "<table" in drawn(name)
    assert "nan" not in drawn(name)


def test_what_has_no_number_or_no_error_has_no_picture() -> None:
    assert drawn("vote") == drawn("refused") == drawn("median without interval") == ""


def test_many_bins_are_cut_and_said_to_be() -> None:
    shown = drawn("histogram of many")
    assert shown.count('class="bar"') == 30
    assert "51 more are not drawn" in shown
    assert drawn("histogram of edges").count('class="bar"') == 8


def test_thresholds_and_what_fits_nowhere_are_said() -> None:
    assert "noisy count below" in drawn("open histogram")
    assert "In none of these: " in drawn("histogram of edges")


def test_noise_intervals_look_different() -> None:
    assert "whisker noise" in drawn("count")
    assert "whisker noise" not in drawn("mean")
    assert 'class="privacy"' in drawn("mean")


def test_densities_are_steps_in_a_band() -> None:
    shown = drawn("density")
    assert shown.count('class="band"') == shown.count('class="curve"') == 1
    assert "Steps: the density; band: 95% confidence interval." in shown


def test_hostile_densities_have_no_picture() -> None:
    record = copy.deepcopy(records()["density"])
    record["value"]["edges"][3] = record["value"]["edges"][2]
    assert pictured(entry(None), record, "") == ""
    record["value"]["edges"][3] = None
    assert pictured(entry(None), record, "") == ""


def test_tests_show_their_level() -> None:
    assert 'class="limit"' in drawn("test_mean")


def test_centres_are_numbered() -> None:
    shown = drawn("kmeans", columns=["bmi", "pressure"])
    assert shown.count('class="disc"') == 6
    assert "pressure" in shown
    assert "size, noisy" in shown


def test_groups_share_a_scale_and_keep_their_noise() -> None:
    mean, other = records()["mean"], copy.deepcopy(records()["mean"])
    other["spread"]["privacy"] = None
    groups: list[dict[str, Any]] = [
        {"key": "a", "release": mean},
        {"key": "b", "release": other},
        {"key": 0, "release": records()["refused"]},
    ]
    rows = group_rows(entry(None), groups)
    assert rows is not None
    shown = grouped(groups, rows, "a title")
    assert shown.count('class="whisker"') == 6
    assert shown.count('class="privacy"') == 1
    assert shown.count(">refused<") == 1
    assert group_rows(entry(None), [{"key": "a", "release": records()["density"]}]) is None


def test_a_model_without_coefficients_has_no_picture() -> None:
    record = {**records()["linear regression"], "value": {"coef": [], "intercept": 1.0, "names": []}}
    assert pictured(entry(None), record, "") == ""
