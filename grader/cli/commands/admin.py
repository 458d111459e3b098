"""`admin`: versions of challenges on the server, and the admin commands of other modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from grader.cli import budgets, operations, options, queues, stored_data
from grader.cli.client import connect, segment, understood
from grader.cli.command import make_app
from grader.cli.report import factor_text, verdict_text
from grader.cli.terminal import moment, out, put_json, put_table, safe, say, table
from grader.formats import duration
from grader.schemas.version import (
    ComparedSubmission,
    Comparison,
    Judgement,
    PublishBody,
    Rejudge,
    RejudgeBody,
    VersionList,
)

app = make_app()
admin = make_app()
app.add_typer(admin, name="admin", help="Manage versions, queues, workers and stored data.")
admin.add_typer(queues.queue, name="queue", help="Pause and resume queues.")
admin.add_typer(queues.worker, name="worker", help="Drain and resume workers, and issue their tokens.")
operations.register(admin)
budgets.register(admin)
stored_data.register(admin)


@admin.command()
def versions(slug: options.Slug, json: options.Json = False) -> int:
    """List the served versions of a challenge, and the one whose board is shown."""
    found = understood(VersionList, connect().get(f"/challenges/{segment(slug)}/versions"))
    if json:
        put_json(found)
    else:
        _show_versions(found)
    return 0


@admin.command()
def rejudge(
    slug: options.Slug,
    ranked: Annotated[bool, typer.Option("--ranked", help="Only submissions on a board.")] = False,
    json: options.Json = False,
) -> int:
    """Judge submissions again under the new version, after everything that students are waiting for."""
    body = RejudgeBody(ranked=ranked).model_dump()
    ordered = understood(Rejudge, connect().post(f"/challenges/{segment(slug)}/rejudge", body))
    if json:
        put_json(ordered)
    else:
        say(
            f"{ordered.queued} submissions will be judged again under version {ordered.version}; "
            f"{ordered.waiting} are waiting or running now."
        )
        if ordered.left_out:
            say(f"{ordered.left_out} left out: their sources were deleted with an account.", "yellow")
        say(f"Follow it with: grader admin compare {slug}", "dim")
    return 0


@admin.command()
def sources(
    slug: options.Slug,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The ZIP (default: SLUG-sources.zip)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Write everything submitted for a challenge to one ZIP, with a manifest as CSV and JSON."""
    file = output or Path(f"{slug}-sources.zip")
    size = connect().download(f"/challenges/{segment(slug)}/sources.zip", file)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {size} bytes to {file}.", "green")
    return 0


@admin.command()
def compare(
    slug: options.Slug,
    before: Annotated[
        int | None,
        typer.Option(
            "--before", min=1, metavar="VERSION", help="The older version (default: the one shown)."
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option("--after", min=1, metavar="VERSION", help="The newer version (default: the folder's)."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Show the verdicts, times and ranks that differ between two versions."""
    found = understood(
        Comparison, connect().get(f"/challenges/{segment(slug)}/comparison", before=before, after=after)
    )
    if json:
        put_json(found)
    else:
        _show_comparison(found)
    return 0


@admin.command()
def publish(
    slug: options.Slug,
    force: Annotated[
        bool, typer.Option("--force", help="Even while submissions wait to be judged again.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show students the board of the new version."""
    body = PublishBody(force=force).model_dump()
    found = understood(VersionList, connect().post(f"/challenges/{segment(slug)}/publish", body))
    if json:
        put_json(found)
    else:
        say(f"Students now see the board of version {found.folder}.", "green")
        _show_versions(found)
    return 0


def _show_versions(found: VersionList) -> None:
    rows = table("version", "board", "judged", "first served", "fingerprint")
    for each in found.versions:
        state = (
            Text("shown", "green")
            if each.shown
            else Text("" if each.published_at else "not published", "yellow")
        )
        served = moment(each.served_at)
        rows.add_row(str(each.version), state, str(each.judged), served, safe(each.fingerprint[:12], "dim"))
    put_table(rows)
    if found.folder not in [each.version for each in found.versions]:
        say(f"Nothing has been judged under the folder's version {found.folder} yet.", "dim")


def _show_comparison(found: Comparison) -> None:
    changed = sum(pair.verdict_changed for pair in found.submissions)
    out().print(
        Text(f"{found.challenge}, version {found.before} -> version {found.after}", "bold"),
        Text(f"{found.judged} judged under both, {found.waiting} waiting, {found.not_ordered} not ordered"),
    )
    if found.left_out:
        say(f"{found.left_out} left out: their sources were deleted with an account.", "dim")
    if found.failed:
        say(f"The platform failed to judge {found.failed}: grader admin rejudge {found.challenge}", "yellow")
    ratio = f", new time / old time {found.median_time_ratio:.3g} (median)" if found.median_time_ratio else ""
    out().print(Text(f"{changed} with another verdict{ratio}"))
    rows = table("submission", "user", "device", "before", "after", "time before", "time after", "ratio")
    for pair in found.submissions:
        rows.add_row(*_row(pair))
    put_table(rows)
    ranks = table("board", "user", "rank before", "rank after")
    for rank in found.ranks:
        if rank.before != rank.after:
            ranks.add_row(safe(rank.device), safe(rank.user), str(rank.before or ""), str(rank.after or ""))
    if ranks.row_count:
        put_table(ranks)
    if found.shown != found.after:
        say(f"Students see version {found.shown}. Next: grader admin publish {found.challenge}", "dim")


def _row(pair: ComparedSubmission) -> list[Text]:
    return [
        safe(pair.submission, "cyan"),
        safe(pair.user),
        safe(pair.device),
        _verdict(pair.before),
        _verdict(pair.after),
        _time(pair.before),
        _time(pair.after),
        Text(factor_text(pair.time_ratio) if pair.time_ratio else ""),
    ]


def _verdict(judgement: Judgement | None) -> Text:
    if judgement is None:
        return Text("not ordered", "dim")
    return verdict_text(judgement.verdict) if judgement.verdict else Text(judgement.state.value, "cyan")


def _time(judgement: Judgement | None) -> Text:
    return Text(duration(judgement.time_us) if judgement and judgement.time_us else "")
