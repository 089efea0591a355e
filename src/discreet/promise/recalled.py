"""A release as it was stored: plain values, its interval as it was written, nothing drawn again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import BadInput, Refused
from discreet.promise.guarantee import Guarantee
from discreet.promise.neighbours import Neighbours
from discreet.promise.provenance import Provenance
from discreet.promise.release import Release
from discreet.promise.spread import Interval


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

    >>> from discreet.promise.provenance import Provenance
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
                tuple(history["notes"]),
                history["receipt"],
                history["versions"],
            ),
            record["value"],
            record["refusal"],
            None
            if bar is None
            else StoredSpread(
                Interval(bar["low"], bar["high"], bar["confidence"], bar["about"], bar["population"]),
                spread.get("sampling"),
                spread.get("privacy"),
            ),
            record["name"],
        )
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BadInput("this is not a release that Release.to_dict has written") from None
