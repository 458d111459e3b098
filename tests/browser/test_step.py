"""A failing block, stepped through by the engine as WebAssembly in a real browser."""

from __future__ import annotations

import base64
import gzip

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from grader.sandbox.emulator import is_built
from grader.sandbox.emulator.stepping.recorder import Choice
from grader.schemas.report import CaseVerdict, Verdict
from grader.schemas.step import StepBundle
from tests import stepping, stepping_pair
from tests.browser.conftest import Visit
from tests.browser.furnished import Site
from tests.components import need
from tests.emulator.test_named import SOURCE, line_of, recorded
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
    # Unwritten memory is used when it is stored.
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


def test_a_race_in_either_order_and_on_the_time_line(site: Site, visit: Visit) -> None:
    need("emulator")
    need("wasm")
    report = stepping.report(builders.wrong(), stepping_pair.bundle())
    view = builders.judged(site.platform, site.ada, report, source=stepping_pair.SOURCE)
    visitor = visit("ada")
    visitor.go(f"/submissions/{view.id}/step")
    page = visitor.page
    says(page, "This is the second of the two accesses.")
    expect(page.get_by_role("button", name="To the second access")).to_be_visible()
    race = page.get_by_role("region", name="Both accesses, in either order")
    expect(race).to_contain_text("Program 1 first, as a whole; then program 0")
    race.get_by_role("button").nth(2).click()
    says(page, "program 0, warp 0, line 4, store global memory")
    expect(page.locator("[data-access]")).to_contain_text("1 lane writes 4 bytes of out.")
    expect(race.locator("tr.turn")).to_contain_text("7 → 3")
    race.get_by_role("button").nth(3).click()
    says(page, "program 1, warp 0, line 4")
    expect(race.locator("tr.turn")).to_contain_text("3 → 4")
    line, words = page.get_by_role("slider", name="Time line"), page.locator("[data-timeline-words]")
    expect(words).to_contain_text("1: warp 0, instruction 35: 1 lane active")
    line.focus()
    page.keyboard.press("Home")
    says(page, "Instruction 1 of 35: program 0, warp 0")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("0: warp 0, instructions 5 to 8: waits at a barrier")
    says(page, "Instruction 5 of 35: program 0, warp 1")
    box = line.bounding_box()
    assert box
    line.click(position={"x": box["width"] - 2, "y": box["height"] - 3})
    says(page, "This is the second of the two accesses.")


def test_a_right_block_has_variables_prints_and_pieces_of_the_heap(site: Site, visit: Visit) -> None:
    for part in ("emulator", "wasm", "nvcc"):
        need(part)
    made = recorded("speaks", (1, 1, 1), (32, 1, 1), [np.zeros(32, dtype=np.int32)], Choice())
    base = stepping.report(builders.accepted(), StepBundle(**made.told()))
    case = base.cases[0].model_copy(update={"verdict": CaseVerdict.ACCEPTED, "detail": ""})
    report = base.model_copy(update={"cases": [case], "verdict": Verdict.ACCEPTED})
    view = builders.judged(site.platform, site.ada, report, source=SOURCE.read_text())
    visitor = visit("ada")
    page = visitor.page
    visitor.go(f"/submissions/{view.id}/step")
    says(page, "Instruction ")
    expect(page.get_by_text("Both leave the same bytes in memory.")).to_be_visible()
    page.get_by_role("button", name="To the end").click()
    says(page, "After the end:")
    printed = page.get_by_role("region", name="Prints of the block")
    expect(printed).to_contain_text("19 of speaks: 28.5")
    expect(page.get_by_role("region", name="Pieces of memory").get_by_role("row")).to_have_count(33)
    printed.get_by_role("button").first.click()
    says(page, f"line {line_of('if (i % 16 == 3)')}")
    lanes = page.get_by_role("region", name="Variables by lane")
    expect(lanes.get_by_role("row").nth(8)).to_contain_text("7")
    expect(lanes).to_contain_text("int*")
    expect(page.locator("[data-uniform]")).to_contain_text("out")
    page.get_by_role("link", name="The program that was judged").click()
    says(page, "Instruction ")
    expect(page.get_by_role("region", name="Variables by lane")).to_be_hidden()


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
