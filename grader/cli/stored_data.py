"""This machine's database, without a server or a token."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from grader.cli import options
from grader.cli.local_platform import database, here
from grader.cli.terminal import aside, moment, out, put_json, put_table, safe, say, table, tell
from grader.errors import BadRequest, Conflict
from grader.formats import duration, size_text
from grader.schemas.report import Verdict
from grader.schemas.submission import State

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup file.")]


def register(admin: typer.Typer) -> None:
    for command in (backup, restore, prune, submissions, export, forget):
        admin.command()(command)


def backup(file: _File, json: options.Json = False) -> int:
    """Write the database and the secrets to one new file, while the platform runs."""
    from grader.service.operation.backup import backup as make

    with database() as (settings, engine), _progress() as on_rows:
        manifest = make(settings, engine, file, on_rows)
    if json:
        put_json({"file": str(file), "bytes": file.stat().st_size, **manifest.model_dump(mode="json")})
        return 0
    rows = sum(member.rows or 0 for member in manifest.members.values())
    tell(f"Wrote {file}: {rows} rows, {size_text(file.stat().st_size)}.", "green")
    say("It holds sources, password hashes and secret keys: protect it like the server.", "dim")
    return 0


def restore(
    file: _File,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the present contents of the database.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Restore a backup into an empty SQLite or PostgreSQL database, completely or not at all."""
    from grader.service.operation.restore import restore as put_back

    with database() as (settings, engine), _progress() as on_rows:
        manifest = put_back(settings, engine, file, replace, on_rows)
    if json:
        put_json(manifest)
        return 0
    rows = sum(member.rows or 0 for member in manifest.members.values())
    tell(f"Restored {rows} rows of {manifest.created_at}.", "green")
    say("Start web and workers; submissions that were being judged are judged again.", "dim")
    return 0


def prune(
    days: Annotated[
        int | None,
        typer.Option(
            "--older-than",
            metavar="DAYS",
            min=1,
            help="Also reports and artefacts older than this. (GRADER_RETENTION_DAYS)",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it (default: only show it).")] = False,
    json: options.Json = False,
) -> int:
    """Show unneeded data, and remove it with --yes. Data that a board needs always stays."""
    from grader.service.operation.retention import prune as remove

    with here() as platform:
        done = remove(platform, days or platform.settings.retention_days or None, dry_run=not yes)
    if json:
        put_json(done)
        return 0
    counts = done.model_dump(exclude={"dry_run", "report_bytes"})
    listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    tell(f"{'Removed' if yes else 'Would remove'}: {listed or 'nothing'}.")
    if done.report_bytes:
        say(f"The reports take {size_text(done.report_bytes)}.", "dim")
    if not yes and listed:
        say("Remove it with: --yes", "dim")
    return 0


_SAID_EVERY_SECONDS = 5.0


@contextmanager
def _progress() -> Iterator[Callable[[str, int], None]]:
    """One line on a terminal; elsewhere a line now and then."""
    if not aside().is_terminal:
        said_at = time.monotonic()

        def each(table: str, rows: int) -> None:
            nonlocal said_at
            if time.monotonic() - said_at > _SAID_EVERY_SECONDS:
                said_at = time.monotonic()
                say(f"{table}: {rows} rows", "dim")

        yield each
        return
    with aside().status("") as status:
        yield lambda table, rows: status.update(f"{table}: {rows} rows")


def _verdict_named(word: str) -> Verdict:
    try:
        return Verdict(word)
    except ValueError:
        raise typer.BadParameter(f"'{word}' is not one of {', '.join(Verdict)}.") from None


_WithVerdict = Annotated[
    Verdict | None,
    typer.Option(
        "--verdict",
        metavar="VERDICT",
        parser=_verdict_named,
        help="Only with this verdict, such as wrong_answer.",
    ),
]
_User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Only this user's.")]
_OfChallenge = Annotated[
    str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="Only for this challenge.")
]


def submissions(
    submission: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Show this one, and the command that finds its log lines."),
    ] = None,
    challenge: _OfChallenge = None,
    user: _User = None,
    state: Annotated[State | None, typer.Option("--state", help="Only in this state.")] = None,
    verdict: _WithVerdict = None,
    device: options.Device = None,
    request: Annotated[
        str | None, typer.Option("--request", metavar="ID", help="Only the one sent by this web request.")
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", min=0, help="Only the last N days.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="How many, newest first.")] = 50,
    json: options.Json = False,
) -> int:
    """List this machine's submissions, newest first, or show one."""
    if submission is not None:
        return _show(submission, json)
    from grader.schemas.submission_search import FoundSubmissionList
    from grader.service.submissions.submission_search import SearchFilter, entries

    wanted = SearchFilter(challenge, user, state, verdict, device, request=request, since_days=days)
    with here() as platform:
        found = list(entries(platform, wanted, limit))
    if json:
        put_json(FoundSubmissionList(submissions=found))
        return 0
    rows = table("submission", "submitted", "user", "challenge", "device", "state", "verdict", "failures")
    for each in found:
        ended = each.verdict.value if each.verdict else ""
        words = (each.user, each.challenge, each.device, each.state.value, ended, each.failures or "")
        rows.add_row(Text(each.id, "cyan"), moment(each.created_at), *(safe(word) for word in words))
    put_table(rows)
    return 0


def _show(submission: str, json: bool) -> int:
    from grader.service.submissions.submission_search import entry

    with here() as platform:
        found = entry(platform, submission)
    if json:
        put_json(found)
        return 0
    for name, value in found.model_dump(mode="json").items():
        if value is not None and value != "":
            shown = duration(value) if name.endswith("_us") else str(value)
            out().print(Text(f"{name:<12}", "dim"), safe(shown), soft_wrap=True)
    ids = [found.id, *([found.request_id] if found.request_id else [])]
    say(f"Its log lines: grep -E '{'|'.join(ids)}' in the logs of web and workers.", "dim")
    return 0


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A new file (default, and -: stdout).")
    ] = None,
    form: Annotated[
        Literal["csv", "json"], typer.Option("--format", help="csv: a table; json: JSON lines.")
    ] = "csv",
    challenge: _OfChallenge = None,
    bom: options.Bom = False,
) -> int:
    """Write results, without sources, as CSV for spreadsheets or as JSON lines."""
    from grader.service.submissions.submission_search import SearchFilter, as_csv, entries

    with here() as platform:
        found = entries(platform, SearchFilter(challenge))
        lines = as_csv(found, bom) if form == "csv" else (each.model_dump_json() + "\n" for each in found)
        if file is None or file == Path("-"):
            sys.stdout.writelines(lines)
            return 0
        try:
            with file.open("x", encoding="utf-8", newline="") as target:
                target.writelines(lines)
        except FileExistsError as error:
            raise Conflict(f"'{file}' already exists.", "Name a new file.") from error
        except OSError as error:
            raise BadRequest(f"'{file}' cannot be written: {error.strerror}.") from error
    say(f"Wrote {file}.", "green")
    return 0


def forget(
    name: Annotated[str, typer.Argument(metavar="USER", help="The account's name.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it. This cannot be undone.")] = False,
    json: options.Json = False,
) -> int:
    """Remove a person's name, address, tokens, sources and reports. Boards keep the times under a made-up name."""
    from grader.service.operation.retention import forget as remove

    if not yes:
        raise BadRequest(f"This would remove '{name}' for good.", "Add --yes to do it.")
    with here() as platform:
        done = remove(platform, name)
    if json:
        put_json(done)
        return 0
    tell(f"Removed. Boards show '{done.name}' for {done.submissions} submissions.", "green")
    say("Earlier backups still hold the person's data, and logs still hold ids.", "dim")
    return 0
