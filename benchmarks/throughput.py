"""Submissions per hour through the real queue, with compiling overlapped and without.

Starts a Redis and workers as `grader worker` does, sends all submissions at once as several students, and divides by
the time from the first one sent to the last one ended. "Without": the workers of the device compile when they have
nothing to run. "With": `--compilers N` processes compile ahead. Every source differs in a comment, so each is
compiled; the first submissions, which freeze baselines, do not count. On a GPU the compilers also compile Triton's
kernels of submissions that wait.

The workers' logs show where the time goes: each judgement (hidden cases included), and the gap from its end to the
next one that was waiting: recording the verdict, claiming, preparing. Means are printed beside medians, which hide a
few slow judgements.

On a GPU (`--device h200`, or `gpu`) the sources are the staff's `vector_add`, in CUDA unless `--languages` says more.
On `cpu` half are Triton's and half are CUDA sources for a board without workers, which end once they are compiled. On
`emulated`, CUDA goes the way that it goes on a GPU. On these two boards a gap includes the wait for a spare box.

Usage: python benchmarks/throughput.py [--json] [--submissions N] [--workers N] [--compilers N]
       [--device cpu|emulated|h200|...] [--languages cuda,triton] [--box local|docker] [--gpu 0] [--overlapped]
       [--no-baselines]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from results import keep

from grader import limits
from grader.challenge.catalogue import find_catalogue
from grader.cli.config import environment
from grader.device_kinds import CPU, CPU_ARCHITECTURE, EMULATED, board_of, compiled_ahead
from grader.languages import Language
from grader.queue.embedded import start_redis
from grader.queue.gpus import chosen_gpus
from grader.records import baselines, gpus
from grader.records.baselines import BaselineKey
from grader.records.engine import writing
from grader.records.gpus import GpuRecord
from grader.records.models import utcnow
from grader.schemas.report import Verdict
from grader.schemas.submission import SubmissionView, SubmitBody
from grader.service.accounts.accounts import User, create_user
from grader.service.challenges import versions
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submissions import get_report, get_submission
from grader.service.submissions.submit import submit
from grader.settings import Settings

SLUG = "vector_add"
# The board of CUDA sources on a machine without a GPU; nobody serves it, so nothing of it runs.
NOWHERE = "t4"
# Hides what the compiler's footer defines: compiled and linked in full, and of no use.
WITHOUT_ENTRY = "\n#define grader_entry hidden\n"
READY_SECONDS = 240.0
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Options:
    submissions: int
    workers: int
    compilers: int
    device: str
    languages: list[Language]
    box: str
    gpu: int
    overlapped: bool
    baselines: bool


@dataclass(frozen=True)
class Sent:
    user: User
    id: str
    expected: Verdict


class Sender:
    """Sends sources that were not compiled before, as enough students that all may wait at once."""

    def __init__(self, platform: Platform, options: Options) -> None:
        self._platform, self._options = platform, options
        self._staff = platform.catalogue.root / "reference" / SLUG / "staff"
        self._users: list[User] = []
        self._sent = 0

    def send(self, count: int, languages: Sequence[Language]) -> list[Sent]:
        """``count`` submissions, in turn of each language."""
        needed = -(-count // limits.WAITING_PER_USER)
        while len(self._users) < needed:
            self._users.append(create_user(self._platform, f"student{len(self._users)}", "correct horse"))
        return [self._one(self._users[n % needed], languages[n % len(languages)]) for n in range(count)]

    def _one(self, user: User, language: Language) -> Sent:
        self._sent += 1
        source = (self._staff / f"solution{language.suffix}").read_text()
        remark = language.comment
        source += f"\n{remark} submission {self._sent}\n"
        device, expected = self._options.device, Verdict.ACCEPTED
        if device == CPU and language is Language.CUDA:
            source, device, expected = source + WITHOUT_ENTRY, NOWHERE, Verdict.COMPILE_ERROR
        body = SubmitBody(challenge=SLUG, source=source, filename=f"a{language.suffix}", device=device)
        return Sent(user, submit(self._platform, user, body).id, expected)


@contextmanager
def workers(settings: Settings, platform: Platform, options: Options, compilers: int) -> Iterator[Path]:
    """Processes that serve the device, until the block ends; the file of their logs."""
    log = settings.data_dir / f"workers-{compilers}.log"
    with ExitStack() as stack, log.open("ab") as out:
        for words in _workers(options, compilers):
            command = [sys.executable, "-m", "grader.cli.main", "worker", *words]
            process = subprocess.Popen(command, env=environment(settings), stderr=out)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        deadline = time.monotonic() + READY_SECONDS
        wanted = [f"{options.device}: {options.workers} alive"]
        wanted += [f"compile: {compilers} alive"] if compilers else []
        while not all(worker in health(platform).parts["workers"].detail for worker in wanted):
            if time.monotonic() > deadline:
                raise SystemExit(f"the workers did not start: {health(platform)}")
            time.sleep(POLL_SECONDS)
        yield log


def _workers(options: Options, compilers: int) -> list[list[str]]:
    if options.device in (CPU, EMULATED):
        workers = [["--device", options.device] for _ in range(options.workers)]
    else:
        here = [gpu for gpu in chosen_gpus("all") if board_of(gpu) == options.device]
        if len(here) < options.gpu + options.workers:
            raise SystemExit(f"{options.workers} GPUs of the board {options.device} are not here: {here}")
        workers = [["--gpu", gpu.uuid] for gpu in here[options.gpu :][: options.workers]]
    return [*workers, *([["--gpu", "none", "--compile", str(compilers)]] if compilers else [])]


def freeze_none(platform: Platform, options: Options) -> None:
    """Have every baseline of a GPU's board count as frozen, so that no submission measures any: it takes half a minute
    once."""
    words = "import torch; print(torch.__version__); print(torch.cuda.get_device_name(0))"
    ran = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    torch_version, model = ran.stdout.splitlines()
    challenge = platform.catalogue.load(SLUG)
    key = BaselineKey(SLUG, versions.serve(platform, challenge).version, model, torch_version)
    none: dict[str, float | None] = {"eager": None, "compile": None}
    with writing(platform.sessions) as session:
        baselines.freeze(session, key, {workload.name: none for workload in challenge.manifest.workloads})


def finish(platform: Platform, sent: list[Sent]) -> list[SubmissionView]:
    """Wait for the end of all. Raises SystemExit where one ends otherwise than it must."""
    views = []
    for one in sent:
        while not (view := get_submission(platform, one.user, one.id)).state.final:
            time.sleep(POLL_SECONDS)
        if view.verdict is not one.expected:
            told = get_report(platform, one.user, one.id).detail if view.verdict else view.error
            raise SystemExit(f"{one.id} ended as {view.verdict or view.state}, not {one.expected}: {told}")
        views.append(view)
    return views


@dataclass(frozen=True)
class Judgement:
    """When, in seconds since 1970. ``waiting``: it could be claimed."""

    worker: str
    waiting: float
    claimed: float
    began: float
    ended: float
    recorded: float


def judgements(log: Path, views: Sequence[SubmissionView]) -> list[Judgement]:
    """Those of ``views`` that a judge judged, by the workers' ``log``. Of each, its last attempt."""
    ours = {view.id: view for view in views}
    times: dict[str, dict[str, float]] = {}
    judge: dict[str, str] = {}
    for said in lines_of(log, views):
        one = said["submission"]
        times.setdefault(one, {})[said["event"]] = _at(said)
        if said["event"] == "judge_began":
            judge[one] = said["worker"]
    return [
        Judgement(
            worker,
            times[one].get("compiled", ours[one].created_at.timestamp()),
            *(times[one][event] for event in ("judging", "judge_began", "judge_ended", "judged")),
        )
        for one, worker in judge.items()
    ]


def kernels_ahead(log: Path, views: Sequence[SubmissionView]) -> dict[str, int]:
    """Of ``views`` in languages that compile ahead: how many there are, and how many were compiled when a worker took
    them; empty if there are none."""
    able = [view for view in views if compiled_ahead(view.device, view.language)]
    made: dict[str, float] = {}
    taken: dict[str, float] = {}
    for said in lines_of(log, able):
        if said["event"] == "kernels_compiled_ahead" and said["bytes"]:
            made[said["submission"]] = _at(said)
        elif said["event"] == "judging":
            taken[said["submission"]] = _at(said)
    ahead = sum(one in taken and at < taken[one] for one, at in made.items())
    return {"submissions": len(able), "compiled_ahead": ahead} if able else {}


def lines_of(log: Path, views: Sequence[SubmissionView]) -> Iterator[dict[str, Any]]:
    """What the workers' ``log`` says of ``views``."""
    ours = {view.id for view in views}
    for line in log.read_text().splitlines():
        said = json.loads(line) if line.startswith("{") else {}
        if said.get("submission") in ours:
            yield said


def _at(said: dict[str, Any]) -> float:
    return datetime.fromisoformat(said["timestamp"]).timestamp()


def gaps(found: Sequence[Judgement]) -> list[dict[str, float]]:
    """Seconds between two judgements of a worker, whole and in parts, where the second was waiting at the end of the
    first."""
    ordered = sorted(found, key=lambda judgement: (judgement.worker, judgement.began))
    return [
        {
            "whole": after.began - before.ended,
            "record": before.recorded - before.ended,
            "claim": after.claimed - before.recorded,
            "prepare": after.began - after.claimed,
        }
        for before, after in pairwise(ordered)
        if before.worker == after.worker and after.waiting <= before.ended
    ]


def measure(
    settings: Settings, options: Options, sender: Sender, platform: Platform, compilers: int
) -> dict[str, object]:
    """Submissions per hour, seconds from sent to verdict, and the parts of one, with this many compilers."""
    with workers(settings, platform, options, compilers) as log:
        finish(platform, sender.send(2 * options.workers * len(options.languages), options.languages))
        began, at = time.monotonic(), time.time()
        sent = sender.send(options.submissions, options.languages)
        views = finish(platform, sent)
        elapsed = time.monotonic() - began
    turnarounds = [(view.finished_at - view.created_at).total_seconds() for view in views if view.finished_at]
    verdicts = Counter(str(view.verdict) for view in views)
    print(
        f"{compilers} beside that only compile: {len(views)} in {elapsed:.1f} s ({dict(verdicts)})",
        flush=True,
    )
    per_hour = 3600 * len(views) / elapsed
    print(f"  {per_hour:.0f} an hour, {elapsed / len(views):.3f} s each")
    figures: dict[str, object] = {
        "per_hour": round(per_hour, 1),
        "elapsed_s": round(elapsed, 3),
        "median_turnaround_s": round(statistics.median(turnarounds), 3),
    }
    found = {**figures, **where(judgements(log, views), at)}
    if kernels := kernels_ahead(log, views):
        print(f"  kernels of {kernels['compiled_ahead']} of {kernels['submissions']} were compiled ahead")
        found["kernels"] = kernels
    return found


def where(found: Sequence[Judgement], sent: float) -> dict[str, object]:
    """The parts of the time, printed, too. ``sent``: of the first one, seconds since 1970."""
    if not found:
        return {}
    first = min(judgement.began for judgement in found) - sent
    judged = [judgement.ended - judgement.began for judgement in found]
    figures: dict[str, object] = {
        "until_first_s": round(first, 3),
        "judged_s": {
            "median": round(statistics.median(judged), 3),
            "mean": round(statistics.mean(judged), 3),
        },
    }
    print(f"  {first:.3f} s until the first is judged")
    print(f"  judged in {statistics.median(judged):.3f} s (median), {statistics.mean(judged):.3f} s (mean)")
    if between := gaps(found):
        medians = {name: statistics.median(row[name] for row in between) for name in between[0]}
        mean, longest = (how(row["whole"] for row in between) for how in (statistics.mean, max))
        parts = ", ".join(f"{name} {1e3 * medians[name]:.1f}" for name in medians if name != "whole")
        print(f"  {len(between)} gaps: {1e3 * medians['whole']:.1f} ms (median: {parts}),", end=" ")
        print(f"{1e3 * mean:.1f} ms (mean), {1e3 * longest:.1f} ms (longest)")
        figures["gap_ms"] = {
            "count": len(between),
            **{name: round(1e3 * seconds, 1) for name, seconds in medians.items()},
            "mean": round(1e3 * mean, 1),
            "longest": round(1e3 * longest, 1),
        }
    return figures


def parse() -> tuple[Options, bool]:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1, help="of the device: processes, or GPUs")
    parser.add_argument("--compilers", type=int, default=2, help="that only compile, in the second run")
    parser.add_argument("--device", default=CPU)
    parser.add_argument("--languages", default="")
    parser.add_argument("--box", default="auto")
    parser.add_argument("--gpu", type=int, default=0, help="the first of this machine to use")
    parser.add_argument("--overlapped", action="store_true", help="only with compilers beside")
    parser.add_argument(
        "--no-baselines", action="store_true", help="of a GPU: none with the first submission"
    )
    said = parser.parse_args()
    if said.device == "gpu":
        said.device = board_of(chosen_gpus(str(said.gpu))[0])
    names = said.languages or ("cuda,triton" if said.device == CPU else "cuda")
    languages = [Language.named(name) for name in names.split(",")]
    chosen = (said.submissions, said.workers, said.compilers, said.device, languages, said.box, said.gpu)
    return Options(*chosen, said.overlapped, not said.no_baselines), said.json


def main() -> None:
    options, kept = parse()
    with tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as folder:  # short: a socket's name must fit
        data = Path(folder) / "data"
        with start_redis(Settings(data_dir=data, redis_url="")) as redis:
            settings = Settings(
                data_dir=data,
                redis_url=redis.url,
                challenges=find_catalogue(None).root,
                box=options.box,
                devices=f"{options.device},{NOWHERE}" if options.device == CPU else options.device,
            )
            platform = open_platform(settings)
            with writing(platform.sessions) as session:
                gpus.register(session, GpuRecord("none", NOWHERE, "no GPU", CPU_ARCHITECTURE), utcnow())
            sender = Sender(platform, options)
            if not options.baselines:
                freeze_none(platform, options)
            figures: dict[str, object] = {}
            if not options.overlapped:
                figures["without_overlap"] = measure(settings, options, sender, platform, 0)
            figures["with_overlap"] = measure(settings, options, sender, platform, options.compilers)
            platform.close()
    if kept:
        setup = {
            "submissions": options.submissions,
            "workers": options.workers,
            "compilers": options.compilers,
            "board": options.device,
            "languages": [language.value for language in options.languages],
            "box": options.box,
        }
        keep("throughput", {**setup, **figures})


if __name__ == "__main__":
    main()
