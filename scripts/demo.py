"""`make demo`: the whole platform once, on this machine.

Submits a right and a wrong kernel of six challenges through command line and queue, and prints verdicts and
leaderboards. Exits with 0 if every verdict is the expected one. Needs a checkout, for the staff's solutions
and mutants.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from running import GRADER, ROOT, Failed, boxes, environment, grader, platform, sign_in

from grader.device_kinds import EMULATED, default_board
from grader.sandbox.gpu import find_gpus
from grader.sandbox.toolkit import nvcc_version

FOLDER = ROOT / ".demo"
STUDENT = "ada"
VERDICT_SECONDS = 240.0
# Keeps the worker busy, within a student's limit.
OPEN = 6

# One mistake for each.
WRONG = {
    "vector_add": "tail_dropped.py",
    "conv1d": "weights_turned_round.py",
    "histogram": "not_cleared.py",
    "gelu": "tanh_form.py",
    "softmax": "no_max_subtracted.py",
    "attention": "keys_as_values.py",
}


@dataclass(frozen=True)
class Entry:
    slug: str
    file: Path
    expected: str

    @property
    def name(self) -> str:
        return str(self.file.relative_to(ROOT / "reference" / self.slug / "staff"))


@dataclass(frozen=True)
class Result:
    entry: Entry
    report: dict[str, object]

    @property
    def verdict(self) -> str:
        return str(self.report.get("verdict", "no report"))

    @property
    def expected(self) -> bool:
        return self.verdict == self.entry.expected


def main() -> int:
    began = time.monotonic()
    try:
        with environment(FOLDER) as env:
            say_what_boxes(env)
            print("Starting Redis, web and worker ...", end=" ", flush=True)
            with platform(env, FOLDER) as url:
                print(f"ready at {url} after {time.monotonic() - began:.1f} s.")
                sign_in(env, url, STUDENT)
                print(f"Signed in as the student '{STUDENT}'.\n")
                say_what_catalogue(env)
                results = judge_all(env, entries())
                print_results(env, results)
    except Failed as error:
        print(f"\ndemo: {error}", file=sys.stderr)
        return 1
    good = all(result.expected for result in results)
    print(
        f"\n{'Every verdict is the expected one' if good else 'NOT every verdict is the expected one'}",
        end="",
    )
    print(f" ({time.monotonic() - began:.0f} s). Open the web UI with: make up")
    return 0 if good else 1


def entries() -> list[Entry]:
    """Per challenge a right kernel in each language, and a wrong one."""
    found = []
    solutions = ["solution.py"]
    if nvcc_version() and (default_board() == EMULATED or find_gpus()):
        solutions.append("solution.cu")
    else:
        print("CUDA is left out: there is no nvcc here, or the emulated GPU is not built.\n")
    for slug, mistake in WRONG.items():
        staff = ROOT / "reference" / slug / "staff"
        found += [Entry(slug, staff / name, "accepted") for name in solutions]
        found.append(Entry(slug, staff / "mutants" / mistake, "wrong_answer"))
    return found


def say_what_catalogue(env: Mapping[str, str]) -> None:
    catalogue = json.loads(grader(env, "challenges", "--json"))["challenges"]
    tracks = {challenge["slug"]: challenge["track"] for challenge in catalogue}
    if missing := [slug for slug in WRONG if slug not in tracks]:
        raise Failed(
            f"the catalogue of this checkout has no {', '.join(missing)}, which the demo judges. Put it back; for a "
            "catalogue of your own, `grader challenge new NAME` makes a challenge and `make up` shows it."
        )
    print(f"The catalogue has {len(tracks)} challenges in {len(set(tracks.values()))} tracks. Judged here:")
    for slug in WRONG:
        print(f"  {slug:<12} ({tracks[slug]})")
    print()


def say_what_boxes(env: Mapping[str, str]) -> None:
    kind, why = boxes(env)
    if kind != "local":
        print(f"Kernels run in {kind} boxes: no network, no capabilities, read-only.")
        return
    print("WARNING: kernels run as plain processes of this machine ('local' boxes), which hold nobody back.")
    print(f"         {why}")


def judge_all(env: Mapping[str, str], wanted: list[Entry]) -> list[Result]:
    """A few ahead of their judging."""
    ids = [submit(env, entry) for entry in wanted[:OPEN]]
    results = []
    for entry in wanted:
        print(f"judging    {entry.slug:<12} {entry.name}", flush=True)
        results.append(follow(env, entry, ids[len(results)]))
        if len(ids) < len(wanted):
            ids.append(submit(env, wanted[len(ids)]))
    return results


def submit(env: Mapping[str, str], entry: Entry) -> str:
    view = json.loads(grader(env, "submit", str(entry.file), "-c", entry.slug, "--json"))
    print(f"submitted  {entry.slug:<12} {entry.name:<32} {view['id']}", flush=True)
    return str(view["id"])


def follow(env: Mapping[str, str], entry: Entry, submission: str) -> Result:
    """Whether its end was expected."""
    watch = ["watch", submission, "--timeout", f"{VERDICT_SECONDS:.0f}", "--json"]
    answer = subprocess.run([*GRADER, *watch], env=env, stdout=subprocess.PIPE, text=True, check=False)
    try:
        report = json.loads(answer.stdout.splitlines()[-1])["report"]
    except (ValueError, LookupError):
        report = {}
    result = Result(entry, report)
    mark = "as expected" if result.expected else f"EXPECTED {entry.expected}"
    print(f"  -> {result.verdict} ({mark}){reason(report)}\n", flush=True)
    return result


def reason(report: Mapping[str, object]) -> str:
    """In one line."""
    cases = report.get("cases")
    failing = [case for case in cases if case["verdict"] != "accepted"] if isinstance(cases, list) else []
    told = f"{failing[0]['name']}: {failing[0]['detail']}" if failing else str(report.get("detail") or "")
    return f": {told.splitlines()[0]}" if told else ""


def print_results(env: Mapping[str, str], results: list[Result]) -> None:
    print("Verdicts")
    for result in results:
        score = result.report.get("score")
        cases = f"{score['passed']}/{score['total']} cases" if isinstance(score, dict) else ""
        mark = "ok " if result.expected else "BAD"
        print(f"  {mark} {result.entry.slug:<12} {result.entry.name:<32} {result.verdict:<14} {cases}")
    print("\nLeaderboards", flush=True)
    for slug in dict.fromkeys(result.entry.slug for result in results):
        print(grader(env, "leaderboard", slug))


if __name__ == "__main__":
    sys.exit(main())
