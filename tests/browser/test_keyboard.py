"""The main path by keyboard alone: no step of it takes a pointer."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser import live, steps
from tests.browser.conftest import Visit
from tests.web import builders

# More than any page has to step over; only a trap is longer.
_MOST_STOPS = 150


def reach(page: Page, wanted: Locator) -> None:
    """Step on with Tab until ``wanted`` has the focus; each stop on the way must be seen."""
    # An editor takes Tab for itself, until Escape was pressed.
    for _ in range(_MOST_STOPS):
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate(_FOCUS_SHOWS), page.evaluate("() => document.activeElement.outerHTML")
        if wanted.evaluate("it => it === document.activeElement"):
            return
    raise AssertionError(f"Tab never came to {wanted}")


# By an outline or a shadow, of its own or of what contains it.
_FOCUS_SHOWS = """() => {
    for (let it = document.activeElement; it && it !== document.body; it = it.parentElement) {
        const style = getComputedStyle(it);
        if (style.outlineStyle !== 'none' || style.boxShadow !== 'none') return true;
    }
    return document.activeElement === document.body;
}"""


def press(page: Page, wanted: Locator) -> None:
    """Of what leads to another page."""
    reach(page, wanted)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def fill(page: Page, wanted: Locator, text: str) -> None:
    """A field that has the focus already is filled in place."""
    if not wanted.evaluate("it => it === document.activeElement"):
        reach(page, wanted)
    page.keyboard.type(text)


def test_the_first_stop_leads_to_the_content(visit: Visit) -> None:
    page = visit().go("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_from_signing_up_to_a_rank(student: Visit) -> None:
    """Protects students who use no mouse: every step can be reached, and the focus is always visible."""
    page = student().go("/")
    press(page, page.get_by_role("link", name="Sign in"))
    press(page, page.get_by_role("link", name="Sign up"))
    fill(page, page.get_by_label("Name"), "kay")
    fill(page, page.get_by_label("Password"), builders.PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()

    press(page, page.get_by_role("main").get_by_role("link", name=live.TITLE, exact=True).first)
    reach(page, page.get_by_role("radio", name="CUDA C++"))
    page.keyboard.press("ArrowRight")
    reach(page, steps.editor(page))
    steps.paste(page, live.RIGHT)
    press(page, page.get_by_role("button", name="Submit", exact=True))
    page.wait_for_url("**/submissions/*")
    steps.ends(page, "Accepted")
    ranked = steps.is_ranked(page)
    press(page, page.get_by_role("main").get_by_role("link", name="Leaderboard"))
    steps.sees_board(page, "kay", ranked)
    press(page, page.get_by_role("button", name="Sign out"))
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
