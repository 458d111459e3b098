"""The profile on a result page: times, hints, and counts by source line."""

from __future__ import annotations

import re
from html import unescape

import pytest

from grader.schemas.report import WorkloadReport
from grader.service.accounts.accounts import User
from grader.service.boards import share
from grader.service.platform import Platform
from grader.web.pages.call_profiles import profile_views
from tests.web import builders
from tests.web.conftest import Visit
from tests.web.security.inert import what_runs


def workload() -> WorkloadReport:
    return builders.profiled().workloads[0]


def test_the_bars_parts_add_up_to_the_time() -> None:
    (view,) = profile_views([workload()], builders.SOURCE)
    assert sum(item.width for item in view.parts) == pytest.approx(100, abs=0.1)
    assert [each.start for each in view.parts] == sorted(one.start for one in view.parts)
    assert sum(part.us for part in view.parts) == pytest.approx(view.profile.time_us)
    assert {"launches", "copies"} < {entry.label for entry in view.parts}


def test_lines_show_counts_and_mark_mistakes() -> None:
    (view,) = profile_views([workload()], builders.SOURCE)
    rows = {row.number: row for row in view.rows}
    assert list(rows) == [1, 2, 3, 4, 5]
    assert [number for number, entry in rows.items() if entry.counts] == [1, 4, 5]
    marks = {number: (each.diverging, each.scattered, each.conflicting) for number, each in rows.items()}
    assert marks[1] == (True, False, False)
    assert marks[4] == (False, True, True)
    assert marks[5] == (False, False, False)
    assert rows[5].heat == 100.0, "what waits is work, too"
    assert 0 < rows[1].heat < 100


class TestPage:
    def test_the_owner_sees_the_whole_profile(self, visit: Visit, platform: Platform, ada: User) -> None:
        view = builders.judged(platform, ada, builders.profiled())
        page = visit(ada).get(f"/submissions/{view.id}").text
        part = unescape(page.partition('id="call-profile"')[2].partition('id="cases"')[0])
        assert part.count('<details class="profiled"') == 2, "one for each workload"
        assert part.count('<details class="profiled" open>') == 1
        assert "Kernel <code>copy</code>" in part
        assert "registers not known" in part
        assert "limited by threads" in part
        hint = "32 sectors per request, ideally 4: neighbouring threads read 128 bytes apart."
        assert f'<a href="#L-4">Line 4</a>: {hint}' in part
        assert re.search(r"About [0-9.]+ µs less \([0-9]+%\)", part)
        assert part.count('<tr class="hinted') == 4, "lines 4 and 5 of two workloads"
        assert "200,000  ld.global.f32 %f1, [%rd2]" in part, "the PTX of line 4"
        assert "Warps wait for global memory" in part
        assert "every array once is" in part
        assert part.count("<code>clear</code> <span") == 4, "a launch on the time line, and a kernel"
        assert re.search(r'class="right figures marked">32\.0</td>', part)
        assert "&lt;b&gt;not bold&lt;/b&gt;" in page.partition('id="call-profile"')[2]
        assert "style=" not in part
        assert what_runs(page) == []

    def test_a_shared_result_has_no_profile(self, visit: Visit, platform: Platform, ada: User) -> None:
        view = builders.judged(platform, ada, builders.profiled())
        key = share.share(platform, ada, view.id)
        page = visit(None).get(f"/shared/{key}").text
        assert "Every case passed" in page
        assert "call-profile" not in page, "it names kernels and lines"

    def test_other_boards_have_no_profile(self, visit: Visit, platform: Platform, ada: User) -> None:
        assert "call-profile" not in visit(ada).get(f"/submissions/{plain(platform, ada)}").text


def plain(platform: Platform, user: User) -> str:
    return builders.judged(platform, user, builders.accepted(), source=builders.SOURCE + "# again\n").id
