"""Boxes made by bubblewrap (``bwrap``), for hosts without a Docker engine, by root or an ordinary user.

Namespaces, no network, no capabilities, and a Docker box's call filter and files. ``docs/boxes.md`` lists its
weaker points.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import bytecode, enclosure, image
from grader.sandbox.box import BoxPurpose, BoxSpec, readable
from grader.sandbox.control_groups import ControlGroup, Groups, find_groups
from grader.sandbox.options import BUSY
from grader.sandbox.parent import is_left_behind, owned_name
from grader.sandbox.process_box import ProcessBox
from grader.sandbox.processes import children, cpu_seconds, descendants, kill, memory_bytes
from grader.sandbox.seccomp import call_filter

KIND = "bubblewrap"
PROGRAM = "bwrap"
INSTALL = "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)."
USER_NAMESPACE_HINT = (
    "For boxes by an ordinary user, allow user namespaces (sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0) and make the folders of "
    "Python, the CUDA toolkit and this platform readable. In a container they fail for lack of a full /proc."
)
ACCOUNTS = {"/etc/passwd": image.PASSWD, "/etc/group": image.GROUP}
# Like a shell, bwrap reports death by signal N as 128 + N.
SIGNAL_BASE, SIGNALS = 128, 64
# To end thousands of processes and free their pages.
_GONE_SECONDS = 30.0


class BubblewrapBox(ProcessBox):
    kind = KIND

    def __init__(self, maker: BubblewrapBoxes, spec: BoxSpec) -> None:
        self._maker = maker
        self._group: ControlGroup | None = maker.groups.make(spec) if maker.groups else None
        self._first = -1  # descriptor of the box's first process
        self._first_pid = 0
        self._control, self._step = socket.socketpair()
        self._info, self._info_end = os.pipe()
        try:
            super().__init__(spec)
        finally:
            self._step.close()
            os.close(self._info_end)
        try:
            self._admit(time.monotonic() + limits.IDLE_PATIENCE * spec.start_seconds)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            self.kill()
            said = self.output().decode(errors="replace").strip()[-1000:]
            if isinstance(error, TimeoutError):
                late = f"it took too long (more than {spec.start_seconds:g} s)"
                raise BoxUnavailable(f"bubblewrap could not start a box: {late}", BUSY) from error
            raise BoxUnavailable(
                f"bubblewrap could not start a box: {said or error}", USER_NAMESPACE_HINT
            ) from error
        except BaseException:
            self.kill()
            raise

    def _launch(self, child_end: socket.socket, pipe_end: int) -> subprocess.Popen[bytes]:
        files = {path: _memory_file(text) for path, text in ACCOUNTS.items()}
        ends = (child_end, self._status_end)
        passed = [end.fileno() for end in ends if end is not None]
        numbers = [*passed, self._step.fileno(), self._info_end, *files.values()]
        as_root = self._maker.as_root
        try:
            return subprocess.Popen(
                [
                    # Marks the owner for a reap.
                    owned_name(KIND) + self.id,
                    *enclosure.words(self._spec, as_root, files),
                    *("--info-fd", str(self._info_end), "--"),
                    *(
                        sys.executable,
                        "-I",
                        "-S",
                        f"{image.RUNNER_MOUNT}/confine.py",
                        str(self._step.fileno()),
                    ),
                    *(
                        sys.executable,
                        "-I",
                        *bytecode.options(bytecode.MOUNT if self._spec.bytecode else ""),
                        f"{image.RUNNER_MOUNT}/{self._spec.program}",
                        *(f"fd:{number}" for number in passed),
                    ),
                ],
                executable=self._maker.program,
                stdin=subprocess.DEVNULL,
                stdout=pipe_end,
                stderr=pipe_end,
                pass_fds=numbers,
                cwd="/",
                env={},
                start_new_session=True,
            )
        finally:
            for number in files.values():
                os.close(number)

    def _admit(self, deadline: float) -> None:
        pid = int(_whole_message(self._info, deadline)["child-pid"])
        self._first, self._first_pid = os.pidfd_open(pid), pid
        if self._group is not None:
            self._group.add(pid)
        with contextlib.suppress(OSError):  # if the host runs out of memory, a box goes first
            Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
        self._control.settimeout(max(deadline - time.monotonic(), 0.001))
        said = b""
        calls = call_filter(loopback=True) if self._spec.loopback else self._maker.filter
        body = json.dumps(
            enclosure.order(self._spec, self._maker.as_root, self._group is not None, calls)
        ).encode()
        self._control.sendall(len(body).to_bytes(4, "little") + body)
        while data := self._control.recv(4096):
            said += data
        if said[4:] != b'{"ok": true}':
            raise EOFError("it ended before its program began")

    def _memory_bytes(self, walk: bool) -> int:
        if self._group is not None or not self._first_pid:
            return 0  # the kernel counts, or nothing runs yet
        first = self._first_pid
        return sum(map(memory_bytes, descendants(first) if walk else [first, *children(first)]))

    def _cpu_seconds(self) -> float:
        if self._group is not None and (seconds := self._group.cpu_seconds()):
            return seconds
        return sum(map(cpu_seconds, descendants(self._first_pid))) if self._first_pid else 0.0

    def _kill_all(self) -> None:
        if self._first >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            # All processes end with the namespace's first one.
            readable(_GONE_SECONDS, self._first)
            # Pausing stops bwrap itself, too.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self._process.send_signal(signal.SIGCONT)
        if self._process.poll() is None and not self._is_over_soon():
            for pid in reversed(descendants(self._process.pid)):
                kill(pid)

    def _is_over_soon(self) -> bool:
        """bwrap notices the end of its box and reports it."""
        if self._first < 0:
            return False
        return readable(_GONE_SECONDS, self._pidfd)

    def _plain(self, code: int) -> int:
        signalled = SIGNAL_BASE < code <= SIGNAL_BASE + SIGNALS
        return SIGNAL_BASE - code if signalled else code

    def _memory_kills(self) -> int:
        return self._group.memory_kills() if self._group is not None else 0

    def out_of_memory(self) -> bool:
        return super().out_of_memory() or (self._group is not None and self._group.out_of_memory())

    def _free(self) -> None:
        if self._group is not None:
            self._group.remove()
        self._control.close()
        for number in (self._info, self._first):
            if number >= 0:
                os.close(number)
        self._info = self._first = -1
        self._maker.alive.discard(self)


class BubblewrapBoxes:
    """Raises BoxUnavailable if bwrap is missing or cannot make a box."""

    name = KIND

    def __init__(self) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            raise BoxUnavailable("bwrap is not installed", INSTALL)
        self.program = program
        self.as_root = os.geteuid() == 0
        self.filter = call_filter()
        self.groups: Groups | None = find_groups()
        who = "by root" if self.as_root else "by a user"
        bounds = self.groups.about if self.groups else "limits of processes"
        self.about = f"{KIND}: {who}, {bounds}"
        self.alive: set[BubblewrapBox] = set()
        self._pid = os.getpid()
        self._try()
        atexit.register(self.close)

    @property
    def bounded(self) -> bool:
        """A control group bounds all processes of a box together."""
        return self.groups is not None

    def _try(self) -> None:
        box = BubblewrapBox(self, BoxSpec(BoxPurpose.RUN, program="probe.py"))
        box.kill()

    def start(self, spec: BoxSpec) -> BubblewrapBox:
        box = BubblewrapBox(self, spec)
        self.alive.add(box)
        if box.end() is not None:  # it ended before it was counted
            self.alive.discard(box)
        return box

    def reap(self) -> int:
        orphans = [pid for pid, name in _named_processes() if is_left_behind(KIND, name)]
        for pid in orphans:
            for each in reversed(descendants(pid)):
                kill(each)
        swept = self.groups.sweep() if self.groups else 0
        return max(len(orphans), swept)

    def close(self) -> None:
        atexit.unregister(self.close)
        if os.getpid() != self._pid:
            return
        for box in list(self.alive):
            box.kill()


def _memory_file(text: str) -> int:
    number = os.memfd_create("etc")
    os.write(number, text.encode())
    os.lseek(number, 0, os.SEEK_SET)
    return number


def _whole_message(pipe: int, deadline: float) -> dict[str, Any]:
    """Raises EOFError or TimeoutError."""
    text = b""
    while b"}" not in text:
        left = deadline - time.monotonic()
        if left <= 0 or not readable(left, pipe):
            raise TimeoutError
        data = os.read(pipe, 4096)
        if not data:
            raise EOFError("it ended at once")
        text += data
    message: dict[str, Any] = json.loads(text)
    return message


def _named_processes() -> list[tuple[int, str]]:
    """Processes that we may inspect, with the first words of their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes()
                found.append((int(entry.name), words.partition(b"\0")[0].decode(errors="replace")))
    return found
