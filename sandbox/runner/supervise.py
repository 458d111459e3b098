"""Splits the runner into a supervisor that waits, and a child that loads a submission.

Nothing inside can kill the supervisor, the box's first process: the kernel drops signals from its namespace.
So its death comes from outside or from a lack of memory. It reports the 32-bit wait status (little endian),
which tells exit code 137 from SIGKILL.
"""

import contextlib
import ctypes
import os
import signal
import socket

from connect import connect

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
STATUS_BYTES = 4
# For the parent to read the box's counters.
READ_SECONDS = 5.0


def supervise(address: str, status_address: str) -> None:
    """Returns only in the child. ``address``: the child's connection.

    Call it before loading anything: one thread, no CUDA context, little memory to copy.
    """
    status = connect(status_address)
    libc = ctypes.CDLL(None)
    # The child must not read /proc/1/mem or /proc/1/fd.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Python's handler would let SIGINT reach the box's first process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        status.close()
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:  # it died before PR_SET_PDEATHSIG took effect
            os._exit(1)
        os.setpgid(0, 0)  # signals to the child's group spare the supervisor
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return
    kind, _, where = address.partition(":")
    if kind == "fd":
        os.close(int(where))
    _report(status, _wait_for(child))
    os._exit(0)


def _wait_for(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def _report(status: socket.socket, code: int) -> None:
    """Stay until the parent has read it: without a PID namespace, it finds the rest of the box among our
    children.
    """
    with contextlib.suppress(OSError):
        status.sendall(code.to_bytes(STATUS_BYTES, "little"))
        status.settimeout(READ_SECONDS)
        status.recv(1)
