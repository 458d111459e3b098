"""What lies on somebody's desk when they open a challenge: their code, and what the compiler said of it last."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from grader.errors import GraderError
from grader.schemas.challenge import ChallengeDetail
from grader.schemas.diagnostic import DiagnosticList
from grader.service import diagnostics, drafts, submissions
from grader.service.accounts import User
from grader.service.platform import Platform


@dataclass(frozen=True)
class Workspace:
    """``sources`` are shown, by language, and ``language`` first. ``kept``: when the server kept that source, as the
    API says it in ``updated_at``; empty where it is no draft.
    """

    challenge: ChallengeDetail
    sources: dict[str, str]
    language: str
    kept: dict[str, str] = field(default_factory=dict)
    said: DiagnosticList | None = None


def empty(challenge: ChallengeDetail) -> Workspace:
    """The starters, and the first language that can be judged here."""
    first = str(next(iter(challenge.served), challenge.languages[0]))
    return Workspace(challenge, dict(challenge.starters), first)


def of_user(platform: Platform, user: User, challenge: ChallengeDetail, submission: str | None) -> Workspace:
    """The drafts of ``user``, and the messages on ``submission``, or on what was handed in last."""
    workspace = empty(challenge)
    own = drafts.of_challenge(platform, user, challenge.slug)
    said = _said(platform, user, challenge.slug, submission)
    latest = max(own.values(), key=lambda draft: draft.updated_at, default=None)
    language = (
        said.language if said is not None else latest.language if latest is not None else workspace.language
    )
    return Workspace(
        challenge,
        workspace.sources
        | {str(name): draft.source for name, draft in own.items() if name in workspace.sources},
        language if language in challenge.served else workspace.language,
        {str(name): draft.model_dump(mode="json")["updated_at"] for name, draft in own.items()},
        said,
    )


def _said(platform: Platform, user: User, slug: str, submission: str | None) -> DiagnosticList | None:
    if submission is not None:
        # An address that was kept, or made up, opens the editor all the same.
        with suppress(GraderError):
            if submissions.get_submission(platform, user, submission).challenge == slug:
                return diagnostics.of_submission(platform, user, submission)
    return diagnostics.latest(platform, user, slug)
