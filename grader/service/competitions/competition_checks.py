from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import Any

from sqlalchemy import select

from grader.challenge.model import check_sizes
from grader.deadlines import find_zone
from grader.device_kinds import serves
from grader.errors import BadRequest, Conflict
from grader.languages import Language, names
from grader.records import competition_draws, owners
from grader.records import competitions as record
from grader.records.models import (
    SubmissionRow,
)
from grader.schemas.competition import (
    ChallengeBody,
    CompetitionBody,
)
from grader.service.competitions.open_competition import OpenCompetition
from grader.service.devices import served_devices
from grader.service.platform import Platform


@dataclass(frozen=True)
class Checked:
    devices: list[str]
    languages: list[str]


def check_body(platform: Platform, body: CompetitionBody) -> Checked:
    if body.slug == "new":
        raise BadRequest("The slug 'new' is reserved.", "Choose another slug.")
    _check_times(body)
    served = served_devices(platform)
    devices = list(dict.fromkeys(body.devices)) or served
    if odd := [device for device in devices if device not in served]:
        raise BadRequest(f"This platform has no device '{odd[0][:32]}'.", f"Devices: {', '.join(served)}.")
    try:
        languages = [Language.named(language) for language in dict.fromkeys(body.languages)] or list(Language)
    except ValueError as error:
        raise BadRequest(str(error), f"Languages: {names()}.") from error
    languages = [language for language in languages if any(serves(device, language) for device in devices)]
    if not languages:
        raise BadRequest("None of the chosen devices runs any of the chosen languages.")
    with platform.sessions() as session:
        owned = owners.everything(session)
    for challenge in body.challenges:
        if challenge.challenge in owned:
            raise BadRequest(
                f"{challenge.challenge} belongs to a course, whose members alone may see it.",
                "A competition takes common challenges.",
            )
        manifest = platform.catalogue.load(challenge.challenge).manifest
        if not set(manifest.languages) & set(languages):
            raise BadRequest(f"{challenge.challenge} takes none of the competition's languages.")
        _check_workloads(manifest, challenge)
    return Checked(devices, [language.value for language in languages])


def _check_times(body: CompetitionBody) -> None:
    zone = find_zone(body.time_zone)
    for name, at in (("starts_at", body.starts_at), ("ends_at", body.ends_at)):
        try:
            at.astimezone(UTC).astimezone(zone)
        except OverflowError as error:
            raise BadRequest(
                f"{name}: {at.isoformat()} is too far from today.",
                "Write it like this: 2027-03-01T09:00:00+01:00.",
            ) from error


def _check_workloads(manifest: Any, body: ChallengeBody) -> None:
    named = {workload.name: workload.sizes for workload in manifest.workloads}
    seen = set()
    for wanted in body.hidden_workloads:
        try:
            check_sizes(manifest, dict(wanted.sizes), f"{body.challenge}: hidden workload")
        except ValueError as error:
            raise BadRequest(str(error)) from error
        if wanted.name in seen:
            raise BadRequest(f"{body.challenge}: the sizes {wanted.name} appear twice.")
        seen.add(wanted.name)
        # A baseline is stored under this name.
        if named.get(competition_draws.workload_name(wanted.sizes), wanted.sizes) != wanted.sizes:
            raise BadRequest(f"{body.challenge}: {wanted.name} is the name of a workload with other sizes.")


def check_removed(found: OpenCompetition, body: CompetitionBody, checked: Checked) -> None:
    """Raises Conflict if something with submissions or in a final would be removed."""
    used = found.session.execute(
        select(SubmissionRow.challenge, SubmissionRow.device, SubmissionRow.language)
        .where(SubmissionRow.competition_id == found.row.id)
        .distinct()
    ).all()
    kept = {challenge.challenge for challenge in body.challenges}
    if gone := sorted({submission.challenge for submission in used} - kept):
        raise Conflict(f"Teams have submitted for {gone[0]}, so it stays in the competition.")
    if body.devices and (gone := sorted({submission.device for submission in used} - set(body.devices))):
        raise Conflict(f"Teams have submitted on {gone[0]}, so it stays in the competition.")
    if gone := sorted({submission.language.value for submission in used} - set(checked.languages)):
        raise Conflict(f"Teams have submitted in {gone[0]}, so it stays in the competition.")
    if record.final(found.session, found.row.id) is not None:
        raise Conflict("Its final has begun.", "Cancel the final first; its judgements then do not count.")
