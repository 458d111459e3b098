"""Every page on a phone, in the dark, and by keyboard."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from grader.schemas.submission import State
from tests.browser.conftest import Site, look, shot, sign_in
from tests.web import stage

LONG = "x" * 300


@pytest.fixture(scope="module")
def paths(site: Site) -> dict[str, str]:
    """A page of each kind, by name; the worker's part is played to its end, so that nothing waits."""
    found = {"index": "/", "challenge": f"/challenges/{stage.SLUG}", "board": f"/leaderboards/{stage.SLUG}"}
    people = site.platform, site.ada
    found["accepted"] = stage.judged(*people, stage.accepted()).id
    found["wrong"] = stage.judged(
        *people, stage.wrong(), filename=f"{LONG[:100]}.py", source=f"# {LONG}\n"
    ).id
    found["compile"] = stage.judged(*people, stage.not_compiled(f"error: {LONG}")).id
    found["failed"] = stage.hand_in(*people).id
    stage.fail(site.platform, stage.take(site.platform), LONG)
    found["testing"] = stage.hand_in(*people).id
    stage.move(site.platform, stage.take(site.platform), State.TESTING, 4, 19, "nan")
    found["queued"] = stage.hand_in(*people).id
    found["list"] = ""
    return {
        name: path if path.startswith("/") else f"/submissions/{path}".rstrip("/")
        for name, path in found.items()
    }


def test_nothing_overflows_a_phone(page: WebDriver, site: Site, paths: dict[str, str]) -> None:
    look(page, 360, 740)
    page.get(site.url + "/sign-in")
    shot(page, "phone-sign-in")
    sign_in(page, site)
    for name, path in paths.items():
        page.get(site.url + path)
        shot(page, f"phone-{name}")
        width, room = page.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert width <= room, name
        assert room == 360, name


def luminance(page: WebDriver, element: str, which: str) -> float:
    """Relative luminance (0 black, 1 white) of a computed colour, as WCAG 2 defines it."""
    text = page.execute_script(f"return getComputedStyle(document.querySelector('{element}')).{which}")
    channels = [int(part) / 255 for part in text[text.index("(") + 1 : -1].split(",")[:3]]
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page: WebDriver, element: str, behind: str) -> float:
    pair = sorted([luminance(page, element, "color"), luminance(page, behind, "backgroundColor")])
    return (pair[1] + 0.05) / (pair[0] + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_light_and_dark_can_be_read(page: WebDriver, site: Site, paths: dict[str, str], dark: bool) -> None:
    look(page, 1280, 800, dark=dark)
    sign_in(page, site)
    for name, path in paths.items():
        page.get(site.url + path)
        shot(page, f"{'dark' if dark else 'light'}-{name}")
        assert (luminance(page, "body", "backgroundColor") < 0.2) == dark, name
        assert contrast(page, "body", "body") > 7, name
    page.get(site.url + paths["wrong"])
    for element, behind in [
        (".headline", ".status"),
        (".status .figures-row dt", ".status"),
        (".badge.bad", ".badge.bad"),
        (".badge.good", ".badge.good"),
        (".badge.idle", ".badge.idle"),
        (".chip", ".chip"),
        (".crumbs", "body"),
        (".hint", ".hint"),
        ("h1 a", "body"),
    ]:
        assert contrast(page, element, behind) >= 4.5, element


def test_keyboard_reaches_the_content(page: WebDriver, site: Site) -> None:
    page.get(site.url + "/")
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = page.switch_to.active_element
    assert skip.text == "Skip to the content"
    assert skip.rect["y"] >= 0
    outline = page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", skip)
    assert outline != "none"
    skip.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"
