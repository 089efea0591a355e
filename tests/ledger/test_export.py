import csv
import io
import json

import pytest
from benchmarks.ledger import Place

from discreet.accounting.filter import Budget
from discreet.errors import FORMULA, BadInput
from discreet.ledger.ledger_text import COLUMNS
from discreet.privacy.loss import Composed, Gaussian, Laplace


def exported(place: Place, form: str) -> str:
    with place.open() as ledger:
        ledger.open("=cmd|' /C calc'!A0", Budget(1.0, 1e-6), accounting="zcdp")
        ledger.allot("=cmd|' /C calc'!A0", "@ann", Budget(0.5, 1e-7))
        note = 'a "quoted"; note,\n\t=1+1'
        loss = Composed((Laplace(0.01), Gaussian(0.02)))
        receipt = ledger.charge("=cmd|' /C calc'!A0", loss, note, request="-1+1", analyst="@ann")
        ledger.store(receipt, '"an answer"')
        file = io.StringIO()
        ledger.export(file, form)  # type: ignore[arg-type]
        return file.getvalue()


@pytest.mark.claim("errors.1")
def test_no_spreadsheet_executes_it(place: Place) -> None:
    text = exported(place, "csv")
    header, *rows = csv.reader(io.StringIO(text))
    assert tuple(header) == COLUMNS
    assert len(rows) == len(text.splitlines()) - 1 == 4
    assert not any(cell.startswith(FORMULA) for row in rows for cell in row)
    charge = dict(zip(header, rows[2], strict=True))
    assert charge["population"] == "'=cmd|' /C calc'!A0"
    assert charge["note"] == 'a "quoted"; note, =1+1'
    assert charge["loss"] == "Laplace noise, epsilon 0.01 + Gaussian noise, mu 0.02"
    assert 0 < float(charge["cost"]) < 0.001
    assert (charge["kind"], rows[3][2]) == ("charge", "answer")


def test_json_has_the_exact_numbers(place: Place) -> None:
    book = json.loads(exported(place, "json"))
    assert [entry["kind"] for entry in book["entries"]] == ["open", "allot", "charge", "answer"]
    charge = book["entries"][2]
    assert charge["body"]["loss"]["parts"][0] == {"loss": "Laplace", "epsilon": "1/100"}
    assert charge["body"]["price"] == book["accounts"][0]["spent"]
    assert [entry["previous"] for entry in book["entries"]][1:] == [entry["hash"] for entry in book["entries"]][:-1]


def test_an_empty_ledger_is_exported_too(file: Place) -> None:
    with file.open() as ledger:
        text = io.StringIO()
        ledger.export(text, "csv")
        assert len(text.getvalue().splitlines()) == 1
        text = io.StringIO()
        ledger.export(text, "json")
        assert json.loads(text.getvalue())["entries"] == []
        with pytest.raises(BadInput, match="'csv' or 'json'"):
            ledger.export(text, "xlsx")  # type: ignore[arg-type]
