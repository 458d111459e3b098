"""Servers that these tests start, kill and restart: PostgreSQL, and their own Docker engine."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from tests.components import postgres_bin
from tests.faults import processes
from tests.service.world import until

_START_SECONDS = 240.0


class PostgresServer:
    """A cluster in ``folder`` that listens on a unix socket there. Root runs it as the user `postgres`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgresql+psycopg://grader@/postgres?host={folder}"
        self._programs = Path(postgres_bin() or "")
        self._identity: dict[str, Any] = {}
        if os.getuid() == 0:
            who = pwd.getpwnam("postgres")
            os.chown(folder, who.pw_uid, who.pw_gid)
            self._identity = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        self._run("initdb", "-D", "data", "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._identity)

    def start(self) -> None:
        """Start it, even after a crash, and wait until it answers."""
        settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", "max_connections=100"]
        # The kernel keeps a killed process's writes: only a failing machine needs fsync. Small, for a small
        # disk.
        settings += [
            "fsync=off",
            "min_wal_size=32MB",
            "max_wal_size=64MB",
            "shared_buffers=16MB",
            "wal_level=minimal",
        ]
        settings += ["max_wal_senders=0"]
        options = [part for setting in settings for part in ("-c", setting)]

        def started() -> bool:
            if self.process.poll() is not None:  # the dead one's children may still hold its memory
                self._launch(options)
            return self._answers()

        self._launch(options)
        until(started, "PostgreSQL", _START_SECONDS)

    def _launch(self, options: list[str]) -> None:
        self.process = subprocess.Popen(
            [self._programs / "postgres", "-D", "data", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            start_new_session=True,
            **self._identity,
        )

    def _answers(self) -> bool:
        engine = create_engine(self.url)
        try:
            with engine.connect():
                return True
        except Exception:
            return False
        finally:
            engine.dispose()

    def backends(self) -> list[int]:
        return [
            pid for pid in processes.children(self.process.pid) if "grader postgres" in processes.words(pid)
        ]

    def kill(self) -> None:
        """End all of it, as in a power failure."""
        for pid in [self.process.pid, *processes.below(self.process.pid)]:
            processes.send(pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(_START_SECONDS)


class DockerServer:
    """An engine with its own socket, data and state in ``folder``: the machine's engine is left alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"unix://{folder}/docker.sock"
        self._driver: list[str] = []
        self.start()

    def start(self) -> None:
        """Raises AssertionError if it does not start."""
        if not self._try_to_start():
            # overlay2 does not work on an overlay file system.
            self._driver = ["--storage-driver=vfs"]
            assert self._try_to_start(), (self.folder / "log").read_text()[-2000:]

    def _try_to_start(self) -> bool:
        (self.folder / "pid").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    "dockerd",
                    *("--iptables=false", "--ip6tables=false", "--ip-masq=false", "--bridge=none"),
                    *("--data-root", str(self.folder / "root"), "--exec-root", str(self.folder / "exec")),
                    *("-H", self.url, "--pidfile", str(self.folder / "pid"), *self._driver),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if self._info() is not None:
                return True
            time.sleep(0.1)
        return False

    def _info(self, everything: bool = False) -> str | None:
        asked = ["docker", "-H", self.url, "ps", "-q"] + ["-a"] * everything
        ran = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
        return ran.stdout if ran.returncode == 0 else None

    def containers(self, everything: bool = False) -> list[str]:
        """Running containers, or also ended ones that were not removed."""
        return (self._info(everything) or "").split()

    def kill_container(self, container: str) -> None:
        asked = ["docker", "-H", self.url, "kill", container]
        subprocess.run(asked, capture_output=True, check=False, timeout=60)

    def stop(self, number: signal.Signals) -> None:
        """SIGTERM, as from a service manager, or SIGKILL."""
        self.process.send_signal(number)
        self.process.wait(_START_SECONDS)

    def close(self) -> None:
        if self.process.poll() is None:
            self.stop(signal.SIGTERM)
        for pid in processes.in_folder(self.folder):  # containerd outlives a killed engine
            processes.send(pid, signal.SIGKILL)
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        for mount in reversed(
            [line.split()[1] for line in mounts if line.split()[1].startswith(str(self.folder))]
        ):
            subprocess.run(["umount", "-l", mount], check=False, capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
