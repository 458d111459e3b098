"""What the measurements of the service start: a database of either kind, and the web as `grader up` starts it."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grader.cli.config import environment
from grader.settings import Settings
from tests.components import postgres_bin

STOP_SECONDS = 30.0


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """Its SQLAlchemy URL; data in ``folder`` is reused."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'grader.sqlite3'}"
        return
    if (programs := postgres_bin()) is None:
        raise SystemExit("PostgreSQL is not installed")
    with _postgres(Path(programs), folder) as url:
        yield url


@contextmanager
def _postgres(programs: Path, folder: Path) -> Iterator[str]:
    """A server with the settings that it comes with, on a unix socket, run by an ordinary user (it refuses root)."""
    who = pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    identity: dict[str, Any] = {}
    data = folder / "postgres"
    new = not data.exists()
    data.mkdir(exist_ok=True, mode=0o700)
    if os.getuid() == 0:
        folder.chmod(0o755)
        os.chown(data, who.pw_uid, who.pw_gid)
        identity = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    if new:
        made = [programs / "initdb", "-D", data, "-U", "grader", "-A", "trust", "-E", "UTF8"]
        subprocess.run(made, check=True, capture_output=True, cwd=data, **identity)
    own = ["listen_addresses=", f"unix_socket_directories={data}"]
    process = subprocess.Popen(
        [programs / "postgres", "-D", data, *(part for setting in own for part in ("-c", setting))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=data,
        start_new_session=True,
        **identity,
    )
    try:
        url = f"postgresql+psycopg://grader@/postgres?host={data}"
        _wait(url, process)
        yield url
    finally:
        process.send_signal(signal.SIGINT)  # ends those who are connected, and leaves a clean database
        process.wait(STOP_SECONDS)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    engine = create_engine(url)
    deadline = time.monotonic() + STOP_SECONDS
    while True:
        try:
            engine.connect().close()
        except OperationalError:
            if time.monotonic() > deadline or process.poll() is not None:
                raise
            time.sleep(0.05)
        else:
            engine.dispose()
            return


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, int, int]]:
    """The web by gunicorn; its host, port and process id."""
    env: Mapping[str, str] = {**environment(settings), "GRADER_PORT": "0", "GRADER_HOST": "127.0.0.1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "grader.web.server"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "Listening" not in line:
            raise SystemExit(f"the web did not start: {line}")
        at = urlsplit(line.split()[-1])
        assert at.hostname
        assert at.port
        yield at.hostname, at.port, process.pid
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def cpu_seconds(parent: int) -> float:
    """What the children of a process have used of the processor."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            ticks += (int(words[11]) + int(words[12])) * (int(words[1]) == parent)
    return ticks / os.sysconf("SC_CLK_TCK")
