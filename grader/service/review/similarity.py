"""Similar submissions: compared when staff ask, decided by a person. Counted ones are compared with each other, with
earlier ones from outside, and with staff's solution, without the starter. Outside authors and texts are hidden unless
the reader may read them anyway. Pairs mark reports for staff, and for students once confirmed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import limits
from grader.challenge.loader import Challenge
from grader.errors import ChallengeInvalid, NotFound, TooMany, UnknownChallenge, Unreachable
from grader.languages import Language
from grader.records import groups
from grader.records.models import (
    AssignmentRow,
    MemberRow,
    SimilarityRunRow,
    SimilarPairRow,
    SubmissionRow,
    UserRow,
    utcnow,
)
from grader.schemas.gradebook import ExportRow
from grader.schemas.report import Verdict
from grader.schemas.similarity import (
    Decision,
    DecisionBody,
    MatchedLines,
    SimilarityReport,
    SimilarPair,
    SimilarSide,
    SimilarSources,
)
from grader.schemas.submission import JudgingReason
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, gradebook
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.service.submissions import submissions as reading
from grader.similarity.comparison import Pair, Source, clusters

# Ids of sources that are not submissions.
_SOLUTION = ""
# The newest ones, one per author.
_MOST_EARLIER = 1000
_PATIENCE_SECONDS = 300.0
# Per process: its other requests wait.
_ROOM = threading.BoundedSemaphore(limits.COMPARISONS_AT_ONCE)


def compare(platform: Platform, user: User, course: str, assignment: str) -> SimilarityReport:
    """Drops pairs that are no longer similar, unless decided or with a deleted side. Raises NotFound, NotAllowed,
    Unreachable."""
    started = time.monotonic()
    with courses.reading(platform, user, course, Action.SIMILARITY) as opened:
        row = assignments.find(opened, assignment)
        counted = [
            exported
            for exported in gradebook.export(platform, user, course)
            if exported.assignment == assignment
        ]
        asked = list(_asked(platform, opened.session, opened.row.id, row, counted))
    found = [(challenge, Pair(**pair)) for challenge, sources in asked for pair in _run(sources)]
    with courses.changing(platform, user, course, Action.SIMILARITY) as opened:
        row = assignments.find(opened, assignment)
        found = [pair for pair in found if not _of_one_group(opened, row, pair[1])]
        _store(opened, row, found)
        opened.session.merge(
            SimilarityRunRow(
                assignment_id=row.id,
                made_at=utcnow(),
                made_by=user.id,
                sources=sum(1 for _, sources in asked for source in sources.sources if source.reported),
                seconds=time.monotonic() - started,
            )
        )
        opened.note(Action.SIMILARITY, f"/assignments/{assignment}/similarity", after={"pairs": len(found)})
    return read(platform, user, course, assignment)


def _of_one_group(opened: OpenCourse, row: AssignmentRow, pair: Pair) -> bool:
    """Handed in together, or in one group now."""
    session, at = opened.session, opened.row.id
    query = select(SubmissionRow.user_id).where(SubmissionRow.public_id.in_([pair.left, pair.right]))
    authors = session.scalars(query.distinct()).all()
    if len(authors) != 2:
        return False
    if groups.are_partners(session, row.id, *authors):
        return True
    one, other = (groups.name_of(session, at, author) for author in authors)
    return row.group_size > 1 and one != "" and one == other


@dataclass(frozen=True)
class _Sources:
    """Of one challenge in one language."""

    language: Language
    starter: str
    sources: Sequence[Source]


def _asked(
    platform: Platform, session: Session, course: int, row: AssignmentRow, counted: Sequence[ExportRow]
) -> Iterator[tuple[str, _Sources]]:
    challenges = dict.fromkeys(given.challenge for given in counted)
    for slug in challenges:
        own = _rows(
            session, {given.submission for given in counted if given.challenge == slug and given.submission}
        )
        for language in Language:
            sources = [
                Source(submission.public_id, str(submission.user_id), submission.source, language)
                for submission in own
                if submission.language is language and submission.source
            ]
            if not sources:
                continue
            sources += _earlier(session, course, row, slug, language)
            challenge = _challenge(platform, slug)
            if challenge is not None and (solution := _solution(challenge, language)) is not None:
                sources.append(Source(_SOLUTION, "", solution, language, reported=False))
            starter = challenge.starter(language) if challenge is not None else ""
            yield slug, _Sources(language, starter, sources)


def _rows(session: Session, ids: Iterable[str]) -> Sequence[SubmissionRow]:
    return session.scalars(select(SubmissionRow).where(SubmissionRow.public_id.in_(list(ids)))).all()


def _earlier(
    session: Session, course: int, row: AssignmentRow, slug: str, language: Language
) -> list[Source]:
    """Others' submissions accepted before the opening, outside competitions."""
    submission = SubmissionRow
    classmates = select(MemberRow.user_id).where(MemberRow.course_id == course)
    last = (
        select(func.max(submission.id))
        .where(
            submission.challenge == slug,
            submission.language == language,
            submission.verdict == Verdict.ACCEPTED,
            submission.kind != JudgingReason.RUN,
            submission.created_at < row.open_at,
            submission.user_id.not_in(classmates),
            submission.rejudge_of.is_(None),
            submission.competition_id.is_(None),
            submission.source != "",
        )
        .group_by(submission.user_id)
    )
    rows = session.scalars(
        select(submission).where(submission.id.in_(last)).order_by(submission.id.desc()).limit(_MOST_EARLIER)
    )
    return [Source(one.public_id, str(one.user_id), one.source, language, reported=False) for one in rows]


def _challenge(platform: Platform, slug: str) -> Challenge | None:
    """None if its folder is broken: submissions can still be compared."""
    try:
        return platform.catalogue.load(slug)
    except (ChallengeInvalid, UnknownChallenge):
        return None


def _solution(challenge: Challenge, language: Language) -> str | None:
    path = challenge.reference_folder / "staff" / f"solution{language.suffix}"
    return path.read_text() if path.exists() else None


def _run(asked: _Sources, matches: tuple[str, str] | None = None) -> list[dict[str, Any]]:
    """All pairs, or two's similar lines, in a process (``grader/similarity/__main__.py``)."""
    given = {
        "language": asked.language.value,
        "starter": asked.starter,
        "sources": [
            {"id": source.id, "author": source.author, "text": source.text, "reported": source.reported}
            for source in asked.sources
        ],
        "matches": matches,
    }
    command = [sys.executable, "-m", "grader.similarity"]
    if not _ROOM.acquire(blocking=False):
        raise TooMany("Another comparison is running.", "Try again in a minute.")
    try:
        ran = subprocess.run(
            command,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=True,
            timeout=_PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise Unreachable(
            f"Comparing {len(asked.sources)} sources took longer than {_PATIENCE_SECONDS:.0f} s.",
            "Try again when the server is less busy.",
        ) from error
    finally:
        _ROOM.release()
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    return found


def _store(opened: OpenCourse, row: AssignmentRow, found: Sequence[tuple[str, Pair]]) -> None:
    session = opened.session
    kept = {
        (pair.submission, pair.other): pair
        for pair in session.scalars(select(SimilarPairRow).where(SimilarPairRow.assignment_id == row.id))
    }
    counted = _names(session, [id_ for _, pair in found for id_ in (pair.left, pair.right)])
    fresh = set()
    for challenge, pair in found:
        one, other = (pair.left, pair.left_share), (pair.right, pair.right_share)
        # The assignment's own source first.
        if not _is_own(row, counted.get(one[0])) or (_is_own(row, counted.get(other[0])) and one > other):
            one, other = other, one
        key = (one[0], other[0])
        fresh.add(key)
        values = {"share": one[1], "other_share": other[1], "bits": pair.bits}
        if key in kept:
            for name, value in values.items():
                setattr(kept[key], name, value)
            continue
        session.add(
            SimilarPairRow(
                assignment_id=row.id, challenge=challenge, submission=key[0], other=key[1], **values
            )
        )
    # Deleted sources cannot be compared again.
    incomparable = {
        submission.public_id
        for submission in _names(session, [id_ for key in kept for id_ in key]).values()
        if not submission.source
    }
    for key, gone in kept.items():
        if key not in fresh and gone.decision is Decision.OPEN and incomparable.isdisjoint(key):
            session.delete(gone)


@dataclass(frozen=True)
class _Named:
    user: str
    full_name: str
    earlier: bool


def _is_own(row: AssignmentRow, submission: SubmissionRow | None) -> bool:
    return submission is not None and submission.created_at >= row.open_at


def _names(session: Session, ids: Sequence[str]) -> Mapping[str, SubmissionRow]:
    return {submission.public_id: submission for submission in _rows(session, set(ids) - {_SOLUTION})}


def read(platform: Platform, user: User, course: str, assignment: str) -> SimilarityReport:
    """Most similar first. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course, Action.SIMILARITY) as opened:
        row = assignments.find(opened, assignment)
        run = opened.session.get(SimilarityRunRow, row.id)
        kept = opened.session.scalars(
            select(SimilarPairRow).where(SimilarPairRow.assignment_id == row.id)
        ).all()
        views = _views(opened, row, kept)
    views.sort(key=lambda pair: (-max(pair.left.share, pair.right.share), -pair.bits, pair.number))
    of_people = [
        Pair(view.left.user, view.right.user, view.left.share, view.right.share, view.bits)
        for view in views
        if view.left.user and view.right.user and view.decision is not Decision.DISMISSED
    ]
    return SimilarityReport(
        course=course,
        assignment=assignment,
        made_at=run.made_at if run else None,
        sources=run.sources if run else 0,
        seconds=run.seconds if run else 0.0,
        pairs=views,
        clusters=clusters(of_people),
    )


def _views(opened: OpenCourse, row: AssignmentRow, kept: Sequence[SimilarPairRow]) -> list[SimilarPair]:
    session = opened.session
    ids = {id_ for pair in kept for id_ in (pair.submission, pair.other)}
    query = (
        select(SubmissionRow.public_id, SubmissionRow.created_at, UserRow.name, MemberRow.full_name)
        .join(UserRow, UserRow.id == SubmissionRow.user_id)
        .outerjoin(MemberRow, (MemberRow.user_id == UserRow.id) & (MemberRow.course_id == opened.row.id))
        .where(SubmissionRow.public_id.in_(ids))
    )
    named = {
        id_: _Named(name, full_name or "", created_at < row.open_at)
        for id_, created_at, name, full_name in session.execute(query)
    }
    closed = set(named) - reading.readable(session, opened.user, named.keys())
    deciders = {pair.decided_by for pair in kept if pair.decided_by is not None}
    names = dict(session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(deciders))).all())

    def side(id_: str, share: float) -> SimilarSide:
        who = named.get(id_)
        if who is None:
            return SimilarSide(submission=None, user=None, share=share)
        if id_ in closed:
            return SimilarSide(submission=None, user=None, earlier=True, share=share)
        return SimilarSide(
            submission=id_, user=who.user, full_name=who.full_name, earlier=who.earlier, share=share
        )

    return [
        SimilarPair(
            number=pair.id,
            challenge=pair.challenge,
            left=side(pair.submission, pair.share),
            right=side(pair.other, pair.other_share),
            bits=pair.bits,
            decision=pair.decision,
            reason=pair.reason,
            decided_by=names.get(pair.decided_by) if pair.decided_by is not None else None,
            decided_at=pair.decided_at,
        )
        for pair in kept
    ]


def sources(platform: Platform, user: User, course: str, assignment: str, number: int) -> SimilarSources:
    """Only line numbers of a secret source. Raises NotFound, NotAllowed, TooMany."""
    with courses.reading(platform, user, course, Action.SIMILARITY) as opened:
        row = assignments.find(opened, assignment)
        kept = _pair(opened, row, number)
        view = _views(opened, row, [kept])[0]
        found = _names(opened.session, [kept.submission, kept.other])
        open_to = kept.other == _SOLUTION or bool(reading.readable(opened.session, user, [kept.other]))
        counted = [
            exported
            for exported in gradebook.export(platform, user, course)
            if exported.assignment == assignment
        ]
        asked = [
            compared
            for challenge, compared in _asked(platform, opened.session, opened.row.id, row, counted)
            if challenge == kept.challenge
        ]
    left = found.get(kept.submission)
    if left is None or view.left.submission is None:
        raise NotFound("A submission of this pair was deleted, or no longer belongs to this course.")
    challenge = _challenge(platform, kept.challenge)
    if kept.other == _SOLUTION:
        right = (_solution(challenge, left.language) if challenge is not None else None) or ""
    else:
        right = found[kept.other].source if kept.other in found else ""
    # Other submissions may count now.
    of_language = next((group for group in asked if group.language is left.language), None)
    now = {source.id: source for source in of_language.sources} if of_language else {}
    now[kept.submission] = Source(kept.submission, str(left.user_id), left.source, left.language)
    now[kept.other] = Source(kept.other, "other", right, left.language, reported=False)
    starter = of_language.starter if of_language else ""
    asked_now = _Sources(left.language, starter, list(now.values()))
    matches = _run(asked_now, (kept.submission, kept.other))
    if not open_to:
        right = "\n" * len(right.splitlines())
    return SimilarSources(
        pair=view,
        language=left.language,
        left=left.source,
        right=right,
        matches=[MatchedLines(**match) for match in matches],
        excerpt=not open_to,
    )


def _pair(opened: OpenCourse, row: AssignmentRow, number: int) -> SimilarPairRow:
    kept = opened.session.get(SimilarPairRow, number)
    if kept is None or kept.assignment_id != row.id:
        raise NotFound(f"{row.slug} has no pair {number}.", "Compare again: the pair may be gone.")
    return kept


def decide(
    platform: Platform, user: User, course: str, assignment: str, number: int, body: DecisionBody
) -> SimilarityReport:
    """Confirms, dismisses or reopens. Raises NotFound, NotAllowed, BadRequest (confirming without a reason)."""
    reason = audit.tidy_reason(body.reason, needed=body.decision is Decision.CONFIRMED)
    with courses.changing(platform, user, course, Action.SIMILARITY_DECIDE) as opened:
        row = assignments.find(opened, assignment)
        kept = _pair(opened, row, number)
        before = {"decision": kept.decision.value}
        kept.decision, kept.reason = body.decision, reason
        opened_again = body.decision is Decision.OPEN
        kept.decided_by = None if opened_again else user.id
        kept.decided_at = None if opened_again else utcnow()
        opened.note(
            Action.SIMILARITY_DECIDE,
            f"/assignments/{assignment}/similarity/{number}",
            before=before,
            after={"decision": body.decision.value},
            reason=reason,
        )
    return read(platform, user, course, assignment)
