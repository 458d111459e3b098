"""A worker: takes tickets from one queue and serves one submission for each, with one judge process.

This process never imports torch and never forks: the judge is a process of its own, and RQ's jobs run in
here.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import structlog
from redis import Redis, RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty

from grader import logs
from grader.errors import JudgeFailure
from grader.judge.boards import board_name
from grader.queue.desk import Desk
from grader.queue.gpu_lock import hold, lock_folder
from grader.queue.heart import Heart
from grader.queue.judge import Judge
from grader.queue.station import Station
from grader.queue.sweeper import Reaper, Sweeper, sweep
from grader.queue.tickets import queue_name
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.service.devices import languages_of
from grader.service.platform import Platform, open_platform
from grader.settings import Settings

if TYPE_CHECKING:
    from types import FrameType

    from grader.sandbox.gpu import Gpu

log = structlog.get_logger(__name__)

# Between two tries to reach a Redis that is away.
_RECONNECT_SECONDS = 1.0

# RQ calls a function by its name and hands it the ticket's content only, so the desk has to be found from
# here.
_desk: Desk | None = None


def serve(queue: str) -> None:
    """What a ticket makes a worker do: serve one submission. ``queue`` is for people who look into Redis."""
    if _desk is None:
        raise RuntimeError(f"a ticket of {queue} was taken by a process that is no worker")
    _desk.serve_one()


class _NoDeathPenalty(BaseDeathPenalty):
    """RQ's own time limit, switched off: every part of judging has its own, and an alarm would hit the wrong
    one.
    """

    def setup_death_penalty(self) -> None:
        pass

    def cancel_death_penalty(self) -> None:
        pass


class _TicketWorker(SimpleWorker):
    """RQ's loop, in this process, with our way to stop."""

    death_penalty_class = _NoDeathPenalty
    max_connection_wait_time = 5.0
    in_job = False

    def execute_job(self, job: Any, queue: Any) -> None:
        self.in_job = True
        try:
            super().execute_job(job, queue)
        finally:
            self.in_job = False

    def stop_soon(self) -> None:
        """From a signal handler: leave the loop now when idle, else after the present job (which ends at
        once).
        """
        self._stop_requested = True
        if not self.in_job:
            raise StopRequested

    def _install_signal_handlers(self) -> None:
        """``run_worker`` has its own."""

    def subscribe(self) -> None:
        """No commands over Redis: who can write there must not be able to stop or kill anything."""


class _Stopper:
    """Turns SIGTERM and SIGINT into a clean end."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.rq_worker: _TicketWorker | None = None

    def install(self, stack: ExitStack) -> None:
        """From now until ``stack`` ends. Only a main thread gets signals; elsewhere this does nothing."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                stack.callback(signal.signal, number, signal.signal(number, self._on_signal))

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self.stop()

    def stop(self) -> None:
        """End the worker, like a signal."""
        self.event.set()
        if self.rq_worker is not None:
            self.rq_worker.stop_soon()


def run_worker(
    settings: Settings,
    name: str | None = None,
    burst: bool = False,
    judge: Judge | None = None,
    boxes: Reaper | None = None,
    gpu: Gpu | None = None,
) -> None:
    """Serve ``settings.device``, or with ``gpu`` its board, until SIGTERM or SIGINT, or with ``burst`` until no
    ticket is left.

    A signal ends it at once: the submission at hand goes back to the queue, uncounted. ``judge`` and
    ``boxes`` are made from the settings where they are not given.

    Raises Conflict where another worker holds the GPU, BoxUnavailable where the GPU is or turns bad.
    """
    global _desk
    logs.configure()
    stopper = _Stopper()
    name = name or _name(gpu)
    station = None
    with ExitStack() as stack:
        stopper.install(stack)
        if gpu is not None:
            settings = settings.model_copy(update={"device": board_name(gpu.name)})
            stack.enter_context(hold(gpu.uuid, lock_folder(settings)))
        platform = open_platform(settings)
        stack.callback(platform.close)
        judge = judge or _judge(settings, gpu)
        stack.callback(judge.close)
        boxes = boxes or _boxes(settings)
        with writing(platform.sessions) as session:
            uuid = gpu.uuid if gpu is not None else None
            workers.register(session, name, settings.device, languages_of(settings.device), utcnow(), uuid)
        stack.callback(_leave, platform, name)
        heart = Heart(platform, name)
        heart.start()
        stack.callback(heart.close)
        _start_sweeping(platform, boxes, stack, once=burst)
        if gpu is not None:
            station = Station(platform, judge, gpu, name, stopper.stop)
            station.take_up()
        else:
            _warm_up(judge)
        _desk = Desk(platform, judge, heart, name, stopper.event, station)
        log.info("worker_started", worker=name, device=settings.device)
        with suppress(StopRequested):
            _take_tickets(settings, name, burst, stopper)
    log.info("worker_ended", worker=name)
    if station is not None and station.trouble:
        raise station.error()


def _name(gpu: Gpu | None) -> str:
    """A worker of a GPU always has the same name, so that a new one takes over what its last one said."""
    own = gpu.uuid if gpu is not None else f"{os.getpid()}-{secrets.token_hex(2)}"
    return f"{socket.gethostname()}-{own}"


def _warm_up(judge: Judge) -> None:
    try:
        judge.warm_up()
    except JudgeFailure as error:
        # The first submission tries again, and says so to its author if it is still broken.
        log.error("judge_not_ready", error=error.message, hint=error.hint)


def _start_sweeping(platform: Platform, boxes: Reaper, stack: ExitStack, once: bool) -> None:
    if once:
        sweep(platform, boxes)
        return
    sweeper = Sweeper(platform, boxes)
    sweeper.start()
    stack.callback(sweeper.close)


def _take_tickets(settings: Settings, name: str, burst: bool, stopper: _Stopper) -> None:
    """RQ's loop, started anew when Redis went away."""
    while not stopper.event.is_set():
        try:
            connection = Redis.from_url(settings.queue_url)
            queue = Queue(queue_name(settings.device), connection=connection, serializer=JSONSerializer)
            stopper.rq_worker = _TicketWorker(
                [queue],
                # RQ refuses a name that Redis still lists; ours may come back faster than Redis forgets.
                name=f"{name}-{secrets.token_hex(4)}",
                connection=connection,
                serializer=JSONSerializer,
            )
            # A signal before the line above found no worker to stop.
            if not stopper.event.is_set():
                stopper.rq_worker.work(burst=burst, logging_level="WARNING")
        except (RedisError, OSError) as error:
            log.warning("redis_away", error=str(error))
        finally:
            stopper.rq_worker = None
        if burst:
            return
        stopper.event.wait(_RECONNECT_SECONDS)


def _leave(platform: Platform, name: str) -> None:
    with writing(platform.sessions) as session:
        workers.leave(session, name, utcnow())


def _judge(settings: Settings, gpu: Gpu | None) -> Judge:
    from grader.judge.process import JudgeProcess

    if gpu is None:
        return JudgeProcess(settings.box, settings.spare_boxes)
    return JudgeProcess(settings.box, settings.spare_boxes, settings.device, gpu.index)


def _boxes(settings: Settings) -> Reaper:
    from grader.sandbox.choose import make_boxes

    return make_boxes(settings.box)


def main() -> None:
    """``python -m grader.queue.worker``: one worker by the environment's settings."""
    # Through the import system: the ticket names this module, and a second copy as __main__ would have no
    # desk.
    from grader.queue.worker import run_worker as run

    run(Settings())


if __name__ == "__main__":
    main()
