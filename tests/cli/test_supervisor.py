"""`grader up` keeps its processes running and ends them all."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from grader.cli import processes
from grader.cli.processes import ChildProcess, end_all, ended, start_python
from grader.errors import Unreachable

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"


def _child(code: str) -> ChildProcess:
    def start() -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()  # "up", or the end of a dead child's output
        process.stdout.close()
        return process

    return ChildProcess("worker 1", start)


def _until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def _checked(child: ChildProcess, restarts: int) -> bool:
    child.check()
    return child.restarts >= restarts


def test_a_dead_child_is_restarted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "FIRST_PAUSE_SECONDS", 0.01)
    child = _child(SLEEP)
    first = child.process.pid
    child.process.kill()
    _until(lambda: _checked(child, 1))
    assert child.process.pid != first
    assert child.process.poll() is None
    end_all([child])
    assert child.process.returncode == -signal.SIGTERM
    assert "was ended by signal 9" in capsys.readouterr().err


def test_a_child_that_dies_at_once_is_restarted_more_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FIRST_PAUSE_SECONDS", 0.01)
    child = _child("raise SystemExit(3)")
    _until(lambda: _checked(child, 3))
    assert child._pause >= 0.08
    end_all([child])


@pytest.mark.parametrize(
    "error", [Unreachable("The embedded Redis did not start."), OSError("No space left")]
)
def test_a_failed_restart_is_retried_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    monkeypatch.setattr(processes, "FIRST_PAUSE_SECONDS", 0.01)
    child = _child(SLEEP)
    start, failures = child._start, [error, error]

    def fail_at_first() -> subprocess.Popen[bytes]:
        if failures:
            raise failures.pop()
        return start()

    monkeypatch.setattr(child, "_start", fail_at_first)
    child.process.kill()
    _until(lambda: _checked(child, 1))
    assert failures == []
    assert child.process.poll() is None
    end_all([child])
    assert "worker 1 cannot be started" in capsys.readouterr().err


def test_a_stubborn_child_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "STOP_SECONDS", 0.2)
    children = [_child(STUBBORN), _child(SLEEP)]
    end_all(children)
    assert [child.process.returncode for child in children] == [-signal.SIGKILL, -signal.SIGTERM]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the leash is Linux's")
def test_children_end_with_a_killed_supervisor() -> None:
    code = (
        "import os, time; from grader.cli.processes import start_python;"
        f"child = start_python(['-c', {SLEEP!r}], os.environ); print(child.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    told = {parent.stdout.readline().strip(), parent.stdout.readline().strip()}
    (pid,) = (int(text) for text in told - {"up"})
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _until(lambda: not _alive(pid))


def _alive(pid: int) -> bool:
    """True if the process still runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - it may vanish between any two calls
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_children_have_separate_sessions() -> None:
    import os

    child = start_python(["-c", "import time; time.sleep(600)"], os.environ)
    try:
        assert os.getsid(child.pid) != os.getsid(0)
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize(("code", "words"), [(3, "ended with exit code 3"), (-9, "was ended by signal 9")])
def test_the_end_of_a_child_is_described(code: int, words: str) -> None:
    assert ended(code) == words
