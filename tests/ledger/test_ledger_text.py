import json
from typing import Any

import pytest

from discreet.errors import BadInput
from discreet.ledger import ledger_text as words


@pytest.mark.parametrize(
    "bad", ["", " a", "a ", "a\nb", "a\x00", "a\u200bb", "a\u202eb", "\ud800", "x" * 201, None, 7, b"a"]
)
def test_names_are_one_visible_line(bad: Any) -> None:
    with pytest.raises(BadInput, match="the population is"):
        words.name("the population", bad)


def test_one_name_however_it_is_typed() -> None:
    assert words.name("the population", "Ha\u0308user") == words.name("the population", "Häuser") == "Häuser"


@pytest.mark.parametrize("bad", ["a\x00", "\x1b[2J", "\ud800", "x" * 1_000_001, None, 7], ids=range(6))
def test_notes_are_texts(bad: Any) -> None:
    with pytest.raises(BadInput, match="the note is") as caught:
        words.note(bad)
    assert len(str(caught.value)) < 200
    assert words.note("two\nlines") == "two\nlines"


def test_a_note_of_a_long_record_has_its_digest() -> None:
    head, whole = words.written("mean of\n\x1b[31m" + "x" * 5000, {"keys": ["a"]}).split("\n")
    assert head.startswith("mean of \ufffd[31mxxx")
    assert len(head) == words.LONGEST_TITLE
    assert json.loads(whole) == {"keys": ["a"]}
    notes = [words.written("t", {"keys": [key] * 400_000}) for key in ("a", "b")]
    assert [words.note(text) == text for text in notes] == [True, True]
    assert notes[0] != notes[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("people", "p\u0435ople"),  # Cyrillic ie
        ("people", "\u0420\u0415\u041e\u0420L\u0415"),  # Cyrillic capitals
        ("\u041d\u0418\u041d\u0410", "\u043d\u0438\u043d\u0430"),  # Cyrillic, large and small
        ("people", "\U0001d429\U0001d41e\U0001d428\U0001d429\U0001d425\U0001d41e"),  # of mathematics
        ("modern", "rnodern"),
        ("sick", "SlCK"),
        ("phase I", "phase 1"),
        ("phase 1", "phase l"),
        ("ward 10", "ward 1O"),
        ("stra\u00dfe", "STRASSE"),
        ("people", "peo\u3164ple"),  # of a ledger that has such a name already
        ("people", "people\u2800"),
        ("people", "peo\u034fple"),
        ("people", "people\ufe0f"),
        ("people", "people."),
        ("trial 7", "trial_7"),
        ("trial 7", "Trial\u20037"),
        ("Ha\u0308user", "H\u00e4user"),
    ],
)
def test_names_that_people_would_confuse(one: str, other: str) -> None:
    assert words.alike(one, other)
    assert words.alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("people", "peoples"),
        ("vets", "nets"),  # nu looks like v, and its capital like N
        ("HIV+", "HIV-"),
        ("H\u00e4user", "Hauser"),
        ("cohort 1.5", "cohort 15"),
        ("ward 2", "ward 3"),
        ("ward 12", "ward 21"),
        ("\u4eba\u53e3", "\u4eba\u6570"),
        ("\u65e5\u672c", "\u65e5\u672c 2"),
    ],
)
def test_names_that_people_tell_apart(one: str, other: str) -> None:
    assert not words.alike(one, other)


def test_numbers_are_told_apart() -> None:
    looks = [frozenset(words._looks(f"ward {number}")) for number in range(1000)]
    assert len(set(looks)) == 1000


def test_every_letter_of_the_table_looks_like_one_prototype() -> None:
    """The published table, as it was read: a prototype is not itself mapped to another."""
    table = words._prototypes()
    assert len(table) > 5000
    assert table["\u0430"] == "a"
    assert (table["1"], table["0"], table["m"]) == ("l", "O", "rn")
    assert not [letter for letter, prototype in table.items() if prototype in table]
