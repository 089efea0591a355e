"""Who is in which group: by the entry of one column, or by those of several, a group for each of their combinations.

Promise
    [grouping.1] Each person is in one group at most, by a function of that person's row and of the public arguments.
          Whoever has a missing entry in a column of the groups is in none, unless a listed group says None there.
    [grouping.2] What cannot be a list of groups is refused by names, declared kinds and the arguments: nothing is read.

Why
    [grouping.1] The group is looked up by the canonical names of the person's own entries, one a column, in the public
    or released list of groups, each of which is listed once. A person's entries are those of [table.1].
    [grouping.2] As `Grouping.of` reads.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from discreet.errors import BadInput, short
from discreet.privacy.declaration import Statistic
from discreet.tables.entries import key
from discreet.tables.entries import name as name_of
from discreet.tables.wanted import Terms, Want, Wanted, check_levels, known

if TYPE_CHECKING:
    from discreet.tables.table import Table

MOST_KEYS: Final = 10_000
PLAIN: Final = (str, int, bool, NoneType)  # equal ones of a type are called the same
FORMS: Final = "a list of groups for each column, or the groups as tuples"


@dataclass(frozen=True, slots=True)
class Grouping:
    """The columns that say who is in which group, and the public groups: of several columns tuples, None if they are to
    be found."""

    by: tuple[str, ...]
    keys: tuple[Any, ...] | None

    @classmethod
    def of(cls, table: "Table", statistic: Statistic, terms: Terms, asked: Wanted) -> "Grouping | None":
        """As it is asked for, or None; BadInput for what does not fit. [grouping.2]"""
        given, keys = terms.groupby, terms.keys
        if given is None:
            if keys is not None:
                raise BadInput("keys are the groups of groupby=; give groupby too, or leave keys out")
            return None
        by = tuple(given) if isinstance(given, list | tuple) else (given,)
        if not by:
            raise BadInput("groupby is empty; name the column that says who is in which group, or several")
        for name in by:
            known(table, name)
        if len(set(by)) < len(by):
            raise BadInput(f"groupby names a column twice: {list(by)!r}; name each once")
        if not statistic.groups:
            raise BadInput(f"{statistic.name} cannot be asked by group; ask with where= for each group")
        about = [one for reference in asked.references.values() for one in _several(reference)]
        for name in by:
            if name in about:
                raise BadInput(f"groupby is {name!r}, the column that the question is about; group by another")
        if keys is None:
            return cls(by, None)
        listed = _crossed(keys, by) if len(by) > 1 else _listed(keys)
        if len({_group(one) for one in listed}) < len(listed):
            raise BadInput("a group is listed twice in keys; list each once")
        for place, name in enumerate(by):
            check_levels("keys", [_several(one)[place] for one in listed] if len(by) > 1 else keys, table, name)
        return cls(by, tuple(_named(one) for one in listed))

    @property
    def said(self) -> str:
        """The columns in words."""
        return " and ".join(self.by)

    @property
    def name(self) -> str | tuple[str, ...]:
        """The column, or the columns where there are several."""
        return self.by if len(self.by) > 1 else self.by[0]

    def wants(self, asked: Wanted) -> tuple[Want, ...]:
        """The columns of a question and those that say who is in which group."""
        own = [want for want in asked.wants if asked.references or want.name not in self.by]  # else any will do
        there, rules = [want.name for want in own], asked.rules
        more = [Want(name, "category", rule=rules.of(name, "category"), cap=rules.cap) for name in self.by]
        return (*own, *(want for want in more if want.name not in there))

    def entries(self, columns: Mapping[str, Any]) -> "Labels":
        """Each person's group, by what its entries are called; of several columns a tuple. [grouping.1]"""
        parts = [_coded(columns[name]) for name in self.by]
        if len(parts) == 1:
            return parts[0]
        codes, groups = parts[0].codes, [(one,) for one in parts[0].groups]
        for part in parts[1:]:
            both = codes * len(part.groups) + part.codes
            found, codes = np.unique(both, return_inverse=True)
            groups = [(*groups[one // len(part.groups)], part.groups[one % len(part.groups)]) for one in found.tolist()]
        return Labels(codes, list(groups))

    def names(self, labels: "Labels") -> list[Any]:
        """Groups as they are shown; None for whom an entry is missing: they are in none. [grouping.1]"""
        if len(self.by) == 1:
            shown = [name_of(one) for one in labels.groups]
        else:
            shown = [None if None in one else tuple(map(name_of, one)) for one in labels.groups]
        return [shown[code] for code in labels.codes.tolist()]

    def members(self, labels: "Labels", keys: Sequence[Any]) -> Iterator[npt.NDArray[np.int64]]:
        """For each of these groups who is in it, by place, in order. [grouping.1]"""
        places = {(tuple(map(_group, one)) if len(self.by) > 1 else _group(one)): at for at, one in enumerate(keys)}
        place = np.array([places.get(entry, len(keys)) for entry in labels.groups], dtype=np.int64)
        group = place[labels.codes]
        few = group.astype(np.uint16) if len(keys) < 2**16 else group
        order = np.argsort(few, kind="stable")  # a radix sort: linear
        edges = np.searchsorted(few[order], np.arange(len(keys) + 1))
        return (order[edges[at] : edges[at + 1]] for at in range(len(keys)))

    @property
    def rule(self) -> str:
        """Who is in no group, in words. [grouping.1]"""
        if self.keys is None:
            return f"whoever's {' or '.join(self.by)} is missing is in none"
        if len(self.by) > 1:
            return f"whoever's combination of {self.said} is not listed is in none"
        return f"whoever's {self.said} is {'' if None in self.keys else 'missing or '}not listed is in none"

    def told(self, group: Any) -> str:
        """A group in a line."""
        return ", ".join(map(str, group)) if len(self.by) > 1 else str(group)


@dataclass(frozen=True, slots=True)
class Labels:
    """The group of each person, as a number, and the groups that are there."""

    codes: npt.NDArray[np.int64]
    groups: list[Any]  # by what they are called; of several columns tuples

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, people: npt.NDArray[np.int64]) -> "Labels":
        """Those of some people, by place."""
        return Labels(self.codes[people], self.groups)


def _coded(entries: Any) -> Labels:
    """The groups of a column's entries; an entry of a plain type is looked up where it was met before. [grouping.1]"""
    met: dict[Any, int] = {}
    groups: dict[Hashable, int] = {}

    def code(entry: Any) -> int:
        kind = type(entry)
        if kind not in PLAIN:  # others may call themselves equal to what they are not
            return groups.setdefault(_group(entry), len(groups))
        found = met.get((kind, entry))
        if found is None:
            found = met[kind, entry] = groups.setdefault(_group(entry), len(groups))
        return found

    return Labels(np.fromiter(map(code, entries), dtype=np.int64, count=len(entries)), list(groups))


def _several(one: Any) -> Sequence[Any]:
    return one if isinstance(one, list | tuple) else list(one) if isinstance(one, Mapping) else [one]


def _group(entry: Any) -> Hashable:
    """The group of an entry, by what it is called: a date is in that of its text, as plans and found groups have it."""
    return key(name_of(key(entry)))


def _named(one: Any) -> Any:
    """A listed group; whatever a missing one is called, it is None."""
    if isinstance(one, tuple):
        return tuple(map(_named, one))
    return None if key(one) is None else one


def _many(many: int, keys: Any, example: str) -> None:
    if not 1 <= many <= MOST_KEYS:
        raise BadInput(f"keys is {short(keys)}; list the groups, 1 to {MOST_KEYS}, for example {example}")


def _listed(keys: Any) -> list[Any]:
    """The groups of one column."""
    right = not isinstance(keys, str) and isinstance(keys, list | tuple | range)
    _many(len(keys) if right else 0, keys, "['Female', 'Male']")
    wrong = [one for one in keys if isinstance(one, list | tuple | Mapping)]
    if wrong:
        raise BadInput(f"keys has {short(wrong[0])}, and groupby is one column; list its groups, as ['Female', 'Male']")
    return list(keys)


def _crossed(keys: Any, by: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The groups of several columns: tuples, the product of lists, or mappings from column to entry. [grouping.2]"""
    example = f"[{', '.join(['[...]'] * len(by))}], or [({', '.join(['...'] * len(by))}), ...]"
    if isinstance(keys, str) or not isinstance(keys, list | tuple) or not keys:
        raise BadInput(f"keys is {short(keys)}, and groupby has {len(by)} columns; give {FORMS}: {example}")
    if all(isinstance(part, list | range) for part in keys):
        if len(keys) != len(by):
            raise BadInput(
                f"keys has {len(keys)} lists, and groupby {len(by)} columns; give a list for each: {example}"
            )
        _many(prod(map(len, keys)), keys, example)
        found: list[tuple[Any, ...]] = list(product(*keys))
    elif all(isinstance(part, Mapping) for part in keys):
        wrong = next((part for part in keys if set(part) != set(by)), None)
        if wrong is not None:
            raise BadInput(f"keys has {short(wrong)}; give an entry for each of {', '.join(by)}")
        found = [tuple(part[name] for name in by) for part in keys]
    else:
        wrong = next((part for part in keys if not isinstance(part, tuple) or len(part) != len(by)), None)
        if wrong is not None:
            raise BadInput(f"keys has {short(wrong)}, and groupby has {len(by)} columns; give {FORMS}: {example}")
        found = list(keys)
    _many(len(found), keys, example)
    for part in found:
        if any(isinstance(entry, list | tuple | Mapping) for entry in part):
            raise BadInput(f"keys has the group {short(part)}; a group is one entry a column, as in {example}")
    return found
