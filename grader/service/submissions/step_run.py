from __future__ import annotations

from grader.errors import BadRequest
from grader.schemas.own_case import OwnCase, StepChoice
from grader.schemas.submission import RunBody, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions import run as running
from grader.service.submissions import submissions


def step_run(
    platform: Platform, user: User, submission: str, case: str, choice: StepChoice
) -> SubmissionView:
    """Runs the source again on a public case, with the same data, as ``user``, and records ``choice``. Raises
    NotFound, BadRequest (a case that it did not run), Conflict (another version), and as ``run``."""
    report = submissions.get_report(platform, user, submission)
    known = next(
        (each for each in report.cases if each.name == case and not each.hidden and each.on is None), None
    )
    if known is None:
        raise BadRequest(f"The submission ran no public case '{case[:100]}'.", "Choose one of the list.")
    with platform.sessions() as session:
        row = submissions.find(session, user, submission)
        own = OwnCase.model_validate_json(row.own_case) if row.own_case is not None else OwnCase(name=case)
        asked = own.model_copy(update={"step": choice, "seed": known.seed, "version": row.version})
        body = RunBody(
            challenge=row.challenge,
            language=row.language,
            source=row.source,
            filename=row.filename,
            device=row.device,
            case=asked,
        )
    return running.run(platform, user, body)
