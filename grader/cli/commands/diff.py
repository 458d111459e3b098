"""`diff`: compare two submissions, or a file and a submission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.follow import fetch, fetch_report
from grader.cli.report import factor_text, verdict_text
from grader.cli.terminal import out, put_json, safe, say
from grader.diff import unified
from grader.errors import BadRequest, NotFound
from grader.formats import duration
from grader.languages import Language
from grader.schemas.report import Report, WorkloadReport
from grader.schemas.submission import SourceView, State, SubmissionList, SubmissionView

app = make_app()
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@app.command()
def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A submission or a file: the older one.")],
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[B]",
            help="The newer one (default: A is the newer, compared with your submission before it).",
        ),
    ] = None,
    challenge: Annotated[
        str | None,
        typer.Option(
            "--challenge",
            "-c",
            metavar="SLUG",
            help="With only a file: compare it with your latest for this challenge.",
        ),
    ] = None,
    json: options.Json = False,
    server: options.Server = None,
) -> int:
    """Compare two submissions, or a file and a submission: sources, and times."""
    found = compare(connect(), first, second, challenge)
    if json:
        put_json(_as_dict(found))
    else:
        _show(found)
    return 0


def _show(found: SubmissionComparison) -> None:
    for side in (found.before, found.after):
        out().print(_line(side))
    if found.changes:
        out().print(_times(found.changes))
    out().print()
    for line in found.lines:
        heading = line.startswith(("---", "+++"))
        out().print(safe(line, "bold" if heading else _COLOURS.get(line[:1], "")), soft_wrap=True)
    if not found.lines:
        say("The sources are the same.", "dim")


def _line(side: ComparedSide) -> Text:
    line = safe(side.name, "bold")
    if side.view is None:
        return line.append("  a file", "dim")
    verdict = verdict_text(side.view.verdict) if side.view.verdict else Text(side.view.state.value, "cyan")
    line.append("  ").append_text(verdict)
    if score := side.view.score:
        line.append(f"  {score.passed}/{score.total} cases")
        if score.time_us:
            line.append(f"  {duration(score.time_us)}")
        if score.speedup:
            line.append(f"  speedup {factor_text(score.speedup)}")
    return line.append_text(safe(f"  on {side.view.device}", "dim"))


def _times(changes: list[TimeChange]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("workload", "before", "after", "time", ""):
        table.add_column(name, justify="left" if name in ("workload", "") else "right")
    for change in changes:
        faster = change.ratio < 1
        style = ("green" if faster else "red") if change.sure else "dim"
        word = ("faster" if faster else "slower") if change.sure else "within the intervals"
        row = (duration(change.before_us), duration(change.after_us), Text(factor_text(change.ratio), style))
        table.add_row(safe(change.workload), *row, Text(word, style))
    return table


def _as_dict(found: SubmissionComparison) -> dict[str, Any]:
    return {
        "before": _side(found.before),
        "after": _side(found.after),
        "workloads": [
            {
                "name": change.workload,
                "before_us": change.before_us,
                "after_us": change.after_us,
                "ratio": change.ratio,
                "sure": change.sure,
            }
            for change in found.changes
        ],
        "diff": found.lines,
    }


def _side(side: ComparedSide) -> dict[str, Any]:
    view = side.view.model_dump(mode="json") if side.view is not None else None
    return {"name": side.name, "submission": view}


# Submissions searched for the previous one.
_BACK = 200


@dataclass(frozen=True)
class ComparedSide:
    """``view`` is None for a file."""

    name: str
    source: str
    view: SubmissionView | None = None
    report: Report | None = None


@dataclass(frozen=True)
class TimeChange:
    """In microseconds; ``sure`` if the intervals do not overlap."""

    workload: str
    before_us: float
    after_us: float
    sure: bool

    @property
    def ratio(self) -> float:
        return self.after_us / self.before_us


@dataclass(frozen=True)
class SubmissionComparison:
    before: ComparedSide
    after: ComparedSide

    @property
    def lines(self) -> list[str]:
        """Empty if equal."""
        old, new = self.before, self.after
        # CRLF and LF compare equal.
        return list(unified(old.source.splitlines(), new.source.splitlines(), old.name, new.name))

    @property
    def changes(self) -> list[TimeChange]:
        """Empty if the devices differ."""
        old, new = self.before.report, self.after.report
        if old is None or new is None or (old.device, old.challenge) != (new.device, new.challenge):
            return []
        return list(_changes(old.workloads, new.workloads))


def _changes(before: list[WorkloadReport], after: list[WorkloadReport]) -> Iterator[TimeChange]:
    earlier = {(workload.name, tuple(workload.sizes.items())): workload for workload in before}
    for workload in after:
        old = earlier.get((workload.name, tuple(workload.sizes.items())))
        if old is not None and old.time_us is not None and workload.time_us is not None:
            sure = workload.ci_us[1] < old.ci_us[0] or old.ci_us[1] < workload.ci_us[0]
            yield TimeChange(workload.name, old.time_us, workload.time_us, sure)


def compare(
    client: Client, first: str, second: str | None, challenge: str | None = None
) -> SubmissionComparison:
    """A single submission with the one before it, a file with the latest. Raises NotFound, or BadRequest for
    a file that cannot be read.
    """
    if second is not None:
        return SubmissionComparison(side(client, first), side(client, second))
    newer = side(client, first)
    return SubmissionComparison(side(client, _earlier(client, newer, challenge)), newer)


def side(client: Client, name: str) -> ComparedSide:
    """A file if it exists or has a source's suffix."""
    path = Path(name)
    if Language.of_file(name) is not None or path.is_file():
        return ComparedSide(name, _read(path))
    view = fetch(client, name)
    source = understood(SourceView, client.get(f"/submissions/{segment(name)}/source")).source
    report = fetch_report(client, view.id) if view.state is State.DONE else None
    return ComparedSide(f"{view.id}/{view.filename}", source, view, report)


def _read(path: Path) -> str:
    try:
        return options.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"'{path}' is not UTF-8.", "Save it as UTF-8.") from error


def _earlier(client: Client, newer: ComparedSide, challenge: str | None) -> str:
    of = newer.view.challenge if newer.view is not None else challenge
    found = understood(SubmissionList, client.get("/submissions", challenge=of, limit=_BACK)).submissions
    if newer.view is None:
        language = Language.of_file(newer.name)
        earlier = [submission for submission in found if language in (None, submission.language)]
    else:
        earlier = [submission for submission in found if submission.created_at < newer.view.created_at]
    if not earlier:
        raise NotFound(
            f"You have no earlier submission to compare {newer.name} with.", "Name both: grader diff A B"
        )
    return earlier[0].id
