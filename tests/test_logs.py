"""Log lines: their form, and what they never hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from grader import logs
from grader.judge.job import Job
from grader.records.engine import make_engine

_BEGIN = "import logging, structlog; from grader import logs; logs.configure({}); "


def told(code: str, *settings: str) -> list[dict[str, Any]]:
    program = _BEGIN.format(", ".join(repr(setting) for setting in settings)) + code
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == ""
    return [json.loads(line) for line in ran.stderr.splitlines()]


def test_all_log_lines_have_one_form() -> None:
    lines = told(
        "structlog.contextvars.bind_contextvars(request='abc');"
        "structlog.get_logger().info('one', count=1);"
        "logging.getLogger('grader.web').info('two', extra={'count': 2});"
        "logging.getLogger('gunicorn.error').warning('three %d', 3);"
        "logging.getLogger('alembic').info('not told')"
    )
    assert [line["event"] for line in lines] == ["one", "two", "three 3"]
    assert [line.get("count") for line in lines] == [1, 2, None]
    assert {line["request"] for line in lines} == {"abc"}
    assert all(line["level"] and line["timestamp"].endswith("Z") for line in lines)


def test_the_level_applies_to_all_loggers() -> None:
    lines = told(
        "structlog.get_logger().info('no'); logging.getLogger('grader.web').info('no');"
        "structlog.get_logger().warning('yes'); logging.getLogger('grader.web').warning('yes')",
        "warning",
    )
    assert [line["event"] for line in lines] == ["yes", "yes"]


@pytest.mark.parametrize(
    ("proposed", "taken"),
    [
        ("proxy-7f3a.0001", True),
        ("a" * 64, True),
        ("short", False),
        ("a" * 65, False),
        ("two words here", False),
        ("line\nbreak-here", False),
        ('"}{"event":"forged', False),
        ("\x1b[31mred-and-long", False),
        (None, False),
    ],
)
def test_only_a_well_formed_request_id_is_accepted(proposed: str | None, taken: bool) -> None:
    given = logs.new_request_id(proposed)
    assert (given == proposed) is taken
    assert logs.new_request_id(given) == given


TOKEN = "grd_YWCMbtnlN9AKQhcxQ3biyUgW1K1HY79aCtyOtT3C4Pw"


@pytest.mark.parametrize(
    "line",
    [
        {"source": "def solve(): secret"},
        {"token": "secret"},
        {"error": f"the token {TOKEN.replace('YWC', 'secret')} is old"},
        {"error": "Authorization: Bearer secretsecretsecret"},
        {"error": "cannot reach postgresql+psycopg://grader:secret@host/db"},
        {"error": "x" * 20_000 + "secret"},
    ],
)
def test_secret_fields_are_struck_out(line: dict[str, Any]) -> None:
    assert "secret" not in str(logs.strike_out(None, "info", {"event": "it", **line}))


def test_a_failed_statement_shows_no_parameters() -> None:
    engine = make_engine("sqlite://")
    with engine.connect() as connection, pytest.raises(OperationalError) as raised:
        connection.execute(text("INSERT INTO nowhere VALUES (:source)"), {"source": "the secret source"})
    engine.dispose()
    assert "secret" not in str(raised.value)


def test_a_validation_error_shows_no_input() -> None:
    with pytest.raises(ValidationError) as raised:
        Job.model_validate({"source": ["the secret source"]})
    assert "secret" not in str(raised.value)


def test_a_traceback_is_one_line() -> None:
    (line,) = told("\ntry:\n  1 / 0\nexcept ZeroDivisionError:\n  structlog.get_logger().exception('failed')")
    assert "ZeroDivisionError" in line["exception"]


_PACKAGE = Path(logs.__file__).parent
_EVERY_LOGGER = """
import importlib, sys
for name in sys.argv[1:]:
    log = importlib.import_module(name).log
    log.info("not_told")
    log.warning("told")
"""


def test_unconfigured_logs_do_not_reach_standard_output() -> None:
    files = [path for path in _PACKAGE.rglob("*.py") if "log = get_logger(__name__)" in path.read_text()]
    names = [".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts) for path in files]
    names = [name.removesuffix(".__init__") for name in names]
    assert "grader.judge.session" in names
    ran = subprocess.run(
        [sys.executable, "-c", _EVERY_LOGGER, *names], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    assert [line.split()[-1] for line in ran.stderr.splitlines()] == ["told"] * len(names)


def test_loggers_come_from_grader_logs() -> None:
    """structlog's own loggers print to standard output until somebody configures it."""
    using = [path.name for path in _PACKAGE.rglob("*.py") if "structlog.get_logger" in path.read_text()]
    assert using == ["logs.py"]


_FORGED = "/x\n2026-01-01T00:00:00Z [error    ] forged\x1b[31m\r\x9b2J\u2028\u202e\ud800"


def test_request_text_cannot_break_lines_or_control_terminals() -> None:
    """In the text format, for both kinds of logger, as event, value, argument, and within lists and tracebacks."""
    program = (
        "import logging, structlog; from grader import logs; logs.configure('', 'text'); "
        f"forged = {_FORGED!a}\n"
        "structlog.get_logger().info(forged, path=forged, paths=[forged])\n"
        "logging.getLogger('grader.web').error('%s failed', forged)\n"
        "try:\n  raise ValueError(forged)\n"
        "except ValueError:\n  logging.getLogger('grader.web').exception('it')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    lines = ran.stderr.decode("ascii").split("\n")
    assert all(line.isprintable() for line in lines)
    begun = [line for line in lines if line and not line.startswith("    ")]
    assert ["it" in line or "forged" in line for line in begun] == [True, True, True]
    assert "/x\\n2026-01-01T00:00:00Z [error    ] forged\\x1b[31m\\r\\x9b2J\\u2028\\u202e\\ud800" in begun[0]
    assert "    ValueError: /x" in lines
