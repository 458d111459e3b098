"""Two submissions side by side."""

from __future__ import annotations

import re

import pytest

from grader import limits
from grader.schemas.report import CaseReport, CaseVerdict
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.difference import Block, blocks
from tests.web import builders
from tests.web.conftest import Visit
from tests.web.security.inert import what_runs

LONG = "".join(f"line_{number} = {number}\n" for number in range(60))


def texts(page: str, side: str) -> list[str]:
    found = []
    for hunk in re.findall(r'<div class="hunk changed">(.*?)</div>\n</div>', page, re.DOTALL):
        for part in re.findall(rf'<div class="side {side}">(.*?)(?=<div class="side|$)', hunk, re.DOTALL):
            lines = re.findall(r'class="text">(.*?)</span></div>', part, re.DOTALL)
            found += [re.sub(r"<[^>]+>", "", line) for line in lines]
    return found


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc\n", "a\nb\nc", [Block(True, (0, 3), (0, 3))]),
        (
            "a\nb\nc",
            "a\nx\nc",
            [Block(True, (0, 1), (0, 1)), Block(False, (1, 2), (1, 2)), Block(True, (2, 3), (2, 3))],
        ),
        ("a", "a\nb", [Block(True, (0, 1), (0, 1)), Block(False, (1, 1), (1, 2))]),
        ("b\na", "a", [Block(False, (0, 1), (0, 0)), Block(True, (1, 2), (0, 1))]),
        ("a\na", "a", [Block(True, (0, 1), (0, 1)), Block(False, (1, 2), (1, 1))]),
    ],
)
def test_changed_lines_form_blocks(before: str, after: str, expected: list[Block]) -> None:
    assert blocks(before, after) == expected


def test_blocks_cover_both_sources_completely() -> None:
    before, after = LONG, LONG.replace("line_7 ", "other ").replace("line_30 = 30\n", "") + "end\n"
    found = blocks(before, after)
    for side, text in (("before", before), ("after", after)):
        places = [place for block in found for place in range(*getattr(block, side))]
        assert places == list(range(text.count("\n")))


def test_sources_too_long_to_compare_are_one_change() -> None:
    many = limits.DIFF_LINES + 1
    before, after = ("\n".join(["head", *(f"{word}{n % 7}" for n in range(many)), "tail"]) for word in "ab")
    assert [block.same for block in blocks(before, after)] == [True, False, True]


def test_the_page_shows_both_sides(visit: Visit, platform: Platform, ada: User) -> None:
    before = builders.judged(platform, ada, builders.wrong(), source=LONG)
    fixed = CaseReport(name="tail of block", category="block_edge", verdict=CaseVerdict.ACCEPTED)
    report = builders.accepted()
    report = report.model_copy(update={"cases": [*report.cases, fixed]})
    after = builders.judged(platform, ada, report, source=LONG.replace("line_30 = 30", "line_30 = '<b>'"))
    page = visit(ada).get(f"/submissions/{after.id}/diff").text  # the one before is the default
    assert texts(page, "before") == ["line_30 = 30"]
    assert texts(page, "after") == ["line_30 = &#39;&lt;b&gt;&#39;"]
    assert "26 unchanged lines" in page
    assert before.id in page
    assert "wrong answer" in page
    assert "812 µs" in page
    # Nothing else of the hidden case that passes now.
    assert "now passes: tail of block<" in page
    backwards = visit(ada).get(f"/submissions/{before.id}/diff?against={after.id}").text
    assert texts(backwards, "after") == ["line_30 = 30"]


def test_the_page_shows_changes_of_verdict_and_times(visit: Visit, platform: Platform, ada: User) -> None:
    wrong = builders.wrong()
    builders.judged(platform, ada, wrong)
    fixed = [entry.model_copy(update={"name": "tail of block"}) for entry in builders.accepted().cases[:1]]
    builders.judged(platform, ada, builders.accepted(cases=fixed))
    faster = builders.judged(platform, ada, builders.accepted(406.25, cases=fixed))
    client = visit(ada)
    page = client.get(f"/submissions/{faster.id}/diff").text
    assert "2.00× as fast" in page
    assert "The sources are the same." in page
    ids = [each.id for each in build_list(platform, ada)]
    page = client.get(f"/submissions/{ids[1]}/diff?against={ids[2]}").text
    assert "now passes: tail of block" in page


def build_list(platform: Platform, user: User) -> list[SubmissionView]:
    from grader.service.submissions.submissions import list_submissions

    return list_submissions(platform, user).submissions


def test_the_first_submission_has_no_comparison(visit: Visit, seen: SubmissionView, ada: User) -> None:
    assert "You have no earlier submission" in visit(ada).get(f"/submissions/{seen.id}/diff").text


def test_only_the_author_and_staff_see_a_comparison(
    visit: Visit, platform: Platform, seen: SubmissionView, ada: User, bob: User, teacher: User
) -> None:
    theirs = builders.judged(platform, bob, builders.accepted())
    path = f"/submissions/{theirs.id}/diff?against={seen.id}"
    assert [visit(user).get(path).status_code for user in (None, ada, bob, teacher)] == [302, 404, 404, 200]
    assert visit(bob).get(f"/submissions/{theirs.id}/diff?against=nobody").status_code == 404
    assert seen.id in visit(teacher).get(f"/submissions/{theirs.id}/diff").text


def test_submissions_of_two_challenges_are_not_compared(
    visit: Visit, platform: Platform, seen: SubmissionView, ada: User
) -> None:
    other = builders.judged(platform, ada, builders.accepted(challenge="relu"), challenge="relu")
    assert visit(ada).get(f"/submissions/{other.id}/diff?against={seen.id}").status_code == 400


def test_sources_are_escaped(visit: Visit, platform: Platform, ada: User) -> None:
    for text in ("<script>alert(1)</script>", "</span></div><img src=x onerror=alert(2)>"):
        view = builders.judged(platform, ada, builders.accepted(), source=f"{LONG}{text}\n")
    assert what_runs(visit(ada).get(f"/submissions/{view.id}/diff").text) == []


def test_long_changes_show_their_first_lines(visit: Visit, platform: Platform, ada: User) -> None:
    builders.judged(platform, ada, builders.accepted(), source="head\n" + "a\n" * 100_000)
    view = builders.judged(platform, ada, builders.accepted(), source="head\n" + "b\n" * 100_000)
    page = visit(ada).get(f"/submissions/{view.id}/diff").text
    assert page.count('<div class="line">') == 2 * limits.DIFF_LINES + 2
    assert page.count(f"and {100_000 - limits.DIFF_LINES} more lines") == 2
