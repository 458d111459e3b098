"""Light and dark, by the system and by the switch, which is remembered."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit


def is_dark(page: Page) -> bool:
    """By the mean of the background's three channels, 0 to 255."""
    colour: str = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    channels = [float(word) for word in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(channels) / 3 < 80


def switch(page: Page) -> Locator:
    return page.get_by_role("button", name="Theme")


def press_until(page: Page, theme: str) -> None:
    for _ in range(3):
        if f"Theme: {theme}." in (switch(page).text_content() or ""):
            return
        before = switch(page).text_content() or ""
        with page.expect_response(lambda response: response.url.endswith("/theme")):  # kept for the next page
            switch(page).click()
        expect(switch(page)).not_to_have_text(before)
    raise AssertionError(f"the switch never came to {theme}")


def test_the_system_theme_is_the_default(visit: Visit) -> None:
    assert not is_dark(visit(color_scheme="light").go("/"))
    assert is_dark(visit(color_scheme="dark").go("/"))


def test_the_switch_overrules_it_and_is_remembered(visit: Visit) -> None:
    visitor = visit(color_scheme="light", reduced_motion="reduce")
    page = visitor.go("/")
    press_until(page, "dark")
    assert is_dark(page)
    assert is_dark(visitor.go("/sign-in"))
    press_until(page, "light")
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert not is_dark(visitor.go("/"))


def test_the_last_of_quick_presses_wins(visit: Visit) -> None:
    visitor = visit("bob", color_scheme="light", reduced_motion="reduce")
    page = visitor.go("/")
    press_until(page, "system")
    with page.expect_response(lambda response: "theme=dark" in (response.request.post_data or "")):
        switch(page).dblclick()
    expect(switch(page)).to_contain_text("Theme: dark.")
    assert is_dark(visitor.go("/"))
    press_until(page, "system")


def test_the_switch_works_without_javascript(visit: Visit) -> None:
    page = visit("bob", color_scheme="light", java_script_enabled=False).go("/")
    press_until(page, "dark")
    assert is_dark(page)
