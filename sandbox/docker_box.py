"""Boxes as Docker containers, for other people's code.

No network, no capabilities, no new privileges, nothing writable but a bounded /tmp; all use is bounded. It
sees only the folders of its ``Toolchain``.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import queue
import shutil
import signal
import socket
import struct
import threading
import time
import uuid

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import bytecode, container, image
from grader.sandbox.allowance import Allowance
from grader.sandbox.box import STATUS_BYTES, BoundedOutput, BoxEnd, BoxSpec, EndReason, child_exit_code
from grader.sandbox.control_groups import ControlGroup, group_of, host_memory_kills, is_in
from grader.sandbox.docker_engine import Engine, Frames, engine, is_orphan, labels
from grader.sandbox.options import DEFAULTS, SandboxOptions, check_fits, check_gpu_access, check_runtime
from grader.sandbox.parent import make_folder, sweep_folders
from grader.sandbox.processes import cpu_seconds, descendants
from grader.sandbox.toolchain import find_toolchain

log = logging.getLogger("grader.sandbox")

READ_BYTES = 256 * limits.KIB
CLOCK_SECONDS = 1.0
AWAY_SECONDS = 0.05
READ_SECONDS = 5.0
# To end the processes, usually 2 to 20 ms, before the engine is asked.
KERNEL_SECONDS = 5.0
_CREDENTIALS = struct.Struct("3i")
# Like a shell, Docker reports death by signal N as 128 + N.
SIGNAL_BASE = 128
SIGNALS = 64


class Supervision:
    def __init__(
        self, connection: socket.socket, container: str, group: ControlGroup | None, kills_before: int
    ) -> None:
        self._connection = connection
        self._kills_before = kills_before
        self._group = group
        self._end: BoxEnd | None = None
        self._lacked: bool | None = None
        self._thread = threading.Thread(
            target=self._receive, name=f"{container[:12]}-supervision", daemon=True
        )
        self._thread.start()

    def _receive(self) -> None:
        with self._connection, contextlib.suppress(OSError):
            code = child_exit_code(self._connection.recv(STATUS_BYTES))
            if code is not None:
                # The supervisor waits until the connection closes. The group ends with the box.
                self._end = self._end_of(code)
            elif self._group is not None:
                self._lacked = self._group.out_of_memory()

    def _end_of(self, code: int) -> BoxEnd:
        if self._group is None:
            return BoxEnd.of_code(code, host_memory_kills() - self._kills_before)
        return BoxEnd.of_code(code, self._group.memory_kills(), self._group.out_of_memory())

    def child_end(self) -> BoxEnd | None:
        """None if the supervisor died without a report."""
        self.join()
        return self._end

    def lacked_memory(self) -> bool | None:
        """None if the box's own group does not say: the host counts all boxes together."""
        self.join()
        return self._lacked

    def join(self) -> None:
        self._thread.join(READ_SECONDS)


class DockerBox:
    """One thread per box reads output and watches clock and end."""

    def __init__(self, maker: DockerBoxes, spec: BoxSpec) -> None:
        self.id = f"grader-{uuid.uuid4().hex[:12]}"
        self._maker = maker
        self._engine = maker.engine
        self._spec = spec
        self._output = BoundedOutput(spec.output_bytes)
        self._end: BoxEnd | None = None
        self._ended = threading.Event()
        self._killing = False
        self._paused = False
        self._wanted: EndReason | None = None
        self._cpu_used = 0.0
        self._seen: tuple[int, ControlGroup | None] | None = None
        self._lock = threading.Lock()
        self._deadline = time.monotonic() + spec.wall_seconds
        self._thread: threading.Thread | None = None
        self._memory_kills = host_memory_kills()
        self._supervision: Supervision | None = None
        self._folder = maker.root / self.id
        self._folder.mkdir(mode=0o711)
        try:
            self._start()
        except BaseException:
            self._discard()
            raise

    def _start(self) -> None:
        listener = socket.socket(socket.AF_UNIX)
        with listener:
            path = self._folder / "s"
            listener.bind(str(path))
            path.chmod(0o666)  # the folder above is ours alone
            listener.listen(2)
            listener.settimeout(0.1)
            self._container = self._create()
            self._stream = self._engine.attach(self._container)
            try:
                self._engine.start(self._container)
            except BoxUnavailable:
                self._stream._response.close()
                raise
            self._thread = threading.Thread(target=self._watch, name=self.id, daemon=True)
            self._thread.start()
            allowance = Allowance(
                self._spec.start_seconds, self.cpu_seconds, patience=limits.BOX_START_PATIENCE
            )
            if self._spec.supervised:
                # The supervisor connects first, before anything is loaded.
                status = self._accept(listener, "start", allowance)
                group = self._see(status)
                self._supervision = Supervision(status, self._container, group, self._memory_kills)
            self.connection = self._accept(listener, "connect", allowance)
            if not self._spec.supervised:
                self._see(self.connection)
        # Nothing else can connect: the listener is closed.

    def _create(self) -> str:
        spec, what = self._spec, self._maker.toolchain
        address = f"path:{image.SOCKET_MOUNT}/s"
        addresses = [address, address] if spec.supervised else [address]
        words = bytecode.options(bytecode.MOUNT) if what.bytecode_of(spec) else []
        return self._engine.create(
            name=self.id,
            image=what.image,
            command=[what.python, "-I", *words, f"{image.RUNNER_MOUNT}/{spec.program}", *addresses],
            user=f"{image.NOBODY}:{image.NOBODY}",
            working_dir="/tmp",  # noqa: S108
            hostname="box",
            environment=container.environment(spec, what.environment),
            network_disabled=True,
            labels=labels(spec.wall_seconds),
            host_config=container.host_config(
                self._engine.client,
                spec,
                [*what.binds_of(spec), f"{self._folder}:{image.SOCKET_MOUNT}:ro"],
                self._maker.options,
                self._maker.group,
            ),
        )  # fmt: skip

    def _accept(self, listener: socket.socket, doing: str, allowance: Allowance) -> socket.socket:
        while not self._ended.is_set() and allowance.left():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(None)
            return connection
        raise self._did_not(doing, allowance)

    def _see(self, connection: socket.socket) -> ControlGroup | None:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        # 0 if we cannot see it, for example from another container.
        pid = _CREDENTIALS.unpack(credentials)[0]
        if (group := group_of(pid, self._container)) is not None:
            self._seen = (pid, group)
        return group

    def _did_not(self, doing: str, allowance: Allowance) -> BoxUnavailable:
        how = f": {self._end.sentence()}" if self._end else f" within {allowance.sentence()}"
        said = self._output.take().decode(errors="replace").strip()[-1000:]
        return BoxUnavailable(
            f"the program {self._spec.program} in the box did not {doing}{how}"
            + (f"; it said: {said}" if said else ""),
            self._maker.toolchain.start_hint(self._maker.options.runtime, self._end is None, said),
        )

    def _watch(self) -> None:
        try:
            reason = self._read_stream()
        finally:
            self._stream._response.close()
        if reason is None and not self._killing:
            # The box ended, or closed its output and runs on.
            reason = self._wait_for_end()
        while not self._ended.is_set():
            # Waits for an engine that is away.
            with contextlib.suppress(BoxUnavailable):
                self._see_it_ended(reason)
            self._ended.wait(CLOCK_SECONDS)

    def _see_it_ended(self, reason: EndReason | None) -> None:
        if (reason := self._wanted or reason) is not None:
            self._end_by(reason)
        elif not self._killing:
            with self._lock:
                self._settle(None)

    def _wait_for_end(self) -> EndReason | None:
        while (remaining := self._deadline - time.monotonic()) > 0 and self._wanted is None:
            if self._engine.wait(self._container, min(remaining, CLOCK_SECONDS)):
                return None
            # Otherwise this loop would spin.
            self._ended.wait(AWAY_SECONDS)
        return EndReason.WALL_CLOCK

    def _read_stream(self) -> EndReason | None:
        """Until the output ends (None), floods or takes too long."""
        stream: socket.socket = self._stream._sock
        frames = Frames()
        while (remaining := self._deadline - time.monotonic()) > 0 and self._wanted is None:
            stream.settimeout(min(remaining, CLOCK_SECONDS))
            try:
                data = stream.recv(READ_BYTES)
            except TimeoutError:
                continue
            except OSError:
                return None
            if not data:
                return None
            for part in frames.feed(data):
                if not self._output.add(part):
                    return EndReason.OUTPUT_FLOOD
        return EndReason.WALL_CLOCK

    def _end_by(self, reason: EndReason) -> None:
        self._killing = True
        with self._lock:
            if self._end is None:
                try:
                    killed = self._kill()
                except BoxUnavailable:
                    self._wanted, self._killing = reason, False
                    raise
                self._settle(reason if killed else None)

    def _kill(self) -> bool:
        """Wait until all processes are gone. False if it was over already.

        By its control group if possible: the engine also waits for the container's removal.
        """
        _, group = self._seen or (0, None)
        sent = group is not None and not self._paused and group.kill()
        if group is not None and sent and group.wait_until_empty(KERNEL_SECONDS):
            return True
        return self._engine.kill(self._container) or sent

    def _settle(self, reason: EndReason | None) -> None:
        """Ask the engine how it ended, and have the container removed."""
        if self._end is not None:
            return
        try:
            self._end = BoxEnd(reason) if reason is not None else self._by_itself()
            self._discard()
        finally:
            self._ended.set()

    def _by_itself(self) -> BoxEnd:
        if self._supervision is None:
            return self._own_end()
        return self._supervision.child_end() or self._own_end().of_supervisor()

    def _own_end(self) -> BoxEnd:
        try:
            state = self._engine.state(self._container)
        except BoxUnavailable:
            return BoxEnd(EndReason.KILLED)
        code = int(state.get("ExitCode", 0))
        killed = code == SIGNAL_BASE + signal.SIGKILL and self._lacked_memory()
        if state.get("OOMKilled") or killed:
            return BoxEnd(EndReason.OUT_OF_MEMORY)
        return BoxEnd.of_code(SIGNAL_BASE - code if SIGNAL_BASE < code <= SIGNAL_BASE + SIGNALS else code)

    def _lacked_memory(self) -> bool:
        lacked = self._supervision.lacked_memory() if self._supervision is not None else None
        return lacked if lacked is not None else host_memory_kills() > self._memory_kills

    def _discard(self) -> None:
        # An engine that failed to answer may have made it.
        self._maker.remover.remove(self.id)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._maker.alive.discard(self)

    def end(self, wait_s: float = 0.0) -> BoxEnd | None:
        self._ended.wait(wait_s)
        return self._end

    def kill(self) -> BoxEnd:
        try:
            self._end_by(EndReason.KILLED)
        except BoxUnavailable:
            self.connection.close()
            raise
        self._ended.wait()
        if self._supervision is not None:
            self._supervision.join()
        self.connection.close()
        assert self._end is not None
        return self._end

    def cpu_seconds(self) -> float:
        if self._end is None:
            # An unreaped process takes its time with it.
            self._cpu_used = max(self._cpu_used, self._count_cpu())
        return self._cpu_used

    def _count_cpu(self) -> float:
        pid, group = self._first_process()
        if group is not None:
            return group.cpu_seconds()
        if pid:
            return sum(map(cpu_seconds, descendants(pid)))
        return self._engine.cpu_seconds(self._container)

    def _first_process(self) -> tuple[int, ControlGroup | None]:
        """Process number (0 if invisible) and control group (None if invisible)."""
        if self._seen is None:
            pid = int(self._engine.state(self._container).get("Pid", 0))
            # If the engine numbers processes differently, ``pid`` is another process here.
            self._seen = (pid if is_in(pid, self._container) else 0, group_of(pid, self._container))
        return self._seen

    def out_of_memory(self) -> bool:
        _, group = self._first_process()
        return group.out_of_memory() if group is not None else host_memory_kills() > self._memory_kills

    def output(self) -> bytes:
        if self._thread is not None and self._ended.is_set():
            # The last output may follow the end of the processes.
            self._thread.join(READ_SECONDS)
        return self._output.take()

    def pause(self) -> None:
        self._paused = True
        self._engine.pause(self._container)

    def resume(self) -> None:
        self._engine.unpause(self._container)
        self._paused = False

    def live_for(self, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds


class DockerBoxes:
    """Raises BoxUnavailable if no engine answers, or it lacks the image or the runtime."""

    name = "docker"

    def __init__(self, options: SandboxOptions = DEFAULTS) -> None:
        self.engine = engine()
        if not options.image and not image.has_image(self.engine):
            raise BoxUnavailable(
                f"the engine has no image {image.image_tag()}", "Make it: grader sandbox build --from-host"
            )
        facts = self.engine.facts()
        self.options = options
        check_runtime(options.runtime, facts)
        check_gpu_access(options.gpu_access, facts)
        self.group = facts.group
        self.root = make_folder("docker")
        if facts.remaps_users:
            # An ordinary user mounts the box. Folders below have unguessable names.
            self.root.chmod(0o711)
        self.toolchain = find_toolchain(self.engine, self.root, options)
        self.about = facts.sentence(options.runtime) + self.toolchain.about
        self.remover = Remover(self.engine)
        self.alive: set[DockerBox] = set()
        self._pid = os.getpid()
        atexit.register(self.close)

    def start(self, spec: BoxSpec) -> DockerBox:
        check_fits(self.options.runtime, spec)
        box = DockerBox(self, spec)
        self.alive.add(box)
        if box.end() is not None:  # it ended before it was added
            self.alive.discard(box)
        return box

    def reap(self) -> int:
        orphans = [found for found, marks, runs in self.engine.boxes() if is_orphan(marks, runs)]
        for orphan in orphans:
            self.engine.remove(orphan)
        sweep_folders("docker")
        return len(orphans)

    def close(self) -> None:
        atexit.unregister(self.close)
        if os.getpid() != self._pid:
            return
        for box in list(self.alive):
            with contextlib.suppress(BoxUnavailable):  # the next reap removes it
                box.kill()
        self.remover.finish()
        shutil.rmtree(self.root, ignore_errors=True)


RETRY_SECONDS = 2.0


class Remover:
    """Thread-safe."""

    def __init__(self, using: Engine) -> None:
        self._engine = using
        self._waiting: queue.Queue[str] = queue.Queue()
        self._finishing = threading.Event()
        threading.Thread(target=self._serve, name="box-remover", daemon=True).start()

    def _serve(self) -> None:
        while True:
            ended = self._waiting.get()
            try:
                self._engine.remove(ended)
            except Exception as error:
                # Without this thread no container would be removed.
                if not isinstance(error, BoxUnavailable):
                    log.exception("box_not_removed", extra={"box": ended})
                self._try_again(ended)
            finally:
                self._waiting.task_done()

    def _try_again(self, ended: str) -> None:
        """After this process's end, a reap removes it."""
        if not self._finishing.wait(RETRY_SECONDS):
            self._waiting.put(ended)

    def remove(self, ended: str) -> None:
        self._waiting.put(ended)

    def finish(self) -> None:
        self._finishing.set()
        self._waiting.join()
