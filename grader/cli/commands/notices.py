"""`notice`: notices, and the kinds that a person gets on the site and by mail."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.client import connect, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, put_json, put_table, safe, say, table
from grader.errors import BadRequest
from grader.schemas.notice import WORDS, NoticeChoice, NoticeChoices, NoticeKind, NoticeList

app = make_app(remote=True)
notice = make_app(remote=True)
app.add_typer(notice, name="notice", help="Read notices, and choose which ones you get.")


@notice.command(name="list")
def list_notices(json: options.Json = False) -> int:
    """List your latest notices, newest first."""
    return _notices(connect().get("/notices"), json)


@notice.command()
def read(
    number: Annotated[
        list[int] | None,
        typer.Argument(metavar="[NUMBER]...", min=1, help="The notices to mark (default: all)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Mark notices as read."""
    return _notices(connect().post("/notices/read", {"ids": number or None}), json)


@notice.command()
def choose(
    kind: Annotated[
        NoticeKind | None,
        typer.Argument(metavar="[KIND]", help="A kind (default: only show the choices)."),
    ] = None,
    site: Annotated[
        bool | None, typer.Option("--site/--no-site", help="Show this kind on the site, or not.")
    ] = None,
    mail: Annotated[
        bool | None, typer.Option("--mail/--no-mail", help="Send this kind by mail, or not.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Show which kinds of notices you get on the site and by mail, or turn one on or off."""
    client, path = connect(), "/notices/choices"
    found = understood(NoticeChoices, client.get(path))
    if kind is None and (site is not None or mail is not None):
        raise BadRequest("Which kind?", f"Name one of: {', '.join(NoticeKind)}.")
    if kind is not None:
        present = next((choice for choice in found.choices if choice.kind == kind), NoticeChoice(kind=kind))
        wanted = NoticeChoice(
            kind=kind,
            site=present.site if site is None else site,
            mail=present.mail if mail is None else mail,
        )
        found = understood(NoticeChoices, client.put(path, {"choices": [wanted.model_dump()]}))
    if json:
        put_json(found)
        return 0
    rows = table("kind", "about", "site", "mail")
    for each in found.choices:
        on = ("yes" if chosen else "no" for chosen in (each.site, each.mail))
        rows.add_row(safe(each.kind.value, "cyan"), WORDS[each.kind], *on)
    put_table(rows)
    if not found.mailed:
        say("You get no mail: the platform sends none, or does not know your address.", "dim")
    return 0


def _notices(answer: object, json: bool) -> int:
    found = understood(NoticeList, answer)
    if json:
        put_json(found)
        return 0
    rows = table("number", "when", "", "what", "page")
    for each in found.notices:
        times = f" ({each.count} times)" if each.count > 1 else ""
        new = "" if each.read_at else "new"
        rows.add_row(str(each.id), moment(each.created_at), new, safe(each.text + times), safe(each.path))
    put_table(rows)
    say(f"{found.unread} unread.", "dim")
    return 0
