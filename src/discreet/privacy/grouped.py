"""One answer for each group of people, all for the price of one.

A release as it was stored: plain values, its interval as it was written, nothing drawn again.

Promise
    [grouped.1] If every person is in at most one group, and each group's answer is (epsilon, delta) when one person is
          added to it or removed, then all answers together are (epsilon, delta) when one person is added or removed.

Why
    [grouped.1] The person's group changes by one person, every other is the same: the joint law is a product of laws
    that are equal in all factors but one.

Source
    McSherry 2009 (parallel composition).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from discreet.errors import BadInput, Refused, printable
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, check_confidence
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.provenance import Provenance
from discreet.privacy.release import Release, card, plain
from discreet.privacy.safe_text import clean


@dataclass(frozen=True, slots=True)
class Groups(Mapping[Any, Release[Any]]):
    """The releases by group; `by` is the column that says who is in which."""

    by: str
    guarantee: Guarantee  # of all answers together [grouped.1]
    _: KW_ONLY
    releases: tuple[tuple[Any, Release[Any]], ...]
    name: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, key: Any) -> Release[Any]:
        for known, release in self.releases:
            if known == key and type(known) is type(key):
                return release
        raise BadInput(f"there is no group {key!r}; there are {', '.join(repr(known) for known, _ in self.releases)}")

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    @property
    def refusal(self) -> str | None:
        """Why there is no answer at all, if there is none."""
        if not self.releases:
            return f"no group by {self.by} is large enough to be shown"
        refused = [release.refusal for _, release in self.releases]
        return refused[0] if all(refused) else None

    def signed(self, receipt: str) -> "Groups":
        """The same, with the ledger's receipt on each."""
        marked = tuple((key, release.signed(receipt)) for key, release in self.releases)
        return Groups(self.by, self.guarantee, releases=marked, name=self.name, notes=self.notes)

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "by": self.by,
            "guarantee": plain(self.guarantee) | {"sentence": str(self.guarantee)},
            "notes": list(self.notes),
            "groups": [{"key": plain(key), "release": release.to_dict(confidence)} for key, release in self.releases],
        }

    def to_json(self, confidence: float | None = None, *, indent: int | None = 2) -> str:
        """As JSON."""
        text = json.dumps(self.to_dict(confidence), indent=indent, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace").decode()

    def plot(self, confidence: float = 0.95, *, ax: Any = None) -> Any:
        """Draw one number for each group, with its interval (needs the extra `plot`); returns the axes."""
        from discreet.privacy.picture import draw_groups

        return draw_groups(self, check_confidence(confidence), ax)

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        return card(str(self).splitlines())

    def __str__(self) -> str:
        lines = [f"{self.name}:"]
        for key, release in self.releases:
            answer, *rest = str(release).splitlines()
            shown = answer.removeprefix(f"{clean(release.name)}: ")
            bar = [line.strip() for line in rest if " interval " in line]
            lines.append(f"  {clean(str(key))}: {shown}" + (f" ({bar[0]})" if bar else ""))
        return printable("\n".join([*lines, f"  {self.guarantee}", *(f"  note: {note}" for note in self.notes)]))


def recalled_groups(record: Mapping[str, Any]) -> Groups:
    """The groups that `Groups.to_dict` wrote."""
    try:
        pairs = tuple((item["key"], recalled(item["release"])) for item in record["groups"])
        guarantee = recalled_guarantee(record["guarantee"])
        return Groups(record["by"], guarantee, releases=pairs, name=record["name"], notes=tuple(record["notes"]))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BadInput("these are not groups that Groups.to_dict has written") from None


@dataclass(frozen=True, slots=True)
class StoredSpread:
    """The one interval that was stored."""

    stored: Interval
    sampling: Any = None
    privacy: Any = None

    @property
    def confidence(self) -> float:
        """That of the interval."""
        return self.stored.confidence

    def interval(self, confidence: float) -> Interval:
        """The stored interval; another was not stored, and is not drawn again."""
        if confidence != self.stored.confidence:
            raise Refused(f"this answer was stored with its {self.stored.name}; ask for interval({self.confidence:g})")
        return self.stored


def recalled_guarantee(record: Mapping[str, Any]) -> Guarantee:
    """The promise that was stored."""
    return Guarantee(record["epsilon"], record["delta"], Neighbours(record["neighbours"]), record["unit"])


def recalled(record: Mapping[str, Any]) -> Release[Any]:
    """The release that `Release.to_dict` wrote, with lists and dictionaries in place of arrays and values.

    >>> from discreet.privacy.provenance import Provenance
    >>> release = Release(Guarantee(1.0), Provenance("Count", {}, True), answer=3, name="count")
    >>> recalled(release.to_dict()).value
    3
    """
    try:
        history, bar = record["provenance"], record["interval"]
        spread = record.get("spread") or {}
        return Release(
            recalled_guarantee(record["guarantee"]),
            Provenance(
                history["mechanism"],
                history["parameters"],
                history["secure"],
                notes=tuple(history["notes"]),
                receipt=history["receipt"],
                versions=history["versions"],
            ),
            record["value"],
            refusal=record["refusal"],
            spread=None
            if bar is None
            else StoredSpread(
                Interval(
                    bar["low"],
                    bar["high"],
                    confidence=bar["confidence"],
                    about=bar["about"],
                    population=bar["population"],
                ),
                spread.get("sampling"),
                spread.get("privacy"),
            ),
            name=record["name"],
        )
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BadInput("this is not a release that Release.to_dict has written") from None
