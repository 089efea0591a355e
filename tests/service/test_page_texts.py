"""Nothing in a template is trusted: no filter or block switches escaping off, and forms give back what was written."""

import re
from importlib.resources import files

from tests.service.conftest import HOSTILE, World

from discreet.ledger.service_people import Person
from discreet.service.views import environment

SERVICE = files("discreet.service")
OWN = re.compile(r"'inputmode=\"decimal\"'\|safe")  # of the form of a table: a text of the template itself


def test_no_template_switches_escaping_off() -> None:
    assert environment().autoescape is True
    for file in SERVICE.joinpath("templates").iterdir():
        text = OWN.sub("", file.read_text("utf-8"))
        assert re.search(r"\|\s*safe\b|autoescape|Markup|\|\s*(xmlattr|tojson)\b", text) is None, file.name
        unquoted = re.search(r"\s[a-z-]+=\{\{", text)
        assert unquoted is None, f"{file.name}: a value of an attribute is in no quotes"


def test_only_pictures_and_reports_are_markup() -> None:
    found = {file.name: file.read_text("utf-8").count("Markup(") for file in SERVICE.iterdir() if file.is_file()}
    assert {name: count for name, count in found.items() if count} == {"views.py": 2}


def test_the_form_gives_back_what_was_written_as_text(world: World) -> None:
    """In both views, where a plan is refused, and in the price."""
    names = ("title", "description", "epsilon", "delta")
    asked = ("estimator-0", "code-0", "where-0", "options-0", "title-0", "outcome-0", "groupby-0", "statistic-0")
    form = {"view": "form", "count": "1", "columns-0": HOSTILE} | dict.fromkeys((*names, *asked), HOSTILE)
    for path, more in {"/ask/people": {}, "/ask/people/price": {}, "/ask/people/view": {"action": "more"}}.items():
        for given in (form, form | {"epsilon": "0.1", "delta": "0"}, {"view": "text", "text": HOSTILE}):
            page = world.post("ann", path, **given, **more).text
            assert "<img" not in page, path
            assert 'onerror=alert(1)>"' not in page, path
    assert page.count("&lt;img") >= 1
    several = world.post("ann", "/ask/people/view", **form, action="more").text
    assert several.count("&lt;img") >= 9


def test_a_hostile_name_of_a_steward_is_text_wherever_it_stands(world: World) -> None:
    known: Person = world.person("sue")
    world.desk.people.add(HOSTILE, "steward", known.salt, known.password, by=None, now=0.0)
    part = world.desk.part(world.source, "ann")
    assert part is not None
    world.desk.parts.allot(world.source, "ann", 1.5, 1e-7, by=HOSTILE, seen=part.standing)
    which = world.submit()
    world.desk.decline(which, world.person(HOSTILE), "because")
    pages = {
        "ann": ("/catalogue/people", "/requests", f"/requests/{which}"),
        "sue": ("/inbox", f"/inbox/{which}", "/people", "/questions", "/ledger"),
    }
    for name, paths in pages.items():
        for path in paths:
            assert "<img" not in world.signed_in(name).get(path).text, path
    client = world.client()
    assert "<img" not in client.get("/login").text
    assert "&lt;img" in world.signed_in(HOSTILE).get("/inbox").text
