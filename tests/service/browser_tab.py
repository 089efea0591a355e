"""A page in Chromium, with what its console complained about."""

import shutil
from typing import Any

import pytest
from tests.service.conftest import PASSWORD, World

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


def _complains(said: Any) -> bool:
    """Whether it is an error: not a price that was asked for anew before it came, as on a busy machine."""
    return said.type == "error" and not said.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))


class Tab:
    """A page, with what its console complained about."""

    def __init__(self, world: World, browser: Any, *, dark: bool = False, phone: bool = False) -> None:
        world.client()
        self.world, self.complaints = world, list[str]()
        scheme, size = "dark" if dark else "light", PHONE if phone else DESKTOP
        self.context = browser.new_context(viewport=size, color_scheme=scheme, base_url=world.address)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda said: self.complaints.append(said.text) if _complains(said) else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def sign_in(self, name: str) -> Any:
        self.page.goto("/login")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()
        return self.page
