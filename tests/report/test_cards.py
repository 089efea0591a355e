from tests.report.made import Read, entry, grouped, records

from discreet.report.cards import card, publishable, refused


def test_a_card_has_the_question_the_answer_and_the_promise() -> None:
    made = entry(records()["mean"], "mean of bmi", forecast={"half_width": 0.2, "error": 0.1}, where="age >= 18")
    read = Read(card(made, 3))
    assert read.ids == ["answer-3", "asked-3"]
    for said in ("Mean of bmi", "with 95% confidence", "Privacy: epsilon 1", "forecast ±0.2; achieved ±", "age >= 18"):
        assert said in read.text
    assert "NOT FOR PUBLICATION" in read.text
    assert "RankClippedMean" in read.text


def test_a_refusal_is_shown_plainly() -> None:
    made = entry(records()["refused"])
    assert refused(made)
    read = Read(card(made, 1))
    assert "No answer was given." in read.text
    assert str(records()["refused"]["refusal"]) in read.text


def test_groups_share_a_card_and_each_sentence_is_there_once() -> None:
    groups = [{"key": key, "release": records()["mean"]} for key in "abc"]
    made = grouped([*groups, {"key": "d", "release": records()["refused"]}])
    assert not refused(made)
    assert not publishable(made)
    shown = card(made, 1)
    assert Read(shown).text.count("epsilon 1: whatever") == 1
    assert shown.count("<table>") == 1
    assert Read(shown).text.count(str(records()["refused"]["refusal"])) == 1


def test_groups_of_larger_answers_have_a_picture_each() -> None:
    made = grouped([{"key": key, "release": records()["open histogram"]} for key in "ab"])
    read = Read(card(made, 1))
    assert read.headings == [3, 4, 4]


def test_groups_of_tests_say_what_is_rejected() -> None:
    tests = [{"key": name, "release": records()[name]} for name in ("test_any", "test_paired")]
    read = Read(card(grouped(tests), 1))
    assert "rejected at 5%" in read.text
    assert "There is no interval" not in read.text


def test_receipts_and_unknown_promises_are_shown() -> None:
    record = {**records()["count"], "guarantee": {"epsilon": 0.5, "delta": 0}}
    record["provenance"] = {**record["provenance"], "receipt": "17"}
    read = Read(card(entry(record), 1))
    assert "Receipt17" in read.text
    assert "epsilon 0.5, delta 0" in read.text
