"""A report for catalogues of data: DCAT 3 with PROV-O and DPV, in JSON-LD.

It describes the published numbers: what they derive from, which program made them with which promise, and how wide
their intervals are. All terms are of public vocabularies; what these lack is under `discreet:`. Who publishes is ASK.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from discreet.privacy.values import json_text
from discreet.report.record import Report
from discreet.report.registry import ASK

CONTEXT: Final = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "dpv": "https://w3id.org/dpv#",
    "dqv": "http://www.w3.org/ns/dqv#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "discreet": "urn:discreet:terms:",
}
FORMS: Final = {"results.json": "application/json", "results.csv": "text/csv", "report.html": "text/html"}


def dcat(dossier: Mapping[str, Any] | Report) -> str:
    """The description as JSON-LD."""
    return json_text(dcat_record(dossier), 2) + "\n"


def dcat_record(dossier: Mapping[str, Any] | Report) -> dict[str, Any]:
    """The description as plain values."""
    report = Report.of(dossier)
    kept, spent = report.reproducibility, report.budget.this
    receipts = [str(receipt) for receipt in kept.get("receipts") or []]
    promise = {
        "@type": "dpv:DifferentialPrivacy",
        "discreet:epsilon": spent.epsilon,
        "discreet:delta": spent.delta,
        "discreet:unit": report.data.unit,
        "discreet:neighbours": report.data.neighbours,
    }
    activity = {
        "@type": "prov:Activity",
        "prov:used": {"@type": "prov:Entity", "dct:title": report.data.source},
        "prov:endedAtTime": {"@value": report.created, "@type": "xsd:dateTime"},
        "prov:wasAssociatedWith": {
            "@type": "prov:SoftwareAgent",
            "dct:title": f"discreet {kept.get('discreet', '')}".strip(),
        },
        "discreet:mechanism": report.mechanisms,
        "discreet:planSha256": kept.get("plan_sha256"),
        "discreet:receipt": receipts,
    }
    return {
        "@context": CONTEXT,
        "@id": f"urn:uuid:{uuid5(NAMESPACE_URL, ' '.join([report.title, report.created, *receipts]))}",
        "@type": ["dcat:Dataset", "prov:Entity"],
        "dct:title": report.title,
        "dct:description": report.description or "; ".join(entry.asked for entry in report.releases),
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": ASK},
        "dct:issued": {"@value": report.created, "@type": "xsd:dateTime"},
        "dcat:distribution": [
            {"@type": "dcat:Distribution", "dct:title": name, "dcat:mediaType": form} for name, form in FORMS.items()
        ],
        "prov:wasDerivedFrom": activity["prov:used"],
        "prov:wasGeneratedBy": {name: value for name, value in activity.items() if value is not None},
        "dpv:hasTechnicalMeasure": promise,
        "discreet:publishable": all(entry.publishable for entry in report.releases),
        "dqv:hasQualityMeasurement": _measurements(report),
    }


def _measurements(report: Report) -> list[dict[str, Any]]:
    """The interval of every number that has one; `dqv:value` is half its width."""
    found = []
    for entry in report.releases:
        for key, shown in entry.shown():
            for row in shown.numbers:
                if row.barred and row.low is not None and row.high is not None:
                    named = [entry.asked, *([] if key is None else [str(key)]), *([row.name] if row.name else [])]
                    found.append(
                        {
                            "@type": "dqv:QualityMeasurement",
                            "dqv:isMeasurementOf": {"@id": "discreet:halfWidthOfInterval"},
                            "dct:title": ", ".join(named),
                            "dqv:value": (row.high - row.low) / 2,
                            "discreet:low": row.low,
                            "discreet:high": row.high,
                            "discreet:confidence": None if shown.interval is None else shown.interval.confidence,
                            "discreet:covers": "noise" if shown.is_noise else "confidence",
                        }
                    )
    return found
