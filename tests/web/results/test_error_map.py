"""The map of a wrong result on its page."""

from __future__ import annotations

from grader.schemas.error_map import ErrorMap, ErrorWindow
from grader.schemas.report import Report
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit

EVIL = "<img src=x onerror=alert(1)>"
#: Every 16th column of 48 is wrong.
LINE = bytes(4 if column % 16 == 3 else 0 for column in range(48))


def with_map(cells: str) -> Report:
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
    )
    mismatch = case.mismatch.model_copy(update={"map": found})
    return report.model_copy(
        update={"cases": [passed, case.model_copy(update={"mismatch": mismatch}), *others]}
    )


def page_of(visit: Visit, platform: Platform, user: User, cells: str) -> str:
    report = with_map(cells)
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
