"""The last step into a bubblewrap box: drops remaining privileges and becomes the box's program.

python -I -S confine.py CONTROL WORDS...

Once the limits hold, the parent sends one message over the socket CONTROL:
- ``user``: the user to become (null: no change)
- ``mounts``: options of file systems in memory, by folder
- ``nice``, ``cores``
- ``limits``: resource limits by number
- ``filter``: the call filter in hexadecimal
- ``environment``: for WORDS

The answer is ``{"ok": true}``. CONTROL closes when WORDS run, or an error follows. Nothing untrusted is in
the box yet.
"""

import contextlib
import ctypes
import os
import resource
import signal
import socket
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from protocol import receive, send

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 38, 22
PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 23, 24, 47, 4
SECCOMP_MODE_FILTER = 2
CAPABILITY_VERSION = 0x20080522
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 2, 4, 8, 32
INSTRUCTION_BYTES = 8

_libc = ctypes.CDLL(None, use_errno=True)


class SockFprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def check(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def control(option: int, *values: Any) -> None:
    words = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in values]
    check(_libc.prctl(option, *words, *[ctypes.c_ulong(0)] * (4 - len(words))), f"prctl {option}")


def bound(folder: str, options: str, user: int | None) -> None:
    """A remount takes flags and sizes, but not the owner."""
    flags = {"nosuid": MS_NOSUID, "nodev": MS_NODEV, "noexec": MS_NOEXEC, "exec": 0, "rw": 0}
    words = options.split(",")
    chosen = sum(flags[word] for word in words if word in flags)
    data = ",".join(word for word in words if word.startswith(("size=", "nr_inodes=")))
    made = _libc.mount(None, folder.encode(), None, ctypes.c_ulong(MS_REMOUNT | chosen), data.encode())
    check(made, f"bounds for {folder}")
    if user is not None:
        os.chown(folder, user, user)
    else:
        os.chmod(folder, 0o700)


def set_limits(pairs: dict[str, int]) -> None:
    """Soft and hard; a lower hard limit stays."""
    for name, value in pairs.items():
        _, hard = resource.getrlimit(int(name))
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(int(name), (value, value))


def become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def drop_bounding() -> None:
    """A file with capabilities could give one back."""
    for number in range(64):
        if _libc.prctl(PR_CAPBSET_READ, ctypes.c_ulong(number), 0, 0, 0) != 1:
            continue
        control(PR_CAPBSET_DROP, number)


def drop_capabilities() -> None:
    control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capabilities")


def filter_calls(instructions: bytes) -> None:
    program = SockFprog(len(instructions) // INSTRUCTION_BYTES, instructions)
    control(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))


def confine(order: dict[str, Any]) -> None:
    for folder, options in order["mounts"].items():
        bound(folder, options, order["user"])
    set_limits(order["limits"])
    os.nice(max(0, order["nice"] - os.nice(0)))
    if order["cores"]:
        with contextlib.suppress(OSError):  # a core was taken away: any will do
            os.sched_setaffinity(0, order["cores"])
    drop_bounding()
    if order["user"] is not None:
        become(order["user"])
    drop_capabilities()
    control(PR_SET_NO_NEW_PRIVS, 1)
    # Last: a change of user clears it.
    control(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir("/tmp")  # noqa: S108 - the box's own
    filter_calls(bytes.fromhex(order["filter"]))


def main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.set_inheritable(False)
    order, _ = receive(connection)
    confine(order)
    send(connection, {"ok": True})
    try:
        os.execve(sys.argv[2], sys.argv[2:], order["environment"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        send(connection, {"error": f"{sys.argv[2]}: {error.strerror}"})
        raise


main()
