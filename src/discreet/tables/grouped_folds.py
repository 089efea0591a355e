"""Columns by group, folded where their parts are: each group is a stream, and no row leaves its worker.

Promise
    [grouped_folds.1] The stream of a group gives what the rows of its members, gathered here, would give; the numbers
          of members, and of those left out for a missing entry, are theirs.
Why
    [grouped_folds.1] Who is a member is a function of one row ([grouping.1]), and so is who is left out ([table.1]):
    both are decided within a part, before the kernel, by the same functions as here; with `person=` of one person's
    row, within a bucket ([apart.1]). A kernel gives the same result however a column is cut ([streams.1]); where all
    entries of a group are brought here, they are in the order of part and place ([placed.1]), or of people's first
    rows. `_Shared` belongs to one question, whose columns and filter are fixed. It keeps what one
    pass gave for every group, by the bytes of the kernel, of the merge and of all their numbers. Bytes that are read
    back make one function, so that equal bytes are the same function of the same rows; what has no bytes is not kept.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from discreet.tables.apart import FarPeople
from discreet.tables.arranging import present, whole_columns
from discreet.tables.exchange import ROW
from discreet.tables.far_answers import Answer, FarAnswers
from discreet.tables.far_exchange import as_it_is
from discreet.tables.grouping import Grouping, Labels
from discreet.tables.streams import Kernel, Merge, R, Stream, added
from discreet.tables.wanted import Want, Wanted
from discreet.tables.where import Where

if TYPE_CHECKING:
    from discreet.tables.table import Table


PLACE: Final = ""  # of a row among those of its piece or table
Far = FarAnswers | FarPeople


@dataclass(frozen=True, slots=True)
class Members:
    """Sent to workers: who of a piece is in which group. `about` are the columns of the question."""

    grouping: Grouping
    keys: tuple[Any, ...]
    about: tuple[Want, ...]

    def split(self, answer: Answer) -> tuple[Answer, list[npt.NDArray[np.int64]], list[int]]:
        """The columns without the rows that are left out, the places of each group in them, and how many each lost."""
        columns, everyone, label = self.labels(answer)
        who = list(self.grouping.members(label, self.keys))
        among = self.grouping.members(everyone, self.keys)
        return columns, who, [len(members) - len(here) for members, here in zip(among, who, strict=True)]

    def labels(self, answer: Answer) -> tuple[Answer, Labels, Labels]:
        """The columns without the rows that are left out; the groups of all rows, and of those that are not."""
        everyone = self.grouping.entries(answer)
        mine = {name: answer[name] for name in (*(want.name for want in self.about), ROW) if name in answer}
        kept, _ = present(mine | {PLACE: np.arange(len(everyone))}, self.about)
        return kept, everyone, everyone.take(kept.pop(PLACE))


@dataclass(slots=True)
class _Shared:
    """Passes for all groups at once, for kernels that every group asks for with the same numbers."""

    answers: Far
    members: Members
    last: dict[str, tuple[bytes, list[Any], list[int]]] = field(default_factory=dict)  # by name, with who asked
    alone: set[str] = field(default_factory=set)  # kernels whose numbers differ from group to group

    def of(self, place: int, kernel: Kernel[R], merge: Merge[R]) -> R:
        """What a kernel gives for one group. [grouped_folds.1]"""
        name, raw = _named(kernel), _bytes((kernel, merge))
        known = self.last.get(name)
        if known is not None and known[0] == raw:
            known[2].append(place)
            found: R = deepcopy(known[1][place])  # a merge may write into what it is given
            return found
        if raw is None or name in self.alone or (known is not None and len(set(known[2])) < 2):
            self.alone.add(name)
            one: R = self.answers.fold(partial(_of_one, self.members, place, kernel), merge)
            return one
        every = self.answers.fold(partial(_of_each, self.members, kernel), partial(_merged_each, merge))
        self.last[name] = (raw, every, [place])
        whole: R = deepcopy(every[place])
        return whole


def by_members(
    table: "Table",
    asked: Wanted,
    grouping: Grouping,
    find: Callable[[Any], tuple[Any, ...]],
    *,
    where: Where | None,
    person: str | None,
    folds: bool,
) -> tuple[tuple[Any, ...], Sequence[dict[str, Any] | Stream], list[int]]:
    """The groups, listed or found; the columns of each; and how many of each are left out.

    Columns that `folds`, of a table that an engine has, stay where they are, as streams. [grouped_folds.1]
    """
    wants = grouping.wants(asked)
    about: dict[str, Any] = {"where": where, "person": person, "rules": asked.rules}
    far = table.afar(whole_columns(wants), **about) if folds else None
    if far is not None:
        listed = grouping.keys
        keys = listed if listed is not None else find(found_groups(far, Members(grouping, (), asked.wants)))
        return keys, *grouped_columns(far, Members(grouping, keys, asked.wants))
    columns = table.columns(whole_columns(wants), **about)
    everyone = grouping.entries(columns)
    kept, _ = present(columns | {PLACE: np.arange(len(everyone))}, asked.wants)
    label = everyone.take(kept[PLACE])
    keys = grouping.keys if grouping.keys is not None else find(grouping.names(label))
    who, among = list(grouping.members(label, keys)), grouping.members(everyone, keys)
    parts = [{want.name: np.asarray(kept[want.name])[places] for want in asked.wants} for places in who]
    return keys, parts, [len(members) - len(here) for members, here in zip(among, who, strict=True)]


def grouped_columns(answers: Far, members: Members) -> tuple[list[Stream], list[int]]:
    """The rows of each group as a stream, and how many of its members are left out. [grouped_folds.1]"""
    sizes, left_out = answers.fold(partial(_sizes, members), added)
    shared = _Shared(answers, members)

    def pieces(place: int) -> Iterator[Any]:
        return iter(answers.brought(partial(_entries, members, place)))

    streams = [
        Stream(int(size), partial(pieces, place), remote=partial(shared.of, place), kind=dict)
        for place, size in enumerate(sizes)
    ]
    return streams, [int(one) for one in left_out]


def found_groups(answers: Far, members: Members) -> Stream:
    """What the group of each person is called, None for whoever is in none: to find the groups by. [grouping.1]"""

    def remote(kernel: Kernel[R], merge: Merge[R]) -> R:
        return answers.fold(partial(_labels, members, kernel), merge)

    def pieces() -> Iterator[npt.NDArray[Any]]:
        return (_label(members, answer) for answer in answers.brought(as_it_is))

    return Stream(remote(_count, added), pieces, remote=remote, kind=object)


def _labels(members: Members, kernel: Kernel[R], given: Iterator[Answer]) -> R:
    return kernel(_label(members, answer) for answer in given)


def _label(members: Members, answer: Answer) -> npt.NDArray[Any]:
    names = members.grouping.names(members.labels(answer)[2])
    found = np.empty(len(names), dtype=object)
    found[:] = names
    return found


def _count(given: Iterator[npt.NDArray[Any]]) -> int:
    return sum(map(len, given))


def _sizes(members: Members, given: Iterator[Answer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """On a worker: how many have a value, and how many are left out, by group."""
    sizes, lost = np.zeros((2, len(members.keys)), dtype=np.int64)
    for answer in given:
        _, who, without = members.split(answer)
        sizes += [len(one) for one in who]
        lost += np.array(without, dtype=np.int64)
    return sizes, lost


def _of_one(members: Members, place: int, kernel: Kernel[R], given: Iterator[Answer]) -> R:
    """On a worker: a kernel of one group."""

    return kernel(_entries(members, place, answer) for answer in given)


def _entries(members: Members, place: int, answer: Answer) -> Answer:
    """The rows of one group in a piece, in order."""
    columns, who, _ = members.split(answer)
    return _at(columns, who[place])


def _at(columns: Answer, places: npt.NDArray[np.int64]) -> Answer:
    return {name: values[places] for name, values in columns.items()}


def _of_each(members: Members, kernel: Kernel[R], given: Iterator[Answer]) -> list[R]:
    """On a worker: a kernel of every group, in one pass."""
    groups: list[list[Answer]] = [[] for _ in members.keys]
    for answer in given:
        columns, who, _ = members.split(answer)
        for group, places in zip(groups, who, strict=True):
            group.append(_at(columns, places))
    return [kernel(iter(group)) for group in groups]


def _merged_each(merge: Merge[R], one: list[R], other: list[R]) -> list[R]:
    return [merge(a, b) for a, b in zip(one, other, strict=True)]


def _named(kernel: Any) -> str:
    """The functions that a kernel is made of, without their numbers."""
    if not isinstance(kernel, partial):
        return str(getattr(kernel, "__qualname__", type(kernel).__qualname__))
    return " ".join([_named(kernel.func), *(_named(one) for one in kernel.args if callable(one))])


def _bytes(work: Any) -> bytes | None:
    """All that a kernel and its merge are made of; None where they have no bytes. [grouped_folds.1]"""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
