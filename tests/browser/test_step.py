"""A failing block, stepped through by the engine as WebAssembly in a real browser."""

from __future__ import annotations

import base64
import gzip

import pytest
from playwright.sync_api import Page, expect

from grader.sandbox.emulator import is_built
from tests import stepping
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.components import need
from tests.web import builders


@pytest.fixture(scope="module")
def path(site: Site) -> str:
    need("emulator")
    need("wasm")
    assert is_built()
    report = stepping.report(builders.wrong(), stepping.bundle())
    view = builders.judged(site.platform, site.ada, report, source=stepping.SOURCE)
    return f"/submissions/{view.id}/step"


def says(page: Page, text: str) -> None:
    expect(page.get_by_role("status")).to_contain_text(text)


def test_back_and_forth_by_buttons_and_keys(visit: Visit, path: str) -> None:
    visitor = visit("ada")
    visitor.go(path)
    page = visitor.page
    says(page, "This instruction goes wrong.")
    current, access = page.locator("li[aria-current=step]"), page.locator("[data-access]")
    expect(current).to_have_attribute("data-line", str(stepping.FAULT_LINE))
    # What nobody wrote is used where it is stored.
    expect(access).to_contain_text("32 lanes write 4 bytes each of out.")
    expect(page.locator("[data-warps] tr").nth(1)).to_contain_text("has not begun")
    page.get_by_role("button", name="Access back").click()
    expect(access).to_contain_text("32 lanes read 4 bytes each of tile.")
    expect(page.locator("[data-banks]")).to_contain_text("32 of these words were never written.")
    page.get_by_role("button", name="To the beginning").click()
    says(page, "Instruction 1 of")
    page.keyboard.press("Shift+ArrowRight")
    expect(access).to_contain_text("32 lanes read 4 bytes each of in.")
    expect(current).to_have_attribute("data-line", "4")
    page.keyboard.press("ArrowRight")
    expect(access).not_to_contain_text("of in.")
    page.keyboard.press("ArrowLeft")
    expect(access).to_contain_text("of in.")
    page.keyboard.press("End")
    says(page, "This instruction goes wrong.")


def test_a_block_of_another_engine_is_refused_in_a_sentence(site: Site, visit: Visit) -> None:
    need("emulator")
    need("wasm")
    whole = bytearray(gzip.decompress(stepping.bundle().content))
    at = whole.index(b'"engine":') + len(b'"engine":')
    whole[at] = ord("1") if whole[at] != ord("1") else ord("2")
    other = stepping.bundle().model_copy(
        update={"data": base64.b64encode(gzip.compress(bytes(whole))).decode()}
    )
    report = stepping.report(builders.wrong(), other)
    view = builders.judged(site.platform, site.ada, report, source=stepping.SOURCE)
    visitor = visit("ada")
    visitor.go(f"/submissions/{view.id}/step")
    alert = visitor.page.get_by_role("main").get_by_role("alert").filter(has_text="another version")
    expect(alert).to_be_visible()
    expect(visitor.page.get_by_role("region", name="Lanes at the fault")).to_be_visible()


def test_without_javascript_the_fault_is_a_table(visit: Visit, path: str) -> None:
    visitor = visit("ada", java_script_enabled=False)
    visitor.go(path)
    table = visitor.page.get_by_role("region", name="Lanes at the fault")
    expect(table.get_by_role("row")).to_have_count(33)
    expect(table).to_contain_text("124")
