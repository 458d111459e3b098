"""Processes under gunicorn: ``python -m grader.web.server``."""

from __future__ import annotations

import gc
import logging
import sys
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]
from gunicorn.glogging import Logger  # type: ignore[import-untyped]

from grader import metrics
from grader.errors import GraderError
from grader.metrics.host import forget_dead, forget_gone_hosts
from grader.queue.sweeper import RemoteWorkersSweeper
from grader.service.accounts import first_admin
from grader.service.operation.exposure import check_exposure
from grader.service.platform import open_platform
from grader.settings import Settings, load_settings
from grader.web.worker import Worker

if TYPE_CHECKING:
    from flask import Flask

    from grader.service.accounts.links import AccountLink

# Threads wait for SQL; a second process helps if one blocks.
_WORKERS = 2
_THREADS = 8
# Requests take milliseconds: one that runs this long will never end.
_GRACE_SECONDS = 5
_TIMEOUT_SECONDS = 60


class _Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, settings: Settings, options: dict[str, Any], first: AccountLink | None) -> None:
        self.settings = settings
        self.options = options
        self.first = first
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """After the fork: processes share modules, but no connection."""
        from grader.service.messages.digests import DigestSender
        from grader.web.app import create_app

        platform = open_platform(self.settings, migrate=False)
        DigestSender(platform).start()
        RemoteWorkersSweeper(platform).start()
        return create_app(platform)


class _Logger(Logger):  # type: ignore[misc]
    """The application logs requests, with their ids."""

    def setup(self, cfg: Any) -> None:
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        self.error_log.setLevel(logging.WARNING)


def serve(settings: Settings, host: str, port: int) -> None:
    """Until SIGTERM or SIGINT; then ends the process. Port 0 takes a free one. Prints the address. Raises NotAllowed
    if submissions run in ``local`` boxes and other machines can reach ``host``."""
    check_exposure(host, settings.box)
    metrics.begin(settings)
    forget_dead(metrics.folder_of(settings))
    forget_gone_hosts(metrics.folder_of(settings))
    first = _prepare(settings)
    _load_modules()
    address = f"[{host}]" if ":" in host else host
    _Server(settings, _options(f"{address}:{port}"), first).run()


def _prepare(settings: Settings) -> AccountLink | None:
    """Migrates once; prints a link for the first admin if there are no staff."""
    platform = open_platform(settings, starting=True)
    try:
        return first_admin.make_link(platform) if first_admin.needed(platform) else None
    finally:
        platform.close()


def _load_modules() -> None:
    """Once, before the fork: imports take long."""
    gc.disable()  # imports stay
    import grader.service.messages.digests  # noqa: F401
    from grader.web import api, pages
    from grader.web.blueprints import blueprints

    blueprints(api)
    blueprints(pages)
    gc.enable()
    gc.collect()
    gc.freeze()  # keeps memory shared between processes


def _options(bind: str) -> dict[str, Any]:
    return {
        "bind": bind,
        "worker_class": Worker,
        "workers": _WORKERS,
        "threads": _THREADS,
        "timeout": _TIMEOUT_SECONDS,
        "graceful_timeout": _GRACE_SECONDS,
        "loglevel": "warning",
        "logger_class": _Logger,
        "proc_name": "grader-web",
        "control_socket_disable": True,
        "when_ready": _announce,
    }


def _announce(arbiter: Any) -> None:
    host, port = arbiter.LISTENERS[0].sock.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print(f"Listening on {address}", flush=True)
    if (link := arbiter.app.first) is not None:
        # Only the operator reads this.
        base = arbiter.app.settings.url or address.replace("//0.0.0.0:", "//127.0.0.1:").replace(
            "//[::]:", "//[::1]:"
        )
        until = f"{link.expires_at:%Y-%m-%d %H:%M} UTC"
        print(
            f"There are no staff yet. This link creates the first admin, once, until {until}: {link.at(base)}",
            flush=True,
        )


def main() -> int:
    try:
        settings = load_settings()
        serve(settings, settings.host, settings.port)
    except GraderError as error:
        print(f"{error.message} {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
