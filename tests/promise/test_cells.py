import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.promise.cells import FORMULA, safe


@pytest.mark.claim("LX1")
@given(st.text() | st.none() | st.booleans())
@example("\u200b=1+1")
@example("\ufeff@SUM(1)")
@example("\x00-1")
@example("﹦1")
@example("\t=1\r\n+2")
@example("\ud800")
def test_no_text_begins_as_a_formula(cell: object) -> None:
    found = safe(cell)
    seen = "".join(mark for mark in found if unicodedata.category(mark) != "Cf")
    assert not unicodedata.normalize("NFKC", seen[:1]).startswith(FORMULA)
    assert not found.startswith(("\t", "\r", "\n", " "))
    assert "\n" not in found
    assert "\r" not in found
    found.encode()


@pytest.mark.claim("LX1")
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300))
def test_numbers_stay_numbers(number: float) -> None:
    assert type(number)(safe(number)) == number


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 10**400, 10**5000], ids=range(5))
def test_what_is_no_number_is_empty(number: float) -> None:
    assert safe(number) == ""
