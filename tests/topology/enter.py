"""Become a process of a "host": ``python enter.py NETNS NAME FOLDER [USER] -- PROGRAM ...``.

It gets a new network namespace and host name, and an empty FOLDER that no other process sees. It imports nothing of
ours, because it runs before everything else.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWNET = 0x20000, 0x4000000, 0x40000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), what)


def enter_network(name: str) -> None:
    descriptor = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(descriptor, _CLONE_NEWNET), f"setns {name}")
    finally:
        os.close(descriptor)


def _take_folder(folder: str) -> None:
    _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "private mounts")
    _check(_libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, b"mode=755"), f"tmpfs on {folder}")


def main(arguments: list[str]) -> None:
    split = arguments.index("--")
    (network, name, folder), program = arguments[:split], arguments[split + 1 :]
    enter_network(network)
    _check(_libc.unshare(_CLONE_NEWNS | _CLONE_NEWUTS), "unshare")
    socket.sethostname(name)
    if folder:
        _take_folder(folder)
    os.execvp(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
