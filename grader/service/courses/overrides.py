from __future__ import annotations

from sqlalchemy import select

from grader import formats
from grader.errors import BadRequest, Conflict, NotFound
from grader.records.models import OverrideRow, utcnow
from grader.schemas.gradebook import OverrideBody, StudentGrades
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, members
from grader.service.courses.grade_book import Book, read_book
from grader.service.courses.gradebook import get_grades
from grader.service.courses.permissions import Action
from grader.service.platform import Platform


def override(
    platform: Platform, user: User, course_slug: str, slug: str, body: OverrideBody
) -> StudentGrades:
    """None removes points. Raises NotFound, NotAllowed, BadRequest (also above the part's without ``body.extra``, or
    above the policy's limit), Conflict (changed meanwhile)."""
    reason = audit.tidy_reason(body.reason, needed=True)
    with courses.changing(platform, user, course_slug, Action.GRADES_OVERRIDE) as course:
        session, row = course.session, assignments.find(course, slug)
        parts = assignments.parts_of(session, [row.id]).get(row.id, [])
        if body.challenge not in {part.challenge for part in parts}:
            raise BadRequest(
                f"Assignment {slug} has no challenge '{body.challenge}'.",
                "The assignment's page lists its challenges.",
            )
        whom = members.student_of(course, body.student)
        key = (
            OverrideRow.assignment_id == row.id,
            OverrideRow.challenge == body.challenge,
            OverrideRow.user_id == whom,
        )
        given = session.scalar(select(OverrideRow).where(*key))
        before = {"points": given.points if given is not None else None}
        if "seen" in body.model_fields_set and body.seen != before["points"]:
            raise Conflict(
                f"Somebody else has just changed {body.student}'s points for '{body.challenge}'.",
                "Reload, check their points, and repeat your change.",
            )
        if body.points is None:
            if given is None:
                raise NotFound(
                    f"{body.student} has no override for '{body.challenge}' to remove.",
                    "The points are the computed ones.",
                )
            session.delete(given)
        else:
            _check_most(read_book(platform, session, course.row, [whom]), row.id, body)
            if given is None:
                given = OverrideRow(assignment_id=row.id, challenge=body.challenge, user_id=whom)
                session.add(given)
            given.points, given.reason = float(body.points), reason
            given.made_by, given.created_at = user.id, utcnow()
        session.flush()
        subject = f"/assignments/{slug}/{body.challenge}/{body.student}"
        course.note(
            Action.GRADES_OVERRIDE, subject, before=before, after={"points": body.points}, reason=reason
        )
    return get_grades(platform, user, course_slug, body.student)


def _check_most(book: Book, assignment: int, body: OverrideBody) -> None:
    parts = [part for found in book.assignments if found.row.id == assignment for part in found.parts]
    part = next((part for part in parts if part.challenge == body.challenge and not part.broken), None)
    if part is None or body.points is None:
        return
    limit = book.grading.most_by_staff(part.most)
    if limit is not None and body.points > max(limit, formats.rounded_points(limit)):
        raise BadRequest(
            f"This course lets staff give at most {formats.points(limit)} points for '{body.challenge}', not "
            f"{formats.points(body.points)}.",
            f"That is {book.grading.policy.override_percent:g} % of its {formats.points(part.most)} points; the "
            "course's policy sets it.",
        )
    if not body.extra and body.points > max(part.most, formats.rounded_points(part.most)):
        raise BadRequest(
            f"'{body.challenge}' has {formats.points(part.most)} points at most, not {formats.points(body.points)}.",
            "Give at most that many, or mark them as extra points: --extra, or the checkbox on the page.",
        )
