"""Submit to verdict: Triton `vector_add` (the staff's solution, all cases and the workload) on a warm worker.

Each submission goes through HTTP, queue, worker and box as a student's does; before each the platform gets a pause, so
that its spare box is ready. The wall clock runs here, from before the post until the verdict was read. Where it goes
is taken from the server's timestamps and from the report.

Target on a CPU machine with Docker boxes: median under 5 s.

Usage: python benchmarks/turnaround.py [--json] [--count N] [--pause SECONDS]
"""

from __future__ import annotations

import argparse
import json
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

SOLUTION = ROOT / "reference" / "vector_add" / "staff" / "solution.py"
POLL_SECONDS = 0.02
GIVE_UP_SECONDS = 120.0
TARGET_SECONDS = 5.0


def one(client: Client) -> dict[str, float]:
    """Seconds of one submission: the whole, and its parts."""
    body = {"challenge": "vector_add", "source": SOLUTION.read_text(), "filename": "solution.py"}
    began = time.perf_counter()
    submission = client.post("/submissions", body)["id"]
    posted = time.perf_counter()
    while not (view := SubmissionView.model_validate(client.get(f"/submissions/{submission}"))).state.final:
        if time.perf_counter() - began > GIVE_UP_SECONDS:
            raise Failed(f"{submission} was not judged within {GIVE_UP_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)
    whole = time.perf_counter() - began
    report: dict[str, Any] = client.get(f"/submissions/{submission}/report")
    if report["verdict"] != "accepted" or view.started_at is None or view.finished_at is None:
        raise Failed(f"{submission} ended as {report['verdict']}: {report['detail']}")
    inside = dict(report["breakdown_s"])
    judged = inside.pop("total")
    served = (view.finished_at - view.started_at).total_seconds()
    parts = {
        "post": posted - began,
        "queue": (view.started_at - view.created_at).total_seconds(),
        **{f"judge: {name}": seconds for name, seconds in inside.items()},
        "judge: rest": judged - sum(inside.values()),
        "worker around the judge": served - judged,
    }
    return {"whole": whole, **parts, "notice": max(0.0, whole - sum(parts.values()))}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=11)
    parser.add_argument("--pause", type=float, default=5.0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="grader-bench-") as folder,
        environment(Path(folder) / "run") as env,
    ):
        kind, _ = boxes(env)
        with platform(env, Path(folder) / "run") as url:
            sign_in(env, url, "ada")
            kept = json.loads((Path(env["XDG_CONFIG_HOME"]) / "grader" / "client.json").read_text())
            client = Client(url, kept["token"])
            runs = []
            for _ in range(options.count + 1):  # the first one warms: torch's threads, the frozen baseline
                time.sleep(options.pause)
                runs.append(one(client))
    names = list(dict.fromkeys(name for run in runs[1:] for name in run))
    medians = {name: statistics.median(run.get(name, 0.0) for run in runs[1:]) for name in names}
    print(f"submit to verdict, Triton vector_add, warm worker, {kind} boxes, median of {options.count}")
    for name, seconds in medians.items():
        print(f"  {name:<24} {seconds:7.3f} s")
    whole = [run["whole"] for run in runs[1:]]
    print(f"  fastest {min(whole):.3f} s, slowest {max(whole):.3f} s; target {TARGET_SECONDS:.0f} s")
    if options.json:
        figures = {name: round(seconds, 4) for name, seconds in medians.items()}
        extent = {"fastest_s": round(min(whole), 4), "slowest_s": round(max(whole), 4)}
        setup = {"boxes": kind, "count": options.count, "pause_s": options.pause, "target_s": TARGET_SECONDS}
        keep("turnaround", {**setup, "median_s": figures, **extent})
    return 0 if medians["whole"] < TARGET_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
