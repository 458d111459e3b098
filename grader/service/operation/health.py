from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from grader import __version__
from grader.challenge.catalogue import Catalogue
from grader.records import order, pilots, queues, schema, versions, workers
from grader.records.engine import clock
from grader.records.models import PauseRow, VersionRow, WorkerRow
from grader.records.queues import COMPILE
from grader.records.schema import SchemaTooNew
from grader.schemas.submission import Alert, Health, PartHealth, Probe
from grader.service.devices import in_order
from grader.service.operation import fleets
from grader.service.platform import Platform


def health(platform: Platform) -> Health:
    """Never raises: silent parts are not ok."""
    named = platform.settings.device_list
    devices, alerts = named, []
    try:
        with platform.sessions() as session:
            alive = workers.alive(session, clock(session), platform.settings.lease_s)
            alerts = [_alert(row) for row in workers.out_of_service(session)]
            faulty = workers.without_sandboxes(session, clock(session), platform.settings.lease_s)
            alerts += [_no_sandboxes(row) for row in faulty]
            alerts += [_draft(row) for row in versions.drafts(session)]
            alerts += [_paused(row) for row in queues.pauses(session).rows.values()]
            alerts += fleets.alerts(session, clock(session))
            launched = pilots.served(session, clock(session))
            compiling = workers.compiling(session, clock(session), platform.settings.lease_s)
            if alive and not compiling and COMPILE not in launched and (stuck := order.uncompiled(session)):
                alerts.append(_uncompiled(stuck))
        devices = in_order(named, alive)
        serving = _workers(named, devices, alive, compiling, launched)
    except SQLAlchemyError:
        serving = PartHealth(ok=False, detail="unknown: the database does not answer")
    alerts += catalogue_alerts(platform)
    parts = {"database": _database(platform), "queue": _queue(platform), "workers": serving}
    return Health(
        ok=all(part.ok for part in parts.values()),
        version=__version__,
        parts=parts,
        devices=devices,
        alerts=alerts,
    )


def ready(platform: Platform) -> Probe:
    """The database answers, has exactly this release's tables, and takes writes. One query, and a write at most every
    ``limits.WRITE_PROBE_SECONDS``."""
    try:
        missing = schema.missing_of(platform.engine)
    except SchemaTooNew:
        return Probe(ok=False, detail="the database belongs to a later release")
    except SQLAlchemyError:
        return Probe(ok=False, detail="the database does not answer")
    if missing:
        return Probe(ok=False, detail="the database is not upgraded yet")
    trouble = platform.writability.trouble(platform.engine)
    return Probe(ok=not trouble, detail=trouble or _of_broken(platform))


def _of_broken(platform: Platform) -> str:
    """No failure: a restart would not help. Names are for staff."""
    count = len(broken_challenges(platform))
    return f"{count} broken {'challenge' if count == 1 else 'challenges'}: `grader doctor`" if count else ""


def catalogue_alerts(platform: Platform) -> list[Alert]:
    """For broken challenges and an empty catalogue."""
    catalogue = platform.catalogue
    if not (broken := catalogue.broken()) and not catalogue.slugs():
        return [
            Alert(
                text=f"The catalogue in {catalogue.root} has no challenges.",
                hint=first_challenge_command(catalogue),
            )
        ]
    return [
        Alert(text=f"{challenge.slug} is broken: {challenge.error.message}", hint=challenge.hint)
        for challenge in broken
    ]


# Every page shows the banner, and reading a catalogue is slow.
_BROKEN_SECONDS = 10.0


def broken_challenges(platform: Platform) -> list[str]:
    """Slugs."""
    return platform.boards.recent(
        "broken challenges",
        _BROKEN_SECONDS,
        lambda: [challenge.slug for challenge in platform.catalogue.broken()],
    )


def first_challenge_command(catalogue: Catalogue) -> str:
    return f"GRADER_CHALLENGES={shlex.quote(str(catalogue.root))} grader challenge new NAME"


def fix_of(gpu: str, host: str) -> str:
    return (
        f"On {host}: check nvidia-smi, reset the GPU or restart the machine, then put it back with "
        f"`grader worker --gpu {gpu}` (`grader up` tries by itself)."
    )


def _alert(row: WorkerRow) -> Alert:
    what = f"The {row.device} GPU {row.gpu} on {row.host} is out of service: {row.out_of_service}"
    return Alert(text=what, hint=fix_of(row.gpu or "N", row.host))


def _no_sandboxes(row: WorkerRow) -> Alert:
    return Alert(
        text=f"The worker {row.name} on {row.host} cannot start sandboxes: {row.sandbox_fault}",
        hint=f"Run `grader doctor` on {row.host}. The worker tries again every few seconds.",
    )


def _uncompiled(count: int) -> Alert:
    return Alert(
        text=f"{count} CUDA submissions are waiting to be compiled, but no worker has a CUDA compiler.",
        hint="Install the CUDA toolkit on a worker's host, or run this elsewhere: grader worker --compile 1",
    )


def _paused(row: PauseRow) -> Alert:
    why = f": {row.reason}" if row.reason else "."
    return Alert(
        text=f"The queue {row.queue} is paused since {row.since:%Y-%m-%d %H:%M} UTC{why}",
        hint=f"grader admin queue resume {row.queue}",
    )


def _draft(row: VersionRow) -> Alert:
    return Alert(
        text=f"Version {row.version} of {row.challenge} is used for judging but not published: "
        "students see the board of the previous version.",
        hint=f"`grader admin rejudge {row.challenge}`, `grader admin compare {row.challenge}`, then "
        f"`grader admin publish {row.challenge}`.",
    )


def _database(platform: Platform) -> PartHealth:
    try:
        with platform.sessions() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        return PartHealth(ok=False, detail="the database does not answer")
    trouble = platform.writability.trouble(platform.engine)
    return PartHealth(ok=not trouble, detail=trouble or platform.engine.dialect.name)


def _queue(platform: Platform) -> PartHealth:
    if platform.wakeups.ping():
        return PartHealth(ok=True)
    return PartHealth(
        ok=False, detail="Redis does not answer; submissions are stored and judged when it is back"
    )


def _workers(
    named: list[str],
    devices: list[str],
    alive: list[WorkerRow],
    compiling: list[WorkerRow],
    launched: Collection[str],
) -> PartHealth:
    """Every configured device needs a live worker, or a fleet that starts one."""
    counts = Counter(worker.device for worker in alive)
    counted = [
        f"{device}: {counts[device]} alive" + (", more by a fleet" if device in launched else "")
        for device in devices
    ]
    if only := sum(not worker.device for worker in compiling):
        counted.append(f"compile: {only} alive")
    detail = ", ".join(counted)
    return PartHealth(ok=all(counts[device] or device in launched for device in named), detail=detail)
