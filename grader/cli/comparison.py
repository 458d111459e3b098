"""Two sources, each a submission or a file, and what differs between them: lines, verdict, times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.cli import options
from grader.cli.answers import understood
from grader.cli.client import Client, segment
from grader.cli.follow import fetch, fetch_report
from grader.diff import unified
from grader.errors import BadRequest, NotFound
from grader.languages import Language
from grader.schemas.report import Report, WorkloadReport
from grader.schemas.submission import SourceView, State, SubmissionList, SubmissionView

# How far back the submission before one is looked for.
_BACK = 200


@dataclass(frozen=True)
class Side:
    """One of the two. ``view`` is none for a file, ``report`` where there is none yet."""

    name: str
    source: str
    view: SubmissionView | None = None
    report: Report | None = None


@dataclass(frozen=True)
class Change:
    """A workload that both were timed on, in microseconds; ``sure`` where the intervals do not overlap."""

    workload: str
    before_us: float
    after_us: float
    sure: bool

    @property
    def ratio(self) -> float:
        return self.after_us / self.before_us


@dataclass(frozen=True)
class Comparison:
    before: Side
    after: Side

    @property
    def lines(self) -> list[str]:
        """The unified diff; empty where the sources are the same."""
        old, new = self.before, self.after
        # Without its line ends, so that CRLF and LF differ in nothing.
        return list(unified(old.source.splitlines(), new.source.splitlines(), old.name, new.name))

    @property
    def changes(self) -> list[Change]:
        """Each workload that both were timed on, if on the same device."""
        old, new = self.before.report, self.after.report
        if old is None or new is None or (old.device, old.challenge) != (new.device, new.challenge):
            return []
        return list(_changes(old.workloads, new.workloads))


def _changes(before: list[WorkloadReport], after: list[WorkloadReport]) -> Iterator[Change]:
    earlier = {(it.name, tuple(it.sizes.items())): it for it in before}
    for it in after:
        old = earlier.get((it.name, tuple(it.sizes.items())))
        if old is not None and old.time_us is not None and it.time_us is not None:
            sure = it.ci_us[1] < old.ci_us[0] or old.ci_us[1] < it.ci_us[0]
            yield Change(it.name, old.time_us, it.time_us, sure)


def compare(client: Client, first: str, second: str | None, challenge: str | None = None) -> Comparison:
    """From the older to the newer: with one name alone, a submission is compared with the one before it, and a file
    with the latest submission. Raises NotFound where there is none, BadRequest for a file that cannot be read.
    """
    if second is not None:
        return Comparison(side(client, first), side(client, second))
    newer = side(client, first)
    return Comparison(side(client, _earlier(client, newer, challenge)), newer)


def side(client: Client, name: str) -> Side:
    """A file where there is one of that name, or it is named like one; else a submission."""
    path = Path(name)
    if Language.of_file(name) is not None or path.is_file():
        return Side(name, _read(path))
    view = fetch(client, name)
    source = understood(SourceView, client.get(f"/submissions/{segment(name)}/source")).source
    report = fetch_report(client, view.id) if view.state is State.DONE else None
    return Side(f"{view.id}/{view.filename}", source, view, report)


def _read(path: Path) -> str:
    try:
        return options.read_source(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(f"'{path}' is not UTF-8.", "Save it as UTF-8.") from error


def _earlier(client: Client, newer: Side, challenge: str | None) -> str:
    """The id of the submission that ``newer`` follows."""
    of = newer.view.challenge if newer.view is not None else challenge
    found = understood(SubmissionList, client.get("/submissions", challenge=of, limit=_BACK)).submissions
    if newer.view is None:
        language = Language.of_file(newer.name)
        earlier = [it for it in found if language in (None, it.language)]
    else:
        earlier = [it for it in found if it.created_at < newer.view.created_at]
    if not earlier:
        raise NotFound(f"You have no earlier submission to compare {newer.name} with.", "Name both.")
    return earlier[0].id
