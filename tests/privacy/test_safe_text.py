import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.errors import FORMULA, BadInput, OverBudget, Refused, clean, cleaned, printable, safe
from discreet.privacy.release import Groups


@pytest.mark.claim("errors.1")
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


@pytest.mark.claim("errors.1")
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300))
def test_numbers_stay_numbers(number: float) -> None:
    assert type(number)(safe(number)) == number


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 10**400, 10**5000], ids=range(5))
def test_what_is_no_number_is_empty(number: float) -> None:
    assert safe(number) == ""


EVIL = "red\x1b[31m\x1b]0;title\x07\u202eback\x9b2J"


def quiet(text: str) -> bool:
    """Whether a text says nothing to a terminal but where lines end."""
    return all(letter == "\n" or not unicodedata.category(letter).startswith("C") for letter in text)


def test_texts_for_a_terminal_do_not_steer_it() -> None:
    assert quiet(clean(EVIL))
    assert clean("a\n b\t c") == "a b c"
    record = cleaned({EVIL: [EVIL, {"x": (EVIL, 1, None)}]})
    assert quiet("".join([*record, *record[next(iter(record))][0]]))
    assert printable("zwei Größen\n  ü") == "zwei Größen\n  ü"
    for error in (BadInput(f"there is no column {EVIL}"), OverBudget(EVIL), Refused(f"{EVIL}\n  ^")):
        assert quiet(str(error))


def test_what_was_found_in_data_is_printed_clean() -> None:
    """Categories, groups and the names of releases come from data and plans."""
    rows = [EVIL] * 500 + ["a\nb"] * 500
    release = discreet.histogram(rows, epsilon=10.0, delta=1e-6, rng=discreet.Seeded(1))
    assert quiet(str(replace(release, name=EVIL)))
    groups = Groups(
        EVIL, release.guarantee, releases=((EVIL, replace(release, name=f"x: {EVIL}\ny")),), name=EVIL, notes=(EVIL,)
    )
    assert quiet(str(groups))
    assert quiet(repr(groups))
    assert len(repr(groups).splitlines()) == 2
    assert len(str(groups).splitlines()) == 9
