"""Competitions: rules, teams, boards; for staff also what they make and run; certificates, and the key they are signed
with."""

from __future__ import annotations

import json

from flask import Response
from pydantic import BaseModel, ConfigDict, Field

from grader.schemas.certificate import SignedCertificate, SigningKey
from grader.schemas.competition import (
    BoardKind,
    CompetitionBoard,
    CompetitionBody,
    CompetitionList,
    CompetitionView,
    DisqualifyBody,
    FinalBody,
    FinalistsBody,
    FinalView,
    Mode,
    ModeBody,
    RegisterBody,
    TeamList,
)
from grader.schemas.submission import ErrorEnvelope, SourceView
from grader.service.competitions import certificates, competition_boards, competitions, finals, teams
from grader.service.courses.permissions import Action
from grader.web import throttle
from grader.web.access import ANYONE, PARTY, READERS, STAFF, in_competition, open_to
from grader.web.answers import answer, cheap, conditional_on
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform

# Whoever may read boards reads these; what changes one asks first.
api = resource("competitions", "Competitions")


class CompetitionPath(BaseModel):
    slug: str


class TeamPath(CompetitionPath):
    team: str


class CodePath(TeamPath):
    challenge: str


class CompetitionBoardQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    device: str | None = Field(default=None, description="one of the competition's; its first when absent")
    kind: BoardKind | None = Field(
        default=None,
        description="while it is frozen, live and final are for staff; when absent, what one may see",
    )
    mode: Mode = Field(
        default=Mode.OFFICIAL,
        description="virtual: one's own virtual participation among the others as they stood then",
    )


@api.get("/competitions", responses={200: CompetitionList})
@open_to(READERS)
def list_competitions() -> Response:
    """The newest first; drafts for staff alone."""
    return answer(competitions.list_competitions(platform(), viewer()))


@api.post("/competitions", responses={201: CompetitionView, 409: ErrorEnvelope})
@open_to(STAFF)
def create_competition(body: CompetitionBody) -> Response:
    """Make a draft (staff only)."""
    return answer(competitions.create_competition(platform(), current_user(), body), 201)


@api.get("/competitions/<slug>", responses={200: CompetitionView})
@open_to(READERS)
def get_competition(path: CompetitionPath) -> Response:
    """Its rules and times, and the teams that one is in."""
    return answer(competitions.get_competition(platform(), viewer(), path.slug))


@api.post("/competitions/<slug>", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def edit_competition(path: CompetitionPath, body: CompetitionBody) -> Response:
    """Change all of it at once (staff only). 409: somebody changed it since the `revision` that is sent."""
    return answer(competitions.edit_competition(platform(), current_user(), path.slug, body))


@api.delete("/competitions/<slug>", responses={204: None, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def delete_competition(path: CompetitionPath) -> Response:
    """Remove one in which nothing was submitted (staff only)."""
    competitions.delete_competition(platform(), current_user(), path.slug)
    return Response(status=204)


@api.get("/competitions/<slug>/definition", responses={200: CompetitionBody})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def get_competition_definition(path: CompetitionPath) -> Response:
    """What one would send to leave it as it is, hidden workloads included (staff only)."""
    return answer(competitions.body_of(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/publish", responses={200: CompetitionView})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def publish_competition(path: CompetitionPath) -> Response:
    """Show a draft to everyone (staff only). Doing so twice is no error."""
    return answer(competitions.publish_competition(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/invite-code", responses={200: CompetitionView})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def renew_invite_code(path: CompetitionPath) -> Response:
    """Take another code for invitations; the old one lets nobody in any more (staff only)."""
    return answer(competitions.renew_invite_code(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/register", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_ENTER))
def register(path: CompetitionPath, body: RegisterBody) -> Response:
    """Take part: in a team of one's own, or by `join_code` in another's. Doing so twice is no error."""
    user = current_user()
    with throttle.team_code(body.join_code or body.invite_code or ""):
        return answer(teams.register(platform(), user, path.slug, body))


@api.post("/competitions/<slug>/leave", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_ENTER))
def leave(path: CompetitionPath, body: ModeBody) -> Response:
    """Leave one's team. After the start that is for good, and what one submitted stays the team's."""
    return answer(teams.leave(platform(), current_user(), path.slug, body.mode))


@api.get("/competitions/<slug>/board", responses={200: CompetitionBoard, 409: ErrorEnvelope})
@open_to(READERS)
def get_competition_board(path: CompetitionPath, query: CompetitionBoardQuery) -> Response:
    """Who stands where. Poll it with If-None-Match, every few seconds at most."""
    asked = (platform(), viewer(), path.slug, query.device, query.kind, query.mode)
    return conditional_on(competition_boards.facts(*asked), lambda: answer(competition_boards.board(*asked)))


@api.get("/competitions/<slug>/teams", responses={200: TeamList})
@open_to(PARTY, in_competition(Action.COMPETITION_DISQUALIFY))
def list_teams(path: CompetitionPath) -> Response:
    """Its teams with their members, also those that are disqualified or submitted nothing (staff only)."""
    return answer(teams.list_teams(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/disqualify", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_DISQUALIFY))
def disqualify(path: CompetitionPath, body: DisqualifyBody) -> Response:
    """Take a team off the boards, with a reason that it reads; or put it back (staff only)."""
    return answer(teams.disqualify(platform(), current_user(), path.slug, body))


@api.post("/competitions/<slug>/finalists", responses={200: FinalView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_FINAL))
def choose_finalists(path: CompetitionPath, body: FinalistsBody) -> Response:
    """Say who is judged again in the final (staff only)."""
    return answer(finals.choose_finalists(platform(), current_user(), path.slug, body))


@api.get("/competitions/<slug>/final", responses={200: FinalView})
@open_to(READERS)
def get_final(path: CompetitionPath) -> Response:
    """How far the final is, every repeat of it, and how ranks changed between them: for staff, and for everyone once
    the results are out."""
    return cheap(finals.get_final(platform(), viewer(), path.slug))


@api.post("/competitions/<slug>/final", responses={200: FinalView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_FINAL))
def start_final(path: CompetitionPath, body: FinalBody) -> Response:
    """Judge every finalist again, on hidden seeds, several times, on one machine (staff only). Once more with the same
    words, it queues again what the platform failed to judge, and nothing else."""
    return answer(finals.start_final(platform(), current_user(), path.slug, body))


@api.post("/competitions/<slug>/final/cancel", responses={200: FinalView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_FINAL))
def cancel_final(path: CompetitionPath) -> Response:
    """Give a final up; what it judged is worth nothing (staff only)."""
    return answer(finals.cancel_final(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/results", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_RESULTS))
def publish_results(path: CompetitionPath) -> Response:
    """Show everyone the results (staff only). Doing so twice is no error."""
    return answer(finals.publish_results(platform(), current_user(), path.slug))


@api.get("/competitions/<slug>/teams/<team>/code/<challenge>", responses={200: SourceView})
@open_to(READERS)
def get_code(path: CodePath) -> Response:
    """The source that counts, where the rules show it and the results are out."""
    return answer(finals.get_code(platform(), viewer(), path.slug, path.team, path.challenge))


@api.get(
    "/competitions/<slug>/teams/<team>/certificate", responses={200: SignedCertificate, 409: ErrorEnvelope}
)
@open_to(READERS)
def get_certificate(path: TeamPath) -> Response:
    """The signed certificate of a finalist's result; `grader verify` checks it without a server."""
    found = certificates.get_certificate(platform(), viewer(), path.slug, path.team)
    # As it was signed: through a model a number could come out otherwise.
    return Response(json.dumps(found, indent=2, ensure_ascii=False), mimetype="application/json")


@api.get("/signing-key", responses={200: SigningKey})
@open_to(ANYONE)
def get_signing_key() -> Response:
    """The public key that certificates of this platform are signed with. Everyone may read it."""
    return answer(certificates.signing_key(platform()))
