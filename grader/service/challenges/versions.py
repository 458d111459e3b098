"""Versions of a challenge: each always judges the same, and staff choose whose board is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from grader.challenge import fingerprint
from grader.challenge.fingerprint import Content
from grader.challenge.loader import Challenge
from grader.errors import ChallengeChanged, Conflict, NotFound
from grader.records import regrades, rejudges, versions
from grader.records.engine import writing
from grader.records.models import VersionRow, utcnow
from grader.schemas.version import ChangeView, VersionContent, VersionList, VersionView
from grader.service import audit
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

# In an error; `grader challenge diff` lists all.
_NAMED = 4


@dataclass(frozen=True)
class ServedVersion:
    """``content``: the folder's; ``shown``: the version whose board students see."""

    challenge: str
    version: int
    content: Content
    shown: int

    @property
    def fingerprint(self) -> str:
        return fingerprint.digest(self.content)

    @property
    def published(self) -> bool:
        return self.version == self.shown


def serve(platform: Platform, challenge: Challenge) -> ServedVersion:
    """Checks the folder against its version's record, or records a new version. Shows the first at once, and a later
    one if the shown one has no verdicts. Raises ChallengeChanged, ChallengeInvalid."""
    parts, version = fingerprint.content(challenge), challenge.manifest.version
    with platform.sessions() as session:
        row = versions.find(session, challenge.slug, version)
        shown = versions.shown(session, challenge.slug)
    if row is None or shown is None or not _settled(row, parts):
        shown = _note(platform, challenge, parts)
    return ServedVersion(challenge.slug, version, parts, shown)


def check_served(platform: Platform, challenge: Challenge) -> None:
    """Faster if the folder matches the record. Raises as ``serve``."""
    with platform.sessions() as session:
        row = versions.find(session, challenge.slug, challenge.manifest.version)
    if row is None or not _settled(row, fingerprint.content(challenge)):
        serve(platform, challenge)


def check_unchanged(session: Session, served: ServedVersion) -> None:
    """Until the first verdict, a changed folder replaces the record. Call it within ``writing``: it holds until the
    transaction ends. Raises ChallengeChanged."""
    row = versions.find(session, served.challenge, served.version, lock=True)
    known = json.loads(row.content) if row is not None else {}
    if not fingerprint.agree(known, served.content):
        raise _changed(served.challenge, served.version, served.content, known)


# Challenge and version -> row and content that agreed last. Comparing takes a fifth of a post's time.
_agreed: dict[tuple[str, int], tuple[str, Content]] = {}


def _settled(row: VersionRow, parts: Content) -> bool:
    if _agreed.get((row.challenge, row.version)) == (row.content, parts):
        return True
    known = json.loads(row.content)
    if not fingerprint.agree(known, parts) or not set(known) >= set(parts):
        return False
    _agreed[row.challenge, row.version] = row.content, parts
    return True


def _note(platform: Platform, challenge: Challenge, parts: Content) -> int:
    """Returns the shown version."""
    try:
        with writing(platform.sessions) as session:
            return _write(session, challenge, parts)
    except IntegrityError:
        with writing(platform.sessions) as session:
            return _write(session, challenge, parts)


def _write(session: Session, challenge: Challenge, parts: Content) -> int:
    slug, version = challenge.slug, challenge.manifest.version
    row = versions.find(session, slug, version, lock=True)
    if row is None:
        row = VersionRow(challenge=slug, version=version)
        _keep(row, parts)
        session.add(row)
    else:
        known: Content = json.loads(row.content)
        if not fingerprint.agree(known, parts):
            if versions.judged(session, slug, version):
                raise _changed(slug, version, known, parts)
            known = parts  # nothing was judged by the previous content
        _keep(row, fingerprint.merged(known, parts))
    session.flush()
    shown = versions.shown(session, slug)
    if shown is None or (version > shown and not versions.judged(session, slug, shown)):
        versions.publish(session, slug, version, utcnow())
        return version
    return shown


def content_of(row: VersionRow | None) -> Content | None:
    """None if it is unknown."""
    if row is None or row.content == "{}":
        return None
    known: Content = json.loads(row.content)
    return known


def _keep(row: VersionRow, parts: Content) -> None:
    row.content = json.dumps(parts, sort_keys=True)
    row.fingerprint = fingerprint.digest(parts)


def _changed(slug: str, version: int, known: Content, parts: Content) -> ChallengeChanged:
    found = [f"{change.part} {change.name}".strip() for change in fingerprint.changes(known, parts)]
    named = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
    return ChallengeChanged(
        f"{slug} differs from what was served as version {version}: {named} changed.",
        f"Set `version = {version + 1}` in {slug}/challenge.toml, or restore the files; "
        f"`grader challenge diff {slug} --against {version}` lists every change.",
    )


def check_staff(user: User) -> None:
    """Raises NotAllowed."""
    accounts.check_staff(user)


def list_versions(platform: Platform, user: User, slug: str) -> VersionList:
    """Oldest first. Raises NotAllowed, UnknownChallenge."""
    check_staff(user)
    present = platform.catalogue.load(slug).manifest.version
    with platform.sessions() as session:
        shown = versions.shown(session, slug)
        rows = versions.history(session, slug)
        counts = rejudges.judgements(session, slug)
    found = [
        VersionView(
            version=row.version,
            fingerprint=row.fingerprint,
            served_at=row.served_at,
            published_at=row.published_at,
            shown=row.version == shown,
            judged=counts.get(row.version, 0),
        )
        for row in rows
    ]
    return VersionList(challenge=slug, folder=present, versions=found)


def get_content(platform: Platform, user: User, slug: str, version: int) -> VersionContent:
    """Raises NotAllowed, NotFound."""
    check_staff(user)
    with platform.sessions() as session:
        row = versions.find(session, slug, version)
    if row is None or row.content == "{}":
        raise NotFound(
            f"There is no record of {slug} version {version}.",
            "`grader admin versions` lists the recorded versions.",
        )
    return VersionContent(challenge=slug, version=version, content=json.loads(row.content))


def changes_since(platform: Platform, user: User, slug: str, version: int) -> list[ChangeView]:
    """Raises NotAllowed, NotFound, ChallengeInvalid."""
    before = get_content(platform, user, slug, version).content
    after = fingerprint.content(platform.catalogue.load(slug))
    return [
        ChangeView(
            part=change.part, name=change.name, kind=change.kind, before=change.before, after=change.after
        )
        for change in fingerprint.changes(before, after)
    ]


def publish(platform: Platform, user: User, slug: str, force: bool = False) -> VersionList:
    """Other versions' results stay. Raises NotAllowed, ChallengeChanged, Conflict (already shown, or without
    ``force`` while submissions wait)."""
    check_staff(user)
    served = serve(platform, platform.catalogue.load(slug))
    with writing(platform.sessions) as session:
        versions.find(session, slug, served.version, lock=True)
        if versions.shown(session, slug) == served.version:
            raise Conflict(
                f"Version {served.version} of {slug} is shown already.", "`grader admin versions` lists all."
            )
        waiting = rejudges.unfinished(session, slug, served.version)
        if waiting and not force:
            raise Conflict(
                f"{waiting} submissions of {slug} are still being judged again under version {served.version}.",
                "Wait (`grader admin compare` shows the progress), or publish with --force: they follow later.",
            )
        before = {"shown": versions.shown(session, slug)}
        versions.publish(session, slug, served.version, utcnow())
        path, after = f"/challenges/{slug}/publish", {"shown": served.version}
        audit.note(session, user, Action.VERSION_PUBLISH, path, before=before, after=after)
        regrades.published_with(session, slug, served.version, user.id, utcnow())
    return list_versions(platform, user, slug)
