"""The stream of each group, folded where its parts are, gives what the rows of its members give here."""

from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from discreet.tables.arranging import whole_columns
from discreet.tables.grouped_folds import Members, found_groups, grouped_columns
from discreet.tables.grouping import Grouping
from discreet.tables.placed import Afar, Placed
from discreet.tables.streams import Stream, added, column_of
from discreet.tables.table import Table
from discreet.tables.wanted import Want
from discreet.tables.where import Where

X = np.array([1.0, 2.0, np.nan, 4.0, 5.0, 6.0, 7.0, np.nan, 9.0, 10.0])
TOWN = ["a", "b", "a", "a", None, "c", "b", "b", "a", "b"]
MEMBERS = {"a": [1.0, 4.0, 9.0], "b": [2.0, 7.0, 10.0], "nowhere": []}  # those with a value, in order
LOST = {"a": 1, "b": 1, "nowhere": 0}
CUTS = [slice(0, 3), slice(3, 3), slice(3, 7), slice(7, 10)]  # one part has no rows


class Backwards:
    """An engine whose last part comes first."""

    def __init__(self) -> None:
        self.passes = 0

    def map(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        return [function(item) for item in items]

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Any) -> Any:
        self.passes += 1
        return reduce(merge, [kernel(part) for part in list(parts)[::-1]])


def opened(columns: dict[str, Any], cut: slice) -> Iterator[dict[str, Any]]:
    yield {name: values[cut] for name, values in columns.items()}


def far_table(engine: Backwards) -> Table:
    columns = {"x": X, "town": np.array(TOWN, dtype=object)}
    parts = [Afar(number, partial(opened, columns, cut)) for number, cut in enumerate(CUTS)]
    source = Placed(
        engine,
        lambda _: parts,
        lambda: len(X),
        names=("x", "town"),
        kinds={"x": "number", "town": "text"},
        description="t",
    )
    return Table(source, source.kinds)


def streams(engine: Backwards, where: str | None = None) -> tuple[dict[str, Stream], list[int]]:
    wants = (Want("x", "number", missing="drop"), Want("town", "category"))
    members = Members(Grouping(("town",), tuple(MEMBERS)), tuple(MEMBERS), wants[:1])
    answers = far_table(engine).afar(whole_columns(wants), where=None if where is None else Where.parse(where))
    assert answers is not None
    found, left_out = grouped_columns(answers, members)
    return {group: column_of(rows, "x") for group, rows in zip(MEMBERS, found, strict=True)}, left_out


def powers(given: Iterator[npt.NDArray[Any]], *, power: int) -> npt.NDArray[np.int64]:
    """A kernel."""
    return np.array([sum(int((piece**power).sum()) for piece in given)])


def larger(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """A merge."""
    return np.maximum(one, other)


@pytest.mark.claim("grouped_folds.1")
def test_members_and_those_left_out_are_those_of_the_rows() -> None:
    found, left_out = streams(Backwards())
    assert left_out == list(LOST.values())
    assert {group: len(stream) for group, stream in found.items()} == {g: len(v) for g, v in MEMBERS.items()}
    for group, stream in found.items():  # in the order of the table, though the last part came first
        assert [entry for piece in stream for entry in piece.tolist()] == MEMBERS[group]


@pytest.mark.claim("grouped_folds.1")
def test_one_pass_for_all_groups_gives_each_its_own() -> None:
    engine = Backwards()
    found, _ = streams(engine)
    before = engine.passes
    for group, values in MEMBERS.items():
        assert found[group].fold(partial(powers, power=2), added).tolist() == [sum(int(v) ** 2 for v in values)]
    assert engine.passes == before + 1


@pytest.mark.claim("grouped_folds.1")
def test_other_numbers_or_another_merge_are_another_pass() -> None:
    found, _ = streams(Backwards())
    a, b = found["a"], found["b"]
    assert [one.fold(partial(powers, power=1), added).item() for one in (a, b)] == [14, 19]
    assert [one.fold(partial(powers, power=1), larger).item() for one in (a, b)] == [9, 10]  # parts: 1 4 9, and 2 7 10
    assert [one.fold(partial(powers, power=3), added).item() for one in (a, b)] == [794, 1351]
    assert [one.fold(partial(powers, power=1), added).item() for one in (b, a)] == [19, 14]


@pytest.mark.claim("grouped_folds.1")
def test_kernels_without_bytes_are_not_taken_for_each_other() -> None:
    found, _ = streams(Backwards())
    for power in (1, 2):
        for group in ("a", "b"):
            expected = sum(int(value) ** power for value in MEMBERS[group])
            assert found[group].fold(lambda given, power=power: powers(given, power=power), added).item() == expected  # type: ignore[misc]


@pytest.mark.claim("grouped_folds.1")
def test_what_a_group_does_to_its_answer_changes_no_other() -> None:
    found, _ = streams(Backwards())
    first = found["a"].fold(partial(powers, power=1), added)
    first += 100
    assert found["a"].fold(partial(powers, power=1), added).item() == 14
    second = found["b"].fold(partial(powers, power=1), added)
    second += 100
    assert found["b"].fold(partial(powers, power=1), added).item() == 19


@pytest.mark.claim("grouped_folds.1")
def test_two_questions_share_nothing() -> None:
    engine = Backwards()
    whole, some = streams(engine)[0], streams(engine, "x > 3")[0]
    kernel = partial(powers, power=1)
    assert [one["a"].fold(kernel, added).item() for one in (whole, some, whole)] == [14, 13, 14]


@pytest.mark.claim("grouped_folds.1")
def test_names_of_groups_come_in_order_and_without_those_left_out() -> None:
    wants = (Want("x", "number", missing="drop"), Want("town", "category"))
    answers = far_table(Backwards()).afar(whole_columns(wants))
    assert answers is not None
    names = found_groups(answers, Members(Grouping(("town",), None), (), wants[:1]))
    assert [name for piece in names for name in piece] == ["a", "b", "a", None, "c", "b", "a", "b"]
    assert len(names) == 8
