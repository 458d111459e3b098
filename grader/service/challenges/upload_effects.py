from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.challenge import bundle, fingerprint
from grader.challenge.bundle import Bundle
from grader.challenge.loader import Challenge
from grader.diff import unified
from grader.errors import ChallengeInvalid, Conflict, GraderError
from grader.records import owners, rejudges, uploads, versions
from grader.records.models import BaselineRow, UploadRow
from grader.schemas.upload import BaselineView
from grader.schemas.version import ChangeView
from grader.service.challenges import versions as serving
from grader.service.platform import Platform

_DIFF_LINES = 2_000


@dataclass(frozen=True)
class Effect:
    changes: list[ChangeView]
    means: list[str]
    usable: bool


def effect_of(platform: Platform, row: UploadRow, before: Bundle | None) -> Effect:
    """``before``: in use now."""
    try:
        new = fingerprint.content(load_upload(platform, row))
    except Conflict as error:
        return Effect([], [error.message], False)
    except GraderError as error:
        return Effect([], [error.message, error.hint], False)
    slug, version = row.challenge, row.version
    with platform.sessions() as session:
        recorded = versions.find(session, slug, version)
        judged = rejudges.judgements(session, slug)
        shown = versions.shown(session, slug)
        owned = owners.of(session, slug) is not None
    known = serving.content_of(recorded)
    if known is not None and not fingerprint.agree(known, new) and judged.get(version):
        said = fingerprint.changes(known, new)
        means = [
            f"It is judged differently from what was served as version {version}, under which {judged[version]} "
            f"submissions have a verdict. Set version = {max([*judged, version]) + 1} in challenge.toml and upload it "
            "again."
        ]
        return Effect(changes_of(said), means, False)
    if before is None:
        return Effect([], ["It is new: a draft that only staff see until it is published."], True)
    try:
        old = fingerprint.content(platform.catalogue.load(slug))
    except ChallengeInvalid as error:
        return Effect(
            [], [f"The challenge in use is broken ({error.message}), so it cannot be compared."], True
        )
    found = fingerprint.changes(old, new)
    present = before.manifest.version
    means = list(_means(bool(found), present, version, shown, judged, owned))
    return Effect(changes_of(found), means, True)


def _means(
    differs: bool, present: int, version: int, shown: int | None, judged: dict[int, int], owned: bool
) -> Iterator[str]:
    if not differs and version == present:
        yield "Judging stays the same: verdicts, times and ranks stay."
        return
    if version == present:
        yield "This version has no verdicts yet, so its cases and times may still change."
        return
    if not differs:
        yield "It is judged the same way under another version, which has a board of its own without entries."
    if version < present:
        yield (
            f"It goes back to version {version}: new submissions are judged by it, and its board "
            f"({judged.get(version, 0)} verdicts) is shown again. Results of version {present} stay."
        )
        return
    yield f"New submissions are judged by version {version}, with baselines that each GPU measures again."
    if owned:
        yield f"The board of version {version} is shown at once; results of version {present} stay."
    elif judged.get(shown or present):
        yield (
            f"The board of version {shown} and its ranks are shown until version {version} is "
            f"published. Before that, {judged[shown or present]} submissions can be judged again "
            "under it, which shows whose "
            "rank changes."
        )
    else:
        yield "The version before has no verdicts, so the new board is shown at once."


def changes_of(found: list[fingerprint.ContentChange]) -> list[ChangeView]:
    return [
        ChangeView(part=item.part, name=item.name, kind=item.kind, before=item.before, after=item.after)
        for item in found
    ]


def current(platform: Platform, slug: str) -> tuple[str, Bundle | None]:
    """None without a readable one."""
    with platform.sessions() as session:
        row = uploads.in_use(session, slug)
    if row is not None:
        return f"upload {row.number}, version {row.version}", bundle.read_archive(row.archive)
    if slug not in platform.catalogue.folders():
        return "", None
    try:
        found = bundle.of_challenge(platform.catalogue.load(slug))
    except GraderError:
        return "the course's folder, which is broken", None
    return f"the course's folder, version {found.manifest.version}", found


def present_version(platform: Platform, slug: str) -> int | None:
    try:
        return platform.catalogue.load(slug).manifest.version
    except GraderError:
        return None


def text_diff(before: str, after: str) -> list[str]:
    return list(unified(before.splitlines(), after.splitlines(), "theirs", "yours"))[:_DIFF_LINES]


def spec_diff(before: Bundle | None, after: Bundle) -> list[str]:
    old = before.text(before.spec_path).splitlines() if before is not None else []
    return list(unified(old, after.text(after.spec_path).splitlines(), "in use", "this upload"))[:_DIFF_LINES]


def file_changes(before: Bundle | None, after: Bundle) -> list[ChangeView]:
    """Paths and sizes only."""
    old = before.files if before is not None else {}
    found = []
    for path in sorted({*old, *after.files}):
        one, other = old.get(path), after.files.get(path)
        if one != other:
            sizes = [None if content is None else len(content) for content in (one, other)]
            found.append(
                ChangeView(
                    part="file",
                    name=path,
                    kind="added" if one is None else "removed" if other is None else "changed",
                    before=sizes[0],
                    after=sizes[1],
                )
            )
    return found


def baselines_of(session: Session, slug: str, version: int | None) -> list[BaselineView]:
    rows = session.scalars(
        select(BaselineRow)
        .where(BaselineRow.challenge == slug, BaselineRow.version == version)
        .order_by(BaselineRow.device_model, BaselineRow.workload, BaselineRow.baseline)
    )
    return [
        BaselineView(
            workload=row.workload, baseline=row.baseline, device_model=row.device_model, time_us=row.time_us
        )
        for row in rows
    ]


def load_upload(platform: Platform, row: UploadRow) -> Challenge:
    """Runs nothing of it. Raises Conflict, ChallengeInvalid."""
    if row.examined is None:
        raise Conflict(
            "No worker has examined the upload yet, so its cases are unknown.",
            "Its check shows the progress.",
        )
    return platform.catalogue.load_at(platform.upload_folder(row), row.challenge)
