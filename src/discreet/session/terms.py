"""Who the people are, and which of them a question is about."""

from dataclasses import dataclass
from typing import Any

from discreet.promise.neighbours import Neighbours


@dataclass(frozen=True, slots=True)
class People:
    """Whose rows they are: the column that says so, what one of them is called, and which change is hidden."""

    person: str | None
    unit: str
    neighbours: Neighbours

    @classmethod
    def of(cls, person: str | None, unit: str | None, neighbours: Neighbours) -> "People":
        """With the usual word, if none is given."""
        return cls(person, unit or ("row" if person is None else "person"), neighbours)


@dataclass(frozen=True, slots=True)
class Terms:
    """Which rows a question is about, what a missing entry stands for, and what is made of a person's several rows."""

    where: Any = None
    groupby: Any = None
    keys: Any = None
    missing: Any = None
    rule: Any = None
    cap: int | None = None


def several(unit: str) -> str:
    """More than one of them."""
    return "people" if unit == "person" else f"{unit}s"
