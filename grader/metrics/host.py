"""Serves the counts of this host's processes."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIServer

if TYPE_CHECKING:
    from grader.settings import Settings

from grader.logs import get_logger

log = get_logger(__name__)

_LOOPBACK = "127.0.0.1"


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
