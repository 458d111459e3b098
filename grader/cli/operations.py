"""`admin operations`, `retry`, `audit`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from grader.cli import options
from grader.cli.client import connect, understood
from grader.cli.terminal import moment, put_json, put_table, safe, say, table, tell
from grader.errors import BadRequest
from grader.formats import size_text
from grader.schemas.course import AuditLog
from grader.schemas.hardware import GpuReading
from grader.schemas.operations import Operations
from grader.schemas.submission_search import Requeued


def register(admin: typer.Typer) -> None:
    for command in (operations, retry, audit):
        admin.command()(command)


def operations(json: options.Json = False) -> int:
    """Show alerts, queues, workers with their GPUs, waiting times of the last day, and platform failures."""
    found = understood(Operations, connect().get("/operations"))
    if json:
        put_json(found)
        return 0
    for alert in found.alerts:
        tell(alert.text, "red")
        say(alert.hint, "dim")
    if not found.alerts:
        tell("There are no alerts.", "green")
    rows = table("queue", "waiting", "oldest wait", "running", "workers", "state")
    for each in found.queues.queues:
        oldest = found.waits.get(each.name)
        state = (
            f"paused {each.paused.reason}".rstrip()
            if each.paused
            else "served"
            if each.workers
            else "no worker"
        )
        waits = f"{oldest:.0f} s" if oldest else ""
        rows.add_row(
            safe(each.name, "cyan"),
            str(each.waiting),
            waits,
            str(each.running),
            str(each.workers),
            safe(state),
        )
    put_table(rows)
    if found.workers:
        _put_workers(found)
    if found.checks_waiting:
        tell(f"{found.checks_waiting} uploaded challenges wait for their check.")
    _put_hours(found)
    for failure in found.failures:
        tell(f"{failure.submission} ({failure.challenge} on {failure.device}) failed: {failure.error}")
    if found.failures:
        say("Once the cause is fixed: grader admin retry --all", "dim")
    return 0


def retry(
    submissions: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="The failed submissions.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All failed submissions.")] = False,
    on_machine: Annotated[
        bool, typer.Option("--here", help="On this machine's platform, without a server or a token.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Queue submissions that the platform failed to judge again."""
    if bool(submissions) == everything:
        listing = "admin submissions --state failed" if on_machine else "admin operations"
        raise BadRequest("Name submissions, or use --all.", f"List them: grader {listing}")
    if on_machine:
        from grader.cli.local_platform import here
        from grader.service.operation.operations import retry as requeue

        with here() as platform:
            done = requeue(platform, None, submissions or [])
    else:
        done = understood(Requeued, connect().post("/operations/retry", {"submissions": submissions or []}))
    if json:
        put_json(done)
    else:
        say(f"{len(done.submissions)} submissions are queued again.", "green")
    return 0


def audit(
    actor: Annotated[str, typer.Option("--actor", metavar="NAME", help="Only what this person did.")] = "",
    action: Annotated[
        str,
        typer.Option("--action", metavar="TEXT", help="Only actions with this prefix, such as challenge."),
    ] = "",
    subject: Annotated[
        str,
        typer.Option(
            "--subject", metavar="PATH", help="Only subjects with this prefix, such as /courses/gpu."
        ),
    ] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="How many entries.")] = 50,
    older_than: Annotated[
        int | None,
        typer.Option("--older-than", metavar="N", min=1, help="Only entries before this number."),
    ] = None,
    json: options.Json = False,
) -> int:
    """List the actions of staff, newest first: who, when, what, to what, and why."""
    given = {"actor": actor, "action": action, "subject": subject}
    asked = {name: value for name, value in given.items() if value}
    found = understood(AuditLog, connect().get("/audit", **asked, limit=limit, older_than=older_than))
    if json:
        put_json(found)
        return 0
    put_log(found)
    if len(found.entries) == limit:
        say(f"Earlier ones: --older-than {found.entries[-1].id}", "dim")
    return 0


def put_log(found: AuditLog, under: str = "") -> None:
    """Cuts ``under``, such as ``/courses/gpu``, from subjects."""
    rows = table("when", "who", "did", "to", "before", "after", "why")
    for each in found.entries:
        rows.add_row(
            moment(each.at),
            safe(each.actor),
            safe(each.action),
            safe(each.subject.removeprefix(under)),
            safe(_facts(each.before)),
            safe(_facts(each.after)),
            safe(each.reason),
        )
    put_table(rows)


def _facts(values: dict[str, object] | None) -> str:
    return ", ".join(f"{name} {value}" for name, value in (values or {}).items())


def _put_workers(found: Operations) -> None:
    rows = table("worker", "serves", "state", "submission", "GPU")
    for entry in found.workers:
        gpu = Text("") if entry.reading is None else _gpu(entry.reading)
        rows.add_row(
            safe(entry.worker.name, "cyan"),
            safe(entry.worker.device or "compile"),
            safe(
                f"{entry.worker.state}: {entry.fault}" if entry.fault else entry.worker.state,
                "red" if entry.fault else "",
            ),
            safe(entry.worker.submission or ""),
            gpu,
        )
    put_table(rows)


def _gpu(reading: GpuReading) -> Text:
    memory = (
        f"{size_text(reading.memory_used)} of {size_text(reading.memory_total)}"
        if reading.memory_used is not None and reading.memory_total
        else ""
    )
    parts = [
        f"{reading.use} % used" if reading.use is not None else "",
        memory,
        f"{reading.temperature_c} °C" if reading.temperature_c is not None else "",
        f"{reading.power_w:.0f} W" if reading.power_w is not None else "",
        f"{reading.sm_mhz} MHz" if reading.sm_mhz is not None else "",
        *(each.value.replace("_", " ") for each in reading.events),
    ]
    said = ", ".join(part for part in parts if part)
    return Text(f"slowed: {said}", "red") if reading.slowed else Text(said)


def _put_hours(found: Operations) -> None:
    rows = table("hour", "judged", "failed", "median wait", "95th percentile")
    for each in found.hours:
        if each.judged or each.failed:
            waits = (
                "" if seconds is None else f"{seconds:.1f} s" for seconds in (each.wait_s, each.wait_95_s)
            )
            rows.add_row(moment(each.hour), str(each.judged), str(each.failed or ""), *waits)
    if rows.row_count:
        put_table(rows)
    else:
        tell("Nothing was judged in the last 24 hours.")
