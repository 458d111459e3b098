"""Challenges that staff upload, edit, have checked, and use: common ones by the platform's staff, a course's by its
owners and instructors. Their code runs only in a worker's box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.challenge import bundle, views
from grader.challenge.bundle import Bundle
from grader.challenge.loader import Challenge
from grader.errors import BadBundle, Conflict, GraderError, NotFound
from grader.records import owners, regrades, rejudges, uploads, versions
from grader.records.engine import clock, writing
from grader.records.models import ChallengeStateRow, CourseRow, UploadRow, UserRow
from grader.schemas.challenge import ChallengeDetail
from grader.schemas.proof import Proof
from grader.schemas.publication import PublicationState
from grader.schemas.upload import (
    CheckProgress,
    CheckState,
    SpecBody,
    UploadBody,
    UploadDetail,
    UploadList,
    UploadView,
    UseBody,
)
from grader.service import audit
from grader.service.accounts.accounts import User
from grader.service.challenges import ownership
from grader.service.challenges import versions as serving
from grader.service.challenges.affected import by_use
from grader.service.challenges.upload_effects import (
    baselines_of,
    current,
    effect_of,
    file_changes,
    load_upload,
    present_version,
    spec_diff,
)
from grader.service.courses import courses, permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.wakeups import CHECK

_NEW = 0


@contextmanager
def _reading(platform: Platform, user: User, slug: str) -> Iterator[Session]:
    with platform.sessions() as session:
        ownership.check(session, user, slug, Action.CHALLENGE_UPLOADS)
        yield session


@contextmanager
def _changing(platform: Platform, user: User, slug: str, action: Action) -> Iterator[Session]:
    try:
        with writing(platform.sessions) as session:
            ownership.check(session, user, slug, action)
            yield session
    except IntegrityError as error:
        raise Conflict(
            "Somebody else has just uploaded this challenge.", "Look at their upload, then repeat yours."
        ) from error


def check(platform: Platform, user: User, action: Action) -> None:
    """Raises NotAllowed."""
    with platform.sessions() as session:
        permissions.check(user, permissions.standings(session, user), action)


def upload(platform: Platform, user: User, body: UploadBody) -> UploadView:
    """Repeating it returns the first upload. A new slug becomes a draft once examined; others wait for staff. Raises
    NotAllowed, BadBundle, ChallengeInvalid, Conflict (newer than ``body.base``)."""
    check(platform, user, Action.CHALLENGE_UPLOAD)
    return _keep(
        platform, user, bundle.read_archive(body.archive), body.note, body.base, Action.CHALLENGE_UPLOAD
    )


def upload_to_course(platform: Platform, user: User, course: str, body: UploadBody) -> UploadList:
    """All challenges or none. Raises as ``upload`` does, NotFound, Conflict (another's name, or an archived course)."""
    courses.check(platform, user, course, Action.CATALOGUE_EDIT)
    found = bundle.read_catalogue(body.archive)
    for made in found:
        platform.catalogue.check_track(made.slug, made.manifest)
    base = body.base if len(found) == 1 else None
    try:
        with courses.changing(platform, user, course, Action.CATALOGUE_EDIT) as opened:
            session = opened.session
            rows = []
            for made in found:
                claim_name(platform, session, made.slug, opened.row)
                row, new = store(session, made, body.note, base, user.id)
                if new:
                    _note_upload(session, user, Action.CHALLENGE_UPLOAD, row)
                rows.append(_view(session, row))
    except IntegrityError as error:
        raise Conflict(
            "Somebody else has just uploaded one of these challenges.", "Look at the list, then repeat yours."
        ) from error
    platform.wakeups.enqueue(CHECK)
    return UploadList(uploads=rows)


def claim_name(platform: Platform, session: Session, slug: str, course: CourseRow) -> None:
    """Raises Conflict, which does not name the owner."""
    owner = owners.of(session, slug)
    if owner == course.id:
        return
    if owner is not None or slug in platform.catalogue.folders() or not owners.is_free(session, slug):
        raise Conflict(
            f"The name {slug} is taken: a challenge's name is unique on the platform.",
            f"Rename both folders, for example to {slug[:40]}_{course.slug.replace('-', '_')[:20]}.",
        )
    owners.take(session, slug, course.id)
    session.flush()


def edit_spec(platform: Platform, user: User, slug: str, body: SpecBody) -> UploadView:
    """Stored as an upload; judging does not depend on it. Raises NotAllowed, UnknownChallenge, BadBundle, Conflict."""
    ownership.check_once(platform, user, slug, Action.CHALLENGE_EDIT_SPEC)
    return edit_file(platform, user, slug, _spec_path(slug), body)


def edit_file(platform: Platform, user: User, slug: str, path: str, body: SpecBody) -> UploadView:
    """Any text file; an empty text removes it. Raises also ChallengeInvalid."""
    action = Action.CHALLENGE_EDIT_SPEC if path == _spec_path(slug) else Action.CHALLENGE_UPLOAD
    ownership.check_once(platform, user, slug, action)
    bundle.check_path(path, slug)
    text = body.text.replace("\r\n", "\n")
    if path == _spec_path(slug) and not text.strip():
        raise BadBundle(
            "The spec is empty.",
            "It is all that students read about a challenge. Write what they have to do.",
        )
    before = _newest(platform, slug)
    if text.strip():
        made = before.with_file(path, text)
    else:
        made = bundle.of_files({name: data for name, data in before.files.items() if name != path})
    return _keep(platform, user, made, body.note, body.base, action)


def _spec_path(slug: str) -> str:
    return f"challenges/{slug}/spec.md"


def _newest(platform: Platform, slug: str) -> Bundle:
    """The newest upload, else the folder. Raises UnknownChallenge, ChallengeInvalid, BadBundle."""
    with platform.sessions() as session:
        row = uploads.newest(session, slug)
    if row is not None:
        return bundle.read_archive(row.archive)
    return bundle.of_challenge(platform.catalogue.load(slug))


def _keep(
    platform: Platform, user: User, made: Bundle, note: str, base: int | None, action: Action
) -> UploadView:
    platform.catalogue.check_track(made.slug, made.manifest)
    with _changing(platform, user, made.slug, action) as session:
        row, new = store(session, made, note, base, user.id)
        if new:
            _note_upload(session, user, action, row)
        found = _view(session, row)
    platform.wakeups.enqueue(CHECK)
    return found


def store(
    session: Session, made: Bundle, note: str, base: int | None, by: int | None, commit: str | None = None
) -> tuple[UploadRow, bool]:
    """And whether it is new: equal files are not. The caller checks permission. Raises Conflict."""
    newest = uploads.newest(session, made.slug)
    seen = newest.number if newest is not None else _NEW
    if newest is not None and newest.digest == made.digest:
        return newest, False
    if base is not None and base != seen:
        raise Conflict(
            _overtaken(session, newest), "Look at the changes, and save yours again on top of them."
        )
    row = UploadRow(
        challenge=made.slug,
        number=uploads.next_number(session, made.slug),
        version=made.manifest.version,
        title=made.manifest.title[:120],
        digest=made.digest,
        archive=made.packed(),
        size=made.size,
        files=len(made.files),
        note=audit.tidy_reason(note),
        commit=commit,
        base=seen or None,
        examined=_known_examined(newest, made),
        uploaded_by=by,
        created_at=clock(session),
        check_state=CheckState.WAITING,
    )
    session.add(row)
    session.flush()
    return row, True


def _note_upload(session: Session, user: User, action: Action, row: UploadRow) -> None:
    facts = {"version": row.version, "digest": row.digest[:12], "files": row.files}
    course = owners.of(session, row.challenge)
    audit.note(session, user, action, _path(row), course=course, after=facts, reason=row.note)


def _known_examined(newest: UploadRow | None, made: Bundle) -> str | None:
    """Results for the same Python code."""
    if newest is None or newest.examined is None:
        return None
    return newest.examined if bundle.read_archive(newest.archive).same_python(made) else None


def _overtaken(session: Session, newest: UploadRow | None) -> str:
    if newest is None:
        return "This challenge has no upload yet."
    who = _names(session, [newest]).get(newest.uploaded_by or 0, "somebody")
    return f"{who} has uploaded number {newest.number} of {newest.challenge} meanwhile; yours is not saved."


def list_uploads(platform: Platform, user: User, slug: str | None = None) -> UploadList:
    """Newest first. Raises NotAllowed, NotFound."""
    if slug is None:
        check(platform, user, Action.CHALLENGE_UPLOADS)
    else:
        ownership.check_once(platform, user, slug, Action.CHALLENGE_UPLOADS)
    with platform.sessions() as session:
        rows = uploads.of_challenge(session, slug)
        examined = set(session.scalars(select(UploadRow.id).where(UploadRow.examined.is_not(None))))
        names = _names(session, rows)
        found = [_view_of(row, row.id in examined, names) for row in rows]
    if slug is not None and not found and slug not in platform.catalogue.folders():
        raise NotFound(
            f"There is no upload of '{slug[:64]}'.", "`grader challenge uploads` lists all uploads."
        )
    return UploadList(uploads=found)


def get_upload(platform: Platform, user: User, slug: str, number: int) -> UploadDetail:
    """With findings and effects. Raises NotAllowed, NotFound."""
    with _reading(platform, user, slug) as session:
        row = _find(session, slug, number)
        view = _view(session, row)
        findings = Proof.model_validate_json(row.check_result) if row.check_result else None
        frozen = baselines_of(session, slug, present_version(platform, slug))
    made = bundle.read_archive(row.archive)
    against, before = current(platform, slug)
    effect = effect_of(platform, row, before)
    affected = None
    if effect.usable and not view.in_use:
        with platform.sessions() as session:
            affected = by_use(session, _present(platform, slug), load_upload(platform, row))
    return UploadDetail(
        upload=view,
        against=against,
        spec=spec_diff(before, made),
        files=file_changes(before, made),
        changes=effect.changes,
        baselines=frozen,
        means=effect.means,
        affected=affected,
        usable=effect.usable and not view.in_use,
        findings=findings,
    )


def _present(platform: Platform, slug: str) -> Challenge | None:
    try:
        return platform.catalogue.load(slug)
    except GraderError:
        return None


def get_spec(platform: Platform, user: User, slug: str) -> tuple[str, int]:
    """The text and its upload's number (0: the folder). Raises NotAllowed, UnknownChallenge."""
    files, base = get_files(platform, user, slug)
    return files.get(_spec_path(slug), ""), base


def get_files(platform: Platform, user: User, slug: str) -> tuple[dict[str, str], int]:
    """As ``get_spec``, for all text files by path."""
    with _reading(platform, user, slug) as session:
        row = uploads.newest(session, slug)
    made = _newest(platform, slug)
    return {path: data.decode() for path, data in sorted(made.files.items())}, row.number if row else _NEW


def get_archive(platform: Platform, user: User, slug: str, number: int) -> bytes:
    """A ZIP with staff's files. Raises NotAllowed, NotFound."""
    with _reading(platform, user, slug) as session:
        return _find(session, slug, number).archive


def preview(platform: Platform, user: User, slug: str, number: int) -> ChallengeDetail:
    """As students would see it. Raises NotAllowed, NotFound, Conflict (not examined), ChallengeInvalid."""
    with _reading(platform, user, slug) as session:
        row = _find(session, slug, number)
    challenge = load_upload(platform, row)
    return views.detail(challenge, list(challenge.manifest.languages), {})


def check_again(platform: Platform, user: User, slug: str, number: int) -> UploadView:
    """Raises NotAllowed, NotFound, Conflict (it waits or runs)."""
    with _changing(platform, user, slug, Action.CHALLENGE_CHECK) as session:
        row = _find(session, slug, number)
        if not row.check_state.ended:
            raise Conflict("The upload is already being checked.", "Wait until the check ends, or stop it.")
        uploads.order_check(session, row)
        audit.note(session, user, Action.CHALLENGE_CHECK, _path(row), course=owners.of(session, slug))
        found = _view(session, row)
    platform.wakeups.enqueue(CHECK)
    return found


def stop_check(platform: Platform, user: User, slug: str, number: int) -> UploadView:
    """The worker stops within seconds. Raises NotAllowed, NotFound, Conflict."""
    with _changing(platform, user, slug, Action.CHALLENGE_CHECK) as session:
        row = _find(session, slug, number)
        if row.check_state.ended:
            raise Conflict("The upload is not being checked.")
        row.check_state, row.check_error = CheckState.FAILED, f"Stopped by {user.name}."
        row.check_lease, row.check_ended_at = None, clock(session)
        course = owners.of(session, slug)
        audit.note(session, user, Action.CHALLENGE_CHECK, _path(row), course=course, after={"stopped": True})
        return _view(session, row)


def use(platform: Platform, user: User, slug: str, number: int, body: UseBody) -> UploadDetail:
    """For display and judging. A common challenge's new version shows its board once published, others at once.
    Raises NotAllowed, NotFound, Conflict (not examined, or unproven without ``body.unproven``), ChallengeChanged,
    ChallengeInvalid."""
    ownership.check_once(platform, user, slug, Action.CHALLENGE_USE)
    with platform.sessions() as session:
        row = _find(session, slug, number)
    if row.check_state is not CheckState.PROVEN and not body.unproven:
        raise Conflict(
            f"Upload {number} is not proven: its check is {row.check_state.value}.",
            "Read its findings. You can still use it unproven, on its page.",
        )
    served = serving.serve(platform, load_upload(platform, row))
    with _changing(platform, user, slug, Action.CHALLENGE_USE) as session:
        before = uploads.in_use(session, slug)
        now = clock(session)
        uploads.use(session, slug, number, now)
        owner = owners.of(session, slug)
        if served.version < served.shown or owner is not None:
            show_board(session, slug, served.version, user.id)
        audit.note(
            session,
            user,
            Action.CHALLENGE_USE,
            _path(row),
            course=owner,
            before=_facts(before),
            after={"upload": number, "version": row.version},
        )
    platform.forget_uploads()
    return get_upload(platform, user, slug, number)


def show_board(session: Session, slug: str, version: int, by: int | None) -> None:
    if versions.shown(session, slug) != version:
        versions.publish(session, slug, version, clock(session))
        if by is not None:
            regrades.published_with(session, slug, version, by, clock(session))


def withdraw(platform: Platform, user: User, slug: str) -> UploadList:
    """Serves the folder again; without one the challenge is unpublished. Raises NotAllowed, NotFound, Conflict
    (submissions would lose their files)."""
    with _changing(platform, user, slug, Action.CHALLENGE_USE) as session:
        row = uploads.in_use(session, slug)
        if row is None:
            raise NotFound(f"No upload of '{slug[:64]}' is in use.")
        if not platform.catalogue.has_folder(slug) and any(rejudges.judgements(session, slug).values()):
            raise Conflict(
                f"{slug} has submissions, and the course has no folder for it.", "Hide the challenge instead."
            )
        uploads.use(session, slug, None, clock(session))
        state = session.get(ChallengeStateRow, slug)
        if state is not None and not platform.catalogue.has_folder(slug):
            # An old plan must not publish the next upload.
            state.state, state.publish_at = PublicationState.DRAFT, None
            state.changed_at, state.changed_by = clock(session), user.id
        course, path = owners.of(session, slug), f"/challenges/{slug}"
        audit.note(session, user, Action.CHALLENGE_USE, path, course=course, before=_facts(row), after={})
    platform.forget_uploads()
    return list_uploads(platform, user, slug)


def take_first(platform: Platform, slug: str, number: int) -> bool:
    """Makes it a draft if the slug has no other challenge. Waits for staff if the name is published or scheduled, and
    for its commit's other uploads."""
    if slug in platform.catalogue.folders():
        return False
    with writing(platform.sessions) as session:
        row = uploads.find(session, slug, number)
        if row is None or row.commit is not None:
            return False
        known = session.get(ChallengeStateRow, slug)
        if known is not None and known.state in (PublicationState.PUBLISHED, PublicationState.SCHEDULED):
            return False
        if uploads.in_use(session, slug) is None:
            uploads.use(session, slug, number, clock(session))
    platform.forget_uploads()
    return True


def _find(session: Session, slug: str, number: int) -> UploadRow:
    row = uploads.find(session, slug, number, whole=True)
    if row is None:
        raise NotFound(
            f"There is no upload {number} of '{slug[:64]}'.",
            "`grader challenge uploads` lists all uploads.",
        )
    return row


def _path(row: UploadRow) -> str:
    return f"/uploads/{row.challenge}/{row.number}"


def _facts(row: UploadRow | None) -> dict[str, int]:
    return {} if row is None else {"upload": row.number, "version": row.version}


def _names(session: Session, rows: Sequence[UploadRow]) -> dict[int, str]:
    people = {row.uploaded_by for row in rows} - {None}
    found = session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(people)))
    return {item.id: item.name for item in found}


def _view(session: Session, row: UploadRow) -> UploadView:
    return _view_of(row, row.examined is not None, _names(session, [row]))


def _view_of(row: UploadRow, examined: bool, names: dict[int, str]) -> UploadView:
    progress = CheckProgress.model_validate(row.check_progress) if row.check_progress else None
    return UploadView(
        challenge=row.challenge,
        number=row.number,
        version=row.version,
        title=row.title,
        digest=row.digest,
        size=row.size,
        files=row.files,
        note=row.note,
        commit=row.commit,
        base=row.base,
        uploaded_by=names.get(row.uploaded_by or 0),
        created_at=row.created_at,
        examined=examined,
        in_use=row.in_use,
        used_at=row.used_at,
        check=row.check_state,
        progress=progress if row.check_state is CheckState.RUNNING else None,
        error=row.check_error,
        check_began_at=row.check_began_at,
        check_ended_at=row.check_ended_at,
    )
