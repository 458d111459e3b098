"""A final of a competition through the real queue, with the worker killed (-9) in the middle unless ``--no-kill``.

FINALISTS teams, whose vector additions differ in their blocks, are judged REPEATS times each by `grader worker`, on
hidden seeds and a hidden size; then results are published and every certificate is checked. Earlier submissions are
entered as judged. Prints the seconds of the whole and of each judgement, the pause between two, whether the order was
kept, how far the repeats of one kernel differ, and how ranks changed between repeats.

``--simulated``: the judge draws each time around its kernel's own, with a standard deviation of ``--noise``; a board
h200 within a minute, on any machine. ``--folder`` keeps the platform's data, and ``--seconds`` ends the run after
that long with status 75: the same command goes on. ``--device gpu`` is the board of the GPU that ``--gpu`` numbers.

Usage: python benchmarks/final.py [--device cpu|emulated|gpu] [--gpu 0] [--language cuda|triton]
       [--finalists 50] [--repeats 5] [--size N] [--no-kill] [--simulated] [--noise 0.003]
       [--folder DIR] [--seconds S] [--json]
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from results import keep
from running import ROOT, Failed, environment

from grader import certificate
from grader.challenge.catalogue import find_catalogue
from grader.device_kinds import board_of, kind_of, languages_of
from grader.errors import BoxUnavailable
from grader.judge.job import Job, JudgingProgress, Outcome
from grader.languages import Language
from grader.queue.embedded import start_redis
from grader.queue.gpus import chosen_gpus
from grader.queue.worker import run_worker
from grader.records import competitions as record
from grader.records.engine import clock, writing
from grader.records.models import (
    CompetitionRow,
    RegistrationRow,
    SubmissionRow,
    TeamRow,
    UserRow,
    WorkerRow,
)
from grader.sandbox.box import Box, BoxSpec
from grader.schemas.account import Role
from grader.schemas.competition import (
    CompetitionBody,
    FinalBody,
    FinalistsBody,
    FinalView,
    Mode,
)
from grader.schemas.report import CaseReport, CaseVerdict, Report, Score, Verdict, WorkloadReport
from grader.schemas.submission import JudgingReason, ProgressView, State
from grader.service.accounts.accounts import User
from grader.service.competitions import certificates, competitions, finals
from grader.service.platform import Platform, open_platform
from grader.settings import Settings

SLUG, CHALLENGE = "final", "vector_add"
VERSION = find_catalogue().load(CHALLENGE).manifest.version
SOLUTIONS = ROOT / "reference" / CHALLENGE / "staff"
THREADS = (32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024)
BLOCKS = (256, 512, 1024, 2048, 4096, 8192)
# On the host a workload of the interpreter's size; on a GPU one whose roofline time is ranked.
SIZES = {"cpu": 65_537, "gpu": 200_000_007}
POLL_SECONDS = 0.5
WORKER_SECONDS = 240.0
GO_ON = 75  # EX_TEMPFAIL


def source_of(language: Language, number: int) -> str:
    """The staff's solution with another block, and a comment that makes it another source."""
    if language is Language.CUDA:
        cuda: str = (SOLUTIONS / "solution.cu").read_text()
        threads = THREADS[number % len(THREADS)]
        return f"// finalist {number}\n" + cuda.replace("kThreads = 256", f"kThreads = {threads}")
    triton: str = (SOLUTIONS / "solution.py").read_text()
    block = BLOCKS[number % len(BLOCKS)]
    return f"# finalist {number}\n" + triton.replace("BLOCK = 1024", f"BLOCK = {block}")


def default_language(device: str) -> Language:
    """The host has no CUDA; elsewhere Triton compiles in each judgement again, and CUDA once for all repeats."""
    return Language.CUDA if Language.CUDA in languages_of(device) else Language.TRITON


def enter(platform: Platform, device: str, options: argparse.Namespace) -> User:
    """A competition that is over, with as many teams as there are finalists; who runs it."""
    language = Language.named(options.language) if options.language else default_language(device)
    staff = UserRow(name="organiser", name_key="organiser", password_hash="!", role=Role.STAFF.value)
    with writing(platform.sessions) as session:
        session.add(staff)
        session.flush()
        now = clock(session)
    user = User(staff.id, staff.name, Role.STAFF)
    size = options.size or SIZES[kind_of(device).workloads]
    body = CompetitionBody.model_validate(
        {
            "slug": SLUG,
            "title": "A final",
            "challenges": [{"challenge": CHALLENGE, "hidden_workloads": [{"sizes": {"n": size}}]}],
            "starts_at": now - timedelta(hours=2),
            "ends_at": now - timedelta(hours=1),
            "devices": [device],
        }
    )
    competitions.create_competition(platform, user, body)
    competitions.publish_competition(platform, user, SLUG)
    version = platform.catalogue.load(CHALLENGE).manifest.version
    with writing(platform.sessions) as session:
        competition = session.query(CompetitionRow).one()
        for number in range(options.finalists):
            name = f"team{number:03d}"
            person = UserRow(name=name, name_key=name, password_hash="!", role=Role.STUDENT.value)
            team = TeamRow(
                competition_id=competition.id,
                mode=Mode.OFFICIAL,
                name=name,
                name_key=name,
                join_code=competitions.new_code(),
            )
            session.add_all([person, team])
            session.flush()
            session.add(
                RegistrationRow(
                    competition_id=competition.id, user_id=person.id, mode=Mode.OFFICIAL, team_id=team.id
                )
            )
            at = now - timedelta(minutes=90) + timedelta(seconds=number)
            session.add(
                SubmissionRow(
                    user_id=person.id,
                    challenge=CHALLENGE,
                    version=version,
                    language=language,
                    device=device,
                    source=source_of(language, number),
                    filename=f"solution{language.suffix}",
                    kind=JudgingReason.COMPETITION,
                    competition_id=competition.id,
                    team_id=team.id,
                    state=State.DONE,
                    verdict=Verdict.ACCEPTED,
                    attempt=1,
                    time_us=100.0 + number,
                    ci_lo_us=100.0 + number,
                    ci_hi_us=100.0 + number,
                    created_at=at,
                    finished_at=at,
                )
            )
    finals.choose_finalists(platform, user, SLUG, FinalistsBody(top=options.finalists))
    return user


def staff_of(platform: Platform) -> User | None:
    """The staff account of an earlier call on the same folder."""
    with platform.sessions() as session:
        row = session.query(UserRow).filter_by(name="organiser").one_or_none()
    return None if row is None else User(row.id, row.name, Role.STAFF)


def start(platform: Platform, user: User, repeats: int) -> FinalView:
    """Once a worker serves the device."""
    until = time.monotonic() + WORKER_SECONDS
    while True:
        view = finals.get_final(platform, user, SLUG)
        if view.done:
            return view
        if view.machines:
            return finals.start_final(
                platform, user, SLUG, FinalBody(machine=view.machines[0].name, repeats=repeats)
            )
        if time.monotonic() > until:
            raise Failed("no worker serves a device of the competition")
        time.sleep(POLL_SECONDS)


def kill_worker(platform: Platform) -> bool:
    """The one that judges now, with its judge and its boxes."""
    with platform.sessions() as session:
        held = (
            session.query(SubmissionRow)
            .filter(SubmissionRow.state.in_((State.TESTING, State.TIMING)))
            .first()
        )
        worker = session.query(WorkerRow).filter_by(name=held.worker).one_or_none() if held else None
    if worker is None:
        return False
    os.kill(worker.pid, signal.SIGKILL)
    print(f"  killed worker {worker.name}", flush=True)
    return True


def lost_one(platform: Platform) -> bool:
    """Whether an earlier call on the same folder killed one."""
    with platform.sessions() as session:
        final = SubmissionRow.kind == JudgingReason.FINAL
        return session.query(SubmissionRow).filter(final, SubmissionRow.failures > 0).first() is not None


def wait(platform: Platform, user: User, options: argparse.Namespace, ends: float) -> FinalView | None:
    """Until it is done; None where the time is over first."""
    killed, told = not options.kill or lost_one(platform), 0
    while True:
        view = finals.get_final(platform, user, SLUG)
        if view.judged >= told + 25:
            told = view.judged
            print(f"  {view.judged} of {view.total}", flush=True)
        if view.done:
            return view
        if view.failed:
            raise Failed(f"the platform failed to judge {view.failed}")
        if not killed and view.judged >= view.total // 2:
            killed = kill_worker(platform)
        if time.monotonic() > ends:
            print(f"  {view.judged} of {view.total}; the same command goes on", flush=True)
            return None
        time.sleep(POLL_SECONDS)


def figures_of(platform: Platform, user: User, view: FinalView) -> dict[str, Any]:
    """What the record says of it, and what its certificates are worth."""
    with platform.sessions() as session:
        competition = session.query(CompetitionRow).one()
        final = record.final(session, competition.id)
        assert final is not None
        rows = [row for _, row in record.final_runs(session, final.id)]
    ended = [row.finished_at for row in rows if row.finished_at is not None]
    spans = [
        (row.finished_at - row.claimed_at).total_seconds()
        for row in rows
        if row.finished_at is not None and row.claimed_at is not None
    ]
    pauses = [
        (after.claimed_at - before.finished_at).total_seconds()
        for before, after in itertools.pairwise(rows)
        if after.claimed_at is not None and before.finished_at is not None
    ]
    finals.publish_results(platform, user, SLUG)
    key = certificate.read_key(certificates.signing_key(platform).pem)
    signed = [json.dumps(certificates.get_certificate(platform, user, SLUG, team)) for team in view.finalists]
    assert view.rank_changes is not None
    spreads = sorted(entry.spread for entry in view.entries if entry.spread is not None)
    return {
        "device": view.device,
        "finalists": len(view.finalists),
        "repeats": view.repeats,
        "judgements": view.total,
        "seconds": round((max(ended) - final.started_at).total_seconds(), 1),
        "judgement_s": {"median": round(statistics.median(spans), 3), "longest": round(max(spans), 3)},
        "pause_s": {"median": round(statistics.median(pauses), 3), "longest": round(max(pauses), 3)},
        "in_order": ended == sorted(ended),
        "lost_workers": sum(row.failures for row in rows),
        "without_time": sum(bool(entry.failed) for entry in view.entries),
        "spread": {
            "median": round(statistics.median(spreads), 5),
            "largest": round(spreads[-1], 5),
        }
        if spreads
        else None,
        "rank_changes": {
            "teams": view.rank_changes.changed,
            "swaps": view.rank_changes.swaps,
            "pairs": view.rank_changes.pairs,
            "ranks": len({team.final for team in view.rank_changes.teams}),
        },
        "certificates": len(signed),
        "genuine": sum(certificate.check(text, key).genuine for text in signed),
        "certificate_bytes": round(statistics.median(len(text) for text in signed)),
    }


class SimulatedJudge:
    """Judges nothing: a kernel takes what the number in its first line says, and a little more or less."""

    device_model, torch_version, architecture = "simulated", "none", "sm_90"

    def __init__(self, noise: float) -> None:
        self._noise = noise

    def warm_up(self) -> None:
        pass

    def probe(self) -> None:
        pass

    def try_box(self) -> None:
        pass

    def close(self) -> None:
        pass

    def run(self, job: Job, on_progress: Callable[[JudgingProgress], None], _: Callable[[], bool]) -> Outcome:
        for state in (State.TESTING, State.TIMING):
            on_progress(JudgingProgress(state=state, progress=ProgressView(done=0, total=1, label="")))
        number = int(job.source.split("\n", 1)[0].rsplit(" ", 1)[1])
        dice = random.Random(f"{job.seed_key} {number}")
        # Neighbouring kernels differ by half of a board's resolution.
        time_us = 1000.0 * (1 + 0.0025) ** number * (1 + dice.gauss(0.0, self._noise))
        time.sleep(0.03)
        case = CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED)
        timed = [
            WorkloadReport(
                name=workload.name,
                sizes=workload.sizes,
                ranked=True,
                time_us=time_us,
                ci_us=(time_us, time_us),
                rounds=30,
            )
            for workload in job.workloads
        ]
        return Outcome(
            report=Report(
                verdict=Verdict.ACCEPTED,
                challenge=job.challenge,
                version=VERSION,
                language=job.language,
                device=job.device,
                cases=[case],
                workloads=timed,
                score=Score(time_us=time_us, ci=(time_us, time_us), passed=1, total=1),
                environment={"device_model": self.device_model},
            )
        )


def simulate(settings: Settings, noise: float) -> None:
    """A worker process."""
    run_worker(settings, judge=SimulatedJudge(noise), boxes=NoBoxes())


class NoBoxes:
    name, about = "none", "no boxes"

    def start(self, spec: BoxSpec) -> Box:
        raise BoxUnavailable("A simulation has no boxes.")

    def reap(self) -> int:
        return 0


@contextmanager
def simulated(settings: Settings, noise: float) -> Iterator[None]:
    """A worker that is started again whenever it has ended."""
    over = threading.Event()
    context = multiprocessing.get_context("spawn")

    def supervise() -> None:
        while not over.is_set():
            worker = context.Process(target=simulate, args=(settings, noise))
            worker.start()
            while worker.is_alive() and not over.wait(0.1):
                pass
            worker.terminate()
            worker.join()

    thread = threading.Thread(target=supervise)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def real(env: dict[str, str], folder: Path, gpu: int | None) -> Iterator[None]:
    """As `grader worker`, with a compile worker for a GPU's. Both log to workers.log."""
    board = env.get("GRADER_DEVICE", "")
    kinds = (
        [["--device", board]] if gpu is None else [["--gpu", str(gpu)], ["--gpu", "none", "--compile", "1"]]
    )
    over = threading.Event()
    with (folder / "workers.log").open("ab") as output:

        def supervise(words: list[str]) -> None:
            command = [sys.executable, "-m", "grader.cli.main", "worker", *words]
            while not over.is_set():
                worker = subprocess.Popen(command, env=env, stdout=output, stderr=output, cwd=ROOT)
                while worker.poll() is None and not over.wait(0.1):
                    pass
                worker.terminate()
                worker.wait()
                over.wait(0.5)

        threads = [threading.Thread(target=supervise, args=(words,)) for words in kinds]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()


@contextmanager
def folder_of(options: argparse.Namespace) -> Iterator[tuple[Path, dict[str, str]]]:
    """Where the platform is, and its environment; both stay where ``--folder`` names it."""
    if options.folder is not None:
        folder: Path = options.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ready.json").unlink(missing_ok=True)
        env = {name: value for name, value in os.environ.items() if not name.startswith("GRADER_")}
        kept = {name: os.environ[name] for name in ("GRADER_BOX",) if name in os.environ}
        yield folder, env | kept | {"GRADER_DATA_DIR": str(folder / "data")}
        return
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as made:
        folder = Path(made) / "run"
        with environment(folder) as env:
            yield folder, dict(env)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device")
    parser.add_argument("--gpu", type=int, default=0, help="of this machine, for --device gpu")
    parser.add_argument("--language", choices=[language.value for language in Language])
    parser.add_argument("--finalists", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--size", type=int)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--noise", type=float, default=0.003)
    parser.add_argument("--no-kill", dest="kill", action="store_false")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.device = options.device or ("h200" if options.simulated else "cpu")
    if options.device == "gpu":
        options.device = board_of(chosen_gpus(str(options.gpu))[0])
    ends = time.monotonic() + options.seconds
    with folder_of(options) as (folder, env):
        env |= {"GRADER_DEVICES": options.device}
        if kind_of(options.device).gpus is None:
            env |= {"GRADER_DEVICE": options.device}
        settings = Settings(
            data_dir=Path(env["GRADER_DATA_DIR"]), device=options.device, devices=options.device
        )
        if options.simulated:
            settings = settings.model_copy(update={"log_level": "error"})
            whole: AbstractContextManager[object] = simulated(settings, options.noise)
        else:
            whole = real(env, folder, None if kind_of(options.device).gpus is None else options.gpu)
        with start_redis(settings), closing(open_platform(settings)) as platform, whole:
            user = staff_of(platform) or enter(platform, options.device, options)
            began = start(platform, user, options.repeats)
            print(f"{began.total} judgements on {began.machine} ({began.device})", flush=True)
            view = wait(platform, user, options, ends)
            if view is None:
                return GO_ON
            figures = figures_of(platform, user, view)
    print(json.dumps(figures, indent=2))
    if options.json:
        # The name of a card is in the file's name already.
        where = options.device if kind_of(options.device).gpus is None else "card"
        keep(f"final_{'simulated' if options.simulated else where}", figures)
    held = figures["in_order"] and figures["genuine"] == figures["certificates"]
    return 0 if held and not figures["without_time"] else 1


if __name__ == "__main__":
    sys.exit(main())
