"""What boxes that are our child processes share: output, clock and end."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import socket
import subprocess
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import (
    STATUS_BYTES,
    BoundedOutput,
    BoxEnd,
    BoxSpec,
    EndReason,
    child_exit_code,
    readable,
)
from grader.sandbox.processes import descendants

# At 2 GB/s, a box passes its memory limit by 100 MB.
WATCH_SECONDS = 0.05
# Walks through /proc for the program's children.
WALK_EVERY = 10
READ_BYTES = 64 * limits.KIB


class ProcessBox(ABC):
    """One thread per box reads output and watches memory, clock and end."""

    kind = ""

    def __init__(self, spec: BoxSpec) -> None:
        self.id = f"{self.kind}-{uuid.uuid4().hex[:12]}"
        self._spec = spec
        self._output = BoundedOutput(spec.output_bytes)
        self._reason: EndReason | None = None
        self._end: BoxEnd | None = None
        self._cpu_used = 0.0
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self.connection, child_end = socket.socketpair()
        self._status: socket.socket | None = None
        self._status_end: socket.socket | None = None
        if spec.supervised:
            self._status, self._status_end = socket.socketpair()
        self._end_code: int | None = None
        self._pipe, pipe_end = os.pipe()
        try:
            self._process = launch(lambda: self._launch(child_end, pipe_end))
        except (OSError, subprocess.SubprocessError) as error:
            self.connection.close()
            os.close(self._pipe)
            if self._status is not None:
                self._status.close()
            self._free()
            raise BoxUnavailable(f"the process could not be started: {error}") from error
        finally:
            child_end.close()
            os.close(pipe_end)
            if self._status_end is not None:
                self._status_end.close()
        self._pidfd = os.pidfd_open(self._process.pid)
        self._wake, self._waker = os.pipe()
        self._deadline = time.monotonic() + spec.wall_seconds
        self._thread = threading.Thread(target=self._watch, name=self.id, daemon=True)
        self._thread.start()

    @abstractmethod
    def _launch(self, child_end: socket.socket, pipe_end: int) -> subprocess.Popen[bytes]:
        """The process talks through ``child_end`` and prints into ``pipe_end``."""

    @abstractmethod
    def _memory_bytes(self, walk: bool) -> int:
        """Of all its processes with ``walk``, else at least of the first."""

    @abstractmethod
    def _cpu_seconds(self) -> float:
        """Of all its processes, since the start."""

    @abstractmethod
    def _kill_all(self) -> None:
        """Our own child is not reaped yet."""

    def _plain(self, code: int) -> int:
        """Negative for a signal. ``code``: ``Popen``'s."""
        return code

    def _memory_kills(self) -> int:
        """Processes that the kernel killed for lack of memory, if known."""
        return 0

    @abstractmethod
    def _free(self) -> None:
        """Called once, after the processes' end."""

    def _watch(self) -> None:
        poll = select.poll()
        ends = {self._pidfd, self._wake}
        if self._status is not None:
            ends.add(self._status.fileno())  # a report, or the supervisor's end
        for descriptor in (self._pipe, *ends):
            poll.register(descriptor, select.POLLIN)
        readings = 0
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(WATCH_SECONDS * 1000)}
            if ends & ready:
                break
            if self._pipe in ready and not self._read():
                poll.unregister(self._pipe)
            readings += 1
            if self._must_end(walk=readings % WALK_EVERY == 0):
                break
        self._finish()

    def _must_end(self, walk: bool) -> bool:
        if self._output.flooded:
            return self._give_reason(EndReason.OUTPUT_FLOOD)
        if time.monotonic() > self._deadline:
            return self._give_reason(EndReason.WALL_CLOCK)
        if self._memory_bytes(walk) > self._spec.memory_bytes:
            return self._give_reason(EndReason.OUT_OF_MEMORY)
        return False

    def _give_reason(self, reason: EndReason) -> bool:
        with self._lock:
            self._reason = self._reason or reason
        return True

    def _read(self) -> bool:
        data = os.read(self._pipe, READ_BYTES)
        self._output.add(data)
        return bool(data)

    def _finish(self) -> None:
        self._receive()
        self._kill_all()
        code = self._process.wait()
        os.set_blocking(self._pipe, False)
        with contextlib.suppress(BlockingIOError):
            while not self._output.flooded and self._read():
                pass
        reason = self._reason
        if reason is None and self._output.flooded:
            reason = EndReason.OUTPUT_FLOOD
        self._end = BoxEnd(reason) if reason is not None else self._by_itself(code)
        with self._lock:  # kill() may be using them
            for descriptor in (self._pipe, self._pidfd, self._wake, self._waker):
                os.close(descriptor)
            self._waker = -1
            if self._status is not None:
                self._status.close()
        self._free()
        self._ended.set()

    def _receive(self) -> None:
        if self._status is not None:
            self._status.setblocking(False)
            with contextlib.suppress(OSError):
                self._end_code = child_exit_code(self._status.recv(STATUS_BYTES))

    def _by_itself(self, code: int) -> BoxEnd:
        if self._end_code is not None:
            return BoxEnd.of_code(self._end_code, self._memory_kills(), self.out_of_memory())
        end = BoxEnd.of_code(self._plain(code), self._memory_kills(), self.out_of_memory())
        return end if self._status is None else end.of_supervisor()

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
        """The program ended and our thread has not noticed yet."""
        ends = [self._pidfd] if self._status is None else [self._pidfd, self._status.fileno()]
        return readable(0, *ends)

    def cpu_seconds(self) -> float:
        with self._lock:
            if self._waker >= 0:
                # An unreaped process takes its time with it.
                self._cpu_used = max(self._cpu_used, self._cpu_seconds())
            return self._cpu_used

    def out_of_memory(self) -> bool:
        return self._reason is EndReason.OUT_OF_MEMORY

    def output(self) -> bytes:
        return self._output.take()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        """The first process is stopped first, so it forks no more."""
        with self._lock:
            if self._waker < 0:
                raise BoxUnavailable("the box is over")
            for pid in descendants(self._process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)

    def live_for(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds


Start = Callable[[], "subprocess.Popen[bytes]"]


class _Launcher:
    """The one thread that starts boxes. It must live as long as the process: PR_SET_PDEATHSIG follows the
    *thread* that forked.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._jobs: queue.SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = queue.SimpleQueue()
        threading.Thread(target=self._serve, name="box-launcher", daemon=True).start()

    def _serve(self) -> None:
        while True:
            start, future = self._jobs.get()
            try:
                future.set_result(start())
            except BaseException as error:
                future.set_exception(error)
            del start, future

    def start(self, start: Start) -> subprocess.Popen[bytes]:
        future: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((start, future))
        return future.result()


_launcher: _Launcher | None = None
_lock = threading.Lock()


def launch(start: Start) -> subprocess.Popen[bytes]:
    global _launcher
    with _lock:
        if _launcher is None or _launcher.pid != os.getpid():  # threads do not survive a fork
            _launcher = _Launcher()
        using = _launcher
    return using.start(start)
