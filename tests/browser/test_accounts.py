"""Approving a command line with a phone that is not signed in."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from grader.errors import AuthorizationPending
from grader.schemas.token import DeviceCodeBody, Scope
from grader.service.accounts import device_codes
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.web import builders


def test_a_login_by_code_is_approved_in_the_browser(visit: Visit, site: Site) -> None:
    body = DeviceCodeBody(label="cli on laptop")
    code = device_codes.begin(site.platform, body, "192.0.2.7", site.url)
    page = visit(phone=True).page
    page.goto(code.verification_uri_complete)  # not signed in: it asks, and returns
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(builders.PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").tap()
    page.wait_for_url(code.verification_uri_complete)
    expect(page.get_by_role("main")).to_contain_text(code.user_code)
    expect(page.get_by_role("main")).to_contain_text("192.0.2.7")
    with pytest.raises(AuthorizationPending):
        device_codes.poll(site.platform, code.device_code)
    page.get_by_role("button", name="Approve").tap()
    expect(page.get_by_role("main")).to_contain_text("Go back to the terminal")
    user, issued = device_codes.poll(site.platform, code.device_code)
    assert (user.name, issued.scopes) == ("ada", [Scope.READ, Scope.SUBMIT])
