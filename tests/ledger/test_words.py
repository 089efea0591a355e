import json
from typing import Any

import pytest

from discreet.errors import BadInput
from discreet.ledger import words


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
