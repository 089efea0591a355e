"""A release: an answer or a refusal, with its guarantee, its error bar and its history; alone, or one for each group.

Promise
    [release.1] If every person is in at most one group, and each group's answer is (epsilon, delta) when one person is
          added to it or removed, then all answers together are (epsilon, delta) when one person is added or removed.

Why
    [release.1] The person's group changes by one person, every other is the same: the joint distribution is a product
    of distributions that are equal in all factors but one.

Source
    McSherry 2009 (parallel composition).
"""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.errors import BadInput, Refused, clean, printable
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.intervals import (
    Interval,
    Mapped,
    Shown,
    Spread,
    aligned,
    check_confidence,
    coefficient_table,
    coefficients,
    columns_of,
    few,
    numbers_of,
)
from discreet.privacy.value_arrays import frame, listed
from discreet.privacy.values import Array, Scalar, Value, error_of, json_text, label, plain, stored, value_of
from discreet.version import __version__

T = TypeVar("T")
S = TypeVar("S")

UNPUBLISHABLE = "not for publication: the noise was seeded and can be subtracted"


@cache
def versions() -> Mapping[str, str]:
    """The versions of what drew the noise."""
    found = {"discreet": __version__, "python": platform.python_version()}
    for package in ("numpy", "opendp"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return MappingProxyType(found)


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a release came about: its mechanism by name, public parameters, and whether the noise was secret."""

    mechanism: str
    parameters: Mapping[str, Any]
    secure: bool
    _: KW_ONLY
    notes: tuple[str, ...] = ()
    receipt: str | None = None
    versions: Mapping[str, str] = field(default_factory=versions)

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickles, which cannot hold read-only mappings."""
        made = partial(type(self), notes=self.notes, receipt=self.receipt, versions=dict(self.versions))
        return made, (self.mechanism, dict(self.parameters), self.secure)

    @property
    def publishable(self) -> bool:
        """Seeded noise can be subtracted again: such a release is for tests, never for publication."""
        return self.secure


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
        bar = self.spread.interval(confidence)
        if isinstance(self.answer, Array) and isinstance(bar.low, np.ndarray):  # named as the value is
            return replace(bar, low=self.answer.with_cells(bar.low), high=self.answer.with_cells(bar.high))
        return bar

    def map(self, function: Callable[[T], S], *, monotone: bool = False) -> "Release[S]":
        """Post-processing: no further cost. The interval survives only if `function` is declared monotone."""
        if self.refusal is not None:
            return replace(self, answer=None)  # type: ignore[return-value]
        spread = Mapped(self.spread, function) if monotone and self.spread is not None else None
        return replace(self, answer=function(self.value), spread=spread)  # type: ignore[return-value, arg-type]

    def signed(self, receipt: str) -> "Release[T]":
        """The same release with the ledger's receipt."""
        return replace(self, provenance=replace(self.provenance, receipt=receipt))

    def named(self, names: Sequence[str]) -> "Release[Any]":
        """The same release, whose numbers are named by these columns if they have no names and are as many."""
        if self.refusal is not None or not names:
            return self
        value = value_of(self.answer)
        return self if isinstance(value, Scalar) else replace(self, answer=value.named(names))  # type: ignore[arg-type]

    def shown(self, confidence: float | None = None) -> Shown:
        """Its value, and each number with its error: at this confidence, or at the declared or usual one if None."""
        value, bar, none = self._read(confidence)
        if value is None:
            return Shown(self.name, None, (), refusal=self.refusal)
        errors = (None, None) if self.spread is None else (self.spread.sampling, self.spread.privacy)
        return Shown(self.name, value, numbers_of(value, bar, *errors), bar, no_interval=none)

    def _read(self, confidence: float | None) -> tuple[Value | None, Interval | None, str | None]:
        """The value if there is one, its interval if there is one, and why there is none."""
        if self.refusal is not None or self.answer is None:
            return None, None, None
        value = value_of(self.answer)
        if self.spread is None:
            return value, None, None
        try:
            usual: float = getattr(self.spread, "confidence", 0.95)
            return value, self.interval(usual if confidence is None else confidence), None
        except Refused as reason:
            return value, None, str(reason)

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """Plain values: what `to_json` writes and `stored.recalled` reads."""
        value, bar, none = self._read(confidence)
        record: dict[str, Any] = {
            "name": self.name,
            "value": stored(self.answer),
            "refusal": self.refusal,
            "interval": None,
            "guarantee": plain(self.guarantee) | {"sentence": str(self.guarantee)},
            "publishable": self.provenance.publishable,
            "provenance": plain(self.provenance),
        }
        if bar is not None and value is not None:
            record["interval"] = {
                "low": error_of(value, bar.low),
                "high": error_of(value, bar.high),
                "confidence": plain(bar.confidence),
                "about": bar.about,
                "population": plain(bar.population),
                "name": bar.name,
            }
        elif none is not None:
            record["no_interval"] = none
        if self.spread is not None and value is not None:
            sampling, privacy = self.spread.sampling, self.spread.privacy
            record["spread"] = {"sampling": error_of(value, sampling), "privacy": error_of(value, privacy)}
        return record

    def to_json(self, confidence: float | None = None, *, indent: int | None = 2) -> str:
        """The release as JSON, with its provenance."""
        return json_text(self.to_dict(confidence), indent)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Every number with its interval and the parts of its error, as a pandas data frame."""
        if self.refusal is not None:
            raise Refused(self.refusal)
        return frame(columns_of([((), self.shown(check_confidence(confidence)))], ()))

    def summary(self, confidence: float = 0.95) -> str:
        """Named coefficients as a table: estimate, standard error with the noise in it, p-value, interval."""
        shown = self.shown(check_confidence(confidence))
        if self.refusal is not None:
            return str(self)
        rows = coefficients(shown)
        if rows is None:
            raise BadInput(f"{self.name} has no named coefficients; print it, or read its value")
        said = []
        if shown.interval is not None and any(row.barred for row in rows):
            said = [f"standard errors include the privacy noise; intervals are for {shown.interval.about}"]
        table = coefficient_table(rows, shown.interval, confidence)
        return printable("\n".join([self.name, *table, *said, *(line.strip() for line in self._promise())]))

    def plot(self, confidence: float = 0.95, *, ax: Any = None) -> Any:
        """Draw the answer with its interval (needs matplotlib, the extra `plot`); returns the axes."""
        from discreet.privacy.picture import draw

        if self.refusal is not None:
            raise Refused(self.refusal)
        return draw(self.shown(check_confidence(confidence)), self._promise(), ax)

    def __float__(self) -> float:
        value = value_of(self.value)
        if not isinstance(value, Scalar) or not value.is_number:
            raise BadInput(f"{self.name} is not one number; read its value")
        return float(value.value)

    def __format__(self, how: str) -> str:
        return format(self.value, how) if how else str(self)

    def __str__(self) -> str:
        return printable("\n".join(self._lines()))

    def __repr__(self) -> str:
        """Two lines: the answer with its interval, and what it cost."""
        shown = self.shown()
        told = f"refused. {self.refusal}" if shown.value is None else shown.line
        seeded = "" if self.provenance.publishable else f"; {UNPUBLISHABLE}"
        return printable(f"{self._head} {told}\n{self.guarantee}{seeded}")

    @property
    def _head(self) -> str:
        """Its name, with what was done to the values where the name alone would mislead."""
        target = getattr(self.spread, "target", "")
        return f"{clean(self.name)}{' ' * bool(target)}{target}:"

    def _lines(self) -> list[str]:
        first, *rest = self.body
        return [f"{self._head}{' ' * bool(first)}{first}", *(f"  {line}" for line in rest), *self._promise()]

    @property
    def body(self) -> list[str]:
        """The answer, its interval and its errors for people; the first line stands beside its name."""
        shown = self.shown()
        if shown.value is None:
            return [f"refused. {self.refusal}" if self.refusal is not None else "None"]
        bar = f"{shown.interval.name} for {shown.interval.about}" if shown.interval is not None else shown.no_interval
        if shown.tabled:
            return ["", *shown.table(), *([bar] if bar else [])]
        lines = [shown.told]
        lines += [f"{bar}{f': {shown.range}' if shown.interval is not None else ''}"] if bar else []
        if self.spread is not None and len(shown.numbers) == 1:
            sizes = {"sampling": shown.numbers[0].sampling, "privacy": shown.numbers[0].privacy}
            parts = [f"{word} {few(size)}" for word, size in sizes.items() if size is not None]
            lines += [f"standard deviation: {', '.join(parts)}"] if parts else []
        return lines

    def _promise(self) -> list[str]:
        """What holds of it, whatever the answer is."""
        warning = [] if self.provenance.publishable else [f"  {UNPUBLISHABLE.upper()}"]
        return [f"  {self.guarantee}", *(f"  note: {note}" for note in self.provenance.notes), *warning]

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        from discreet.privacy.card import card, sketch
        from discreet.privacy.picture import on_one_scale

        several = self.refusal is None and self.shown().tabled
        return card(self._lines(), sketch(self.plot) if several and on_one_scale(self.shown()) else "")


@dataclass(frozen=True, slots=True)
class Groups(Mapping[Any, Release[Any]]):
    """The releases by group; `by` is the column that says who is in which. Of several columns a group is a tuple."""

    by: str | tuple[str, ...]
    guarantee: Guarantee  # of all answers together [release.1]
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
    def columns(self) -> tuple[str, ...]:
        """The columns that say who is in which group."""
        return (self.by,) if isinstance(self.by, str) else self.by

    @property
    def refusal(self) -> str | None:
        """Why there is no answer at all, if there is none."""
        if not self.releases:
            return f"no group by {' and '.join(self.columns)} is large enough to be shown"
        refused = [release.refusal for _, release in self.releases]
        return refused[0] if all(refused) else None

    @property
    def publishable(self) -> bool:
        """Whether all of the noise was secret."""
        return all(release.provenance.publishable for _, release in self.releases)

    def signed(self, receipt: str) -> "Groups":
        """The same, with the ledger's receipt on each."""
        marked = tuple((key, release.signed(receipt)) for key, release in self.releases)
        return Groups(self.by, self.guarantee, releases=marked, name=self.name, notes=self.notes)

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "by": plain(self.by),
            "guarantee": plain(self.guarantee) | {"sentence": str(self.guarantee)},
            "notes": list(self.notes),
            "groups": [{"key": plain(key), "release": release.to_dict(confidence)} for key, release in self.releases],
        }

    def to_json(self, confidence: float | None = None, *, indent: int | None = 2) -> str:
        """As JSON."""
        return json_text(self.to_dict(confidence), indent)

    def shown(self, confidence: float | None = None) -> list[tuple[Any, Shown]]:
        """What there is to show of each group."""
        return [(key, release.shown(confidence)) for key, release in self.releases]

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Every number of every group with its interval and the parts of its error, as a pandas data frame."""
        crossed = not isinstance(self.by, str)
        rows = [(key if crossed else (key,), shown) for key, shown in self.shown(check_confidence(confidence))]
        return frame(columns_of(rows, self.columns))

    def describe(self) -> str:
        """In plain words."""
        return "; ".join(f"{label(key)}: {shown.value or 'refused'}" for key, shown in self.shown()) + "."

    def plot(self, confidence: float = 0.95, *, ax: Any = None) -> Any:
        """Draw one number for each group, with its interval (needs the extra `plot`); returns the axes."""
        from discreet.privacy.picture import draw_groups

        if self.refusal is not None:
            raise Refused(self.refusal)
        promise = [f"  {self.guarantee}", *(["  not for publication: seeded noise"] if not self.publishable else [])]
        return draw_groups(self.name, self.shown(check_confidence(confidence)), promise, ax)

    def _repr_html_(self) -> str:
        """A card for notebooks."""
        from discreet.privacy.card import card, sketch

        return card(str(self).splitlines(), sketch(self.plot) if len(self) > 1 else "")

    def __str__(self) -> str:
        lines = [f"{clean(self.name)}:", *(f"  {line}" for line in self._table())]
        warning = [] if self.publishable else [f"  {UNPUBLISHABLE.upper()}"]
        promise = [f"  {self.guarantee}", *(f"  note: {note}" for note in self.notes), *warning]
        return printable("\n".join([*lines, *promise]))

    def __repr__(self) -> str:
        """Two lines: the answers with their intervals, and what they cost."""
        told = [f"{clean(label(key))} {shown.short if shown.value else 'refused'}" for key, shown in self.shown()]
        seeded = "" if self.publishable else f"; {UNPUBLISHABLE}"
        return printable(f"{clean(self.name)}: {listed(told[:4], len(told))}\n{self.guarantee}{seeded}")

    def _table(self) -> list[str]:
        """A line for each group; below them what the intervals are about, and groups with more than a number."""
        rows: list[list[str]] = []
        about: dict[str, list[str]] = {}
        below: list[str] = []
        for key, release in self.releases:
            shown, name = release.shown(), clean(label(key))
            if shown.value is None:
                below.append(f"{name}: refused. {release.refusal}")
            elif len(shown.numbers) != 1 or shown.tabled:
                below += [f"{name}: {release.body[0]}".rstrip(), *(f"  {line}" for line in release.body[1:])]
            else:
                rows.append([name, *shown.numbers[0].told])
                if shown.interval is not None:
                    about.setdefault(f"{shown.interval.name} for {shown.interval.about}", []).append(name)
        comma = ", " if isinstance(self.by, str) else "; "  # crossed groups have commas of their own
        told = [text if len(about) == 1 else f"{comma.join(names)}: {text}" for text, names in about.items()]
        return [*(aligned([["", "estimate", "interval"], *rows]) if rows else []), *told, *below]
