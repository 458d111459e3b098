"""A platform started by `grader up`, for tests that use only commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.patience import pause

# Far more than a loaded machine needs; only a failure waits that long.
PATIENCE_SECONDS = 240.0


@dataclass
class Up:
    process: subprocess.Popen[bytes]
    env: dict[str, str]
    folder: Path
    url: str = ""

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def cli(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*args),
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    def json(self, *args: str, code: int = 0, stdin: str = "") -> Any:
        ran = self.cli(*args, "--json", stdin=stdin)
        assert ran.returncode == code, ran.stderr + self.log
        return json.loads(ran.stdout)

    def children(self) -> dict[int, str]:
        parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
        below = {self.process.pid}
        while new := {pid for pid, parent in parents.items() if parent in below} - below:
            below |= new
        return {pid: _words(pid) for pid in below - {self.process.pid}}


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "grader.cli.main", *args]


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(true: Callable[[], Any], up: Up) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        began = time.monotonic()
        if value := true():
            return value
        assert time.monotonic() < deadline, f"it did not come true in time\n{up.log}"
        pause(began)


def start(folder: Path, *args: str) -> Up:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GRADER_")}
    env |= {
        "GRADER_DATA_DIR": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "NO_COLOR": "1",
        # Notice a killed worker soon, so its test is short.
        "GRADER_LEASE_S": "4",
        # Serve only the board cpu, even on a machine with GPUs.
        "GRADER_GPU": "none",
        "GRADER_HEARTBEAT_S": "1",
        "GRADER_SWEEP_S": "1",
    }
    words = command("up", "--port", "0", "--box", "local", "--ready-file", str(folder / "ready"), *args)
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            words, env=env, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
    return Up(process, env, folder)


def ready(up: Up) -> Up:
    def told() -> bool:
        assert up.process.poll() is None, up.log
        return (up.folder / "ready").exists()

    until(told, up)
    up.url = json.loads((up.folder / "ready").read_text())["url"]
    return up


def end(up: Up, kind: signal.Signals = signal.SIGTERM) -> int:
    if up.process.poll() is None:
        up.process.send_signal(kind)
    try:
        return up.process.wait(30)
    finally:
        if up.process.poll() is None:
            up.process.kill()
            up.process.wait()
