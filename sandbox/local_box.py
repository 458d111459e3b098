"""A plain child process as a box, for the user's own code only. It bounds accidents, not attacks.

It keeps all privileges and sees the whole machine. It has a clean environment, a temporary folder, limits on
memory, output and time, and dies with its parent.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time

from grader import limits
from grader.sandbox import bytecode
from grader.sandbox.box import BoxSpec
from grader.sandbox.gpu import box_environment
from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT
from grader.sandbox.parent import make_folder, sweep_folders
from grader.sandbox.process_box import ProcessBox
from grader.sandbox.processes import (
    children,
    cpu_seconds,
    descendants,
    is_alive,
    kill,
    members,
    memory_bytes,
)

# Nothing else passes from the parent, never GRADER_*.
PASSED_ENV = ("PATH", "LANG", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH")

# Reserved address space (stacks, arenas) counts as data even if never touched.
DATA_FACTOR, DATA_EXTRA_BYTES = 2, 1 * limits.GIB
# Releasing a GPU takes a fraction of a second.
_GONE_SECONDS, _LOOK_SECONDS = 5.0, 0.001


def environment(spec: BoxSpec, home: str) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ENV if name in os.environ}
    own = {"HOME": home, "TMPDIR": home, **box_environment(spec.gpu)}
    return {"LANG": "C.UTF-8", **passed, **own, **spec.env}


class LocalBox(ProcessBox):
    kind = "local"

    def __init__(self, spec: BoxSpec) -> None:
        self._folder = str(make_folder("local"))
        self._killed: list[int] = []
        super().__init__(spec)

    def _launch(self, child_end: socket.socket, pipe_end: int) -> subprocess.Popen[bytes]:
        spec = self._spec
        ends = (child_end, self._status_end)
        passed = [end.fileno() for end in ends if end is not None]
        words = [
            str(os.getpid()),
            str(DATA_FACTOR * spec.memory_bytes + DATA_EXTRA_BYTES),
            str(spec.tmp_bytes),
            str(spec.share.nice),
            ",".join(map(str, spec.cores)),
            *bytecode.options(spec.bytecode),
            str(PROGRAMS[RUNNER_MOUNT] / spec.program),
            *(f"fd:{number}" for number in passed),
        ]
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROGRAMS[RUNNER_MOUNT] / "launch.py"), *words],
            stdin=subprocess.DEVNULL,
            stdout=pipe_end,
            stderr=pipe_end,
            pass_fds=passed,
            cwd=self._folder,
            env=environment(spec, self._folder),
            start_new_session=True,
        )

    def _memory_bytes(self, walk: bool) -> int:
        pid = self._process.pid
        return sum(map(memory_bytes, descendants(pid) if walk else [pid, *children(pid)]))

    def _cpu_seconds(self) -> float:
        return sum(map(cpu_seconds, descendants(self._process.pid)))

    def _kill_all(self) -> None:
        pid = self._process.pid
        self._killed = descendants(pid)[1:]
        for other in self._killed:  # even those that left the group
            kill(other)
        if self._is_over():  # and orphans
            for other in members(session=pid):
                kill(other)
        # The leader's number is not reused before we wait for it.
        kill(-pid)

    def _free(self) -> None:
        """A process that still releases a GPU would disturb the next timing."""
        end = time.monotonic() + _GONE_SECONDS
        while any(map(is_alive, self._killed)) and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)


class LocalBoxes:
    name = "local"
    about = "local: a plain process"

    def start(self, spec: BoxSpec) -> LocalBox:
        return LocalBox(spec)

    def reap(self) -> int:
        """Only folders can be left: a local box dies with its parent."""
        sweep_folders("local")
        return 0
