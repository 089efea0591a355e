import re

from tests.report.made import Read, entry, records

from discreet.report.parts import NamedNumber, parts
from discreet.report.sheet import DARKEST, centres, matrix, numbers, table


def test_a_matrix_is_shaded_by_how_two_columns_move_together() -> None:
    values = [4.0, -2.0, -2.0, 1.0]
    shown = matrix(["a", "b"], [NamedNumber("", value) for value in values], "t", "")
    shares = re.findall(r'class="(up|down)" style="--share:(\d+)%"', shown)
    assert shares == [("up", str(DARKEST)), ("down", str(DARKEST)), ("down", str(DARKEST)), ("up", str(DARKEST))]
    assert "style" in matrix(["a"], [NamedNumber("", None)], "t", "")
    assert "not shown here" in matrix([str(k) for k in range(25)], [NamedNumber("", 1.0)] * 625, "t", "")


def test_a_covariance_shows_its_intervals() -> None:
    names = ["a", "b", "c"]
    shown = matrix(names, parts(entry(None, columns=names), records()["covariance"]), "t", "95% confidence interval")
    assert shown.count("<small>(") == 9
    Read(shown)


def test_tables_are_cut_and_escaped() -> None:
    shown = table(["a", "<b>"], [["x", "1"]] * 510, "t")
    assert "10 more are not shown" in shown
    assert "&lt;b&gt;" in shown
    Read(shown)


def test_remarks_are_there_if_there_is_one() -> None:
    assert "remark" not in numbers("sex", [(NamedNumber("a", 1.0), "")], "t")
    assert "remark" in numbers("sex", [(NamedNumber("a", 1.0), "refused")], "t")


def test_centres_of_any_width_have_a_row() -> None:
    shown = centres({}, {"centres": [[1.0, 2.0], [3.0]], "sizes": [5]}, "t")
    assert shown.count("<tr>") == 3
    Read(shown)
