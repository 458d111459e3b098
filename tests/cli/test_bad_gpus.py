"""Bad GPUs, end to end: a fake nvidia-smi lists GPUs that CUDA cannot use."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.cli import workers
from grader.queue.gpu_lock import holder
from grader.sandbox.toolkit import nvcc_version
from tests.patience import pause
from tests.queue.gpus import H200, T4, fake_smi

PATIENCE_SECONDS = 120.0
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a platform runs on Linux")


def _settings_of(folder: Path) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GRADER_")}
    return clean | {
        "PATH": f"{fake_smi(folder / 'bin', H200, T4)}:{os.environ['PATH']}",
        "GRADER_DATA_DIR": str(folder / "data"),
        "GRADER_LOCK_DIR": str(folder / "locks"),
        "GRADER_BOX": "local",
        # CUDA has none of these, even on a machine with a GPU.
        "CUDA_VISIBLE_DEVICES": f"{H200.uuid},{T4.uuid}",
        "XDG_CONFIG_HOME": str(folder / "config"),
        "NO_COLOR": "1",
    }


def _until(true: Any, process: subprocess.Popen[bytes], log: Path) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        began = time.monotonic()
        if value := true():
            return value
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        pause(began)


@pytest.fixture
def short() -> Iterator[Path]:
    # Not pytest's own, whose path is too long for sockets (100 bytes).
    with tempfile.TemporaryDirectory(prefix="grader-gpu-") as path:
        yield Path(path)


@pytest.mark.in_turn
def test_the_platform_runs_despite_bad_gpus_and_reports_them(short: Path) -> None:
    """Protects against a platform that fails to start, or keeps quiet, because a GPU does not work."""
    env, log, ready = _settings_of(short), short / "log", short / "ready"
    command = [sys.executable, "-m", "grader.cli.main"]
    with log.open("wb") as file:
        up = subprocess.Popen(
            [*command, "up", "--port", "0", "--ready-file", str(ready)],
            env=env,
            stdout=file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    try:
        _until(ready.exists, up, log)
        env["GRADER_SERVER"] = json.loads(ready.read_text())["url"]

        def grader(*args: str, said: str = "") -> str:
            ran = subprocess.run(
                [*command, *args], env=env, input=said, capture_output=True, text=True, check=False
            )
            assert ran.returncode in (0, 4), ran.stderr  # 4: doctor found a missing part
            return ran.stdout

        def alerts() -> list[str]:
            findings = json.loads(grader("doctor", "--json"))["findings"]
            return [finding["text"] for finding in findings if finding["name"] == "alert"]

        def workers_told() -> str:
            with urllib.request.urlopen(f"{env['GRADER_SERVER']}/api/v1/health") as answer:
                return str(json.load(answer)["parts"]["workers"]["detail"])

        if nvcc_version() is not None:
            alive = f"compile: {workers.default_compilers(2)} alive"
            _until(lambda: alive in workers_told(), up, log)
        # One `doctor` takes seconds, so none runs before its answer can be there.
        for index in (0, 2):
            _until(lambda told=f"worker of GPU {index} ended": told in log.read_text(), up, log)
        # People outside staff see that there is an alert, but neither host nor GPU.
        (text,) = _until(alerts, up, log)
        assert "staff" in text
        assert "GPU" not in text
        password = json.loads(grader("user", "add", "teacher", "--role", "staff", "--json"))["password"]
        as_staff = ("--scope", "read,submit,staff", "--password-stdin")
        grader("login", "--name", "teacher", *as_staff, said=f"{password}\n")
        told = _until(lambda: len(found := alerts()) == 2 and found, up, log)
        assert any(f"h200 GPU {H200.uuid}" in text for text in told)
        assert any(f"t4 GPU {T4.uuid}" in text for text in told)
        _until(lambda: "worker of GPU 0 ended with exit code 4" in log.read_text(), up, log)
        up.send_signal(signal.SIGTERM)
        assert up.wait(30) == 0
    finally:
        up.kill()
        up.wait()


def test_a_worker_with_a_bad_gpu_exits_with_our_failure(short: Path) -> None:
    """Protects against blaming a submission for a bad GPU."""
    env = _settings_of(short) | {"GRADER_REDIS_URL": f"unix://{short}/none.sock"}
    ran = subprocess.run(
        [sys.executable, "-m", "grader.cli.main", "worker", "--gpu", "2"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 4, ran.stderr
    assert "GPU 2 is out of service" in ran.stderr
    assert f"grader worker --gpu {T4.uuid}" in ran.stderr


@pytest.mark.in_turn
def test_gpu_all_starts_a_worker_for_each_gpu_and_ends_them_together(short: Path) -> None:
    """Protects against a worker that survives `--gpu all` and holds its GPU."""
    env, log = _settings_of(short) | {"GRADER_REDIS_URL": f"unix://{short}/none.sock"}, short / "log"
    with log.open("wb") as file:
        parent = subprocess.Popen(
            [sys.executable, "-m", "grader.cli.main", "worker", "--gpu", "all"],
            env=env,
            stdout=file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
    try:
        for index in (0, 2):
            _until(lambda told=f"worker of GPU {index} ended": told in log.read_text(), parent, log)
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(30) == 0
    finally:
        parent.kill()
        parent.wait()
    for gpu in (H200, T4):
        assert holder(gpu.uuid, short / "locks") is None
