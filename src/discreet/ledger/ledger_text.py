"""A ledger's words: the names, notes and answers that may be written in it, and its entries for other programs.

What is written is checked before anything is charged. What is exported is JSON with the exact numbers, or a table that
a spreadsheet will not execute: no cell begins as a formula does ([errors.1]), all are quoted, none holds a line break.

Two names that people would take for one are one budget. What they would confuse is decided by the skeletons of Unicode
Technical Standard 39, section 4, with its published table (package `confusable-homoglyphs`), not by a list of letters
that are allowed: names are written in every script. A new name is compared with those in use; names in use stay valid.
"""

import csv
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any, Final, TextIO

from discreet.accounting.filter import Currency
from discreet.errors import BadInput, clean, safe
from discreet.ledger.account import Account, Entry, loss_from_plain
from discreet.privacy.loss import in_words

COLUMNS: Final = ("entry", "time", "kind", "population", "analyst", "request", "loss", "cost", "delta", "note", "hash")
HIDDEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
LONGEST_NAME: Final = 200
LONGEST_TITLE: Final = 1_000
LONGEST_NOTE: Final = 1_000_000  # as long as a plan may be
APART: Final = re.compile(r"[\s._]+")  # what stands between words, or at the end, and is overlooked
# what is drawn as nothing, beside the control characters: Default_Ignorable_Code_Point of Unicode 16, and the blank of
# Braille; selectors of variants among them
UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def name(what: str, text: object) -> str:
    """A name of one line. Two ways to write the same letters are one name: it stands for one budget."""
    if not isinstance(text, str) or not text or text != text.strip() or len(text) > LONGEST_NAME:
        raise BadInput(
            f"{what} is {_short(text)}; it must be 1 to {LONGEST_NAME} characters without blanks around them"
        )
    if not text.isprintable() and any(unicodedata.category(letter) in HIDDEN for letter in text):
        raise BadInput(f"{what} is {_short(text)}; it must not hold control or invisible characters")
    return unicodedata.normalize("NFC", text)


def new_name(what: str, text: str) -> None:
    """That nothing in a new name is unseen, or differs between the fonts of two readers."""
    if UNSEEN.search(text) or any(unicodedata.category(letter) in ("Cn", "Co") for letter in text):
        raise BadInput(f"{what} is {ascii(text)[:200]}; it must not hold characters that are not seen or not assigned")


def alike(one: str, other: str) -> bool:
    """Whether people would take one name for the other: letters of other scripts, case, widths, blanks, a last dot."""
    return not _looks(one).isdisjoint(_looks(other))


def _looks(text: str) -> set[str]:
    """A name as its small letters look, and as its own do: Cyrillic En is an H, and its small letter is no h."""
    plain = UNSEEN.sub("", unicodedata.normalize("NFKD", text))
    return {_skeleton(plain.casefold()), _skeleton(_skeleton(plain))}


def _skeleton(text: str) -> str:
    """The text in the letters that it looks like, all small; i and l are one, for a capital I and 1 look like l."""
    seen = "".join(_prototypes().get(letter, letter) for letter in unicodedata.normalize("NFD", text))
    return APART.sub(" ", unicodedata.normalize("NFD", seen).casefold().replace("i", "l")).strip()


@cache
def _prototypes() -> dict[str, str]:
    """What each letter looks like. The table has both directions; of two, the prototype has more neighbours."""
    table = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8"))
    near = {letter: [other["c"] for other in others] for letter, others in table.items()}
    found = {}
    for letter, (first, *more) in near.items():
        best = max((letter, first), key=lambda each: (len(near[each]), len(each), each))
        if not more and best != letter and len(letter) == 1:
            found[letter] = best
    return found


def note(text: object) -> str:
    """What a charge is for, in a few words."""
    if not isinstance(text, str) or len(text) > LONGEST_NOTE:
        raise BadInput(f"the note is {_short(text)}; it must be a text of at most {LONGEST_NOTE} characters")
    lines = text.replace("\n", "").replace("\t", "")
    if not lines.isprintable() and any(unicodedata.category(letter) in ("Cc", "Cs") for letter in lines):
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


def allotted(by: str | None, analyst: str, account: Account) -> dict[str, str]:
    """Who allotted or changed a part of a budget, and what it is now, for the entry."""
    if by is None:
        return {}
    return {"by": name("the person", by), "note": note(f"{analyst} may spend {account.told}, by {by}")}


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


def currency(accounting: object) -> Currency:
    """What a budget is accounting in, by its name."""
    try:
        return Currency(accounting)
    except ValueError:
        names = ", ".join(repr(known.value) for known in Currency)
        raise BadInput(f"accounting is {_short(accounting)}; it must be one of {names}") from None


def to_csv(entries: Iterable[Entry], file: TextIO) -> None:
    """One line an entry; costs as decimals, to read (the exact ones are in the JSON)."""
    table = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow(COLUMNS)
    for entry in entries:
        plain, loss, cost, delta = entry.plain, "", "", ""
        if entry.kind == "charge":
            loss = in_words(loss_from_plain(plain["loss"]))
            cost, delta = (repr(float(Fraction(number))) for number in plain["price"])
        told = (entry.number, entry.time, entry.kind, entry.population, entry.analyst, entry.request)
        table.writerow(map(safe, (*told, loss, cost, delta, plain.get("note"), entry.hash)))


def to_json(ledger: str, accounts: Iterable[tuple[str, str, Account]], entries: Iterable[Entry], file: TextIO) -> None:
    """Everything but the answers; rationals as text."""
    file.write(f'{{"ledger": {json.dumps(ledger)},\n"accounts": ')
    _list(({"population": p, "analyst": a or None, **json.loads(s.to_text())} for p, a, s in accounts), file)
    file.write(',\n"entries": ')
    _list((_plain(entry) for entry in entries), file)
    file.write("}\n")


def _plain(entry: Entry) -> dict[str, Any]:
    kept = ("number", "kind", "time", "population", "analyst", "request", "previous", "hash")
    return {**{name: getattr(entry, name) for name in kept}, "body": entry.plain}


def _list(items: Iterable[dict[str, Any]], file: TextIO) -> None:
    start = "["
    for item in items:
        file.write(f"{start}\n{json.dumps(item)}")
        start = ","
    file.write("[]" if start == "[" else "\n]")


def _short(thing: object) -> str:
    seen = repr(thing)
    return seen if len(seen) <= 60 else f"{seen[:57]}..."
