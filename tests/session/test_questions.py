"""Whole questions on hostile neighbours in every container; and the faults that this would not let pass, planted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.neighbouring import KINDS, one, pair
from benchmarks.posed import HERE, close
from benchmarks.question_cases import ADD, BOTH, CASES, KEPT, NAMED, REPLACE, Handed, Session
from benchmarks.questions import judged, worked
from benchmarks.sessions import Asking

import discreet
from discreet.privacy.guarantee import Neighbours
from discreet.subsample import partition, run_block
from discreet.tables.opening import read
from discreet.tables.table import Table

LIGHT = [name for name, case in CASES.items() if case.share > 0.1]  # not in a real sandbox


def one_run(name: str, kind: str, run: int) -> None:
    for relation in CASES[name].relations:
        assert judged(name, kind, relation, run).objections == []


@pytest.mark.claim("asking.1", "asking.2", "asking.3", "asking.4", "aggregate.1")
@pytest.mark.parametrize(("place", "name"), list(enumerate(LIGHT)))
def test_a_question_treats_neighbours_alike_in_every_container(place: int, name: str) -> None:
    kinds = CASES[name].kinds
    for run in range(2):
        one_run(name, kinds[(place + run * 5) % len(kinds)], run)


@pytest.mark.parametrize("name", ["session: covariance", "session: linear_regression", "session: poisson_regression"])
def test_questions_are_answered_and_not_refused(name: str) -> None:
    tally = worked((name, "arrow", (REPLACE,), 0, 2))
    assert (tally.answered, tally.wrong) == (2, [])


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("several", [False, True])
def test_pairs_differ_in_one_person(relation: Neighbours, several: bool) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        sides = pair(rng, relation, several=several, people=30)
        rows: list[dict[str, list[str]]] = [{who: [] for who in side["id"]} for side in sides]
        for side, held in zip(sides, rows, strict=True):
            for place, who in enumerate(side["id"]):
                held[who].append(repr([side[name][place] for name in sorted(side)]))
        odd = [who for who in {*rows[0], *rows[1]} if rows[0].get(who) != rows[1].get(who)]
        if relation is ADD:
            assert len(odd) == 1
            assert abs(len(rows[0]) - len(rows[1])) == 1
        else:
            assert 1 <= len(odd) <= 2
            assert len(rows[0]) == len(rows[1])


def caught(case: Handed | Session, kind: str, relations: tuple[Neighbours, ...] = BOTH, runs: int = 12) -> set[str]:
    """The objections to a planted fault, without their numbers."""
    found = [what for run in range(runs) for each in relations for what in _planted(case, kind, each, run)]
    return {"".join(letter for letter in what if not letter.isdigit()) for what in found}


def _planted(case: Handed | Session, kind: str, relation: Neighbours, run: int) -> list[str]:
    return judged("planted", kind, relation, run, case).objections


class RankedOverAll:
    """A fit that numbers labels by their rank in the whole table: one new label changes what all others stand for."""

    name, unbiased, likelihood, closed = "planted", True, False, True

    def answer(self, x: Any, y: Any) -> float:
        return 0.0

    def fast(self, x: Any, y: Any, correct: object) -> "RankedOverAll":
        return self

    def rows(self, blocks: Any, correct: object, first: int = 0, last: int | None = None) -> Any:
        _, ranks = np.unique([str(label) for label in blocks.table.y], return_inverse=True)
        ends = blocks.edges[::2]
        found = [[ranks[ends[block] : ends[block + 1]].mean()] for block in range(blocks.count)]
        return np.array(found)[first:last]


def test_labels_ranked_over_the_whole_table_are_caught() -> None:
    def ask(columns: Any, kind: str, given: dict[str, Any]) -> Any:
        fit: Any = RankedOverAll()
        return discreet.fit(fit, np.zeros((len(columns["x"]), 1)), one(columns, kind, "label"), engine=HERE, **given)

    found = caught(Handed(ask, NAMED, 80), "objects")
    assert " of  blocks have another estimate" in found
    assert any(what.startswith("draw") for what in found)


def test_numbers_of_people_sent_to_cells_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    packed: Callable[..., bytes] = run_block._message

    def told(raw: bytes, shape: Any, blocks: Any, number: int, correct: Any) -> bytes:
        start, _, stop = blocks.bounds(number)
        return packed(raw, shape, blocks, number, correct) + partition.codes(blocks.table.people)[start:stop].tobytes()

    monkeypatch.setattr(run_block, "_message", told)
    asked = Asking(
        "fit", (close, "x"), {"epsilon": 60.0, "blocks": 6, "trust": "sandbox", "names": "number"}, KEPT, True
    )
    assert " of  cells are sent something else" in caught(Session((asked,), 30), "lists")


def test_types_inferred_from_the_data_are_caught() -> None:
    def inferred(frame: Any, *, types: Any) -> Table:
        return read(frame, types=dict(types) | {"whole": "integer" if frame["whole"].dtype.kind in "iu" else "number"})

    asked = Asking("median", ("whole",), {"epsilon": 60.0}, KEPT)
    found = caught(Session((asked,), 30, opened=inferred), "pandas", (REPLACE,))
    assert found & {"the price, or what is asked, depends on the data", "with equal draws the releases differ"}


def test_every_container_holds_the_same_people() -> None:
    rng = np.random.default_rng(0)
    side, _ = pair(rng, REPLACE, several=False, people=20)
    for make in KINDS.values():
        table = read(make(side, list(side)))
        assert (table.names, table.size()) == (tuple(side), 20)
