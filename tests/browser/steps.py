"""Users' steps on the pages, by role and name, as screen readers find things."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.live import TITLE
from tests.browser.visitors import PATIENCE_MS, Visitor
from tests.web import builders

# Judging waits for a sandbox and for other tests on a busy machine.
JUDGED_MS = 300_000
expect.set_options(timeout=PATIENCE_MS)


def sign_up(visitor: Visitor, name: str, password: str = builders.PASSWORD) -> None:
    page = visitor.go("/")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def sign_in(visitor: Visitor, name: str, path: str = "/", password: str = builders.PASSWORD) -> None:
    page = visitor.go(f"/sign-in?next={path}")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url(visitor.url + path)


def open_challenge(visitor: Visitor, title: str = TITLE) -> Page:
    page = visitor.go("/")
    page.get_by_role("main").get_by_role("link", name=title, exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    page.get_by_role("group", name="Language").get_by_text("Triton").click()
    return page


def editor(page: Page) -> Locator:
    """The Triton source: the text area, or the editor that replaced it."""
    if page.locator("script[src*='built/editor']").count():
        page.locator(".pane.mounted").first.wait_for(state="attached")
    return page.get_by_role("textbox", name=re.compile("Source in Triton"))


def write(page: Page, source: str) -> None:
    editor(page).click()
    paste(page, source)


def paste(page: Page, source: str) -> None:
    """Replace the text of the focused field; no automatic indentation."""
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+v")


def submit(page: Page, source: str) -> None:
    write(page, source)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*")


def ends(page: Page, verdict: str) -> None:
    expect(page.get_by_role("region", name="Verdict")).to_contain_text(verdict, timeout=JUDGED_MS)


def is_ranked(page: Page) -> bool:
    """True if the result that ``page`` shows is on the board. On a busy machine a time is not always exact enough."""
    return page.get_by_text("Not ranked:").count() == 0


def sees_board(page: Page, name: str, ranked: bool) -> None:
    """The board has an entry of ``name`` with its time if the result said so, else no entry at all."""
    row = page.get_by_role("row").filter(has_text=name).first
    if ranked:
        expect(row).to_contain_text(re.compile("[µm]?s"))
    else:
        expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
        expect(row).not_to_be_visible()
