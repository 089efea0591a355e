"""A report by the layers of NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees (2025).

The guidelines ask of every claim: what is promised, what could undermine the promise, and what lies beneath both. Each
line says what the record of the report shows, or that it does not show it and whom to ask. Nothing else is read.
"""

from typing import Final, NamedTuple

from discreet.privacy.exact import show
from discreet.report.record import Report

TITLE: Final = "By the layers of NIST SP 800-226"
UNKNOWN: Final = "Not in this record: ask the steward of the data"


class Line(NamedTuple):
    """One thing that the guidelines ask for, in which layer, and what the record says of it."""

    layer: str
    asked: str
    said: str


def layers(report: Report) -> tuple[Line, ...]:
    """All lines, from the promise down to the collection of the data."""
    data, budget = report.data, report.budget
    promise, undermine, beneath = "The promise", "What could undermine it", "What lies beneath"
    cost = f"epsilon {show(budget.this.epsilon)}, delta {show(budget.this.delta)} for this report"
    whole = f"the whole budget is epsilon {show(budget.epsilon)}, delta {show(budget.delta)}"
    person = "" if data.person is None else f"; all rows with the same {data.person} are one {data.unit}"
    seeded = sum(not entry.publishable for entry in report.releases)
    noise = (
        f"the noise of {seeded} answers was seeded and can be taken off: not for publication"
        if seeded
        else "noise from the operating system, drawn exactly in whole numbers: no floating-point noise"
    )
    refused = sum(entry.refused for entry in report.releases)
    receipts = report.reproducibility.get("receipts")
    charged = "the ledger was charged before the data were read" if receipts else "no ledger was charged"
    return (
        Line(promise, "Privacy parameters", f"{_sentence(cost)} {_sentence(whole)}"),
        Line(promise, "Unit of privacy", f"{_sentence(f'one {data.unit}{person}')} {_sentence(data.neighbours)}"),
        Line(
            undermine,
            "Algorithms and correctness",
            f"{', '.join(report.mechanisms) or 'None'}; each with its proof at the top of its "
            f"module, and tests that replay it on neighbours. discreet {report.reproducibility.get('discreet', '')}.",
        ),
        Line(undermine, "Composition", _sentence(budget.composition) if budget.composition else f"{UNKNOWN}."),
        Line(
            undermine,
            "Utility and bias",
            "Every number has an interval that says what it covers, or was refused"
            + (f" ({refused} of {len(report.releases)})" if refused else "")
            + ". Small groups have wider intervals. Who is missing from the data is not shown by any of them.",
        ),
        Line(
            undermine,
            "Query model and trust",
            "The central model: whoever ran the program read the data. Readers see this report, and ask nothing.",
        ),
        Line(
            undermine, "Side channels", f"{_sentence(noise)} The time that a question took is not part of the promise."
        ),
        Line(
            undermine,
            "Security and access control",
            f"{_sentence(charged)} {UNKNOWN}, who can read the data, the ledger and its key.",
        ),
        Line(
            beneath,
            "Data collection",
            f"{_sentence(data.source)} {UNKNOWN}, how it was collected, and with what consent.",
        ),
    )


def _sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
