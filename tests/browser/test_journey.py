"""A student's way through the platform that judges: from an account to a rank."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser import live, steps
from tests.browser.conftest import Visit


def test_a_student_gets_from_sign_up_to_a_rank(student: Visit) -> None:
    """Protects every student's path, through the real web, queue, worker and judge."""
    visitor = student("ada")
    page = steps.open_challenge(visitor)
    expect(page.get_by_role("heading", name="Signature")).to_be_visible()
    expect(page.get_by_role("region", name="Cases")).to_contain_text("prime")

    steps.write(page, live.RIGHT)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("Accepted", timeout=steps.JUDGED_MS)

    steps.submit(page, live.WRONG)
    page.evaluate("window.stayed = true")
    steps.ends(page, "Wrong answer")
    expect(page.get_by_role("link", name="Report as JSON")).to_be_visible()
    expect(page.get_by_role("region", name="Share")).to_be_visible()
    assert page.evaluate("window.stayed") is True
    expect(page.get_by_text("basic").first).to_be_visible()

    page.get_by_role("link", name=live.TITLE, exact=True).click()
    steps.submit(page, live.RIGHT)
    steps.ends(page, "Accepted")
    ranked = steps.is_ranked(page)
    page.get_by_role("link", name="What changed").click()
    compared = page.get_by_role("region", name="Changes of the source")
    expect(compared).to_contain_text("3.0 * tl.load")
    expect(compared).to_contain_text("2.0 * tl.load")
    expect(page.get_by_role("region", name="Verdict and times", exact=True)).to_contain_text("wrong answer")
    page.go_back()

    page.get_by_role("main").get_by_role("link", name="Leaderboard").click()
    steps.sees_board(page, "ada", ranked)

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    visitor.noise.allowed.add(401)
    expect(visitor.go("/submissions").get_by_label("Password")).to_be_visible()


def test_a_student_cancels_a_running_submission(student: Visit) -> None:
    visitor = student("carl")
    page = steps.open_challenge(visitor)
    steps.submit(page, live.ENDLESS)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("region", name="State")).to_contain_text("Cancelled")
