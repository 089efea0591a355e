"""A draft for the registry of differential privacy deployments (OpenDP), in YAML, by its schema of 2026.

What the record of a report knows is filled in. What only the steward knows is marked ASK, never invented; what the
schema does not require and nobody has said is left out. A report whose noise was seeded is no deployment: refused.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from discreet.errors import BadInput
from discreet.privacy.exact import show
from discreet.privacy.stored import Amounts
from discreet.report.record import Report

ASK: Final = "ASK"
Curator = Literal["Government", "Industry", "Nonprofit"]


def registry(dossier: Mapping[str, Any] | Report, curator: Curator) -> str:
    """The draft as YAML; `curator` is what kind of body publishes it, for which the schema has no "unknown"."""
    return "".join(_yaml(registry_record(dossier, curator)))


def registry_record(dossier: Mapping[str, Any] | Report, curator: Curator) -> dict[str, Any]:
    """The draft as plain values."""
    report = Report.of(dossier)
    if not all(entry.publishable for entry in report.releases):
        raise BadInput("the noise of this report was seeded and can be taken off; register what was really published")
    data, budget = report.data, report.budget
    asked = "; ".join(entry.asked for entry in report.releases)
    delta = {"delta": budget.this.delta} if budget.this.delta else {}
    counted = {} if data.rows is None else {"number_of_privacy_units": data.rows}
    present = data.neighbours.endswith("added or removed")
    many = bool((budget.left and budget.left.epsilon) or (budget.spent_before and budget.spent_before.epsilon))
    refused = sum(entry.refused for entry in report.releases)
    deployment = {
        "basic": {
            "name": report.title,
            "data_curators": [{"data_curator_name": ASK, "data_curator_type": curator}],
            "description": report.description or asked,
            "intended_use": ASK,
            "data_product_type": "Summary statistics",
            "data_product_region": ASK,
            "publication_date": report.created[:10],
        },
        "dp_variant": {
            "variant_name": "Approximate DP" if delta else "Pure DP",
            "data_domain": f"All tables of {data.units} with the declared columns, whatever their values.",
            "unprotected_quantities": "None." if present else f"The number of {data.units}.",
        },
        "privacy_loss": {
            "privacy_unit": data.unit,
            "privacy_unit_details": f"Two tables are adjacent if {data.neighbours}.",
            **counted,
            "privacy_parameters": {"epsilon": budget.this.epsilon, **delta},
            "privacy_parameters_details": (
                f"For this release. The whole budget of the population is {_amounts(budget)}; spent before: "
                f"{_amounts(budget.spent_before)}; left: {_amounts(budget.left)}."
            ),
        },
        "deployment_model": {
            "model_name": "Central",
            "trust_assumptions": ASK,
            "actors": ASK,
            "release_type": "Many releases" if many else "One release",
            "release_type_details": "Every release is charged to one budget before data is read; it is not renewed.",
            "access_type": "Non-interactive",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": ASK,
            "mechanisms": "\n".join(
                [
                    *(f"- {method.name}: {method.text}" for method in report.methods),
                    f"- Library: discreet {report.reproducibility.get('discreet', '')}.",
                    "- Floating point: noise is drawn exactly, in whole numbers of a public grid.",
                    "- Security of the underlying data: ASK.",
                ]
            ),
            "composition": budget.composition or ASK,
            "post_processing": "Intervals, and rounding to the range that a statistic can have.",
            "justification": ASK,
            "utility": f"Every number has an interval; {refused} of {len(report.releases)} questions were refused.",
            "additional_information": _repeat(report),
        },
        "administrative": {"status": "Draft", "registry_authors": [ASK], "tier": 3},
    }
    return {"url_slug": _slug(f"{report.title} {report.created[:4]}"), "deployment": deployment}


def _repeat(report: Report) -> str:
    kept = report.reproducibility
    receipts = ", ".join(map(str, kept.get("receipts") or [])) or "none"
    return f"Plan, SHA-256: {kept.get('plan_sha256') or 'none'}. Receipts: {receipts}."


def _amounts(amount: Amounts | None) -> str:
    return "not counted so" if amount is None else f"epsilon {show(amount.epsilon)}, delta {show(amount.delta)}"


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))[:80] or "report"


def _yaml(thing: Any, indent: int = 0) -> list[str]:
    """Plain values as YAML: blocks, with every text quoted as JSON quotes it, which YAML reads."""
    pad, lines = "  " * indent, []
    pairs = thing.items() if isinstance(thing, Mapping) else ((None, item) for item in thing)
    for key, item in pairs:
        head = f"{pad}-" if key is None else f"{pad}{key}:"
        nested = isinstance(item, Mapping) or (isinstance(item, Sequence) and not isinstance(item, str))
        lines += [f"{head}\n", *_yaml(item, indent + 1)] if nested else [f"{head} {_scalar(item)}\n"]
    return lines


def _scalar(item: Any) -> str:
    """A number that YAML 1.1 reads as one, with a point before the exponent; a text in ASCII, as YAML escapes it."""
    if not isinstance(item, str):
        return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(item))
    marks = json.dumps(item, ensure_ascii=False)
    return "".join(
        mark if mark < "\x7f" else f"\\u{ord(mark):04x}" if mark <= "\uffff" else f"\\U{ord(mark):08x}"
        for mark in marks
    )
