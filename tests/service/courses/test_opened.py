"""Who may read staff's solution and others' kernels, and when."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from grader.errors import Conflict, NotFound
from grader.records.engine import writing
from grader.records.models import FlagRow, MemberRow, ReportRow, SubmissionRow, utcnow
from grader.schemas.competition import Mode, RegisterBody
from grader.schemas.course import CourseRole, CourseView
from grader.schemas.preferences import PreferencesBody, ProfileAudience
from grader.schemas.publication import BoardAudience, BoardBody
from grader.schemas.report import Flag, Verdict
from grader.schemas.submission import JudgingReason, SetAside
from grader.service.accounts import preferences
from grader.service.accounts.accounts import User, create_user
from grader.service.boards import board_access
from grader.service.challenges import publication
from grader.service.competitions import teams
from grader.service.courses import courses
from grader.service.platform import Platform
from grader.service.submissions import comparison, opened
from tests.service.competitions.builders import elapse
from tests.service.competitions.builders import make as make_competition
from tests.service.courses.scenes import assign, enrol, judged
from tests.web import builders

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SECRET = "# bob's own idea\n"
SOLUTION = "# what only staff knew\n"
TIMES = {"time_us": 40.0, "ci_lo_us": 39.0, "ci_hi_us": 41.0}


def solve(platform: Platform, user: User, source: str = "x = 1\n", **values: Any) -> str:
    return judged(platform, user, -2 * DAY, source=source, **{**TIMES, **values})


def keep_solution(platform: Platform, commentary: bool = True) -> None:
    staff = platform.catalogue.root / "reference" / "scale" / "staff"
    staff.mkdir(exist_ok=True)
    (staff / "solution.py").write_text(SOLUTION)
    if commentary:
        (staff / "commentary.md").write_text("Why it is fast.\n")


def share(platform: Platform, user: User, audience: ProfileAudience = ProfileAudience.MEMBERS) -> None:
    preferences.change(platform, user, PreferencesBody(kernels=audience))


def reported(platform: Platform, *submissions: str, **values: Any) -> None:
    body = builders.accepted(challenge="scale", **values).model_dump_json()
    with writing(platform.sessions) as session:
        for row in session.query(SubmissionRow).filter(SubmissionRow.public_id.in_(submissions)):
            session.add(ReportRow(submission_id=row.id, attempt=row.attempt, body=body))


def keys(platform: Platform, user: User, mine: str) -> set[str]:
    return {choice.key for choice in comparison.compare(platform, user, mine).choices}


def refused(platform: Platform, user: User, mine: str, key: str) -> bool:
    """True if neither the list nor a typed address gives the kernel."""
    assert key not in keys(platform, user, mine)
    with pytest.raises(NotFound):
        comparison.compare(platform, user, mine, key)
    return True


class TestKernels:
    def test_nobody_reads_a_kernel_without_its_authors_consent(
        self, platform: Platform, student: User, other: User
    ) -> None:
        mine, theirs = solve(platform, student), solve(platform, other, SECRET)
        assert refused(platform, student, mine, theirs)
        share(platform, other)
        found = comparison.compare(platform, student, mine, theirs)
        assert found.other is not None
        assert (found.other.source, found.other.name) == (SECRET, "the kernel of bob")
        share(platform, other, ProfileAudience.PRIVATE)
        assert refused(platform, student, mine, theirs)

    def test_only_the_authors_entry_is_shared(self, platform: Platform, student: User, other: User) -> None:
        mine, entry = solve(platform, student), solve(platform, other)
        slower = solve(platform, other, SECRET, time_us=90.0, ci_lo_us=90.0, ci_hi_us=90.0)
        share(platform, other)
        assert keys(platform, student, mine) == {entry}
        assert refused(platform, student, mine, slower)

    @pytest.mark.parametrize(
        "values",
        [
            {"verdict": Verdict.WRONG_ANSWER},
            {"kind": JudgingReason.RUN},
        ],
    )
    def test_who_did_not_solve_it_compares_nothing(
        self, platform: Platform, student: User, other: User, values: dict[str, Any]
    ) -> None:
        mine = solve(platform, student, **values)
        solve(platform, other, SECRET)
        share(platform, other)
        keep_solution(platform)
        with pytest.raises(Conflict):
            comparison.compare(platform, student, mine)
        assert not comparison.solution_is_open(platform, student, mine)

    @pytest.mark.parametrize(
        "values",
        [
            {"time_us": None, "ci_lo_us": None, "ci_hi_us": None},  # no rank, as with a library's kernels
            {"set_aside": SetAside.VOID},
        ],
    )
    def test_an_accepted_submission_without_rank_opens_nothing(
        self, platform: Platform, student: User, other: User, values: dict[str, Any]
    ) -> None:
        mine, theirs = solve(platform, student, **values), solve(platform, other, SECRET)
        share(platform, other)
        keep_solution(platform)
        assert refused(platform, student, mine, theirs)
        assert refused(platform, student, mine, "staff-triton")
        assert comparison.compare(platform, student, mine).closed == opened.UNSOLVED

    def test_a_librarys_kernel_opens_nothing(self, platform: Platform, student: User, other: User) -> None:
        mine, theirs = solve(platform, student), solve(platform, other, SECRET)
        share(platform, other)
        with writing(platform.sessions) as session:
            row = session.query(SubmissionRow).filter_by(public_id=mine).one()
            session.add(FlagRow(submission_id=row.id, flag=Flag.LIBRARY_KERNEL, received_at=row.created_at))
        assert refused(platform, student, mine, theirs)

    def test_somebody_elses_submission_is_no_way_to_a_third(
        self, platform: Platform, student: User, other: User
    ) -> None:
        theirs = solve(platform, other, SECRET)
        share(platform, other)
        solve(platform, student)
        with pytest.raises(NotFound):
            comparison.compare(platform, student, theirs)
        with pytest.raises(NotFound):
            comparison.solution_is_open(platform, student, theirs)

    def test_a_closed_board_shares_no_kernels(
        self, platform: Platform, student: User, other: User, staff: User
    ) -> None:
        mine, theirs = solve(platform, student), solve(platform, other, SECRET)
        share(platform, other)
        board_access.set_board(platform, staff, "scale", BoardBody(board=BoardAudience.HIDDEN))
        assert refused(platform, student, mine, theirs)
        frozen = BoardBody(board=BoardAudience.PUBLIC, frozen_at=utcnow() - 3 * DAY)
        board_access.set_board(platform, staff, "scale", frozen)
        assert refused(platform, student, mine, theirs)

    def test_an_anonymous_author_stays_anonymous(
        self, platform: Platform, student: User, other: User, staff: User
    ) -> None:
        mine, theirs = solve(platform, student), solve(platform, other)
        preferences.change(platform, other, PreferencesBody(kernels=ProfileAudience.MEMBERS, anonymous=True))
        found = comparison.compare(platform, student, mine, theirs)
        assert found.other is not None
        assert "bob" not in found.other.name + "".join(choice.label for choice in found.choices)

    def test_a_course_is_the_audience_of_what_is_shared_with_it(
        self, platform: Platform, student: User, other: User, staff: User, course: CourseView
    ) -> None:
        mine, theirs = solve(platform, student), solve(platform, other)
        share(platform, other, ProfileAudience.COURSE)
        assert refused(platform, student, mine, theirs)
        enrol(platform, staff, student, other)
        assert keys(platform, student, mine) == {theirs}

    def test_a_students_teacher_learns_nothing_about_others_from_it(
        self, platform: Platform, student: User, other: User, staff: User, course: CourseView
    ) -> None:
        """Neither staff's solution nor kernels that are shared with the student."""
        enrol(platform, staff, student)
        courses.set_staff(platform, staff, "gpu", other.name, CourseRole.INSTRUCTOR)
        assign(platform, staff, due_at=-HOUR, open_solutions=True)
        keep_solution(platform)
        third = create_user(platform, "cyd", "correct horse")
        share(platform, third)
        theirs, earlier, mine = solve(platform, third), solve(platform, student), solve(platform, student)
        teacher = replace(other, teaches=True)
        assert keys(platform, student, mine) == {theirs, earlier, "staff-triton"}
        assert keys(platform, teacher, mine) == {earlier}

    def test_staff_read_all(self, platform: Platform, student: User, other: User, staff: User) -> None:
        theirs, mine = solve(platform, other), solve(platform, staff)
        keep_solution(platform, commentary=False)
        assert keys(platform, staff, mine) == {theirs, "staff-triton"}

    def test_nothing_of_a_report_but_times_is_read(
        self, platform: Platform, student: User, other: User
    ) -> None:
        """Hidden cases, compilers' messages and output stay with their author."""
        mine, theirs = solve(platform, student), solve(platform, other)
        share(platform, other)
        reported(platform, mine, theirs, compiler_log="said privately")
        found = comparison.compare(platform, student, mine, theirs)
        assert [workload.name for workload in found.workloads] == ["2^16", "2^12"]
        assert not any(word in repr(found) for word in ("secret", "said privately", "hello"))


class TestSolution:
    def test_it_opens_after_solving_if_the_challenge_comments_on_it(
        self, platform: Platform, student: User
    ) -> None:
        mine = solve(platform, student)
        keep_solution(platform, commentary=False)
        assert refused(platform, student, mine, "staff-triton")
        keep_solution(platform)
        found = comparison.compare(platform, student, mine, "staff-triton")
        assert found.other is not None
        assert (found.other.source, found.commentary) == (SOLUTION, "Why it is fast.\n")
        assert (found.workloads, found.closed) == ([], "")

    def test_its_counters_are_those_of_staffs_submission_of_the_same_text(
        self, platform: Platform, student: User, other: User, staff: User
    ) -> None:
        keep_solution(platform)
        mine = solve(platform, student)
        solve(platform, other, SOLUTION)
        judged_by_staff = solve(platform, staff, "x = 2\n")
        reported(platform, mine, judged_by_staff)
        assert comparison.compare(platform, student, mine, "staff-triton").workloads == []
        with writing(platform.sessions) as session:
            session.execute(
                update(SubmissionRow).where(SubmissionRow.user_id == staff.id).values(source=SOLUTION)
            )
        assert len(comparison.compare(platform, student, mine, "staff-triton").workloads) == 2


class TestInUse:
    """Solutions close while others could still use them."""

    @pytest.fixture
    def opens(self, platform: Platform, student: User, other: User) -> Any:
        """Whether solution and kernel are open to the student, who solved the challenge long ago."""
        keep_solution(platform)
        mine, theirs = solve(platform, student), solve(platform, other, SECRET)
        share(platform, other)

        def look() -> tuple[bool, bool]:
            found = comparison.compare(platform, student, mine)
            shown = {choice.key for choice in found.choices}
            open_ = "staff-triton" in shown
            assert comparison.solution_is_open(platform, student, mine) is open_
            assert (found.closed == opened.CLOSED) is (not open_)
            for key in {"staff-triton", theirs} - shown:
                assert refused(platform, student, mine, key)
            return open_, theirs in shown

        assert look() == (True, True)
        return look

    def test_assignments(
        self, platform: Platform, student: User, other: User, staff: User, course: CourseView, opens: Any
    ) -> None:
        assign(platform, staff, published=False)
        assert opens() == (False, False), "a draft of a course that they are not in"
        assign(platform, staff, due_at=DAY, open_solutions=True)
        assert opens() == (False, False)
        assign(platform, staff, due_at=-HOUR)
        assert opens() == (True, True), "over, and of a course that is neither's"
        enrol(platform, staff, other)
        assert opens() == (True, False), "the author's course keeps them closed"
        enrol(platform, staff, student)
        assert opens() == (False, False)
        with writing(platform.sessions) as session:
            session.execute(update(MemberRow).where(MemberRow.user_id == student.id).values(left_at=utcnow()))
        assert opens() == (False, False), "leaving the course opens nothing"
        assign(platform, staff, due_at=-HOUR, open_solutions=True)
        assert opens() == (True, True)
        (platform.catalogue.root / "reference" / "scale" / "staff" / "commentary.md").unlink()
        assert opens() == (True, True), "the course opens it without a commentary, too"
        assign(platform, staff, "week2", due_at=-HOUR)
        assert opens() == (False, False), "all of the course's assignments must"

    def test_hidden_challenges(self, platform: Platform, staff: User, opens: Any) -> None:
        publication.hide(platform, staff, "scale")
        assert opens() == (False, False), "it may be kept for an exam"

    def test_competitions(self, platform: Platform, student: User, staff: User, opens: Any) -> None:
        made = make_competition(platform, staff, freeze_minutes=0)
        assert opens() == (False, False)
        elapse(platform, hours=3)
        assert opens() == (True, True)
        teams.register(platform, student, made.slug, RegisterBody(mode=Mode.VIRTUAL))
        assert opens() == (False, False), "they take part on their own clock"
