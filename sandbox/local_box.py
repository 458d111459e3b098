"""A box that is a plain child process: for the user's own code only. It bounds accidents, not attacks.

It has no privileges taken away and sees the whole machine; it gets a clean environment, a folder of its own that
is removed with it, limits on memory, output and time, and it dies with its parent.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import BoxEnd, BoxSpec, EndReason
from grader.sandbox.gpu import box_environment
from grader.sandbox.output import BoundedOutput
from grader.sandbox.parent import make_folder, sweep_folders

RUNNER = Path(__file__).resolve().parent / "runner"

# Only these pass from the parent: what a program needs to be found and to find its libraries. Never GRADER_*.
PASSED_ENV = ("PATH", "LANG", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH")

# Memory is looked at this often: 2 GB/s of touching passes a limit by 100 MB before it is seen.
WATCH_SECONDS = 0.05
# Every so many looks the children of the program are counted too, which costs a walk through /proc.
WALK_EVERY = 10
# Address space that is reserved and never touched (thread stacks, arenas) counts as data: so be generous.
DATA_FACTOR, DATA_EXTRA_BYTES = 2, 1 * limits.GIB
READ_BYTES = 64 * limits.KIB
# The kernel gives a process of this niceness about a tenth of what it gives an ordinary one beside it.
BACKGROUND_NICE = 10


class _Launcher:
    """Starts processes on one thread that lives as long as this process.

    The kernel ties "die with your parent" to the *thread* that forked: a box started on a short-lived thread
    would die with that thread.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._jobs: queue.SimpleQueue[
            tuple[Callable[[], subprocess.Popen[bytes]], Future[subprocess.Popen[bytes]]]
        ]
        self._jobs = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="box-launcher", daemon=True).start()

    def _serve(self) -> None:
        while True:
            start, future = self._jobs.get()
            try:
                future.set_result(start())
            except BaseException as error:
                future.set_exception(error)
            del start, future

    def start(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        future: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((start, future))
        return future.result()


_launcher: _Launcher | None = None
_launcher_lock = threading.Lock()


def _the_launcher() -> _Launcher:
    global _launcher
    with _launcher_lock:
        if _launcher is None or _launcher.pid != os.getpid():  # a fork takes no threads along
            _launcher = _Launcher()
        return _launcher


def environment(spec: BoxSpec, home: str) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ENV if name in os.environ}
    own = {"HOME": home, "TMPDIR": home, **box_environment(spec.gpu)}
    return {"LANG": "C.UTF-8", **passed, **own, **spec.env}


class LocalBox:
    """See ``Box``. One thread per box reads its output, watches its memory and clock, and notices its end."""

    def __init__(self, spec: BoxSpec) -> None:
        self.id = f"local-{uuid.uuid4().hex[:12]}"
        self._spec = spec
        self._output = BoundedOutput(spec.output_bytes)
        self._reason: EndReason | None = None
        self._end: BoxEnd | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._folder = str(make_folder("local"))
        self.connection, child_end = socket.socketpair()
        self._pipe, pipe_end = os.pipe()
        try:
            self._process = _the_launcher().start(lambda: self._launch(child_end, pipe_end))
        except (OSError, subprocess.SubprocessError) as error:
            self.connection.close()
            os.close(self._pipe)
            shutil.rmtree(self._folder, ignore_errors=True)
            raise BoxUnavailable(f"the process could not be started: {error}") from error
        finally:
            child_end.close()
            os.close(pipe_end)
        self._pidfd = os.pidfd_open(self._process.pid)
        self._wake, self._waker = os.pipe()
        self._deadline = time.monotonic() + spec.wall_seconds
        self._thread = threading.Thread(target=self._watch, name=self.id, daemon=True)
        self._thread.start()

    def _launch(self, child_end: socket.socket, pipe_end: int) -> subprocess.Popen[bytes]:
        spec = self._spec
        words = [
            str(os.getpid()),
            str(DATA_FACTOR * spec.memory_bytes + DATA_EXTRA_BYTES),
            str(spec.tmp_bytes),
            str(BACKGROUND_NICE if spec.background else 0),
            ",".join(map(str, spec.cores)),
            str(RUNNER / spec.program),
            f"fd:{child_end.fileno()}",
        ]
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(RUNNER / "launch.py"), *words],
            stdin=subprocess.DEVNULL,
            stdout=pipe_end,
            stderr=pipe_end,
            pass_fds=(child_end.fileno(),),
            cwd=self._folder,
            env=environment(spec, self._folder),
            start_new_session=True,
        )

    # The box's thread

    def _watch(self) -> None:
        poll = select.poll()
        for descriptor in (self._pipe, self._pidfd, self._wake):
            poll.register(descriptor, select.POLLIN)
        looks = 0
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(WATCH_SECONDS * 1000)}
            if self._pidfd in ready or self._wake in ready:
                break
            if self._pipe in ready and not self._read():
                poll.unregister(self._pipe)
            looks += 1
            if self._must_end(walk=looks % WALK_EVERY == 0):
                break
        self._finish()

    def _must_end(self, walk: bool) -> bool:
        if self._output.flooded:
            return self._give_reason(EndReason.OUTPUT_FLOOD)
        if time.monotonic() > self._deadline:
            return self._give_reason(EndReason.WALL_CLOCK)
        pids = _descendants(self._process.pid) if walk else [self._process.pid]
        if sum(map(_memory_bytes, pids)) > self._spec.memory_bytes:
            return self._give_reason(EndReason.OUT_OF_MEMORY)
        return False

    def _give_reason(self, reason: EndReason) -> bool:
        with self._lock:
            self._reason = self._reason or reason
        return True

    def _read(self) -> bool:
        """Take what the pipe holds; False once every writer has closed it."""
        data = os.read(self._pipe, READ_BYTES)
        self._output.add(data)
        return bool(data)

    def _finish(self) -> None:
        """End what is left of the group, take the last output, say how it ended, free everything."""
        pid = self._process.pid
        for other in _descendants(pid)[1:]:  # those that left the group
            _kill(other)
        # Until the leader is waited for, nobody else can get its number.
        _kill(-pid)
        code = self._process.wait()
        os.set_blocking(self._pipe, False)
        with contextlib.suppress(BlockingIOError):
            while not self._output.flooded and self._read():
                pass
        reason = self._reason
        if reason is None and self._output.flooded:
            reason = EndReason.OUTPUT_FLOOD
        if reason is None:
            reason = EndReason.EXITED if code >= 0 else EndReason.SIGNALLED
        self._end = BoxEnd(
            reason,
            exit_code=code if reason is EndReason.EXITED else None,
            signal=-code if reason is EndReason.SIGNALLED else None,
        )
        for descriptor in (self._pipe, self._pidfd, self._wake):
            os.close(descriptor)
        with self._lock:
            os.close(self._waker)
            self._waker = -1
        shutil.rmtree(self._folder, ignore_errors=True)
        self._ended.set()

    # What the parent calls

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        self._ended.wait(wait_s)
        return self._end

    def kill(self) -> BoxEnd:
        with self._lock:
            if self._waker >= 0 and self._reason is None and not self._is_over():
                self._reason = EndReason.KILLED
            if self._waker >= 0:
                os.write(self._waker, b"!")
        self._ended.wait()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self.connection.close()
        assert self._end is not None
        return self._end

    def _is_over(self) -> bool:
        """Whether the program ended by itself and our thread has not noticed yet."""
        readable, _, _ = select.select([self._pidfd], [], [], 0)
        return bool(readable)

    def output(self) -> bytes:
        return self._output.take()

    def live_for(self, seconds: float) -> None:
        """Restart the wall clock: the box may live so long from now."""
        self._deadline = time.monotonic() + seconds


class LocalBoxes:
    """See ``BoxMaker``."""

    name = "local"
    about = "local: a plain process"

    def start(self, spec: BoxSpec) -> LocalBox:
        return LocalBox(spec)

    def reap(self) -> int:
        """A local box dies with its parent; only its folder can be left."""
        sweep_folders("local")
        return 0


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _memory_bytes(pid: int) -> int:
    """Memory of a process that no file backs, in bytes; 0 when it is gone."""
    total = 0
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 - twenty times a second
            for line in file:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1]) * 1024
    except OSError:
        return 0
    return total


def _descendants(pid: int) -> list[int]:
    """``pid`` and every process it started that still hangs from it."""
    found = [pid]
    for parent in found:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208
                text = Path(f"/proc/{parent}/task/{task}/children").read_bytes()
                found += [int(word) for word in text.split()]
        except OSError:
            continue
    return found
