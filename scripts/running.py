"""A platform for the demo and benchmarks: `grader up` on a free loopback port, with temporary data."""

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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRADER = [sys.executable, "-m", "grader.cli.main"]
# Imports torch from a cold disk and builds the box image.
READY_SECONDS = 240.0
STOP_SECONDS = 30.0
# Unix socket paths have some 100 bytes.
LONGEST_DATA_PATH = 80


class Failed(Exception):
    """The text is the reason."""


@contextmanager
def environment(folder: Path) -> Iterator[dict[str, str]]:
    """``folder`` is emptied first; its data is removed afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    data = folder / "data"
    if len(bytes(data)) > LONGEST_DATA_PATH:
        data = Path(tempfile.mkdtemp(prefix="grader-"))
    ours = ("GRADER_BOX", "GRADER_SPARE_BOXES")  # a person's choices
    env = {
        name: value for name, value in os.environ.items() if name in ours or not name.startswith("GRADER_")
    }
    try:
        yield env | {"GRADER_DATA_DIR": str(data), "XDG_CONFIG_HOME": str(folder / "config")}
    finally:
        shutil.rmtree(data, ignore_errors=True)


@contextmanager
def platform(env: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Yields the address once everything answers. Output: ``folder``/platform.log."""
    ready, log = folder / "ready.json", folder / "platform.log"
    command = [*GRADER, "up", "--port", "0", "--host", "127.0.0.1", "--ready-file", str(ready)]
    began = time.monotonic()
    with log.open("wb") as output:
        up = subprocess.Popen(
            command, env=env, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
    try:
        while not ready.exists():
            if up.poll() is not None or time.monotonic() - began > READY_SECONDS:
                words = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
                raise Failed(f"the platform did not start; its words ({log}):\n{words}")
            time.sleep(0.05)
        yield str(json.loads(ready.read_text())["url"])
    finally:
        up.send_signal(signal.SIGTERM)
        try:
            up.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            up.kill()
            up.wait()


def sign_in(env: Mapping[str, str], url: str, name: str) -> None:
    """Keep a token in the environment's config folder."""
    password = secrets.token_urlsafe(12)
    grader(env, "user", "add", name, "--password-stdin", stdin=f"{password}\n")
    grader(env, "login", "--server", url, "--name", name, "--password-stdin", stdin=f"{password}\n")


def grader(env: Mapping[str, str], *arguments: str, stdin: str = "") -> str:
    """Returns stdout. Raises Failed with the command's words."""
    ran = subprocess.run(
        [*GRADER, *arguments], env=env, input=stdin, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise Failed(
            f"`grader {' '.join(arguments)}` failed ({ran.returncode}): {ran.stderr.strip() or ran.stdout}"
        )
    return ran.stdout


def boxes(env: Mapping[str, str]) -> tuple[str, str]:
    """Such as ``docker``, and why."""
    if env.get("GRADER_BOX") in ("docker", "bubblewrap", "local"):
        return env["GRADER_BOX"], "GRADER_BOX says so"
    findings = json.loads(grader(env, "doctor", "--json"))["findings"]
    docker, wrapped = (
        next(finding for finding in findings if finding["name"] == name) for name in ("docker", "bubblewrap")
    )
    if docker["mark"] != "missing":
        return "docker", str(docker["text"])
    usable = str(wrapped["text"]).startswith("bubblewrap: ")
    return ("bubblewrap" if usable else "local"), f"{docker['text']} {wrapped['text']}"
