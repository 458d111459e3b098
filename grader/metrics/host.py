"""Serves the counts of this host's processes."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIServer

if TYPE_CHECKING:
    from grader.settings import Settings

from grader.logs import get_logger

log = get_logger(__name__)

_LOOPBACK = "127.0.0.1"
_HOST_GONE_SECONDS = 86400.0


def exposition(folder: Path) -> bytes:
    """In Prometheus's text format."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def forget_dead(folder: Path) -> int:
    """Each scrape reads all files. Prometheus takes lost counts for a restart. Returns the number."""
    gone = 0
    for path in folder.glob("*.db"):
        pid = path.stem.rpartition("_")[2]
        if pid.isdigit() and not _lives(int(pid)):
            path.unlink(missing_ok=True)
            gone += 1
    return gone


def forget_gone_hosts(folder: Path) -> int:
    """Removes folders beside ``folder`` in which nobody counted for a day: each container is a host of its own name,
    and a web counts its probes. Returns the number."""
    gone = 0
    for other in folder.parent.iterdir():
        if other == folder or time.time() - _counted_at(other) < _HOST_GONE_SECONDS:
            continue
        shutil.rmtree(other, ignore_errors=True)
        gone += 1
    return gone


def _counted_at(folder: Path) -> float:
    """The kernel changes a mapped file's time when it writes it back, within a minute."""
    times = [0.0]
    for path in (folder, *folder.glob("*.db")):
        with suppress(FileNotFoundError):  # another web of this folder is faster
            times.append(path.lstat().st_mtime)
    return max(times)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class HostServer:
    def __init__(self, server: WSGIServer, thread: Thread) -> None:
        self.port: int = server.server_port
        self._server = server
        self._thread = thread

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(settings: Settings, folder: Path) -> HostServer | None:
    """None if ``metrics_port`` is 0, or another worker serves it."""
    if not settings.metrics_port:
        return None
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    try:
        server, thread = start_http_server(settings.metrics_port, _LOOPBACK, registry)
    except OSError as error:
        log.info("metrics_served_by_another", port=settings.metrics_port, error=error.strerror)
        return None
    return HostServer(server, thread)
