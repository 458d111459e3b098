"""One table of who may do what, tested over every route. Standings add up."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import NotAllowed
from grader.records.models import MemberRow
from grader.schemas.account import STAFF_ROLES
from grader.schemas.course import STAFF_OF_COURSE, CourseRole
from grader.schemas.token import Scope
from grader.service.accounts.accounts import User


class Standing(StrEnum):
    """``staff`` and ``admin``: the platform's, in every course; ``visitor``: without a role."""

    VISITOR = "visitor"
    STUDENT = "student"
    ASSISTANT = "assistant"
    INSTRUCTOR = "instructor"
    OWNER = "owner"
    STAFF = "staff"
    ADMIN = "admin"


class Action(StrEnum):
    """Values in the audit log."""

    COURSE_CREATE = "course.create"
    COURSE_LISTED = "course.read_listed"
    COURSE_READ = "course.read"
    COURSE_EDIT = "course.edit"
    COURSE_STAFF = "course.staff"
    ROSTER_READ = "roster.read"
    ROSTER_EDIT = "roster.edit"
    GROUP_CHOOSE = "groups.choose"
    ASSIGNMENT_READ = "assignment.read"
    ASSIGNMENT_READ_DRAFT = "assignment.read_draft"
    ASSIGNMENT_EDIT = "assignment.edit"
    EXTENSION_GRANT = "extension.grant"
    GRADES_READ_OWN = "grades.read_own"
    GRADES_READ = "grades.read"
    GRADES_OVERRIDE = "grades.override"
    GRADES_CURVE = "grades.curve"
    SUBMISSIONS_READ = "submissions.read"
    COMMENT = "submissions.comment"
    REGRADE = "submissions.regrade"
    REGRADE_ANY = "results.regrade"
    VOID = "submissions.void"
    VOID_ANY = "results.void"
    SIMILARITY = "similarity.read"
    SIMILARITY_DECIDE = "similarity.decide"
    SOURCES = "sources.export"
    SOURCES_ANY = "results.sources"
    REVIEW = "reviews.decide"
    REVIEW_ANY = "results.review"
    LTI_READ = "lti.read"
    LTI_LINK = "lti.link"
    LTI_SELECT = "lti.select"
    LTI_SEND = "lti.send"
    LTI_PLATFORM = "lti.platform"
    ANNOUNCE = "course.announce"
    FEEDBACK_EDIT = "feedback.edit"
    GRADES_SCORE = "grades.score"
    REGRADE_ASK = "regrades.ask"
    REGRADE_READ = "regrades.read"
    REGRADE_ANSWER = "regrades.answer"
    QUESTION_ASK = "questions.ask"
    QUESTION_READ = "questions.read"
    QUESTION_ANSWER = "questions.answer"
    DISCUSSION_HIDE = "discussion.hide"
    AUDIT_READ = "audit.read"
    ACCOUNT_EXPORT = "account.export"
    ACCOUNT_DELETE = "account.delete"
    CHALLENGE_READ_DRAFT = "challenge.read_draft"
    CHALLENGE_PUBLISH = "challenge.publish"
    PERSON_ROLE = "person.role"
    PERSON_RESET = "person.reset"
    INVITATION_MAKE = "invitation.make"
    INVITATION_REVOKE = "invitation.revoke"
    VERSION_PUBLISH = "version.publish"
    CHALLENGE_KIND = "challenge.kind"
    OPERATIONS_READ = "operations.read"
    BUDGETS_READ = "budgets.read"
    BUDGET_SET = "budget.set"
    QUEUE_PAUSE = "queue.pause"
    QUEUE_RESUME = "queue.resume"
    WORKER_DRAIN = "worker.drain"
    WORKER_TOKEN = "worker.token"  # noqa: S105
    WORKER_RESUME = "worker.resume"
    SUBMISSION_REQUEUE = "submission.requeue"
    SUBMISSION_CANCEL = "submission.cancel"
    ENTRY_WITHDRAW = "entry.withdraw"
    PLATFORM_AUDIT = "platform.audit"
    CHALLENGE_UPLOADS = "challenge.read_uploads"
    CHALLENGE_UPLOAD = "challenge.upload"
    CHALLENGE_EDIT_SPEC = "challenge.edit_spec"
    CHALLENGE_CHECK = "challenge.check"
    CHALLENGE_USE = "challenge.use"
    CHALLENGE_BOARD = "challenge.board"
    CATALOGUE_READ = "catalogue.read"
    CATALOGUE_EDIT = "catalogue.edit"
    COMPETITION_READ = "competition.read"
    COMPETITION_READ_DRAFT = "competition.read_draft"
    COMPETITION_ENTER = "competition.enter"
    COMPETITION_EDIT = "competition.edit"
    COMPETITION_DISQUALIFY = "competition.disqualify"
    COMPETITION_FINAL = "competition.final"
    COMPETITION_RESULTS = "competition.results"


_ADMINS = frozenset({Standing.OWNER, Standing.ADMIN})
_TEACHERS = _ADMINS | {Standing.INSTRUCTOR}
_GRADERS = _TEACHERS | {Standing.ASSISTANT}
# Platform staff read every submission; in others' courses they only void.
_READERS = _GRADERS | {Standing.STAFF}
_MEMBERS = _READERS | {Standing.STUDENT}
# Competitions and common challenges belong to no course.
_PLATFORM = frozenset({Standing.STAFF, Standing.ADMIN})

TABLE: Mapping[Action, frozenset[Standing]] = {
    Action.COURSE_CREATE: frozenset({Standing.STAFF, Standing.ADMIN}),
    Action.COURSE_LISTED: _MEMBERS | {Standing.VISITOR},
    Action.COURSE_READ: _MEMBERS,
    Action.COURSE_EDIT: _TEACHERS,
    Action.COURSE_STAFF: _ADMINS,
    Action.ROSTER_READ: _READERS,
    Action.ROSTER_EDIT: _TEACHERS,
    # Students choose their own; staff change all on the roster.
    Action.GROUP_CHOOSE: frozenset({Standing.STUDENT}),
    Action.ASSIGNMENT_READ: _MEMBERS,
    Action.ASSIGNMENT_READ_DRAFT: _READERS,
    Action.ASSIGNMENT_EDIT: _TEACHERS,
    Action.EXTENSION_GRANT: _TEACHERS,
    Action.GRADES_READ_OWN: frozenset({Standing.STUDENT}),
    Action.GRADES_READ: _READERS,
    Action.GRADES_OVERRIDE: _TEACHERS,
    Action.GRADES_CURVE: _TEACHERS,
    Action.SUBMISSIONS_READ: _READERS,
    Action.COMMENT: _GRADERS,
    Action.REGRADE: _TEACHERS,
    Action.VOID: _TEACHERS,
    Action.REGRADE_ANY: _PLATFORM,
    # On boards and in every course.
    Action.VOID_ANY: _PLATFORM,
    Action.SIMILARITY: _READERS,
    Action.SIMILARITY_DECIDE: _GRADERS,
    Action.SOURCES: _READERS,
    Action.SOURCES_ANY: _PLATFORM,
    Action.REVIEW: _GRADERS,
    Action.REVIEW_ANY: _PLATFORM,
    Action.LTI_READ: _READERS,
    # For another site's instructors.
    Action.LTI_LINK: _ADMINS,
    Action.LTI_SELECT: _TEACHERS,
    Action.LTI_SEND: _TEACHERS,
    Action.LTI_PLATFORM: frozenset({Standing.ADMIN}),
    Action.ANNOUNCE: _GRADERS,
    Action.FEEDBACK_EDIT: _TEACHERS,
    Action.GRADES_SCORE: _GRADERS,
    Action.REGRADE_ASK: frozenset({Standing.STUDENT}),
    Action.REGRADE_READ: _MEMBERS,
    Action.REGRADE_ANSWER: _GRADERS,
    Action.QUESTION_ASK: frozenset({Standing.STUDENT}),
    Action.QUESTION_READ: _MEMBERS,
    Action.QUESTION_ANSWER: _GRADERS,
    Action.DISCUSSION_HIDE: _READERS,
    Action.AUDIT_READ: _TEACHERS,
    # Everyone may do it with their own account; only admins with staff's.
    Action.ACCOUNT_EXPORT: _PLATFORM,
    Action.ACCOUNT_DELETE: _PLATFORM,
    # Teachers choose assignments from drafts.
    Action.CHALLENGE_READ_DRAFT: _PLATFORM | {Standing.OWNER, Standing.INSTRUCTOR},
    Action.CHALLENGE_PUBLISH: _PLATFORM,
    Action.PERSON_ROLE: frozenset({Standing.ADMIN}),
    Action.PERSON_RESET: _PLATFORM,
    Action.INVITATION_MAKE: _PLATFORM,
    Action.INVITATION_REVOKE: _PLATFORM,
    Action.VERSION_PUBLISH: _PLATFORM,
    Action.CHALLENGE_KIND: _PLATFORM,
    Action.OPERATIONS_READ: _PLATFORM,
    Action.BUDGETS_READ: _PLATFORM,
    Action.BUDGET_SET: _PLATFORM,
    Action.QUEUE_PAUSE: _PLATFORM,
    Action.QUEUE_RESUME: _PLATFORM,
    Action.WORKER_DRAIN: _PLATFORM,
    Action.WORKER_TOKEN: _PLATFORM,
    Action.WORKER_RESUME: _PLATFORM,
    Action.SUBMISSION_REQUEUE: _PLATFORM,
    # Everyone may cancel their own.
    Action.SUBMISSION_CANCEL: _PLATFORM,
    # Only its author; staff may ask the log why an entry is gone.
    Action.ENTRY_WITHDRAW: frozenset(),
    Action.PLATFORM_AUDIT: _PLATFORM,
    Action.CHALLENGE_UPLOADS: _PLATFORM,
    Action.CHALLENGE_UPLOAD: _PLATFORM,
    Action.CHALLENGE_EDIT_SPEC: _PLATFORM,
    Action.CHALLENGE_CHECK: _PLATFORM,
    Action.CHALLENGE_USE: _PLATFORM,
    Action.CHALLENGE_BOARD: _PLATFORM,
    # Of any state, with solutions and hidden cases.
    Action.CATALOGUE_READ: _TEACHERS | {Standing.STAFF},
    Action.CATALOGUE_EDIT: _TEACHERS,
    Action.COMPETITION_READ: _MEMBERS | {Standing.VISITOR},
    Action.COMPETITION_READ_DRAFT: _PLATFORM,
    Action.COMPETITION_ENTER: _MEMBERS | {Standing.VISITOR},
    Action.COMPETITION_EDIT: _PLATFORM,
    Action.COMPETITION_DISQUALIFY: _PLATFORM,
    Action.COMPETITION_FINAL: _PLATFORM,
    Action.COMPETITION_RESULTS: _PLATFORM,
}


def standings(session: Session, user: User, course: int | None = None) -> frozenset[Standing]:
    """Without the token's scope ``staff`` a teacher is a student."""
    found = {Standing.VISITOR}
    if user.staff:
        found.add(Standing.STAFF)
    if user.admin:
        found.add(Standing.ADMIN)
    if course is not None and (role := role_in(session, user.id, course)) is not None:
        taught = role in STAFF_OF_COURSE and Scope.STAFF in user.scopes
        found.add(Standing(role.value) if taught else Standing.STUDENT)
    return frozenset(found)


def standings_anywhere(session: Session, user: User) -> frozenset[Standing]:
    """Over all courses."""
    found = standings(session, user)
    if user.teaches and Scope.STAFF in user.scopes:
        taught = [role.value for role in STAFF_OF_COURSE]
        of_them = (MemberRow.user_id == user.id, MemberRow.left_at.is_(None), MemberRow.role.in_(taught))
        found |= {Standing(role) for role in session.scalars(select(MemberRow.role).where(*of_them))}
    return found


def role_in(session: Session, user: int, course: int) -> CourseRole | None:
    """None also after leaving."""
    of_both = (MemberRow.course_id == course, MemberRow.user_id == user, MemberRow.left_at.is_(None))
    role = session.scalar(select(MemberRow.role).where(*of_both))
    return None if role is None else CourseRole(role)


def courses_where(session: Session, user: User, action: Action) -> list[int]:
    """Course ids, by the roles there only."""
    if Scope.STAFF not in user.scopes:
        return []
    roles = [role.value for role in CourseRole if Standing(role.value) in TABLE[action]]
    query = select(MemberRow.course_id).where(
        MemberRow.user_id == user.id, MemberRow.left_at.is_(None), MemberRow.role.in_(roles)
    )
    return list(session.scalars(query))


def may(standing: frozenset[Standing], action: Action) -> bool:
    return bool(standing & TABLE[action])


def check(user: User, standing: frozenset[Standing], action: Action) -> None:
    """Raises NotAllowed."""
    if not may(standing, action):
        needed = ", ".join(held.value for held in Standing if held in TABLE[action])
        own = ", ".join(held.value for held in Standing if held in standing and held is not Standing.VISITOR)
        whom = "the platform's staff" if TABLE[action] <= _PLATFORM else "the course's staff"
        raise NotAllowed(
            f"Only {needed} may do this ({action.value}); you are {own or 'not a member'}.",
            _hint(user) or f"Ask {whom}.",
        )


def _hint(user: User) -> str:
    if (user.teaches or user.role in STAFF_ROLES) and Scope.STAFF not in user.scopes:
        return "Your token lacks the scope 'staff'. Get one that has it: `grader login --scope read,submit,staff`."
    return ""
