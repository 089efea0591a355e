"""Who the people are, and which of them a question is about."""

from dataclasses import dataclass
from typing import Any

from discreet.errors import BadInput
from discreet.privacy.neighbours import Neighbours
from discreet.tables.table import Table


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

    def check(self, table: Table) -> None:
        """Refuse to hide a replaced row where it may move: mechanisms may read rows by their places."""
        if self.neighbours is Neighbours.REPLACE and not table.ordered:
            raise BadInput(
                f"{table.description} has no fixed order of rows, and neighbours='replace' needs one: a row that is "
                "changed must stay at its place. Give neighbours='add_or_remove'; for a population whose budget is for "
                "'replace', give another population too"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
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
