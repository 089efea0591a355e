"""Other people's forms of a report: each is read back by a reader of that form, whatever the report holds."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.report.made import dossier, entry, grouped, records

from discreet.cli import main
from discreet.errors import BadInput
from discreet.report import page, to_json
from discreet.report.catalogue import dcat, dcat_record
from discreet.report.layers import TITLE, UNKNOWN, layers
from discreet.report.record import Report
from discreet.report.registry import registry, registry_record
from discreet.report.sdmx import HEADINGS, sdmx

SCHEMA = json.loads((Path(__file__).parent / "deployments_schema.json").read_text())
EVIL = "\"': {x} - [y] # z\n=1+1 \u202e\U0001f600 <b>&amp; %s \\ \x07 yes: no\t|"


def whole(**changed: Any) -> dict[str, Any]:
    """A report that may be published, with groups, bins and refusals."""
    made = [
        json.loads(json.dumps(records()[name]).replace('"publishable": false', '"publishable": true'))
        for name in ("count", "mean", "histogram of categories", "refused")
    ]
    for record in made:
        record["provenance"] |= {"secure": True} if "secure" in record["provenance"] else {}
    groups = [{"key": "Male", "release": made[1]}, {"key": "Female", "release": made[3]}]
    parts = [entry(record, f"question {place}", id=f"q{place}") for place, record in enumerate(made)]
    return dossier(*parts, grouped(groups, id="g"), **changed)


def test_a_draft_for_the_registry_is_valid_and_its_yaml_is_what_was_meant() -> None:
    yaml, jsonschema = pytest.importorskip("yaml"), pytest.importorskip("jsonschema")
    for curator in ("Government", "Industry", "Nonprofit"):
        for found in (
            whole(),
            whole(title=EVIL, description=EVIL, methods=[{"name": EVIL, "text": EVIL}]),
            whole(budget=whole()["budget"] | {"this": {"epsilon": 1e-7, "delta": 0.0}, "left": None}),
        ):
            record = registry_record(found, curator)
            read = yaml.safe_load(registry(found, curator))
            assert read == record
            check = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
            assert [error.message for error in check.iter_errors(read)] == []
            broken = read | {"deployment": read["deployment"] | {"invented": 1}}
            assert not check.is_valid(broken), "the schema is closed"
    assert record["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1e-7}
    assert "ASK" in registry(found, "Industry")


def test_seeded_noise_is_no_deployment() -> None:
    with pytest.raises(BadInput, match="seeded"):
        registry(dossier(entry(records()["mean"])), "Industry")


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")  # the reader's own
def test_a_catalogue_s_reader_finds_the_same_statements() -> None:
    rdflib = pytest.importorskip("rdflib")
    found = whole(title=EVIL)
    graph = rdflib.Graph().parse(data=dcat(found), format="json-ld")
    terms = {name: rdflib.Namespace(url) for name, url in dcat_record(found)["@context"].items()}
    (data,) = graph.subjects(rdflib.RDF.type, terms["dcat"].Dataset)
    assert str(data).startswith("urn:uuid:")
    assert str(graph.value(data, terms["dct"].title)) == EVIL
    (activity,) = graph.objects(data, terms["prov"].wasGeneratedBy)
    agent = graph.value(activity, terms["prov"].wasAssociatedWith)
    assert str(graph.value(agent, terms["dct"].title)) == "discreet 0.1.0"
    assert graph.value(data, terms["prov"].wasDerivedFrom) is not None
    promise = graph.value(data, terms["dpv"].hasTechnicalMeasure)
    assert float(graph.value(promise, terms["discreet"].epsilon)) == 1.0
    assert len(list(graph.objects(data, terms["dqv"].hasQualityMeasurement))) >= 3
    assert len(list(graph.objects(data, terms["dcat"].distribution))) == 3


def test_statistical_offices_get_one_line_a_number() -> None:
    lines = list(csv.DictReader(io.StringIO(sdmx(whole(), "OFFICE.UNIT:HEALTH(2.1)"))))
    assert {line["STRUCTURE_ID"] for line in lines} == {"OFFICE.UNIT:HEALTH(2.1)"}
    assert {(line["STRUCTURE"], line["ACTION"]) for line in lines} == {("dataflow", "R")}
    keys = [(line["QUESTION"], line["STATISTIC"], line["GROUP"], line["COMPONENT"]) for line in lines]
    assert len(set(keys)) == len(keys), "the dimensions are a key"
    assert all(key for line in keys for key in line)
    refused = [line for line in lines if line["OBS_STATUS"] == "O"]
    assert [line["QUESTION"] for line in refused] == ["q3", "g"]
    assert all(line["OBS_VALUE"] == "" for line in refused)
    assert all(float(line["LOW"]) <= float(line["HIGH"]) for line in lines if line["LOW"])
    assert tuple(lines[0]) == HEADINGS
    seeded = csv.DictReader(io.StringIO(sdmx(dossier(entry(records()["mean"])))))
    assert {line["CONF_STATUS"] for line in seeded} == {"N"}
    for wrong in ("", "a b", "X:Y", "=X:Y(1)"):
        with pytest.raises(BadInput, match="AGENCY:NAME"):
            sdmx(whole(), wrong)


def test_no_spreadsheet_executes_a_cell() -> None:
    found = whole()
    found["releases"][0]["id"] = "=HYPERLINK(1)"
    assert "'=HYPERLINK(1)" in sdmx(found)


@pytest.mark.parametrize("found", [whole(), dossier(entry(records()["mean"])), dossier(title=EVIL)], ids=str)
def test_every_report_has_the_layers(found: dict[str, Any]) -> None:
    lines = layers(Report.of(found))
    assert [line.layer for line in lines] == ["The promise"] * 2 + ["What could undermine it"] * 6 + [
        "What lies beneath"
    ]
    assert all(line.said.endswith(".") for line in lines)
    assert UNKNOWN in lines[-1].said
    assert TITLE in page(found)


def test_the_forms_name_what_answered_as_the_records_do() -> None:
    entries = [entry(records()[name]) for name in ("count", "linear regression", "test_mean")]
    found = Report.of(dossier(*entries))
    names = [kept.keyed[0][1].provenance.mechanism for kept in found.releases]
    assert found.mechanisms == names
    assert json.loads(dcat(found))["prov:wasGeneratedBy"]["discreet:mechanism"] == names
    assert all(name in "".join(line.said for line in layers(found)) for name in names)


def test_the_command_writes_the_forms_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results.json").write_text(to_json(whole()))

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["discreet", "report", "results.json", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out + told.err

    assert run("--registry", "government", "--dcat", "--sdmx", "--out", "forms")[0] == 0
    assert sorted(path.name for path in Path("forms").iterdir()) == [
        "dcat.jsonld",
        "registry.yaml",
        "results.sdmx.csv",
    ]
    code, told = run("--sdmx", "--out", "forms")
    assert code == 2
    assert "--force" in told
    assert run("--sdmx", "--out", "forms", "--force")[0] == 0
    code, told = run("--registry", "me")
    assert code == 2
    assert "government, industry, nonprofit" in told
