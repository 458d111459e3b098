"""A worker fetches a commit of a course's git repository, stores changed challenges as uploads and checks them in
boxes. It serves the commit as a whole, or not at all if it would break a challenge in use."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.challenge import bundle
from grader.challenge.bundle import Bundle
from grader.errors import Conflict, GraderError
from grader.logs import get_logger
from grader.records import catalogue_sources, owners, rejudges, uploads
from grader.records.engine import clock, writing
from grader.records.models import (
    AssignmentPartRow,
    AssignmentRow,
    CatalogueSourceRow,
    ChallengeStateRow,
    CourseRow,
    UploadRow,
    UserRow,
)
from grader.schemas.proof import Proof
from grader.schemas.publication import PublicationState
from grader.schemas.upload import CheckState, SyncState
from grader.service import audit
from grader.service.accounts import accounts
from grader.service.challenges import git_tree, upload_effects
from grader.service.challenges import uploads as uploading
from grader.service.challenges import versions as serving
from grader.service.challenges.git_tree import Commit, Remote
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.wakeups import CHECK

log = get_logger(__name__)

# The actor if a push started it.
WEBHOOK = "(webhook)"
_SHA_CHARS = 10
_NOTE = "From commit {sha}"


def serve_one(platform: Platform) -> bool:
    """The one that waited longest."""
    with platform.sessions() as session:
        waiting = catalogue_sources.waiting(session, clock(session))
    if not waiting:
        settle(platform)  # ends stopped or abandoned checks
        return False
    with writing(platform.sessions) as session:
        held = catalogue_sources.claim(session, clock(session))
        if held is None:
            return False
        session.flush()
        session.expunge(held)
    remote = Remote(held.url, held.branch, held.credential)
    try:
        commit = git_tree.read(remote, platform.settings.git_host_list)
    except (GraderError, OSError) as error:
        _end(platform, held, SyncState.FAILED, getattr(error, "told", str(error)))
        return True
    try:
        _store(platform, held, commit)
    except (GraderError, IntegrityError) as error:
        why = error.told if isinstance(error, GraderError) else "Somebody else uploads there; try again."
        _end(platform, held, SyncState.REFUSED, _not_served(held, commit.sha, [why]), commit.sha)
    settle(platform)
    return True


def _end(
    platform: Platform, held: CatalogueSourceRow, state: SyncState, error: str, commit: str | None = None
) -> None:
    values = {"error": error[:4000]} | ({"commit": commit, "uploads": None} if commit else {})
    with writing(platform.sessions) as session:
        catalogue_sources.settle(session, held, state, **values)
    log.info("catalogue_fetched", course=held.course_id, state=state.value)


def _store(platform: Platform, held: CatalogueSourceRow, commit: Commit) -> None:
    """Raises GraderError for a commit that is no catalogue."""
    files = {path: data for path, data in commit.files.items() if not bundle.is_litter(path)}
    for path in files:
        bundle.check_path(path, path.split("/")[1])
    found = _prefixed(bundle.split(files), held.prefix)
    for made in found:
        platform.catalogue.check_track(made.slug, made.manifest)
    plan = {}
    with writing(platform.sessions) as session:
        course = session.get_one(CourseRow, held.course_id)
        for made in found:
            uploading.claim_name(platform, session, made.slug, course)
            row = uploads.of_digest(session, made.slug, made.digest)
            if row is None:
                note = _NOTE.format(sha=commit.sha[:_SHA_CHARS])
                row, _ = uploading.store(session, made, note, None, held.asked_by, commit.sha)
            elif row.check_state is CheckState.FAILED:
                uploads.order_check(session, row)
            plan[made.slug] = row.number
        values = {"commit": commit.sha, "uploads": plan, "error": ""}
        if not catalogue_sources.settle(session, held, SyncState.CHECKING, **values):
            raise Conflict("Another synchronisation was ordered meanwhile.")
    platform.wakeups.enqueue(CHECK)


def _prefixed(found: list[Bundle], prefix: str) -> list[Bundle]:
    if not prefix:
        return found
    names = {made.slug: prefix + made.slug for made in found}
    return [made.renamed(names[made.slug], names) for made in found]


def settle(platform: Platform) -> None:
    ended = []
    with platform.sessions() as session:
        for held in catalogue_sources.being_checked(session):
            rows = [uploads.find(session, slug, number) for slug, number in (held.uploads or {}).items()]
            if all(row is not None and row.check_state.ended for row in rows):
                session.expunge(held)
                ended.append(held)
    for held in ended:
        _decide(platform, held)


def _decide(platform: Platform, held: CatalogueSourceRow) -> None:
    plan = held.uploads or {}
    problems: list[str] = []
    left: list[str] = []
    chosen: dict[str, int] = {}
    with platform.sessions() as session:
        present = {slug: uploads.in_use(session, slug) for slug in owners.of_course(session, held.course_id)}
        rows = {slug: uploads.find(session, slug, number, whole=True) for slug, number in plan.items()}
        removed = [slug for slug, row in present.items() if row and row.commit and slug not in plan]
        problems += [words for slug in removed if (words := _why_needed(session, slug))]
    for slug, row in rows.items():
        assert row is not None
        now = present.get(slug)
        if now is not None and now.number == row.number:
            continue
        if why := _unusable(platform, row, now):
            (left if now is None else problems).append(why)
        else:
            chosen[slug] = row.number
    sha = held.commit or ""
    if problems:
        _end(platform, held, SyncState.REFUSED, _not_served(held, sha, problems))
        return
    try:
        _serve(platform, held, chosen, removed, " ".join(left))
    except GraderError as error:
        _end(platform, held, SyncState.REFUSED, _not_served(held, sha, [error.told]))


def _unusable(platform: Platform, row: UploadRow, now: UploadRow | None) -> str:
    """Why the upload cannot be used, or ""."""
    if row.check_state is not CheckState.PROVEN:
        said = f"{row.check_state.value}{_found(row)} (upload {row.number})"
        return f"{row.challenge} is not proven, its check says {said}."
    before = bundle.read_archive(now.archive) if now is not None else None
    effect = upload_effects.effect_of(platform, row, before)
    return "" if effect.usable else f"{row.challenge}: {' '.join(effect.means)}"


def _found(row: UploadRow) -> str:
    if row.check_error:
        return f": {row.check_error.splitlines()[0]}"
    proof = Proof.model_validate_json(row.check_result) if row.check_result else None
    failed = [check for check in proof.checks if check.status.fails] if proof is not None else []
    return f": {failed[0].name}, {failed[0].summary}" if failed else ""


def _why_needed(session: Session, slug: str) -> str:
    part = AssignmentPartRow
    query = select(AssignmentRow.slug).join(part, part.assignment_id == AssignmentRow.id)
    if (assignment := session.scalar(query.where(part.challenge == slug).limit(1))) is not None:
        return f"It lacks {slug}, which the assignment {assignment} uses."
    if any(rejudges.judgements(session, slug).values()):
        return f"It lacks {slug}, which has submissions."
    return ""


def _serve(
    platform: Platform, held: CatalogueSourceRow, chosen: dict[str, int], removed: list[str], left: str
) -> None:
    """Raises ChallengeChanged, ChallengeInvalid, Conflict."""
    served = {}
    for slug, number in chosen.items():
        with platform.sessions() as session:
            row = uploads.find(session, slug, number, whole=True)
        assert row is not None
        served[slug] = serving.serve(platform, upload_effects.load_upload(platform, row)).version
    with writing(platform.sessions) as session:
        now = clock(session)
        values = {"served_commit": held.commit, "served_at": now, "error": left[:4000]}
        if not catalogue_sources.settle(session, held, SyncState.SERVED, **values):
            raise Conflict("Another synchronisation was ordered meanwhile.")
        for slug, number in chosen.items():
            uploads.use(session, slug, number, now)
            uploading.show_board(session, slug, served[slug], held.asked_by)
        for slug in removed:
            uploads.use(session, slug, None, now)
            state = session.get(ChallengeStateRow, slug)
            if state is not None:
                state.state, state.publish_at = PublicationState.DRAFT, None
                state.changed_at, state.changed_by = now, held.asked_by
        course = session.get_one(CourseRow, held.course_id)
        asker = session.get(UserRow, held.asked_by) if held.asked_by is not None else None
        audit.note(
            session,
            accounts.of_row(asker) if asker is not None else None,
            Action.CATALOGUE_EDIT,
            f"/courses/{course.slug}/catalogue",
            course=course.id,
            before={"commit": held.served_commit},
            after={"commit": held.commit, "uploads": sorted(chosen), "removed": removed},
            by=WEBHOOK,
        )
    platform.forget_uploads()
    log.info("catalogue_served", course=held.course_id, commit=held.commit, challenges=len(chosen))


def _not_served(held: CatalogueSourceRow, sha: str, problems: list[str]) -> str:
    return " ".join(_sentences(held, sha, problems))


def _sentences(held: CatalogueSourceRow, sha: str, problems: list[str]) -> Iterator[str]:
    yield f"Commit {sha[:_SHA_CHARS]} is not served."
    yield from problems
    if held.served_commit:
        yield f"Commit {held.served_commit[:_SHA_CHARS]} goes on."
