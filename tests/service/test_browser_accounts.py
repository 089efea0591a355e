"""Rules, parts of budgets and resets in a real browser, on phones."""

from typing import Any

from tests.service.browser_tab import Tab, needs_browser
from tests.service.conftest import World

pytestmark = needs_browser


def test_rules_and_parts_on_a_phone_in_the_dark(world: World, browser: Any) -> None:
    steward, analyst = (Tab(world, browser, phone=True, dark=True) for _ in range(2))
    desk, page = steward.sign_in("sue"), analyst.sign_in("ann")
    desk.get_by_role("link", name="Rules").click()
    desk.get_by_text("There is no rule.").wait_for()
    desk.get_by_role("checkbox", name="age", exact=True).check()
    desk.get_by_role("button", name="Make this rule").click()
    desk.get_by_text("it has approved 0 requests").wait_for()
    page.goto("/ask/people?column=age")
    page.get_by_label("Title").fill("By rule")
    page.locator("#price strong", has_text="epsilon 0.1").wait_for()
    page.get_by_role("button", name="Send for approval").click()
    page.get_by_text("The answer leaves at").wait_for()
    desk.reload()
    desk.get_by_text("it has approved 1 request").wait_for()
    desk.get_by_role("button", name="End this rule").click()
    desk.get_by_text("There is no rule.").wait_for()
    desk.get_by_role("link", name="Populations").click()
    desk.get_by_role("row", name="ann").get_by_role("link", name="change").click()
    desk.get_by_role("spinbutton", name="Epsilon").fill("0.05")
    desk.get_by_role("button", name="Change this part").click()
    desk.get_by_role("heading", name="Somebody new").wait_for()
    assert world.work() == 1, "the rule was there when it was asked"
    page.goto("/catalogue")
    page.get_by_text("of epsilon 0.05").wait_for()
    desk.goto("/people?of=ann")
    desk.get_by_role("button", name="End this part").click()
    desk.get_by_text("Ended").wait_for()
    page.reload()
    page.get_by_text("A data steward has ended your part.").wait_for()
    assert steward.complaints == analyst.complaints == []
    for tab in (steward, analyst):
        tab.context.close()


def test_who_was_reset_chooses_a_password_and_reads_who_did_it(world: World, browser: Any) -> None:
    steward, analyst = Tab(world, browser), Tab(world, browser, phone=True)
    desk = steward.sign_in("sue")
    desk.get_by_role("link", name="People").click()
    desk.locator("article", has=desk.get_by_role("heading", name="ann")).get_by_role(
        "button", name="Reset the account"
    ).click()
    code = desk.locator("code.secret").inner_text()
    page = analyst.page
    page.goto("/login")
    page.get_by_role("link", name="I have a code").click()
    for label, text in (("Name", "ann"), ("Code", code.lower()), ("New password", "a password of my own")):
        page.get_by_label(label).fill(text)
    page.get_by_role("button", name="Choose it and sign in").click()
    page.get_by_text("You have chosen a new password with a code").wait_for()
    assert page.locator("tr.marked td[data-label=By]").all_inner_texts()[-1].endswith("sue")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("a password of my own")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Ask a question").wait_for()
    assert steward.complaints == analyst.complaints == []
    for tab in (steward, analyst):
        tab.context.close()
