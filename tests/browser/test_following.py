"""A submission's page updates itself; the test acts as the worker."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from grader.schemas.submission import State
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.web import builders

_ASKED = "() => performance.getEntriesByType('resource').filter(it => it.name.endsWith('/panel')).length"


def says(page: Page, headline: str) -> None:
    expect(page.locator(".panel .headline")).to_have_text(headline)


def follow(visit: Visit, site: Site) -> Page:
    return visit("ada").go(f"/submissions/{builders.hand_in(site.platform, site.ada).id}")


def test_the_page_shows_every_phase_without_a_reload(visit: Visit, site: Site) -> None:
    """Protects users against a page that stops at one of the states."""
    page = follow(visit, site)
    says(page, "Next in the queue")
    page.evaluate("window.stayed = true")
    builders.hand_on(site.platform, _seen_taken(page, site))
    says(page, "Compiled, waiting for the device")
    held = builders.take(site.platform)
    builders.move(site.platform, held, State.TESTING, 3, 19, "Testing 4 of 16 public cases: nan")
    says(page, "Testing 4 of 16 public cases: nan")
    assert page.get_by_role("progressbar").evaluate("it => it.value") == 3
    builders.move(site.platform, held, State.TIMING, 17, 19, "Timing 2 of 2 workloads: large")
    says(page, "Timing 2 of 2 workloads: large")
    builders.finish(site.platform, held, builders.accepted())
    says(page, "Accepted")
    assert page.evaluate("window.stayed") is True
    expect(page.locator("#announce")).to_have_text("Accepted")
    assert "Accepted" in page.title()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)


def _seen_taken(page: Page, site: Site) -> builders.Claim:
    held = builders.take(site.platform)
    says(page, "Compiling")
    return held


def test_polling_is_rare_and_stops_at_the_end(visit: Visit, site: Site) -> None:
    """Protects the server against open pages that poll for ever."""
    page = follow(visit, site)
    page.wait_for_function(f"() => ({_ASKED})() >= 2")
    builders.finish(site.platform, builders.take(site.platform), builders.wrong())
    says(page, "Wrong answer")
    seen = page.evaluate(_ASKED)
    # Longer than its interval; waited in the page, which has the timers.
    page.evaluate("() => new Promise(done => setTimeout(done, 2500))")
    assert page.evaluate(_ASKED) == seen


def test_cancel_updates_the_page(visit: Visit, site: Site) -> None:
    page = follow(visit, site)
    page.get_by_role("button", name="Cancel").click()
    says(page, "Cancelled")


def test_focus_stays_on_the_button_while_the_panel_changes(visit: Visit, site: Site) -> None:
    page = follow(visit, site)
    page.get_by_role("button", name="Cancel").focus()
    held = _seen_taken(page, site)
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    builders.finish(site.platform, held, builders.wrong())
    says(page, "Wrong answer")
    expect(page.get_by_role("main")).to_be_focused()
