"""Which change of the data a guarantee hides."""

from enum import Enum

from discreet.errors import BadInput


class Neighbours(Enum):
    """Two tables are neighbours if they differ by this change.

    >>> Neighbours("replace") is Neighbours.REPLACE
    True
    """

    REPLACE = "one person's data is replaced"
    ADD_OR_REMOVE = "one person is added or removed"

    @classmethod
    def _missing_(cls, value: object) -> "Neighbours":
        named = {"replace": cls.REPLACE, "add_or_remove": cls.ADD_OR_REMOVE}
        if not isinstance(value, str) or value.lower() not in named:
            raise BadInput(f"neighbours is {value!r}; give 'add_or_remove' or 'replace'")
        return named[value.lower()]

    @property
    def size_is_public(self) -> bool:
        """Whether the number of people may be read: only if no neighbour changes it."""
        return self is Neighbours.REPLACE
