"""Announcements and questions of a course or a competition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from grader import limits
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound, TooMany
from grader.records.engine import clock, writing
from grader.records.models import (
    AnnouncementRow,
    AssignmentRow,
    CompetitionChallengeRow,
    CompetitionRow,
    CourseRow,
    MemberRow,
    QuestionRow,
    RegistrationRow,
    UserRow,
    utcnow,
)
from grader.schemas.account import STAFF_ROLES
from grader.schemas.announcement import (
    AnnouncementBody,
    AnnouncementList,
    AnnouncementView,
    QuestionAnswer,
    QuestionBody,
    QuestionList,
    QuestionView,
)
from grader.schemas.notice import NoticeKind
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.competitions import open_competition
from grader.service.courses import assignments, courses, permissions
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import regrade_requests

_LISTED = 200


class Kind(StrEnum):
    COURSE = "course"
    COMPETITION = "competition"


@dataclass(frozen=True)
class Place:
    kind: Kind
    slug: str

    @property
    def path(self) -> str:
        return f"/{self.kind.value}s/{self.slug}/announcements"


@dataclass(frozen=True)
class _Open:
    """One transaction, with the rights of ``user``."""

    session: Session
    place: Place
    user: User
    course: OpenCourse | None
    competition: CompetitionRow | None

    def may(self, action: Action) -> bool:
        if self.course is not None:
            return self.course.may(action)
        if action is Action.QUESTION_ASK:
            return self.user.id in self.members()
        return permissions.may(permissions.standings(self.session, self.user), Action.COMPETITION_EDIT)

    @property
    def ids(self) -> dict[str, int | None]:
        course = self.course.row.id if self.course is not None else None
        return {"course_id": course, "competition_id": self.competition.id if self.competition else None}

    @property
    def title(self) -> str:
        row: CourseRow | CompetitionRow | None = self.course.row if self.course else self.competition
        assert row is not None
        return row.name if isinstance(row, CourseRow) else row.title

    def of_it(self, table: type[AnnouncementRow] | type[QuestionRow]) -> ColumnElement[bool]:
        if self.course is not None:
            return table.course_id == self.course.row.id
        assert self.competition is not None
        return table.competition_id == self.competition.id

    def members(self) -> set[int]:
        if self.course is not None:
            query = select(MemberRow.user_id).where(
                MemberRow.course_id == self.course.row.id, MemberRow.left_at.is_(None)
            )
        else:
            assert self.competition is not None
            part = RegistrationRow
            query = select(part.user_id).where(
                part.competition_id == self.competition.id, part.left_at.is_(None)
            )
        return set(self.session.scalars(query))

    def staff(self) -> set[int]:
        if self.course is not None:
            return regrade_requests.staff_of(self.session, self.course.row.id)
        roles = [role.value for role in STAFF_ROLES]
        return set(self.session.scalars(select(UserRow.id).where(UserRow.role.in_(roles))))

    def note(self, action: Action, subject: str, **values: object) -> None:
        path = f"/{self.place.kind.value}s/{self.place.slug}{subject}"
        course = self.course.row.id if self.course is not None else None
        audit.note(self.session, self.user, action, path, course=course, **values)  # type: ignore[arg-type]


@contextmanager
def _reading(platform: Platform, user: User, place: Place) -> Iterator[_Open]:
    if place.kind is Kind.COURSE:
        with courses.reading(platform, user, place.slug, Action.QUESTION_READ) as course:
            yield _Open(course.session, place, user, course, None)
        return
    with open_competition.reading(platform, user, place.slug) as found:
        yield _Open(found.session, place, user, None, found.row)


@contextmanager
def _changing(platform: Platform, user: User, place: Place, action: Action) -> Iterator[_Open]:
    if place.kind is Kind.COURSE:
        with courses.changing(platform, user, place.slug, action) as course:
            yield _Open(course.session, place, user, course, None)
        return
    check(platform, user, place, action)
    with writing(platform.sessions) as session:
        row = session.scalar(
            select(CompetitionRow).where(CompetitionRow.slug == place.slug).with_for_update()
        )
        if row is None:
            raise NotFound(f"There is no competition '{place.slug[:64]}'.")
        yield _Open(session, place, user, None, row)


def check(platform: Platform, user: User, place: Place, action: Action) -> None:
    """Raises NotFound, NotAllowed."""
    if place.kind is Kind.COURSE:
        courses.check(platform, user, place.slug, action)
        return
    with _reading(platform, user, place) as found:
        if not found.may(action):
            asks = action is Action.QUESTION_ASK
            raise NotAllowed(
                "Only participants may ask."
                if asks
                else f"Only the platform's staff may do this ({action.value}).",
                "Register first." if asks else "",
            )


# ---- announcements


def list_announcements(platform: Platform, user: User, place: Place) -> AnnouncementList:
    """Newest first. Raises NotFound, NotAllowed."""
    with _reading(platform, user, place) as found:
        return _announcements(found)


def announce(platform: Platform, user: User, place: Place, body: AnnouncementBody) -> AnnouncementList:
    """Notifies everyone. Raises NotFound, NotAllowed, Conflict (a draft)."""
    with _changing(platform, user, place, Action.ANNOUNCE) as found:
        row = AnnouncementRow(
            **found.ids,
            assignment_id=_assignment(found, body.assignment),
            title=body.title.strip(),
            text=body.text.strip(),
            made_by=user.id,
            created_at=utcnow(),
        )
        found.session.add(row)
        found.session.flush()
        found.note(Action.ANNOUNCE, f"/announcements/{row.id}", after={"title": row.title})
        text = f"{found.title}: {row.title}"
        told = found.members() - {user.id}
        notices.notify(
            found.session, told, NoticeKind.ANNOUNCEMENT, text, f"{place.path}#announcement-{row.id}"
        )
        return _announcements(found)


def _assignment(found: _Open, slug: str | None) -> int | None:
    if slug is None:
        return None
    if found.course is None:
        raise BadRequest("A competition has no assignments.", "Leave out `assignment`.")
    row = assignments.find(found.course, slug)
    if row.published_at is None:
        raise Conflict(f"{slug} is a draft, which students cannot see.", "Publish it first.")
    return row.id


def change_announcement(
    platform: Platform, user: User, place: Place, number: int, body: AnnouncementBody
) -> AnnouncementList:
    """Notifies nobody. Raises NotFound, NotAllowed, Conflict (a draft, or changed meanwhile)."""
    with _changing(platform, user, place, Action.ANNOUNCE) as found:
        row = _announcement(found, number)
        if "seen" in body.model_fields_set and body.seen != row.edited_at:
            raise Conflict(
                "Somebody else has just changed this announcement.", "Reload it and repeat your change."
            )
        before = {"title": row.title}
        row.title, row.text, row.edited_at = body.title.strip(), body.text.strip(), utcnow()
        row.assignment_id = _assignment(found, body.assignment)
        found.note(Action.ANNOUNCE, f"/announcements/{number}", before=before, after={"title": row.title})
        found.session.flush()
        return _announcements(found)


def remove_announcement(platform: Platform, user: User, place: Place, number: int) -> AnnouncementList:
    """Raises NotFound, NotAllowed."""
    with _changing(platform, user, place, Action.ANNOUNCE) as found:
        row = _announcement(found, number)
        found.note(Action.ANNOUNCE, f"/announcements/{number}", before={"title": row.title}, after={})
        found.session.delete(row)
        found.session.flush()
        return _announcements(found)


def _announcement(found: _Open, number: int) -> AnnouncementRow:
    row = found.session.get(AnnouncementRow, number) if number < 2**31 else None
    if row is None or {"course_id": row.course_id, "competition_id": row.competition_id} != found.ids:
        raise NotFound(f"There is no announcement {number} here.")
    return row


def _announcements(found: _Open) -> AnnouncementList:
    rows = found.session.execute(
        select(AnnouncementRow, UserRow.name, AssignmentRow.slug)
        .outerjoin(UserRow, UserRow.id == AnnouncementRow.made_by)
        .outerjoin(AssignmentRow, AssignmentRow.id == AnnouncementRow.assignment_id)
        .where(found.of_it(AnnouncementRow))
        .order_by(AnnouncementRow.id.desc())
        .limit(_LISTED)
    )
    return AnnouncementList(
        announcements=[
            AnnouncementView(
                number=row.id,
                assignment=slug,
                title=row.title,
                text=row.text,
                made_by=by,
                created_at=row.created_at,
                edited_at=row.edited_at,
            )
            for row, by, slug in rows
        ]
    )


# ---- questions


def list_questions(platform: Platform, user: User, place: Place) -> QuestionList:
    """Others than staff get their own, and those answered to all. Raises NotFound, NotAllowed."""
    with _reading(platform, user, place) as found:
        return _questions(found)


def ask(platform: Platform, user: User, place: Place, body: QuestionBody) -> QuestionList:
    """Notifies the staff. Raises NotFound, NotAllowed, BadRequest, TooMany."""
    with _changing(platform, user, place, Action.QUESTION_ASK) as found:
        waiting = (
            found.of_it(QuestionRow),
            QuestionRow.user_id == user.id,
            QuestionRow.answered_at.is_(None),
        )
        if (found.session.scalar(select(func.count()).select_from(QuestionRow).where(*waiting)) or 0) >= (
            limits.QUESTIONS_OPEN
        ):
            raise TooMany(
                f"{limits.QUESTIONS_OPEN} of your questions here are waiting for an answer, which is the limit.",
                "Wait until one is answered.",
            )
        text = body.text.strip()
        if not text:
            raise BadRequest("The question is empty.", "Ask something.")
        _check_about(found, body.about)
        found.session.add(
            QuestionRow(**found.ids, user_id=user.id, about=body.about, text=text, created_at=utcnow())
        )
        found.session.flush()
        told = found.staff() - {user.id}
        about = f"{user.name} asks in {found.title}{f' about {body.about}' if body.about else ''}"
        notices.notify(found.session, told, NoticeKind.QUESTION, about, f"{place.path}#questions")
        return _questions(found)


def _check_about(found: _Open, about: str | None) -> None:
    if about is None:
        return
    if found.course is not None:
        assignments.find(found.course, about)
        return
    of_it = (
        CompetitionChallengeRow.competition_id == found.ids["competition_id"],
        CompetitionChallengeRow.challenge == about,
    )
    assert found.competition is not None
    if clock(found.session) < found.competition.starts_at:
        # The answer must not reveal the competition's challenges.
        raise BadRequest("Its challenges are secret until it begins.", "Leave out `about`.")
    if found.session.scalar(select(CompetitionChallengeRow.challenge).where(*of_it)) is None:
        raise BadRequest(
            f"It has no challenge '{about[:64]}'.", "Leave out `about`, or name one of its challenges."
        )


def answer(platform: Platform, user: User, place: Place, number: int, body: QuestionAnswer) -> QuestionList:
    """Answers to all do not name the asker. Raises NotFound, NotAllowed, BadRequest, Conflict (answered meanwhile)."""
    with _changing(platform, user, place, Action.QUESTION_ANSWER) as found:
        row = found.session.get(QuestionRow, number) if number < 2**31 else None
        if row is None or {"course_id": row.course_id, "competition_id": row.competition_id} != found.ids:
            raise NotFound(f"There is no question {number} here.")
        text = body.answer.strip()
        if not text:
            raise BadRequest("The answer is empty.", "Say something.")
        if "seen" in body.model_fields_set and body.seen != row.answered_at:
            raise Conflict(
                f"Somebody else has just answered question {number}.", "Reload it to change the answer."
            )
        before = {"answered": row.answered_at is not None, "to_all": row.to_all}
        row.answer, row.to_all = text, body.to_all
        row.answered_by, row.answered_at = user.id, utcnow()
        found.note(
            Action.QUESTION_ANSWER,
            f"/questions/{number}",
            before=before,
            after={"answered": True, "to_all": body.to_all},
        )
        path = f"{place.path}#question-{number}"
        text = f"Your question in {found.title} was answered"
        notices.notify(found.session, {row.user_id} - {user.id}, NoticeKind.QUESTION, text, path)
        if body.to_all:
            others = found.members() - {user.id, row.user_id}
            text = f"A question in {found.title} was answered to everyone"
            notices.notify(found.session, others, NoticeKind.QUESTION, text, path)
        found.session.flush()
        return _questions(found)


def _questions(found: _Open) -> QuestionList:
    answerer = UserRow
    all_of_them = found.may(Action.QUESTION_ANSWER) or found.user.staff
    query = select(QuestionRow, answerer.name).outerjoin(answerer, answerer.id == QuestionRow.answered_by)
    query = query.where(found.of_it(QuestionRow))
    if not all_of_them:
        query = query.where(or_(QuestionRow.user_id == found.user.id, QuestionRow.to_all))
    order = (QuestionRow.answered_at.is_not(None), QuestionRow.id.desc())
    rows = found.session.execute(query.order_by(*order).limit(_LISTED)).all()
    askers = {row.user_id for row, _ in rows}
    names = dict(found.session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(askers))).all())
    return QuestionList(
        questions=[
            QuestionView(
                number=row.id,
                about=row.about,
                text=row.text,
                asked_by=names[row.user_id] if all_of_them or row.user_id == found.user.id else None,
                own=row.user_id == found.user.id,
                created_at=row.created_at,
                answer=row.answer,
                answered_by=by,
                answered_at=row.answered_at,
                to_all=row.to_all,
            )
            for row, by in rows
        ]
    )


def may(platform: Platform, user: User, place: Place) -> dict[str, bool]:
    """Raises NotFound, NotAllowed."""
    with _reading(platform, user, place) as found:
        wanted = (Action.ANNOUNCE, Action.QUESTION_ASK, Action.QUESTION_ANSWER)
        return {action.name.lower(): found.may(action) for action in wanted}
