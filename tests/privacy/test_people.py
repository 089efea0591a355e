"""One word for whom an answer is about."""

import discreet
from discreet.privacy.people import OneWord, People


def test_notes_and_refusals_of_a_session_speak_of_its_unit() -> None:
    visits = {"id": [k // 2 for k in range(8000)], "cost": [float(k % 90) for k in range(8000)]}
    with discreet.open(
        visits, "id", discreet.Budget(9.0, 1e-6), ":memory:", unit="patient", rng=discreet.Seeded(1)
    ) as session:
        found = session.mean("cost", epsilon=1.0)
        refused = session.quantile("cost", 0.99, epsilon=0.01)
    said = "\n".join([*found.provenance.notes, str(refused.refusal), found.name])
    assert "cost: the mean of each patient's rows" in said
    assert "(the mean of each patient's rows)" in found.name
    assert "patients, by a noisy count" in said
    for other in ("people", "person", " row "):
        assert other not in said


def test_functions_speak_of_rows() -> None:
    found = discreet.mean([float(k % 50) for k in range(5000)], epsilon=1.0, rng=discreet.Seeded(1))
    assert any(" rows more than " in note for note in found.provenance.notes)
    refused = discreet.quantile([1.0] * 20, 0.5, epsilon=0.01, rng=discreet.Seeded(1)).refusal or ""
    assert " rows, by a noisy count" in refused
    assert "people" not in refused


def test_names_of_columns_and_the_rows_of_a_person_keep_their_words() -> None:
    word = OneWord("ox", "oxen")
    assert word("bring 40 rows, a person each") == "bring 40 oxen, a ox each"
    assert word("the first of each ox's rows; max_rows=3, per_person='first', rows=10") == (
        "the first of each ox's rows; max_rows=3, per_person='first', rows=10"
    )
    assert OneWord("ox", "oxen", "mean of people")("people: fewer than 9 rows") == "people: fewer than 9 rows"
    assert OneWord("ox", "oxen", several_rows=True)("rows of 9 people") == "rows of 9 oxen"


def test_a_plural_of_their_own() -> None:
    people = People.of(None, "ox", "add_or_remove")
    assert people.units == "oxes"
    assert People(None, "ox", people.neighbours, "oxen").units == "oxen"
