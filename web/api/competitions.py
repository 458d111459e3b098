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

api = resource("competitions", "Competitions")


class CompetitionPath(BaseModel):
    slug: str


class TeamPath(CompetitionPath):
    team: str


class CodePath(TeamPath):
    challenge: str


class CompetitionBoardQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    device: str | None = Field(
        default=None, description="one of the competition's devices; default: the first"
    )
    kind: BoardKind | None = Field(
        default=None,
        description="while it is frozen, live and final are for staff; default: what you may see",
    )
    mode: Mode = Field(
        default=Mode.OFFICIAL,
        description="virtual: your virtual participation, among the others at the same time",
    )


@api.get("/competitions", responses={200: CompetitionList})
@open_to(READERS)
def list_competitions() -> Response:
    """Competitions, newest first; drafts for staff only."""
    return answer(competitions.list_competitions(platform(), viewer()))


@api.post("/competitions", responses={201: CompetitionView, 409: ErrorEnvelope})
@open_to(STAFF)
def create_competition(body: CompetitionBody) -> Response:
    """Create a draft (staff only)."""
    return answer(competitions.create_competition(platform(), current_user(), body), 201)


@api.get("/competitions/<slug>", responses={200: CompetitionView})
@open_to(READERS)
def get_competition(path: CompetitionPath) -> Response:
    """Rules and times, and the caller's teams."""
    return answer(competitions.get_competition(platform(), viewer(), path.slug))


@api.post("/competitions/<slug>", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def edit_competition(path: CompetitionPath, body: CompetitionBody) -> Response:
    """Replace the definition (staff only). 409 if it changed since the `revision` in the body."""
    return answer(competitions.edit_competition(platform(), current_user(), path.slug, body))


@api.delete("/competitions/<slug>", responses={204: None, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def delete_competition(path: CompetitionPath) -> Response:
    """Delete a competition without submissions (staff only)."""
    competitions.delete_competition(platform(), current_user(), path.slug)
    return Response(status=204)


@api.get("/competitions/<slug>/definition", responses={200: CompetitionBody})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def get_competition_definition(path: CompetitionPath) -> Response:
    """The definition as an edit sends it, with hidden workloads (staff only)."""
    return answer(competitions.body_of(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/publish", responses={200: CompetitionView})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def publish_competition(path: CompetitionPath) -> Response:
    """Show a draft to everyone (staff only). Repeating it is not an error."""
    return answer(competitions.publish_competition(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/invite-code", responses={200: CompetitionView})
@open_to(PARTY, in_competition(Action.COMPETITION_EDIT))
def renew_invite_code(path: CompetitionPath) -> Response:
    """Replace the invitation code; the old one stops working (staff only)."""
    return answer(competitions.renew_invite_code(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/register", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_ENTER))
def register(path: CompetitionPath, body: RegisterBody) -> Response:
    """Take part, in a new team or with `join_code` in an existing one. Repeating it is not an error."""
    user = current_user()
    with throttle.team_code(body.join_code or body.invite_code or ""):
        return answer(teams.register(platform(), user, path.slug, body))


@api.post("/competitions/<slug>/leave", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_ENTER))
def leave(path: CompetitionPath, body: ModeBody) -> Response:
    """Leave your team. You cannot return after the start, and your submissions stay with the team."""
    return answer(teams.leave(platform(), current_user(), path.slug, body.mode))


@api.get("/competitions/<slug>/board", responses={200: CompetitionBoard, 409: ErrorEnvelope})
@open_to(READERS)
def get_competition_board(path: CompetitionPath, query: CompetitionBoardQuery) -> Response:
    """The board. Poll it with If-None-Match, every few seconds at most."""
    asked = (platform(), viewer(), path.slug, query.device, query.kind, query.mode)
    return conditional_on(competition_boards.facts(*asked), lambda: answer(competition_boards.board(*asked)))


@api.get("/competitions/<slug>/teams", responses={200: TeamList})
@open_to(PARTY, in_competition(Action.COMPETITION_DISQUALIFY))
def list_teams(path: CompetitionPath) -> Response:
    """Teams and their members, including those disqualified or without submissions (staff only)."""
    return answer(teams.list_teams(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/disqualify", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_DISQUALIFY))
def disqualify(path: CompetitionPath, body: DisqualifyBody) -> Response:
    """Take a team off the boards, with a reason shown to the team; or put it back (staff only)."""
    return answer(teams.disqualify(platform(), current_user(), path.slug, body))


@api.post("/competitions/<slug>/finalists", responses={200: FinalView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_FINAL))
def choose_finalists(path: CompetitionPath, body: FinalistsBody) -> Response:
    """Choose the teams to judge again in the final (staff only)."""
    return answer(finals.choose_finalists(platform(), current_user(), path.slug, body))


@api.get("/competitions/<slug>/final", responses={200: FinalView})
@open_to(READERS)
def get_final(path: CompetitionPath) -> Response:
    """The final's progress, its repeats, and rank changes between them. For staff; for everyone once the results are
    out."""
    return cheap(finals.get_final(platform(), viewer(), path.slug))


@api.post("/competitions/<slug>/final", responses={200: FinalView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_FINAL))
def start_final(path: CompetitionPath, body: FinalBody) -> Response:
    """Judge every finalist again, several times, on hidden seeds and one machine (staff only). Repeating the call
    with the same body queues only entries that the platform failed to judge."""
    return answer(finals.start_final(platform(), current_user(), path.slug, body))


@api.post("/competitions/<slug>/final/cancel", responses={200: FinalView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_FINAL))
def cancel_final(path: CompetitionPath) -> Response:
    """Cancel a final; its judgements do not count (staff only)."""
    return answer(finals.cancel_final(platform(), current_user(), path.slug))


@api.post("/competitions/<slug>/results", responses={200: CompetitionView, 409: ErrorEnvelope})
@open_to(PARTY, in_competition(Action.COMPETITION_RESULTS))
def publish_results(path: CompetitionPath) -> Response:
    """Show everyone the results (staff only). Repeating it is not an error."""
    return answer(finals.publish_results(platform(), current_user(), path.slug))


@api.get("/competitions/<slug>/teams/<team>/code/<challenge>", responses={200: SourceView})
@open_to(READERS)
def get_code(path: CodePath) -> Response:
    """The counting source, if the rules publish it and the results are out."""
    return answer(finals.get_code(platform(), viewer(), path.slug, path.team, path.challenge))


@api.get(
    "/competitions/<slug>/teams/<team>/certificate", responses={200: SignedCertificate, 409: ErrorEnvelope}
)
@open_to(READERS)
def get_certificate(path: TeamPath) -> Response:
    """The signed certificate of a finalist's result; `grader verify` checks it without a server."""
    found = certificates.get_certificate(platform(), viewer(), path.slug, path.team)
    # Byte for byte as signed: a model could format a number differently.
    return Response(json.dumps(found, indent=2, ensure_ascii=False), mimetype="application/json")


@api.get("/signing-key", responses={200: SigningKey})
@open_to(ANYONE)
def get_signing_key() -> Response:
    """The public key of this platform's certificates."""
    return answer(certificates.signing_key(platform()))
