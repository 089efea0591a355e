"""What may be written in a ledger: names, notes and answers, checked before anything is charged."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from discreet.accounting.filter import Currency
from discreet.errors import BadInput
from discreet.promise.cells import clean

LONGEST_NAME: Final = 200
LONGEST_TITLE: Final = 1_000
LONGEST_NOTE: Final = 1_000_000  # as long as a plan may be


def name(what: str, text: object) -> str:
    """A name of one line. Two ways to write the same letters are one name: it stands for one budget."""
    if not isinstance(text, str) or not text or text != text.strip() or len(text) > LONGEST_NAME:
        raise BadInput(
            f"{what} is {_short(text)}; it must be 1 to {LONGEST_NAME} characters without blanks around them"
        )
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in text):
        raise BadInput(f"{what} is {_short(text)}; it must not hold control or invisible characters")
    return unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """What two names have in common that people would confuse: large and small letters, widths, kinds of blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def note(text: object) -> str:
    """What a charge is for, in a few words."""
    if not isinstance(text, str) or len(text) > LONGEST_NOTE:
        raise BadInput(f"the note is {_short(text)}; it must be a text of at most {LONGEST_NOTE} characters")
    if any(unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t" for letter in text):
        raise BadInput(f"the note is {_short(text)}; it must not hold control characters")
    return text


def written(title: str, record: Mapping[str, Any]) -> str:
    """A note: a title, and in the next line the whole record as JSON, or its digest if that is too long."""
    flat = clean(title)
    head = flat if len(flat) <= LONGEST_TITLE else f"{flat[: LONGEST_TITLE - 1]}…"
    whole = json.dumps(record, sort_keys=True)
    if len(head) + 1 + len(whole) > LONGEST_NOTE:
        whole = json.dumps({"sha256": hashlib.sha256(whole.encode()).hexdigest()})
    return f"{head}\n{whole}"


def answer(text: object) -> str:
    """An answer as JSON. Its text is not shown in the error: nothing has been stored yet."""
    try:
        if not isinstance(text, str):
            raise TypeError
        json.loads(text)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        raise BadInput("the answer is not JSON; store what Release.to_json() gives") from None
    return text


def currency(counted: object) -> Currency:
    """What a budget is counted in, by its name."""
    try:
        return Currency(counted)
    except ValueError:
        names = ", ".join(repr(known.value) for known in Currency)
        raise BadInput(f"counted is {_short(counted)}; it must be one of {names}") from None


def _short(thing: object) -> str:
    seen = repr(thing)
    return seen if len(seen) <= 60 else f"{seen[:57]}..."
