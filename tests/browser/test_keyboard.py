"""The main path, and comments, by keyboard only."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser import live, steps
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.web import builders

# More stops than any page has; only a trap is longer.
_MOST_STOPS = 150


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until ``wanted`` has the focus; each stop on the way must be visible."""
    # An editor uses Tab until Escape is pressed.
    for _ in range(_MOST_STOPS):
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate(_FOCUS_SHOWS), page.evaluate("() => document.activeElement.outerHTML")
        if wanted.evaluate("it => it === document.activeElement"):
            return
    raise AssertionError(f"Tab never came to {wanted}")


# An outline or a shadow, on it or its container.
_FOCUS_SHOWS = """() => {
    for (let it = document.activeElement; it && it !== document.body; it = it.parentElement) {
        const style = getComputedStyle(it);
        if (style.outlineStyle !== 'none' || style.boxShadow !== 'none') return true;
    }
    return document.activeElement === document.body;
}"""


def press(page: Page, wanted: Locator) -> None:
    reach(page, wanted)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def fill(page: Page, wanted: Locator, text: str) -> None:
    """The field may have the focus already."""
    if not wanted.evaluate("it => it === document.activeElement"):
        reach(page, wanted)
    page.keyboard.type(text)


def test_the_first_tab_stop_skips_to_the_content(visit: Visit) -> None:
    page = visit().go("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_a_student_gets_from_sign_up_to_a_rank_by_keyboard(student: Visit) -> None:
    """Protects students without a mouse: every step is reachable, and the focus always visible."""
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


def test_lines_are_commented_by_click_and_by_keyboard(visit: Visit, site: Site) -> None:
    """Protects teachers and students who discuss a source: clicks or keys choose lines, and the rest needs no
    pointer.
    """
    view = builders.judged(site.platform, site.ada, builders.accepted())
    page = visit("boss").go(f"/submissions/{view.id}")
    text = page.locator("#comment-form").get_by_label("Comment, in Markdown")
    page.locator("#L-1").click()
    page.locator("#L-4").click(modifiers=["Shift"])
    page.get_by_role("button", name="Comment on lines 1 to 4").click()
    expect(text).to_be_focused()
    page.keyboard.type("Why **here**?")
    press(page, page.get_by_role("button", name="Comment", exact=True))
    thread = page.get_by_role("article", name="Comment ").first
    expect(thread.get_by_role("link", name="Lines 1 to 4")).to_be_visible()
    expect(thread.locator(".prose strong")).to_have_text("here")

    reach(page, page.locator("#source"))
    page.keyboard.type("jjjk")
    page.keyboard.press("Shift+J")
    expect(page.locator("#announce")).to_have_text("Lines 2 to 3")
    expect(page.locator("#source .chosen")).to_have_count(2)
    page.keyboard.press("c")
    expect(text).to_be_focused()
    page.keyboard.type("A draft.")
    reach(page, page.get_by_label("Draft: only staff see it"))
    page.keyboard.press("Space")
    press(page, page.get_by_role("button", name="Comment", exact=True))
    draft = page.get_by_role("article").filter(has_text="Lines 2 to 3")
    expect(draft.locator(".chip.warn")).to_have_text("draft")
    reach(page, draft.get_by_text("Edit", exact=True))
    page.keyboard.press("Enter")
    fill(page, draft.get_by_label("Comment, in Markdown"), "Still ")
    press(page, draft.get_by_role("button", name="Save"))
    press(page, draft.get_by_role("button", name="Send"))
    expect(draft.locator(".chip.warn")).to_have_count(0)

    student = visit("ada").go(f"/submissions/{view.id}")
    asked = student.get_by_role("article").filter(has_text="Lines 1 to 4")
    fill(student, asked.get_by_label("Reply, in Markdown"), "It is *needed*.")
    press(student, asked.get_by_role("button", name="Reply"))
    expect(asked.locator(".comment em")).to_have_text("needed")
    press(student, asked.get_by_role("button", name="Resolve"))
    expect(asked.get_by_text("resolved", exact=True)).to_be_visible()
    reach(student, asked.locator("summary").filter(has_text="Delete"))
    student.keyboard.press("Enter")
    press(student, asked.get_by_role("button", name="Delete comment"))
    expect(asked.locator(".comment em")).to_have_count(0)
    expect(asked.get_by_text("Deleted")).to_be_visible()
