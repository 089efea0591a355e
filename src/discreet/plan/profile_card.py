"""A profile as a value: its table of columns as text, and as a card for notebooks."""

from dataclasses import dataclass
from html import escape
from typing import Any, Final

from discreet.privacy.exact import show
from discreet.privacy.intervals import aligned
from discreet.report import Report
from discreet.report.overview import profile_columns

UNRECORDED: Final = (
    "This profile is in no ledger: a second one costs as much again, and nothing adds the two up. Give a ledger and a "
    "population to record it."
)
TITLES: Final = ("column", "kind", "missing", "quartiles or categories, with 95% intervals")


@dataclass(frozen=True, slots=True)
class Profile:
    """A private profile of a table: the report of all its releases."""

    report: dict[str, Any]

    @property
    def recorded(self) -> bool:
        """Whether a ledger was charged for it."""
        return bool(self.report["reproducibility"]["receipts"])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: what a report is made of."""
        return dict(self.report)

    def _head(self) -> str:
        spent, first = self.report["budget"]["this"], self.report["releases"][0]["release"]["value"]
        many = f"about {first:,} {self.report['data']['unit_plural']}"
        cost = f"epsilon {show(spent['epsilon'])}, delta {show(spent['delta'])}"
        return f"{self.report['title']}: {many}, at {cost}: {self.report['data']['neighbours']}"

    def _rows(self) -> list[tuple[str, ...]]:
        return [(one.name, one.kind, one.missing, one.told()) for one in profile_columns(Report.of(self.report))]

    def __str__(self) -> str:
        *named, last = zip(*(TITLES, *self._rows()), strict=True)
        lines = [
            f"{left}  {told}".rstrip() for left, told in zip(aligned(list(zip(*named, strict=True))), last, strict=True)
        ]
        return "\n".join([self._head(), *lines, *([] if self.recorded else [UNRECORDED])])

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        cells = ["".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) for row in self._rows()]
        titles = "".join(f"<th style='text-align:left'>{escape(title)}</th>" for title in TITLES)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        note = "" if self.recorded else f"<p>{escape(UNRECORDED)}</p>"
        return (
            f"<div style='font-family:sans-serif'><b>{escape(self._head())}</b>"
            f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{note}</div>"
        )
