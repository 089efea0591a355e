"""The whole story in a real browser: three roles, light and dark, phone and desktop, keyboard alone, and axe.

Skipped where there is no chromium. Nothing here waits for a clock: the answer leaves when the test moves it.
"""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.service.browser_tab import DESKTOP, PHONE, Tab, needs_browser
from tests.service.conftest import PASSWORD, World, plan, world_in
from tests.service.test_fit_requests import coded, raised

pytestmark = needs_browser
SERIOUS = ("serious", "critical")


def test_the_story_of_three_roles(world: World, browser: Any) -> None:
    analyst, steward, auditor, stranger = (Tab(world, browser) for _ in range(4))
    page = analyst.sign_in("ann")
    page.get_by_role("link", name="Ask a question").click()
    page.get_by_label("Title").fill("Ages of women")
    page.get_by_label("Columns").select_option("age")
    page.get_by_label("Only where").fill("sex == 'F'")
    slider, number = page.get_by_label("Epsilon, slider"), page.locator("#epsilon")
    slider.fill("1000")
    assert number.input_value() == "1", "the slider ends at what is left"
    page.locator("#price strong", has_text="epsilon 1").wait_for()
    slider.fill("0")
    assert number.input_value() == "0.01"
    number.fill("0.2")
    assert slider.get_attribute("aria-valuetext") == "epsilon 0.2"
    assert 640 < float(slider.input_value()) < 660, "equal steps of ratio: 0.01 * 100 ** 0.65 is 0.2"
    page.locator("#price strong", has_text="epsilon 0.2").wait_for()
    assert page.locator("#price .forecast dd").first.inner_text().startswith("±")
    assert "times as likely" in page.locator("#price").inner_text()
    page.get_by_role("button", name="Text (TOML)").click()
    assert 'columns = "age"' in page.get_by_role("textbox", name="The plan").input_value()
    page.get_by_role("button", name="Form").click()
    assert page.get_by_label("Title").input_value() == "Ages of women"
    page.get_by_role("button", name="Send for approval").click()
    page.get_by_text("Waits for approval").wait_for()
    which = page.url.rsplit("/", 1)[1]

    desk = steward.sign_in("sue")
    desk.get_by_role("link", name="Look at it").click()
    desk.get_by_text("This is their first request").wait_for()
    desk.get_by_role("button", name="Approve").click()
    desk.get_by_text("The inbox is empty.").wait_for()

    page.reload()
    page.get_by_text("The answer leaves at").wait_for()
    assert world.work() == 1
    page.reload()
    page.get_by_text("The answer leaves at").wait_for()
    world.clock.now += 1000.0
    page.reload()
    page.get_by_role("heading", name="Answers").wait_for()
    assert page.locator("article.card svg").count() >= 1
    assert "95% confidence" in page.locator("#answer-1").inner_text()

    desk.goto(f"/requests/{which}")
    desk.get_by_role("button", name="Publish for everybody").click()
    desk.get_by_role("link", name="Public page").wait_for()
    stranger.page.goto("/published")
    stranger.page.get_by_role("link", name="Ages of women").click()
    stranger.page.get_by_role("heading", name="Answers").wait_for()

    _declined(world, page, desk)
    _audited(auditor)
    for tab in (analyst, steward, auditor, stranger):
        assert tab.complaints == []
        tab.context.close()


def _declined(world: World, page: Any, desk: Any) -> None:
    second = world.submit("ann", plan(epsilon=0.3, title="Too much"))
    desk.goto(f"/inbox/{second}")
    assert "Epsilon: 0.3 instead of 0.2." in desk.locator(".diff").inner_text()
    desk.get_by_label("Reason").fill("Ask for less, please.")
    desk.get_by_role("button", name="Decline").click()
    page.goto(f"/requests/{second}")
    page.get_by_text("Ask for less, please.").wait_for()


def _audited(auditor: Tab) -> None:
    book = auditor.sign_in("aud")
    book.get_by_role("button", name="Verify the whole ledger").click()
    book.get_by_text("all are as they were written").wait_for()
    line = book.locator("section[aria-labelledby=heads] tbody tr").first
    kept = line.locator("td").nth(0).inner_text(), line.locator("td").nth(1).inner_text()
    assert line.locator("td").nth(2).inner_text() == "the same"
    for entry, says in ((kept[0], "is still what you kept"), ("1", "is not what you kept")):
        book.get_by_label("A head that you kept").fill(entry)
        book.get_by_label("its hash").fill(kept[1])
        book.get_by_role("button", name="Is it still there?").click()
        book.get_by_text(says).wait_for()
    book.get_by_role("link", name="Populations").click()
    book.get_by_role("heading", name="Parts of analysts").wait_for()
    assert book.locator("tbody th").all_inner_texts() == ["ann", "bob"]
    assert book.get_by_role("button", name="Give this part").count() == 0
    book.get_by_role("link", name="Questions").click()
    book.get_by_role("link", name="Too much").wait_for()
    book.get_by_role("link", name="epsilon").click()
    book.locator("th[aria-sort=ascending]").wait_for()
    assert book.locator("tbody th").all_inner_texts() == ["Ages of women", "Too much"]
    book.get_by_role("link", name="epsilon").click()
    book.locator("th[aria-sort=descending]").wait_for()
    assert book.locator("tbody th").all_inner_texts() == ["Too much", "Ages of women"]


def test_a_steward_adds_a_source_and_an_analyst_asks_it(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"age": [40.0, 50.0] * 100}), tmp_path / "data" / "clinic.parquet")
    for world in world_in(tmp_path, folders=["data"]):
        steward, analyst = Tab(world, browser), Tab(world, browser, phone=True)
        page = steward.sign_in("sue")
        page.get_by_role("link", name="Sources").click()
        page.get_by_role("link", name="Add a source").click()
        filled = {"name": "clinic", "title": "Clinic", "source": "clinic.parquet", "population": "patients"}
        for name, text in (filled | {"epsilon": "1.0", "more": "rows = 200"}).items():
            page.locator(f"[name={name}]").fill(text)
        page.get_by_role("button", name="Look at the table").click()
        page.get_by_role("heading", name="The table opens").wait_for()
        page.get_by_role("button", name="Text (TOML)").click()
        assert 'name = "clinic"' in page.get_by_role("textbox", name="The source").input_value()
        page.get_by_role("button", name="Form").click()
        assert page.locator("[name=population]").input_value() == "patients"
        page.get_by_role("button", name="Add this source").click()
        page.get_by_role("heading", name="Clinic").wait_for()
        source = world.desk.sources.named("clinic")
        assert source is not None
        world.desk.parts.allot(source, "ann", 1.0, 0.0, by="sue")
        asking = analyst.sign_in("ann")
        asking.goto("/ask/clinic")
        asking.get_by_label("Title").fill("How old")
        asking.get_by_label("Columns").select_option("age")
        asking.evaluate("window.scrollTo(0, 0)")
        bar = asking.locator("#price-bar strong", has_text="epsilon 0.1")
        bar.wait_for()
        assert bar.bounding_box()["y"] < PHONE["height"]  # in sight at the top of the form
        asking.get_by_role("button", name="Send for approval").click()
        asking.get_by_text("Waits for approval").wait_for()
        which = asking.url.rsplit("/", 1)[1]
        world.answered(which)
        asking.reload()
        asking.get_by_role("heading", name="Answers").wait_for()
        assert steward.complaints == analyst.complaints == []
        for tab in (steward, analyst):
            tab.context.close()


def reach(page: Any, name: str) -> None:
    """By the tabulator alone, and to be seen there."""
    for _ in range(90):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.name || document.activeElement.innerText || '').trim()")
        if focused == name:
            shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert shown != "none", f"{name} has no visible focus"
            return
    raise AssertionError(f"{name} is not reached by the keyboard")


def signed_in_by_keyboard(world: World, browser: Any, name: str) -> Tab:
    tab = Tab(world, browser)
    tab.page.goto("/login")
    tab.page.keyboard.type(name)
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.type(PASSWORD)
    tab.page.keyboard.press("Enter")
    tab.page.get_by_role("button", name="Sign out").wait_for()
    return tab


def pressed(page: Any, *names: str) -> None:
    for name in names:
        reach(page, name)
        page.keyboard.press("Enter")


def test_the_keyboard_alone_is_enough(world: World, browser: Any) -> None:
    analyst = signed_in_by_keyboard(world, browser, "ann")
    page = analyst.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    pressed(page, "Ask a question")
    page.get_by_label("Title").wait_for()
    reach(page, "title")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    before = float(page.locator("#epsilon").input_value())
    page.keyboard.press("ArrowRight")
    assert float(page.locator("#epsilon").input_value()) >= before
    reach(page, "columns-0")
    page.keyboard.press("ArrowDown")
    pressed(page, "Send for approval")
    page.get_by_text("Waits for approval").wait_for()

    steward = signed_in_by_keyboard(world, browser, "sue")
    desk = steward.page
    pressed(desk, "Look at it")
    desk.get_by_role("heading", name="Price and forecast").wait_for()
    pressed(desk, "Approve")
    desk.get_by_text("The inbox is empty.").wait_for()
    pressed(desk, "Populations")
    desk.get_by_role("heading", name="Populations").wait_for()
    reach(desk, "analyst")
    desk.keyboard.type("sam")
    pressed(desk, "Give this part")
    desk.get_by_role("rowheader", name="sam").wait_for()
    second = world.submit("ann", plan(epsilon=0.3, title="Too much"))
    desk.goto(f"/inbox/{second}")
    reach(desk, "reason")
    desk.keyboard.type("Ask for less, please.")
    pressed(desk, "Decline")
    desk.get_by_text("The inbox is empty.").wait_for()

    auditor = signed_in_by_keyboard(world, browser, "aud")
    pressed(auditor.page, "Verify the whole ledger")
    auditor.page.get_by_text("all are as they were written").wait_for()
    for tab in (analyst, steward, auditor):
        assert tab.complaints == []
        tab.context.close()


def _everything(world: World) -> dict[str, list[str]]:
    """Every page in every state that it has, by who opens it; one of each state is made for it."""
    empty = {"bob": ["/requests"], "sam": ["/requests"]}
    salt = world.person("sue")
    world.desk.people.add("ada", "admin", salt.salt, salt.password, by=None, now=world.clock())
    world.desk.parts.allot(world.source, "sam", 0.5, 0.0, by="sue")
    ended = world.desk.part(world.source, "sam")
    assert ended is not None
    world.desk.parts.end_part(world.source, "sam", by="sue", seen=ended.standing)
    steward = world.person("sue")
    raised(world, "ann")
    world.desk.accounts.choose("bob", world.desk.accounts.reset(world.person("bob"), by=steward), PASSWORD, "10.0.0.9")
    world.desk.accounts.invite("new", "analyst", by="sue")
    names = ("done", "offered", "declined", "withdrawn", "failed", "approved", "waiting")
    plans = [plan(epsilon=0.3 + place / 100, title=f"Ages, {name}") for place, name in enumerate(names)]
    made = dict(zip(names, (world.submit("ann", text) for text in plans), strict=True))
    made["coded"] = world.submit("ann", coded())
    world.answered(made["done"])
    world.desk.publish(made["done"], steward, shown=True)
    world.desk.offer(made["offered"], made["done"], steward)
    world.desk.decline(made["declined"], steward, "Ask for less, please.")
    world.desk.decline(made["withdrawn"], world.person("ann"), "withdrawn by who asked")
    world.desk.approve(made["failed"], steward)
    assert world.desk.requests.claim("x", world.clock()) is not None
    world.desk.requests.finish(made["failed"], answered=None, said=None)
    world.clock.now += 1000.0
    world.desk.approve(made["approved"], steward)
    world.desk.make_rule(world.source, steward, ["age"], epsilon=0.05, delta=0.0, days=7, analyst="")
    world.desk.accounts.issue(world.person("ann"), "my notebook", ["ask"], 30.0)
    reports = [f"/requests/{which}" for which in made.values()]
    analyst = ["/catalogue", "/catalogue/people", "/ask/people", "/requests", *reports, "/account", "/inbox"]
    deciding = [f"/inbox/{made['waiting']}", f"/inbox/{made['coded']}", f"/inbox/{made['done']}"]
    deciding += ["/rules", "/people", "/people?of=ann", "/populations", "/sources", "/sources/add", "/ledger"]
    deciding += ["/questions", "/published"]
    return {
        "ann": analyst,
        "sue": ["/inbox", *deciding],
        "bob": [*empty["bob"], "/account"],
        "sam": [*empty["sam"], "/catalogue/people", "/ask/people"],
        "aud": ["/ledger", "/ledger/head?number=1", "/populations", "/questions", reports[0]],
        "ada": ["/people", "/sources"],
        "": ["/login", "/login/code", "/published", f"/published/{made['done']}", "/api", "/catalogue", "/nowhere"],
    }


LIGHTS = [(phone, dark) for phone in (False, True) for dark in (False, True)]


def _looked_at(world: World, browser: Any, every: bool, keep: Path | None = None) -> list[Any]:
    """What is wrong with any page: in all four of width and light, or in one of them, each page in the next."""
    from axe_playwright_python.sync_playwright import Axe

    found: list[Any] = []
    place = 0
    for name, paths in _everything(world).items():
        tab = Tab(world, browser)
        if name:
            client = world.signed_in(name)
            tab.context.add_cookies([{"name": "discreet", "value": client.cookies["discreet"], "url": world.address}])
        for path in paths:
            tab.page.goto(path)
            if path.startswith("/ask"):
                tab.page.locator("#price h2").first.wait_for()
            place += 1
            for phone, dark in LIGHTS if every else [LIGHTS[place % 4], LIGHTS[(place + 2) % 4]]:
                tab.page.set_viewport_size(PHONE if phone else DESKTOP)
                tab.page.emulate_media(color_scheme="dark" if dark else "light")
                about = f"{name} {path} {'phone' if phone else 'desktop'} {'dark' if dark else 'light'}"
                wide = tab.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                found += [(about, "wider than the screen", wide)] if wide > 0 else []
                if keep is not None:
                    tab.page.screenshot(path=keep / f"{re.sub('[/?]', '_', about)}.png", full_page=True)
                if every or (phone, dark) == LIGHTS[place % 4]:
                    seen = Axe().run(tab.page).response["violations"]
                    found += [(about, one["id"], one["nodes"][0]["html"]) for one in seen if one["impact"] in SERIOUS]
        found += [(name, "console", said) for said in tab.complaints if not re.search(r"40[134]", said)]
        tab.context.close()
    return found


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is not tried out: pages are looked at where there is no sandbox, too."""
    monkeypatch.setattr("discreet.subsample.aggregate._there", lambda _: None)
    monkeypatch.setattr("discreet.service.asked_plan.returns_as_declared", lambda _: True)


@pytest.mark.usefixtures("tried")
def test_every_page_is_accessible_and_fits(world: World, browser: Any) -> None:
    """On a phone and on a desktop, in one of the two lights; by axe in one of these four, the next page in the next."""
    assert _looked_at(world, browser, every=False) == []


@pytest.mark.study
@pytest.mark.usefixtures("tried")
def test_every_page_is_accessible_and_fits_in_every_width_and_light(world: World, browser: Any, tmp_path: Path) -> None:
    """All of them by axe; what they look like is kept in the test's folder, for people to look at."""
    assert _looked_at(world, browser, every=True, keep=tmp_path) == []
