"""Talks to the probe in a box."""

from __future__ import annotations

import array
import json
import socket
import time
from collections.abc import Callable
from typing import Any

from grader.sandbox.box import Box


class Silent(Exception):
    """The box ended without an answer."""


def ask(box: Box, do: str, descriptor: int | None = None, **more: Any) -> dict[str, Any]:
    """The probe's answer. Raises Silent if it ends instead."""
    body = json.dumps({"do": do, **more}).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))] if descriptor else []
    box.connection.settimeout(60)
    box.connection.sendmsg([len(body).to_bytes(4, "little") + body], rights)
    return json.loads(_exactly(box, int.from_bytes(_exactly(box, 4), "little")))


def _exactly(box: Box, count: int) -> bytes:
    data = b""
    while len(data) < count:
        try:
            part = box.connection.recv(count - len(data))
        except ConnectionError:
            part = b""
        if not part:
            raise Silent
        data += part
    return data


def run(box: Box, code: str) -> str:
    """The output of ``code`` in another Python in the box. Asserts its success."""
    ran = ask(box, "python", code=code)
    assert ran.get("code") == 0, ran
    return str(ran["out"])


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
