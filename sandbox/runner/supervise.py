"""Splits the runner in two: a supervisor that waits, and its child, which continues and loads a submission.

The supervisor is the box's first process. Nobody inside can kill that one: the kernel drops what its own namespace
sends it. So when the supervisor dies, somebody outside ended the box, or it ran out of memory; and when the child dies,
the supervisor reports exactly how, over a socket that the child does not have: a 32-bit wait status, little endian. An
exit code of 137 and a death by SIGKILL then differ; in the exit code of a container they are the same.

A plain process has no namespace of its own. Its child could kill the supervisor; a local box is for one's own code.
"""

import contextlib
import ctypes
import os
import signal
import socket

from connect import connect

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
STATUS_BYTES = 4
# The parent reads the counters of the box's control group before the box is gone, and then closes the socket.
READ_SECONDS = 5.0


def supervise(address: str, status_address: str) -> None:
    """Fork. Returns in the child only; the parent ends with it. ``address``: the child's connection, see ``connect``.

    To be called before anything is loaded: one thread, no CUDA context, little memory to copy.
    """
    status = connect(status_address)
    libc = ctypes.CDLL(None)
    # A process that cannot be dumped cannot be looked into either: /proc/1/mem and /proc/1/fd are closed to the child.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # With Python's own handler, this signal alone would reach the first process of a box.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        status.close()
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:  # it died before we asked to die with it
            os._exit(1)
        os.setpgid(0, 0)  # a signal to the own group is for the child and what it starts
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return
    kind, _, where = address.partition(":")
    if kind == "fd":
        os.close(int(where))  # the connection ends with the child
    _report(status, _wait_for(child))
    os._exit(0)  # the kernel ends what else is in the box


def _wait_for(child: int) -> int:
    """The wait status of ``child``; takes those whose parents are gone on the way."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return status


def _report(status: socket.socket, code: int) -> None:
    """Report how it ended, and stay until that is read: where no namespace ends what else is in the box, our parent
    finds it among our children."""
    with contextlib.suppress(OSError):
        status.sendall(code.to_bytes(STATUS_BYTES, "little"))
        status.settimeout(READ_SECONDS)
        status.recv(1)
