"""One process of the web: gunicorn starts, watches and ends it; ``web.connections`` serves its clients."""

from __future__ import annotations

import gc
import os
import resource
from typing import Any

from gunicorn.workers.base import Worker as BaseWorker  # type: ignore[import-untyped]

from grader import limits
from grader.web import proxies, throttle
from grader.web.connections import Server

# How long a process may go without a sign of life to gunicorn, and without noticing that gunicorn is gone.
_TURN_SECONDS = 1.0
# Of the collector of cycles: boards that are kept are a million objects, which it walked through, 0.1 s long, on every
# second page. What a request leaves is young, and that is looked through often enough.
_GENERATIONS = (50_000, 20, 200)


class Worker(BaseWorker):  # type: ignore[misc]
    """Hands what is received to the application, until SIGTERM; then what was begun is ended."""

    _server: Server | None = None

    def init_process(self) -> None:
        """In the worker process, after the fork."""
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
        )
        gc.collect()
        gc.freeze()  # all that is loaded stays
        while self.alive and os.getppid() == self.ppid:
            self.notify()
            self._server.turn(_TURN_SECONDS)
        self._server.drain(self.cfg.graceful_timeout)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM."""
        super().handle_exit(sig, frame)
        if self._server is not None:
            self._server.pull_trigger()  # it may be waiting for something to come


def _allow_files(wanted: int) -> None:
    """Raise the soft limit of open files to ``wanted``, as far as the hard one lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
