"""Requests of workers that wait for work: each holds a thread of its own until there is some."""

from __future__ import annotations

import threading

PATH = "/api/v1/worker/wait"
# Set when this process ends: nobody waits any longer.
ending = threading.Event()


def waits(method: str, path: str) -> bool:
    return method == "POST" and path == PATH
