"""Whose rows they are, and one word for them: a mechanism says people or rows, a release what they are called.

Rows of one person stay rows: "each patient's rows". Where a column, a group or a condition has one of the words for a
name, nothing is exchanged, so that no name changes.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Final

from discreet.errors import BadInput
from discreet.privacy.guarantee import Neighbours, plural
from discreet.privacy.release import Release

WORDS: Final = re.compile(r"(?<!'s )(?<![\w`=.'\"])(people|person|rows|row)\b(?![`=(\"]|-)")
SEVERAL: Final = ("people", "rows")
OWN: Final = ("rows", "row")  # which a person may have several of


@dataclass(frozen=True, slots=True)
class People:
    """Whose rows they are: the column that says so, what one of them is called, and which change is hidden."""

    person: str | None
    unit: str
    neighbours: Neighbours
    many: str | None = None  # the word for more than one, where English has its own

    @property
    def units(self) -> str:
        """More than one of them."""
        return self.many or plural(self.unit)

    @classmethod
    def of(cls, person: str | None, unit: object, neighbours: object) -> "People":
        """With the usual word, if none is given."""
        word = ("row" if person is None else "person") if unit is None else unit
        if not isinstance(word, str):
            raise BadInput(
                f"unit is of type {type(unit).__name__}; name what a row is, for example 'patient'. For people with "
                "several rows open a session with person=, or use discreet.fit"
            )
        if not word.strip():
            raise BadInput("unit is an empty text; name what a row is, for example 'patient'")
        return cls(person, word, Neighbours(neighbours))


@dataclass(frozen=True, slots=True)
class OneWord:
    """What one of them is called, and more than one; `names` are those of the question. `several_rows`: a mechanism
    that sees all rows of a person means them by the word."""

    unit: str
    units: str
    names: str = ""
    several_rows: bool = False

    def __call__(self, said: str) -> str:
        """The text with their own word.

        >>> OneWord("patient", "patients")("bring 400 rows: a person counts once, each patient's rows together")
        "bring 400 patients: a patient counts once, each patient's rows together"
        """
        return said if WORDS.search(self.names) else WORDS.sub(self._own, said)

    def of(self, release: Release[Any]) -> Release[Any]:
        """The release with their own word in what it notes, or why it was refused."""
        notes = tuple(map(self, release.provenance.notes))
        refusal = release.refusal and self(release.refusal)
        return replace(release, provenance=replace(release.provenance, notes=notes), refusal=refusal)

    def _own(self, found: re.Match[str]) -> str:
        word = found[1]
        if self.several_rows and word in OWN:
            return word
        return self.units if word in SEVERAL else self.unit
