"""The main path without JavaScript, and on a phone."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser import live, steps
from tests.browser.conftest import Visit


def areas(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Source in Triton")


def test_a_student_gets_from_sign_up_to_a_verdict_without_javascript(student: Visit) -> None:
    """Protects students whose browser runs no scripts: every step works with plain forms and reloads."""
    visitor = student("noel", java_script_enabled=False)
    page = steps.open_challenge(visitor)
    areas(page).fill(live.RIGHT)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*")
    # The page reloads itself with a header.
    steps.ends(page, "Accepted")
    ranked = steps.is_ranked(page)
    page.get_by_role("main").get_by_role("link", name="Leaderboard").click()
    steps.sees_board(page, "noel", ranked)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_a_student_gets_to_a_verdict_on_a_phone(student: Visit) -> None:
    """Protects students on a phone: every step works by touch, on pages that fit."""
    visitor = student("phoebe", phone=True)
    page = steps.open_challenge(visitor)
    steps.submit(page, live.RIGHT)
    steps.ends(page, "Accepted")
    fits(page)
    ranked = steps.is_ranked(page)
    page.get_by_role("main").get_by_role("link", name="Leaderboard").tap()
    steps.sees_board(page, "phoebe", ranked)
    fits(page)


def fits(page: Page) -> None:
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
