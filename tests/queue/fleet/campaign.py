"""Submissions judged by pilots of a real Slurm, which loses them by preemption and by nodes that die.
``benchmarks/fleet.py`` runs hundreds.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from grader.queue.fleet.controller import Controller
from grader.queue.fleet.plan import Fleet, Pool, SlurmOptions
from grader.queue.fleet.providers import Slurm as SlurmProvider
from grader.records.models import PilotRow, QuotaRow, ReportRow, SubmissionRow
from grader.records.states import ACTIVE
from grader.schemas.submission import State
from grader.service.accounts.accounts import create_user
from grader.service.platform import Platform
from grader.service.submissions.submit import submit
from tests.queue.fleet.pilot import LEASE_SECONDS
from tests.queue.fleet.slurm import CORES, NODES, Slurm
from tests.service.world import body

_EACH = 5  # submissions of a student
_PATIENCE_SECONDS = 900.0
# A pilot that gave back, or one that was still starting.
_SIGNALLED = re.compile(r"_job_complete: JobId=\d+ (?:WEXITSTATUS 75|WTERMSIG 15)")


@dataclass(frozen=True)
class Campaign:
    submissions: int
    preemptions: int
    deaths: int
    # Of a judgement, and without work.
    seconds: float = 0.4
    idle: float = 3.0
    # No judgement ends before the last disturbance.
    gated: bool = False


@dataclass(frozen=True)
class Result:
    done: int
    # Not done in the end, with more than one report, and counted against a student's quota more than once.
    lost: int
    twice: int
    charged: int
    preempted: int
    deaths: int
    launched: int
    # From the last submission to the first pilot that runs, and from the last verdict until none is left.
    appeared_s: float
    gone_s: float
    seconds: float


def run(platform: Platform, cluster: Slurm, folder: Path, redis_url: str, wanted: Campaign) -> Result:
    pilot = [
        sys.executable, "-m", "tests.queue.fleet.pilot", str(folder), redis_url, f"{wanted.seconds:g}",
    ]  # fmt: skip
    gate = folder / "gate"
    pilot += ["--gate", str(gate)] if wanted.gated else []
    pool = Pool(
        device="cpu",
        max=len(NODES) * CORES,
        target=2.0,
        seconds=wanted.seconds,
        lifetime=600.0,
        idle=wanted.idle,
        slurm=SlurmOptions(command=pilot, options=["--output=/dev/null", f"--chdir={Path.cwd()}"]),
    )
    assert pool.slurm is not None
    provider = SlurmProvider(pool.slurm)
    controller = Controller(
        Fleet(interval=0.5, pools={"cpus": pool}),
        {"cpus": provider},
        platform.sessions,
        LEASE_SECONDS,
        "test:1",
    )
    began = time.monotonic()
    with _ticking(controller):
        _send(platform, wanted.submissions)
        sent_at = time.monotonic()
        _until(lambda: any(each.running for each in provider.list("cpus")), "pilot")
        appeared = time.monotonic() - sent_at
        deaths = _disturb(platform, cluster, wanted)
        gate.touch()
        _until(lambda: _unfinished(platform) == 0, "end of the submissions")
        done_at = time.monotonic()
        _until(lambda: not provider.list("cpus"), "end of the pilots")
        gone = time.monotonic() - done_at
        time.sleep(1.0)  # the controller notices
    return Result(
        **_counted(platform),
        preempted=_preempted(cluster),
        deaths=deaths,
        appeared_s=round(appeared, 2),
        gone_s=round(gone, 2),
        seconds=round(time.monotonic() - began, 1),
    )


@contextlib.contextmanager
def _ticking(controller: Controller) -> Iterator[None]:
    stop = threading.Event()
    failures: list[BaseException] = []

    def loop() -> None:
        try:
            controller.run(stop)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        controller.close()
    if failures:
        raise failures[0]


def _send(platform: Platform, count: int) -> None:
    for number in range(count):
        if number % _EACH == 0:
            student = create_user(platform, f"student{number // _EACH}", "correct horse")
        submit(platform, student, body(source=f"x = {number}\n"))


def _disturb(platform: Platform, cluster: Slurm, wanted: Campaign) -> int:
    """Research jobs take a node each; nodes die between them. The number that died."""
    dice, died, jobs = random.Random(1), 0, 0
    while (_preempted(cluster) < wanted.preemptions or died < wanted.deaths) and _unfinished(platform):
        if died < wanted.deaths and _preempted(cluster) >= wanted.preemptions * (died + 1) // (
            wanted.deaths + 1
        ):
            node = dice.choice(NODES)
            cluster.kill_node(node)
            time.sleep(2.0)
            cluster.start_node(node)
            died += 1
            _until(lambda: "down" not in "".join(cluster.states().values()), "return of a node")
        elif _preempted(cluster) < wanted.preemptions and _judging(platform):
            node, jobs = NODES[jobs % len(NODES)], jobs + 1
            cluster.command(
                "sbatch", "--wait", "--partition=research", "--exclusive", f"--nodelist={node}", "--time=1",
                "--output=/dev/null", given="#!/bin/sh\nexec sleep 0.1\n",
            )  # fmt: skip
            time.sleep(dice.uniform(0.0, 1.0))
        else:
            time.sleep(0.2)
    return died


def _preempted(cluster: Slurm) -> int:
    log = cluster.conf.parent / "ctld.log"
    return len(_SIGNALLED.findall(log.read_text(errors="replace")))


def _judging(platform: Platform) -> bool:
    with platform.sessions() as session:
        return session.scalar(select(func.count()).where(SubmissionRow.state.in_(ACTIVE))) != 0


def _unfinished(platform: Platform) -> int:
    ended = (State.DONE, State.FAILED, State.CANCELLED)
    with platform.sessions() as session:
        return session.scalar(select(func.count()).where(SubmissionRow.state.not_in(ended))) or 0


def _counted(platform: Platform) -> dict[str, int]:
    with platform.sessions() as session:
        states = list(session.scalars(select(SubmissionRow.state)))
        reports = session.execute(
            select(func.count()).select_from(ReportRow).group_by(ReportRow.submission_id)
        )
        sent = dict(
            session.execute(select(SubmissionRow.user_id, func.count()).group_by(SubmissionRow.user_id)).all()
        )
        used = session.scalars(select(QuotaRow).where(QuotaRow.scope != "waiting"))
        return {
            "done": states.count(State.DONE),
            "lost": len(states) - states.count(State.DONE),
            "twice": sum(count > 1 for (count,) in reports),
            "charged": sum(max(0, row.used - sent[row.user_id]) for row in used),
            "launched": session.scalar(select(func.count()).select_from(PilotRow)) or 0,
        }


def _until(true: object, what: str) -> None:
    assert callable(true)
    end = time.monotonic() + _PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < end, f"no {what} within {_PATIENCE_SECONDS:g} s"
        time.sleep(0.1)
