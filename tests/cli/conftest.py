"""Fixtures of the command line's tests: a private home, a stub server, and a runner of one command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from grader.cli import config, terminal
from grader.cli.main import main
from tests.cli.stub import Stub, serving


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide the real login file, and the variables that name a server, a token or a course."""
    ours = ("GRADER_SERVER", "GRADER_TOKEN", "GRADER_CHALLENGES", "GRADER_DEBUG")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for name in (*ours, *proxies, *map(str.lower, proxies), *map(config.variable, config.KEYS)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GRADER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def narrow(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    console = Console(force_terminal=True, width=columns, color_system=None, highlight=False)
    monkeypatch.setattr(terminal, "out", lambda: console)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    with serving() as stub:
        monkeypatch.setenv("GRADER_SERVER", stub.url)
        yield stub


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*args: str) -> Ran:
        capsys.readouterr()
        code = main(list(args))
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def kernel(home: Path) -> str:
    (home / "mine.py").write_text("import triton\n")
    return "mine.py"
