"""The stored form of a report: JSON, and the shape that it must have."""

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from discreet.errors import BadInput
from discreet.report.numbers import finite

FORMAT: Final = "discreet report 1"
DEEPEST: Final = 40
TEXT, TEXT_OR_NONE, LISTED, MAPPED, MAPPED_OR_NONE = "text", "text or null", "a list", "an object", "an object or null"
TRUTH, COUNT_OR_NONE, AMOUNT = "true or false", "a whole number or null", "a number, 0 or more"
SHAPES: Final[dict[str, dict[str, str]]] = {
    "": {
        "title": TEXT,
        "description": TEXT_OR_NONE,
        "created": TEXT,
        "data": MAPPED,
        "budget": MAPPED,
        "releases": LISTED,
        "meaning": LISTED,
        "methods": LISTED,
        "assumptions": LISTED,
        "reproducibility": MAPPED,
    },
    "data": {
        "source": TEXT,
        "population": TEXT,
        "unit": TEXT,
        "person": TEXT_OR_NONE,
        "neighbours": TEXT,
        "rows": COUNT_OR_NONE,
    },
    "budget": {
        "epsilon": AMOUNT,
        "delta": AMOUNT,
        "spent_before": MAPPED_OR_NONE,
        "this": MAPPED,
        "left": MAPPED_OR_NONE,
        "composition": TEXT,
    },
    "entry": {
        "id": TEXT,
        "question": TEXT,
        "statistic": TEXT,
        "columns": LISTED,
        "where": TEXT_OR_NONE,
        "by": TEXT_OR_NONE,
        "options": MAPPED,
        "forecast": MAPPED_OR_NONE,
    },
    "record": {
        "name": TEXT,
        "refusal": TEXT_OR_NONE,
        "interval": MAPPED_OR_NONE,
        "guarantee": MAPPED,
        "publishable": TRUTH,
        "provenance": MAPPED,
    },
    "amounts": {"epsilon": AMOUNT, "delta": AMOUNT},
    "method": {"name": TEXT, "text": TEXT},
}


def to_json(dossier: Mapping[str, Any]) -> str:
    """The report as JSON: keys in the order that they have, and no number that JSON lacks."""
    checked(dossier)
    try:
        told = json.dumps(dossier, indent=2, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"the report holds what JSON has no form for ({error}); give plain values only") from None
    return told.encode("utf-8", "backslashreplace").decode() + "\n"  # half a surrogate pair, as JSON writes it


def from_json(text: str | bytes) -> dict[str, Any]:
    """The report that `to_json` wrote; anything else is refused."""
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"this is not the JSON of a report: {error}; give what to_json wrote") from None
    return checked(found)


def checked(dossier: Any) -> dict[str, Any]:
    """The same report, if it has the shape that the page and the table read."""
    if not isinstance(dossier, Mapping):
        raise BadInput(f"a report is an object, and this is {_seen(dossier)}; give what to_json wrote")
    if dossier.get("format") != FORMAT:
        raise BadInput(f"the format is {_seen(dossier.get('format'))}; this version reads {FORMAT!r}")
    _shallow(dossier)
    _has(dossier, "", "the report")
    for part in ("data", "budget"):
        _has(dossier[part], part, part)
    for part in ("this", "spent_before", "left"):
        if dossier["budget"][part] is not None:
            _has(dossier["budget"][part], "amounts", f"budget.{part}")
    for part in ("meaning", "assumptions"):
        if not all(isinstance(item, str) for item in dossier[part]):
            raise BadInput(f"{part} holds something else than sentences; give a list of texts")
    for place, method in enumerate(dossier["methods"]):
        _has(method, "method", f"methods[{place}]")
    for place, entry in enumerate(dossier["releases"]):
        _entry(entry, f"releases[{place}]")
    return dict(dossier)


def _shallow(dossier: Any) -> None:
    """A report that is nested without end would end the interpreter's patience first."""
    level = [dossier]
    for _ in range(DEEPEST):
        level = [
            inner
            for thing in level
            for inner in (thing.values() if isinstance(thing, Mapping) else thing)
            if isinstance(inner, Mapping | list | tuple)
        ]
        if not level:
            return
    raise BadInput(f"the report is nested deeper than {DEEPEST}; give what to_json wrote")


def _entry(entry: Any, where: str) -> None:
    _has(entry, "entry", where)
    if ("release" in entry) == ("groups" in entry):
        raise BadInput(f"{where} needs either a release or groups")
    if "release" in entry:
        _record(entry["release"], f"{where}.release")
        return
    if not isinstance(entry["groups"], list):
        raise BadInput(f"{where}.groups is {_seen(entry['groups'])}; it needs a list")
    for place, group in enumerate(entry["groups"]):
        if not isinstance(group, Mapping) or "key" not in group:
            raise BadInput(f"{where}.groups[{place}] needs a key and a release")
        _record(group.get("release"), f"{where}.groups[{place}].release")


def _record(record: Any, where: str) -> None:
    _has(record, "record", where)
    if "value" not in record:
        raise BadInput(f"{where} has no value; a refusal has null")
    guarantee = record["guarantee"]
    _has(guarantee, "amounts", f"{where}.guarantee")
    notes = record["provenance"].get("notes", [])
    if not isinstance(notes, list):
        raise BadInput(f"{where}.provenance.notes is {_seen(notes)}; it needs a list")


def _has(thing: Any, shape: str, where: str) -> None:
    if not isinstance(thing, Mapping):
        raise BadInput(f"{where} is {_seen(thing)}; it needs an object")
    if not all(isinstance(name, str) for name in thing):
        raise BadInput(f"{where} has a key that is no text; give plain values only")
    for name, needed in SHAPES[shape].items():
        if name not in thing:
            raise BadInput(f"{where} has no {name}; it needs {needed}")
        if not _fits(thing[name], needed):
            raise BadInput(f"{where}: {name} is {_seen(thing[name])}; it needs {needed}")


def _fits(thing: Any, needed: str) -> bool:
    if thing is None:
        return needed.endswith("or null")
    match needed.removesuffix(" or null"):
        case "text":
            return isinstance(thing, str)
        case "a list":
            return isinstance(thing, list)
        case "an object":
            return isinstance(thing, Mapping)
        case "true or false":
            return isinstance(thing, bool)
        case "a whole number":
            return isinstance(thing, int) and not isinstance(thing, bool)
    known = finite(thing)
    return known is not None and known >= 0


def _seen(thing: Any) -> str:
    """A kind and no value: what a report holds may be long, or hostile."""
    match thing:
        case None:
            return "missing or null"
        case str():
            return f"the text {thing[:40]!r}"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case Mapping():
            return "an object"
    return f"of type {type(thing).__name__}"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
