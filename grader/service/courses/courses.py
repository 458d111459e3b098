"""Courses that the caller may not know of read as not found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.deadlines import find_zone
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records import taught
from grader.records.engine import writing
from grader.records.models import CourseInvitationRow, CourseRow, MemberRow, UserRow, utcnow
from grader.schemas.course import (
    STAFF_OF_COURSE,
    AuditLog,
    CourseBody,
    CourseChange,
    CourseList,
    CourseRole,
    CourseView,
    Visibility,
)
from grader.schemas.notice import NoticeKind
from grader.schemas.policy import GradePolicy, policy_of
from grader.service import audit
from grader.service.accounts import needed
from grader.service.accounts.accounts import User, check_not_deleted, find_row
from grader.service.courses import permissions
from grader.service.courses.permissions import Action, Standing
from grader.service.messages import notices
from grader.service.platform import Platform

_STAFF_WORDS = [role.value for role in STAFF_OF_COURSE]


@dataclass(frozen=True)
class OpenCourse:
    session: Session
    row: CourseRow
    user: User
    standing: frozenset[Standing]

    def may(self, action: Action) -> bool:
        return permissions.may(self.standing, action)

    def check(self, action: Action) -> None:
        """Raises NotAllowed."""
        permissions.check(self.user, self.standing, action)

    @property
    def path(self) -> str:
        """Its name in the audit log."""
        return f"/courses/{self.row.slug}"

    def note(self, action: Action, subject: str = "", **values: Any) -> None:
        """``subject``: below the course's path."""
        audit.note(self.session, self.user, action, self.path + subject, course=self.row.id, **values)


@contextmanager
def reading(platform: Platform, user: User, slug: str, action: Action) -> Iterator[OpenCourse]:
    """A student's first visit accepts the place. Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        found = open_in(session, user, slug, action)
        if _pending(found) is None:
            yield found
            return
    with writing(platform.sessions) as session:
        _accept(open_in(session, user, slug, action))
    with platform.sessions() as session:
        yield open_in(session, user, slug, action)


@contextmanager
def changing(platform: Platform, user: User, slug: str, action: Action) -> Iterator[OpenCourse]:
    """Locks it. Raises NotFound, NotAllowed, Conflict (archived)."""
    with writing(platform.sessions) as session:
        found = open_in(session, user, slug, action, lock=True)
        if found.row.archived_at is not None and action is not Action.COURSE_EDIT:
            raise Conflict(f"Course {slug} is archived.", "Its owner can reopen it.")
        _accept(found)
        yield found


def _pending(course: OpenCourse) -> MemberRow | None:
    """A student's row that is not accepted yet."""
    if Standing.STUDENT not in course.standing:
        return None
    mine = (
        MemberRow.course_id == course.row.id,
        MemberRow.user_id == course.user.id,
        MemberRow.left_at.is_(None),
    )
    return course.session.scalar(select(MemberRow).where(*mine, ~taught.accepted()))


def _accept(course: OpenCourse) -> None:
    if _pending(course) is None:
        return
    # The second of two visits finds it accepted.
    lock(course.session, course.row.id)
    row = _pending(course)
    if row is not None:
        taught.accept(course.session, row)


def check(platform: Platform, user: User, slug: str, action: Action) -> None:
    """Raises NotFound, NotAllowed."""
    with reading(platform, user, slug, action):
        pass


def open_in(session: Session, user: User, slug: str, action: Action, lock: bool = False) -> OpenCourse:
    """In the caller's transaction. Raises NotFound, NotAllowed."""
    query = select(CourseRow).where(CourseRow.slug == slug)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise _unknown(slug)
    standing = permissions.standings(session, user, row.id)
    if not permissions.may(standing, Action.COURSE_READ) and row.visibility != Visibility.LISTED:
        raise _unknown(slug)
    permissions.check(user, standing, action)
    return OpenCourse(session, row, user, standing)


def lock(session: Session, course: int) -> None:
    """Before changing members: two transactions that add one person would not see each other's."""
    session.execute(select(CourseRow.id).where(CourseRow.id == course).with_for_update())


def _unknown(slug: str) -> NotFound:
    return NotFound(f"There is no course '{slug[:64]}'.", "`grader course list` lists your courses.")


def create_course(platform: Platform, user: User, body: CourseBody) -> CourseView:
    """Raises NotAllowed, BadRequest (time zone), Conflict (slug taken)."""
    find_zone(body.time_zone)
    row = CourseRow(
        slug=body.slug,
        name=body.name.strip(),
        term=body.term.strip(),
        time_zone=body.time_zone,
        visibility=body.visibility.value,
        grace_days=body.grace_days,
        revision=1,
        created_at=utcnow(),
    )
    try:
        with writing(platform.sessions) as session:
            permissions.check(user, permissions.standings(session, user), Action.COURSE_CREATE)
            session.add(row)
            session.flush()
            owner = MemberRow(course_id=row.id, user_id=user.id, role=CourseRole.OWNER.value)
            session.add(owner)
            session.flush()
            note_teaching(session, user.id)
            path = f"/courses/{row.slug}"
            audit.note(session, user, Action.COURSE_CREATE, path, course=row.id, after=_facts(row))
    except IntegrityError as error:
        raise Conflict(
            f"The slug '{body.slug}' is taken by another course.", "Choose another slug."
        ) from error
    return get_course(platform, user, body.slug)


def list_courses(platform: Platform, user: User) -> CourseList:
    """The caller's and listed ones, newest first."""
    with platform.sessions() as session:
        rows = session.scalars(select(CourseRow).order_by(CourseRow.id.desc())).all()
        found = []
        for row in rows:
            standing = permissions.standings(session, user, row.id)
            if permissions.may(standing, Action.COURSE_READ) or row.visibility == Visibility.LISTED:
                found.append(_view(OpenCourse(session, row, user, standing)))
    return CourseList(courses=found)


def get_course(platform: Platform, user: User, slug: str) -> CourseView:
    """Raises NotFound."""
    with reading(platform, user, slug, Action.COURSE_LISTED) as course:
        return _view(course)


def change_course(platform: Platform, user: User, slug: str, body: CourseChange) -> CourseView:
    """Raises NotFound, NotAllowed, BadRequest, Conflict (changed meanwhile)."""
    if body.time_zone is not None:
        find_zone(body.time_zone)
    with changing(platform, user, slug, Action.COURSE_EDIT) as course:
        row = course.row
        check_revision(row.revision, body.revision)
        if body.policy is not None:
            _check_categories(body.policy)
        before = _facts(row)
        given = body.model_dump(exclude_none=True, exclude={"revision", "archived", "policy"}, mode="json")
        if body.policy is not None:
            given["policy"] = body.policy.model_dump_json(exclude_defaults=True)
        for name, value in given.items():
            setattr(row, name, value.strip() if isinstance(value, str) else value)
        if body.archived is not None:
            course.check(Action.COURSE_STAFF)
            row.archived_at = (row.archived_at or utcnow()) if body.archived else None
        row.revision += 1
        course.note(Action.COURSE_EDIT, before=before, after=_facts(row))
        course.session.flush()
        return _view(course)


def _check_categories(policy: GradePolicy) -> None:
    names = [category.name for category in policy.categories]
    if twins := sorted({name for name in names if names.count(name) > 1}):
        raise BadRequest(f"The category {twins[0]} appears twice.", "List each once, with its weight.")
    if odd := [name for name in names if name != " ".join(name.split())]:
        raise BadRequest(f"'{odd[0]}' has spaces that nobody sees.", "Write one space between words.")
    if policy.drop and names:
        raise BadRequest(
            "With categories, each has its own number to drop.", "Set `drop` in the categories instead."
        )


def check_revision(present: int, read: int | None) -> None:
    """Raises Conflict."""
    if read is not None and read != present:
        raise Conflict(
            f"Somebody else has just changed this: it has revision {present}, you read {read}.",
            "Reload it and repeat your change.",
        )


def set_staff(platform: Platform, user: User, slug: str, name: str, role: CourseRole | None) -> CourseView:
    """None removes the role. Raises NotFound, NotAllowed, Conflict (the only owner, or a student with submissions)."""
    with changing(platform, user, slug, Action.COURSE_STAFF) as course:
        session = course.session
        person = find_row(session, name)
        check_not_deleted(person)
        row = session.scalar(
            select(MemberRow).where(MemberRow.course_id == course.row.id, MemberRow.user_id == person.id)
        )
        present = CourseRole(row.role) if row is not None and row.left_at is None else None
        if role is None and present not in STAFF_OF_COURSE:
            raise NotFound(
                f"'{person.name}' does not teach course {slug}.", "The course's page lists its staff."
            )
        goes = present is CourseRole.OWNER and role is not CourseRole.OWNER
        if goes and not needed.other_owners(session, course.row.id, person.id):
            raise Conflict(
                f"'{person.name}' is the only owner of course {slug}.", "Make somebody else an owner first."
            )
        if row is None:
            row = MemberRow(course_id=course.row.id, user_id=person.id, came_by=f"by {user.name}")
            session.add(row)
        if role is None:
            row.left_at = utcnow()
        else:
            if row.left_at is not None:
                taught.let_back_in(session, row)
            row.role, row.left_at = role.value, None
        session.flush()
        if role is not None and role is not present:
            notify_added(course, [person.id], role)
        note_teaching(session, person.id)
        words = {"role": present.value if present else None}, {"role": role.value if role else None}
        course.note(Action.COURSE_STAFF, f"/staff/{person.name}", before=words[0], after=words[1])
        standing = permissions.standings(session, user, course.row.id)
        return _view(OpenCourse(session, course.row, user, standing))


def notify_added(course: OpenCourse, users: Iterable[int], role: CourseRole = CourseRole.STUDENT) -> None:
    text = f"{course.user.name} added you to the course {course.row.name} as {role.value}."
    if role is CourseRole.STUDENT:
        text += (
            " Open its page to take part. From then on its staff can read what you submit for its assignments, "
            "and nothing else."
        )
    whom = set(users) - {course.user.id}
    notices.notify(course.session, whom, NoticeKind.COURSE, text, f"/courses/{course.row.slug}")


def removed(course: CourseRow, what: str = "") -> NotAllowed:
    """For somebody whom staff removed; ``what``: the outcome."""
    return NotAllowed(
        f"The staff of {course.name} removed you from this course.",
        f"{what}Only they can let you back in, on the course's roster. Ask your teacher.",
    )


def note_teaching(session: Session, user_id: int) -> None:
    teaches = exists().where(
        MemberRow.user_id == user_id, MemberRow.role.in_(_STAFF_WORDS), MemberRow.left_at.is_(None)
    )
    session.execute(
        update(UserRow).where(UserRow.id == user_id).values(teaches=select(teaches).scalar_subquery())
    )


def get_audit(
    platform: Platform, user: User, slug: str, limit: int = 100, older_than: int | None = None
) -> AuditLog:
    """Newest first. Raises NotFound, NotAllowed."""
    with reading(platform, user, slug, Action.AUDIT_READ) as course:
        return audit.of_course(course.session, course.row, limit, older_than)


def _facts(row: CourseRow) -> dict[str, Any]:
    names = ("name", "term", "time_zone", "visibility", "grace_days", "discussion")
    policy = policy_of(row.policy).model_dump(mode="json", exclude_defaults=True)
    return {name: getattr(row, name) for name in names} | {
        "archived": row.archived_at is not None,
        "policy": policy,
    }


def _view(course: OpenCourse) -> CourseView:
    row, session = course.row, course.session
    of_it = (MemberRow.course_id == row.id, MemberRow.left_at.is_(None))
    staff = session.execute(
        select(UserRow.name, MemberRow.role)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(*of_it, MemberRow.role.in_(_STAFF_WORDS))
        .order_by(MemberRow.id)
    ).all()
    counted: dict[str, int | None] = {"students": None, "invited": None}
    if course.may(Action.ROSTER_READ):
        students = (
            select(func.count())
            .select_from(MemberRow)
            .where(*of_it, MemberRow.role == CourseRole.STUDENT.value)
        )
        waiting = (CourseInvitationRow.course_id == row.id, CourseInvitationRow.accepted_at.is_(None))
        invited = select(func.count()).select_from(CourseInvitationRow).where(*waiting)
        counted = {"students": session.scalar(students), "invited": session.scalar(invited)}
    return CourseView(
        slug=row.slug,
        name=row.name,
        term=row.term,
        time_zone=row.time_zone,
        visibility=Visibility(row.visibility),
        grace_days=row.grace_days,
        archived=row.archived_at is not None,
        revision=row.revision,
        created_at=row.created_at,
        role=permissions.role_in(session, course.user.id, row.id),
        staff={name: CourseRole(role) for name, role in staff},
        policy=policy_of(row.policy),
        discussion=row.discussion,
        **counted,
    )
