"""Visibility of challenges to students."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.terminal import moment, put_json, put_table, safe, say
from grader.errors import BadRequest
from grader.schemas.publication import (
    BoardAudience,
    BoardBody,
    BoardSettings,
    PublicationBody,
    PublicationList,
    PublicationState,
    PublicationView,
)

_COLOURS = {PublicationState.PUBLISHED: "green", PublicationState.SCHEDULED: "yellow"}


def register(challenge: typer.Typer) -> None:
    for command in (states, publish, hide, board):
        challenge.command()(command)


def states(json: options.Json = False) -> int:
    """List the server's challenges with their states: draft, scheduled, published, hidden."""
    found = understood(PublicationList, connect().get("/challenge-states"))
    if json:
        put_json(found)
        return 0
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("challenge", "state", "board", "title", "changed by"):
        table.add_column(name)
    for each in found.challenges:
        table.add_row(
            safe(each.challenge), _state(each), _board(each), safe(each.title), safe(each.changed_by or "")
        )
    put_table(table)
    return 0


def publish(
    slug: options.Slug,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Publish it then, such as at 2026-01-31T18:00, in this machine's time zone.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show a challenge to everybody, from now on or from --at."""
    if at is None:
        return _put(slug, PublicationBody(state="published"), json)
    return _put(slug, PublicationBody(state="scheduled", publish_at=_moment(at)), json)


def hide(
    slug: options.Slug,
    draft: Annotated[
        bool, typer.Option("--draft", help="Make it a draft again, if no student submitted for it.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Hide a challenge from students. They keep their submissions."""
    return _put(slug, PublicationBody(state="draft" if draft else "hidden"), json)


def board(
    slug: options.Slug,
    show: Annotated[
        BoardAudience | None,
        typer.Option("--show", help="Who sees whom: public, course, pseudonymous or hidden."),
    ] = None,
    freeze: Annotated[
        str | None,
        typer.Option(
            "--freeze",
            metavar="TIME|now|none",
            help="Show students only what was received until then; none: do not freeze.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Set who sees whom on a challenge's board, and freeze it. Options that are not given change nothing."""
    client = connect()
    body = _board_body(client, slug)
    if show is not None:
        body = body.model_copy(update={"board": show})
    if freeze is not None:
        now = datetime.now().astimezone()
        at = None if freeze == "none" else now if freeze == "now" else _moment(freeze)
        body = body.model_copy(update={"frozen_at": at})
    answer = client.put(f"/challenges/{segment(slug)}/board", body.model_dump(mode="json"))
    found = understood(BoardSettings, answer)
    if json:
        put_json(found)
    else:
        frozen = f", frozen at {moment(found.frozen_at)}" if found.frozen_at else ""
        say(f"The board of {found.challenge}: {found.board}{frozen}", "green")
    return 0


def _board_body(client: Client, slug: str) -> BoardBody:
    found = understood(PublicationList, client.get("/challenge-states")).challenges
    present = next((view for view in found if view.challenge == slug), None)
    return BoardBody() if present is None else BoardBody(board=present.board, frozen_at=present.frozen_at)


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError as error:
        raise BadRequest(f"'{text[:40]}' is not a time.", "Write it as 2026-01-31T18:00.") from error


def _put(slug: str, body: PublicationBody, json: bool) -> int:
    answer = connect().put(f"/challenges/{segment(slug)}/state", body.model_dump(mode="json"))
    found = understood(PublicationView, answer)
    if json:
        put_json(found)
    else:
        say(f"{found.challenge}: {_state(found).plain}", _COLOURS.get(found.state, "yellow"))
    return 0


def _state(view: PublicationView) -> Text:
    at = view.publish_at
    when = f" {moment(at)}" if at and view.state is PublicationState.SCHEDULED else ""
    broken = ", broken" if view.broken else ""
    return Text(f"{view.state}{when}{broken}", _COLOURS.get(view.state, "yellow"))


def _board(view: PublicationView) -> str:
    return f"{view.board}{', frozen' if view.frozen_at else ''}"
