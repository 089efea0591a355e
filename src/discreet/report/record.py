"""The stored form of a report: a strict model, versioned, its JSON, and its numbers as CSV.

A field that is missing, unknown or of another type is refused, and so is a value that none of ours could be. No
spreadsheet executes a cell of the CSV ([errors.1]).
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NoReturn

from pydantic import model_validator

from discreet.errors import BadInput, safe
from discreet.privacy.guarantee import plural
from discreet.privacy.intervals import Shown
from discreet.privacy.release import Release
from discreet.privacy.stored import Amounts, Plain, StoredGroup, StoredRelease, Strict, Text, checked
from discreet.privacy.values import Scalar, json_text, label

FORMATS: Final = ("discreet report 1", "discreet report 2")  # the second says of each value which kind it is
DEEPEST: Final = 40
WRITTEN: Final = "a report that to_json has written"


class ReportData(Strict):
    """Where the rows came from."""

    source: Text
    population: Text
    unit: Text
    person: Text | None
    neighbours: Text
    rows: int | None
    as_of: Text | None = None
    unit_plural: Text | None = None

    @property
    def units(self) -> str:
        """More than one of them."""
        return self.unit_plural or plural(self.unit)


class ReportWhole(Amounts):
    """The budget of all people of a population, of which an analyst has a part."""

    population: Text
    left: Amounts | None


class ReportBudget(Amounts):
    """What there was, what was spent, what is left; of an analyst's part, `whole` is the population's."""

    spent_before: Amounts | None
    this: Amounts
    left: Amounts | None
    composition: Text
    analyst: Text | None = None
    whole: ReportWhole | None = None


class ReportMethod(Strict):
    """How it was done."""

    name: Text
    text: Text


class ReportEntry(Strict):
    """What was asked, and the release or one for each group; `about` and `kind` are those of a profile."""

    id: Text
    question: Text
    statistic: Text
    columns: list[Text]
    where: Text | None
    by: Text | None
    options: Plain
    forecast: Plain | None
    about: Text | None = None
    kind: Text | None = None
    digest: Text | None = None
    release: StoredRelease | None = None
    groups: list[StoredGroup] | None = None

    @model_validator(mode="after")
    def _one_or_groups(self) -> "ReportEntry":
        if (self.release is None) == (self.groups is None):
            raise ValueError("an entry needs either a release or groups")
        return self

    @property
    def keyed(self) -> list[tuple[Any, Release[Any]]]:
        """Its releases by group; one without a key where there are no groups."""
        if self.release is not None:
            return [(None, self.release.release)]
        return [(group.key, group.release.release) for group in self.groups or []]

    def shown(self) -> list[tuple[Any, Shown]]:
        """What there is to show of each, named by the entry's columns."""
        return [(key, release.named(self.columns).shown()) for key, release in self.keyed]

    @property
    def publishable(self) -> bool:
        """Whether all of its noise was secret."""
        return all(release.provenance.publishable for _, release in self.keyed)

    @property
    def refused(self) -> bool:
        """Whether no answer was given at all."""
        return bool(self.keyed) and all(release.refusal is not None for _, release in self.keyed)

    @property
    def asked(self) -> str:
        """What was asked, on one line."""
        asked = " ".join(self.question.split()).rstrip(".")
        return asked or " of ".join(filter(None, [self.statistic or "answer", ", ".join(self.columns)]))


class Report(Strict):
    """Everything that a page, a table or an auditor needs, and nothing of the data."""

    format: Literal["discreet report 1", "discreet report 2"]
    title: Text
    description: Text | None
    created: Text
    data: ReportData
    budget: ReportBudget
    releases: list[ReportEntry]
    meaning: list[Text]
    methods: list[ReportMethod]
    assumptions: list[Text]
    reproducibility: Plain

    @property
    def mechanisms(self) -> list[str]:
        """What answered, each once, by the name in the records."""
        return [*dict.fromkeys(one.provenance.mechanism for entry in self.releases for _, one in entry.keyed)]

    @classmethod
    def of(cls, dossier: "Mapping[str, Any] | Report") -> "Report":
        """The report that a record holds; BadInput with the place that does not fit."""
        if isinstance(dossier, Report):
            return dossier
        if not isinstance(dossier, Mapping):
            raise BadInput(f"a report is an object, and this is of type {type(dossier).__name__}; give {WRITTEN}")
        if dossier.get("format") not in FORMATS:
            seen = str(dossier.get("format"))[:40]
            raise BadInput(f"the format is {seen!r}; this version of discreet reads {' and '.join(FORMATS)}")
        _plain(dossier)
        return checked(cls, dict(dossier), WRITTEN)


def entry_of(entry: "Mapping[str, Any] | ReportEntry") -> ReportEntry:
    """One entry of a report."""
    return entry if isinstance(entry, ReportEntry) else checked(ReportEntry, entry, "an entry of a report")


def to_json(dossier: Mapping[str, Any] | Report) -> str:
    """The report as JSON: keys in the order that they have, and no number that JSON lacks."""
    found = Report.of(dossier).model_dump(exclude_unset=True)
    try:
        return json_text(found, 2) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"the report holds what JSON has no form for ({error}); give plain values only") from None


def from_json(text: str | bytes) -> Report:
    """The report that `to_json` wrote; anything else is refused."""
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadInput(f"this is not the JSON of a report: {error}; give {WRITTEN}") from None
    return Report.of(found)


def _plain(dossier: Any) -> None:
    """Keys are texts, and nothing is nested so deep that the interpreter would give up."""
    level = [dossier]
    for _ in range(DEEPEST):
        if not all(isinstance(key, str) for thing in level if isinstance(thing, Mapping) for key in thing):
            raise BadInput("the report has a key that is not a text; give plain values only")
        inside = [inner for thing in level for inner in (thing.values() if isinstance(thing, Mapping) else thing)]
        level = [inner for inner in inside if isinstance(inner, Mapping | list | tuple)]
        if not level:
            return
    raise BadInput(f"the report is nested deeper than {DEEPEST}; give {WRITTEN}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


COLUMNS: Final = (
    *("id", "question", "statistic", "group", "component", "value", "low", "high", "confidence", "interval"),
    *("epsilon", "delta", "publishable", "refusal"),
)


def to_csv(dossier: Mapping[str, Any] | Report) -> str:
    """One row for each released number, as RFC 4180 has it; a refusal is a row without a number."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for entry in Report.of(dossier).releases:
        for (key, release), (_, shown) in zip(entry.keyed, entry.shown(), strict=True):
            group = None if entry.groups is None else label(key)
            table.writerows(map(safe, cells) for cells in _rows(entry, group, release, shown))
    return file.getvalue()


def _rows(entry: ReportEntry, group: str | None, release: Release[Any], shown: Shown) -> Iterator[list[Any]]:
    asked = [entry.id, entry.question, entry.statistic, group]
    costs = (float(release.guarantee.epsilon), float(release.guarantee.delta))
    promise = [*costs, "yes" if release.provenance.publishable else "no", release.refusal]
    bar = [] if shown.interval is None else [shown.interval.confidence, "noise" if shown.is_noise else "confidence"]
    for row in shown.numbers:
        yield [*asked, row.name, row.value, *([row.low, row.high, *bar] if row.barred else [None] * 4), *promise]
    if not shown.numbers:
        text = label(shown.value.value) if isinstance(shown.value, Scalar) else None
        yield [*asked, None, text, *([*shown.interval, *bar] if shown.interval is not None else [None] * 4), *promise]
