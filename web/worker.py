"""A web process under gunicorn; ``web.connections`` serves its clients."""

from __future__ import annotations

import gc
import os
import resource
from typing import Any

from gunicorn.workers.base import Worker as BaseWorker  # type: ignore[import-untyped]

from grader import limits
from grader.web import proxies, throttle, waiting
from grader.web.connections import Server

# Longest time without a heartbeat to gunicorn.
_TURN_SECONDS = 1.0
# Cached boards are a million objects: a full garbage collection took 0.1 s on every second page.
_GENERATIONS = (50_000, 20, 200)


class Worker(BaseWorker):  # type: ignore[misc]
    """Serves until SIGTERM, then finishes requests in progress."""

    _server: Server | None = None

    def init_process(self) -> None:
        """After the fork."""
        gc.set_threshold(*_GENERATIONS)
        _allow_files(limits.OPEN_FILES)
        super().init_process()

    def run(self) -> None:
        settings = self.app.settings
        self._server = Server(
            self.wsgi,
            self.sockets[0].sock,
            self.cfg.threads,
            lambda address: proxies.is_proxy(settings, address),
            throttle.hashes_password,
            waiting.waits,
        )
        gc.collect()
        gc.freeze()  # loaded modules stay
        while self.alive and os.getppid() == self.ppid:
            self.notify()
            self._server.turn(_TURN_SECONDS)
        waiting.ending.set()
        self._server.drain(self.cfg.graceful_timeout)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM."""
        super().handle_exit(sig, frame)
        if self._server is not None:
            self._server.pull_trigger()  # it may be waiting for an event


def _allow_files(wanted: int) -> None:
    """Raises the soft limit, up to the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
