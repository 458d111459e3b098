from __future__ import annotations

import statistics
from collections import Counter

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.errors import Conflict
from grader.languages import Language
from grader.records import ranks, rejudges, versions
from grader.records.models import SubmissionRow
from grader.schemas.submission import State
from grader.schemas.version import ComparedRank, ComparedSubmission, Comparison, Judgement, Rejudge
from grader.service.accounts.accounts import User
from grader.service.boards.rankings import unranked
from grader.service.challenges.versions import check_staff, serve
from grader.service.platform import Platform
from grader.service.review import regrade


def rejudge(platform: Platform, user: User, slug: str, ranked: bool = False) -> Rejudge:
    """Queues earlier versions' judged submissions (``ranked``: those on boards) for the folder's version, behind all
    students and without an attempt. None is queued twice unless it failed. Publishing the version publishes this
    regrade. Raises NotAllowed, UnknownChallenge, ChallengeChanged."""
    check_staff(user)
    served = serve(platform, platform.catalogue.load(slug))
    with platform.sessions() as session:
        entries = _entries(session, slug, served.version) if ranked else None
    number, queued, left_out = regrade.start_version(platform, user, served, entries)
    with platform.sessions() as session:
        waiting = rejudges.unfinished(session, slug, served.version)
    return Rejudge(
        challenge=slug,
        version=served.version,
        queued=queued,
        waiting=waiting,
        left_out=left_out,
        regrade=number or None,
    )


def _entries(session: Session, slug: str, below: int) -> set[int]:
    """Submissions on boards of earlier versions, in any language."""
    earlier = [row.version for row in versions.history(session, slug) if row.version < below]
    public = {
        entry.submission
        for version in earlier
        for device in ranks.boards(session, slug, version)
        for language in Language
        for entry in ranks.ranked(session, slug, version, device, language)
    }
    found = session.execute(
        select(SubmissionRow.id, SubmissionRow.rejudge_of).where(SubmissionRow.public_id.in_(public))
    )
    return {first or own for own, first in found}


def compare(
    platform: Platform, user: User, slug: str, before: int | None = None, after: int | None = None
) -> Comparison:
    """By default from the shown version to the folder's, else from the one before. Raises NotAllowed,
    UnknownChallenge, Conflict (no two versions)."""
    check_staff(user)
    present = platform.catalogue.load(slug).manifest.version
    with platform.sessions() as session:
        shown = versions.shown(session, slug) or present
        new = present if after is None else after
        old = _earlier(session, slug, shown, new) if before is None else before
        if old is None or old == new:
            raise Conflict(
                f"There is no other version of {slug} to compare version {new} with.",
                "Change the challenge, raise its version, and run `grader admin rejudge`.",
            )
        first, second = rejudges.under(session, slug, old), rejudges.under(session, slug, new)
        done = {key: row for key, row in first.items() if row.state is State.DONE}
        names = rejudges.public_ids(session, list(done))
        pairs = [_pair(names[key], row, second.get(key)) for key, row in done.items()]
        left_out = sum(not row.source for key, row in done.items() if key not in second)
        places = _places(session, slug, old, new)
    ratios = [pair.time_ratio for pair in pairs if pair.time_ratio is not None]
    states = Counter(_stage(pair) for pair in pairs)
    return Comparison(
        challenge=slug,
        before=old,
        after=new,
        shown=shown,
        judged=states["judged"],
        waiting=states["waiting"],
        failed=states["failed"],
        not_ordered=states["not ordered"] - left_out,
        left_out=left_out,
        median_time_ratio=statistics.median(ratios) if ratios else None,
        submissions=sorted(pairs, key=_weight),
        ranks=places,
    )


def _earlier(session: Session, slug: str, shown: int, new: int) -> int | None:
    """The version that is shown, or was before ``new``."""
    if shown != new:
        return shown
    published = [row.version for row in versions.history(session, slug) if row.published_at is not None]
    return max((version for version in published if version < new), default=None)


def _pair(submission: str, first: SubmissionRow, second: SubmissionRow | None) -> ComparedSubmission:
    done = second is not None and second.state is State.DONE
    times = (first.time_us, second.time_us if second is not None else None)
    return ComparedSubmission(
        submission=submission,
        user=first.user.name,
        language=first.language,
        device=first.device,
        before=_judgement(first),
        after=_judgement(second) if second is not None else None,
        verdict_changed=second is not None and done and second.verdict is not first.verdict,
        time_ratio=times[1] / times[0] if done and times[0] and times[1] else None,
    )


def _judgement(row: SubmissionRow) -> Judgement:
    return Judgement(
        id=row.public_id, state=row.state, verdict=row.verdict, time_us=row.time_us, speedup=row.speedup
    )


def _stage(pair: ComparedSubmission) -> str:
    if pair.after is None:
        return "not ordered"
    if pair.after.state is State.DONE:
        return "judged"
    return "failed" if pair.after.state is State.FAILED else "waiting"


def _weight(pair: ComparedSubmission) -> tuple[bool, float, str]:
    """Other verdicts first, then larger changes of time."""
    ratio = pair.time_ratio or 1.0
    return (not pair.verdict_changed, -max(ratio, 1 / ratio), pair.submission)


def _places(session: Session, slug: str, old: int, new: int) -> list[ComparedRank]:
    """Ranked on either board, changed ranks first."""
    staff = unranked(session)
    devices = sorted(ranks.boards(session, slug, old) | ranks.boards(session, slug, new))
    found = []
    for device in devices:
        before, after = (
            {entry.user: entry.rank for entry in ranks.ranked(session, slug, version, device, without=staff)}
            for version in (old, new)
        )
        found += [
            ComparedRank(device=device, user=name, before=before.get(name), after=after.get(name))
            for name in {**before, **after}
        ]
    return sorted(
        found,
        key=lambda change: (change.before == change.after, change.device, change.after or change.before or 0),
    )
