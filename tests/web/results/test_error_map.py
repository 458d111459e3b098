"""The map of a wrong result on its page."""

from __future__ import annotations

import struct

from grader.schemas.error_map import Blocks, By, ErrorMap, ErrorWindow, Writer
from grader.schemas.report import Report
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit

EVIL = "<img src=x onerror=alert(1)>"
#: Every 16th column of 48 is wrong.
LINE = bytes(4 if column % 16 == 3 else 0 for column in range(48))


def with_map(cells: str, writer: Writer | None = None, blocks: Blocks | None = None) -> Report:
    report = builders.wrong()
    passed, case, *others = report.cases
    assert case.mismatch
    found = ErrorMap(
        shape=[20, 48],
        width=48,
        tile=(1, 1),
        rows=20,
        columns=48,
        lowest=-3,
        cells=cells,
        window=ErrorWindow(first=[[0, 0]], values={"got": [["0", "nan"]], EVIL: [[EVIL, "1"]]}),
        writer=writer,
        blocks=blocks,
    )
    mismatch = case.mismatch.model_copy(update={"map": found})
    return report.model_copy(
        update={"cases": [passed, case.model_copy(update={"mismatch": mismatch}), *others]}
    )


def page_of(
    visit: Visit,
    platform: Platform,
    user: User,
    cells: str,
    writer: Writer | None = None,
    blocks: Blocks | None = None,
) -> str:
    report = with_map(cells, writer, blocks)
    return visit(user).get(f"/submissions/{builders.judged(platform, user, report).id}").text


def test_the_map_has_a_legend_and_numbers(visit: Visit, platform: Platform, ada: User) -> None:
    page = page_of(visit, platform, ada, ErrorMap.packed(LINE * 20))
    assert page.count('<rect class="e4" x=') == 20 * 3
    assert '<rect class="e0" x="4" y="19" width="15" height="1"/>' in page
    assert "off by less than 10</li>" in page
    assert '<th scope="row">[0, 0]</th><td class="right">0</td><td class="right">nan</td>' in page
    assert EVIL not in page


def test_a_damaged_map_is_left_out(visit: Visit, platform: Platform, ada: User) -> None:
    page = page_of(visit, platform, ada, "AAAA")
    assert "tail of block" in page
    assert "error-map" not in page


def test_first_wrong_element_names_who_wrote_it_with_a_link_and_a_quote(
    visit: Visit, platform: Platform, ada: User
) -> None:
    writer = Writer(by=By.PROGRAM, kernel="add<3>", block=(0, 2, 0), lines=[1])
    page = page_of(visit, platform, ada, ErrorMap.packed(LINE * 20), writer)
    first = page.partition('<p class="first-wrong">')[2].partition("</p>")[0]
    assert first.startswith(
        "First wrong: <code>out[1023]</code> (expected <code>1.5</code>, got <code>0.0</code>). "
        'Program (0, 2) of add&lt;3&gt; wrote it last, at <a href="#L-1">line 1</a>: <code>'
    )


def test_edges_of_blocks_are_drawn_and_the_script_gets_them(
    visit: Visit, platform: Platform, ada: User
) -> None:
    ids = [2 + column // 16 + 3 * (row // 10) for row in range(20) for column in range(48)]
    table = b"".join(struct.pack("<4I", 0, x, y, 0) for y in range(2) for x in range(3))
    blocks = Blocks.packed(struct.pack(f"<{len(ids)}H", *ids), table, [EVIL])
    assert blocks
    page = page_of(visit, platform, ada, ErrorMap.packed(LINE * 20), None, blocks)
    assert '<path class="edges" d="M16 0V20M32 0V20M0 10H48"/>' in page
    assert f'data-table="{blocks.table}"' in page
    assert "first-wrong" not in page
    assert EVIL not in page
