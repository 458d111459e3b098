"""`competition`: take part in competitions; staff make and run them."""

from __future__ import annotations

import json as jsons
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.report import factor_text
from grader.cli.terminal import moment, put_columns, put_json, safe, say, tell, write
from grader.errors import BadRequest
from grader.formats import duration, points
from grader.schemas.competition import (
    BoardKind,
    BoardRow,
    CompetitionBoard,
    CompetitionBody,
    CompetitionList,
    CompetitionView,
    DisqualifyBody,
    FinalBody,
    FinalistsBody,
    FinalView,
    MemberView,
    Mode,
    ModeBody,
    Phase,
    RegisterBody,
    Scoring,
    TeamList,
    TeamView,
)
from grader.schemas.submission import SourceView

app = make_app(remote=True)
competition = make_app(remote=True)
app.add_typer(competition, name="competition", help="Take part in competitions, and run them.")
final = make_app(remote=True)
competition.add_typer(final, name="final", help="Judge the finalists again (staff only).")

Slug = Annotated[
    str, typer.Argument(metavar="SLUG", help="The competition, as `grader competition list` names it.")
]
Team = Annotated[str, typer.Argument(metavar="TEAM", help="The team's name.")]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode", help="official; after the end also practice, or virtual: in your own window of time."
    ),
]
_TEMPLATE = '''\
slug = "spring-cup"
title = "Spring cup"
starts_at = 2027-03-01T09:00:00+01:00   # with an offset; Z is UTC
ends_at = 2027-03-01T15:00:00+01:00
time_zone = "Europe/Berlin"  # the time zone of its pages; left out: UTC
freeze_minutes = 60          # the participants' board freezes this long before the end; 0: never
devices = []                 # of the platform, the default first; empty: all
languages = []               # cuda, triton; empty: both
scoring = "time"             # time, points or speedups
registration = "open"        # or invite
team_size = 3
cap_day = 50                 # a team's submissions for one challenge per day (UTC); left out: no cap
cap_total = 200
code_shown = true            # show the sources that count with the results
open_afterwards = true       # allow practice and virtual participation after the end
rules = """
# Rules

Markdown: who may take part, what is forbidden, the prizes.
"""

[[challenges]]
challenge = "vector_add"
points = 100                 # its worth if scoring = "points"
hidden_workloads = [{ sizes = { n = 123456789 } }]   # timed by the final; left out: the challenge's own
'''


@competition.command("list")
def list_competitions(json: options.Json = False) -> int:
    """List the competitions, newest first."""
    found = understood(CompetitionList, connect().get("/competitions"))
    if json:
        put_json(found)
        return 0
    rows = found.competitions
    put_columns(
        {
            "competition": [safe(view.slug, "cyan") for view in rows],
            "title": [safe(view.title) for view in rows],
            "state": [_phase(view.phase) for view in rows],
            "starts": [Text(moment(view.starts_at)) for view in rows],
            "ends": [Text(moment(view.ends_at)) for view in rows],
            "teams": [Text(str(view.teams)) for view in rows],
            "your team": [safe(", ".join(team.name for team in view.own)) for view in rows],
        },
        optional=("starts", "teams"),
        wrapped="title",
    )
    return 0


@competition.command()
def show(
    slug: Slug,
    definition: Annotated[
        bool, typer.Option("--definition", help="Print its definition as JSON, to edit it (staff only).")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show a competition: its times, rules and challenges, and your team."""
    if definition:
        put_json(understood(CompetitionBody, connect().get(_path(slug, "/definition"))))
        return 0
    return _put(_get(slug), json, rules=True)


@competition.command()
def register(
    slug: Slug,
    team: Annotated[
        str | None,
        typer.Option("--team", metavar="NAME", help="Make a team with this name (default: your name)."),
    ] = None,
    join: Annotated[
        str | None, typer.Option("--join", metavar="CODE", help="Join a team by its join code.")
    ] = None,
    invite: Annotated[
        str | None, typer.Option("--invite", metavar="CODE", help="Your invitation code.")
    ] = None,
    mode: ModeOption = Mode.OFFICIAL,
    json: options.Json = False,
) -> int:
    """Take part in a competition."""
    body = RegisterBody(team=team, join_code=join, invite_code=invite, mode=mode)
    return _put(_post(slug, "/register", body), json)


@competition.command()
def leave(slug: Slug, mode: ModeOption = Mode.OFFICIAL, json: options.Json = False) -> int:
    """Leave your team. After the start you cannot come back, and the team keeps your submissions."""
    return _put(_post(slug, "/leave", ModeBody(mode=mode)), json)


@competition.command()
def board(
    slug: Slug,
    device: options.Device = None,
    kind: Annotated[
        BoardKind | None, typer.Option("--kind", help="While it is frozen, live and final are for staff.")
    ] = None,
    mode: ModeOption = Mode.OFFICIAL,
    json: options.Json = False,
) -> int:
    """Show the board of a competition."""
    found = understood(
        CompetitionBoard,
        connect().get(_path(slug, "/board"), device=device, kind=kind, mode=mode.value),
    )
    if json:
        put_json(found)
    else:
        _put_board(found)
    return 0


@competition.command()
def code(
    slug: Slug,
    team: Team,
    challenge: Annotated[str, typer.Argument(metavar="CHALLENGE", help="The challenge's slug.")],
    json: options.Json = False,
) -> int:
    """Print the source of a team that counts, if the rules show it."""
    path = _path(slug, f"/teams/{segment(team)}/code/{segment(challenge)}")
    found = understood(SourceView, connect().get(path))
    if json:
        put_json(found)
    else:
        sys.stdout.write(found.source)
    return 0


@competition.command()
def certificate(
    slug: Slug,
    team: Team,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write (default: stdout)."),
    ] = None,
) -> int:
    """Fetch the signed certificate of a finalist's result; `grader verify` checks it."""
    found = connect().get(_path(slug, f"/teams/{segment(team)}/certificate"))
    text = jsons.dumps(found, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        sys.stdout.write(text)
        return 0
    write(output, text)
    say(f"Wrote {output}. Check it with: grader verify {output} --key KEY", "dim")
    return 0


@competition.command()
def sources(
    slug: Slug,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The ZIP (default: SLUG-sources.zip)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Write everything submitted in it to one ZIP, with a manifest as CSV and JSON (staff only)."""
    file = output or Path(f"{slug}-sources.zip")
    size = connect().download(_path(slug, "/sources.zip"), file)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {size} bytes to {file}.", "green")
    return 0


@competition.command()
def create(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Its definition, TOML or JSON; - reads it from stdin."),
    ] = None,
    template: Annotated[bool, typer.Option("--template", help="Print a definition to start from.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the definition of the competition with this slug.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Create a competition as a draft, or replace the definition of one (staff only)."""
    if template or file is None:
        sys.stdout.write(_TEMPLATE)
        return 0
    body = _definition(file)
    if replace:
        return _put(_post(body.slug, "", body), json)
    made = understood(CompetitionView, connect().post("/competitions", body.model_dump(mode="json")))
    say(f"It is a draft. Show it to everyone with: grader competition publish {made.slug}", "dim")
    return _put(made, json)


@competition.command()
def publish(
    slug: Slug,
    results: Annotated[bool, typer.Option("--results", help="Show everyone the results.")] = False,
    json: options.Json = False,
) -> int:
    """Show a competition, or with --results its results, to everyone (staff only)."""
    return _put(_post(slug, "/results" if results else "/publish"), json)


@competition.command()
def delete(slug: Slug) -> int:
    """Remove a competition in which nothing was submitted (staff only)."""
    connect().delete(_path(slug))
    tell(f"{slug} is removed.")
    return 0


@competition.command("invite-code")
def invite_code(slug: Slug, json: options.Json = False) -> int:
    """Make a new invitation code (staff only). The old one stops working."""
    found = _post(slug, "/invite-code")
    if json:
        put_json(found)
    else:
        tell(found.invite_code or "")
    return 0


@competition.command()
def teams(slug: Slug, json: options.Json = False) -> int:
    """List the teams with their members and the reasons for disqualifications (staff only)."""
    found = understood(TeamList, connect().get(_path(slug, "/teams")))
    if json:
        put_json(found)
        return 0
    put_columns(
        {
            "team": [safe(team.name) for team in found.teams],
            "members": [safe(", ".join(_member(each) for each in team.members)) for team in found.teams],
            "disqualified": [safe(team.disqualified, "red") for team in found.teams],
        },
        wrapped="disqualified",
    )
    return 0


def _member(member: MemberView) -> str:
    return member.name if member.left_at is None else f"{member.name} (left)"


@competition.command()
def disqualify(
    slug: Slug,
    team: Team,
    reason: Annotated[
        str,
        typer.Option(
            "--reason", "-r", metavar="TEXT", help="Why; the team reads it. Empty: put the team back."
        ),
    ] = "",
    json: options.Json = False,
) -> int:
    """Disqualify a team, or put it back on the boards (staff only)."""
    return _put(_post(slug, "/disqualify", DisqualifyBody(team=team, reason=reason)), json)


@competition.command()
def finalists(
    slug: Slug,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[TEAM]...", help="The teams, by name.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, metavar="N", help="The best N teams, and all that share the last rank."),
    ] = None,
    device: options.Device = None,
    json: options.Json = False,
) -> int:
    """Choose the teams that are judged again in the final (staff only)."""
    body = FinalistsBody(top=top, teams=names or [], device=device)
    return _put_final(_final(slug, "/finalists", body), json)


@final.command("show")
def show_final(slug: Slug, json: options.Json = False) -> int:
    """Show the progress of a final, its times, and rank changes between its repeats."""
    return _put_final(understood(FinalView, connect().get(_path(slug, "/final"))), json)


@final.command()
def start(
    slug: Slug,
    machine: Annotated[
        str,
        typer.Option(
            "--machine", metavar="GPU", help="The GPU's UUID, or a host without one: `final show` lists them."
        ),
    ],
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How many times each team is judged.")] = 5,
    json: options.Json = False,
) -> int:
    """Start a final. If it ran before, judge again what the platform failed to judge."""
    return _put_final(_final(slug, "/final", FinalBody(machine=machine, repeats=repeats)), json)


@final.command()
def cancel(slug: Slug, json: options.Json = False) -> int:
    """Cancel a final, and discard what it judged."""
    return _put_final(_final(slug, "/final/cancel"), json)


def _path(slug: str, rest: str = "") -> str:
    return f"/competitions/{segment(slug)}{rest}"


def _get(slug: str) -> CompetitionView:
    return understood(CompetitionView, connect().get(_path(slug)))


def _post(slug: str, rest: str, body: Any = None) -> CompetitionView:
    sent = body.model_dump(mode="json") if body is not None else None
    return understood(CompetitionView, connect().post(_path(slug, rest), sent))


def _final(slug: str, rest: str, body: Any = None) -> FinalView:
    sent = body.model_dump(mode="json") if body is not None else None
    return understood(FinalView, connect().post(_path(slug, rest), sent))


def _definition(file: Path) -> CompetitionBody:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadRequest(f"'{file}' cannot be read: {why}.") from error
    try:
        given = jsons.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
        return CompetitionBody.model_validate(given)
    except (jsons.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadRequest(f"{file}: {error}.", "`grader competition create --template` prints one.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise BadRequest(
            f"{file}: {where + ': ' if where else ''}{said}.",
            "`grader competition create --template` prints one.",
        ) from error


_STYLES = {Phase.RUNNING: "green", Phase.FROZEN: "cyan", Phase.RESULTS: "bold", Phase.DRAFT: "yellow"}


def _phase(phase: Phase) -> Text:
    return Text(phase.value, _STYLES.get(phase, ""))


def _put(view: CompetitionView, json: bool, rules: bool = False) -> int:
    if json:
        put_json(view)
        return 0
    tell(f"{view.title} ({view.slug}), {view.phase.value}", "bold")
    tell(
        f"{moment(view.starts_at, zone=True)} to {moment(view.ends_at, zone=True)}, by {view.scoring.value}; "
        f"competition zone {view.time_zone}"
    )
    if view.freeze_at is not None:
        tell(f"The board freezes at {moment(view.freeze_at, zone=True)}.")
    tell(f"Devices: {', '.join(view.devices)}. Languages: {', '.join(view.languages)}.")
    if view.challenges:
        tell(f"Challenges: {', '.join(challenge.challenge for challenge in view.challenges)}")
    if view.invite_code is not None and view.registration == "invite":
        tell(f"Invitation: {view.invite_code}")
    if rules:
        _put_facts(view)
    for team in view.own:
        _put_team(team)
    if rules and view.rules:
        for line in ("", *view.rules.splitlines()):
            tell(line)
    if not view.own and view.phase in (Phase.UPCOMING, Phase.RUNNING, Phase.FROZEN):
        say(f"Take part: grader competition register {view.slug}", "green")
    return 0


def _put_facts(view: CompetitionView) -> None:
    caps = [
        f"{most} {words}"
        for most, words in ((view.cap_day, "times a day (UTC)"), (view.cap_total, "times in all"))
        if most is not None
    ]
    if caps:
        tell(f"A team submits at most {' and '.join(caps)} for each challenge.")
    if view.team_size > 1:
        tell(f"A team has at most {view.team_size} members.")
    for challenge in view.challenges:
        if challenge.hidden_workloads:
            sizes = "; ".join(each.name for each in challenge.hidden_workloads)
            tell(f"The final times {challenge.challenge} at {sizes}.")
    if view.code_shown:
        tell("The sources that count will be shown with the results.")
    tell(f"Public seed of the data until the end: {view.public_seed}")
    if view.hidden_seed is not None:
        tell(f"Seed of the final: {view.hidden_seed}")
    tell(f"SHA-256 of the final's seed: {view.hidden_seed_sha256}")


def _put_team(team: TeamView) -> None:
    inside = [member.name for member in team.members if member.left_at is None]
    tell(f"Your team: {team.name} ({team.mode.value}): {', '.join(inside)}")
    if team.join_code:
        tell(f"Others join it with --join {team.join_code}")
    if team.disqualified:
        tell(f"It is disqualified: {team.disqualified}")
    for cap in team.caps:
        left = [
            f"{most - used} of {most} {words}"
            for used, most, words in (
                (cap.day_used, cap.day_most, "today (UTC)"),
                (cap.total_used, cap.total_most, "in all"),
            )
            if most is not None
        ]
        if left:
            tell(f"{cap.challenge}: {', '.join(left)} left")


def _put_board(found: CompetitionBoard) -> None:
    rows = found.rows
    columns = {
        "rank": [Text(str(entry.rank) if entry.rank is not None else "-") for entry in rows],
        "team": [safe(entry.team, "bold" if entry.own else "") for entry in rows],
        _SCORES[found.scoring]: [Text(_score(found.scoring, entry)) for entry in rows],
    }
    if len(found.challenges) > 1:
        for number, challenge in enumerate(found.challenges):
            columns[challenge] = [Text(_cell(found.scoring, entry, number)) for entry in rows]
    columns["tries"] = [Text(str(sum(each.tries for each in entry.challenges))) for entry in rows]
    columns["not shown"] = [Text(str(sum(each.pending for each in entry.challenges) or "")) for entry in rows]
    put_columns(columns, optional=(*found.challenges, "not shown", "tries"))
    say(f"{found.title}: the {found.kind.value} board on {found.device}.", "dim")
    if found.kind is BoardKind.FROZEN:
        say("It froze before the end; later results are shown at the end.", "cyan")


_SCORES = {Scoring.TIME: "time", Scoring.POINTS: "points", Scoring.SPEEDUPS: "speedups"}


def _score(scoring: Scoring, row: BoardRow) -> str:
    if row.score is None:
        # A final with one challenge has no column for it.
        return row.challenges[0].failed if len(row.challenges) == 1 else ""
    if scoring is Scoring.TIME:
        return duration(row.score)
    return points(row.score) if scoring is Scoring.POINTS else factor_text(row.score)


def _cell(scoring: Scoring, row: BoardRow, number: int) -> str:
    cell = row.challenges[number]
    if not cell.solved:
        return cell.failed
    if scoring is Scoring.POINTS:
        return points(cell.points or 0)
    if scoring is Scoring.SPEEDUPS:
        return factor_text(cell.speedup) if cell.speedup is not None else "solved"
    return duration(cell.time_us) if cell.time_us is not None else "solved"


def _put_final(view: FinalView, json: bool) -> int:
    if json:
        put_json(view)
        return 0
    tell(f"Finalists: {', '.join(view.finalists) or 'none yet'}")
    if view.state is None:
        for machine in view.machines:
            tell(f"It can run on {machine.name} ({machine.model or machine.device}).")
        return 0
    tell(
        f"{view.judged} of {view.total} judged on {view.machine} ({view.device}), {view.repeats} repeats each"
        + (f"; the platform failed to judge {view.failed}" if view.failed else "")
        + (f"; {view.left_out} left out (their sources were deleted)" if view.left_out else "")
    )
    put_columns(
        {
            "team": [safe(entry.team) for entry in view.entries],
            "challenge": [safe(entry.challenge) for entry in view.entries],
            "median": [
                Text(duration(entry.time_us) if entry.time_us else entry.failed) for entry in view.entries
            ],
            "spread": [
                Text(f"{entry.spread:.2%}" if entry.spread is not None else "") for entry in view.entries
            ],
        },
        optional=("spread",),
    )
    for entry in view.entries:
        if entry.untimed and not entry.failed:
            repeats = ", ".join(map(str, entry.untimed))
            timed = len(entry.runs) - len(entry.untimed)
            tell(
                f"{entry.team}, {entry.challenge}: the median of {timed} of {len(entry.runs)} repeats; "
                f"no time was measured in {repeats}."
            )
    if (changes := view.rank_changes) is not None:
        tell(
            f"Rank changes between repeats: {changes.changed} of {len(changes.teams)} teams; "
            f"{changes.swaps} of {changes.pairs} pairs changed places."
        )
        for team in changes.teams:
            if team.changed:
                tell(f"  {team.team}: {', '.join(str(rank or '-') for rank in team.ranks)}")
    return 0
