"""The main path in a real browser: sign in, write, submit, watch it, find it on the board."""

from __future__ import annotations

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from grader.schemas.submission import State
from tests.browser.conftest import PATIENCE, Site, headline, sign_in
from tests.web import stage

CHALLENGE = f"/challenges/{stage.SLUG}"


def area(page: WebDriver) -> WebElement:
    return page.find_element(By.NAME, "source-triton")


def write(page: WebDriver, text: str) -> WebElement:
    editor = area(page)
    editor.send_keys(Keys.CONTROL, "a")
    editor.send_keys(Keys.DELETE)
    editor.send_keys(text)
    return editor


def test_from_editor_to_leaderboard_without_a_reload(page: WebDriver, site: Site) -> None:
    sign_in(page, site, path=CHALLENGE)
    assert "def solve(" in (area(page).get_property("value") or "")
    write(page, "def solve(a, b, out, n):\npass")
    page.find_element(By.CSS_SELECTOR, ".editor button[type=submit]").click()
    headline(page, "Next in the queue")
    page.execute_script("window.stayed = true")

    held = stage.take(site.platform)
    headline(page, "Compiling")
    stage.hand_on(site.platform, held)
    headline(page, "Compiled, waiting for the device")
    held = stage.take(site.platform)
    stage.move(site.platform, held, State.TESTING, 3, 19, "nan")
    headline(page, "Testing 3 of 19")
    assert page.find_element(By.TAG_NAME, "progress").get_property("value") == 3
    stage.move(site.platform, held, State.TIMING, 1, 2)
    headline(page, "Timing 1 of 2")
    stage.finish(site.platform, held, stage.accepted())
    headline(page, "Accepted")

    assert page.execute_script("return window.stayed") is True
    assert page.find_element(By.ID, "announce").text == "Accepted"
    assert "Accepted" in page.title
    assert "1.31×" in page.find_element(By.CSS_SELECTOR, ".figures-row").text
    assert page.find_elements(By.ID, "cancel") == []
    page.find_element(By.LINK_TEXT, "Leaderboard").click()
    row = page.find_element(By.CSS_SELECTOR, "tr.mine")
    assert "ada" in row.text
    assert "812 µs" in row.text


def test_asks_seldom_and_stops_at_the_end(page: WebDriver, site: Site) -> None:
    view = stage.hand_in(site.platform, site.ada)
    sign_in(page, site, path=f"/submissions/{view.id}")
    asked = "return performance.getEntriesByType('resource').filter(it => it.name.endsWith('/panel')).length"
    WebDriverWait(page, PATIENCE).until(lambda it: it.execute_script(asked) >= 2)
    stage.finish(site.platform, stage.take(site.platform), stage.wrong())
    headline(page, "Wrong answer")
    seen = page.execute_script(asked)
    # Longer than the pace at which it asked: waited out in the page, where the timers are.
    page.set_script_timeout(PATIENCE)
    page.execute_async_script("setTimeout(arguments[0], 2500)")
    assert page.execute_script(asked) == seen


def test_cancel(page: WebDriver, site: Site) -> None:
    view = stage.hand_in(site.platform, site.ada)
    sign_in(page, site, path=f"/submissions/{view.id}")
    page.find_element(By.ID, "cancel").click()
    headline(page, "Cancelled")


def test_focus_stays_on_the_button_while_the_panel_changes(page: WebDriver, site: Site) -> None:
    view = stage.hand_in(site.platform, site.ada)
    sign_in(page, site, path=f"/submissions/{view.id}")
    page.execute_script("document.getElementById('cancel').focus()")
    held = stage.take(site.platform)
    headline(page, "Compiling")
    assert page.switch_to.active_element.get_attribute("id") == "cancel"
    stage.finish(site.platform, held, stage.wrong())
    headline(page, "Wrong answer")
    assert page.switch_to.active_element.get_attribute("id") == "main"


class TestEditor:
    def test_tab_indents_and_escape_lets_it_leave(self, page: WebDriver, site: Site) -> None:
        sign_in(page, site, path=CHALLENGE)
        editor = write(page, "ab")
        editor.send_keys(Keys.TAB, "c")
        assert editor.get_property("value") == "ab  c"
        editor.send_keys(Keys.HOME, Keys.TAB)
        assert editor.get_property("value") == "    ab  c"
        editor.send_keys(Keys.SHIFT, Keys.TAB, Keys.NULL)
        assert editor.get_property("value") == "ab  c"
        editor.send_keys(Keys.END, Keys.ESCAPE, Keys.TAB)
        assert page.switch_to.active_element != editor
        assert editor.get_property("value") == "ab  c"

    def test_indents_all_marked_lines_and_undoes_it(self, page: WebDriver, site: Site) -> None:
        sign_in(page, site, path=CHALLENGE)
        editor = write(page, "a\nb\n\nc")
        editor.send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.TAB)
        assert editor.get_property("value") == "    a\n    b\n\n    c"
        editor.send_keys(Keys.CONTROL, "z", Keys.NULL)
        assert editor.get_property("value") == "a\nb\n\nc"

    def test_enter_keeps_the_indent_and_lines_are_numbered(self, page: WebDriver, site: Site) -> None:
        sign_in(page, site, path=CHALLENGE)
        editor = write(page, "    a\nb")
        assert editor.get_property("value") == "    a\n    b"
        gutter = page.find_element(By.CSS_SELECTOR, "[data-language=triton] .gutter")
        assert gutter.get_property("textContent") == "1\n2"

    def test_edits_survive_a_reload(self, page: WebDriver, site: Site) -> None:
        sign_in(page, site, path=CHALLENGE)
        write(page, "mine")
        page.refresh()
        assert area(page).get_property("value") == "mine"

    def test_other_language_keeps_its_own_text(self, page: WebDriver, site: Site) -> None:
        sign_in(page, site, path=CHALLENGE)
        write(page, "mine")
        # Nothing here serves CUDA: lift the bar, to see what picking does.
        page.execute_script("document.querySelector('[value=cuda]').disabled = false")
        cuda = page.find_element(By.CSS_SELECTOR, "[value=cuda]")
        ActionChains(page).move_to_element(cuda).click().perform()
        other = page.find_element(By.NAME, "source-cuda")
        assert other.is_displayed()
        assert not area(page).is_displayed()
        assert 'extern "C"' in (other.get_property("value") or "")
        ActionChains(page).move_to_element(
            page.find_element(By.CSS_SELECTOR, "[value=triton]")
        ).click().perform()
        assert area(page).is_displayed()
        assert area(page).get_property("value") == "mine"
