"""`make demo`: the whole platform once, for real, on this machine.

Starts a platform on a free loopback port with a data folder of its own, makes a student, submits a right and a
wrong kernel of every challenge through the command line and the queue, and prints verdicts and leaderboards. Exits 0
only if every verdict was the expected one. It is a script beside the package, not a command of it, because it submits
the staff's solutions and mutants, which only a checkout has; and it uses only what a person would type.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".demo"
GRADER = [sys.executable, "-m", "grader.cli.main"]
STUDENT = "ada"
# The first start imports torch from a cold disk and builds the box image.
READY_SECONDS = 240.0
VERDICT_SECONDS = 240.0
STOP_SECONDS = 30.0
# Unix socket paths must stay below some 100 bytes.
LONGEST_DATA_PATH = 80

# One mistake for each challenge that the interpreter on a CPU shows, too.
WRONG = {
    "vector_add": "tail_dropped.py",
    "matmul": "last_step_only.py",
    "softmax": "no_max_subtracted.py",
    "histogram": "not_cleared.py",
}


class DemoFailed(Exception):
    """The demo cannot go on; the text says why."""


@dataclass(frozen=True)
class Entry:
    """One submission and the verdict that it must get."""

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
        with data_folder() as data:
            env = {**os.environ, "GRADER_DATA_DIR": str(data), "XDG_CONFIG_HOME": str(FOLDER / "config")}
            for name in (
                "GRADER_SERVER",
                "GRADER_TOKEN",
                "GRADER_CHALLENGES",
                "GRADER_DATABASE_URL",
                "GRADER_REDIS_URL",
            ):
                env.pop(name, None)
            tell_boxes(env)
            with platform(env) as url:
                make_student(env, url)
                results = judge_all(env, entries())
                print_results(env, results)
    except DemoFailed as error:
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
    """A right and a wrong kernel of every challenge."""
    found = []
    for folder in sorted((ROOT / "challenges").iterdir()):
        if not (folder / "challenge.toml").exists():
            continue
        staff = ROOT / "reference" / folder.name / "staff"
        if folder.name not in WRONG:
            raise DemoFailed(f"scripts/demo.py names no wrong kernel for the challenge {folder.name}")
        found.append(Entry(folder.name, staff / "solution.py", "accepted"))
        found.append(Entry(folder.name, staff / "mutants" / WRONG[folder.name], "wrong_answer"))
    return found


@contextmanager
def data_folder() -> Iterator[Path]:
    """A fresh data folder, gone afterwards; the log of the platform stays in .demo."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    data = FOLDER / "data"
    if len(bytes(data)) > LONGEST_DATA_PATH:
        with tempfile.TemporaryDirectory(prefix="grader-demo-") as elsewhere:
            yield Path(elsewhere)
        return
    try:
        yield data
    finally:
        shutil.rmtree(data, ignore_errors=True)


def tell_boxes(env: Mapping[str, str]) -> None:
    findings = json.loads(run(env, "doctor", "--json"))["findings"]
    docker = next(finding for finding in findings if finding["name"] == "docker")
    if docker["mark"] == "missing":
        print(
            "WARNING: no usable Docker here, so kernels run as plain processes of this machine ('local' boxes)."
        )
        print(f"         {docker['text']}")
    else:
        print("Kernels run in Docker boxes: no network, no capabilities, read-only.")


@contextmanager
def platform(env: Mapping[str, str]) -> Iterator[str]:
    """`grader up` on a free port; yields its address and ends it afterwards."""
    ready, log = FOLDER / "ready.json", FOLDER / "platform.log"
    command = [*GRADER, "up", "--port", "0", "--host", "127.0.0.1", "--ready-file", str(ready)]
    began = time.monotonic()
    print("Starting Redis, web and worker ...", end=" ", flush=True)
    with log.open("wb") as output:
        up = subprocess.Popen(
            command, env=env, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
    try:
        while not ready.exists():
            if up.poll() is not None or time.monotonic() - began > READY_SECONDS:
                raise DemoFailed(f"the platform did not start; its words ({log}):\n{tail(log)}")
            time.sleep(0.1)
        url = str(json.loads(ready.read_text())["url"])
        print(f"ready at {url} after {time.monotonic() - began:.1f} s.")
        yield url
    finally:
        up.send_signal(signal.SIGTERM)
        try:
            up.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            up.kill()
            up.wait()


def make_student(env: Mapping[str, str], url: str) -> None:
    password = secrets.token_urlsafe(12)
    run(env, "user", "add", STUDENT, "--password-stdin", stdin=f"{password}\n")
    run(env, "login", "--server", url, "--name", STUDENT, "--password-stdin", stdin=f"{password}\n")
    print(f"Signed in as the student '{STUDENT}'.\n")


def judge_all(env: Mapping[str, str], wanted: list[Entry]) -> list[Result]:
    """Submit everything, then follow each to its end."""
    ids = []
    for entry in wanted:
        view = json.loads(run(env, "submit", str(entry.file), "-c", entry.slug, "--json"))
        ids.append(view["id"])
        print(f"submitted  {entry.slug:<12} {entry.name:<32} {view['id']}", flush=True)
    print()
    results = []
    for entry, submission in zip(wanted, ids, strict=True):
        print(f"judging    {entry.slug:<12} {entry.name}", flush=True)
        watch = ["watch", submission, "--timeout", f"{VERDICT_SECONDS:.0f}", "--json"]
        answer = subprocess.run([*GRADER, *watch], env=env, stdout=subprocess.PIPE, text=True, check=False)
        try:
            report = json.loads(answer.stdout)
        except ValueError:
            report = {}
        result = Result(entry, report)
        mark = "as expected" if result.expected else f"EXPECTED {entry.expected}"
        print(f"  -> {result.verdict} ({mark}){reason(report)}\n", flush=True)
        results.append(result)
    return results


def reason(report: Mapping[str, object]) -> str:
    """The first failing case, in one line."""
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
        print(run(env, "leaderboard", slug))


def run(env: Mapping[str, str], *arguments: str, stdin: str = "") -> str:
    """One `grader` command's stdout. Raises DemoFailed with its words when it fails."""
    ran = subprocess.run(
        [*GRADER, *arguments], env=env, input=stdin, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise DemoFailed(
            f"`grader {' '.join(arguments)}` failed ({ran.returncode}): {ran.stderr.strip() or ran.stdout}"
        )
    return ran.stdout


def tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-30:])


if __name__ == "__main__":
    sys.exit(main())
