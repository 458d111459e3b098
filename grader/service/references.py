"""What entries of a board are compared with: PyTorch's own times, the staff's solution, the speed of light."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from grader.records.models import ReportRow
from grader.records.ranks import Place
from grader.schemas.leaderboard import Reference, ReferenceKind
from grader.scoring import geometric_mean

# Reports of the best: where the first says nothing (it was pruned, or is of an old release), the next one may.
ASKED = 5
# What speedups are over.
_EAGER = "eager"


def references(session: Session, places: Sequence[Place], staff: Place | None) -> list[Reference]:
    """The fastest first. Baselines are frozen and ceilings belong to the device, so that any report of the board tells
    them; the best one's is asked. As an entry's time is, each is a geometric mean over the ranked workloads.
    """
    asked = [*places[:ASKED], *([staff] if staff else [])]
    told = (_workloads(session, place.submission) for place in asked)
    workloads: list[dict[str, Any]] = next((it for it in told if it), [])
    times = _baselines(workloads)
    light = _mean(workload.get("roofline_us") for workload in workloads)
    eager = times.get(_EAGER)
    found = [_reference(ReferenceKind.BASELINE, name, time, eager, light) for name, time in times.items()]
    if light is not None:
        found.append(_reference(ReferenceKind.ROOFLINE, "speed of light", light, eager, light))
    if staff is not None:
        own = _reference(ReferenceKind.STAFF, "staff solution", staff.time_us, eager, light)
        found.append(own.model_copy(update={"ci_us": (staff.low_us, staff.high_us)}))
    return sorted(found, key=lambda it: it.time_us)


def _reference(
    kind: ReferenceKind, name: str, time_us: float, eager: float | None, light: float | None
) -> Reference:
    return Reference(
        kind=kind,
        name=name,
        time_us=time_us,
        speedup=eager / time_us if eager is not None else None,
        sol=light / time_us if light is not None else None,
    )


def _workloads(session: Session, submission: int) -> list[dict[str, Any]]:
    """Those that are ranked, of the report that counts; none where it is not there any more."""
    row = ReportRow
    body = session.scalar(
        select(row.body).where(row.submission_id == submission).order_by(row.attempt.desc()).limit(1)
    )
    # As it is stored: few fields of it are needed, and those are in reports of every release.
    stored = json.loads(body) if body else {}
    return [workload for workload in stored.get("workloads", []) if workload.get("ranked")]


def _baselines(workloads: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Of those that every workload has."""
    names = [list(workload.get("baselines_us", {})) for workload in workloads]
    means = {
        name: _mean(workload["baselines_us"].get(name) for workload in workloads)
        for name in (names[0] if names else [])
    }
    return {name: mean for name, mean in means.items() if mean is not None}


def _mean(values: Iterable[float | None]) -> float | None:
    """Geometric; none where one is missing."""
    given = list(values)
    known = [value for value in given if value is not None and value > 0]
    return geometric_mean(known) if known and len(known) == len(given) else None
