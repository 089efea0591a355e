"""Rows that are kept for the many passes of a question: the same digits, one question alone, no more than there is room
for."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from benchmarks.cluster_questions import FOLDED, asked, rows, shown
from tests.unruly import Unruly, sent

import discreet
from discreet import Budget, Seeded
from discreet.engines import Dask, Local, Spark
from discreet.engines.exchanged import Bucket, packed, unpacked
from discreet.engines.retried import Done, persistent
from discreet.errors import BadInput, NotAnswered
from discreet.stages import locate
from discreet.tables import kept_rows
from discreet.tables.kept_rows import Keeper, kept
from discreet.tables.opening import placed, read
from discreet.tables.placed import Afar
from discreet.tables.streams import Stream, added, column_of, each
from discreet.tables.table import Table
from discreet.tables.wanted import Want
from discreet.tables.where import Where

ROOM = 2**31
TERMS: dict[str, Any] = {"epsilon": 20.0, "delta": 1e-5}
TOWN = {"town": ["a"]}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "logistic": ("logistic_regression", {"X": ["x", "z"], "y": "flag", **TERMS}),
    "pure": FOLDED["pure"],
    "of some": ("linear_regression", {"X": ["x", "z"], "y": "y", "where": "whole > 2", **TERMS}),
    "filled": ("poisson_regression", {"X": ["x", "z"], "y": "hits", "missing": {"x": 0.5}, **TERMS}),
    "formula": FOLDED["formula"],
    "clusters": ("linear_regression", {"X": ["z"], "y": "y", "clusters": "whole", "design": list(range(9)), **TERMS}),
    "classes": ("multinomial_regression", {"X": ["x", "z"], "y": "town", "classes": ["a", "b", "c"], **TERMS}),
    "kmeans": ("kmeans", {"X": ["x", "z"], "k": 2, **TERMS}),
    "covariance": ("covariance", {"x": ["x", "z"], **TERMS}),
    "pca": ("pca", {"x": ["x", "z", "y"], "k": 2, **TERMS}),
    "correlation": ("correlation", {"x": ["x", "z"], "epsilon": 20.0}),
    "means": ("mean", {"x": ["x", "z"], **TERMS}),
    "bins": ("additive_model", {"X": ["x", "town"], "y": "flag", "classes": [False, True], "levels": TOWN, **TERMS}),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, table = tmp_path_factory.mktemp("people"), rows()
    for number in range(4):
        pq.write_table(table.slice(number * 500, 500), place / f"part-{number}.parquet", row_group_size=200)
    return place


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns so short would be brought here to find their middle."""
    monkeypatch.setattr(locate, "FEW", 0)


@dataclass(frozen=True)
class Keeping(Unruly):
    """An engine that knows how often the table was read, and how many bytes were kept at a time."""

    room: int = ROOM
    reads: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    sent: list[Any] = field(default_factory=list)

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Any) -> Any:
        self.reads.extend([1] if isinstance(parts[0], Afar) else [])
        return super().fold(kernel, merge, parts)

    def keep(self, make: Callable[[Any], Any], parts: Any) -> list[Bucket]:
        self.reads.extend([1] if isinstance(parts[0], Afar) else [])
        self.sent.append(make)
        found = super().keep(make, parts)
        self.bytes.append(sum(_size(piece) for some in self.held for part in some for piece in next(part.read())[1]))
        return found


def _size(piece: Any) -> int:
    return sum(map(_size, piece.values())) if isinstance(piece, dict) else piece.nbytes


@pytest.mark.claim("kept_rows.1")
@pytest.mark.claim("kept_rows.2")
@pytest.mark.parametrize("kind", QUESTIONS)
def test_kept_rows_give_the_same_digits_and_are_let_go(kind: str, folder: Path) -> None:
    """However often parts are made, in whatever order, the table is read twice, or three times where some are asked of:
    to count, and to keep."""
    engine = Keeping()
    assert asked(folder, engine, *QUESTIONS[kind]) == asked(folder, None, *QUESTIONS[kind])
    assert len(engine.reads) <= (6 if kind == "bins" else 3)
    assert engine.bytes
    assert not engine.held


@pytest.mark.claim("kept_rows.3")
@pytest.mark.parametrize("kind", ["logistic", "pure", "kmeans", "bins", "clusters"])
def test_no_more_is_kept_than_there_is_room_for(kind: str, folder: Path) -> None:
    """And with no room at all, or less than one needs, the digits are the same."""
    whole, here = Keeping(), asked(folder, None, *QUESTIONS[kind])
    asked(folder, whole, *QUESTIONS[kind])
    for room in (0, *{most - less for most in whole.bytes for less in (0, 1)}):
        engine = Keeping(room=room)
        assert asked(folder, engine, *QUESTIONS[kind]) == here
        assert max(engine.bytes, default=0) <= room
        assert room < max(whole.bytes) or engine.bytes == whole.bytes


@pytest.mark.claim("kept_rows.2")
def test_what_is_kept_of_one_question_is_in_no_other(folder: Path) -> None:
    """Of the same columns, by another condition, with other entries in place of missing ones."""
    name, columns = "linear_regression", {"X": ["x", "z"], "y": "y", **TERMS}
    questions: list[dict[str, Any]] = [{}, {"where": "whole > 2"}, {"where": "whole <= 2"}, {"missing": {"x": 9.0}}]
    questions += [{"where": "whole > 2", "missing": {"x": 9.0}}, {}]
    terms: dict[str, Any] = {"budget": Budget(1000.0, 0.9), "ledger": ":memory:", "population": "p"}
    answers = []
    for engine in (Keeping(), None):
        with discreet.open(folder, engine=engine, rng=Seeded(5), **terms) as session:
            answers.append([shown(session.ask(name, **columns, **more)) for more in questions])
    assert answers[0] == answers[1]
    assert len(set(answers[0])) == len(answers[0])


@dataclass(frozen=True)
class Failing(Keeping):
    """From the second pass over kept rows on, workers raise."""

    passes: list[int] = field(default_factory=list)

    def fold(self, kernel: Callable[[Any], Any], merge: Callable[[Any, Any], Any], parts: Any) -> Any:
        self.passes.append(isinstance(parts[0], Bucket))
        return super().fold(_quotes if sum(self.passes) > 1 else kernel, merge, parts)


def _quotes(part: Any) -> Any:
    raise ValueError(f"patient 4711 of {part}")


@pytest.mark.claim("kept_rows.2")
def test_what_is_kept_is_let_go_when_the_question_fails(folder: Path) -> None:
    engine = Failing()
    with pytest.raises(NotAnswered) as error:
        asked(folder, engine, *QUESTIONS["logistic"])
    assert engine.bytes
    assert not engine.held
    assert "4711" not in f"{error.value}{error.value.__cause__}{error.value.__context__}"


def there(folder: Path, engine: Any, **how: Any) -> Any:
    found = read(folder)
    columns = Table(placed(found._source, engine), found.kinds).rows([Want("z", "number"), Want("y", "number")], **how)
    assert columns is not None
    return columns


def _sum(given: Any) -> Any:
    return sum((np.rint(piece * 8).astype(np.int64).sum() for piece in given), start=0)


def _tripled(piece: Any) -> Any:
    return 3 * piece


@pytest.mark.claim("kept_rows.1")
def test_what_is_kept_of_kept_rows_is_the_same(folder: Path) -> None:
    engine = Keeping()
    columns = there(folder, engine, where=Where.parse("whole > 2"))
    one = kept(column_of(columns, "z"), 8)
    two = kept(each(_tripled, one), 8)
    again = each(_tripled, two)
    values = np.concatenate(list(column_of(columns, "z")))
    for stream, expected in ((one, values), (two, 3 * values), (again, 3 * (3 * values))):
        assert stream.fold(_sum, added) == np.rint(expected * 8).astype(np.int64).sum()
        assert np.array_equal(np.concatenate(list(stream)), expected)
    assert len(engine.held) == 2
    kept_rows.let_go(columns)
    assert not engine.held


@dataclass(frozen=True)
class Spoiling(Keeping):
    """What was kept of a part is gone, or there twice under other numbers."""

    spoil: Callable[[list[Bucket]], list[Bucket]] = list

    def keep(self, make: Callable[[Any], Any], parts: Any) -> list[Bucket]:
        return self.spoil(super().keep(make, parts))


@pytest.mark.claim("kept_rows.1")
@pytest.mark.parametrize("spoil", [lambda some: some[1:], lambda some: [*some, replace(some[0], number=99)]])
def test_a_part_that_is_missing_or_there_twice_is_noticed(spoil: Any, folder: Path) -> None:
    rows_there = kept(column_of(there(folder, Spoiling(spoil=spoil)), "z"), 8)
    with pytest.raises(BadInput, match="the data changed while they were read"):
        rows_there.fold(_sum, added)


@pytest.mark.claim("kept_rows.1")
def test_what_a_part_says_when_it_is_made_ends_on_its_worker(folder: Path) -> None:
    rows_there = kept(each(_quotes, column_of(there(folder, Unruly(room=ROOM)), "z")), 8)
    with pytest.raises(BadInput) as error:
        rows_there.fold(_sum, added)
    assert "4711" not in str(error.value)
    assert (error.value.__cause__, error.value.__context__) == (None, None)


@pytest.mark.claim("kept_rows.2")
def test_people_are_kept_in_their_buckets_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no task that keeps rows has the key by which people come into buckets."""
    monkeypatch.setattr("discreet.tables.apart.new_key", lambda: b"K" * 32)
    engine = Keeping()
    assert asked(folder, engine, *QUESTIONS["kmeans"], person="id") == asked(
        folder, None, *QUESTIONS["kmeans"], person="id"
    )
    assert not engine.sent


def test_kept_bytes_are_read_back_as_they_were() -> None:
    for found in (None, [1, "a"], np.arange(5.0), {"a": np.ones((3, 2), np.int16), "b": np.ones((4, 4))[::2, ::2]}):
        back = unpacked(packed(None if found is None else Done(found)))
        assert (back is None) == (found is None)
        for one, other in zip(_arrays(back.found if back else None), _arrays(found), strict=True):
            assert np.array_equal(one, other)
            assert one.flags.aligned
    assert persistent(_quotes, 1) is None


def _arrays(found: Any) -> list[Any]:
    return list(found.values()) if isinstance(found, dict) else [found] if isinstance(found, np.ndarray) else []


def test_rows_that_are_held_or_cannot_be_kept_stay_as_they_are(folder: Path) -> None:
    held = np.ones((3, 2))
    assert kept(held, 16) is held
    plain = Stream(3, lambda: iter([np.ones(3)]))
    assert kept(plain, 8) is plain
    source = placed(read(folder)._source, Keeping(room=0))
    assert Keeper.of(source, None, BadInput("")) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [Local, lambda **how: Dask(_Client(), **how), lambda **how: Spark(_Session(), **how)])
@pytest.mark.parametrize("wrong", [-1, 1.5, True, "2G", None])
def test_room_is_a_number_of_bytes(make: Any, wrong: Any) -> None:
    assert make(room=0).room == 0
    with pytest.raises(BadInput, match="give the bytes of prepared rows to keep at most"):
        make(room=wrong)


class _Client:
    submit = map = compute = cancel = sent


class _Session:
    version = "4.0.0"
    range = createDataFrame = sent  # noqa: N815  as Spark calls it
