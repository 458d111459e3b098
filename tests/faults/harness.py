"""A platform in parts, each a process that can be ended in any way and restarted, as `grader up` and service
managers do, but without their pauses.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine, create_engine

from grader.cli.config import environment
from grader.queue.embedded import EmbeddedRedis, start_redis
from grader.schemas.account import Role
from grader.schemas.worker_token import WorkerTokenBody
from grader.service.accounts import accounts
from grader.service.accounts.accounts import User
from grader.service.operation import worker_tokens
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from tests.components import postgres_bin
from tests.faults import clocks, processes
from tests.faults.clocks import Clock
from tests.faults.disks import SmallDisk
from tests.faults.proxy import Proxy
from tests.faults.servers import DockerServer, PostgresServer

ROOT = Path(__file__).resolve().parents[2]
# Room for a run's files and little more, to fill quickly. PostgreSQL keeps 32 MiB of log ahead.
_DISK_MIB = {"data": 32, "postgres": 192, "tmp": 32}
_STOP_SECONDS = 60.0


# Alembic keeps its state in globals, so only one platform of this process migrates at a time.
_migrating = threading.Lock()


@dataclass(frozen=True)
class Layout:
    """``database``: sqlite or postgres; ``docker``: one worker has its own engine; ``short``: leases of
    seconds instead of the settings' defaults; ``judges``: real ones in addition to the scripted; ``https``: workers
    have neither database nor Redis.
    """

    database: str
    docker: bool = False
    short: bool = True
    judges: int = 1
    https: bool = False


class Member:
    """With a C compiler it has its own wall clock."""

    def __init__(
        self, name: str, command: list[str], env: Mapping[str, str], folder: Path, library: Path | None
    ) -> None:
        self.name, self._command, self._log = name, command, folder / f"{name}.log"
        self.clock = Clock(library, folder / f"{name}.clock") if library is not None else None
        self.env = {**env, **(self.clock.env if self.clock is not None else {})}
        self.stopped = False
        self.starts = 0
        self.start()

    def start(self) -> None:
        self.starts += 1
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command,
                env=self.env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def freeze(self) -> None:
        self.stopped = processes.send(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        self.stopped = False
        processes.send(self.process.pid, signal.SIGCONT)

    def tend(self) -> bool:
        """Restart it if it ended; True if so."""
        if self.process.poll() is None:
            return False
        self.stopped = False
        self.start()
        return True

    def end(self) -> int:
        """Ask it to end. Returns its exit code, or that of a kill if it does not."""
        if self.stopped:
            self.thaw()
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")


class Harness:
    """All processes, in one folder. Close it."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        # Short, for the paths of sockets.
        self.folder = Path(tempfile.mkdtemp(prefix="gf", dir="/tmp"))
        self.folder.chmod(0o711)  # PostgreSQL runs as another user
        self.disks: dict[str, SmallDisk] = {}
        self.members: dict[str, Member] = {}
        self.postgres: PostgresServer | None = None
        self.docker: DockerServer | None = None
        self.proxy: Proxy | None = None
        self._staff: User | None = None
        self._tokens = 0
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        for name, size in _DISK_MIB.items():
            self.disks[name] = SmallDisk(self.folder / name, size)
        (self.folder / "redis").mkdir()
        self._redis_settings = Settings(data_dir=self.folder / "redis", redis_url="")
        self.redis: EmbeddedRedis = start_redis(self._redis_settings)
        if self.layout.database == "postgres":
            self.postgres = PostgresServer(self.folder / "postgres")
        if self.layout.docker:
            (self.folder / "docker").mkdir()
            self.docker = DockerServer(self.folder / "docker")
        self.settings = self._make_settings()
        if self.layout.https:
            self.proxy = Proxy(self.settings.port)
        self._library = clocks.build_library(self.folder)

    def _make_settings(self) -> Settings:
        short = {"lease_s": 3.0, "heartbeat_s": 0.5, "sweep_s": 0.5} if self.layout.short else {}
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        return Settings(
            data_dir=self.folder / "data",
            database_url=self.postgres.url if self.postgres else "",
            redis_url=self.redis.url,
            challenges=ROOT / "tests" / "catalogue",
            box="local",
            host="127.0.0.1",
            port=port,
            devices="cpu,h200",
            device="cpu",
            lock_dir=self.folder / "locks",
            # A campaign's users send more than a day's quota.
            quota=100_000,
            # A submission hit by one fault returns to the head of the queue, where the next fault strikes.
            # Hundreds of them within minutes reach the cap by design, which has other tests.
            attempts=100,
            **short,  # type: ignore[arg-type]
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"

    def open(self) -> Platform:
        with _migrating:
            return open_platform(self.settings)

    def start(self) -> None:
        python = [sys.executable, "-m"]
        env = {**environment(self.settings), "TMPDIR": str(self.folder / "tmp"), "OMP_NUM_THREADS": "1"}

        of_workers = {**env, **self._remote()}

        def member(name: str, *command: str, **more: str) -> None:
            given = {**(env if name == "web" else of_workers), **more}
            self.members[name] = Member(name, [*python, *command], given, self.folder, self._library)

        member("web", "grader.web.server")
        for number in range(self.layout.judges):
            member(f"judge{number}", "tests.faults.scripted", "judge")
        if self.docker is not None:
            member(
                "docker-judge",
                "tests.faults.scripted",
                "judge",
                GRADER_BOX="docker",
                DOCKER_HOST=self.docker.url,
            )
        for number in range(2):
            member(f"gpu{number}", "tests.faults.scripted", "run", str(number))
        member("compiler", "tests.faults.scripted", "compile")

    def _remote(self) -> dict[str, str]:
        """A worker's environment over HTTPS: no database, no Redis, no catalogue, and a folder of its own."""
        if self.proxy is None:
            return {}
        nothing = dict.fromkeys(("GRADER_DATABASE_URL", "GRADER_REDIS_URL", "GRADER_CHALLENGES"), "")
        return {
            **nothing,
            "GRADER_DATA_DIR": str(self.folder / "node"),
            "GRADER_WORKER_SERVER": self.proxy.url,
            "GRADER_WORKER_TOKEN": self.issue_token(),
        }

    def issue_token(self) -> str:
        """A worker's token; an earlier one is revoked."""
        platform, last = self.open(), f"nodes-{self._tokens}"
        try:
            if self._staff is None:
                self._staff = accounts.create_user(platform, "staff", "correct horse", Role.STAFF)
            self._tokens += 1
            body = WorkerTokenBody(name=f"nodes-{self._tokens}")
            token = worker_tokens.issue(platform, self._staff, body).token
            if self._tokens > 1:
                worker_tokens.revoke(platform, self._staff, last)
            return token
        finally:
            platform.close()

    def change_token(self) -> None:
        """Workers end, and start with the new one."""
        token = self.issue_token()
        for member in self.workers():
            member.env["GRADER_WORKER_TOKEN"] = token

    def tend(self) -> None:
        for member in self.members.values():
            member.tend()

    @property
    def real_judges(self) -> int:
        return self.layout.judges + int(self.layout.docker)

    def start_redis(self) -> None:
        self.redis = start_redis(self._redis_settings)

    def workers(self) -> list[Member]:
        return [member for name, member in self.members.items() if name != "web"]

    def worker_of(self, name: str | None) -> Member | None:
        """The process of the registered worker ``name``, which contains its process id."""
        if name in self.members:
            return self.members[name]
        if name is None:
            return None
        return next((member for member in self.workers() if f"-{member.process.pid}-" in name), None)

    def engine(self) -> Engine:
        """For reading from outside, without a long wait for locks."""
        if self.postgres is not None:
            options = {"options": "-c lock_timeout=200 -c statement_timeout=2000", "connect_timeout": 2}
            return create_engine(self.settings.sql_url, connect_args=options, pool_pre_ping=True)
        return create_engine(self.settings.sql_url, connect_args={"timeout": 0.2})

    def end(self) -> dict[str, int]:
        """Ask workers and web to end. Returns their exit codes."""
        return {name: member.end() for name, member in self.members.items()}

    def close(self) -> None:
        for member in self.members.values():
            if member.process.poll() is None:
                member.process.kill()
                member.process.wait()
        if self.proxy is not None:
            self.proxy.close()
        self.redis.close()
        if self.postgres is not None:
            self.postgres.close()
        if self.docker is not None:
            self.docker.close()
        for pid in processes.in_folder(self.folder):
            processes.send(pid, signal.SIGKILL)
        for disk in self.disks.values():
            disk.close()
        if not os.environ.get("GRADER_KEEP_FAULTS"):
            shutil.rmtree(self.folder, ignore_errors=True)


def can_use(layout: Layout) -> bool:
    if layout.database == "postgres" and not postgres_bin():
        return False
    return not layout.docker or (os.getuid() == 0 and shutil.which("dockerd") is not None)
