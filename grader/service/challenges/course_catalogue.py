from __future__ import annotations

from sqlalchemy.orm import Session

from grader.errors import NotFound
from grader.records import catalogue_sources, owners, publications, uploads
from grader.records.engine import clock, writing
from grader.records.models import CatalogueSourceRow, CourseRow
from grader.schemas.course_catalogue import (
    CatalogueChallenge,
    CourseCatalogue,
    HookView,
    RepositoryBody,
    RepositoryView,
)
from grader.schemas.upload import SyncState
from grader.service.accounts.accounts import User
from grader.service.accounts.keys import digest, new_key
from grader.service.challenges import git_tree
from grader.service.courses import courses
from grader.service.courses.courses import OpenCourse
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.wakeups import CHECK

HOOK = "/api/v1/hooks/catalogue/"


def get_catalogue(platform: Platform, user: User, course: str) -> CourseCatalogue:
    """Raises NotFound, NotAllowed."""
    with courses.reading(platform, user, course, Action.CATALOGUE_READ) as opened:
        return _view(opened.session, opened.row)


def set_source(platform: Platform, user: User, course: str, body: RepositoryBody) -> CourseCatalogue:
    """Fetches nothing yet. The webhook's address stays. Raises NotFound, NotAllowed, BadRequest, Conflict."""
    remote = git_tree.parse_remote(body.url, body.branch, platform.settings.git_host_list)
    with courses.changing(platform, user, course, Action.CATALOGUE_EDIT) as opened:
        session = opened.session
        row = catalogue_sources.find(session, opened.row.id, lock=True)
        before = _facts(row)
        if row is None:
            row = CatalogueSourceRow(course_id=opened.row.id, attempt=0, error="")
            session.add(row)
        elif not remote.credential and row.url == remote.url:
            remote = git_tree.Remote(remote.url, remote.branch, row.credential)
        row.url, row.branch, row.credential = remote.url, remote.branch, remote.credential
        row.prefix = body.prefix
        row.state, row.error, row.lease = SyncState.NEW, "", None
        row.attempt += 1
        session.flush()
        _note(opened, before, _facts(row))
        return _view(session, opened.row)


def remove_source(platform: Platform, user: User, course: str) -> CourseCatalogue:
    """Its challenges stay. Raises NotFound, NotAllowed, Conflict."""
    with courses.changing(platform, user, course, Action.CATALOGUE_EDIT) as opened:
        row = _find(opened)
        _note(opened, _facts(row), {})
        opened.session.delete(row)
        opened.session.flush()
        return _view(opened.session, opened.row)


def make_hook(platform: Platform, user: User, course: str, base: str) -> HookView:
    """Replaces the address. Raises NotFound, NotAllowed, Conflict."""
    key = new_key()
    with courses.changing(platform, user, course, Action.CATALOGUE_EDIT) as opened:
        _find(opened).hook_sha256 = digest(key)
        _note(opened, None, {"webhook": "new"})
    return HookView(url=f"{base}{HOOK}{key}")


def synchronise(platform: Platform, user: User, course: str) -> CourseCatalogue:
    """Raises NotFound, NotAllowed, Conflict."""
    with courses.changing(platform, user, course, Action.CATALOGUE_EDIT) as opened:
        row = _find(opened)
        catalogue_sources.order(row, user.id, clock(opened.session))
        _note(opened, None, {"synchronise": row.branch})
        opened.session.flush()
        found = _view(opened.session, opened.row)
    platform.wakeups.enqueue(CHECK)
    return found


def hook_called(platform: Platform, key: str) -> None:
    """Ignores the body. Raises NotFound."""
    with writing(platform.sessions) as session:
        row = catalogue_sources.of_hook(session, digest(key))
        course = session.get(CourseRow, row.course_id) if row is not None else None
        if row is None or course is None or course.archived_at is not None:
            raise NotFound("No webhook has this address.", "Its course may have made another one.")
        catalogue_sources.order(row, None, clock(session))
    platform.wakeups.enqueue(CHECK)


def _find(opened: OpenCourse) -> CatalogueSourceRow:
    row = catalogue_sources.find(opened.session, opened.row.id, lock=True)
    if row is None:
        raise NotFound(f"Course {opened.row.slug} has no repository.", "Name its address and branch first.")
    return row


def _note(opened: OpenCourse, before: dict[str, str] | None, after: dict[str, str]) -> None:
    opened.note(Action.CATALOGUE_EDIT, "/catalogue/source", before=before, after=after)


def _facts(row: CatalogueSourceRow | None) -> dict[str, str]:
    return {} if row is None else {"url": row.url, "branch": row.branch, "prefix": row.prefix}


def _view(session: Session, course: CourseRow) -> CourseCatalogue:
    states, now = publications.states(session), clock(session)
    found = []
    for slug, rows in uploads.by_challenge(session, owners.of_course(session, course.id)).items():
        newest, in_use = rows[-1], next((row for row in rows if row.in_use), None)
        found.append(
            CatalogueChallenge(
                challenge=slug,
                title=(in_use or newest).title,
                state=publications.state_at(states.get(slug), now),
                in_use=in_use.number if in_use is not None else None,
                version=in_use.version if in_use is not None else None,
                newest=newest.number,
                check=newest.check_state,
            )
        )
    row = catalogue_sources.find(session, course.id)
    source = None if row is None else _source(row)
    return CourseCatalogue(course=course.slug, challenges=found, source=source)


def _source(row: CatalogueSourceRow) -> RepositoryView:
    return RepositoryView(
        url=row.url,
        branch=row.branch,
        prefix=row.prefix,
        private=bool(row.credential),
        hook=row.hook_sha256 is not None,
        state=row.state,
        error=row.error,
        asked_at=row.asked_at,
        commit=row.commit,
        served_commit=row.served_commit,
        served_at=row.served_at,
    )
