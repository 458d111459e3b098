"""Groups that hand in together: one quota, one grade, and what becomes of both if the group changes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select

from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound, TooMany
from grader.languages import Language
from grader.records.engine import writing
from grader.records.models import CommentRow, CourseGroupRow, PartnerRow, SubmissionRow
from grader.schemas.assignment import AttemptLimits, ExtensionBody
from grader.schemas.course import CourseGroup, CourseView, GroupBody, MemberChange, RosterBody
from grader.schemas.feedback import CommentBody
from grader.schemas.gradebook import PartGrade
from grader.schemas.submission import NoteBody, SubmissionView
from grader.service.accounts.accounts import User, create_user, user_by_id
from grader.service.courses import course_groups, extensions, gradebook, rosters
from grader.service.platform import Platform
from grader.service.review import comments, similarity
from grader.service.submissions import notes, quiz, submissions
from grader.service.submissions.cancel import cancel
from grader.service.submissions.submit import submit
from tests.service.courses.scenes import NOW, assign, enrol, grading, judged, move
from tests.service.world import body
from tests.similarity.test_comparison import CUDA, CUDA_COPY, solutions

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def cleo(platform: Platform) -> User:
    return create_user(platform, "cleo", "correct horse")


@pytest.fixture(autouse=True)
def _enrolled(
    platform: Platform, course: CourseView, staff: User, student: User, other: User, cleo: User
) -> None:
    """``ada`` and ``bob`` are the group ``red`` by a roster, ``cleo`` is in none."""
    enrol(platform, staff, student, other, cleo)
    table = "account,group\nada,red\nbob,red\ncleo,\n"
    rosters.import_roster(platform, staff, "gpu", RosterBody(text=table, dry_run=False))
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 40 }]")


def together(platform: Platform, user: User, at: timedelta, *partners: User, **values: object) -> str:
    """A judged submission, received with these partners."""
    made = judged(platform, user, at, **values)
    with writing(platform.sessions) as session:
        row = session.scalars(select(SubmissionRow.id).where(SubmissionRow.public_id == made)).one()
        session.add_all(PartnerRow(submission_id=row, assignment_id=1, user_id=each.id) for each in partners)
    return made


def part_of(platform: Platform, staff: User, name: str) -> PartGrade:
    """The same in the gradebook, which caches grades, and on the student's page."""
    book = {each.name: each for each in gradebook.get_gradebook(platform, staff, "gpu").students}
    own = gradebook.get_grades(platform, staff, "gpu", name).assignments[0].parts[0]
    assert own.model_copy(update={"lines": []}) == book[name].assignments[0].parts[0]
    return own


def points_of(platform: Platform, staff: User) -> dict[str, float]:
    return {name: part_of(platform, staff, name).points for name in ("ada", "bob", "cleo")}


def change(platform: Platform, staff: User, name: str, group: str) -> None:
    rosters.change_member(platform, staff, "gpu", name, MemberChange(group=group))


def code_of(platform: Platform, staff: User, name: str) -> str:
    return rosters.get_roster(platform, staff, "gpu").group_codes[name]


def ids(platform: Platform, user: User) -> list[str]:
    return [each.id for each in submissions.list_submissions(platform, user).submissions]


def test_a_group_has_one_quota_one_grade_and_reads_what_it_handed_in(
    platform: Platform, staff: User, student: User, other: User, cleo: User
) -> None:
    assign(platform, staff, group_size=2, attempts=AttemptLimits(total=2))
    first = submit(platform, student, body(source="a = 1\n"))
    assert first.remaining == 1
    assert submit(platform, other, body(source="a = 2\n")).remaining == 0
    with pytest.raises(TooMany, match="Your group has used all 2 attempts"):
        submit(platform, student, body(source="a = 3\n"))
    assert submit(platform, cleo, body(source="a = 4\n")).remaining == 1

    move(platform, first.id, state="done", verdict="accepted", finished_at=NOW, speedup=2.5)
    assert points_of(platform, staff) == {"ada": 100, "bob": 100, "cleo": 0}
    assert part_of(platform, staff, "bob").submission == first.id
    assert len(ids(platform, student)) == len(ids(platform, other)) == 2
    exported = [(row.student, row.points) for row in gradebook.export(platform, staff, "gpu")]
    assert exported == [("ada", 100), ("bob", 100), ("cleo", 0)]

    assert submissions.get_submission(platform, other, first.id).user == "ada"
    assert submissions.get_source(platform, other, first.id).source == "a = 1\n"
    with pytest.raises(NotFound):
        submissions.get_submission(platform, cleo, first.id)
    notes.keep_note(platform, student, first.id, NoteBody(text="only mine"))
    assert submissions.get_submission(platform, other, first.id).note == ""
    with pytest.raises(NotAllowed, match="Only its author"):
        notes.keep_note(platform, other, first.id, NoteBody(text="mine, too"))
    with pytest.raises(NotAllowed, match="Only its author"):
        cancel(platform, other, first.id)
    assert not quiz.read(platform, other, first.id).may_answer


def test_partners_read_comments_as_the_author_does(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    assign(platform, staff, group_size=2)
    made = together(platform, student, -HOUR, other)
    teacher = user_by_id(platform, staff.id)
    assert teacher is not None
    comments.add(platform, teacher, made, CommentBody(text="Look here", first_line=1))
    comments.add(platform, teacher, made, CommentBody(text="Not yet", first_line=1, draft=True))
    seen = comments.list_comments(platform, other, made)
    assert seen == comments.list_comments(platform, student, made)
    assert submissions.get_submission(platform, other, made).comments == 1
    with platform.sessions() as session:
        thread = session.scalars(select(CommentRow.id).where(CommentRow.draft.is_(False))).one()
    comments.add(platform, other, made, CommentBody(text="I see", thread=thread))
    with pytest.raises(NotAllowed):
        comments.add(platform, other, made, CommentBody(text="Mine", first_line=1))


def test_what_was_handed_in_keeps_the_members_it_had(
    platform: Platform, staff: User, student: User, other: User, cleo: User
) -> None:
    """A former member keeps it, and its attempts; a new one only gets later ones."""
    assign(platform, staff, group_size=2, attempts=AttemptLimits(total=3))
    early = submit(platform, student, body(source="a = 1\n"))
    move(platform, early.id, state="done", verdict="accepted", finished_at=NOW, speedup=1.0)
    change(platform, staff, "bob", "blue")
    change(platform, staff, "cleo", "red")
    assert points_of(platform, staff) == {"ada": 60, "bob": 60, "cleo": 0}
    late = submit(platform, cleo, body(source="a = 2\n"))
    move(platform, late.id, state="done", verdict="accepted", finished_at=NOW, speedup=2.5)
    assert points_of(platform, staff) == {"ada": 100, "bob": 60, "cleo": 100}
    assert (late.remaining, ids(platform, other)) == (1, [early.id])
    # Bob used one attempt with Ada, so his new group has used it, too.
    assert submit(platform, other, body(source="a = 3\n")).remaining == 1
    change(platform, staff, "cleo", "")
    assert part_of(platform, staff, "cleo").submission == late.id


def test_partners_have_their_own_times_and_staff_see_a_large_group_refused(
    platform: Platform, staff: User, student: User, other: User, cleo: User
) -> None:
    assign(platform, staff, group_size=2, due_at=-2 * HOUR)
    together(platform, student, -HOUR, other, speedup=2.5)
    assert points_of(platform, staff) == {"ada": 0, "bob": 0, "cleo": 0}
    later = NOW + DAY
    extensions.extend(platform, staff, "gpu", "week1", ExtensionBody(student="bob", due_at=later.isoformat()))
    assert points_of(platform, staff) == {"ada": 0, "bob": 100, "cleo": 0}
    given = ExtensionBody(group="red", due_at=later.isoformat(), reason="ill")
    found = extensions.extend(platform, staff, "gpu", "week1", given)
    assert sorted(each.student or "" for each in found.extensions) == ["ada", "bob"]
    assert points_of(platform, staff) == {"ada": 100, "bob": 100, "cleo": 0}
    with pytest.raises(BadRequest, match="Nobody is in a group 'green'"):
        extensions.extend(platform, staff, "gpu", "week1", given.model_copy(update={"group": "green"}))
    change(platform, staff, "cleo", "red")
    with pytest.raises(NotAllowed, match="Your group red has 3 members; gpu/week1 takes groups of at most 2"):
        submit(platform, student, body(source="a = 1\n"))


def test_students_make_join_and_leave_groups_until_they_hand_in(
    platform: Platform, staff: User, student: User, cleo: User
) -> None:
    def choose(user: User, **wanted: object) -> CourseGroup | None:
        return course_groups.change_own(platform, user, "gpu", GroupBody.model_validate(wanted)).group

    with pytest.raises(Conflict, match="No open assignment"):
        choose(cleo, make="blue")
    assign(platform, staff, group_size=2)
    with pytest.raises(Conflict, match="already in the group red"):
        choose(student, make="blue")
    with pytest.raises(Conflict, match="has a group 'RED' already"):
        choose(cleo, make=" RED ")
    with pytest.raises(NotFound, match="No group"):
        choose(cleo, join="BCDF-GHJK")
    with pytest.raises(Conflict, match="red is full: it has 2 of 2"):
        choose(cleo, join=code_of(platform, staff, "red"))
    assert choose(student, leave=True) is None
    made = choose(cleo, make="deep  blue")
    assert made is not None
    assert (made.name, made.members) == ("deep blue", ["cleo"])
    joined = choose(student, join=made.code.lower().replace("-", " "))
    assert joined is not None
    assert joined.members == ["ada", "cleo"]
    submit(platform, cleo, body())
    with pytest.raises(Conflict, match="has handed in for Week 1"):
        choose(student, leave=True)
    assign(platform, staff, group_size=2, groups_until=(NOW - HOUR).isoformat())
    assert "are fixed since" in course_groups.get_own(platform, student, "gpu").closed
    with pytest.raises(NotAllowed):
        course_groups.get_own(platform, staff, "gpu")
    with pytest.raises(BadRequest, match="Make a group, join one, or leave"):
        choose(cleo, make="x", leave=True)


def test_a_group_that_everybody_left_gets_a_new_code(platform: Platform, staff: User, cleo: User) -> None:
    assign(platform, staff, group_size=2)
    old = course_groups.change_own(platform, cleo, "gpu", GroupBody(make="blue")).group
    course_groups.change_own(platform, cleo, "gpu", GroupBody(leave=True))
    new = course_groups.change_own(platform, cleo, "gpu", GroupBody(make="blue")).group
    assert old is not None
    assert new is not None
    assert old.code != new.code
    with platform.sessions() as session:
        assert session.query(CourseGroupRow).where(CourseGroupRow.name == "blue").count() == 1


def test_partners_are_no_similar_pair(
    platform: Platform, staff: User, student: User, other: User, cleo: User
) -> None:
    """Members of one group now, or people who handed in together, also after they parted."""

    def pairs() -> int:
        return len(similarity.compare(platform, staff, "gpu", "week1").pairs)

    for number, each in enumerate(solutions(Language.CUDA)[:8]):
        author = create_user(platform, f"earlier{number}", "correct horse")
        judged(platform, author, -30 * DAY, source=each.text, language=Language.CUDA)
    for user, source in ((student, CUDA), (other, CUDA_COPY)):
        judged(platform, user, -HOUR, source=source, language=Language.CUDA)
    assign(platform, staff)
    assert pairs() == 1
    assign(platform, staff, group_size=2)
    assert pairs() == 0
    change(platform, staff, "bob", "")
    assert pairs() == 1
    together(platform, cleo, -3 * HOUR, student, other, verdict="wrong_answer", speedup=None)
    assert pairs() == 0


@pytest.mark.both_databases
def test_two_members_at_once_do_not_pass_the_groups_quota(
    platform: Platform, staff: User, student: User, other: User
) -> None:
    assign(platform, staff, group_size=2, attempts=AttemptLimits(total=1))
    at_once = threading.Barrier(2)

    def post(user: User) -> SubmissionView | GraderError:
        at_once.wait()
        try:
            return submit(platform, user, body(source=f"x = '{user.name}'\n"))
        except GraderError as error:
            return error

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(post, [student, other]))
    assert sorted(type(answer) for answer in answers if isinstance(answer, TooMany)) == [TooMany], answers
    assert sum(isinstance(answer, SubmissionView) for answer in answers) == 1


@pytest.mark.both_databases
def test_two_students_at_once_do_not_both_take_the_last_place(
    platform: Platform, staff: User, student: User, other: User, cleo: User
) -> None:
    assign(platform, staff, group_size=2)
    change(platform, staff, "bob", "")
    code = code_of(platform, staff, "red")
    at_once = threading.Barrier(2)

    def join(user: User) -> str:
        at_once.wait()
        try:
            course_groups.change_own(platform, user, "gpu", GroupBody(join=code))
        except Conflict as error:
            return error.message
        return "joined"

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(join, [other, cleo]))
    assert answers == ["The group red is full: it has 2 of 2 members.", "joined"]
