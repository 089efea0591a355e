import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.made import Read, entry, records

from discreet.errors import BadInput
from discreet.privacy.intervals import Interval, NamedNumber, Shown
from discreet.privacy.picture import CellMarks, PointMarks, group_rows
from discreet.privacy.values import Scalar
from discreet.report.date_axis import DateAxis
from discreet.report.record import entry_of
from discreet.report.sentences import half_widths
from discreet.report.svg import DARKEST, box, drawn, figured, number_table, picture, table, text


def of(record: Any, columns: tuple[str, ...] = ("bmi",)) -> str:
    ((_, shown),) = entry_of(entry(record, columns=list(columns))).shown()
    return drawn(shown, "a title")


def pictured(name: str, *columns: str) -> str:
    return of(records()[name], columns or ("bmi",))


DRAWN = sorted(set(records()) - {"vote", "refused", "median without interval"})


@pytest.mark.parametrize("name", DRAWN)
def test_every_answer_has_a_picture_or_a_table(name: str) -> None:
    assert "<svg" in pictured(name) or "<table" in pictured(name)
    assert "nan" not in pictured(name)
    Read(pictured(name))


def test_what_has_no_number_or_no_error_has_no_picture() -> None:
    assert pictured("vote") == pictured("refused") == pictured("median without interval") == ""


def test_many_bins_are_cut_and_said_to_be() -> None:
    shown = pictured("histogram of many")
    assert shown.count('class="bar"') == 30
    assert "51 more are not drawn" in shown
    assert pictured("histogram of edges").count('class="bar"') == 8


def test_thresholds_and_what_fits_nowhere_are_said() -> None:
    assert "noisy count below" in pictured("open histogram")
    assert "In none of these: " in pictured("histogram of edges")


def test_noise_intervals_look_different() -> None:
    assert "whisker noise" in pictured("count")
    assert "whisker noise" not in pictured("mean")
    assert 'class="privacy"' in pictured("mean")


def test_densities_are_steps_in_a_band() -> None:
    shown = pictured("density")
    assert shown.count('class="band"') == shown.count('class="curve"') == 1
    assert "Steps: the density; band: 95% confidence interval." in shown


def test_distributions_are_curves_with_their_parameters() -> None:
    for name in ("gaussian", "family", "likelihood"):
        assert pictured(name).count('class="curve"') == 1
        assert "Each has its own scale." in pictured(name)
    assert pictured("multinomial").count('class="bar"') == 5


def test_hostile_densities_are_refused() -> None:
    record = copy.deepcopy(records()["density"])
    for edge in (record["value"]["edges"][2], None, "x"):
        record["value"]["edges"][3] = edge
        with pytest.raises(BadInput, match="release"):
            of(record)


def test_tests_show_their_level() -> None:
    assert 'class="limit"' in pictured("test_mean")


def test_centres_are_a_table_shaded_by_column() -> None:
    shown = pictured("kmeans", "bmi", "pressure")
    assert len(re.findall(rf'class="(?:up|down)" style="--share:{DARKEST}%"', shown)) == 4  # the ends of two columns
    assert "pressure" in shown
    assert "1 (about " in shown


def test_groups_share_a_scale_and_keep_their_noise() -> None:
    other = copy.deepcopy(records()["mean"])
    other["spread"]["privacy"] = None
    found = [entry_of(entry(record)).shown()[0][1] for record in (records()["mean"], other, records()["refused"])]
    rows = group_rows(list(zip(["a", "b", 0], found, strict=True)))
    assert rows is not None
    shown = figured(PointMarks(rows), Shown("g", None, rows, found[0].interval), "a title")
    assert shown.count('class="whisker"') == 6
    assert shown.count('class="privacy"') == 1
    assert shown.count(">refused<") == 1
    density = entry_of(entry(records()["density"])).shown()[0][1]
    assert group_rows([("a", density)]) is None


def test_a_model_without_coefficients_has_no_picture() -> None:
    none = {"kind": "coefficients", "coef": [], "intercept": 1.0, "names": [], "link": "identity"}
    assert of({**records()["linear regression"], "value": none, "interval": None, "spread": None}) == ""


def grid(*values: float | None) -> CellMarks:
    side = round(len(values) ** 0.5)
    names = tuple(str(place) for place in range(side))
    cells = [NamedNumber("", value) for value in values]
    return CellMarks(names, names, tuple(tuple(cells[at * side : (at + 1) * side]) for at in range(side)))


def test_a_matrix_is_shaded_by_how_two_columns_move_together() -> None:
    none = Shown("t", None, ())
    shares = re.findall(r'class="(up|down)" style="--share:(\d+)%"', figured(grid(4.0, -2.0, -2.0, 1.0), none, "t"))
    assert shares == [("up", str(DARKEST)), ("down", str(DARKEST)), ("down", str(DARKEST)), ("up", str(DARKEST))]
    assert "style" in figured(grid(None), none, "t")
    assert "not shown here" in figured(grid(*[1.0] * 625), none, "t")
    assert pictured("covariance", "a", "b", "c").count("<small>(") == 9


def test_tables_are_cut_and_escaped() -> None:
    shown = table(["a", "<b>"], [["x", "1"]] * 510, "t")
    assert "10 more are not shown" in shown
    assert "&lt;b&gt;" in shown
    Read(shown)


def test_remarks_are_there_if_there_is_one() -> None:
    assert "remark" not in number_table("sex", [(NamedNumber("a", 1.0), "")], "t")
    assert "remark" in number_table("sex", [(NamedNumber("a", 1.0), "refused")], "t")


def test_pictures_are_read_out_or_left_to_the_text_beside_them() -> None:
    assert "<title>A</title><desc>b &lt; c</desc>" in picture(9, "", title="A", told="b < c")
    assert 'role="img"' in picture(9, "", title="A")
    assert 'aria-hidden="true"' in picture(9, "")
    assert box(60, 20, 0, 9, "bar") == box(20, 60, 0, 9, "bar")


@given(st.text(st.characters(exclude_categories=())))
def test_text_is_escaped_and_can_be_written(thing: str) -> None:
    shown = text(thing)
    assert not set(shown) & set("<>\"'\x00\u202e\u2066")
    shown.encode()


def test_long_names_are_cut_and_kept_whole_in_their_title() -> None:
    record = copy.deepcopy(records()["linear regression"])
    record["value"]["names"] = ["x" * 80, "y"]
    shown = of(record)
    assert "x" * 59 + "…" in shown
    assert f'title="{"x" * 80}"' in shown


def test_a_date_is_drawn_on_a_scale_of_dates() -> None:
    bar = Interval("2019-03-16", "2019-04-08", confidence=0.95, about="the population's median", population=True)
    found = drawn(Shown("median of day", Scalar("2019-03-27"), (), bar), "day")
    assert ">2019-04-04<" in found
    assert "2019-03-27" in found
    assert half_widths([Shown("median of day", Scalar("2019-03-27"), (), bar)]) == "11.5 days"
    assert drawn(Shown("mode", Scalar("2019-03-27"), ()), "day") == ""
    odd = Interval("a", "b", confidence=0.95, about="", population=True)
    assert drawn(Shown("mode", Scalar("2019-03-27"), (), odd), "day") == ""


@given(st.floats(-719_162, 2_932_896), st.floats(0, 4e6))
def test_scales_of_dates_have_few_round_places(low: float, wide: float) -> None:
    ticks = DateAxis(low, min(low + wide, 2_932_896.0)).ticks()
    assert len(ticks) <= 5
    assert all(low <= day <= low + wide for day, _ in ticks)
    assert bool(ticks) or wide < 400 or wide > 1_800_000
