"""Writing in the editor: keys, the way back to the starter, what is kept; with what Node builds, and without it."""

from __future__ import annotations

import re
import threading

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import Visit
from tests.browser.steps import editor, paste
from tests.web import builders

PAGE = f"/challenges/{builders.SLUG}"
BUILT = "**/built/editor.js*"
LINE = "def solve(a):"
MARK = "# mine, and mine alone"


def text(page: Page) -> Locator:
    """What the form sends: the built editor writes it through."""
    return page.locator("textarea[data-language=triton]")


def begin(page: Page, source: str) -> None:
    """With nothing but ``source`` in the editor, and the cursor at its end."""
    editor(page).click()
    paste(page, source)
    expect(text(page)).to_have_value(source)


def without_what_is_built(page: Page) -> Page:
    """As on a platform that was set up without Node."""
    page.route(BUILT, lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(page.url)
    return page


def area(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("Source in Triton"))


def test_tab_indents_and_escape_lets_it_go(visit: Visit) -> None:
    page = visit("bob").go(PAGE)
    begin(page, LINE)
    page.keyboard.press("Enter")
    page.keyboard.type("pass")
    # The line after one that ends so is indented by the language.
    expect(text(page)).to_have_value(f"{LINE}\n    pass")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(text(page)).to_have_value(f"{LINE}\n        pass")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(text(page)).to_have_value(f"{LINE}\npass")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor(page)).not_to_be_focused()
    expect(text(page)).to_have_value(f"{LINE}\npass")


def test_the_plain_text_area_does_so_too(visit: Visit) -> None:
    page = without_what_is_built(visit("bob").go(PAGE))
    area(page).click()
    paste(page, f"    {LINE}")
    page.keyboard.press("Enter")
    page.keyboard.type("pass")
    expect(area(page)).to_have_value(f"    {LINE}\n    pass")
    page.keyboard.press("Tab")
    expect(area(page)).to_have_value(f"    {LINE}\n    pass" + " " * 4)
    page.keyboard.press("Shift+Tab")
    expect(area(page)).to_have_value(f"    {LINE}\npass" + " " * 4)
    # The browser's own undo knows of what Tab did.
    page.keyboard.press("ControlOrMeta+z")
    expect(area(page)).not_to_have_value(f"    {LINE}\npass" + " " * 4)
    assert area(page).input_value().startswith(f"    {LINE}")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(area(page)).not_to_be_focused()


def test_the_starter_comes_back_when_confirmed_and_goes_by_undo(visit: Visit) -> None:
    page = visit("bob").go(PAGE)
    begin(page, MARK)
    starter = text(page).get_attribute("data-starter")
    assert starter
    page.get_by_role("button", name="Reset", exact=True).click()
    page.get_by_role("button", name="Keep my code").click()
    expect(text(page)).to_have_value(MARK)
    page.get_by_role("button", name="Reset", exact=True).click()
    page.get_by_role("button", name="Reset to the starter").click()
    expect(text(page)).to_have_value(starter)
    editor(page).click()
    page.keyboard.press("ControlOrMeta+z")
    expect(text(page)).to_have_value(MARK)


def test_what_was_written_is_there_after_a_reload_and_in_another_browser(visit: Visit) -> None:
    page = visit("grace").go(PAGE)
    with page.expect_response(lambda it: "/drafts/" in it.url and it.request.method == "PUT"):
        begin(page, MARK)
    page.reload()
    expect(text(page)).to_have_value(MARK)
    assert text(visit("grace").go(PAGE)).input_value() == MARK
    assert text(visit("linus").go(PAGE)).input_value() != MARK


def test_who_types_while_the_editor_loads_goes_on_in_it(visit: Visit) -> None:
    visitor = visit("linus")
    page, loaded = visitor.page, threading.Event()
    held: list[Route] = []
    page.route(BUILT, lambda route: held.append(route) if not loaded.is_set() else route.continue_())
    page.goto(visitor.url + PAGE, wait_until="commit")
    area(page).click()
    paste(page, "first, ")
    loaded.set()
    for route in held:
        route.continue_()
    page.locator(".pane.mounted").first.wait_for(state="attached")
    expect(editor(page)).to_be_focused()
    page.keyboard.type("second")
    expect(text(page)).to_have_value("first, second")
