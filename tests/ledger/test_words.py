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


@pytest.mark.parametrize("bad", ["a\x00", "\x1b[2J", "\ud800", "x" * 20_001, None, 7])
def test_notes_are_texts(bad: Any) -> None:
    with pytest.raises(BadInput, match="the note is") as caught:
        words.note(bad)
    assert len(str(caught.value)) < 200
    assert words.note("two\nlines") == "two\nlines"
