"""A ZIP of sources, produced while it is read. File names are stable; the manifest comes first."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from grader import spreadsheet
from grader.records import taught, voids
from grader.records.engine import writing
from grader.records.models import AssignmentRow, MemberRow, SubmissionRow, TeamRow, UserRow
from grader.schemas.course import CourseRole
from grader.schemas.sources import ExportedSource
from grader.schemas.submission import JudgingReason, SetAside
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.competitions import open_competition
from grader.service.courses import assignments, courses, gradebook, permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

# At most 256 KiB each.
_BATCH = 50
_CHUNK_BYTES = 64 * 1024
_FILE_MODE = 0o644 << 16


@dataclass(frozen=True)
class Archive:
    name: str
    files: int
    chunks: Iterator[bytes]


def of_assignment(platform: Platform, user: User, course: str, slug: str, counted: bool = False) -> Archive:
    """``counted``: only behind points. Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course, Action.SOURCES) as opened:
        session, row = opened.session, assignments.find(opened, slug)
        members = {
            row.user_id: row
            for row in session.scalars(
                select(MemberRow).where(
                    MemberRow.course_id == opened.row.id, MemberRow.role == CourseRole.STUDENT.value
                )
            )
        }
        parts = assignments.assigned_by(session, row)
        found = _read(
            session,
            # The rule implies this; an index needs it.
            SubmissionRow.challenge.in_(parts),
            SubmissionRow.created_at >= row.open_at,
            taught.belongs(AssignmentRow.id == row.id),
        )
        void = voids.in_course(session, opened.row.id)
        best = {
            exported.submission
            for exported in gradebook.rows_of(platform, session, opened.row)
            if exported.assignment == slug
        }
        rows = []
        for number, source in found:
            member = members[source.student_id]
            counts = source.submission in best
            if counts or not counted:
                own = {"full_name": member.full_name, "student_number": member.student_number}
                own |= {"section": member.section}
                of_it = {"counts": counts, "void": source.void or number in void}
                rows.append((number, source.model_copy(update={**own, **of_it})))
        of_course = opened.row.id
    _note(
        platform, user, Action.SOURCES, f"/courses/{course}/assignments/{slug}/sources", len(rows), of_course
    )
    return _archive(platform, f"{course}-{slug}-sources", rows)


def of_competition(platform: Platform, user: User, slug: str) -> Archive:
    """Raises NotFound, NotAllowed."""
    open_competition.check(platform, user, slug, Action.SOURCES_ANY)
    with open_competition.reading(platform, user, slug) as opened:
        session = opened.session
        teams = {
            row.id: row.name
            for row in session.scalars(select(TeamRow).where(TeamRow.competition_id == opened.row.id))
        }
        of_rows = {
            row.public_id: row.team_id
            for row in session.execute(
                select(SubmissionRow.public_id, SubmissionRow.team_id).where(
                    SubmissionRow.competition_id == opened.row.id, SubmissionRow.competition_id.is_not(None)
                )
            )
        }
        rows = [
            (number, source.model_copy(update={"team": teams.get(of_rows.get(source.submission) or 0, "")}))
            for number, source in _read(
                session,
                SubmissionRow.competition_id == opened.row.id,
                SubmissionRow.competition_id.is_not(None),
            )
        ]
    _note(platform, user, Action.SOURCES_ANY, f"/competitions/{slug}/sources", len(rows))
    return _archive(platform, f"{slug}-sources", rows)


def of_challenge(platform: Platform, user: User, slug: str) -> Archive:
    """Raises NotAllowed, UnknownChallenge, ChallengeInvalid."""
    with platform.sessions() as session:
        permissions.check(user, permissions.standings(session, user), Action.SOURCES_ANY)
        platform.catalogue.load(slug)
        rows = _read(session, SubmissionRow.challenge == slug)
    _note(platform, user, Action.SOURCES_ANY, f"/challenges/{slug}/sources", len(rows))
    return _archive(platform, f"{slug}-sources", rows)


def _read(session: Session, *conditions: ColumnElement[bool]) -> list[tuple[int, ExportedSource]]:
    """Row ids and manifest entries, oldest first."""
    found = session.execute(
        select(
            *(
                SubmissionRow.id,
                SubmissionRow.public_id,
                SubmissionRow.user_id,
                UserRow.name,
                SubmissionRow.challenge,
                SubmissionRow.version,
                SubmissionRow.language,
            ),
            *(
                SubmissionRow.device,
                SubmissionRow.created_at,
                SubmissionRow.state,
                SubmissionRow.verdict,
                SubmissionRow.time_us,
                SubmissionRow.speedup,
                SubmissionRow.set_aside,
            ),
            (SubmissionRow.source != "").label("there"),
        )
        .join(UserRow, UserRow.id == SubmissionRow.user_id)
        .where(
            SubmissionRow.rejudge_of.is_(None),
            SubmissionRow.kind.not_in([JudgingReason.RUN, JudgingReason.FINAL]),
            *conditions,
        )
        .order_by(SubmissionRow.created_at, SubmissionRow.id)
    )
    return [
        (
            submission.id,
            ExportedSource(
                path=_path(submission) if submission.there else "",
                submission=submission.public_id,
                student_id=submission.user_id,
                student=submission.name,
                challenge=submission.challenge,
                version=submission.version,
                language=submission.language,
                device=submission.device,
                received_at=submission.created_at,
                state=submission.state.value,
                verdict=submission.verdict.value if submission.verdict is not None else None,
                time_us=submission.time_us,
                speedup=submission.speedup,
                void=submission.set_aside is SetAside.VOID,
            ),
        )
        for submission in found
    ]


def _path(submission: Any) -> str:
    """Only letters, digits, ``.``, ``_`` and ``-``."""
    file = f"{submission.created_at:%Y%m%dT%H%M%SZ}-{submission.public_id}{submission.language.suffix}"
    return f"{submission.challenge}/{submission.name}/{file}"


def _note(
    platform: Platform, user: User, action: Action, subject: str, files: int, course: int | None = None
) -> None:
    with writing(platform.sessions) as session:
        audit.note(session, user, action, subject, course=course, after={"submissions": files})


def _archive(platform: Platform, name: str, rows: Sequence[tuple[int, ExportedSource]]) -> Archive:
    return Archive(f"{name}.zip", len(rows), _chunks(platform, rows))


class _Sink:
    """A write-only file that drops data once it is taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        return taken


def _chunks(platform: Platform, rows: Sequence[tuple[int, ExportedSource]]) -> Iterator[bytes]:
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        manifest = [row for _, row in rows]
        newest = max((source.received_at for source in manifest), default=None)
        table = "".join(spreadsheet.table(ExportedSource, manifest))
        archive.writestr(_entry("manifest.csv", newest), table)
        said = [source.model_dump(mode="json") for source in manifest]
        archive.writestr(_entry("manifest.json", newest), json.dumps(said, indent=1))
        there = [(number, row) for number, row in rows if row.path]
        for start in range(0, len(there), _BATCH):
            piece = there[start : start + _BATCH]
            with platform.sessions() as session:
                wanted = select(SubmissionRow.id, SubmissionRow.source).where(
                    SubmissionRow.id.in_([number for number, _ in piece])
                )
                texts = {row.id: row.source for row in session.execute(wanted)}
            for number, exported in piece:
                archive.writestr(_entry(exported.path, exported.received_at), texts.get(number, ""))
                if sink.size >= _CHUNK_BYTES:
                    yield sink.take()
    yield sink.take()


def _entry(name: str, at: datetime | None) -> zipfile.ZipInfo:
    moment = at.timetuple()[:6] if at is not None else (1980, 1, 1, 0, 0, 0)
    found = zipfile.ZipInfo(name, moment)
    found.compress_type, found.external_attr = zipfile.ZIP_DEFLATED, _FILE_MODE
    return found
