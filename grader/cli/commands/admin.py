"""`admin`: what staff do with versions of challenges, queues and workers, on the server that they are signed in to."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import maintenance, options, queues
from grader.cli.answers import understood
from grader.cli.client import connect, segment
from grader.cli.command import make_app
from grader.cli.report import factor_text, time_text, verdict_text
from grader.cli.terminal import out, put_json, put_table, safe, say
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
app.add_typer(admin, name="admin", help="Manage versions of challenges, queues and workers.")
admin.add_typer(queues.queue, name="queue", help="Pause and resume queues.")
admin.add_typer(queues.worker, name="worker", help="Drain and resume workers.")
maintenance.register(admin)


@admin.command()
def versions(slug: options.Slug, json: options.Json = False) -> int:
    """List the versions of a challenge that were served, and whose board is shown."""
    found = understood(VersionList, connect().get(f"/challenges/{segment(slug)}/versions"))
    if json:
        put_json(found)
    else:
        _show_versions(found)
    return 0


@admin.command()
def rejudge(
    slug: options.Slug,
    ranked: Annotated[bool, typer.Option("--ranked", help="Only what stands on a board.")] = False,
    json: options.Json = False,
) -> int:
    """Have submissions judged again under the new version, behind all students."""
    body = RejudgeBody(ranked=ranked).model_dump()
    ordered = understood(Rejudge, connect().post(f"/challenges/{segment(slug)}/rejudge", body))
    if json:
        put_json(ordered)
    else:
        say(
            f"{ordered.queued} submissions are judged again under version {ordered.version}; "
            f"{ordered.waiting} are waiting or running now."
        )
        say(f"Follow it with: grader admin compare {slug}", "dim")
    return 0


@admin.command()
def compare(
    slug: options.Slug,
    before: Annotated[
        int | None, typer.Option("--before", min=1, metavar="VERSION", help="Else the one that is shown.")
    ] = None,
    after: Annotated[
        int | None, typer.Option("--after", min=1, metavar="VERSION", help="Else that of the folder.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Show which verdicts, times and ranks differ between two versions."""
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
        bool, typer.Option("--force", help="Also while submissions wait to be judged again.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show students the board of the new version from now on."""
    body = PublishBody(force=force).model_dump()
    found = understood(VersionList, connect().post(f"/challenges/{segment(slug)}/publish", body))
    if json:
        put_json(found)
    else:
        say(f"Students see the board of version {found.folder} now.", "green")
        _show_versions(found)
    return 0


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name)
    return table


def _show_versions(found: VersionList) -> None:
    table = _table("version", "board", "judged", "first served", "fingerprint")
    for each in found.versions:
        state = (
            Text("shown", "green")
            if each.shown
            else Text("" if each.published_at else "not published", "yellow")
        )
        served = each.served_at.astimezone().strftime("%Y-%m-%d %H:%M")
        table.add_row(str(each.version), state, str(each.judged), served, safe(each.fingerprint[:12], "dim"))
    put_table(table)
    if found.folder not in [each.version for each in found.versions]:
        say(f"The folder has version {found.folder}, which nothing was judged by yet.", "dim")


def _show_comparison(found: Comparison) -> None:
    changed = sum(pair.verdict_changed for pair in found.submissions)
    out().print(
        Text(f"{found.challenge}, version {found.before} -> version {found.after}", "bold"),
        Text(f"{found.judged} judged under both, {found.waiting} waiting, {found.not_ordered} not ordered"),
    )
    if found.failed:
        say(f"{found.failed} failed by our fault: grader admin rejudge {found.challenge}", "yellow")
    told = f", times {found.median_time_ratio:.3g} times the old (median)" if found.median_time_ratio else ""
    out().print(Text(f"{changed} with another verdict{told}"))
    table = _table("submission", "user", "device", "before", "after", "time before", "time after", "ratio")
    for pair in found.submissions:
        table.add_row(*_row(pair))
    put_table(table)
    ranks = _table("board", "user", "rank before", "rank after")
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
    return Text(time_text(judgement.time_us) if judgement and judgement.time_us else "")
