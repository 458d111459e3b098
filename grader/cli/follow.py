"""Follows a submission to its end, on a terminal or as JSON."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live as Screen
from rich.text import Text

from grader import errors
from grader.cli.client import Client, segment, understood
from grader.cli.output import EXIT_INTERRUPTED
from grader.cli.polling import until_done
from grader.cli.report import put_report
from grader.cli.standing import put_standing
from grader.cli.terminal import aside, moment, put_json, put_json_line, safe, say
from grader.formats import wait
from grader.schemas.pace import QUICKEST_S, pace_s, spread
from grader.schemas.report import Report, Verdict
from grader.schemas.standing import Standing
from grader.schemas.submission import (
    JudgingReason,
    ProgressView,
    State,
    SubmissionList,
    SubmissionView,
    WaitReason,
)
from grader.schemas.verdict import Fault

# While judging, and just after sending, when small kernels end.
POLL_SECONDS = 0.25
QUICK_FOR_SECONDS = 20.0


def fetch(client: Client, submission: str) -> SubmissionView:
    return understood(SubmissionView, client.get(f"/submissions/{segment(submission)}"))


def fetch_report(client: Client, submission: str) -> Report:
    return understood(Report, client.get(f"/submissions/{segment(submission)}/report"))


def fetch_standing(client: Client, view: SubmissionView) -> Standing | None:
    """None if not solved, or from an older server."""
    if view.verdict is not Verdict.ACCEPTED or view.kind is JudgingReason.RUN:
        return None
    try:
        return understood(Standing, client.get(f"/submissions/{segment(view.id)}/standing"))
    except errors.NotFound:
        return None


def fetch_last(client: Client, challenge: str | None = None) -> SubmissionView:
    """Raises NotFound."""
    found = understood(SubmissionList, client.get("/submissions", challenge=challenge, limit=1))
    if not found.submissions:
        what = f" for {challenge}" if challenge else ""
        raise errors.NotFound(f"You have no submission{what} yet.", "Send one: grader submit FILE -c SLUG")
    return found.submissions[0]


def to_the_end(
    client: Client, submission: str, timeout: float, *, json: str = "", filename: str | None = None
) -> int:
    """Show it until it ends, then its report; returns the exit code. ``json``: ``lines`` for each change and
    the report, or ``report`` with the id. Raises as ``follow`` and ``refuse_unjudged``.
    """
    try:
        view = follow(client, submission, timeout, watch_for(json == "lines"))
    except KeyboardInterrupt:
        say(f"The submission continues. Follow it with: grader watch {submission}", "bold")
        return EXIT_INTERRUPTED
    refuse_unjudged(view)
    report = fetch_report(client, view.id)
    found = fetch_standing(client, view)
    after = {"standing": found} if found else {}
    if json == "lines":
        put_json_line({"report": report, **after})
    elif json:
        stands = {name: each.model_dump(mode="json") for name, each in after.items()}
        put_json({"submission": view.id, **report.model_dump(mode="json"), **stands})
    else:
        put_report(report, filename or view.filename)
        put_standing(found)
        if view.questions:
            say(f"Questions on this kernel: grader quiz {view.id}", "dim")
    return exit_code(report.verdict)


def follow(
    client: Client,
    submission: str,
    timeout: float,
    watch: StatusDisplay | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SubmissionView:
    """``timeout``: seconds, 0 = none. Raises TimedOut, Unreachable."""
    began = clock()
    late = errors.TimedOut(
        f"{submission} was not done within {timeout:g} s.",
        f"It continues. Follow it with: grader watch {submission}",
    )
    with watch or watch_for(json=False) as shown:

        def pause(view: SubmissionView) -> float | None:
            shown.show(view)
            if view.state.final:
                return None
            seconds = spread(pace_s(view))
            quick = seconds <= QUICKEST_S and clock() - began < QUICK_FOR_SECONDS
            return POLL_SECONDS if quick else seconds

        return until_done(
            lambda: fetch(client, submission),
            pause,
            away=shown.away,
            timeout=timeout,
            late=late,
            clock=clock,
        )


def exit_code(verdict: Verdict | None) -> int:
    """None is not judged, which is no failure."""
    if verdict is None:
        return errors.EXIT_ACCEPTED
    exit_codes = {Fault.NOBODY: errors.EXIT_ACCEPTED, Fault.PLATFORM: errors.EXIT_OUR_FAILURE}
    return exit_codes.get(verdict.row.fault, errors.EXIT_NOT_ACCEPTED)


def refuse_unjudged(view: SubmissionView) -> None:
    """Raises Conflict if it was cancelled, JudgeFailure if the platform failed."""
    if view.state is State.CANCELLED:
        raise errors.Conflict(f"{view.id} was cancelled.", "Submit it again to have it judged.")
    if view.state is State.FAILED:
        why = view.error or "the platform failed"
        raise errors.JudgeFailure(
            f"{view.id} could not be judged: {why}.", "It does not count as an attempt. Submit it again."
        )


class StatusDisplay(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, view: SubmissionView) -> None:
        """Called at each poll, changed or not."""

    def away(self, seconds: float) -> None:
        """Called while the server does not answer."""


def watch_for(json: bool) -> StatusDisplay:
    if json:
        return JsonLines()
    return Live(aside()) if lively() else LineDisplay()


def lively() -> bool:
    """Whether stderr can redraw lines, and the user wants that."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return aside().is_terminal and not plain


class Quiet:
    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, view: SubmissionView) -> None:
        pass

    def away(self, seconds: float) -> None:
        pass


class LineDisplay(Quiet):
    """A line on stderr for each state and obstacle."""

    def __init__(self) -> None:
        self._last: State | None = None
        self._obstacle = ""
        self._away = False

    def show(self, view: SubmissionView) -> None:
        self._away = False
        words, why = waiting_text(view), obstacle(view)
        if view.state is not self._last:
            say(f"{view.state.value}: {words}" if words else view.state.value)
        elif why != self._obstacle:
            say(f"{view.state.value}: {why or words}" if why or words else view.state.value)
        self._last, self._obstacle = view.state, why

    def away(self, seconds: float) -> None:
        if not self._away:
            say("The server does not answer; trying again.", "yellow")
        self._away = True


class JsonLines(LineDisplay):
    """A line on stdout for each change: ``{"submission": {...}}``."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: SubmissionView | None = None

    def show(self, view: SubmissionView) -> None:
        if view != self._shown:
            put_json_line({"submission": view})
        self._shown, self._away = view, False


PHASES = (State.QUEUED, State.COMPILING, State.WAITING, State.TESTING, State.TIMING, State.DONE)
# The clock must skip no second.
_DRAWN_PER_SECOND = 2.0
_LONGEST_BAR, _SHORTEST_BAR = 30, 8
# Width of mark, name, clock, `Testing 26 of 32 public cases`.
_BESIDE_BAR = 52


class Live:
    """Redrawn in place, erased at the end."""

    def __init__(self, console: Console, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._monotonic = monotonic
        self._view: SubmissionView | None = None
        self._began: dict[State, float] = {}
        self._away = 0.0
        self._screen = Screen(
            console=console,
            transient=True,
            refresh_per_second=_DRAWN_PER_SECOND,
            get_renderable=self.render,
        )

    def __enter__(self) -> Self:
        self._screen.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._screen.stop()

    def show(self, view: SubmissionView) -> None:
        self._began.setdefault(view.state, self._monotonic())
        self._view, self._away = view, 0.0
        self._screen.refresh()

    def away(self, seconds: float) -> None:
        self._away = seconds
        self._screen.refresh()

    def render(self) -> Text:
        view = self._view
        if view is None:
            return Text("Asking the server ...", "dim")
        text = Text.assemble((view.id, "bold"), safe(f"  {view.challenge}, {view.language.value} on "))
        text.append_text(safe(f"{view.device}  ")).append(clock_text(elapsed_s(view)), "bold")
        for state in _rail(view.state):
            text.append("\n").append_text(self._phase(state, view))
        if why := obstacle(view):
            text.append_text(safe(f"\n  {why}", "yellow"))
        if self._away:
            text.append(f"\n  The server has not answered for {wait(self._away)}; trying again.", "yellow")
        if not view.state.final:
            text.append("\nCtrl-C stops watching; the submission continues.", "dim")
        return text

    def _phase(self, state: State, view: SubmissionView) -> Text:
        if state is view.state:
            line = Text.assemble(("▸", "bold cyan"), (f" {state.value:<10}", "bold cyan"))
            return line.append_text(self._present(view))
        past = PHASES.index(state) < _place(view.state)
        mark = ("✓", "green") if past else ("·", "dim")
        return Text.assemble(mark, (f" {state.value:<10}", "" if past else "dim"), (self._took(state), "dim"))

    def _present(self, view: SubmissionView) -> Text:
        if view.state.final:
            return Text("")
        if words := place_text(view):
            return Text(words)
        line = Text(clock_text(self._in_phase_s(view)))
        if view.progress.total:
            line.append("  ").append_text(self._bar(view.progress))
        return line

    def _in_phase_s(self, view: SubmissionView) -> float:
        """By the server's clock, else since we saw it begin."""
        if view.progress.since is not None:
            return max(0.0, (datetime.now(UTC) - view.progress.since).total_seconds())
        return self._monotonic() - self._began[view.state]

    def _bar(self, progress: ProgressView) -> Text:
        cells = max(_SHORTEST_BAR, min(_LONGEST_BAR, self._console.width - _BESIDE_BAR))
        full = min(cells, round(cells * progress.done / progress.total))
        line = Text.assemble(("━" * full, "cyan"), ("─" * (cells - full), "dim"))
        return line.append("  ").append_text(safe(progress.label, "dim"))

    def _took(self, state: State) -> str:
        """Empty unless we saw its begin and end."""
        later = [began for other, began in self._began.items() if _place(other) > _place(state)]
        if state not in self._began or not later:
            return ""
        return clock_text(min(later) - self._began[state])


def _rail(state: State) -> tuple[State, ...]:
    """Only the state if it was cancelled or failed."""
    return PHASES if state in PHASES else (state,)


def _place(state: State) -> int:
    return PHASES.index(state) if state in PHASES else len(PHASES)


# A shorter forecast is `next`.
_SHORT_SECONDS = 0.5


def waiting_text(view: SubmissionView) -> str:
    """``place 3, about 20 s`` and any obstacle, or ""."""
    why = obstacle(view)
    return place_text(view) + (f". {why}" if why and view.position is not None else "")


def place_text(view: SubmissionView) -> str:
    """``place 3, about 20 s``, ``next``, or ""."""
    if view.position is None or view.state is State.COMPILING:
        return ""
    if view.position == 1 and view.expected_wait_s is not None and view.expected_wait_s < _SHORT_SECONDS:
        return "next"
    expected = "" if view.expected_wait_s is None else f", about {wait(view.expected_wait_s)}"
    return f"place {view.position}{expected}"


def obstacle(view: SubmissionView) -> str:
    """ "" if nothing is in the way."""
    waits_for = view.waits_for
    if waits_for is None or waits_for.reason in (WaitReason.AHEAD, WaitReason.NEXT):
        return ""
    since = f" (since {moment(waits_for.since)})" if waits_for.since else ""
    return f"{waits_for.text}{since}"


def elapsed_s(view: SubmissionView, now: datetime | None = None) -> float:
    """At least 0, because clocks differ."""
    end = view.finished_at or now or datetime.now(UTC)
    return max(0.0, (end - view.created_at).total_seconds())


def clock_text(seconds: float) -> str:
    """``0:07``, ``12:34``, ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
