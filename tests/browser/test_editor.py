"""Writing in the editor: keys, reset, saved texts; with and without the files that Node builds."""

from __future__ import annotations

import re
import threading

from playwright.sync_api import Locator, Page, Route, expect

from grader.service.accounts import tokens
from grader.service.submissions import drafts
from tests.browser import axe
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.browser.steps import editor, paste
from tests.web import builders

PAGE = f"/challenges/{builders.SLUG}"
BUILT = "**/built/editor.js*"
LINE = "def solve(a):"
MARK = "# mine, and mine alone"
# Other tests here use no drafts of this challenge.
OTHER = "saxpy"
OTHER_PAGE = f"/challenges/{OTHER}"
SIGNED_OUT = "You are signed out. Your code stays here."


def text(page: Page) -> Locator:
    """The form's value, which the built editor writes."""
    return page.locator("textarea[data-language=triton]")


def begin(page: Page, source: str) -> None:
    editor(page).click()
    paste(page, source)
    expect(text(page)).to_have_value(source)


def without_what_is_built(page: Page) -> Page:
    page.route(BUILT, lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(page.url)
    return page


def area(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("Source in Triton"))


def test_tab_indents_until_escape_frees_the_focus(visit: Visit) -> None:
    page = visit("bob").go(PAGE)
    begin(page, LINE)
    page.keyboard.press("Enter")
    page.keyboard.type("pass")
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


def test_tab_indents_in_the_plain_text_area_too(visit: Visit) -> None:
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
    # The browser's undo knows about Tab.
    page.keyboard.press("ControlOrMeta+z")
    expect(area(page)).not_to_have_value(f"    {LINE}\npass" + " " * 4)
    assert area(page).input_value().startswith(f"    {LINE}")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(area(page)).not_to_be_focused()


def test_a_confirmed_reset_restores_the_starter_and_can_be_undone(visit: Visit) -> None:
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


def test_a_draft_survives_a_reload_and_appears_in_another_browser(visit: Visit) -> None:
    page = visit("grace").go(PAGE)
    with page.expect_response(
        lambda response: "/drafts/" in response.url and response.request.method == "PUT"
    ):
        begin(page, MARK)
    page.reload()
    expect(text(page)).to_have_value(MARK)
    assert text(visit("grace").go(PAGE)).input_value() == MARK
    assert text(visit("linus").go(PAGE)).input_value() != MARK


def test_a_second_tab_does_not_overwrite_the_first(visit: Visit, site: Site) -> None:
    """Both open before either saves, so the second has no draft to build on."""
    visitor = visit("linus")
    visitor.noise.allowed.add(409)
    first, second = visitor.go(OTHER_PAGE), visitor.page.context.new_page()
    second.goto(first.url)
    first.bring_to_front()
    begin(first, "the first tab's")
    expect(first.locator("#kept")).to_have_text("Saved.")
    second.bring_to_front()
    begin(second, "the second tab's")
    question = second.locator("#which")
    expect(question).to_contain_text("This code was also changed elsewhere")
    expect(question.locator("pre")).to_have_text("the first tab's")
    expect(text(second)).to_have_value("the second tab's")
    kept = drafts.get_draft(site.platform, site.people["linus"], OTHER, "triton")
    assert kept.source == "the first tab's"
    second.reload()
    expect(question.locator("pre")).to_have_text("the first tab's")
    expect(text(second)).to_have_value("the second tab's")
    question.get_by_role("button", name="Take this one").click()
    expect(text(second)).to_have_value("the first tab's")
    expect(question).to_be_hidden()


def test_two_anonymous_tabs_keep_both_texts(visit: Visit) -> None:
    first = visit().go(OTHER_PAGE)
    second = first.context.new_page()
    second.goto(first.url)
    first.bring_to_front()
    begin(first, "the first tab's")
    second.bring_to_front()
    begin(second, "the second tab's")
    question = second.locator("#which")
    expect(question.locator("pre")).to_have_text("the first tab's")
    first.close()
    second.reload()
    expect(question.locator("pre")).to_have_text("the first tab's")
    question.get_by_role("button", name="Keep what the editor has").click()
    second.reload()
    expect(text(second)).to_have_value("the second tab's")
    expect(question).to_be_hidden()


def test_code_survives_the_end_of_the_session(visit: Visit, site: Site) -> None:
    visitor = visit("grace")
    visitor.noise.allowed |= {401, 403, 409}
    page = visitor.go(OTHER_PAGE)
    begin(page, "before")
    expect(page.locator("#kept")).to_have_text("Saved.")
    tokens.end_sessions(site.platform, site.people["grace"], "")
    for name in ("Run", "Submit"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator("#run")).to_have_text(SIGNED_OUT)
        assert page.url.endswith(OTHER_PAGE)
    begin(page, "after")
    expect(page.locator("#kept")).to_have_text(SIGNED_OUT)
    with page.expect_popup() as opened:
        page.locator("#signed-out").get_by_role("link", name="Sign in").click()
    tab = opened.value
    tab.get_by_label("Name").fill("grace")
    tab.get_by_label("Password").fill(builders.PASSWORD)
    tab.get_by_role("main").get_by_role("button", name="Sign in").click()
    tab.wait_for_url("**" + OTHER_PAGE)
    tab.close()
    page.bring_to_front()
    expect(page.locator("#kept")).to_have_text("Saved.")
    expect(page.locator("#signed-out")).to_be_hidden()
    expect(text(page)).to_have_value("after")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*")
    # Other tests of this site take the next one in the queue.
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".panel .headline")).to_have_text("Cancelled")


def test_it_knows_triton_and_the_challenge(visit: Visit) -> None:
    """Protects students who do not know a name or its arguments by heart."""
    page = visit("bob").go(PAGE)
    begin(page, "import triton.language as tl\n")
    words, told = page.locator(".cm-tooltip-autocomplete"), page.locator(".cm-signature")
    page.keyboard.type("v = tl.lo")
    expect(words.get_by_role("option", name=re.compile("^load")).first).to_be_visible()
    expect(words.locator("[aria-selected]")).to_have_text(re.compile("^load"))
    expect(page.locator(".cm-completionInfo")).to_contain_text("loaded from memory")
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    page.keyboard.type("(")
    expect(told.locator("strong")).to_have_text("pointer")
    page.keyboard.type("a, ")
    expect(told.locator("strong")).to_have_text("mask=None")
    expect(told).to_contain_text("do not load the data")
    page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    page.keyboard.press("Control+Space")
    expect(words.get_by_role("option").first).to_contain_text("a")
    expect(page.locator(".cm-completionInfo")).to_contain_text("a: float32 [n]")
    page.keyboard.press("Escape")
    page.locator(".cm-content").get_by_text("load").hover()
    expect(page.locator(".cm-tooltip-hover")).to_contain_text("tl.load(pointer, mask=None")


def test_faults_of_the_text_are_shown_while_one_types(visit: Visit) -> None:
    page = visit("bob").go(PAGE)
    begin(page, "x = f(1\n")
    fault = page.locator(".cm-lintRange-error")
    expect(fault).to_have_text("(")
    fault.hover()
    expect(page.locator(".cm-diagnostic")).to_have_text('"(" is never closed.')
    assert axe.violations(page) == []
    page.keyboard.type(")")
    expect(fault).to_have_count(0)


def test_it_is_formatted_and_undo_takes_that_back(visit: Visit) -> None:
    visitor = visit("bob")
    visitor.noise.allowed.add(400)
    page = visitor.go(PAGE)
    begin(page, "def solve( a ):\n  return a")
    page.get_by_role("button", name="Format").click()
    expect(text(page)).to_have_value("def solve(a):\n    return a\n")
    editor(page).focus()
    page.keyboard.press("ControlOrMeta+z")
    expect(text(page)).to_have_value("def solve( a ):\n  return a")
    begin(page, "def (")
    page.keyboard.press("Shift+Alt+F")
    expect(page.locator("#compiled")).to_contain_text("It cannot be formatted: line 1: ")


def test_it_knows_cuda(visit: Visit) -> None:
    page = visit("bob", color_scheme="dark").go(PAGE)
    # As if a device ran no CUDA.
    page.evaluate("document.querySelector('input[value=cuda]').disabled = false")
    page.get_by_role("group", name="Language").get_by_text("CUDA C++").click()
    page.get_by_role("textbox", name="Source in CUDA C++").click()
    paste(page, "")
    source = page.locator("textarea[data-language=cuda]")
    page.keyboard.type("__shfl_d")
    words = page.locator(".cm-tooltip-autocomplete")
    expect(words.locator("[aria-selected]")).to_have_text(re.compile("^__shfl_down_sync"))
    expect(page.locator(".cm-completionInfo")).to_contain_text("delta lanes above")
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    page.keyboard.type("(0xffffffff, v, ")
    expect(page.locator(".cm-signature strong")).to_have_text("unsigned delta")
    page.keyboard.type("1); threadIdx.")
    expect(words.get_by_role("option")).to_have_text(["x", "y", "z"])
    words.get_by_role("option").first.click()
    expect(source).to_have_value("__shfl_down_sync(0xffffffff, v, 1); threadIdx.x")


def test_text_typed_while_the_editor_loads_is_kept(visit: Visit) -> None:
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
