import copy
import json
import random
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.report.made import Read, dossier, entry, grouped, records

from discreet.errors import BadInput
from discreet.report import from_json, page, sentence, to_csv, to_json
from discreet.report.page import POLICY, card, summary
from discreet.report.questions import in_words
from discreet.report.record import Report, entry_of

HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style></title><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "&lt;b&gt;",
    "\u202eright to left\u2066",
    "\x00\x07\x1b[31m",
    "\ud800 half",
    "שלום",
    "=cmd|' /C calc'!A0",
    "http://example.org/x.png",
    "x" * 300,
    "",
)
texts = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=()), max_size=20)
numbers = (
    st.floats()
    | st.integers(-(10**20), 10**20)
    | st.sampled_from([10**400, -(10**400), 0, -0.0, 5e-324, 1e308, -1e308, 1e15, 1e-5])
)
leaf = st.none() | st.booleans() | numbers | texts
plain = st.recursive(
    leaf, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


def changed(thing: Any, luck: random.Random, leaves: list[Any]) -> Any:
    """A record in which some leaves are others, some lists are shorter, and some keys are gone."""
    if isinstance(thing, dict):
        return {key: changed(item, luck, leaves) for key, item in thing.items() if luck.random() > 0.02}
    if isinstance(thing, list):
        kept = thing[: luck.randrange(len(thing) + 1)] if luck.random() < 0.1 else thing[:40]
        return [changed(item, luck, leaves) for item in kept]
    return luck.choice(leaves) if leaves and luck.random() < 0.15 else thing


@st.composite
def hostile_records(draw: st.DrawFn) -> dict[str, Any]:
    record = copy.deepcopy(records()[draw(st.sampled_from(sorted(records())))])
    luck, leaves = random.Random(draw(st.integers(0, 2**32))), draw(st.lists(leaf, max_size=5))
    if draw(st.booleans()):  # of another shape
        for key in ("value", "interval", "spread", "provenance"):
            record[key] = changed(record.get(key), luck, leaves)
    elif draw(st.booleans()):
        record["value"] = draw(plain)
    else:  # of the right shape, with hostile leaves
        record["value"] = alike(record["value"], luck, draw(st.lists(numbers, min_size=1)), draw(st.lists(texts)))
    record["refusal"] = draw(st.none() | texts)
    record["provenance"] = {**record["provenance"], "notes": draw(st.lists(texts, max_size=3))}
    record["name"], record["guarantee"]["unit"] = draw(texts), draw(texts)
    return record


def alike(thing: Any, luck: random.Random, numbers: list[Any], words: list[str]) -> Any:
    """The same, with other numbers and other words in some places."""
    if isinstance(thing, dict):
        return {
            key: item if key in {"kind", "link"} else alike(item, luck, numbers, words) for key, item in thing.items()
        }
    if isinstance(thing, list):
        return [alike(item, luck, numbers, words) for item in thing]
    if luck.random() > 0.1:
        return thing
    if isinstance(thing, str):
        return luck.choice(words or [thing])
    return thing if isinstance(thing, bool) or thing is None else luck.choice(numbers)


@st.composite
def hostile_dossiers(draw: st.DrawFn) -> dict[str, Any]:
    each: dict[str, Any] = {
        "id": draw(texts),
        "question": draw(texts),
        "statistic": draw(texts),
        "columns": draw(st.lists(texts, max_size=3)),
        "where": draw(st.none() | texts),
        "forecast": draw(st.none() | st.fixed_dictionaries({"half_width": plain, "error": plain})),
    }
    one = entry(draw(hostile_records()), **each)
    groups = draw(st.lists(st.fixed_dictionaries({"key": plain, "release": hostile_records()}), max_size=3))
    whole = dossier(one, grouped(groups), title=draw(texts), description=draw(st.none() | texts), created=draw(texts))
    whole["data"].update({name: draw(texts) for name in ("source", "population", "unit", "neighbours")})
    whole["data"]["rows"] = draw(st.none() | st.integers(-(10**20), 10**400))
    whole["meaning"], whole["methods"] = [draw(texts)], [{"name": draw(texts), "text": draw(texts)}]
    whole["reproducibility"] = draw(st.dictionaries(texts, plain, max_size=3))
    whole["budget"].update({name: draw(st.floats(0, 1e308) | st.integers(0, 10**20)) for name in ("epsilon", "delta")})
    whole["budget"]["left"] = draw(st.none() | st.just({"epsilon": 1e308, "delta": 0}))
    return whole


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(hostile_dossiers())
def test_nothing_breaks_the_page_and_nothing_leaves_its_place(found: dict[str, Any]) -> None:
    try:
        made = page(found)
    except BadInput:
        return
    made.encode()
    Read(made)
    for each in found["releases"]:
        assert isinstance(sentence(each), str)
    to_csv(found).encode()


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    each = [entry(record, f"{name} of bmi") for name, record in records().items()]
    sexes = [{"key": sex, "release": records()["mean"]} for sex in ("Male", "Female")]
    groups = grouped([*sexes, {"key": None, "release": records()["refused"]}], forecast={"half_width": 0.2, "error": 1})
    tallies = grouped([{"key": sex, "release": records()["open histogram"]} for sex in ("Male", "Female")])
    return dossier(*each, groups, tallies, entry(records()["mean"], forecast={"half_width": 0.21, "error": 0.1}))


def test_every_verb_is_on_a_whole_page(whole: dict[str, Any]) -> None:
    made = page(whole)
    read = Read(made)
    assert made.startswith("<!DOCTYPE html>")
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(read.headings, read.headings[1:], strict=False))
    assert len(set(read.ids)) == len(read.ids)
    assert {link[1:] for link in read.links} <= set(read.ids)
    for name in records():
        assert in_words(f"{name} of bmi") in read.text
    assert "NOT FOR PUBLICATION: the noise of" in read.text
    assert "forecast ±0.21; achieved ±" in read.text
    assert "locating the data without bounds needs" in read.text
    assert "None" not in read.text.replace("model=None", "")
    assert "nan" not in read.text.split()
    assert not re.search(r"\de[+-]\d", re.sub(r"(delta|plus|at most|it is|about) [\d.]+e[+-]\d+", "", read.text)), (
        "powers"
    )


def test_the_page_asks_nothing_of_the_network(whole: dict[str, Any]) -> None:
    made = page(whole)
    assert f'content="{POLICY}"' in made
    assert "default-src 'none'" in POLICY
    for outside in ("://", "url(", "@import", "src=", "<script", "<link", "<img"):
        assert outside not in made, outside


def test_a_page_is_made_anew_from_its_json(whole: dict[str, Any]) -> None:
    kept = from_json(to_json(whole))
    assert kept.model_dump(exclude_unset=True) == json.loads(json.dumps(whole))
    assert page(kept) == page(from_json(to_json(kept)))
    assert to_csv(kept) == to_csv(whole)


def test_only_seeded_noise_is_warned_of() -> None:
    open_to_all = page(dossier(entry(records()["publishable"])))
    assert "NOT FOR PUBLICATION" not in open_to_all
    assert page(dossier(entry(records()["count"]))).count("NOT FOR PUBLICATION") == 1
    mixed = dossier(entry(records()["count"]), entry(records()["publishable"]))
    assert page(mixed).count("NOT FOR PUBLICATION") == 2  # at the top, and in the card that it is about


def test_the_summary_says_how_many_at_what_cost_for_whom() -> None:
    told = summary(Report.of(dossier(entry(records()["mean"]), entry(records()["refused"]))))
    assert told == (
        "2 answers about NHANES 2017-18 (8,366 rows), for epsilon 1 and delta 10⁻⁶ in all; "
        "what is hidden is the data of each participant. One was refused."
    )
    whole = dossier(entry(records()["mean"]))
    whole["data"]["neighbours"] = "one participant is added or removed"
    assert "what is hidden is whether any one participant is in the data." in summary(Report.of(whole))


def test_budgets_of_nothing_and_of_all_are_drawn() -> None:
    nothing = {"epsilon": 0, "delta": 0}
    budget = {**nothing, "spent_before": None, "this": nothing, "left": None, "composition": ""}
    assert "Spent before" not in Read(page(dossier(budget=budget))).text
    assert "Spent before" in Read(page(dossier())).text


def test_a_card_has_the_question_the_answer_and_the_promise() -> None:
    made = entry(records()["mean"], "mean of bmi", forecast={"half_width": 0.2, "error": 0.1}, where="age >= 18")
    read = Read(card(entry_of(made), 3))
    assert read.ids == ["answer-3", "asked-3"]
    for said in ("Mean of bmi", "with 95% confidence", "Privacy: epsilon 1", "forecast ±0.2; achieved ±", "age >= 18"):
        assert said in read.text
    assert "NOT FOR PUBLICATION" in read.text
    assert "RankClippedMean" in read.text


def test_a_refusal_is_shown_plainly() -> None:
    made = entry_of(entry(records()["refused"]))
    assert made.refused
    read = Read(card(made, 1))
    assert "No answer was given." in read.text
    assert str(records()["refused"]["refusal"]) in read.text


def test_groups_share_a_card_and_each_sentence_is_there_once() -> None:
    groups = [{"key": key, "release": records()["mean"]} for key in "abc"]
    made = entry_of(grouped([*groups, {"key": "d", "release": records()["refused"]}]))
    assert not made.refused
    assert not made.publishable
    shown = card(made, 1)
    assert Read(shown).text.count("Privacy: epsilon 1:") == 1
    assert shown.count("<table>") == 1
    assert Read(shown).text.count(str(records()["refused"]["refusal"])) == 1


def test_groups_of_larger_answers_have_a_picture_each() -> None:
    made = grouped([{"key": key, "release": records()["open histogram"]} for key in "ab"])
    assert Read(card(entry_of(made), 1)).headings == [3, 4, 4]


def test_groups_of_tests_say_what_is_rejected() -> None:
    tests = [{"key": name, "release": records()[name]} for name in ("test_any", "test_paired")]
    read = Read(card(entry_of(grouped(tests)), 1))
    assert "rejected at 5%" in read.text
    assert "There is no interval" not in read.text


def test_receipts_are_shown() -> None:
    record = copy.deepcopy(records()["count"])
    record["provenance"]["receipt"] = "17"
    assert "Receipt17" in Read(card(entry_of(entry(record)), 1)).text


@pytest.mark.parametrize("thing", [None, [], {}, "x", {"format": "other"}, {"format": "discreet report 1"}])
def test_what_is_no_report_is_refused(thing: Any) -> None:
    with pytest.raises(BadInput):
        page(thing)


@given(texts)
@example("\u202e<")
def test_titles_are_shown_as_they_are(title: str) -> None:
    read = Read(page(dossier(title=title)))
    if title.isprintable():
        assert title in read.text
