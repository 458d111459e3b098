"""A student's commands work without Unix modules, against a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from grader.records.claims import Claim
from grader.service.accounts import accounts, device_codes
from grader.service.accounts.accounts import User
from grader.service.platform import Platform, open_platform
from grader.web.app import create_app
from tests.cli import foreign
from tests.web import builders

# Far more than a loaded machine needs; only a failure waits that long.
PATIENCE_SECONDS = 60.0
SCRIPT = Path(foreign.__file__)


@dataclass
class Student:
    folder: Path
    platform: Platform
    ada: User
    url: str

    def start(self, *args: str) -> subprocess.Popen[str]:
        root = Path(__file__).resolve().parents[2]
        env = {key: value for key, value in os.environ.items() if not key.startswith(("GRADER_", "XDG_"))}
        env |= {"HOME": str(self.folder), "PYTHONPATH": str(root), "NO_COLOR": "1", "COLUMNS": "120"}
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), *args],
            cwd=self.folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, process: subprocess.Popen[str], code: int = 0, stdin: str = "") -> str:
        out, err = process.communicate(stdin, timeout=PATIENCE_SECONDS)
        assert process.returncode == code, out + err
        return out + err

    def run(self, *args: str, code: int = 0, stdin: str = "") -> str:
        return self.end(self.start(*args), code, stdin)

    def take(self) -> Claim:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return builders.take(self.platform)
            except AssertionError:
                assert time.monotonic() < deadline, "nothing was handed in"
                time.sleep(0.05)


@pytest.fixture
def student(tmp_path: Path) -> Iterator[Student]:
    platform = open_platform(builders.make_settings(tmp_path / "platform"))
    ada = accounts.create_user(platform, "ada", builders.PASSWORD)
    server = make_server("127.0.0.1", 0, create_app(platform), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    home = tmp_path / "home"
    home.mkdir()
    try:
        made = Student(home, platform, ada, f"http://127.0.0.1:{server.server_port}")
        made.run(
            "login", "--server", made.url, "--name", "ada", "--password-stdin", stdin=f"{builders.PASSWORD}\n"
        )
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        platform.close()


def test_the_foreign_script_removes_unix_modules(student: Student) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        "import foreign; foreign.estrange()\n"
        "import os, signal, socket\n"
        "assert not hasattr(os, 'fork') and not hasattr(signal, 'SIGKILL') and not hasattr(socket, 'AF_UNIX')\n"
        "for name in foreign.MODULES + foreign.SERVER:\n"
        "    try: __import__(name)\n"
        "    except ModuleNotFoundError: continue\n"
        "    raise SystemExit(name)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_SECONDS)


def test_a_client_alone_gets_from_a_challenge_to_the_board(student: Student) -> None:
    """Protects students whose machine has only the client: no catalogue, no judge, no torch."""
    run = student.run
    assert "vector_add" in run("challenges")
    assert "vector_add" in run("challenges", "--json")
    assert "Workloads" in run("show", "vector_add")
    run("init", "vector_add", "--language", "triton")

    trying = student.start("run", "vector_add.py", "-c", "vector_add")
    builders.finish(student.platform, student.take(), builders.wrong())
    assert "WRONG ANSWER" in student.end(trying, code=1)

    first = run("submit", "vector_add.py", "-c", "vector_add", "--device", "cpu").split()[0]
    assert "queued" in run("status", first)
    watching = student.start("watch", first, "--json")
    builders.finish(student.platform, student.take(), builders.wrong())
    told = [json.loads(line) for line in student.end(watching, code=1).splitlines()]
    assert told[-1]["report"]["verdict"] == "wrong_answer"

    (student.folder / "vector_add.py").write_text(builders.SOURCE)
    waiting = student.start("submit", "vector_add.py", "-c", "vector_add", "--wait")
    builders.finish(student.platform, student.take(), builders.accepted())
    assert "ACCEPTED" in student.end(waiting)

    assert "ada" in run("leaderboard", "vector_add")
    assert "ACCEPTED" in run("history")
    assert "ACCEPTED" in run("watch")
    assert "1 of" in run("progress")
    assert "+++ vector_add.py" in run("diff", first, "vector_add.py")
    assert run("open", first, "--print") == f"{student.url}/submissions/{first}\n"
    third = run("submit", "vector_add.py", "-c", "vector_add").split()[0]
    assert "cancel" in run("cancel", third)


def test_config_completion_and_logout_work_without_unix(student: Student) -> None:
    student.run("config", "set", "device", "cpu")
    assert '"source": "file"' in student.run("config", "--json")
    student.run("config", "set", "device")
    assert "grader completion" in student.run("completion", "powershell")
    assert "server" in student.run("doctor")
    assert "Signed out" in student.run("logout")
    assert "grader login" in student.run("history", "--server", student.url, code=3)


def test_login_by_code_works_without_unix(student: Student) -> None:
    """Protects the login of machines without a browser."""
    student.run("logout")
    asking = student.start("login", "--server", student.url)
    assert asking.stderr is not None
    told = [asking.stderr.readline() for _ in range(2)]
    device_codes.decide(student.platform, student.ada, told[1].strip(), approve=True)
    assert "Signed in" in student.end(asking)
    assert "as ada" in student.run("config")
