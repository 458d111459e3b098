"""Submit to verdict: `vector_add` on a warm worker, in Triton on the board `cpu`, or with ``--cuda`` on the emulated
GPU.

With ``--cuda``, nvcc included, for each of COUNT new platforms: its first submission, for which nothing was compiled
or frozen before, and a warm one, of the same source but for a comment.

With ``--run``: a run of one case with its own sizes on a warm emulated GPU, of a source that was just changed (which
is compiled), and of the same source again.

Each submission goes through HTTP, queue, worker and box, after a pause in which the spare box gets ready. The wall
clock runs here, from before the post until the verdict was read; its parts come from the server's timestamps and the
report. Boxes yield to other work on the machine, so its load is kept, too.

Targets on a CPU machine with Docker boxes: a median under 5 s in Triton; in CUDA under 4 s, and under 2 s warm; of a
run under 1 s.

Usage: python benchmarks/turnaround.py [--cuda] [--run] [--json] [--count N] [--pause SECONDS]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from results import keep
from running import ROOT, Failed, boxes, environment, platform, sign_in

from grader.cli.client import Client
from grader.schemas.submission import SubmissionView

SOLUTIONS = ROOT / "reference" / "vector_add" / "staff"
POLL_SECONDS = 0.02
GIVE_UP_SECONDS = 120.0
TARGETS_SECONDS = {"triton": 5.0, "cuda": 4.0, "cuda, warm": 2.0, "run": 1.0}
COUNTS = {"triton": 11, "cuda": 3}
BOARDS = {"triton": "cpu", "cuda": "emulated"}


def one(client: Client, language: str, number: int, case: dict[str, Any] | None = None) -> dict[str, float]:
    """Seconds of one submission, or of a run of ``case``: the whole, and its parts. Each ``number`` gives another
    source to compile."""
    comment = (
        f"\n{'//' if language == 'cuda' else '#'} number {number}\n" if language == "cuda" or case else ""
    )
    solution = SOLUTIONS / {"triton": "solution.py", "cuda": "solution.cu"}[language]
    body = {
        "challenge": "vector_add",
        "source": solution.read_text() + comment,
        "filename": solution.name,
        "language": language,
        **({"case": case} if case else {}),
    }
    began = time.perf_counter()
    submission = client.post("/runs" if case else "/submissions", body)["id"]
    posted = time.perf_counter()
    while not (view := SubmissionView.model_validate(client.get(f"/submissions/{submission}"))).state.final:
        if time.perf_counter() - began > GIVE_UP_SECONDS:
            raise Failed(f"{submission} was not judged within {GIVE_UP_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)
    whole = time.perf_counter() - began
    report: dict[str, Any] = client.get(f"/submissions/{submission}/report")
    if report["verdict"] != "accepted" or view.started_at is None or view.finished_at is None:
        raise Failed(f"{submission} ended as {report['verdict']}: {report['detail']}")
    inside = dict(report["breakdown_s"])  # as a student sees it: without the hidden cases, and the whole
    served = (view.finished_at - view.started_at).total_seconds()
    parts = {
        "post": posted - began,
        "queue": (view.started_at - view.created_at).total_seconds(),
        **{f"judge: {name}": seconds for name, seconds in inside.items() if name != "total"},
        "compiling, hidden cases, rest": served - sum(inside.values()) + inside.get("total", 0.0),
    }
    print(f"  {language} number {number}: {whole:.3f} s, load {os.getloadavg()[0]:.1f}", flush=True)
    return {"whole": whole, **parts, "notice": max(0.0, whole - sum(parts.values()))}


def runs_of(folder: Path, language: str, count: int, pause: float) -> tuple[str, dict[str, Any], bool]:
    """Runs on a warm emulated board: of changed sources, and of one source again and again."""
    case = {"name": "basic", "sizes": {"n": 1000}, "inputs": {"a": "ramp"}}
    found: dict[str, list[dict[str, float]]] = {"changed": [], "again": []}
    with environment(folder) as env:
        env |= {"GRADER_DEVICE": "emulated", "GRADER_DEVICES": "emulated"}
        kind, _ = boxes(env)
        with platform(env, folder) as url:
            sign_in(env, url, "ada")
            kept = json.loads((Path(env["XDG_CONFIG_HOME"]) / "grader" / "client.json").read_text())
            client = Client(url, kept["token"])
            one(client, language, 0, case)  # warms: torch's threads, the compiler's files
            for number in range(1, count + 1):
                for name, source in (("changed", number), ("again", 0)):
                    time.sleep(pause)
                    found[name].append(one(client, language, source, case))
    target = TARGETS_SECONDS["run"]
    title = f"a run of one case, {language} on emulated, {kind} boxes, warm"
    changed, held = shown(f"{title}, source changed", found["changed"], target)
    again, held_again = shown(f"{title}, the same source", found["again"], target)
    return kind, {**changed, "again": again}, held and held_again


def of_a_platform(
    folder: Path, language: str, count: int, pause: float
) -> tuple[str, list[dict[str, float]]]:
    """The kind of its boxes, and its first ``count`` submissions."""
    with environment(folder) as env:
        env |= {"GRADER_DEVICE": BOARDS[language], "GRADER_DEVICES": BOARDS[language]}
        kind, _ = boxes(env)
        with platform(env, folder) as url:
            sign_in(env, url, "ada")
            kept = json.loads((Path(env["XDG_CONFIG_HOME"]) / "grader" / "client.json").read_text())
            client = Client(url, kept["token"])
            runs: list[dict[str, float]] = []
            for _ in range(count):
                time.sleep(pause)
                runs.append(one(client, language, len(runs)))
    return kind, runs


def shown(title: str, runs: list[dict[str, float]], target: float) -> tuple[dict[str, object], bool]:
    """The medians of ``runs``, printed, and whether the whole is within ``target``."""
    names = list(dict.fromkeys(name for run in runs for name in run))
    medians = {name: statistics.median(run.get(name, 0.0) for run in runs) for name in names}
    print(f"submit to verdict, {title}, median of {len(runs)}")
    for name, seconds in medians.items():
        print(f"  {name:<30} {seconds:7.3f} s")
    whole = [run["whole"] for run in runs]
    print(f"  fastest {min(whole):.3f} s, slowest {max(whole):.3f} s; target {target:.0f} s")
    figures = {
        "target_s": target,
        "median_s": {name: round(seconds, 4) for name, seconds in medians.items()},
        "fastest_s": round(min(whole), 4),
        "slowest_s": round(max(whole), 4),
    }
    return figures, medians["whole"] < target


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--count", type=int)
    parser.add_argument("--pause", type=float, default=5.0)
    options = parser.parse_args()
    language = "cuda" if options.cuda else "triton"
    count = options.count or COUNTS[language]
    load = round(os.getloadavg()[0], 2)
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        if options.run:
            kind, figures, held = runs_of(Path(folder) / "run", language, count, options.pause)
        elif options.cuda:
            firsts, warm = [], []
            for _ in range(count):
                kind, (first, second) = of_a_platform(Path(folder) / "run", language, 2, options.pause)
                firsts.append(first)
                warm.append(second)
            figures, held = shown(
                f"cuda vector_add, {kind} boxes, first submission of a platform",
                firsts,
                TARGETS_SECONDS["cuda"],
            )
            warm_figures, warm_held = shown("the same, warm", warm, TARGETS_SECONDS["cuda, warm"])
            figures, held = {**figures, "warm": warm_figures}, held and warm_held
        else:  # the first one warms: torch's threads, the frozen baseline
            kind, (_, *runs) = of_a_platform(Path(folder) / "run", language, count + 1, options.pause)
            figures, held = shown(
                f"triton vector_add, {kind} boxes, warm platform", runs, TARGETS_SECONDS["triton"]
            )
    if options.json:
        setup = {"boxes": kind, "count": count, "pause_s": options.pause, "load_before": load}
        name = f"turnaround{'_run' if options.run else ''}{'_cuda' if options.cuda else ''}"
        keep(name, {**setup, **figures})
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
