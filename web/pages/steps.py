from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, make_response, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader.device_kinds import find_kind
from grader.errors import BadRequest, GraderError, NotFound
from grader.languages import ON_EMULATED
from grader.sandbox.emulator.stepping.recorder import VERSION
from grader.schemas.own_case import StepChoice
from grader.schemas.report import CaseReport, CaseVerdict, Report
from grader.schemas.step import StepAccess, StepBundle, StepLane
from grader.schemas.submission import SubmissionView
from grader.service.submissions import step_run, submissions
from grader.web import assets, throttle
from grader.web.access import AUTHOR, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, titles
from grader.web.pages.keys import Page

pages = Blueprint("steps", __name__)

_ENGINE = "engine.wasm"
# Words between these, as floats, are shown as floats.
_LEAST, _MOST = 1e-12, 1e12
_NOT_INSTALLED = "Stepping is not available in this installation: it was built without zig."
_OTHER_VERSION = (
    "This block was recorded by another version of the platform. Submit again to step through it."
)
# Between two looks at a run that records a block.
_LOOKS_EVERY = 1


@dataclass(frozen=True)
class Racing:
    """One access of a race. Words: hexadecimal, in memory order."""

    block: str
    thread: str
    line: int
    verb: str
    row: int
    before: str
    after: str


class Order(list[Racing]):
    """Two accesses in one order of the blocks, the ``number``-th."""

    def __init__(self, number: int, accesses: list[StepAccess]) -> None:
        super().__init__(map(_racing, accesses))
        self.number = number


@dataclass(frozen=True)
class Steps:
    """``why``: a sentence if it cannot step. ``named``: with variables' names."""

    case: CaseReport
    bundle: StepBundle
    lanes: list[tuple[str, StepLane]]
    why: str
    named: bool
    orders: list[Order]
    word: str

    @property
    def goes_wrong(self) -> bool:
        return bool(self.lanes) or self.case.verdict is CaseVerdict.RUNTIME_ERROR

    @property
    def launches(self) -> list[tuple[int, str]]:
        return [
            (number, f"{number + 1}: {launch.kernel}, {_blocks(launch.grid)}")
            for number, launch in enumerate(self.bundle.launches)
        ]

    @property
    def outcome(self) -> str:
        """What the order of a race's two blocks decides."""
        ends = [word(order[1].after) for order in self.orders]
        reads = [word(access.before) for order in self.orders for access in order if access.verb == "reads"]
        if len(set(reads)) > 1:
            return f"The order decides what is read: {' or '.join(dict.fromkeys(reads))}."
        if len(set(ends)) > 1:
            return f"The order decides what stays: {' or '.join(ends)}."
        return "Nothing orders the two; here either order gives the same."


@pages.app_template_filter("word")
def word(text: str) -> str:
    """``text``: hexadecimal bytes in memory order; a float if it looks like one, else an integer."""
    data = bytes.fromhex(text)
    if len(data) not in (4, 8):
        return data[::-1].hex()
    (real,) = struct.unpack("<f" if len(data) == 4 else "<d", data)
    number = int.from_bytes(data, "little", signed=True)
    likely = math.isnan(real) or (math.isfinite(real) and _LEAST < abs(real) < _MOST)
    return f"{real:.7g}" if likely else f"{number:,}"


@pages.get("/submissions/<submission>/step")
@open_to(AUTHOR)
def show(submission: str) -> Response | Page:
    """A block of a submission: its source, warps, variables, registers and shared memory, row by row; and a form to
    choose another one."""
    return _page(submission)


@pages.post("/submissions/<submission>/step")
@open_to(AUTHOR)
@throttle.run_limit
def record(submission: str) -> BaseResponse | Response | Page:
    """Record a block of choice: a run of one public case, whose page steps through it."""
    try:
        run = step_run.step_run(
            platform(), current_user(), submission, request.form.get("case", ""), _choice()
        )
    except GraderError as error:
        return _page(submission, error)
    return redirect(url_for("steps.show", submission=run.id), 303)


@pages.get("/submissions/<submission>/step/bundle")
@open_to(AUTHOR)
def bundle(submission: str) -> Response:
    """The recorded block, for the page's script."""
    found = _recorded(_report(submission))
    if found is None or not found[1].data:
        raise NotFound("This submission has no recorded block.", found[1].why if found is not None else "")
    named = request.args.get("program") == "named" and found[1].named
    content = found[1].named_content if named else found[1].content
    return Response(content, mimetype="application/octet-stream")


def may_choose(view: SubmissionView, report: Report) -> list[CaseReport]:
    """Empty if no block can be recorded here."""
    kind = find_kind(view.device)
    if kind is None or kind.on != ON_EMULATED or not view.language.compiled:
        return []
    return [case for case in report.cases if not case.hidden and case.on is None and case.seed is not None]


def _page(submission: str, error: GraderError | None = None) -> Response | Page:
    view = submissions.get_submission(platform(), current_user(), submission)
    title = titles.of(view.challenge)
    if not view.state.final:
        page = make_response(render_template("step_waits.html", title=title, view=view))
        page.headers["Refresh"] = str(_LOOKS_EVERY)
        return page
    report = _report(submission)
    recorded, cases = _recorded(report), may_choose(view, report)
    if recorded is None and not cases:
        raise NotFound(
            "This submission has no recorded block.",
            "One is recorded when the emulated GPU finds a fault in a public case.",
        )
    source = submissions.get_source(platform(), current_user(), submission)
    engine = assets.built(_ENGINE)
    found = _steps(recorded, engine) if recorded is not None else None
    shown = render_template(
        "step.html",
        title=title,
        view=view,
        report=report,
        cases=cases,
        chosen=_chosen(found, cases),
        found=found,
        programs=view.language.programs,
        steps=found is not None and not found.why,
        error=error,
        lines=list(enumerate(code.lines(source.source), 1)),
        engine=url_for("static", filename=engine) if engine else "",
        bundle=url_for(
            "steps.bundle",
            submission=submission,
            program="named" if found is not None and found.named else None,
        ),
    )
    return shown, error.status if error is not None else 200


def _steps(recorded: tuple[CaseReport, StepBundle], engine: str | None) -> Steps:
    case, bundle = recorded
    named = bool(bundle.named) and request.args.get("program") != "judged"
    lanes = [(_index(lane.thread), lane) for lane in bundle.lanes]
    # The other program has other rows.
    orders = [] if named else [Order(number, order) for number, order in enumerate(bundle.orders)]
    return Steps(case, bundle, lanes, _why(bundle, engine), named, orders, bundle.word)


def _chosen(found: Steps | None, cases: list[CaseReport]) -> dict[str, Any]:
    """The sent values, else the recorded block's."""
    given = {name: request.form[name] for name in ("case", "launch", "x", "y", "z") if name in request.form}
    block = found.bundle.block if found is not None else [0, 0, 0]
    return {
        "case": found.case.name if found is not None else cases[0].name if cases else "",
        "launch": found.bundle.launch + 1 if found is not None else 1,
        **dict(zip("xyz", block, strict=True)),
        **given,
    }


def _choice() -> StepChoice:
    """Raises BadRequest."""
    if request.form.get("fault"):
        return StepChoice()
    numbers = []
    for name, what in (("launch", "launch"), ("x", "block's x"), ("y", "block's y"), ("z", "block's z")):
        text = request.form.get(name, "").strip()
        if text and not (text.isdecimal() and len(text) < 11):
            raise BadRequest(f"The {what} is '{text[:20]}', and must be a whole number.", "Correct the form.")
        numbers.append(int(text) if text else None)
    launch, x, y, z = numbers
    if launch == 0:
        raise BadRequest("Launches are numbered from 1.", "Correct the form.")
    try:
        return StepChoice(launch=launch - 1 if launch is not None else None, block=(x or 0, y or 0, z or 0))
    except ValidationError as error:
        raise BadRequest("There is no such launch or block.", "Correct the form.") from error


def _report(submission: str) -> Report:
    return submissions.get_report(platform(), current_user(), submission)


def _recorded(report: Report) -> tuple[CaseReport, StepBundle] | None:
    # Bundles have their case's data: never a hidden one's.
    for case in report.cases:
        if case.step is not None and not case.hidden:
            return case, case.step
    return None


def _why(bundle: StepBundle, engine: str | None) -> str:
    if bundle.why or not bundle.data:
        return bundle.why or "This block was not recorded."
    if bundle.version != VERSION:
        return _OTHER_VERSION
    return "" if engine else _NOT_INSTALLED


def _racing(access: StepAccess) -> Racing:
    verb = "updates" if access.reads and access.writes else "writes" if access.writes else "reads"
    numbers = (access.row, access.before, access.after)
    return Racing(_index(access.block), _index(access.thread), access.line, verb, *numbers)


def _blocks(grid: list[int]) -> str:
    shown = " x ".join(map(str, grid[: 3 if grid[2] > 1 else 2 if grid[1] > 1 else 1]))
    return f"{shown} block{'' if shown == '1' else 's'}"


def _index(index: list[int]) -> str:
    """(3, 0, 0) is 3, (3, 1, 0) is (3, 1)."""
    x, y, z = index
    return str(x) if y == z == 0 else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"
