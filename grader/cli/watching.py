"""What `grader watch` shows while a submission is judged: a live view on a terminal, plain lines elsewhere, or JSON."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Protocol, Self

from grader.cli.live import Live
from grader.cli.terminal import aside, put_json_line, say
from grader.cli.waiting import obstacle, waiting_words
from grader.schemas.submission import State, SubmissionView


class StatusDisplay(Protocol):
    """A context manager that is told what there is to show."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, view: SubmissionView) -> None:
        """The submission as it is now; called at each look, whether or not it changed."""

    def away(self, seconds: float) -> None:
        """The server has not answered for so long; it is asked on."""


def watch_for(json: bool) -> StatusDisplay:
    """The way that suits who reads."""
    if json:
        return JsonLines()
    return Live(aside()) if lively() else LineDisplay()


def lively() -> bool:
    """Whether stderr is a terminal on which lines can be drawn again, and whoever sits there wants that."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return aside().is_terminal and not plain


class Quiet:
    """Shows nothing."""

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
    """A line on stderr for each state, and for what keeps it there."""

    def __init__(self) -> None:
        self._last: State | None = None
        self._told = ""
        self._away = False

    def show(self, view: SubmissionView) -> None:
        self._away = False
        words, why = waiting_words(view), obstacle(view)
        if view.state is not self._last:
            say(f"{view.state.value}: {words}" if words else view.state.value)
        elif why != self._told:
            say(f"{view.state.value}: {why or words}" if why or words else view.state.value)
        self._last, self._told = view.state, why

    def away(self, seconds: float) -> None:
        if not self._away:
            say("The server does not answer; it is asked again.", "yellow")
        self._away = True


class JsonLines(Quiet):
    """A line on stdout for each change: ``{"submission": {...}}``."""

    def __init__(self) -> None:
        self._last: SubmissionView | None = None

    def show(self, view: SubmissionView) -> None:
        if view != self._last:
            put_json_line({"submission": view})
        self._last = view
