"""A request has one answer, whoever asks, whenever, and whatever else was drawn for it."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.asking import Question
from discreet.audit.replay import Recorder
from discreet.errors import BadInput, DiscreetError
from discreet.ledger import Ledger
from discreet.noise.randomness import Seeded, Shuffle
from discreet.privacy.guarantee import Neighbours
from discreet.privacy.release import Release
from discreet.session import Session
from discreet.statistics.bounded_mean import BoundedMean
from discreet.tables import opening as read

PEOPLE: dict[str, Any] = {"x": np.arange(500.0) % 10, "y": np.arange(500.0), "id": np.arange(500) // 2}
ASKED: dict[str, Any] = {"epsilon": 0.5, "bounds": (0, 10), "request": "q1"}


def opened(folder: Path, source: Any = PEOPLE, **options: Any) -> Session:
    given: dict[str, Any] = {
        "budget": discreet.Budget(100.0, 1e-2),
        "ledger": folder / "study.ledger",
        "rng": Seeded(1),
    }
    return discreet.open(source, **given | options)


def written(folder: Path, rows: int) -> Path:
    """A file of so many rows."""
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text("x,y\n" + "".join(f"{k % 10},{k}\n" for k in range(rows)))
    return folder / "people.csv"


@pytest.mark.claim("session.3")
def test_a_request_is_of_one_table(tmp_path: Path) -> None:
    """5,001 would be the answer about a table of 9 rows: two in memory look alike, and so do two files of one name."""
    for many, few in (
        ({"x": [1.0] * 5000}, {"x": [1.0] * 9}),
        (written(tmp_path / "a", 5000), written(tmp_path / "b", 9)),
    ):
        request = f"size {type(many).__name__}"
        with opened(tmp_path, many, population="p") as one, opened(tmp_path, few, population="p") as other:
            shown = one.count(epsilon=1.0, request=request).value
            with pytest.raises(BadInput, match="another table"):
                other.count(epsilon=1.0, request=request)
            mechanism = BoundedMean(0, 10, 0.5, neighbours=Neighbours.ADD_OR_REMOVE, unit="row")
            one.run(mechanism, "x", request=f"own {request}")
            with pytest.raises(BadInput, match="another table"):
                other.run(mechanism, "x", request=f"own {request}")
            assert one.count(epsilon=1.0, request=request).value == shown
    with opened(tmp_path, tmp_path / "a" / "people.csv", population="p") as again:  # a file is the same one later
        assert again.count(epsilon=1.0, request=request).value == shown
    with (
        opened(tmp_path, tmp_path / "a" / "people.csv", population="p", types={"x": "integer"}) as other,
        pytest.raises(BadInput, match="another question"),  # it is counted by a column of another kind
    ):
        other.count(epsilon=1.0, request=request)


@pytest.mark.claim("session.3")
def test_who_reads_a_database_is_no_part_of_where_it_is() -> None:
    place = read._place
    assert place("postgresql://ann:one@host/study") == place("postgresql://bob:two@host/study?sslmode=require")
    assert "one" not in str(place("postgresql://ann:one@host/study?password=one"))
    assert len({place(f"postgresql://{where}") for where in ("a/s", "b/s", "a/t", "/s?host=a")}) == 4


@pytest.mark.claim("session.3")
def test_two_who_ask_at_once_are_shown_the_first_answer_that_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path, 500)
    with opened(tmp_path, table) as one, opened(tmp_path, table, rng=Seeded(2)) as other:
        answer, shown = Question.answer, []

        def overtaken(self: Question, *given: Any) -> Any:
            monkeypatch.setattr(Question, "answer", answer)
            mine: Any = answer(self, *given)
            shown.append(other.mean("x", **ASKED).value)
            assert mine.value != shown[0]  # two draws, of which one is never shown
            return mine

        monkeypatch.setattr(Question, "answer", overtaken)
        assert one.mean("x", **ASKED).value == shown[0]
        assert float(one.balance.spent.epsilon) == 0.5


@pytest.mark.claim("session.3")
@pytest.mark.parametrize(
    "changed",
    [{"where": "y > 100"}, {"missing": "keep"}, {"bounds": (0, 9)}, {"epsilon": 0.6}, {"groupby": "y", "keys": [1, 2]}],
)
def test_a_request_is_of_one_question(tmp_path: Path, changed: dict[str, Any]) -> None:
    with opened(tmp_path) as private:
        private.mean("x", **ASKED)
        with pytest.raises(BadInput, match="another question"):
            private.mean("x", **ASKED | changed)
        assert float(private.balance.spent.epsilon) == 0.5


@pytest.mark.claim("session.3")
def test_a_request_is_of_one_population_and_one_analyst(tmp_path: Path) -> None:
    with opened(tmp_path, population="a") as private, opened(tmp_path, population="b") as other:
        private.mean("x", **ASKED)
        private.ledger.allot("a", "ana", discreet.Budget(1.0))
        with pytest.raises(BadInput, match="another question"):
            other.mean("x", **ASKED)
        with opened(tmp_path, population="a", analyst="ana") as ana, pytest.raises(BadInput, match="another question"):
            ana.mean("x", **ASKED)


@pytest.mark.claim("session.1", "session.3")
def test_nothing_is_shown_of_an_answer_that_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt while it is drawn, or stored: the charge stands, and the request is answered later, once."""
    with opened(tmp_path) as private:

        def interrupted(*_: Any) -> Any:
            raise KeyboardInterrupt

        for owner, step in ((Question, "answer"), (Ledger, "store")):
            with monkeypatch.context() as patched:
                patched.setattr(owner, step, interrupted)
                with pytest.raises(KeyboardInterrupt):
                    private.mean("x", **ASKED)
            assert private.ledger.answer("q1") is None
        shown = private.mean("x", **ASKED)
        stored = private.ledger.answer("q1")
        assert stored is not None
        assert str(shown.value) in stored
        assert float(private.balance.spent.epsilon) == 0.5


@pytest.mark.claim("asking.4")
def test_people_are_in_an_order_drawn_at_random_where_places_matter(tmp_path: Path) -> None:
    """Under REPLACE a person may come with another first row: places are not given by the table."""
    recorder = Recorder(Seeded(1))
    seen = []

    class Told(BoundedMean):
        def release(self, rows: Any, rng: Any) -> Any:
            seen.append(np.array(rows))
            return super().release(rows, rng)

    with opened(tmp_path, person="id", neighbours="replace", rng=recorder) as private:
        question = private.prepare("mean", "y", epsilon=0.5, bounds=(0, 500), missing="keep")
        private.mean("y", epsilon=0.5, bounds=(0, 500), missing="keep")
        assert [type(request) for request, _ in recorder.log][:1] == [Shuffle]
        assert recorder.log[0][0].size == 250  # type: ignore[attr-defined]
        private.run(Told(0, 500, 0.5, neighbours=Neighbours.REPLACE, unit="person"), "y")
    assert question.price.relation is Neighbours.REPLACE
    assert sorted(seen[0]) == [0.5 + 2 * k for k in range(250)]
    assert sorted(seen[0]) != list(seen[0])


@pytest.mark.claim("release.1")
def test_a_group_of_those_whose_entry_is_missing_has_one_name(tmp_path: Path) -> None:
    towns = ["a", None, math.nan, "a"] * 50
    with opened(tmp_path, {"town": towns, "x": [1.0] * 200}) as private:
        groups = private.count("x", epsilon=20.0, groupby="town", keys=["a", math.nan])
        assert list(groups) == ["a", None]
        assert [abs(release.value - 100) < 5 for release in groups.values()] == [True, True]


class Fickle(BoundedMean):
    """Answers only if what it drew is above 5: to try again until it does would be more draws than were paid for."""

    error: type[Exception] = ValueError

    def release(self, rows: Any, rng: Any) -> Any:
        made = super().release(rows, rng)
        if made.value <= 5:
            raise self.error("drawn below 5")
        return made


@pytest.mark.claim("session.3")
@pytest.mark.parametrize("error", [ValueError, DiscreetError, BadInput, MemoryError])
def test_an_answer_that_could_not_be_made_is_not_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr(Fickle, "error", error)
    mechanism = Fickle(0, 10, 0.01, neighbours=Neighbours.ADD_OR_REMOVE, unit="row")
    with opened(tmp_path) as private:
        outcomes, told = set(), set()
        for request in range(20):  # about half of them fail; the noise is seeded
            for _ in range(4):
                try:
                    private.run(mechanism, "x", request=f"r{request}")
                    outcomes.add((request, True))
                except DiscreetError as caught:
                    outcomes.add((request, False))
                    told.add("below 5" in str(caught))
        assert {made for _, made in outcomes} == {True, False}
        assert told == {False}
        assert len(outcomes) == 20, "a request was answered after it had failed"
        assert float(private.balance.spent.epsilon) == pytest.approx(0.2)


@pytest.mark.claim("session.3")
def test_a_verb_that_fails_after_a_draw_has_failed_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as private:
        with monkeypatch.context() as patched:
            patched.setattr(Release, "signed", lambda *_: 1 / 0)
            with pytest.raises(DiscreetError, match="no answer could be made"):
                private.mean("x", **ASKED)
        with pytest.raises(DiscreetError, match="no answer could be made to this request"):
            private.mean("x", **ASKED)
        assert private.mean("x", **ASKED | {"request": "q2"}).value is not None
        assert float(private.balance.spent.epsilon) == 1.0
        with monkeypatch.context() as patched:  # nothing was drawn: a table that cannot be read is read later
            patched.setattr(type(private.table), "columns", lambda *_, **__: 1 / 0)
            with pytest.raises(DiscreetError, match="no answer could be made"):
                private.mean("x", **ASKED | {"request": "q3"})
        assert private.mean("x", **ASKED | {"request": "q3"}).value is not None
        assert float(private.balance.spent.epsilon) == 1.5


@pytest.mark.claim("session.1", "session.3")
def test_what_cannot_be_written_down_says_nothing_of_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*_: Any, **__: Any) -> str:
        raise ValueError("it is 42.5")

    monkeypatch.setattr(Release, "to_json", told)
    with opened(tmp_path) as private:
        for _ in range(2):
            with pytest.raises(DiscreetError) as caught:
                private.run(
                    BoundedMean(0, 10, 0.5, neighbours=Neighbours.ADD_OR_REMOVE, unit="row"), "x", request="odd"
                )
            assert "42.5" not in str(caught.value)
        assert float(private.balance.spent.epsilon) == 0.5
