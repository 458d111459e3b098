from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import GraderError, NotAllowed
from grader.formats import duration
from grader.schemas.operations import HourFigures
from grader.service import audit
from grader.service.audit import AuditFilter
from grader.service.operation import operations, queues
from grader.service.submissions import budgets
from grader.web.access import STAFF, open_to
from grader.web.answers import conditional
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import plots

pages = Blueprint("operations", __name__)

Page = tuple[str, int]
_LOGGED = 100


@dataclass(frozen=True)
class HourBar:
    """Percent of the plot's size; heights from the top."""

    figures: HourFigures
    x: float
    width: float
    judged_y: float
    failed_y: float
    wait_y: float | None
    wait_95_y: float | None


@dataclass(frozen=True)
class HourPlots:
    counts: plots.Axis
    waits: plots.Axis
    bars: list[HourBar]


def hour_plots(hours: list[HourFigures]) -> HourPlots:
    """By hour."""
    counts = plots.linear(
        max([each.judged + each.failed for each in hours] + [1]), lambda value: f"{value:g}"
    )
    longest = max([hour.wait_95_s or 0.0 for hour in hours] + [0.001])
    waits = plots.linear(longest, lambda value: duration(value * 1e6) if value else "0")
    width = 100 / max(len(hours), 1)
    return HourPlots(
        counts,
        waits,
        [
            HourBar(
                entry,
                round(n * width, 2),
                round(width * 0.8, 2),
                counts.up(entry.judged + entry.failed),
                counts.up(entry.failed),
                waits.up(entry.wait_s) if entry.wait_s is not None else None,
                waits.up(entry.wait_95_s) if entry.wait_95_s is not None else None,
            )
            for n, entry in enumerate(hours)
        ],
    )


@pages.get("/operations")
@open_to(STAFF)
def show() -> Page:
    """Queues, workers, GPUs, waiting times and failures, with their buttons."""
    return _show(None)


@pages.get("/operations/panel")
@open_to(STAFF)
def panel() -> Response:
    """The part of that page that updates itself; 304 while nothing changes."""
    return conditional(Response(render_template("operations/_panel.html", **_facts())))


def _facts() -> dict[str, object]:
    found = operations.overview(platform(), current_user())
    used = budgets.list_budgets(platform(), current_user()).budgets
    return {"found": found, "plots": hour_plots(found.hours), "budgets": used}


def _show(error: GraderError | None) -> Page:
    page = render_template("operations/show.html", error=error, **_facts())
    return page, error.status if error is not None else 200


def _do(act: Callable[[], object]) -> BaseResponse | Page:
    try:
        act()
    except NotAllowed:
        raise
    except GraderError as error:
        return _show(error)
    return redirect(url_for("operations.show"), 303)


@pages.post("/operations/queues/<queue>/pause")
@open_to(STAFF)
def pause(queue: str) -> BaseResponse | Page:
    """Pause a queue."""
    reason = request.form.get("reason", "")
    return _do(lambda: queues.pause_queue(platform(), current_user(), queue, reason))


@pages.post("/operations/queues/<queue>/resume")
@open_to(STAFF)
def resume(queue: str) -> BaseResponse | Page:
    """Resume a queue."""
    return _do(lambda: queues.resume_queue(platform(), current_user(), queue))


@pages.post("/operations/workers/<worker>/drain")
@open_to(STAFF)
def drain(worker: str) -> BaseResponse | Page:
    """Let a worker end after its current submission."""
    return _do(lambda: queues.drain_worker(platform(), current_user(), worker))


@pages.post("/operations/workers/<worker>/resume")
@open_to(STAFF)
def resume_worker(worker: str) -> BaseResponse | Page:
    """Let a worker work again."""
    return _do(lambda: queues.resume_worker(platform(), current_user(), worker))


@pages.post("/operations/retry")
@open_to(STAFF)
def retry() -> BaseResponse | Page:
    """Queue again one submission that the platform failed to judge, or all of them."""
    chosen = [each for each in [request.form.get("submission", "")[:32]] if each]
    return _do(lambda: operations.retry(platform(), current_user(), chosen))


@pages.get("/audit")
@open_to(STAFF)
def log() -> str:
    """Actions of staff, by person, action and subject."""
    given = {name: request.args.get(name, "")[:200] for name in ("actor", "action", "subject")}
    before = request.args.get("older_than", "")
    older = int(before) if before.isdecimal() and len(before) < 18 else None
    found = audit.of_platform(platform(), current_user(), AuditFilter(**given), _LOGGED, older).entries
    further = found[-1].id if len(found) == _LOGGED else None
    return render_template("operations/log.html", entries=found, given=given, further=further)
