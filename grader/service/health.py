"""Is every part there? Asked by monitors, pages and ``grader doctor``."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from grader import __version__
from grader.records import workers
from grader.records.models import utcnow
from grader.schemas.submission import Health, PartHealth
from grader.service.platform import Platform


def health(platform: Platform) -> Health:
    """Database, queue and workers. Never raises: a part that does not answer is a part that is not ok."""
    parts = {"database": _database(platform), "queue": _queue(platform), "workers": _workers(platform)}
    return Health(
        ok=all(part.ok for part in parts.values()),
        version=__version__,
        parts=parts,
        devices=platform.settings.device_list,
    )


def _database(platform: Platform) -> PartHealth:
    try:
        with platform.sessions() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError:
        return PartHealth(ok=False, detail="the database does not answer")
    return PartHealth(ok=True, detail=platform.engine.dialect.name)


def _queue(platform: Platform) -> PartHealth:
    if platform.tickets.ping():
        return PartHealth(ok=True)
    return PartHealth(
        ok=False, detail="Redis does not answer; submissions are kept and served when it is back"
    )


def _workers(platform: Platform) -> PartHealth:
    """Every device needs a worker whose heart beats."""
    try:
        with platform.sessions() as session:
            alive = workers.alive(session, utcnow(), platform.settings.lease_s)
    except SQLAlchemyError:
        return PartHealth(ok=False, detail="unknown: the database does not answer")
    counts = dict.fromkeys(platform.settings.device_list, 0)
    for worker in alive:
        counts[worker.device] = counts.get(worker.device, 0) + 1
    detail = ", ".join(f"{device}: {count} alive" for device, count in counts.items())
    return PartHealth(ok=all(counts[device] for device in platform.settings.device_list), detail=detail)
