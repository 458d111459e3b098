"""Shows how a submission goes through its states: one live line on a terminal, one line a state elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.status import Status
from rich.text import Text

from grader.cli.terminal import aside, safe
from grader.schemas.submission import ProgressView, State

_RAIL = (State.QUEUED, State.COMPILING, State.WAITING, State.TESTING, State.TIMING, State.DONE)


class Display:
    """A context manager; ``show`` may be called as often as there is news. Everything goes to stderr."""

    def __init__(self) -> None:
        self._live = aside().is_terminal
        self._status = Status("", console=aside()) if self._live else None
        self._last: State | None = None
        self._told = ""

    def __enter__(self) -> Display:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, state: State, progress: ProgressView, remark: str = "", obstacle: str = "") -> None:
        """The present state, how far it has come, a remark such as the place in the queue, and what keeps it there."""
        if self._status is not None:
            self._status.update(_rail(state, progress, remark))
        elif state is not self._last:
            aside().print(_line(state, remark))
        elif obstacle != self._told:
            aside().print(_line(state, obstacle or remark))
        self._last, self._told = state, obstacle


def _line(state: State, remark: str) -> Text:
    return safe(f"{state.value}: {remark}" if remark else state.value)


def _rail(state: State, progress: ProgressView, remark: str) -> Text:
    line = Text()
    for it in _RAIL if state in _RAIL else (state,):
        line.append(" > " if line else "", "dim")
        line.append(it.value, "bold cyan" if it is state else "dim")
    told = remark or progress.label
    return line.append_text(safe(f"  {told}", "dim")) if told else line
