"""The result page: the grid of cases, its filters, the worst elements, advice, links into the source."""

from __future__ import annotations

import re
from typing import Any

from grader.judge.faults import COMING
from grader.schemas.report import (
    BrokenRule,
    CaseReport,
    CaseVerdict,
    Mismatch,
    Report,
    Score,
    Verdict,
    WorstElement,
)
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.boards.share import without_source
from grader.service.platform import Platform
from grader.web.pages.formats import docs_linked
from tests.web import builders
from tests.web.conftest import Visit
from tests.web.security.inert import what_runs

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>"


def worst(**values: Any) -> Report:
    elements = [
        WorstElement(index=[1, 7], got="nan", expected="1.5", allowed=0.0015),
        WorstElement(index=[0, 3], got="never written", expected="inf"),
        WorstElement(index=[2, 2], got="1e+30", expected="0.25", error=1e30, allowed=0.00025),
    ]
    report = builders.wrong(**values)
    case = report.cases[1]
    assert case.mismatch
    mismatch = case.mismatch.model_copy(update={"worst": elements})
    cases = [report.cases[0], case.model_copy(update={"mismatch": mismatch}), *report.cases[2:]]
    return report.model_copy(update={"cases": cases})


def squares(page: str) -> list[tuple[str, str, str, str]]:
    inside = r'<span aria-hidden="true">(.)</span><span class="tip">(.*?)</span>'
    pattern = rf'<a class="square (\w+)" href="([^"]*)">{inside}</a>'
    return re.findall(pattern, page)


class TestCases:
    def test_each_case_has_a_square(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, worst()).id}").text
        assert squares(page) == [
            ("passed", "#case-1", "✓", "basic: accepted"),
            ("failed", "#case-2", "W", "tail of block: wrong answer"),
            ("idle", "#case-3", "–", "late: not run"),
        ]
        for number in range(1, 4):
            assert page.count(f'id="case-{number}"') == 1
        assert re.findall(r'role="group" aria-label="([^"]+)">', page)[:3] == ["basic", "block edge", "huge"]
        assert '<span id="hidden-cases">0 of 1 hidden case passed.</span>' in page

    def test_filters_are_links(self, visit: Visit, platform: Platform, ada: User) -> None:
        path = f"/submissions/{builders.judged(platform, ada, worst()).id}"
        client = visit(ada)
        whole = client.get(path).text
        assert f'href="{path}?cases=failed#cases"' in whole
        assert f'href="{path}?cases=block_edge#cases"' in whole
        failed = client.get(f"{path}?cases=failed").text
        assert [
            entry in failed for entry in ('id="case-1"', 'id="case-2"', 'id="case-3"', 'id="case-4"')
        ] == [*(False, True, False, False)]
        # The grid stays complete: cases outside the filter link to the whole list.
        assert squares(failed)[0] == ("passed", f"{path}#case-1", "✓", "basic: accepted")
        one = client.get(f"{path}?cases=huge").text
        assert [each in one for each in ('id="case-2"', 'id="case-3"')] == [False, True]
        # So does the advice, which names a case.
        assert f'<a href="{path}#case-2">Show the case</a>' in one
        assert re.search(r'data-cases="huge" aria-current="true"', one)

    def test_an_unknown_filter_shows_all(self, visit: Visit, platform: Platform, ada: User) -> None:
        path = f"/submissions/{builders.judged(platform, ada, worst()).id}"
        page = visit(ada).get(path, query_string={"cases": EVIL}).text
        assert 'id="case-1"' in page
        assert what_runs(page) == []

    def test_the_worst_elements_are_shown(self, visit: Visit, platform: Platform, ada: User) -> None:
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, worst()).id}").text
        rows = re.findall(r"<tr>\s*<td><code>(out\[.*?\])</code></td>(.*?)</tr>", page, re.DOTALL)
        told = [(where, re.findall(r">([^<>\n]+)<", rest)) for where, rest in rows]
        assert told == [
            ("out[1, 7]", ["nan", "1.5", "not finite", "0.0015"]),
            ("out[0, 3]", ["never written", "inf", "–", "only the same"]),
            ("out[2, 2]", ["1e+30", "0.25", "1e+30", "0.00025"]),
        ]
        assert "Furthest off, 3 of 33" in page
        assert '<dt>seed</dt><dd class="figures">1234567</dd>' in page

    def test_hidden_cases_show_no_element(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        element = WorstElement(index=[987654], got="424242", expected="1", error=1.0, allowed=0.0)
        mismatch = Mismatch(argument="out", kind="value", index=[0], wrong=1, total=9, worst=[element])
        secret = CaseReport(
            name="secret",
            category="prime",
            verdict=CaseVerdict.WRONG_ANSWER,
            detail="why",
            mismatch=mismatch,
            hidden=True,
        )
        path = f"/submissions/{builders.judged(platform, ada, builders.wrong(cases=[secret])).id}"
        own = visit(ada)
        for page in (own.get(path), own.get(f"{path}/panel"), own.get(f"/api/v1{path}/report")):
            assert "424242" not in page.text
            assert "987654" not in page.text
        assert "424242" in visit(teacher).get(path).text

    def test_errors_are_counted_in_the_unit_of_the_challenge(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        report = builders.wrong()
        case = report.cases[1]
        assert case.mismatch
        element = WorstElement(
            index=[1], got="2", expected="1", error=17 * 2.0**-23, allowed=3 * 2.0**-23, unit_size=2.0**-23
        )
        mismatch = case.mismatch.model_copy(update={"worst": [element], "unit": "ulps"})
        cases = [report.cases[0], case.model_copy(update={"mismatch": mismatch})]
        told = report.model_copy(update={"cases": cases})
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, told).id}").text
        assert all(f">{words}</td>" in page for words in ("17 ulps", "3 ulps"))


def test_a_broken_rule_names_its_line_and_links_it(visit: Visit, platform: Platform, ada: User) -> None:
    sentence = "Line 5 of kernel add uses atomics (atom.global.add.f32): this challenge forbids atomics."
    rule = BrokenRule(rule="forbid", name="atomics", sentence=sentence, line=5, kernel="add")
    told = builders.accepted(
        verdict=Verdict.BROKEN_RULE, broken_rules=[rule], detail=sentence, workloads=[], score=Score()
    )
    seen = builders.judged(platform, ada, told)
    page = visit(ada).get(f"/submissions/{seen.id}").text
    assert "Broken rule" in page
    assert f'{sentence} <a href="#L-5">Line 5</a>: <code>out.copy_(a + b)' in page
    assert without_source(told).broken_rules[0].sentence == "It breaks the rule for atomics."


class TestAdvice:
    def test_advice_links_to_the_first_failing_case(
        self, visit: Visit, platform: Platform, ada: User
    ) -> None:
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, worst()).id}").text
        advice = re.search(r'id="advice">(.*?)</p>', page, re.DOTALL)
        assert advice
        assert "Look first at &#39;tail of block&#39; with n = 1,024: it gives a wrong answer." in advice[1]
        assert 'href="#case-2"' in advice[1]

    def test_advice_links_to_the_failing_line(self, visit: Visit, platform: Platform, ada: User) -> None:
        report = builders.not_compiled().model_copy(update={"detail": "SyntaxError in line 4: <b>"})
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, report).id}").text
        assert "Look first at line 4: SyntaxError in line 4: &lt;b&gt;." in page
        assert 'href="#L-4">Show line 4</a>' in page
        assert 'id="L-4"' in page

    def test_a_nonexistent_line_is_no_link(self, visit: Visit, platform: Platform, ada: User) -> None:
        report = builders.not_compiled("solution.cu(999): error: no").model_copy(
            update={"detail": "in line 999: no"}
        )
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, report).id}").text
        assert "solution.cu(999): error: no" in page
        assert "#L-999" not in page


def test_a_finished_panel_links_into_the_source(visit: Visit, platform: Platform, ada: User) -> None:
    view = builders.judged(platform, ada, builders.not_compiled("solution.cu(3): error: no"))
    assert '<a href="#L-3">solution.cu(3)</a>' in visit(ada).get(f"/submissions/{view.id}/panel").text


def test_an_old_report_is_shown(visit: Visit, platform: Platform, ada: User) -> None:
    """Stored without the later fields."""
    from sqlalchemy import select, update

    from grader.records.engine import writing
    from grader.records.models import ReportRow

    wrong, timed = (
        builders.judged(platform, ada, builders.wrong()),
        builders.judged(platform, ada, builders.accepted()),
    )
    with writing(platform.sessions) as session:
        for row in session.scalars(select(ReportRow)).all():
            body = row.body.replace(',"worst":[]', "").replace(',"cost":null', "")
            assert body != row.body
            old = update(ReportRow).where(ReportRow.submission_id == row.submission_id)
            session.execute(old.values(body=body))
    assert "33 of 1,024 elements" in visit(ada).get(f"/submissions/{wrong.id}").text
    assert "is older than the roofline" in visit(ada).get(f"/submissions/{timed.id}").text


def test_the_report_can_be_downloaded(visit: Visit, seen: SubmissionView, ada: User) -> None:
    client = visit(ada)
    found = re.search(r'href="([^"]+)" download="([^"]+)"', client.get(f"/submissions/{seen.id}").text)
    assert found
    assert found[2] == f"{seen.id}.json"
    assert Report.model_validate_json(client.get(found[1]).text).score.time_us == 812.5


def test_a_run_explains_what_submitting_adds(visit: Visit, platform: Platform, ada: User) -> None:
    from sqlalchemy import update

    from grader.records.engine import writing
    from grader.records.models import SubmissionRow
    from grader.schemas.submission import JudgingReason

    report = builders.accepted(workloads=[], flags=[])
    view = builders.judged(platform, ada, report)
    with writing(platform.sessions) as session:
        row = update(SubmissionRow).where(SubmissionRow.public_id == view.id)
        session.execute(row.values(kind=JudgingReason.RUN, time_us=None))
    page = visit(ada).get(f"/submissions/{view.id}").text
    assert "Hidden cases and times come with" in page
    assert "Every visible case passed." in page
    assert 'id="times"' not in page
    assert (
        'id="only-a-run"'
        not in visit(ada).get(f"/submissions/{builders.judged(platform, ada, report).id}").text
    )


class TestHints:
    def test_only_our_pages_become_links(self) -> None:
        said = docs_linked("See: /docs/coming-from-other-platforms. Or (/docs/rules#limits)")
        assert said == (
            'See: <a href="/docs/coming-from-other-platforms">/docs/coming-from-other-platforms</a>. '
            'Or (<a href="/docs/rules#limits">/docs/rules#limits</a>)'
        )
        for text in ("https://elsewhere/docs/rules", "/docs/../admin/x", "//docs/rules", "/docs/"):
            assert docs_linked(text) == text

    def test_hints_of_a_submission_are_escaped(self, visit: Visit, platform: Platform, ada: User) -> None:
        report = worst()
        hints = {"hint": f"{EVIL} /docs/{EVIL}"}
        cases = [each.model_copy(update=hints if each.detail else {}) for each in report.cases]
        report = report.model_copy(update={"cases": cases, **hints})
        page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, report).id}").text
        assert "<script>alert" not in page
        assert what_runs(page) == []

    def test_hints_link_to_the_docs(self, visit: Visit, platform: Platform, ada: User) -> None:
        report = worst().model_copy(update={"hint": f"All of them. {COMING}"})
        client = visit(ada)
        page = client.get(f"/submissions/{builders.judged(platform, ada, report).id}").text
        (leads,) = re.findall(r'<p class="hint">All of them\. .*?<a href="([^"]+)">', page)
        assert client.get(leads).status_code == 200


def test_cases_with_the_same_finding_are_grouped(visit: Visit, platform: Platform, ada: User) -> None:
    report = builders.wrong()
    first = report.cases[1]
    alike = [
        first.model_copy(update={"name": f"size {number}", "hint": f"The last {number} are lost."})
        for number in (3, 40)
    ]
    other = first.model_copy(update={"name": "different", "hint": "Columns and rows are exchanged."})
    unknown = [first.model_copy(update={"name": f"unknown {number}", "hint": ""}) for number in (1, 2)]
    found = report.model_copy(update={"cases": [report.cases[0], *alike, other, *unknown]})
    page = visit(ada).get(f"/submissions/{builders.judged(platform, ada, found).id}").text
    assert page.count('class="card failing"') == 4
    assert '<h2 id="failing-title">What went wrong <span class="count">5</span></h2>' in page
    assert "The same in 1 other case<" in page
    for number in range(1, 7):
        assert page.count(f'id="case-{number}"') == 1
