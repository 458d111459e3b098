"""`quota`: what is left of the caller's limits."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import options
from grader.cli.budgets import budget_table
from grader.cli.client import connect, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, put_json, put_table, table, tell
from grader.schemas.queue import OwnQuotas, Quota

app = make_app(remote=True)


@app.command()
def quota(
    challenge: Annotated[
        str | None, typer.Argument(metavar="[CHALLENGE]", help="Also show the limits of this challenge.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Show what is left of your limits, and the GPU seconds that you used."""
    found = understood(OwnQuotas, connect().get("/me/quotas", challenge=challenge))
    if json:
        put_json(found)
        return 0
    lines: dict[str, Quota] = {
        "submissions waiting or running": found.waiting,
        "runs waiting or running": found.running,
        "runs within an hour": found.runs,
    }
    if found.challenge is not None:
        hours = found.challenge.window_s / 3600
        lines[f"submissions for {found.challenge.challenge} within {hours:g} h"] = found.challenge.submissions
    rows = table("limit", "used", "left", "next ones from")
    for name, limit in lines.items():
        rows.add_row(
            name,
            f"{limit.used} of {limit.limit}",
            str(limit.remaining),
            moment(limit.frees_at) if limit.frees_at else "",
        )
    put_table(rows)
    used = sum(day.seconds for day in found.gpu.days)
    tell(f"Your submissions and runs used {used:.1f} GPU seconds in the last 30 days.")
    if found.gpu.budgets:
        put_table(budget_table(found.gpu.budgets))
    return 0
