"""Approving a command line, and the pages of accounts on a phone; no script or style of theirs is refused."""

from __future__ import annotations

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from grader.errors import AuthorizationPending
from grader.schemas.token import DeviceCodeBody, Scope
from grader.service import accounts, device_codes, resets
from grader.service.accounts import Role
from tests.browser.conftest import PATIENCE, Site, look, shot, sign_in
from tests.web import stage


def test_a_command_line_is_approved(page: WebDriver, site: Site) -> None:
    body = DeviceCodeBody(label="cli on laptop")
    code = device_codes.begin(site.platform, body, "192.0.2.7", site.url)
    look(page, 360, 740)
    page.get(code.verification_uri_complete)  # nobody is signed in: it asks, and leads back
    page.find_element(By.NAME, "name").send_keys("ada")
    page.find_element(By.NAME, "password").send_keys(stage.PASSWORD)
    page.find_element(By.CSS_SELECTOR, "main button").click()
    WebDriverWait(page, PATIENCE).until(lambda it: it.current_url == code.verification_uri_complete)
    shot(page, "phone-device")
    assert page.find_element(By.CSS_SELECTOR, ".figure").text == code.user_code
    assert "192.0.2.7" in page.find_element(By.TAG_NAME, "main").text
    with pytest.raises(AuthorizationPending):
        device_codes.poll(site.platform, code.device_code)
    page.find_element(By.CSS_SELECTOR, "button[value=approve]").click()
    # While the page is replaced, what was found of the old one is gone.
    WebDriverWait(page, PATIENCE, ignored_exceptions=[StaleElementReferenceException]).until(
        lambda it: "Go back to the terminal" in it.find_element(By.TAG_NAME, "main").text
    )
    user, issued = device_codes.poll(site.platform, code.device_code)
    assert (user.name, issued.scopes) == ("ada", [Scope.READ, Scope.SUBMIT])


def test_nothing_overflows_a_phone(page: WebDriver, site: Site) -> None:
    accounts.create_user(site.platform, "boss", stage.PASSWORD, Role.ADMIN)
    look(page, 360, 740)
    reset = resets.make_link(site.platform, "bob").path
    for path in ("/forgot", reset):
        page.get(site.url + path)
        _fits(page, path)
    sign_in(page, site, "boss")
    for path in ("/people", "/account", "/device", "/account/email?key=x"):
        page.get(site.url + path)
        shot(page, f"phone{path.partition('?')[0].replace('/', '-')}")
        _fits(page, path)


def _fits(page: WebDriver, path: str) -> None:
    width, room = page.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= room == 360, path
