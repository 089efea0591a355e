"""An answer in a plain sentence: for the page, and for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from discreet.report.numbers import finite, number, spelled, whole_range
from discreet.report.parts import NamedNumber, label, parts, shape_of

LEVEL: Final = 0.05
NAMED: Final = 6  # more than so many numbers are not read out
SEEDED: Final = "Not for publication: the noise was seeded and can be subtracted."


def sentence(entry: Mapping[str, Any]) -> str:
    """What was asked and what the answer is, with its interval in words.

    >>> interval = {"low": 26.1, "high": 26.7, "confidence": 0.95, "about": "the population's mean", "population": True}
    >>> record = {"value": 26.4, "interval": interval, "refusal": None, "publishable": True}
    >>> sentence({"question": "mean of bmi", "release": record})
    "The mean of bmi is 26.40; with 95% confidence the population's mean lies between 26.10 and 26.70."
    """
    if "groups" in entry:
        told = _groups(entry, entry["groups"])
        open_to_all = all(group["release"].get("publishable") for group in entry["groups"])
    else:
        told = answer(entry, entry["release"])
        open_to_all = bool(entry["release"].get("publishable"))
    return told if open_to_all else f"{told} {SEEDED}"


def answer(entry: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """The sentence of one record."""
    asked, found = question(entry), parts(entry, record)
    if record.get("refusal") is not None:
        return f"{_opened(asked)} was refused: {_ended(str(record['refusal']))}"
    match shape_of(record):
        case "nothing":
            return f"{_opened(asked)} has no answer."
        case "text":
            return f"{_opened(asked)} is {label(record['value'])}."
        case "number":
            return _number(asked, record, found[0])
        case "test":
            name = str(record.get("name") or "")
            null = f" ({name})" if name and name not in asked else ""
            return f"{_capital(asked)}{null}: {decision(found[0].value)}"
        case "tally":
            return _tally(asked, record, found)
        case "density":
            return _density(asked, record, found)
        case "clusters":
            centres = record["value"]["centres"]
            sizes = ", ".join(number(size) for size in record["value"]["sizes"][:NAMED])
            more = ", ..." if len(centres) > NAMED else ""
            return f"{_capital(asked)}: {len(centres)} centres, with about {sizes}{more} of the rows around them."
        case "matrix":
            side = len(record["value"])
            return f"{_opened(asked)} is a table of {side} by {side} numbers{_about(record, plural=True)}."
        case "coefficients":
            return _listing(asked, record, found) + _clear_of_zero(record, found)
    return _listing(asked, record, found)


def question(entry: Mapping[str, Any]) -> str:
    """What was asked, on one line."""
    asked = " ".join(str(entry.get("question") or "").split()).rstrip(".")
    return asked or " of ".join(filter(None, [str(entry.get("statistic") or "answer"), ", ".join(_columns(entry))]))


def decision(p: float | None) -> str:
    """A p-value and what it decides at 5%, in words.

    >>> decision(0.0055)
    'p = 0.0055, so at the 5% level the null hypothesis is rejected.'
    """
    if p is None:
        return "there is no p-value."
    if p <= LEVEL:
        return f"p {chance(p)}, so at the 5% level the null hypothesis is rejected."
    kept = "is not rejected (which does not show that it is true)"
    return f"p {chance(p)}, so at the 5% level the null hypothesis {kept}."


def chance(p: float) -> str:
    """A p-value behind its p."""
    return "< 0.0001" if p < 0.0001 else f"= {number(p, 3)}"


def kind(record: Mapping[str, Any]) -> str:
    """What to call its interval: a confidence interval has sampling in it, a noise interval has not."""
    interval = record.get("interval")
    if not isinstance(interval, Mapping):
        return ""
    return f"{percent(interval)} {'confidence' if interval.get('population') else 'noise'} interval"


def percent(interval: Mapping[str, Any]) -> str:
    """The confidence."""
    share = finite(interval.get("confidence"))
    return "" if share is None else f"{100 * share:.6g}%"


def in_brackets(part: NamedNumber) -> str:
    """A number with its interval behind it.

    >>> in_brackets(NamedNumber("a", 26.4123, low=26.1, high=26.7)), in_brackets(NamedNumber("b", 3.0))
    ('26.41 (26.10 to 26.70)', '3')
    """
    if not part.barred:
        return number(part.value)
    value, low, high = spelled(part.value, part.low, part.high)
    return f"{value} ({low} to {high})"


def half_widths(entry: Mapping[str, Any]) -> str:
    """The half-widths of all intervals of an entry, as one number or a range; nothing where there are none."""
    records = [group["release"] for group in entry["groups"]] if "groups" in entry else [entry["release"]]
    found = [part for record in records for part in parts(entry, record) if part.barred]
    return spanned((part.high or 0) / 2 - (part.low or 0) / 2 for part in found)


def spanned(numbers: Any) -> str:
    """One number, or the least to the greatest of several."""
    ends = whole_range(numbers)
    if ends is None:
        return ""
    least, most = (number(end, 3) for end in ends)
    return least if least == most else f"{least} to {most}"


def leaves(thing: Any) -> Iterator[Any]:
    """The numbers in a forecast, which is one number or one for each part."""
    match thing:
        case Mapping():
            for item in thing.values():
                yield from leaves(item)
        case list():
            for item in thing:
                yield from leaves(item)
        case _:
            yield thing


def _number(asked: str, record: Mapping[str, Any], part: NamedNumber) -> str:
    if not part.barred:
        why = f": {record['no_interval']}" if record.get("no_interval") else ""
        return f"{_opened(asked)} is {number(part.value)}; it has no interval{_ended(why)}"
    value, low, high = spelled(part.value, part.low, part.high)
    about = str(record["interval"].get("about") or "the true number")
    comma = "," if "," in about else ""
    return f"{_opened(asked)} is {value}{_with(record)} {about}{comma} lies between {low} and {high}{_noise(record)}."


def _listing(asked: str, record: Mapping[str, Any], found: Sequence[NamedNumber]) -> str:
    shown = [f"{part.name} {in_brackets(part)}" for part in found if not part.aside]
    more = f", and {len(shown) - NAMED} more" if len(shown) > NAMED else ""
    return f"{_capital(asked)}: {', '.join(shown[:NAMED])}{more}{_about(record, plural=True)}."


def _clear_of_zero(record: Mapping[str, Any], found: Sequence[NamedNumber]) -> str:
    barred = [part for part in found if part.barred and not part.aside]
    if not barred or not record["interval"].get("population"):
        return ""
    clear = [part.name for part in barred if (part.low or 0) > 0 or (part.high or 0) < 0]
    if not clear:
        return " All intervals hold 0."
    if len(clear) == len(barred):
        return " No interval holds 0."
    return f" The intervals of {', '.join(clear[:NAMED])}{', ...' if len(clear) > NAMED else ''} leave out 0."


def _tally(asked: str, record: Mapping[str, Any], found: Sequence[NamedNumber]) -> str:
    bins = [part for part in found if not part.aside and part.value is not None]
    if not bins:
        return f"{_capital(asked)}: no bin is shown."
    largest = max(bins, key=lambda part: part.value or 0)
    words = f"{_capital(asked)}: {len(bins)} bins, the largest is {largest.name} with {in_brackets(largest)}"
    return f"{words}{_about(record, plural=True)}."


def _density(asked: str, record: Mapping[str, Any], found: Sequence[NamedNumber]) -> str:
    bins = [part for part in found if not part.aside and part.value is not None]
    if not bins:
        return f"{_capital(asked)}: no bin is shown."
    edges, highest = record["value"]["edges"], max(bins, key=lambda part: part.value or 0)
    across = f"{len(bins)} bins from {number(edges[0])} to {number(edges[-1])}"
    band = f"; the band holds, with {percent(record['interval'])} confidence, {_named(record)}" if kind(record) else ""
    return f"{_capital(asked)}: a density of {across}, highest from {highest.name}{band}."


def _groups(entry: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> str:
    asked, told = _capital(question(entry)), []
    for group in groups[:NAMED]:
        record, called = group["release"], label(group.get("key"))
        found = parts(entry, record)
        refused = record.get("refusal") is not None
        if refused or not found:
            told.append(f"{called} {'refused' if refused else label(record.get('value'))}")
        elif shape_of(record) == "test":
            told.append(f"{called} p {chance(found[0].value or 0)}")
        else:
            told.append(f"{called} {in_brackets(found[0])}" + (", ..." if len(found) > 1 else ""))
    rest = len(groups) - NAMED
    more = f"; and {rest} more group{'s' if rest > 1 else ''}" if rest > 0 else ""
    first: Mapping[str, Any] = next((group["release"] for group in groups if kind(group["release"])), {})
    return f"{asked}: {'; '.join(told) if told else 'no group'}{more}{_about(first, plural=True)}."


def _about(record: Mapping[str, Any], *, plural: bool) -> str:
    if not kind(record):
        return ""
    word = "brackets hold" if plural else "bracket holds"
    return f"; the {word}, with {percent(record['interval'])} confidence, {_named(record)}{_noise(record)}"


def _named(record: Mapping[str, Any]) -> str:
    return str(record["interval"].get("about") or "the true numbers")


def _with(record: Mapping[str, Any]) -> str:
    return f"; with {percent(record['interval'])} confidence"


def _noise(record: Mapping[str, Any]) -> str:
    return "" if record["interval"].get("population") else " (this allows for the privacy noise, not for sampling)"


def _columns(entry: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in entry.get("columns") or []]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _opened(asked: str) -> str:
    """The question as the subject of a sentence."""
    if asked.endswith("?"):
        return f"{_capital(asked)} The answer"
    first = asked.split(" ", 1)[0].lower()
    return _capital(asked) if first in {"the", "a", "an"} else f"The {asked}"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
