"""`fleet`: workers that a scheduler or a cloud starts while work waits."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from grader.cli import options
from grader.cli.command import make_app
from grader.cli.terminal import moment, put_json, put_table, safe, say, table

if TYPE_CHECKING:
    from grader.queue.fleet.controller import Decision
    from grader.schemas.fleet import PoolView

app = make_app()
fleet = make_app()
app.add_typer(fleet, name="fleet", help="Start workers by a scheduler while work waits.")


@fleet.command()
def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The pools, as docs/operating.md describes them.")
    ],
    once: Annotated[bool, typer.Option("--once", help="Decide once, then stop.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide once and show it; launch, stop and store nothing.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Keep as many workers as the waiting submissions need, until stopped.

    It launches them by Slurm, Kubernetes or commands of your own. They end by themselves when they are idle. Workers go
    on if it stops, and another `grader fleet run` finds them.
    """
    from grader import logs
    from grader.cli.local_platform import here
    from grader.cli.processes import stop_on_signal
    from grader.queue.fleet.controller import Controller
    from grader.queue.fleet.plan import read_fleet
    from grader.queue.fleet.providers import provider_of

    plan = read_fleet(file)
    folder = file.absolute().parent
    providers = {name: provider_of(pool, folder) for name, pool in plan.pools.items()}
    with here() as platform, stop_on_signal() as stop:
        logs.configure(platform.settings.log_level, platform.settings.log_format)
        name = f"{socket.gethostname()}:{os.getpid()}"
        controller = Controller(
            plan, providers, platform.sessions, platform.settings.lease_s, name, dry_run=dry_run
        )
        try:
            decisions = controller.tick()
            if once or dry_run:
                _put_decisions(decisions, json)
            else:
                controller.run(stop)
            return 0
        finally:
            controller.close()


@fleet.command()
def status(json: options.Json = False) -> int:
    """Show each pool: what waits, the workers wanted and running, today's cost, and what limits it."""
    from grader.cli.local_platform import here
    from grader.records.engine import clock
    from grader.schemas.fleet import FleetView
    from grader.service.operation import fleets

    with here() as platform, platform.sessions() as session:
        found = FleetView(pools=fleets.pools(session, clock(session)))
    if json:
        put_json(found)
        return 0
    if not found.pools:
        say("No fleet has run here in the last day: grader fleet run FILE")
        return 0
    rows = table("pool", "serves", "waiting", "wanted", "pending", "running", "spent today", "state")
    for pool in found.pools:
        rows.add_row(
            safe(pool.name, "cyan"),
            safe(pool.device),
            *map(str, (pool.waiting, pool.wanted, pool.pending, pool.running)),
            f"{pool.spent:.2f}",
            _state(pool),
        )
    put_table(rows)
    return 0


def _state(pool: PoolView) -> Text:
    if not pool.controlled:
        return safe(f"no controller since {moment(pool.decided_at)}", "red")
    return safe(pool.note, "yellow") if pool.note else Text("controlled", "green")


def _put_decisions(decisions: Sequence[Decision], json: bool) -> None:
    if json:
        put_json({"pools": [vars(decision) for decision in decisions]})
        return
    rows = table(
        "pool", "waiting", "wanted", "pending", "running", "launch", "call off", "spent today", "note"
    )
    for each in decisions:
        counts = (each.waiting, each.wanted, each.pending, each.running, each.launches, each.stops)
        rows.add_row(
            safe(each.pool, "cyan"), *map(str, counts), f"{each.spent:.2f}", safe(each.note or each.paused)
        )
    put_table(rows)
