"""Streams that cannot encode our symbols get ASCII; JSON loses nothing."""

from __future__ import annotations

import io
import json

import pytest

from grader.cli import output
from grader.cli.main import main
from grader.cli.terminal import put_json, put_json_line
from grader.schemas.submission import State
from tests.cli.reports import view


def _screen(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Replace stdout from here on by one with another encoding (pytest sets its own between a fixture and its
    test).
    """
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    return raw


def test_the_command_line_configures_its_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _screen(monkeypatch)
    assert main(["--version"]) == 0
    print("✓✗· 12.3 µs ± 1 ≤ 5 … Ж")
    assert screen.getvalue().decode("ascii").splitlines()[1] == "+x. 12.3 us +- 1 <= 5 ... ?"


def test_json_is_escaped_without_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _screen(monkeypatch)
    output.degrade_output()
    odd = view(State.DONE, filename="µЖ.py")
    put_json(odd)
    assert json.loads(screen.getvalue())["filename"] == "µЖ.py"
    screen.truncate(0)
    screen.seek(0)
    put_json_line({"submission": odd})
    assert json.loads(screen.getvalue())["submission"]["filename"] == "µЖ.py"
    assert screen.getvalue().count(b"\n") == 1


def test_the_handler_ignores_decoding_errors() -> None:
    with pytest.raises(UnicodeDecodeError):
        output.plainly(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"))
