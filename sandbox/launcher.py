"""The one thread that starts boxes which are processes of ours.

The kernel ties "die with your parent" to the *thread* that forked: a box started on a short-lived thread would die with
that thread. So all are started on one that lives as long as this process.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future

Start = Callable[[], "subprocess.Popen[bytes]"]


class _Launcher:
    def __init__(self) -> None:
        self.pid = os.getpid()
        self._jobs: queue.SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="box-launcher", daemon=True).start()

    def _serve(self) -> None:
        while True:
            start, future = self._jobs.get()
            try:
                future.set_result(start())
            except BaseException as error:
                future.set_exception(error)
            del start, future

    def start(self, start: Start) -> subprocess.Popen[bytes]:
        future: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((start, future))
        return future.result()


_launcher: _Launcher | None = None
_lock = threading.Lock()


def launch(start: Start) -> subprocess.Popen[bytes]:
    """What ``start`` makes, made on the launcher's thread. Raises what it raises."""
    global _launcher
    with _lock:
        if _launcher is None or _launcher.pid != os.getpid():  # a fork takes no threads along
            _launcher = _Launcher()
        using = _launcher
    return using.start(start)
