from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.deadlines import find_zone, parse_moment
from grader.errors import BadRequest, GraderError, NotAllowed
from grader.formats import duration, points
from grader.languages import Language
from grader.schemas.competition import (
    BoardKind,
    ChallengeBody,
    CompetitionBody,
    CompetitionView,
    DisqualifyBody,
    FinalBody,
    FinalistsBody,
    Mode,
    Phase,
    RegisterBody,
    Registration,
    Scoring,
)
from grader.service.competitions import certificates, competition_boards, competitions, finals, teams
from grader.service.devices import served_devices
from grader.web import forms, throttle
from grader.web.access import ANYONE, PARTY, READERS, STAFF, open_to
from grader.web.answers import conditional_on
from grader.web.auth.identity import current_user, is_staff, viewer
from grader.web.current import platform
from grader.web.pages import code, markdown
from grader.web.pages.formats import factor

pages = Blueprint("competitions", __name__)

# A class behind one address must not flood the server.
_PACE_MS = 5000


@pages.get("/competitions")
@open_to(READERS)
def index() -> str:
    """All competitions, newest first."""
    found = competitions.list_competitions(platform(), viewer()).competitions
    return render_template("competition/index.html", found=found)


@pages.get("/competitions/new")
@open_to(STAFF)
def new() -> str:
    """A form for a new competition. For staff."""
    _check_staff()
    return _form(None, {}, None)


@pages.post("/competitions")
@open_to(STAFF)
def create() -> BaseResponse | tuple[str, int]:
    """Create a competition as a draft. For staff."""
    _check_staff()
    try:
        made = competitions.create_competition(platform(), current_user(), _body(request.form))
    except GraderError as error:
        return _form(None, request.form, error), error.status
    return redirect(url_for("competitions.manage", slug=made.slug), 303)


@pages.get("/competitions/<slug>")
@open_to(READERS)
def show(slug: str) -> str:
    """Rules, times, registration and your team."""
    return _page(slug, None)


@pages.post("/competitions/<slug>/register")
@open_to(PARTY)
def register(slug: str) -> BaseResponse | tuple[str, int]:
    """Create a team, or join one."""
    given = {key: value for key in ("team", "join_code", "invite_code") if (value := request.form.get(key))}

    def enter() -> None:
        with throttle.team_code(given.get("join_code") or given.get("invite_code") or ""):
            teams.register(platform(), current_user(), slug, _registration(given))

    return _do(slug, enter)


@pages.post("/competitions/<slug>/leave")
@open_to(PARTY)
def leave(slug: str) -> BaseResponse | tuple[str, int]:
    """Leave your team."""
    return _do(slug, lambda: teams.leave(platform(), current_user(), slug, _mode(request.form.get("mode"))))


@pages.get("/competitions/<slug>/board")
@open_to(READERS)
def board(slug: str) -> str:
    """The board; ?device=, ?kind= and ?mode= choose another."""
    return render_template("competition/board.html", pace_ms=_PACE_MS, **_board(slug))


@pages.get("/competitions/<slug>/board/rows")
@open_to(READERS)
def rows(slug: str) -> Response:
    """The part of the board's page that changes; 304 while it does not. ?screen=1 gives the big screen's."""
    facts = competition_boards.facts(platform(), viewer(), slug, *_asked(), public=_on_screen())
    return conditional_on(
        facts, lambda: make_response(render_template("competition/_rows.html", **_board(slug)))
    )


@pages.get("/competitions/<slug>/screen")
@open_to(READERS)
def screen(slug: str) -> str:
    """The board for a projector: large, and only what the public may see. Staff reveal the frozen ranks on it, one
    by one."""
    device = request.args.get("device") or None
    view = competitions.get_competition(platform(), viewer(), slug)
    before = competition_boards.board(platform(), viewer(), slug, device, public=True)
    after = None
    # Revealed ranks are for staff until the results are out.
    if view.phase is Phase.RESULTS or (view.phase is Phase.ENDED and is_staff()):
        after = competition_boards.board(platform(), viewer(), slug, device, BoardKind.FINAL)
        before = competition_boards.board(platform(), viewer(), slug, device, BoardKind.FROZEN, public=True)
    return render_template(
        "competition/screen.html",
        view=view,
        board=before,
        after=after,
        data=json.dumps(
            {"before": _plain(before), "after": _plain(after), "resolution": after.resolution}
            if after is not None
            else None
        ),
        pace_ms=_PACE_MS,
        device=device,
        kind=None,
        mode=Mode.OFFICIAL,
    )


@pages.get("/competitions/<slug>/teams/<team>/code/<challenge>")
@open_to(READERS)
def show_code(slug: str, team: str, challenge: str) -> str:
    """The counting source, if the rules publish it."""
    source = finals.get_code(platform(), viewer(), slug, team, challenge)
    view = competitions.get_competition(platform(), viewer(), slug)
    return render_template(
        "competition/code.html",
        view=view,
        team=team,
        challenge=challenge,
        source=source,
        listing=code.listing(source.source),
    )


@pages.get("/competitions/<slug>/teams/<team>/certificate.json")
@open_to(READERS)
def certificate(slug: str, team: str) -> Response:
    """A finalist's signed certificate, as a file."""
    found = certificates.get_certificate(platform(), viewer(), slug, team)
    response = Response(json.dumps(found, indent=2, ensure_ascii=False), mimetype="application/json")
    name = certificates.file_name(slug, [team])
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


@pages.get("/signing-key.pem")
@open_to(ANYONE)
def signing_key() -> Response:
    """The public key of certificates."""
    return Response(certificates.signing_key(platform()).pem, mimetype="application/x-pem-file")


@pages.get("/competitions/<slug>/manage")
@open_to(STAFF)
def manage(slug: str) -> str:
    """Definition, finalists, final and results. For staff."""
    return _manage(slug, None)


@pages.post("/competitions/<slug>/edit")
@open_to(STAFF)
def edit(slug: str) -> BaseResponse | tuple[str, int]:
    """Save the competition's definition. For staff."""
    _check_staff()
    try:
        stands = competitions.body_of(platform(), current_user(), slug)
        competitions.edit_competition(platform(), current_user(), slug, _body(request.form, stands))
    except GraderError as error:
        return _manage(slug, error, request.form), error.status
    return redirect(url_for("competitions.manage", slug=slug), 303)


_ACTS: Mapping[str, Callable[[str], object]] = {
    "publish": lambda slug: competitions.publish_competition(platform(), current_user(), slug),
    "invite-code": lambda slug: competitions.renew_invite_code(platform(), current_user(), slug),
    "finalists": lambda slug: finals.choose_finalists(platform(), current_user(), slug, _finalists()),
    "final": lambda slug: finals.start_final(platform(), current_user(), slug, _final()),
    "cancel-final": lambda slug: finals.cancel_final(platform(), current_user(), slug),
    "results": lambda slug: finals.publish_results(platform(), current_user(), slug),
    "disqualify": lambda slug: teams.disqualify(platform(), current_user(), slug, _disqualified()),
}


@pages.post("/competitions/<slug>/manage/<act>")
@open_to(STAFF)
def act(slug: str, act: str) -> BaseResponse | tuple[str, int]:
    """The buttons of the page for staff."""
    _check_staff()
    if act not in _ACTS:
        raise BadRequest("Unknown action.")
    try:
        _ACTS[act](slug)
    except GraderError as error:
        return _manage(slug, error), error.status
    return redirect(url_for("competitions.manage", slug=slug), 303)


@pages.post("/competitions/<slug>/delete")
@open_to(STAFF)
def delete(slug: str) -> BaseResponse | tuple[str, int]:
    """Delete a competition without submissions. For staff."""
    _check_staff()
    try:
        competitions.delete_competition(platform(), current_user(), slug)
    except GraderError as error:
        return _manage(slug, error), error.status
    return redirect(url_for("competitions.index"), 303)


def _check_staff() -> None:
    current_user()
    if not is_staff():
        raise NotAllowed("Only staff can create and run competitions.", "Ask your teacher.")


def _page(slug: str, error: GraderError | None) -> str:
    view = competitions.get_competition(platform(), viewer(), slug)
    return render_template(
        "competition/show.html",
        view=view,
        rules=markdown.render(view.rules),
        error=error,
        own={each.mode: each for each in view.own},
        counts_to=_counts_to(view),
        invited=request.args.get("invite", ""),
        joining=request.args.get("join", ""),
        certified=_certified(slug, view),
    )


def _counts_to(view: CompetitionView) -> tuple[str, datetime] | None:
    if view.phase in (Phase.DRAFT, Phase.UPCOMING):
        return "Starts in", view.starts_at
    if view.phase is Phase.RUNNING and view.freeze_at is not None:
        return "The board freezes in", view.freeze_at
    if view.phase in (Phase.RUNNING, Phase.FROZEN):
        return "Ends in", view.ends_at
    return None


def _certified(slug: str, view: CompetitionView) -> list[str]:
    if view.phase is not Phase.RESULTS:
        return []
    found = finals.get_final(platform(), viewer(), slug)
    return sorted({entry.team for entry in found.entries})


def _do(slug: str, work: Callable[[], object]) -> BaseResponse | tuple[str, int]:
    current_user()
    try:
        work()
    except GraderError as error:
        return _page(slug, error), error.status
    return redirect(url_for("competitions.show", slug=slug), 303)


def _mode(text: str | None) -> Mode:
    try:
        return Mode(text or Mode.OFFICIAL)
    except ValueError as error:
        raise BadRequest("Unknown way to take part.") from error


def _registration(given: Mapping[str, str]) -> RegisterBody:
    try:
        return RegisterBody(**given, mode=_mode(request.form.get("mode")))
    except ValidationError as error:
        raise _unreadable(error) from error


def _asked() -> tuple[str | None, BoardKind | None, Mode]:
    """Raises BadRequest."""
    device = request.args.get("device") or None
    mode = _mode(request.args.get("mode"))
    try:
        kind = BoardKind(request.args["kind"]) if request.args.get("kind") else None
    except ValueError as error:
        raise BadRequest("Unknown board.") from error
    return device, kind, mode


def _on_screen() -> bool:
    return request.args.get("screen") == "1"


def _board(slug: str) -> dict[str, Any]:
    device, kind, mode = _asked()
    found = competition_boards.board(platform(), viewer(), slug, device, kind, mode, _on_screen())
    view = competitions.get_competition(platform(), viewer(), slug)
    return {"board": found, "view": view, "device": device, "kind": kind, "mode": mode}


def _plain(board: Any) -> dict[str, Any]:
    """For the screen's script."""

    def score(value: float | None) -> str:
        if value is None:
            return "–"
        if board.scoring is Scoring.TIME:
            return duration(value)
        return points(value) if board.scoring is Scoring.POINTS else factor(value)

    return {
        "rows": [
            {
                "rank": row.rank,
                "team": row.team,
                "score": score(row.score),
                "sort": _sort(board.scoring, row.sort) if row.score is not None else None,
                "at": row.at.isoformat() if row.at is not None else "",
                "pending": sum(each.pending for each in row.challenges),
            }
            for row in board.rows
        ]
    }


def _sort(scoring: Scoring, sort: tuple[float, float]) -> tuple[float, float]:
    """Smaller is better, as times."""
    return (0.0, 1 / -sort[0]) if scoring is Scoring.SPEEDUPS else sort


def _manage(slug: str, error: GraderError | None, given: Mapping[str, str] | None = None) -> str:
    _check_staff()
    user = current_user()
    view = competitions.get_competition(platform(), user, slug)
    definition = competitions.body_of(platform(), user, slug)
    return render_template(
        "competition/manage.html",
        view=view,
        final=finals.get_final(platform(), user, slug),
        teams=teams.list_teams(platform(), user, slug).teams,
        live={
            row.team: row
            for row in competition_boards.board(platform(), user, slug, kind=BoardKind.LIVE).rows
        },
        error=error,
        fields=given if given is not None else _fields(definition),
        **_choices(),
    )


def _form(slug: str | None, given: Mapping[str, str], error: GraderError | None) -> str:
    return render_template("competition/new.html", fields=given, error=error, slug=slug, **_choices())


def _choices() -> dict[str, Any]:
    return {
        "scorings": list(Scoring),
        "registrations": list(Registration),
        "all_devices": served_devices(platform()),
        "all_languages": [each.value for each in Language],
    }


def _fields(body: CompetitionBody) -> dict[str, str]:
    return {
        "slug": body.slug,
        "title": body.title,
        "rules": body.rules,
        "challenges": "\n".join(_line(challenge) for challenge in body.challenges),
        "time_zone": body.time_zone,
        "starts_at": forms.local_time(body.starts_at, body.time_zone),
        "ends_at": forms.local_time(body.ends_at, body.time_zone),
        "freeze_minutes": str(body.freeze_minutes),
        "devices": ", ".join(body.devices),
        "languages": ", ".join(body.languages),
        "scoring": body.scoring.value,
        "registration": body.registration.value,
        "team_size": str(body.team_size),
        "cap_day": str(body.cap_day or ""),
        "cap_total": str(body.cap_total or ""),
        "code_shown": "1" if body.code_shown else "",
        "open_afterwards": "1" if body.open_afterwards else "",
        "revision": str(body.revision or ""),
    }


def _line(challenge: ChallengeBody) -> str:
    hidden = "; ".join(
        ", ".join(f"{name}={size}" for name, size in each.sizes.items())
        for each in challenge.hidden_workloads
    )
    return f"{challenge.challenge} {challenge.points:g}" + (f": {hidden}" if hidden else "")


# "vector_add 100: n=1000; n=2000"
_CHALLENGE = re.compile(r"(?P<slug>\S+?)(\s+(?P<points>[\d.]+))?\s*(:\s*(?P<hidden>.*))?")
_SIZE = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<size>\d{1,15})\s*")


def _challenge(line: str) -> dict[str, Any]:
    """Raises BadRequest."""
    found = _CHALLENGE.fullmatch(line.strip())
    if found is None:
        raise BadRequest(
            f"'{line[:80]}' is not a challenge.", "Write a line as: vector_add 100: n=1000; n=2000"
        )
    hidden = [each for each in (found["hidden"] or "").split(";") if each.strip()]
    given: dict[str, Any] = {
        "challenge": found["slug"],
        "hidden_workloads": [{"sizes": _sizes(entry)} for entry in hidden],
    }
    if found["points"]:
        given["points"] = float(found["points"])
    return given


def _sizes(text: str) -> dict[str, int]:
    sizes = {}
    for part in text.split(","):
        found = _SIZE.fullmatch(part)
        if found is None:
            raise BadRequest(f"'{part[:40]}' is not a size.", "Write sizes as: n=1000, m=20")
        sizes[found["name"]] = int(found["size"])
    return sizes


def _times(form: Mapping[str, str], stands: CompetitionBody | None) -> dict[str, Any]:
    """Raises BadRequest."""
    name = form.get("time_zone", "").strip() or "UTC"
    zone = find_zone(name)

    def read(field: str, known: datetime | None, end: bool) -> datetime:
        at = parse_moment(form.get(field, ""), zone, end=end)
        # Keeps unchanged fractions, also when clocks show times twice.
        if known is not None and forms.local_time(at, name) == forms.local_time(known, name):
            return known
        return at

    same = stands if stands is not None and stands.time_zone == name else None
    return {
        "time_zone": name,
        "starts_at": read("starts_at", same.starts_at if same else None, end=False),
        "ends_at": read("ends_at", same.ends_at if same else None, end=True),
    }


def _body(form: Mapping[str, str], stands: CompetitionBody | None = None) -> CompetitionBody:
    """Raises BadRequest. The last argument is the edited competition."""
    given: dict[str, Any] = {
        name: form.get(name, "").strip() for name in ("title", "scoring", "registration")
    }
    given |= _times(form, stands)
    given |= {
        "slug": stands.slug if stands else form.get("slug", "").strip(),
        "rules": form.get("rules", "").replace("\r\n", "\n"),
    }
    given["challenges"] = [
        _challenge(line) for line in form.get("challenges", "").splitlines() if line.strip()
    ]
    for name in ("freeze_minutes", "team_size", "cap_day", "cap_total", "revision"):
        if text := form.get(name, "").strip():
            try:
                given[name] = int(text)
            except ValueError as error:
                raise BadRequest(f"{name.replace('_', ' ')}: '{text[:20]}' is not a number.") from error
    for name in ("devices", "languages"):
        given[name] = [word.strip() for word in form.get(name, "").split(",") if word.strip()]
    for name in ("code_shown", "open_afterwards"):
        given[name] = forms.ticked(name)
    try:
        return CompetitionBody.model_validate(given)
    except ValidationError as error:
        raise _unreadable(error) from error


def _unreadable(error: ValidationError) -> BadRequest:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return BadRequest(f"{where}: {said}." if where else f"{said}.")


def _finalists() -> FinalistsBody:
    names = [line.strip() for line in request.form.get("teams", "").splitlines() if line.strip()]
    top = request.form.get("top", "").strip()
    try:
        return FinalistsBody(
            top=int(top) if top and not names else None,
            teams=names,
            device=request.form.get("device") or None,
        )
    except (ValidationError, ValueError) as error:
        raise BadRequest("Give a number, or name teams, one per line.") from error


def _final() -> FinalBody:
    try:
        return FinalBody(
            machine=request.form.get("machine", ""), repeats=int(request.form.get("repeats", "5") or 5)
        )
    except (ValidationError, ValueError) as error:
        raise BadRequest("Name the machine and the number of repeats.") from error


def _disqualified() -> DisqualifyBody:
    try:
        return DisqualifyBody(team=request.form.get("team", ""), reason=request.form.get("reason", ""))
    except ValidationError as error:
        raise _unreadable(error) from error
