"""A release: an answer or a refusal, with its guarantee, its error bar and its history."""

import json
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from html import escape
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.errors import Refused, printable
from discreet.privacy.exact import show
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import Interval, Spread, check_confidence
from discreet.privacy.provenance import Provenance
from discreet.privacy.safe_text import clean

T = TypeVar("T")
S = TypeVar("S")

UNPUBLISHABLE = "not for publication: the noise was seeded and can be subtracted"


@dataclass(frozen=True, slots=True)
class Release(Generic[T]):
    """What left the data. Everything on it may be published (unless it says that its noise was seeded).

    `value` is the answer, or raises `Refused`; `interval` is its error bar; `map` is post-processing.
    """

    guarantee: Guarantee
    provenance: Provenance
    answer: T | None = None
    _: KW_ONLY
    refusal: str | None = None
    spread: Spread | None = None
    name: str = "the answer"

    @property
    def value(self) -> T:
        """The answer; raises `Refused` with the reason if there is none."""
        if self.refusal is not None:
            raise Refused(self.refusal)
        return self.answer  # type: ignore[return-value]

    def interval(self, confidence: float = 0.95) -> Interval:
        """The error bar at this confidence: sampling and privacy together where the target is a population."""
        confidence = check_confidence(confidence)
        if self.refusal is not None:
            raise Refused(self.refusal)
        if self.spread is None:
            raise Refused(
                f"{self.name} has no valid interval; map() keeps one only for monotone functions (monotone=True)"
            )
        return self.spread.interval(confidence)

    def map(self, function: Callable[[T], S], *, monotone: bool = False) -> "Release[S]":
        """Post-processing: no further cost. The interval survives only if `function` is declared monotone."""
        if self.refusal is not None:
            return replace(self, answer=None)  # type: ignore[return-value]
        spread = Mapped(self.spread, function) if monotone and self.spread is not None else None
        return replace(self, answer=function(self.value), spread=spread)  # type: ignore[return-value, arg-type]

    def signed(self, receipt: str) -> "Release[T]":
        """The same release with the ledger's receipt."""
        return replace(self, provenance=replace(self.provenance, receipt=receipt))

    def _bar(self, confidence: float | None) -> "Interval | str | None":
        """The error bar at this confidence, at the declared or the usual one if it is None; or why there is none."""
        if self.refusal is not None or self.spread is None:
            return None
        try:
            usual: float = getattr(self.spread, "confidence", 0.95)
            return self.interval(usual if confidence is None else confidence)
        except Refused as reason:
            return str(reason)

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """Plain values: what `to_json` writes."""
        bar = self._bar(confidence)
        record: dict[str, Any] = {
            "name": self.name,
            "value": plain(self.answer),
            "refusal": self.refusal,
            "interval": None,
            "guarantee": plain(self.guarantee) | {"sentence": str(self.guarantee)},
            "publishable": self.provenance.publishable,
            "provenance": plain(self.provenance),
        }
        if isinstance(bar, Interval):
            record["interval"] = plain(bar) | {"name": bar.name}
        elif bar is not None:
            record["no_interval"] = bar
        if self.spread is not None:
            record["spread"] = {
                "sampling": plain(self.spread.sampling),
                "privacy": plain(self.spread.privacy),
            }
        return record

    def to_json(self, confidence: float | None = None, *, indent: int | None = 2) -> str:
        """The release as JSON, with its provenance."""
        text = json.dumps(self.to_dict(confidence), indent=indent, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair, as JSON writes it

    def summary(self, confidence: float = 0.95) -> str:
        """Named coefficients as a table: estimate, standard error with the noise in it, p-value, interval."""
        from discreet.privacy.summary import table

        return printable(table(self, check_confidence(confidence)))

    def plot(self, confidence: float = 0.95, *, ax: Any = None) -> Any:
        """Draw the answer with its interval (needs matplotlib, the extra `plot`); returns the axes."""
        from discreet.privacy.picture import draw

        return draw(self, check_confidence(confidence), ax)

    def __str__(self) -> str:
        return printable("\n".join(self._lines()))

    def _lines(self) -> list[str]:
        if self.refusal is not None:
            lines = [f"{clean(self.name)}: refused. {self.refusal}"]
        else:
            lines = [f"{clean(self.name)}: {brief(self.answer)}"]
            bar = self._bar(None)
            if isinstance(bar, Interval):
                lines.append(f"  {bar.name} for {bar.about}: {brief_range(bar)}")
            elif bar is not None:
                lines.append(f"  {bar}")
            if self.spread is not None:
                parts = [
                    f"{word} {brief(size)}"
                    for word, size in (("sampling", self.spread.sampling), ("privacy", self.spread.privacy))
                    if size is not None
                ]
                lines += [f"  standard deviation: {', '.join(parts)}"] if parts else []
        lines.append(f"  {self.guarantee}")
        lines += [f"  note: {note}" for note in self.provenance.notes]
        if not self.provenance.publishable:
            lines.append(f"  {UNPUBLISHABLE.upper()}")
        return lines

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        return card(self._lines())


def card(lines: list[str]) -> str:
    """Lines as a card for notebooks, the first as its head."""
    head, *rest = lines
    items = "".join(f"<div style='color:#555'>{escape(line.strip())}</div>" for line in rest)
    return (
        "<div style='border:1px solid #ccc;border-radius:6px;padding:.6em 1em;display:inline-block;"
        "font-family:sans-serif'>"
        f"<div style='font-weight:600;white-space:pre-wrap'>{escape(head)}</div>{items}</div>"
    )


@dataclass(frozen=True, slots=True)
class Mapped:
    """The spread of a monotone function of a release: the ends of the interval are mapped."""

    inner: Spread
    function: Callable[[Any], Any]
    sampling: None = None
    privacy: None = None

    @property
    def confidence(self) -> float:
        """The declared confidence, or the usual one."""
        return float(getattr(self.inner, "confidence", 0.95))

    def interval(self, confidence: float) -> Interval:
        """Both ends mapped, in order."""
        inner = self.inner.interval(confidence)
        try:
            first, second = self.function(inner.low), self.function(inner.high)
            low, high = (first, second) if np.all(first <= second) else (second, first)
        except Exception:  # noqa: BLE001  log at 0, say: the answer stands, its error bar does not
            raise Refused("no interval: the function has no value, or none to compare, at one of its ends") from None
        return replace(inner, low=low, high=high, about=f"a function of {inner.about}")


def plain(thing: Any) -> Any:
    """Values as JSON knows them; numbers that JSON lacks become null."""
    match thing:
        case None | bool() | int() | str():
            return thing
        case Enum():
            return thing.value
        case Fraction():
            return float(thing)
        case float():
            return thing if abs(thing) < float("inf") else None
        case range() | bytes():
            return repr(thing)
        case Mapping():
            return {str(key): plain(value) for key, value in thing.items()}
        case list() | tuple():
            return [plain(item) for item in thing]
    if hasattr(thing, "tolist"):
        return plain(thing.tolist())
    if is_dataclass(thing) and not isinstance(thing, type):
        return {field.name: plain(getattr(thing, field.name)) for field in fields(thing)}
    return str(thing)


def brief(thing: Any) -> str:
    """A value in a line for people."""
    if isinstance(thing, float | Fraction):
        return show(thing)
    if isinstance(thing, Mapping):
        shown = [f"{name} {brief(item)}" for name, item in list(thing.items())[:6]]
        return f"{', '.join(shown)}{', ...' if len(thing) > 6 else ''}"
    if hasattr(thing, "tolist") and getattr(thing, "ndim", None):
        flat = [brief(item) for item in thing.ravel().tolist()[:6]]
        return f"[{', '.join(flat)}{', ...' if thing.size > 6 else ''}]"
    if hasattr(thing, "tolist"):
        return brief(thing.tolist())
    return str(thing)


def brief_range(interval: Interval) -> str:
    """Both ends in a line."""
    if hasattr(interval.low, "coef"):
        each = zip(interval.low.names, interval.low.coef, interval.high.coef, strict=True)
        return brief({name: f"[{brief(float(low))}, {brief(float(high))}]" for name, low, high in each})
    if isinstance(interval.low, Mapping):
        ends = {name: f"[{brief(low)}, {brief(interval.high[name])}]" for name, low in interval.low.items()}
        return brief(ends)
    if hasattr(interval.low, "heights"):
        half = np.max(interval.high.heights - interval.low.heights, initial=0.0) / 2
        return f"within {show(float(half))} at the widest"
    if getattr(interval.low, "ndim", 0):
        return f"from {brief(interval.low)} to {brief(interval.high)}"
    return f"[{brief(interval.low)}, {brief(interval.high)}]"
