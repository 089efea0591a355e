import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.report.draw import box, picture, short, text, whisker
from discreet.report.numbers import Axis
from discreet.report.parts import NamedNumber


@given(st.text(st.characters(exclude_categories=())))
def test_text_is_escaped_and_can_be_written(thing: str) -> None:
    shown = text(thing)
    assert not set(shown) & set("<>\"'\x00\u202e\u2066")
    shown.encode()


def test_long_labels_are_cut_with_the_whole_in_the_title() -> None:
    shown = short("a" * 100)
    assert f'title="{"a" * 100}"' in shown
    assert shown.count("a") < 200
    assert "title" not in short("a" * 60)


def test_pictures_are_read_out_or_left_to_the_text_beside_them() -> None:
    assert "<title>A</title><desc>b &lt; c</desc>" in picture(9, "", title="A", told="b < c")
    assert 'role="img"' in picture(9, "", title="A")
    assert 'aria-hidden="true"' in picture(9, "")


@pytest.mark.parametrize("noise", [True, False])
def test_whiskers_show_how_much_is_privacy(noise: bool) -> None:
    axis, part = Axis(0.0, 10.0), NamedNumber("a", 5.0, low=4.0, high=6.0)
    drawn = whisker(axis, part, 5, noise=noise, privacy=0.25)
    assert ('class="privacy"' in drawn) is not noise
    assert ("noise" in drawn) is noise
    assert f'x1="{axis.at(4.0):g}%"' in drawn
    assert whisker(axis, NamedNumber("a", None), 5, noise=noise) == ""


def test_boxes_run_from_left_to_right() -> None:
    assert box(60, 20, 0, 9, "bar") == box(20, 60, 0, 9, "bar")
