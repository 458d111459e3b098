"""Splits the runner: a supervisor that waits, and a child that loads a submission.

The supervisor is the box's first process, which nothing inside can kill: the kernel drops signals from its own
namespace. Its death means that something outside ended the box, or a lack of memory. Over a socket that the child does
not have, it reports the 32-bit wait status, little endian, which tells exit code 137 from SIGKILL; a container's exit
code does not.

A plain process has no PID namespace, so its child could kill the supervisor: a local box is for trusted code.
"""

import contextlib
import ctypes
import os
import signal
import socket

from connect import connect

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
STATUS_BYTES = 4
# Time for the parent to read the counters of the box's control group, before it closes the socket.
READ_SECONDS = 5.0


def supervise(address: str, status_address: str) -> None:
    """Fork. Returns in the child only; the parent ends here. ``address``: the child's connection, see ``connect``.

    Call this before anything is loaded: one thread, no CUDA context, little memory to copy.
    """
    status = connect(status_address)
    libc = ctypes.CDLL(None)
    # A process that cannot be dumped cannot be inspected: the child cannot read /proc/1/mem or /proc/1/fd.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # With Python's handler installed, SIGINT would be the one signal that reaches the first process of a box.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        status.close()
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:  # it died before PR_SET_PDEATHSIG took effect
            os._exit(1)
        os.setpgid(0, 0)  # a signal to the child's own group reaches only the child and its descendants
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return
    kind, _, where = address.partition(":")
    if kind == "fd":
        os.close(int(where))  # the connection ends with the child
    _report(status, _wait_for(child))
    os._exit(0)  # the kernel ends everything else in the box


def _wait_for(child: int) -> int:
    """The wait status of ``child``; also reaps orphans."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def _report(status: socket.socket, code: int) -> None:
    """Stay until the parent has read the report: without a PID namespace to end the rest of the box, the parent
    finds those processes among our children."""
    with contextlib.suppress(OSError):
        status.sendall(code.to_bytes(STATUS_BYTES, "little"))
        status.settimeout(READ_SECONDS)
        status.recv(1)
