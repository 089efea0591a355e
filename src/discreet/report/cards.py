"""One card for each question: the answer in words, its picture, its promise, and what was forecast."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from discreet.report.draw import text
from discreet.report.numbers import number
from discreet.report.parts import NamedNumber, label, shape_of
from discreet.report.pictures import group_rows, grouped, pictured
from discreet.report.sentences import LEVEL, SEEDED, answer, half_widths, leaves, question, sentence, spanned
from discreet.report.sheet import numbers

MOST: Final = 30


def card(entry: Mapping[str, Any], place: int) -> str:
    """The card of one entry, the `place`-th of the page."""
    asked = question(entry)
    kind = "card refused" if refused(entry) else "card"
    warning = "" if publishable(entry) else '<p class="warn">NOT FOR PUBLICATION: seeded noise</p>'
    body = _groups(entry, asked) if "groups" in entry else _single(entry, asked)
    return (
        f'<article class="{kind}" id="answer-{place}" aria-labelledby="asked-{place}">'
        f'<h3 id="asked-{place}">{text(asked[:1].upper() + asked[1:])}</h3>{warning}{body}{_facts(entry)}'
        f"{_guarantee(entry)}{_notes(entry)}</article>\n"
    )


def refused(entry: Mapping[str, Any]) -> bool:
    """Whether no answer was given at all."""
    return bool(_records(entry)) and all(record["refusal"] is not None for record in _records(entry))


def publishable(entry: Mapping[str, Any]) -> bool:
    """Whether all of its noise was secret."""
    return all(record["publishable"] for record in _records(entry))


def _single(entry: Mapping[str, Any], asked: str) -> str:
    record = entry["release"]
    if record["refusal"] is not None:
        reason = f'<p class="refusal">{text(record["refusal"])}</p>'
        return f'<p class="answer"><strong>No answer was given.</strong></p>{reason}'
    return f'<p class="answer">{text(answer(entry, record))}</p>{pictured(entry, record, asked)}'


def _groups(entry: Mapping[str, Any], asked: str) -> str:
    groups: Sequence[Mapping[str, Any]] = entry["groups"]
    told = sentence(entry).removesuffix(f" {SEEDED}")
    rows = group_rows(entry, groups)
    if rows is None:
        each = "".join(
            f"<h4>{text(label(group['key']))}</h4>{_single({**entry, **group}, asked)}" for group in groups[:MOST]
        )
        more = f'<p class="soft">{number(len(groups) - MOST)} more are in the CSV.</p>' if len(groups) > MOST else ""
        return each + more
    drawn = grouped(groups, rows, asked)
    head = str(entry.get("by") or "group")
    listed = [(row, _remark(group["release"], row)) for row, group in zip(rows, groups, strict=True)]
    reasons = "".join(
        f'<p class="refusal"><strong>{text(row.name)}:</strong> {text(group["release"]["refusal"])}</p>'
        for row, group in list(zip(rows, groups, strict=True))[:MOST]
        if group["release"]["refusal"] is not None
    )
    return f'<p class="answer">{text(told)}</p>{drawn}{numbers(head, listed, asked)}{reasons}'


def _remark(record: Mapping[str, Any], row: NamedNumber) -> str:
    if record["refusal"] is not None:
        return "refused"
    if shape_of(record) == "test" and row.value is not None:
        return "p-value, rejected at 5%" if row.value <= LEVEL else "p-value, not rejected at 5%"
    return ""


def _facts(entry: Mapping[str, Any]) -> str:
    """What was forecast beside what was achieved, and who answered."""
    rows = []
    forecast = entry["forecast"] or {}
    planned, achieved = spanned(leaves(forecast.get("half_width"))), half_widths(entry)
    if planned:
        rows.append(("Half-width", f"forecast ±{planned}; achieved {f'±{achieved}' if achieved else 'none'}"))
    error = spanned(leaves(forecast.get("error")))
    if error:
        rows.append(("Expected error", error))
    for name, key in (("Only where", "where"), ("For each", "by")):
        if entry[key]:
            rows.append((name, entry[key]))
    mechanisms = dict.fromkeys(str(record["provenance"].get("mechanism", "")) for record in _records(entry))
    if any(mechanisms):
        rows.append(("Mechanism", ", ".join(filter(None, mechanisms))))
    receipts = [str(record["provenance"].get("receipt") or "") for record in _records(entry)]
    if any(receipts):
        rows.append(("Receipt", ", ".join(dict.fromkeys(filter(None, receipts)))))
    cells = "".join(f"<dt>{text(name)}</dt><dd>{text(said)}</dd>" for name, said in rows)
    return f"<dl>{cells}</dl>" if cells else ""


def _guarantee(entry: Mapping[str, Any]) -> str:
    """Each sentence once: groups share theirs."""
    told = dict.fromkeys(_promise(record["guarantee"]) for record in _records(entry))
    return "".join(f'<p class="guarantee"><strong>Privacy:</strong> {text(said)}</p>' for said in list(told)[:MOST])


def _promise(guarantee: Mapping[str, Any]) -> str:
    told = guarantee.get("sentence")
    return str(told) if told else f"epsilon {number(guarantee['epsilon'])}, delta {number(guarantee['delta'])}"


def _notes(entry: Mapping[str, Any]) -> str:
    notes = [str(note) for record in _records(entry) for note in record["provenance"].get("notes", [])]
    listed = list(dict.fromkeys(notes))[:MOST]
    return f'<ul class="notes">{"".join(f"<li>{text(note)}</li>" for note in listed)}</ul>' if listed else ""


def _records(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [group["release"] for group in entry["groups"]] if "groups" in entry else [entry["release"]]
