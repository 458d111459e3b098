"""Submissions, pairs and reports of errors for staff to decide. A mark is a reason to look, not a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import BadRequest, Conflict, NotFound
from grader.records import inbox as record
from grader.records.engine import writing
from grader.records.inbox import Wanted
from grader.records.models import (
    AssignmentRow,
    CourseRow,
    FlagRow,
    ReviewRow,
    SimilarPairRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.records.names import names_of
from grader.schemas.account import STAFF_ROLES
from grader.schemas.discussion import About
from grader.schemas.inbox import (
    InboxAssignment,
    InboxDecision,
    InboxDone,
    InboxItem,
    InboxList,
    Outcome,
    Subject,
)
from grader.schemas.report import Flag
from grader.schemas.similarity import Decision
from grader.service import audit
from grader.service.accounts.accounts import User, find_row
from grader.service.challenges import discussion, error_reports
from grader.service.courses import assignments, courses, permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.service.review import authority, voids
from grader.service.submissions import submissions as reading

_LISTED = 200
# The number next to the link counts no further.
_COUNTED = 1_000
_COUNT_SECONDS = 10.0
_REQUEST, _ERROR = "regrade_request", "error_report"
NOBODY = "nobody"


@dataclass(frozen=True)
class InboxFilter:
    """``mark``: a flag, ``similar``, ``regrade_request`` or ``error_report``. ``assignment`` needs ``course``.
    ``reviewer``: a name or ``nobody``. ``outcome``: by default open."""

    course: str | None = None
    assignment: str | None = None
    challenge: str | None = None
    user: str | None = None
    mark: str | None = None
    outcome: Outcome | None = Outcome.OPEN
    reviewer: str | None = None


def check(platform: Platform, user: User) -> None:
    """Raises NotAllowed."""
    with platform.sessions() as session:
        _scope(session, user)


def _scope(session: Session, user: User) -> Wanted:
    """Raises NotAllowed."""
    if user.admin:
        return Wanted(None, elsewhere=True)
    taught = permissions.courses_where(session, user, Action.REVIEW)
    standing = permissions.standings(session, user)
    elsewhere = permissions.may(standing, Action.REVIEW_ANY)
    if not taught and not elsewhere:
        permissions.check(user, standing, Action.REVIEW)
    return Wanted(taught, elsewhere)


def list_items(platform: Platform, user: User, wanted: InboxFilter = InboxFilter()) -> InboxList:
    """Newest first, at most 200. Raises NotAllowed, NotFound, BadRequest."""
    with platform.sessions() as session:
        chosen = _wanted(session, user, _scope(session, user), wanted)
        items = [*_flags(session, chosen, wanted.mark), *_pairs(session, user, chosen, wanted.mark)]
        items += [*_requests(session, chosen, wanted.mark), *_errors(session, chosen, wanted.mark)]
        items.sort(key=lambda item: (item.received_at, item.key), reverse=True)
        waiting = _count(session, user)
    return InboxList(items=items[:_LISTED], more=len(items) > _LISTED, open=waiting)


def _wanted(session: Session, user: User, scope: Wanted, wanted: InboxFilter) -> Wanted:
    found = replace(scope, outcome=wanted.outcome)
    if wanted.course is not None:
        opened = courses.open_in(session, user, wanted.course, Action.REVIEW)
        found = replace(found, course=opened.row.id)
        if wanted.assignment is not None:
            row = assignments.find(opened, wanted.assignment)
            parts = assignments.parts_of(session, [row.id]).get(row.id, [])
            found = replace(found, assignment=row.id, challenges=[part.challenge for part in parts])
    elif wanted.assignment is not None:
        raise BadRequest("`assignment` needs its course.", "Give `course`, too.")
    if wanted.challenge is not None:
        within = found.challenges is None or wanted.challenge in found.challenges
        found = replace(found, challenges=[wanted.challenge] if within else [])
    if wanted.user is not None:
        found = replace(found, user=find_row(session, wanted.user).id)
    if wanted.reviewer is not None:
        nobody = wanted.reviewer == NOBODY
        found = replace(found, reviewer=0 if nobody else find_row(session, wanted.reviewer).id)
    return replace(found, mark=wanted.mark)


def open_count(platform: Platform, user: User) -> int:
    """Some seconds old; 0 without an inbox."""
    if not (user.staff or reading.teaches(user)):
        return 0

    def count() -> int:
        with platform.sessions() as session:
            return _count(session, user)

    return platform.boards.recent(("inbox", user.id, user.staff), _COUNT_SECONDS, count)


def _count(session: Session, user: User) -> int:
    return record.count_open(session, replace(_scope(session, user), outcome=Outcome.OPEN), _COUNTED)


def _flags(session: Session, wanted: Wanted, mark: str | None) -> list[InboxItem]:
    if mark is not None and mark not in [flag.value for flag in Flag]:
        return []
    found = record.flags(session, wanted, _LISTED + 1)
    slugs = record.courses_of(session, wanted, [row for _, row, _ in found])
    names = _names(session, [review for _, _, review in found])
    return [
        InboxItem(
            key=f"{row.public_id}:{flag.flag.value}",
            subject=Subject.FLAG,
            mark=flag.flag.value,
            user=row.user.name,
            submission=row.public_id,
            challenge=row.challenge,
            course=slugs.get(row.id),
            path=f"/submissions/{row.public_id}",
            received_at=flag.received_at,
            **_decided(review, names),
        )
        for flag, row, review in found
    ]


def _pairs(session: Session, user: User, wanted: Wanted, mark: str | None) -> list[InboxItem]:
    if mark not in (None, Flag.SIMILAR.value):
        return []
    found = record.pairs(session, wanted, _LISTED + 1)
    ids = {id_ for pair, *_ in found for id_ in (pair.submission, pair.other)}
    query = select(SubmissionRow.public_id, UserRow.name, SubmissionRow.created_at)
    known = {
        row.public_id: row
        for row in session.execute(
            query.join(UserRow, UserRow.id == SubmissionRow.user_id).where(SubmissionRow.public_id.in_(ids))
        )
    }
    names = _names(session, [review for *_, review in found], [pair for pair, *_ in found])
    # Submissions from elsewhere may be secret.
    readable = reading.readable(session, user, {pair.other for pair, *_ in found})
    items = []
    for pair, assignment, course, review in found:
        one, other = known.get(pair.submission), known.get(pair.other)
        if one is None:
            continue
        open_to = pair.other in readable
        said = _decided(review, names) | {
            "outcome": _outcome(pair, review),
            "reason": pair.reason,
            "decided_by": names.get(pair.decided_by or 0),
            "decided_at": pair.decided_at,
        }
        items.append(
            InboxItem(
                key=f"pair:{pair.id}",
                subject=Subject.PAIR,
                mark=Flag.SIMILAR.value,
                user=one.name,
                submission=pair.submission,
                other=pair.other if open_to else None,
                other_user=other.name if other is not None and open_to else None,
                challenge=pair.challenge,
                course=course.slug,
                about=f"{assignment.slug}: {pair.share:.0%} and {pair.other_share:.0%} shared",
                path=f"/courses/{course.slug}/assignments/{assignment.slug}/similarity/{pair.id}",
                received_at=max(
                    submission.created_at for submission in (one, other) if submission is not None
                ),
                **said,
            )
        )
    return items


def _outcome(pair: SimilarPairRow, review: ReviewRow | None) -> Outcome:
    if pair.decision is Decision.OPEN:
        return Outcome.OPEN
    if pair.decision is Decision.DISMISSED:
        return Outcome.FINE
    return Outcome.VOID if review is not None and review.outcome is Outcome.VOID else Outcome.TALK


def _requests(session: Session, wanted: Wanted, mark: str | None) -> list[InboxItem]:
    if mark not in (None, _REQUEST):
        return []
    return [
        InboxItem(
            key=f"request:{row.id}",
            subject=Subject.REQUEST,
            mark=_REQUEST,
            user=user.name,
            submission=row.submission,
            challenge=row.challenge,
            course=course.slug,
            about=f"{assignment.slug}: {row.text}",
            path=f"/courses/{course.slug}/regrade-requests#request-{row.id}",
            received_at=row.created_at,
            outcome=Outcome.OPEN,
        )
        for row, course, assignment, user in record.requests(session, wanted, _LISTED + 1)
    ]


def _errors(session: Session, wanted: Wanted, mark: str | None) -> list[InboxItem]:
    if mark not in (None, _ERROR):
        return []
    found = record.errors(session, wanted, _LISTED + 1)
    names = names_of(session, {post.resolved_by for post, *_ in found})
    return [
        InboxItem(
            key=f"error:{post.id}",
            subject=Subject.ERROR,
            mark=_ERROR,
            user=user.name if user is not None else "somebody",
            submission=None,
            challenge=post.slug if post.about is About.CHALLENGE else "",
            course=course.slug if course is not None else None,
            about=post.text,
            path=discussion.page_of(post.about, post.slug),
            received_at=post.created_at,
            outcome=Outcome.OPEN if post.resolved_at is None else Outcome.FINE,
            reason=post.answer,
            decided_by=names.get(post.resolved_by or 0),
            decided_at=post.resolved_at,
        )
        for post, course, user in found
    ]


def _names(
    session: Session, reviews: Iterable[ReviewRow | None], pairs: Iterable[SimilarPairRow] = ()
) -> dict[int, str]:
    ids = {user_id for each in reviews if each is not None for user_id in (each.reviewer_id, each.decided_by)}
    ids |= {pair.decided_by for pair in pairs}
    return names_of(session, ids)


def _decided(review: ReviewRow | None, names: dict[int, str]) -> dict[str, object]:
    if review is None:
        return {"outcome": Outcome.OPEN}
    return {
        "reviewer": names.get(review.reviewer_id or 0),
        "outcome": review.outcome,
        "reason": review.reason,
        "decided_by": names.get(review.decided_by or 0),
        "decided_at": review.decided_at,
    }


@dataclass(frozen=True)
class _Item:
    """Either a submission's mark (``row``) or a ``pair``."""

    key: str
    review: ReviewRow
    course: CourseRow | None
    row: SubmissionRow | None = None
    pair: SimilarPairRow | None = None
    assignment: str = ""

    @property
    def path(self) -> str:
        if self.pair is not None and self.course is not None:
            return f"/courses/{self.course.slug}/assignments/{self.assignment}/similarity/{self.pair.id}"
        return f"/submissions/{self.key.replace(':', '/flags/')}"

    @property
    def outcome(self) -> Outcome:
        return _outcome(self.pair, self.review) if self.pair is not None else self.review.outcome


def assign(platform: Platform, user: User, body: InboxAssignment) -> InboxDone:
    """All or none; the reviewer needs the right to decide. Raises NotFound, NotAllowed, BadRequest."""
    with writing(platform.sessions) as session:
        _scope(session, user)
        whom = find_row(session, body.reviewer) if body.reviewer is not None else None
        for key in dict.fromkeys(body.keys):
            item = _find(session, user, key)
            if whom is not None and not _may_review(session, whom, item):
                raise BadRequest(
                    f"{whom.name} may not decide about any of these.", "Name a member of the staff."
                )
            before = item.review.reviewer_id
            item.review.reviewer_id = whom.id if whom is not None else None
            if before != item.review.reviewer_id:
                _note(session, user, item, {"reviewer": whom.name if whom is not None else None})
        session.flush()
        return InboxDone(changed=len(set(body.keys)), open=_count(session, user))


def _may_review(session: Session, whom: UserRow, item: _Item) -> bool:
    if item.course is None:
        return whom.role in {role.value for role in STAFF_ROLES}
    role = permissions.role_in(session, whom.id, item.course.id)
    return role is not None and permissions.Standing(role.value) in permissions.TABLE[Action.REVIEW]


def decide(platform: Platform, user: User, body: InboxDecision) -> InboxDone:
    """All or none. ``void`` voids the result (of a pair: ``body.submissions``); ``fine`` and ``open`` neither void
    nor restore. Raises NotFound, NotAllowed, BadRequest, Conflict (decided meanwhile)."""
    needed = body.outcome in (Outcome.VOID, Outcome.TALK)
    with writing(platform.sessions) as session:
        _scope(session, user)
        for key in dict.fromkeys(body.keys):
            if key.startswith("error:"):
                error_reports.decide(session, user, key.removeprefix("error:"), body.outcome, body.reason)
                continue
            item = _find(session, user, key)
            reason = audit.tidy_reason(body.reason, needed=needed)
            before = item.outcome
            if Outcome.OPEN not in (before, body.outcome) and before is not body.outcome:
                raise Conflict(f"{key} is already decided: {before.value}.", "Set it to open first.")
            if body.outcome is Outcome.VOID:
                for submission in _voided(session, user, item, body.submissions):
                    voids.void_in(platform, session, user, submission, reason)
            _settle(item, user, body.outcome, reason)
            _note(session, user, item, {"outcome": body.outcome.value}, reason)
        session.flush()
        return InboxDone(changed=len(set(body.keys)), open=_count(session, user))


def _voided(session: Session, user: User, item: _Item, chosen: list[str]) -> list[str]:
    if item.row is not None:
        return [item.row.public_id]
    assert item.pair is not None
    pair = (item.pair.submission, item.pair.other)
    known = reading.readable(session, user, pair)
    sides = [public_id for public_id in pair if public_id in known]
    named = [public_id.lower() for public_id in chosen if public_id.lower() in sides]
    if not named:
        hint = f"Name {' or '.join(sides)}{', or both' if len(sides) > 1 else ''}."
        raise BadRequest(f"Whose result of {item.key} should be void?", hint if sides else "")
    return named


def _settle(item: _Item, user: User, outcome: Outcome, reason: str) -> None:
    by, at = (None, None) if outcome is Outcome.OPEN else (user.id, utcnow())
    item.review.outcome, item.review.reason = outcome, reason
    item.review.decided_by, item.review.decided_at = by, at
    if item.pair is not None:
        words = {Outcome.OPEN: Decision.OPEN, Outcome.FINE: Decision.DISMISSED}
        item.pair.decision = words.get(outcome, Decision.CONFIRMED)
        item.pair.reason, item.pair.decided_by, item.pair.decided_at = reason, by, at


def _find(session: Session, user: User, key: str) -> _Item:
    first, _, second = key.partition(":")
    if first == "pair":
        return _find_pair(session, user, key, second)
    if first == "error":
        raise BadRequest("Reports of errors have no reviewer.", "Resolve the report.")
    if first == "request":
        raise BadRequest(
            "Regrade requests cannot be decided in the inbox.",
            "Answer the request on its page, which the inbox links.",
        )
    flag = next((flag for flag in Flag if flag.value == second), None)
    row = reading.find(session, user, first)
    if flag is None or session.get(FlagRow, (row.id, flag)) is None:
        raise _unknown(key)
    judged = row if row.rejudge_of is None else session.get_one(SubmissionRow, row.rejudge_of)
    course = authority.check(session, user, judged, Action.REVIEW, Action.REVIEW_ANY)
    # Deciders take turns.
    session.scalars(select(SubmissionRow.id).where(SubmissionRow.id == row.id).with_for_update()).one()
    query = select(ReviewRow).where(ReviewRow.submission_id == row.id, ReviewRow.flag == flag)
    review = session.scalar(query.execution_options(populate_existing=True))
    if review is None:
        review = ReviewRow(submission_id=row.id, flag=flag, outcome=Outcome.OPEN, reason="")
        session.add(review)
    return _Item(key, review, course, row=row)


def _find_pair(session: Session, user: User, key: str, number: str) -> _Item:
    pair = None
    if number.isascii() and number.isdigit() and len(number) < 10:
        query = select(SimilarPairRow).where(SimilarPairRow.id == int(number)).with_for_update()
        pair = session.scalar(query.execution_options(populate_existing=True))
    assignment = session.get(AssignmentRow, pair.assignment_id) if pair is not None else None
    if pair is None or assignment is None:
        raise _unknown(key)
    course = session.get_one(CourseRow, assignment.course_id)
    standing = permissions.standings(session, user, course.id)
    if not permissions.may(standing, Action.COURSE_READ):
        raise _unknown(key)
    permissions.check(user, standing, Action.REVIEW)
    review = session.scalar(select(ReviewRow).where(ReviewRow.pair_id == pair.id))
    if review is None:
        review = ReviewRow(pair_id=pair.id, outcome=Outcome.OPEN, reason="")
        session.add(review)
    return _Item(key, review, course, pair=pair, assignment=assignment.slug)


def _unknown(key: str) -> NotFound:
    return NotFound(f"There is no item '{key[:80]}'.", "`grader inbox list` lists the items.")


def _note(session: Session, user: User, item: _Item, after: dict[str, object], reason: str = "") -> None:
    course = item.course.id if item.course is not None else None
    action = Action.REVIEW if item.course is not None else Action.REVIEW_ANY
    audit.note(session, user, action, item.path, course=course, before={}, after=after, reason=reason)
