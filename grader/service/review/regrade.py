"""Regrades: ordered, compared, then published or discarded by staff. Judgements have their own rows, queue behind all
students, cost no attempt, and count and show only once published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.errors import Conflict, NotFound
from grader.records import leases, regrades, rejudges, versions
from grader.records.engine import clock, writing
from grader.records.models import (
    RegradeItemRow,
    RegradeRow,
    SubmissionRow,
    utcnow,
)
from grader.records.states import ACTIVE, FREE
from grader.schemas.notice import NoticeKind
from grader.schemas.regrade import (
    RegradeBody,
    RegradeDecision,
    RegradeList,
    RegradeScope,
    RegradeState,
    RegradeView,
)
from grader.schemas.submission import State
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges.versions import ServedVersion, serve
from grader.service.courses import courses, permissions
from grader.service.courses.permissions import Action
from grader.service.messages import notices
from grader.service.platform import Platform
from grader.service.review import regrade_results
from grader.service.review.regrade_order import Chosen, choose, order, unsettled

_LISTED = 200


def start(platform: Platform, user: User, body: RegradeBody) -> RegradeView:
    """Under the shown version. Repeating it adds new and failed submissions. Leaves out those without source and, for
    a challenge, those of competitions with a final or results. Raises NotFound, NotAllowed, UnknownChallenge,
    ChallengeChanged, BadRequest, Conflict (nothing to judge, in another open regrade or such a competition, an
    unpublished version, or more than ``limits.REGRADE_UNCONFIRMED`` without ``body.confirm``)."""
    with platform.sessions() as session:
        slugs = {first.challenge for first in choose(session, user, body).firsts}
    served = {slug: serve(platform, platform.catalogue.load(slug)) for slug in sorted(slugs)}
    _check_published(served.values())
    try:
        with writing(platform.sessions) as session:
            for slug, folder in served.items():  # two orders at once take turns
                versions.find(session, slug, folder.version, lock=True)
            chosen = choose(session, user, body)
            chosen.row.reason = audit.tidy_reason(body.reason, needed=True)
            firsts = unsettled(
                session, [first for first in chosen.firsts if first.challenge in served], body.scope
            )
            row, queued = order(
                session,
                user,
                chosen,
                firsts,
                {slug: version.version for slug, version in served.items()},
                body.confirm,
            )
            _note_order(session, user, row, queued)
            number = row.id
    except IntegrityError as error:
        raise Conflict("Somebody else has just ordered part of this regrade.", "Try again.") from error
    _wake(platform, queued)
    return get(platform, user, number)


def start_version(
    platform: Platform, user: User, served: ServedVersion, ranked: set[int] | None
) -> tuple[int, int, int]:
    """Publishing the version, perhaps a draft, publishes it. ``ranked``: only these ids. Returns the regrade's number
    (0: nothing to order), queued ones, and those without source. The caller checks permission."""
    slug, version = served.challenge, served.version
    with writing(platform.sessions) as session:
        versions.find(session, slug, version, lock=True)
        firsts = unsettled(session, rejudges.first_judgements(session, slug, version), RegradeScope.CHALLENGE)
        held = regrades.holding(session, [first.id for first in firsts])
        firsts = [first for first in firsts if ranked is None or first.id in ranked]
        row = RegradeRow(
            scope=RegradeScope.CHALLENGE,
            challenge=slug,
            reason=f"Version {version} of {slug} differs from what was judged under it.",
        )
        present = regrades.open_like(session, row, version)
        own = present.id if present is not None else None
        firsts = [first for first in firsts if held.get(first.id) in (None, own)]
        number = own or 0
        queued: list[SubmissionRow] = []
        if any(first.source for first in firsts):
            chosen = Chosen(row, slug, firsts)
            ordered, queued = order(session, user, chosen, firsts, {slug: version}, None)
            _note_order(session, user, ordered, queued)
            number = ordered.id
        left_out = sum(not first.source for first in firsts)
    _wake(platform, queued)
    return number, len(queued), left_out


def _check_published(served: Iterable[ServedVersion]) -> None:
    """Judging uses the folder's version. Raises Conflict."""
    for folder in served:
        if not folder.published:
            raise Conflict(
                f"The folder of {folder.challenge} has version {folder.version}, but version {folder.shown} is shown.",
                f"The platform's staff can compare and publish it: `grader admin rejudge {folder.challenge}`.",
            )


def _wake(platform: Platform, queued: Sequence[SubmissionRow]) -> None:
    for (device, language), count in Counter((first.device, first.language) for first in queued).items():
        platform.wakeups.announce(device, language, count)


def _note_order(session: Session, user: User, row: RegradeRow, queued: Sequence[SubmissionRow]) -> None:
    if queued:
        _note(session, user, row, {"ordered": len(queued), "left_out": row.left_out})


def _note(session: Session, user: User, row: RegradeRow, after: dict[str, object], reason: str = "") -> None:
    audit.note(
        session,
        user,
        Action.REGRADE if row.course_id is not None else Action.REGRADE_ANY,
        f"/regrades/{row.id}",
        course=row.course_id,
        before={},
        after=after,
        reason=reason or row.reason,
    )


def find(session: Session, user: User, number: int, lock: bool = False) -> RegradeRow:
    """Raises NotFound, NotAllowed."""
    query = select(RegradeRow).where(RegradeRow.id == number)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise _unknown(number)
    standing = permissions.standings(session, user, row.course_id)
    if row.course_id is not None and not permissions.may(standing, Action.COURSE_READ):
        raise _unknown(number)
    permissions.check(user, standing, _action(row))
    return row


def _unknown(number: int) -> NotFound:
    return NotFound(f"There is no regrade {number}.", "`grader regrade list` lists the regrades.")


def _action(row: RegradeRow) -> Action:
    return Action.REGRADE if row.course_id is not None else Action.REGRADE_ANY


def check(platform: Platform, user: User) -> None:
    """Raises NotAllowed."""
    with platform.sessions() as session:
        _check(session, user)


def _check(session: Session, user: User) -> tuple[list[int], bool]:
    """The user's courses, and whether they decide outside courses, too."""
    taught = permissions.courses_where(session, user, Action.REGRADE)
    standing = permissions.standings(session, user)
    mine = permissions.may(standing, Action.REGRADE_ANY)
    if not taught and not mine:
        permissions.check(user, standing, Action.REGRADE)
    return taught, mine


def list_regrades(platform: Platform, user: User, course: str | None = None) -> RegradeList:
    """Newest first, at most 200. Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        query = select(RegradeRow).order_by(RegradeRow.id.desc()).limit(_LISTED)
        if course is not None:
            opened = courses.open_in(session, user, course, Action.REGRADE)
            query = query.where(RegradeRow.course_id == opened.row.id)
        elif not user.admin:
            taught, mine = _check(session, user)
            theirs = RegradeRow.course_id.in_(taught)
            query = query.where(or_(theirs, RegradeRow.course_id.is_(None)) if mine else theirs)
        rows = session.scalars(query).all()
        return RegradeList(regrades=regrade_results.listed(platform, session, rows))


def get(platform: Platform, user: User, number: int, whole: bool = True) -> RegradeView:
    """``whole``: submissions and grades, else counts. Raises NotFound, NotAllowed."""
    with platform.sessions() as session:
        row = find(session, user, number)
        if not whole:
            return regrade_results.listed(platform, session, [row])[0]
        return regrade_results.whole(platform, session, user, row)


def publish(platform: Platform, user: User, number: int, body: RegradeDecision) -> RegradeView:
    """Notifies authors. Raises NotFound, NotAllowed, Conflict (not open, not all judged, or an unpublished version)."""
    with writing(platform.sessions) as session:
        row = _open_row(session, user, number)
        waiting, failed = regrades.counts(session, row.id)
        if waiting:
            raise Conflict(
                f"{waiting} submissions of regrade {number} are not judged yet.",
                f"Follow it with `grader regrade show {number} --watch`.",
            )
        if failed and not body.partial:
            raise Conflict(
                f"The platform failed to judge {failed} submissions of regrade {number}.",
                "Order it again to repeat these, or publish without them on its page: their present verdicts stay.",
            )
        for slug, version in regrades.by_challenge(session, [row.id]).get(row.id, {}).items():
            if not regrades.is_published(session, slug, version):
                raise Conflict(
                    f"Version {version} of {slug} is not published.",
                    f"Publish both with `grader admin publish {slug}`.",
                )
        regrades.publish(session, row)
        _decide(session, user, row, RegradeState.PUBLISHED)
        _tell(session, row)
    return get(platform, user, number)


def _tell(session: Session, row: RegradeRow) -> None:
    """Each author, once per submission."""
    for item in regrades.items(session, row.id):
        if item.after.state is State.DONE:
            text = f"Your submission for {item.first.challenge} was regraded: {row.reason}"
            notices.notify(
                session, [item.first.user_id], NoticeKind.RESULT, text, f"/submissions/{item.first.public_id}"
            )


def discard(platform: Platform, user: User, number: int) -> RegradeView:
    """Nothing changes. Raises NotFound, NotAllowed, Conflict (not open)."""
    with writing(platform.sessions) as session:
        row = _open_row(session, user, number)
        now = clock(session)
        for item in regrades.items(session, row.id):
            if item.after.state in FREE:
                leases.end_cancelled(session, item.after.id, item.after.attempt, now)
        mine = select(RegradeItemRow.after_id).where(RegradeItemRow.regrade_id == row.id)
        session.execute(
            update(SubmissionRow)
            .where(SubmissionRow.id.in_(mine), SubmissionRow.state.in_(ACTIVE))
            .values(cancel_requested=True)
            .execution_options(synchronize_session=False)
        )
        regrades.discard(session, row)
        _decide(session, user, row, RegradeState.DISCARDED)
    return get(platform, user, number)


def _open_row(session: Session, user: User, number: int) -> RegradeRow:
    row = find(session, user, number, lock=True)
    if row.state is not RegradeState.OPEN:
        raise Conflict(
            f"Regrade {number} is already {row.state.value}.",
            f"`grader regrade show {number}` shows by whom.",
        )
    return row


def _decide(session: Session, user: User, row: RegradeRow, state: RegradeState) -> None:
    row.state, row.decided_by, row.decided_at = state, user.id, utcnow()
    session.flush()
    _note(session, user, row, {"state": state.value})
