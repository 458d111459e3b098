"""Workers never import torch: the judge is a separate process."""

from __future__ import annotations

import math
import os
import secrets
import socket
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from grader import limits, logs, metrics
from grader.device_kinds import board_of, kind_of, languages_of
from grader.errors import BadRequest, BoxUnavailable, JudgeFailure
from grader.languages import ON_EMULATED, Language
from grader.logs import get_logger
from grader.metrics.host import serve as serve_figures
from grader.queue.checker import Checker
from grader.queue.compile_executor import BoxCompiler, CompileExecutor, Compiler
from grader.queue.coordinator import AWAY, Coordinator, Registration
from grader.queue.direct import DirectCoordinator
from grader.queue.executor import Executor
from grader.queue.gpu_health import GpuHealth
from grader.queue.gpu_lock import hold, lock_folder
from grader.queue.grade_sender import GradeSender
from grader.queue.heartbeat import Heartbeat
from grader.queue.judge import Judge
from grader.queue.loop import Stopper
from grader.queue.pilot import Pilot, PilotLimits
from grader.queue.remote import RemoteCoordinator
from grader.queue.sweeper import Reaper, Sweeper, sweep
from grader.sandbox.box import BoxMaker
from grader.sandbox.toolkit import INSTALL, nvcc_version
from grader.schemas.hardware import GpuReading
from grader.service.periodic import Periodic
from grader.service.platform import Platform, open_platform
from grader.settings import Settings
from grader.wakeups import CHECK, COMPILE, KERNELS, run_queue

if TYPE_CHECKING:
    from grader.sandbox.gpu import Gpu

log = get_logger(__name__)

_DRAINED_LOOK_SECONDS = 0.2
_UNLIMITED = PilotLimits()

_DATABASE_PAUSE_S = 1.0


def run_worker(
    settings: Settings,
    name: str | None = None,
    burst: bool = False,
    judge: Judge | None = None,
    boxes: BoxMaker | None = None,
    gpu: Gpu | None = None,
    compiler: Compiler | None = None,
    pilot: PilotLimits = _UNLIMITED,
) -> bool:
    """Serve ``settings.device``, or the device of ``gpu``, until SIGTERM or SIGINT, or with ``burst`` until
    no wake-up is left. When idle, also compile, unless a compile-only worker does. Check uploads in the
    background.

    A signal gives the current submission back, uncounted. A drained worker finishes it. True if a signal ended
    it. Raises Conflict if
    another worker holds the GPU, BoxUnavailable if the GPU is or becomes bad.
    """
    logs.configure(settings.log_level, settings.log_format)
    metrics.begin(settings)
    stopper = Stopper()
    gpu_health = None
    with ExitStack() as stack:
        stopper.install(stack)
        stopper.pilot = Pilot(pilot, stopper.stop)
        stack.callback(stopper.pilot.close)
        if gpu is not None:
            settings = settings.model_copy(update={"device": board_of(gpu)})
            for each in gpu.every:
                stack.enter_context(hold(each.uuid, lock_folder(settings)))
        judge = judge or _judge(settings, gpu)
        stack.callback(judge.close)
        boxes = boxes or _boxes(settings)
        compiler = compiler or _compiler_beside(boxes, settings)
        if compiler is not None:
            stack.callback(compiler.close)
        entry = Registration(
            settings.device,
            languages_of(settings.device),
            gpu.uuid if gpu is not None else None,
            compiler is not None,
        )
        coordinator = stack.enter_context(closing(make_coordinator(settings, name or _name(gpu))))
        heartbeat = stack.enter_context(_on_duty(settings, coordinator, entry, boxes, burst, stopper))
        if gpu is not None:
            gpu_health = GpuHealth(coordinator, judge, gpu, stopper.stop)
            gpu_health.probe_first()
        else:
            _warm_up(judge)
        executor = Executor(coordinator, settings.device, judge, heartbeat, stopper.event, gpu_health)
        handlers = {run_queue(settings.device): executor.serve_one}
        if compiler is not None:
            # After the device's queue: only idle workers compile.
            ahead = CompileExecutor(coordinator, compiler, heartbeat, stopper.event)
            # A device's wake-up may have served an uncompiled submission, whose own wake-up this is: so serve
            # the device.
            handlers[COMPILE] = lambda: ahead.serve_one() or executor.serve_one()
        if coordinator.platform is not None:
            checker = Checker(coordinator.platform, boxes, coordinator.name, stopper)
            handlers[CHECK] = checker.serve_one if burst else checker.wake
            if not burst:
                checker.start()
                stack.callback(checker.close)
        deferred = _deferred_to_compilers(coordinator) if COMPILE in handlers else tuple
        _serve_queues(coordinator, handlers, burst, stopper, deferred)
    if gpu_health is not None and gpu_health.trouble:
        raise gpu_health.error()
    return stopper.signalled


def run_compile_worker(
    settings: Settings,
    name: str | None = None,
    burst: bool = False,
    boxes: BoxMaker | None = None,
    compiler: Compiler | None = None,
    pilot: PilotLimits = _UNLIMITED,
) -> bool:
    """Compile for all devices until a signal comes; see ``run_worker``. When idle, compile kernels of
    submissions that wait behind busy GPUs.

    Raises BoxUnavailable if this machine has no CUDA compiler.
    """
    if compiler is None and nvcc_version() is None:
        raise BoxUnavailable(
            "This machine has no CUDA compiler, so it cannot run a compile worker.",
            INSTALL,
        )
    logs.configure(settings.log_level, settings.log_format)
    metrics.begin(settings)
    stopper = Stopper()
    with ExitStack() as stack:
        stopper.install(stack)
        stopper.pilot = Pilot(pilot, stopper.stop)
        stack.callback(stopper.pilot.close)
        boxes = boxes or _boxes(settings)
        compiler = compiler or BoxCompiler(boxes, settings.spare_boxes)
        stack.callback(compiler.close)
        compiled = [language for language in Language if language.compiled]
        entry = Registration("", compiled, None, compiles=True)
        coordinator = stack.enter_context(
            closing(make_coordinator(settings, name or f"{_name(None)}-compile"))
        )
        heartbeat = stack.enter_context(_on_duty(settings, coordinator, entry, boxes, burst, stopper))
        executor = CompileExecutor(coordinator, compiler, heartbeat, stopper.event)

        def compile_ahead() -> bool:
            if executor.rests and not burst:
                coordinator.hint(KERNELS)
            return executor.compile_ahead()

        # Submissions that cannot run uncompiled come first.
        handlers = {COMPILE: executor.serve_one, KERNELS: compile_ahead}
        deferred = partial(_deferred_while_resting, executor)
        _serve_queues(coordinator, handlers, burst, stopper, deferred)
    return stopper.signalled


def make_coordinator(settings: Settings, name: str) -> Coordinator:
    """Over HTTPS if the settings name a server. Raises BadRequest without a token for it."""
    if not settings.worker_server:
        return DirectCoordinator(open_platform(settings), name)
    if not settings.worker_token:
        raise BadRequest(
            f"A worker of {settings.worker_server} needs a worker's token.",
            "Staff issue one: grader admin worker token NAME. Set GRADER_WORKER_TOKEN to it.",
        )
    return RemoteCoordinator(settings.worker_server, settings.worker_token, name, settings.data_dir)


@contextmanager
def _on_duty(
    settings: Settings,
    coordinator: Coordinator,
    entry: Registration,
    boxes: Reaper,
    burst: bool,
    stopper: Stopper,
) -> Iterator[Heartbeat]:
    """Register this process, and run its heartbeat and sweeper."""
    with ExitStack() as stack:
        stopper.drain(coordinator.register(entry))
        stack.callback(coordinator.leave)
        heartbeat = Heartbeat(coordinator, stopper.drain, _gpu_reader(entry.gpu))
        heartbeat.start()
        stack.callback(heartbeat.close)
        if coordinator.platform is not None:
            _start_sweeping(coordinator.platform, boxes, stack, once=burst)
        else:
            _start_reaping(settings, boxes, stack, once=burst)
        if served := serve_figures(settings, metrics.folder_of(settings)):
            stack.callback(served.close)
        yield heartbeat
    log.info("worker_ended", worker=coordinator.name)


def _deferred_while_resting(executor: CompileExecutor) -> Collection[str]:
    return (KERNELS,) if executor.rests else ()


def _deferred_to_compilers(coordinator: Coordinator) -> Callable[[], Collection[str]]:
    found: Collection[str] = ()
    asked = -math.inf

    def left() -> Collection[str]:
        nonlocal found, asked
        if time.monotonic() - asked >= limits.HEARTBEAT_SECONDS:
            asked = time.monotonic()
            with suppress(*AWAY):
                found = (COMPILE,) if coordinator.others_compile() else ()
        return found

    return left


def _serve_queues(
    coordinator: Coordinator,
    handlers: dict[str, Callable[[], bool]],
    burst: bool,
    stopper: Stopper,
    deferred: Callable[[], Collection[str]] = tuple,
) -> None:
    def serve_or_return(queue: str) -> bool:
        try:
            served = handlers[queue]()
            if not served and _ends(coordinator, stopper):
                # This may be the submission's only wake-up.
                coordinator.wake(queue)
        except AWAY as error:
            log.warning("database_away", error=type(error).__name__)
            stopper.event.wait(_DATABASE_PAUSE_S)
            coordinator.wake(queue)
            return False
        if served and stopper.pilot is not None:
            stopper.pilot.served()
        return served

    def still_draining() -> bool:
        try:
            return coordinator.draining()
        except AWAY:
            return True

    name, stopper.still_draining = coordinator.name, still_draining
    if stopper.draining:
        log.warning("worker_is_drained", worker=name, hint=f"grader admin worker resume {name}")
        # A supervisor would only restart it.
        while not burst and stopper.draining and not stopper.event.wait(_DRAINED_LOOK_SECONDS):
            if stopper.expired():
                break
    log.info("worker_started", worker=name, queues=list(handlers))
    if stopper.pilot is not None:
        stopper.pilot.served()  # starting does not count as idle
    served = {queue: partial(serve_or_return, queue) for queue in handlers}
    coordinator.take_wakeups(served, burst, stopper, deferred)
    if stopper.pilot is not None and stopper.pilot.over:
        log.info("pilot_over", worker=name, reason=stopper.pilot.over)


def _ends(coordinator: Coordinator, stopper: Stopper) -> bool:
    if not stopper.event.is_set():
        stopper.drain(coordinator.draining())
    return stopper.event.is_set() or stopper.expired() or stopper.draining


def _gpu_reader(uuid: str | None) -> Callable[[], GpuReading | None] | None:
    if uuid is None:
        return None
    from grader.judge.cuda.nvml import Monitor

    return Monitor(uuid).reading


def _name(gpu: Gpu | None) -> str:
    """A new worker of a GPU replaces the old row."""
    own = gpu.uuid if gpu is not None else f"{os.getpid()}-{secrets.token_hex(2)}"
    return f"{socket.gethostname()}-{own}"


def _warm_up(judge: Judge) -> None:
    try:
        judge.warm_up()
    except (JudgeFailure, BoxUnavailable) as error:
        # The first submission tries again and reports the failure.
        log.error("judge_not_ready", error=error.message, hint=error.hint)


def _start_sweeping(platform: Platform, boxes: Reaper, stack: ExitStack, once: bool) -> None:
    if once:
        sweep(platform, boxes)
        return
    sweeper = Sweeper(platform, boxes)
    sweeper.start()
    stack.callback(sweeper.close)
    sender = GradeSender(platform)
    sender.start()
    stack.callback(sender.close)


class _BoxReaper(Periodic):
    """On a host whose workers sweep nothing else."""

    def __init__(self, boxes: Reaper, pause_s: float) -> None:
        super().__init__("reaper", pause_s, at_once=True)
        self._boxes = boxes

    def run_once(self) -> None:
        try:
            self._boxes.reap()
        except Exception as error:
            log.warning("sweep_part_failed", part="boxes", error=f"{type(error).__name__}: {error}")


def _start_reaping(settings: Settings, boxes: Reaper, stack: ExitStack, once: bool) -> None:
    reaper = _BoxReaper(boxes, settings.sweep_s)
    if once:
        reaper.run_once()
        return
    reaper.start()
    stack.callback(reaper.close)


def _judge(settings: Settings, gpu: Gpu | None) -> Judge:
    from grader.judge.process import JudgeProcess

    indices = [each.index for each in gpu.every] if gpu is not None else [0]
    return JudgeProcess(
        settings.box,
        settings.spare_boxes,
        settings.device,
        indices,
        options=settings.sandbox,
        folder=settings.data_dir,
    )


def _compiler_beside(boxes: BoxMaker, settings: Settings) -> Compiler | None:
    """None if this machine has none. For the emulated GPU nobody else compiles."""
    if nvcc_version() is None:
        return None
    if kind_of(settings.device).on == ON_EMULATED:
        return BoxCompiler(boxes, settings.spare_boxes, background=False)
    return BoxCompiler(boxes, spares=0)


def _boxes(settings: Settings) -> BoxMaker:
    from grader.sandbox.choose import make_boxes

    return make_boxes(settings.box, settings.sandbox)


def main() -> None:
    run_worker(Settings())


if __name__ == "__main__":
    main()
