"""Steps through the block of a submission that an emulated GPU found at fault."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from flask import Blueprint, Response, render_template, url_for

from grader.errors import NotFound
from grader.sandbox.emulator.step import VERSION
from grader.schemas.report import CaseReport
from grader.schemas.step import StepAccess, StepBundle, StepLane
from grader.service.submissions import submissions
from grader.web import assets
from grader.web.access import AUTHOR, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, titles

pages = Blueprint("steps", __name__)

_ENGINE = "engine.wasm"
# A word between these, as a float, is shown as one.
_LEAST, _MOST = 1e-12, 1e12
_NOT_INSTALLED = "Stepping is not available in this installation: it was built without zig."
_OTHER_VERSION = (
    "This block was recorded by another version of the platform. Submit again to step through it."
)


@dataclass(frozen=True)
class Racing:
    """One of two accesses, as the page says it. Words are in hexadecimal, in the order of memory."""

    block: str
    thread: str
    line: int
    verb: str
    row: int
    before: str
    after: str


class Order(list[Racing]):
    """Two accesses in one order of the blocks. ``number``: of the order."""

    def __init__(self, number: int, accesses: list[StepAccess]) -> None:
        super().__init__(map(_racing, accesses))
        self.number = number


@dataclass(frozen=True)
class Steps:
    """``why``: a sentence instead of stepping; empty: the page steps."""

    case: CaseReport
    lanes: list[tuple[str, StepLane]]
    why: str
    orders: list[Order]
    word: str

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
    """Bytes in hexadecimal, in the order of memory, as a number: a float if that looks like one, else an integer."""
    data = bytes.fromhex(text)
    if len(data) not in (4, 8):
        return data[::-1].hex()
    (real,) = struct.unpack("<f" if len(data) == 4 else "<d", data)
    number = int.from_bytes(data, "little", signed=True)
    likely = math.isnan(real) or (math.isfinite(real) and _LEAST < abs(real) < _MOST)
    return f"{real:.7g}" if likely else f"{number:,}"


@pages.get("/submissions/<submission>/step")
@open_to(AUTHOR)
def show(submission: str) -> str:
    """The failing block of a submission: its source, warps, registers and shared memory, row by row."""
    user = current_user()
    view = submissions.get_submission(platform(), user, submission)
    case, bundle = _recorded(submission)
    source = submissions.get_source(platform(), user, submission)
    engine = assets.built(_ENGINE)
    lines = code.lines(source.source)
    return render_template(
        "step.html",
        title=titles.of(view.challenge),
        view=view,
        case=case,
        programs=view.language.python,
        found=Steps(
            case,
            [(_index(lane.thread), lane) for lane in bundle.lanes],
            _why(bundle, engine),
            [Order(number, order) for number, order in enumerate(bundle.orders)],
            bundle.word,
        ),
        lines=[(number, line) for number, line in enumerate(lines, 1)],
        engine=url_for("static", filename=engine) if engine else "",
        bundle=url_for("steps.bundle", submission=submission),
    )


@pages.get("/submissions/<submission>/step/bundle")
@open_to(AUTHOR)
def bundle(submission: str) -> Response:
    """The recorded block, for the page's script."""
    _, found = _recorded(submission)
    if not found.data:
        raise NotFound("This submission has no recorded block.", found.why)
    return Response(found.content, mimetype="application/octet-stream")


def _recorded(submission: str) -> tuple[CaseReport, StepBundle]:
    """Raises NotFound."""
    report = submissions.get_report(platform(), current_user(), submission)
    # A bundle has data of its case: none of a hidden one, whoever asks.
    for case in report.cases:
        if case.step is not None and not case.hidden:
            return case, case.step
    raise NotFound(
        "This submission has no recorded block.",
        "One is recorded when the emulated GPU finds a fault in a public case.",
    )


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


def _index(index: list[int]) -> str:
    """(3, 0, 0) is 3, (3, 1, 0) is (3, 1)."""
    x, y, z = index
    return str(x) if y == z == 0 else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"
