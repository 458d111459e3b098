"""`course catalogue`: a course's own challenges, and the git repository that they come from."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.terminal import moment, out, put_json, put_table, safe, say
from grader.errors import BadRequest
from grader.schemas.course_catalogue import CourseCatalogue, HookView, RepositoryView
from grader.schemas.upload import SyncState

_COLOURS = {SyncState.SERVED: "green", SyncState.REFUSED: "red", SyncState.FAILED: "red"}
_SHA_CHARS = 10


def catalogue(
    course: Annotated[
        str, typer.Argument(metavar="COURSE", help="The course, as `grader course list` names it.")
    ],
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Take challenges from this git repository; https://NAME:TOKEN@... if private."
        ),
    ] = None,
    branch: Annotated[str, typer.Option(metavar="NAME", help="The repository's branch.")] = "main",
    prefix: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="Put it before the repository's names of challenges, such as s27_."
        ),
    ] = "",
    sync: Annotated[
        bool, typer.Option("--sync", help="Fetch the newest commit, check it, and serve it if it is proven.")
    ] = False,
    hook: Annotated[
        bool, typer.Option("--hook", help="Make another address for the repository's webhook, and print it.")
    ] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget the repository. Its challenges stay as they are.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show a course's own challenges, and set or synchronise their git repository."""
    if sum((url is not None, sync, hook, forget)) > 1:
        raise BadRequest("--url, --sync, --hook and --forget exclude each other.", "Use one of them.")
    source = {"url": url, "branch": branch, "prefix": prefix} if url is not None else None
    client, path = connect(), f"/courses/{segment(course)}/catalogue"
    if hook:
        made = understood(HookView, client.post(f"{path}/source/hook"))
        if json:
            put_json(made)
        else:
            out().print(safe(made.url), soft_wrap=True)
        return 0
    found = understood(CourseCatalogue, _answer(client, path, source, sync, forget))
    if json:
        put_json(found)
    else:
        _put(found)
    return 0


def _answer(client: Client, path: str, source: dict[str, str] | None, sync: bool, forget: bool) -> object:
    if source is not None:
        return client.put(f"{path}/source", source)
    if sync:
        return client.post(f"{path}/source/sync")
    return client.delete(f"{path}/source") if forget else client.get(path)


def _put(found: CourseCatalogue) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("challenge", "title", "state", "version", "in use", "newest", "check"):
        table.add_column(name)
    for each in found.challenges:
        table.add_row(
            safe(each.challenge),
            safe(each.title),
            each.state.value,
            str(each.version or ""),
            str(each.in_use or ""),
            str(each.newest),
            each.check.value,
        )
    put_table(table)
    if found.source is not None:
        _put_source(found.source)


def _put_source(source: RepositoryView) -> None:
    out().print(safe(f"{source.url}, branch {source.branch}"), soft_wrap=True)
    if source.served_commit and source.served_at:
        say(f"commit {source.served_commit[:_SHA_CHARS]} is served since {moment(source.served_at)}", "green")
    say(source.state.value, _COLOURS.get(source.state, "yellow"))
    if source.error:
        out().print(safe(source.error), soft_wrap=True)
