"""A release as it was stored: the one shape of its record, its value as it was, nothing drawn again.

A ledger's answers and the entries of a report are read here, strictly: a field that is missing, unknown or of another
type is refused, and so is a record that calls seeded noise publishable.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, PrivateAttr, ValidationError, model_validator

from discreet.errors import BadInput, Refused
from discreet.privacy.guarantee import Guarantee, Neighbours
from discreet.privacy.intervals import Interval
from discreet.privacy.release import Groups, Provenance, Release
from discreet.privacy.values import recall

Text = InstanceOf[str]  # half a surrogate pair is a text to Python and to JSON
Plain = InstanceOf[dict[str, Any]]  # whatever JSON holds
M = TypeVar("M", bound=BaseModel)
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Strict(BaseModel):
    """Every field is there, is of its type, and no other is."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Amounts(Strict):
    """An epsilon and a delta."""

    epsilon: Amount
    delta: Amount


class StoredGuarantee(Amounts):
    """A promise."""

    neighbours: Text
    unit: Text
    sentence: Text


class StoredProvenance(Strict):
    """A history."""

    mechanism: Text
    parameters: Plain
    secure: bool
    notes: list[Text]
    receipt: Text | None
    versions: Plain


class StoredInterval(Strict):
    """An error bar: its ends are numbers in the order of the value's."""

    low: Any
    high: Any
    confidence: Annotated[float, Field(gt=0, lt=1)]
    about: Text
    population: bool
    name: Text


class StoredErrors(Strict):
    """Standard deviations, in the order of the value's numbers."""

    sampling: Any
    privacy: Any


class StoredRelease(Strict):
    """What `Release.to_dict` writes."""

    name: Text
    value: Any
    refusal: Text | None
    interval: StoredInterval | None
    no_interval: Text | None = None
    guarantee: StoredGuarantee
    publishable: bool
    provenance: StoredProvenance
    spread: StoredErrors | None = None
    _release: Release[Any] = PrivateAttr()

    @model_validator(mode="after")
    def _read(self) -> "StoredRelease":
        history, promise, bar = self.provenance, self.guarantee, self.interval
        if self.publishable is not history.secure:
            raise ValueError("publishable does not agree with whether the noise was secret")
        errors = self.spread or StoredErrors(sampling=None, privacy=None)
        kept = None if bar is None else _interval(bar)
        spread = StoredSpread(kept, recall(errors.sampling), recall(errors.privacy), self.no_interval)
        self._release = Release(
            Guarantee(promise.epsilon, promise.delta, Neighbours(promise.neighbours), promise.unit),
            Provenance(
                history.mechanism,
                history.parameters,
                history.secure,
                notes=tuple(history.notes),
                receipt=history.receipt,
                versions=history.versions,
            ),
            recall(self.value),
            refusal=self.refusal,
            spread=None if self.spread is None and kept is None else spread,
            name=self.name,
        )
        return self

    @property
    def release(self) -> Release[Any]:
        """The release."""
        return self._release


@dataclass(frozen=True, slots=True)
class StoredSpread:
    """The one interval that was stored, or why there was none."""

    stored: Interval | None
    sampling: Any = None
    privacy: Any = None
    refusal: str | None = None

    @property
    def confidence(self) -> float:
        """That of the interval."""
        return 0.95 if self.stored is None else self.stored.confidence

    def interval(self, confidence: float) -> Interval:
        """The stored interval; another was not stored, and is not drawn again."""
        if self.stored is None:
            raise Refused(self.refusal or "this answer was stored without an interval")
        if confidence != self.stored.confidence:
            raise Refused(f"this answer was stored with its {self.stored.name}; ask for interval({self.confidence:g})")
        return self.stored


class StoredGroup(Strict):
    """One group of people and its release."""

    key: Any
    release: StoredRelease


class StoredGroups(Strict):
    """What `Groups.to_dict` writes."""

    name: Text
    by: Text | list[Text]
    guarantee: StoredGuarantee
    notes: list[Text]
    groups: list[StoredGroup]


def _interval(bar: StoredInterval) -> Interval:
    return Interval(
        recall(bar.low), recall(bar.high), confidence=bar.confidence, about=bar.about, population=bar.population
    )


def checked(model: type[M], record: Any, what: str) -> M:
    """The record as a model; BadInput with the first place that does not fit, and no value of it."""
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"]).lstrip(".")
        raise BadInput(f"this is not {what}: {place[:200] or 'it'}: {first['msg'][:200]}") from None


def recalled(record: Mapping[str, Any]) -> Release[Any]:
    """The release that `Release.to_dict` wrote.

    >>> from discreet.privacy.release import Provenance
    >>> release = Release(Guarantee(1.0), Provenance("Count", {}, True), answer=3, name="count")
    >>> recalled(release.to_dict()).value
    3
    """
    return checked(StoredRelease, record, "a release that Release.to_dict has written").release


def recalled_groups(record: Mapping[str, Any]) -> Groups:
    """The groups that `Groups.to_dict` wrote."""
    found = checked(StoredGroups, record, "groups that Groups.to_dict has written")
    by = found.by if isinstance(found.by, str) else tuple(found.by)
    if isinstance(by, tuple) and any(not isinstance(one.key, list) or len(one.key) != len(by) for one in found.groups):
        raise BadInput("this is not groups that Groups.to_dict has written: a group has not one key a column")
    pairs = tuple(
        (group.key if isinstance(by, str) else tuple(group.key), group.release.release) for group in found.groups
    )
    promise = found.guarantee
    guarantee = Guarantee(promise.epsilon, promise.delta, Neighbours(promise.neighbours), promise.unit)
    return Groups(by, guarantee, releases=pairs, name=found.name, notes=tuple(found.notes))
