"""Forms behind a proxy that terminates TLS, on pages that send no referrer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.furnished import Site, serving
from tests.browser.steps import sign_up
from tests.browser.tls import tls_before
from tests.browser.visitors import Visitor, visiting
from tests.web import builders


@pytest.fixture
def site(chromium: Browser, tmp_path: Path) -> Iterator[Site]:
    with serving(tmp_path, GRADER_PROXIES="1") as served, tls_before(served.url) as outside:
        yield replace(served, url=outside)


def new_link(page: Page) -> str:
    return page.locator("#link").inner_text()


def test_sign_up_invitation_and_reset_work_over_tls(chromium: Browser, site: Site) -> None:
    """Protects sign-up behind TLS: cookies, forms and links must work if the proxy speaks HTTPS."""
    with ExitStack() as stack:

        def visit(name: str = "") -> Visitor:
            cookie = site.session(name) if name else None
            options = {"cookie": cookie, "ignore_https_errors": True}
            return stack.enter_context(visiting(chromium, site.url, **options))  # type: ignore[arg-type]

        sign_up(visit(), "eve")
        staff = visit("boss").go("/people")
        staff.get_by_role("button", name="Create a link").click()
        invited = visit().page
        invited.goto(new_link(staff))
        invited.get_by_label("Name").fill("mallory")
        invited.get_by_label("Password").fill(builders.PASSWORD)
        invited.get_by_role("button", name="Create the account").click()
        expect(invited.get_by_role("button", name="Sign out")).to_be_visible()
        staff.goto(f"{site.url}/people")
        staff.get_by_role("row", name="mallory").get_by_role("button", name="Reset password").click()
        forgetful = visit().page
        forgetful.goto(new_link(staff))
        forgetful.get_by_label("New password").fill("a new password")
        forgetful.get_by_role("button", name="Set it").click()
        expect(forgetful.get_by_role("button", name="Sign out")).to_be_visible()
