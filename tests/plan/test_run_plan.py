"""A plan that is run: one charge, then the answers; the same plan again is the same answers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.filter import Budget
from discreet.asking import Question
from discreet.errors import BadInput, DiscreetError, NotAnswered, OverBudget
from discreet.ledger import Ledger
from discreet.noise.randomness import Seeded
from discreet.plan.bound_plan import Bound, bind
from discreet.plan.plan_file import parse_plan
from discreet.plan.run_plan import composition, run_plan
from discreet.report import page, to_csv, to_json
from discreet.tables.table import Table

Binds = Callable[[str], Bound]


def charges(folder: Path) -> list[Any]:
    with Ledger(folder / "study.ledger") as book:
        return list(book.entries("patients"))


@pytest.mark.claim("run_plan.1")
def test_one_charge_then_the_answers_then_the_same_for_nothing(
    bound: Binds, plan: str, folder: Path, reads: Any
) -> None:
    found, told = bound(plan), list[str]()
    first = run_plan(found, rng=Seeded(1), watch=told.append)
    assert told == [question.title for question in found.priced.questions]
    assert reads.count == 2
    (charge,) = charges(folder)
    assert charge.request == found.request
    assert float(charge.cost) == first["budget"]["this"]["epsilon"] == 1.0
    assert first["budget"]["left"] == {"epsilon": 2.0, "delta": 1e-4}
    assert first["reproducibility"]["receipts"] == [str(charge)]
    count, share = (entry["release"] for entry in first["releases"])
    assert abs(count["value"] - 600) < 60
    assert abs(share["value"] - 0.5) < 0.2
    again = run_plan(bound(plan), rng=Seeded(2))
    assert again == first
    assert reads.count == 2
    assert len(charges(folder)) == 1
    other = run_plan(bound(plan.replace("small", "smaller")), rng=Seeded(2))
    assert other["releases"] != first["releases"]
    assert len(charges(folder)) == 2


@pytest.mark.claim("run_plan.1")
def test_a_plan_is_charged_before_a_row_is_read(
    bound: Binds, plan: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def crashed(*given: Any, **more: Any) -> Any:
        del given, more
        seen.append(len(charges(folder)))
        raise ValueError("Zzyzx")

    with monkeypatch.context() as broken:
        broken.setattr(Table, "columns", crashed)
        with pytest.raises(DiscreetError, match="costs nothing") as told:
            run_plan(bound(plan), rng=Seeded(1))
    assert "Zzyzx" not in str(told.value)
    assert seen == [1]
    assert run_plan(bound(plan), rng=Seeded(1))["releases"]
    assert len(charges(folder)) == 1


@pytest.mark.claim("run_plan.1")
def test_a_plan_that_failed_after_a_draw_is_not_drawn_again(
    bound: Binds, plan: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, made = Question.answer, []

    def second_fails(*given: Any) -> Any:
        made.append(answer(*given))
        return made[-1] if len(made) < 2 else 1 / 0

    with monkeypatch.context() as broken:
        broken.setattr(Question, "answer", second_fails)
        with pytest.raises(NotAnswered):
            run_plan(bound(plan), rng=Seeded(1))
    with pytest.raises(DiscreetError, match="no answers could be made to this plan"):
        run_plan(bound(plan), rng=Seeded(1))
    assert len(charges(folder)) == 1


@pytest.mark.claim("run_plan.1")
def test_a_plan_whose_answers_cannot_be_written_down_is_not_drawn_again(
    bound: Binds, plan: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That they cannot is an answer too, and another draw would have another chance of it."""
    with monkeypatch.context() as broken:
        broken.setattr("discreet.plan.run_plan._assumptions", lambda _: [float("nan")])
        with pytest.raises(NotAnswered, match="budget was spent"):
            run_plan(bound(plan), rng=Seeded(1))
    with pytest.raises(DiscreetError, match="no answers could be made to this plan"):
        run_plan(bound(plan), rng=Seeded(1))
    assert len(charges(folder)) == 1


@pytest.mark.claim("run_plan.1")
def test_only_what_is_stored_is_shown(bound: Binds, plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any) -> str:
        del given
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "store", full)
        with pytest.raises(OSError, match="no space"):
            run_plan(bound(plan), rng=Seeded(1))
    first = run_plan(bound(plan), rng=Seeded(1))
    assert run_plan(bound(plan), rng=Seeded(3)) == first


def test_over_budget_charges_and_reads_nothing(bound: Binds, plan: str, folder: Path, reads: Any) -> None:
    with pytest.raises(OverBudget, match=r"this costs epsilon 4, and 3 is left of 3"):
        run_plan(bound(plan.replace("epsilon = 1.0", "epsilon = 4.0")), rng=Seeded(1))
    assert reads.count == 0
    assert charges(folder) == []


def test_groups_and_found_categories(bound: Binds, head: str) -> None:
    text = head.replace("epsilon = 1.0", "epsilon = 3.0\ndelta = 1e-5").replace("unit =", "rows = 600\nunit =") + (
        "[[release]]\nid = 'ages'\nstatistic = 'mean'\ncolumns = 'age'\ngroupby = 'sex'\nkeys = ['F', 'M', 'X']\n"
        "epsilon = 1\noptions = {bounds = [0, 120]}\ntitle = 'Mean age'\n"
        "[[release]]\nid = 'towns'\nstatistic = 'histogram'\ncolumns = 'town'\nepsilon = 1\n"
        "[[release]]\nid = 'found'\nstatistic = 'count'\ngroupby = 'town'\nepsilon = 1\n"
    )
    made = bound(text)
    found = run_plan(made, rng=Seeded(1))
    ages, towns, parts = found["releases"]
    assert [group["key"] for group in ages["groups"]] == ["F", "M", "X"]
    assert ages["question"] == "Mean age"
    assert all(abs(group["release"]["value"] - 54) < 20 for group in ages["groups"][:2])
    assert sorted(towns["release"]["value"]["keys"]) == ["Bonn", "Ulm"]
    assert sorted(group["key"] for group in parts["groups"]) == ["Bonn", "Ulm"]
    assert "Zzyzx" not in json.dumps(found)
    assert ages["forecast"]["rows"] == 200
    assert found["budget"]["this"]["delta"] == 1e-5
    assert "3 releases" in composition(made.priced)
    assert "The groups were found: those with few patients are not shown." in found["assumptions"]
    assert json.loads(to_json(found)) == found
    assert "<h1>A small study</h1>" in page(found)
    assert to_csv(found).count("\n") >= 7


@pytest.mark.parametrize("counted", ["zcdp", "gdp"])
def test_budgets_that_are_counted_otherwise(bound: Binds, plan: str, folder: Path, counted: str) -> None:
    text = plan.replace("delta = 1e-4", f'delta = 1e-4\naccounting = "{counted}"').replace(
        "epsilon = 1.0", "epsilon = 0.3"
    )
    found = run_plan(bound(text), rng=Seeded(1))
    assert found["budget"]["left"] is None
    (charge,) = charges(folder)
    assert charge.cost > 0
    assert run_plan(bound(text), rng=Seeded(1)) == found


def test_several_rows_a_person(bound: Binds, plan: str, folder: Path) -> None:
    rows = "".join(f"p{who},{visit},30.5,F,Ulm\n" for who in range(200) for visit in range(3))
    (folder / "people.csv").write_text("id,age,bmi,sex,town\n" + rows)
    text = plan.replace('unit = "patient"', 'person = "id"').replace("epsilon = 1.0", "epsilon = 3.0")
    count = run_plan(bound(text), rng=Seeded(1))["releases"][0]["release"]
    assert abs(count["value"] - 200) < 40
    assert count["guarantee"]["unit"] == "person"


def test_a_note_is_the_title_and_the_plan(
    bound: Binds, plan: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_plan(bound(plan), rng=Seeded(1))
    head, whole = charges(folder)[0].note.split("\n")
    assert head == "plan: A small study"
    assert json.loads(whole)["plan"]["spend"] == {"epsilon": 1.0}
    monkeypatch.setattr("discreet.ledger.ledger_text.LONGEST_NOTE", 200)
    run_plan(bound(plan.replace("epsilon = 1.0", "epsilon = 0.5")), rng=Seeded(1))
    assert list(json.loads(charges(folder)[1].note.split("\n")[1])) == ["sha256"]


def test_a_plan_is_of_one_table(bound: Binds, plan: str, folder: Path) -> None:
    """The same plan in another folder, on the same ledger, is about another table of that name."""
    plan = plan.replace("study.ledger", str(folder / "study.ledger"))
    run_plan(bound(plan), rng=Seeded(1))
    elsewhere = folder / "other"
    elsewhere.mkdir()
    shutil.copyfile(folder / "people.csv", elsewhere / "people.csv")
    found = bind(parse_plan(plan), plan, elsewhere)
    with pytest.raises(BadInput, match="another table"):
        run_plan(found, rng=Seeded(1))


def test_an_analyst_has_a_part(bound: Binds, plan: str, folder: Path) -> None:
    from discreet.accounting.filter import Budget

    text = plan.replace("epsilon = 3", 'epsilon = 3\nanalyst = "ann"')
    with pytest.raises(BadInput, match="ann"):
        run_plan(bound(text), rng=Seeded(1))
    with Ledger(folder / "study.ledger") as book:
        book.allot("patients", "ann", Budget(0.5))
    with pytest.raises(OverBudget, match="ann"):
        run_plan(bound(text), rng=Seeded(1))
    assert charges(folder) == []


def again(folder: Path, text: str, as_of: str | None = None) -> Bound:
    return bind(parse_plan(text), text, folder, reuse=True, as_of=as_of)


@pytest.mark.claim("stored_answers.1")
@pytest.mark.claim("run_plan.1")
def test_titles_notes_and_order_are_free(bound: Binds, head: str, plan: str, folder: Path, reads: Any) -> None:
    first = run_plan(bound(plan), rng=Seeded(1))
    seen = reads.count
    count, share = plan.removeprefix(head).split("\n\n")
    edited = head.replace("A small study", "Another title") + share + "title = 'How many women?'\n\n" + count
    found = again(folder, edited)
    assert found.answered()
    assert not found.priced.new
    made = run_plan(found, rng=Seeded(2))
    assert [entry["id"] for entry in made["releases"]] == ["women", "all"]
    assert made["releases"][0]["question"] == "How many women?"
    kept = [entry["release"] for entry in reversed(made["releases"])]
    assert kept == [entry["release"] for entry in first["releases"]]
    assert made["title"] == "Another title"
    assert made["budget"]["this"]["epsilon"] == 1.0
    assert made["created"] == first["created"]
    assert len(charges(folder)) == 1
    assert reads.count == seen
    assert "stored before" in made["budget"]["composition"]
    assert "<h1>Another title</h1>" in page(made)


@pytest.mark.claim("stored_answers.1")
def test_a_plan_that_grew_pays_for_what_is_new(bound: Binds, plan: str, folder: Path) -> None:
    first = run_plan(bound(plan), rng=Seeded(1))
    more = "\n[[release]]\nid = 'old'\nstatistic = 'proportion'\ncolumns = 'age > 60'\n"
    with pytest.raises(BadInput, match=r"may spend epsilon 1 in all, and its 2 stored answers cost 1"):
        again(folder, plan + more)
    grown = plan.replace("[spend]\nepsilon = 1.0", "[spend]\nepsilon = 1.5") + more
    with pytest.raises(
        OverBudget, match=r"2 stored answers, which cost 1, leave of \[spend\] epsilon = 1\.5: raise it"
    ):
        again(folder, f"{grown}epsilon = 0.7\n")
    found = again(folder, grown)
    assert [question.statistic.name for question in found.priced.new] == ["proportion"]
    assert float(found.priced.together.epsilon) == pytest.approx(0.5)
    found.check()
    made = run_plan(found, rng=Seeded(2))
    assert [entry["release"] for entry in made["releases"][:2]] == [entry["release"] for entry in first["releases"]]
    assert [float(charge.cost) for charge in charges(folder)] == pytest.approx([1.0, 0.5])
    assert made["budget"]["this"]["epsilon"] == pytest.approx(1.5)
    assert made["budget"]["spent_before"]["epsilon"] == pytest.approx(0)
    assert made["budget"]["left"]["epsilon"] == pytest.approx(1.5)
    assert len(made["reproducibility"]["receipts"]) == 2
    once_more = again(folder, grown)
    assert once_more.answered()
    assert run_plan(once_more)["releases"] == made["releases"]
    assert len(charges(folder)) == 2


@pytest.mark.claim("stored_answers.1")
def test_another_question_date_or_price_is_asked_anew(bound: Binds, plan: str, folder: Path) -> None:
    run_plan(bound(plan), rng=Seeded(1))
    assert len(again(folder, plan + "\n# a note\n").kept) == 0  # the very same plan: its own answers are stored
    assert again(folder, plan).answered()
    changed = plan.replace("sex == 'F'", "sex == 'M'").replace("epsilon = 1.0", "epsilon = 2.0")
    assert list(again(folder, changed).kept) == [0]
    fixed = plan.replace('statistic = "count"', 'statistic = "count"\nepsilon = 0.1').replace("1.0", "2.0")
    assert list(again(folder, fixed).kept) == [1]
    later = again(folder, plan, as_of="2027-01-01")
    assert not later.answered()
    made = run_plan(later, rng=Seeded(3))
    assert made["data"]["as_of"] == "2027-01-01"
    assert len(charges(folder)) == 2
    assert again(folder, plan, as_of="2027-01-01").answered()


@pytest.mark.claim("stored_answers.1")
def test_what_is_made_of_a_persons_rows_is_part_of_the_question(bound: Binds, head: str, folder: Path) -> None:
    """Of a condition and of a group too, which are in no list of columns; rules of other columns are free."""
    data = 'unit = "patient"\nperson = "bmi"\n'
    releases = "[[release]]\nid = 'old'\nstatistic = 'count'\nwhere = 'age > 50'\n"
    releases += "\n[[release]]\nid = 'older'\nstatistic = 'proportion'\ncolumns = 'age > 60'\n"
    releases += "\n[[release]]\nid = 'by'\nstatistic = 'count'\ngroupby = 'sex'\nkeys = ['F', 'M']\n"
    plan = head.replace('unit = "patient"\n', data) + releases
    run_plan(bound(plan), rng=Seeded(1))

    def kept(rules: str) -> list[int]:
        edited = (
            plan.replace(data, data + rules).replace("A small study", "Another").replace("epsilon = 1.0", "epsilon = 2")
        )
        return sorted(again(folder, edited).kept)

    assert kept("") == kept("per_person = {town = 'last'}\n") == [0, 1, 2]
    assert kept("per_person = {age = 'max'}\n") == [2]
    assert kept("per_person = {sex = 'last'}\n") == [0, 1]
    assert kept("max_rows = 1\n") == []


@pytest.mark.claim("stored_answers.1")
def test_another_table_relation_or_analyst_is_asked_anew(bound: Binds, plan: str, folder: Path) -> None:
    run_plan(bound(plan), rng=Seeded(1))
    edited = plan.replace("A small study", "Another").replace("[spend]\nepsilon = 1.0", "[spend]\nepsilon = 1.5")
    assert len(again(folder, edited).kept) == 2
    shutil.copy(folder / "people.csv", folder / "others.csv")
    assert not again(folder, edited.replace("people.csv", "others.csv")).kept
    assert not again(folder, edited.replace('unit = "patient"', 'unit = "patient"\nneighbours = "replace"')).kept
    with Ledger(folder / "study.ledger") as book:
        book.allot("patients", "ann", Budget(0.5))
    assert not again(folder, edited.replace("epsilon = 3", "epsilon = 3\nanalyst = 'ann'")).kept


def test_an_analysts_report_states_both_budgets(bound: Binds, plan: str, folder: Path) -> None:
    run_plan(bound(plan.replace("[spend]\nepsilon = 1.0", "[spend]\nepsilon = 0.5")), rng=Seeded(1))
    with Ledger(folder / "study.ledger") as book:
        book.allot("patients", "ann", Budget(0.8, 1e-5))
    mine = plan.replace("epsilon = 3\n", "epsilon = 3\nanalyst = 'ann'\n").replace("A small", "Ann's")
    found = bound(mine.replace("[spend]\nepsilon = 1.0", "[spend]\nepsilon = 0.6"))
    (told,) = found.shared()
    assert told.startswith("That is the part of ann; of patients as a whole: epsilon 2.5 is left of 3")
    made = run_plan(found, rng=Seeded(1))
    assert made["budget"]["left"]["epsilon"] == pytest.approx(0.2)
    assert made["budget"]["whole"]["left"]["epsilon"] == pytest.approx(1.9)
    shown = page(made)
    assert "The part of ann" in shown
    assert "The budget of patients, for all analysts" in shown
    (warned,) = bound(plan.replace("A small", "Nobody's")).shared()
    assert "Analysts have parts of this budget (ann), and this plan names none" in warned
    assert "A file cannot hinder that" in warned
