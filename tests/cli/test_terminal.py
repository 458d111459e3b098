"""Output to a terminal, a pipe, a full disk, or nowhere."""

from __future__ import annotations

import io
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.table import Table

from grader.cli import output, terminal
from grader.cli.interrupts import interrupts_end_this
from grader.cli.main import main
from grader.errors import BadRequest


def test_a_table_in_a_pipe_has_no_spaces_at_its_ends(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("name", "note", box=None, pad_edge=False)
    table.add_row("a", "long enough")
    table.add_row("b", "")
    terminal.put_table(table)
    told = capsys.readouterr()
    assert [line for line in told.out.splitlines() if line != line.rstrip()] == []
    assert (len(told.out.splitlines()), told.err) == (3, "")


def test_an_empty_table_prints_that_there_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.put_table(Table("name", box=None))
    assert capsys.readouterr().err == "There are none.\n"


def test_a_time_names_its_zone_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    at = datetime(2026, 1, 31, 18, tzinfo=UTC)
    assert terminal.moment(at, zone=True) == f"{terminal.moment(at)} {at.astimezone():%Z}"
    assert terminal.moment(None, zone=True) == ""


class _Unread(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError

    def fileno(self) -> int:
        return 1


def test_a_closed_pipe_does_not_exit_as_a_verdict() -> None:
    """Rich exits with 1, which would mean a submission that was not accepted."""
    console = terminal._Console(file=_Unread())
    saved = sys.stdout
    with pytest.raises(BrokenPipeError):
        console.print("x" * 10)
    assert sys.stdout is saved


@pytest.mark.parametrize("asked", ["--help", "--version"])
def test_a_full_disk_is_reported(
    asked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main([asked]) == 2
    assert output.UNWRITTEN in capsys.readouterr().err


def test_a_closed_output_is_tolerated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["--version"]) == 0
    sys.stdout.close()


def test_ctrl_c_during_an_import_prints_no_traceback() -> None:
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts_end_this():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be written: No such file"):
        terminal.write(tmp_path / "nowhere" / "x.csv", "a")
