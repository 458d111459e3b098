"""The live view of one submission: its phases one below the other, what it waits for and since when, and the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live as Screen
from rich.text import Text

from grader.cli.terminal import safe
from grader.cli.waiting import clock, duration, elapsed_s, obstacle, place_words
from grader.schemas.submission import ProgressView, State, SubmissionView

_RAIL = (State.QUEUED, State.COMPILING, State.WAITING, State.TESTING, State.TIMING, State.DONE)
# The clock shows seconds; twice as often, so that none is skipped.
_DRAWN_PER_SECOND = 2.0
_BAR_MOST, _BAR_LEAST = 30, 8
# What stands in a line beside the bar: mark, name, clock, `Testing 26 of 32 public cases`.
_BESIDE_BAR = 52


class Live:
    """Drawn again in place on ``console``; nothing of it stays behind."""

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
        """All lines, as they are now."""
        view = self._view
        if view is None:
            return Text("Asking the server ...", "dim")
        text = Text.assemble((view.id, "bold"), safe(f"  {view.challenge}, {view.language.value} on "))
        text.append_text(safe(f"{view.device}  ")).append(clock(elapsed_s(view)), "bold")
        for state in _rail(view.state):
            text.append("\n").append_text(self._phase(state, view))
        if why := obstacle(view):
            text.append_text(safe(f"\n  {why}", "yellow"))
        if self._away:
            text.append(f"\n  The server has not answered for {duration(self._away)}; asking on.", "yellow")
        if not view.state.final:
            text.append("\nCtrl-C leaves; the submission goes on.", "dim")
        return text

    def _phase(self, state: State, view: SubmissionView) -> Text:
        if state is view.state:
            line = Text.assemble(("▸", "bold cyan"), (f" {state.value:<10}", "bold cyan"))
            return line.append_text(self._present(view))
        past = _RAIL.index(state) < _place(view.state)
        mark = ("✓", "green") if past else ("·", "dim")
        return Text.assemble(mark, (f" {state.value:<10}", "" if past else "dim"), (self._took(state), "dim"))

    def _present(self, view: SubmissionView) -> Text:
        if view.state.final:
            return Text("")
        if words := place_words(view):
            return Text(words)
        line = Text(clock(self._in_phase_s(view)))
        if view.progress.total:
            line.append("  ").append_text(self._bar(view.progress))
        return line

    def _in_phase_s(self, view: SubmissionView) -> float:
        """As the server says, else since we saw it begin."""
        if view.progress.since is not None:
            return max(0.0, (datetime.now(UTC) - view.progress.since).total_seconds())
        return self._monotonic() - self._began[view.state]

    def _bar(self, progress: ProgressView) -> Text:
        cells = max(_BAR_LEAST, min(_BAR_MOST, self._console.width - _BESIDE_BAR))
        full = min(cells, round(cells * progress.done / progress.total))
        line = Text.assemble(("━" * full, "cyan"), ("─" * (cells - full), "dim"))
        return line.append("  ").append_text(safe(progress.label, "dim"))

    def _took(self, state: State) -> str:
        """How long a phase took, where we saw it begin and end."""
        later = [began for other, began in self._began.items() if _place(other) > _place(state)]
        if state not in self._began or not later:
            return ""
        return clock(min(later) - self._began[state])


def _rail(state: State) -> tuple[State, ...]:
    """Every phase; one that ended otherwise is told alone."""
    return _RAIL if state in _RAIL else (state,)


def _place(state: State) -> int:
    return _RAIL.index(state) if state in _RAIL else len(_RAIL)
