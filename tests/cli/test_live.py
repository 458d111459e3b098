"""The live view as text at fixed widths, and the plain lines that replace it."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from grader.cli import follow, terminal
from grader.cli.follow import Live, clock_text, elapsed_s
from grader.schemas.submission import ProgressView, State, WaitReason, WaitsFor
from tests.cli.reports import PAUSED, view


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Clock:
    return Clock()


def _live(time: Clock, width: int = 80) -> Live:
    return Live(Console(file=io.StringIO(), width=width, color_system=None), time)


def _lines(live: Live) -> list[str]:
    return [line.rstrip() for line in live.render().plain.splitlines()]


def test_the_view_starts_before_the_first_answer(time: Clock) -> None:
    assert _lines(_live(time)) == ["Asking the server ..."]


def test_a_queued_submission_shows_place_wait_and_reason(time: Clock) -> None:
    live = _live(time)
    live.show(view(State.QUEUED, position=3, expected_wait_s=130.0, waits_for=PAUSED))
    lines = _lines(live)
    assert lines[0].startswith("abc123  vector_add, triton on cpu  ")
    assert lines[1] == "▸ queued    place 3, about 2 min"
    assert lines[2:7] == ["· compiling", "· waiting", "· testing", "· timing", "· done"]
    assert lines[7].startswith("  Staff have paused all queues: [exam] (since 2026-01-0")
    assert lines[8] == "Ctrl-C stops watching; the submission continues."


def test_past_phases_show_their_time(time: Clock) -> None:
    live = _live(time)
    live.show(view(State.QUEUED, position=1))
    time.now = 7.0
    live.show(view(State.COMPILING))
    time.now = 72.0
    label = "Testing 13 of 24 public cases: n 1023"
    live.show(view(State.TESTING, progress=ProgressView(done=12, total=24, label=label)))
    time.now = 75.0
    lines = _lines(live)
    assert lines[1:4] == ["✓ queued    0:07", "✓ compiling 1:05", "✓ waiting"]
    assert lines[4] == f"▸ testing   0:03  {'━' * 14}{'─' * 14}  {label}"


@pytest.mark.parametrize(("width", "cells"), [(70, 18), (80, 28), (200, 30), (30, 8)])
def test_the_bar_fits_the_screen(time: Clock, width: int, cells: int) -> None:
    live = _live(time, width)
    live.show(view(State.TIMING, progress=ProgressView(done=2, total=2)))
    (bar,) = [line for line in _lines(live) if "━" in line]
    assert bar.count("━") == cells


def test_the_servers_start_of_a_phase_takes_precedence(time: Clock) -> None:
    live = _live(time)
    since = datetime.now(UTC) - timedelta(hours=2)
    live.show(view(State.TESTING, progress=ProgressView(since=since)))
    assert _lines(live)[4].startswith("▸ testing   2:00:0")


@pytest.mark.parametrize("state", [State.CANCELLED, State.FAILED])
def test_an_end_without_a_verdict_is_one_line(time: Clock, state: State) -> None:
    live = _live(time)
    live.show(view(state))
    assert _lines(live)[1:] == [f"▸ {state.value}"], "and there is nothing to leave any more"


def test_a_server_that_is_away_is_reported_until_it_is_back(time: Clock) -> None:
    live = _live(time)
    live.show(view(State.TESTING))
    live.away(8.0)
    assert "  The server has not answered for 8 s; trying again." in _lines(live)
    live.show(view(State.TESTING))
    assert not any("not answered" in line for line in _lines(live))


def test_the_view_clears_itself_and_passes_no_terminal_codes(time: Clock) -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=80, force_terminal=True, color_system=None)
    hostile = WaitsFor(reason=WaitReason.PAUSED, text="\x1b[2J\x07 [red]x[/red]")
    with Live(console, time) as live:
        live.show(view(State.QUEUED, position=1, waits_for=hostile))
    told = screen.getvalue()
    assert "[red]x[/red]" in told
    assert "\x07" not in told
    assert "\x1b[2J" not in told
    assert "\x1b[2K" in told, "its lines are erased at the end"


@pytest.mark.parametrize(
    ("terminal_there", "environment", "lively"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_plain_lines_are_used_if_the_screen_cannot_be_redrawn(
    monkeypatch: pytest.MonkeyPatch, terminal_there: bool, environment: dict[str, str], lively: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    console = Console(file=io.StringIO(), force_terminal=terminal_there)
    monkeypatch.setattr(follow, "aside", lambda: console)
    assert isinstance(follow.watch_for(json=False), Live if lively else follow.LineDisplay)
    assert isinstance(follow.watch_for(json=True), follow.JsonLines)


def test_plain_lines_report_an_outage_once(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.aside.cache_clear()
    with follow.LineDisplay() as lines:
        lines.away(1.0)
        lines.away(2.0)
    assert capsys.readouterr().err.count("does not answer") == 1


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.0, "0:00"), (7.9, "0:07"), (754.0, "12:34"), (3723.0, "1:02:03")]
)
def test_durations_are_formatted_as_clocks(seconds: float, told: str) -> None:
    assert clock_text(seconds) == told


def test_elapsed_time_stops_at_the_end_and_is_never_negative() -> None:
    begun = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert elapsed_s(view(State.DONE, finished_at=begun + timedelta(seconds=5))) == 5.0
    assert elapsed_s(view(State.QUEUED), now=begun - timedelta(seconds=5)) == 0.0
