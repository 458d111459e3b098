"""`account`: a person's profile, portfolio, data and deletion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from grader.cli import options
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.report import factor_text
from grader.cli.terminal import moment, put_json, put_table, safe, say, table, tell
from grader.errors import BadRequest
from grader.formats import duration
from grader.schemas.personal import DeletionBody, DeletionView
from grader.schemas.portfolio import Portfolio
from grader.schemas.preferences import Preferences, ProfileAudience

app = make_app(remote=True)
account = make_app(remote=True)
app.add_typer(
    account,
    name="account",
    help="Set who reads a profile, write a portfolio, export or delete an account.",
)

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The account (default: your own; others': staff only).")
]


@account.command()
def readers(
    profile: Annotated[ProfileAudience | None, typer.Option(help="Who reads your profile.")] = None,
    calendar: Annotated[
        ProfileAudience | None, typer.Option(help="Who sees the days on which you submitted.")
    ] = None,
    kernels: Annotated[
        ProfileAudience | None,
        typer.Option(help="Who else that solved a challenge reads your best kernel for it."),
    ] = None,
    anonymous: Annotated[
        bool | None,
        typer.Option(
            "--anonymous/--named", help="Show a made-up name on boards and have no profile, or not."
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show who reads your profile, your calendar and your kernels, or change that."""
    client, path = connect(), "/me/preferences"
    chosen = {"profile": profile, "calendar": calendar, "kernels": kernels, "anonymous": anonymous}
    body = {name: value for name, value in chosen.items() if value is not None}
    found = understood(Preferences, client.patch(path, body) if body else client.get(path))
    if json:
        put_json(found)
        return 0
    tell(f"profile: {found.profile.value}, calendar: {found.calendar.value}, kernels: {found.kernels.value}")
    tell("boards show a made-up name" if found.anonymous else "boards show your name")
    return 0


@account.command()
def export(
    name: Name = None,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The file to write (default: NAME.zip).")
    ] = None,
    json: options.Json = False,
) -> int:
    """Write all data about a person to a ZIP: JSON, sources, reports."""
    file = to or Path(f"{name or 'account'}.zip")
    if file.exists():
        raise BadRequest(f"{file} already exists.", "Name another file with --to.")
    size = connect().download(f"{_at(name)}/export", file)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {file} ({size:,} bytes).", "green")
    return 0


@account.command()
def portfolio(
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="The file to write: .pdf or .md (default: show a list)."),
    ] = None,
    submission: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="An accepted submission of yours; repeat it (default: your best for each challenge).",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List your accepted kernels, or write them with times, ranks and notes to a PDF or Markdown file."""
    client, wanted = connect(), [("submission", name) for name in submission or []]
    if to is None:
        found = understood(Portfolio, client.get(_with("/me/portfolio", wanted)))
        if json:
            put_json(found)
        else:
            _put_portfolio(found)
        return 0
    kind = to.suffix.lower()
    if kind not in (".pdf", ".md"):
        raise BadRequest(f"{to} is neither .pdf nor .md.", "Name the file portfolio.pdf or portfolio.md.")
    if to.exists():
        raise BadRequest(f"{to} already exists.", "Name another file with --to.")
    size = client.download(_with(f"/me/portfolio{kind}", wanted), to)
    if json:
        put_json({"file": str(to), "bytes": size})
    else:
        say(f"Wrote {to} ({size:,} bytes).", "green")
    return 0


def _with(path: str, query: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _put_portfolio(found: Portfolio) -> None:
    rows = table(
        "submission", "challenge", "language", "device", "time", "speedup", "rank", "submitted", "note"
    )
    for entry in found.entries:
        rows.add_row(
            safe(entry.submission, "cyan"),
            safe(entry.challenge),
            entry.language.value,
            safe(entry.device),
            duration(entry.time_us) if entry.time_us is not None else "",
            factor_text(entry.speedup),
            f"{entry.rank} of {entry.entries}" if entry.rank is not None else "",
            moment(entry.submitted_at),
            "yes" if entry.note else "",
        )
    put_table(rows)
    if found.entries:
        say("To write it: grader account portfolio --to portfolio.pdf", "dim")


@account.command()
def delete(
    name: Name = None,
    confirm: Annotated[
        str | None,
        typer.Option("--confirm", metavar="NAME", help="The account's name, to confirm the deletion."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep an account whose deletion was requested.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show what deleting an account removes and keeps; with --confirm, delete it after the grace period."""
    if keep and confirm is not None:
        raise BadRequest("--keep and --confirm exclude each other.", "Use one of them.")
    if keep:
        kept = understood(DeletionView, connect().delete(f"{_at(name)}/deletion"))
        if json:
            put_json(kept)
        else:
            say(f"{kept.name} stays.", "green")
        return 0
    if confirm is None:
        found = understood(DeletionView, connect().get(f"{_at(name)}/deletion"))
    else:
        body = DeletionBody(confirm=confirm).model_dump()
        found = understood(DeletionView, connect().post(f"{_at(name)}/deletion", body))
    if json:
        put_json(found)
        return 0
    _show(found)
    if confirm is None and found.due_at is None:
        say(f"To delete it: grader account delete {found.name} --confirm {found.name}", "dim")
    return 0


def _at(name: str | None) -> str:
    return "/me" if name is None else f"/people/{segment(name)}"


def _show(found: DeletionView) -> None:
    for title, lines in (("Removed", found.removed), ("Stays", found.stays)):
        say(f"{title}:", "bold")
        for line in lines:
            tell(f"  {line}")
    if found.due_at is not None:
        say(f"{found.name} will be deleted on {moment(found.due_at)}.", "yellow")
        say("To keep it: grader account delete --keep", "dim")
