"""What the measurements of the service start: a database of either kind, and the web by our server or another."""

from __future__ import annotations

import argparse
import http.client
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep

from grader.cli.config import environment
from grader.settings import Settings
from tests.components import postgres_bin

STOP_SECONDS = 30.0
HOST = "127.0.0.1"
_APP_MODULE = "served_app"
_GUNICORN = ["-m", "gunicorn", "--bind", "{at}", "--workers", "2", "--log-level", "error"]
_TARGET = f"{_APP_MODULE}:app"
# Arguments for Python; "{at}" and "{port}" are where to listen. The package that it needs.
SERVERS: dict[str, tuple[list[str], str]] = {
    "ours": (["-m", "grader.web.server"], "grader"),
    "gunicorn gthread": ([*_GUNICORN, "--worker-class", "gthread", "--threads", "8", _TARGET], "gunicorn"),
    "gunicorn gevent": ([*_GUNICORN, "--worker-class", "gevent", _TARGET], "gevent"),
    "waitress": (
        [
            *"-m waitress --listen {at} --threads 16 --connection-limit 4096 --asyncore-use-poll".split(),
            *"--channel-timeout 30 --cleanup-interval 5".split(),
            _TARGET,
        ],
        "waitress",
    ),
    "granian": (
        f"-m granian --interface wsgi --workers 2 --blocking-threads 8 --host {HOST} --port {{port}} {_TARGET}".split(),
        "granian",
    ),
    "uvicorn a2wsgi": (
        f"-m uvicorn --workers 2 --log-level error --host {HOST} --port {{port}} {_APP_MODULE}:asgi".split(),
        "a2wsgi",
    ),
}
_APP = """\
from grader.service.platform import open_platform
from grader.settings import Settings
from grader.web.app import create_app

app = create_app(open_platform(Settings(), migrate=False))
try:
    from a2wsgi import WSGIMiddleware
except ImportError:
    pass
else:
    asgi = WSGIMiddleware(app, workers=8)
"""


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
def serving(settings: Settings, server: str = "ours") -> Iterator[tuple[str, int, int]]:
    """The web by one of SERVERS; its host, port and process id."""
    with started(settings, server) as (host, port, process):
        deadline = time.monotonic() + STOP_SECONDS
        while not _answers(host, port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{server} did not start")
            time.sleep(0.05)
        yield host, port, process.pid


def _answers(host: str, port: int) -> bool:
    with suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection(host, port, timeout=5)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    return False


@contextmanager
def started(settings: Settings, server: str) -> Iterator[tuple[str, int, subprocess.Popen[str]]]:
    """A server that may not answer yet; its host, port and process."""
    with socket.create_server((HOST, 0)) as probe:
        port = probe.getsockname()[1]
    folder = Path(settings.data_dir)
    (folder / f"{_APP_MODULE}.py").write_text(_APP)
    paths = [str(folder), str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {
        **environment(settings),
        "GRADER_HOST": HOST,
        "GRADER_PORT": str(port),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    words = [word.format(at=f"{HOST}:{port}", port=port) for word in SERVERS[server][0]]
    process = subprocess.Popen(
        [sys.executable, *words],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield HOST, port, process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with its workers
            process.wait()


def installed(server: str) -> bool:
    return find_spec(SERVERS[server][1]) is not None


def compare(
    name: str, options: argparse.Namespace, one: Callable[[str], tuple[dict[str, Any], bool]]
) -> NoReturn:
    """Measures the servers of ``--server`` in turn, ``--rounds`` times, and keeps a row for each."""
    rows = []
    for number in range(options.rounds):
        for server in options.server:
            figures, met = one(server)
            rows.append({"server": server, "round": number, "met": met, **figures})
    if options.json:
        keep(f"{name}_servers", {"rows": rows})
    sys.exit()


def add_servers(parser: argparse.ArgumentParser) -> None:
    """The options that ``compare`` reads."""
    parser.add_argument(
        "--server", action="append", choices=SERVERS, help="measure this one; repeat to compare"
    )
    parser.add_argument("--rounds", type=int, default=1)


def memory_mib(parent: int) -> float:
    """The memory of a process and its children; pages that they share count once."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/smaps_rollup"):
        with suppress(OSError):
            own = int(path.parent.name)
            words = (path.parent / "stat").read_text().rpartition(")")[2].split()
            if parent in (own, int(words[1])):
                total += next(
                    int(line.split()[1]) for line in path.read_text().splitlines() if line[:4] == "Pss:"
                )
    return round(total / 1024, 1)


def cpu_seconds(parent: int) -> float:
    """The processor time of a process and its children."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            ticks += (int(words[11]) + int(words[12])) * (parent in (int(path.parent.name), int(words[1])))
    return ticks / os.sysconf("SC_CLK_TCK")
