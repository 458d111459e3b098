"""Metrics of a host without a web: one worker serves them all, and files of dead processes are removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader import metrics
from grader.metrics import host
from grader.settings import Settings
from tests.operations.requests import call
from tests.web import builders

# Counts of a worker and its judge, in a separate process, because a process fixes its folder of metrics once.
_COUNT = """
import sys
import time
from pathlib import Path
from grader import metrics
from grader.sandbox.box import BoxPurpose
from tests.web import builders
settings = builders.make_settings(Path(sys.argv[1]))
metrics.begin(settings)
metrics.box_started(BoxPurpose.RUN, 0.5, True)
metrics.box_started(BoxPurpose.COMPILE, 1.0, False)
metrics.judged(builders.accepted())
metrics.failed("cpu")
print("counted", *sorted(file.name for file in metrics.folder_of(settings).iterdir()))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return builders.make_settings(tmp_path)


def count(folder: Path) -> str:
    command = [sys.executable, "-c", _COUNT, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def test_counts_of_several_processes_are_summed(tmp_path: Path, settings: Settings) -> None:
    for _ in range(3):
        assert "counter_" in count(tmp_path)
    told = host.exposition(metrics.folder_of(settings)).decode()
    assert 'grader_box_start_seconds_count{purpose="run"} 3.0' in told
    assert 'grader_box_start_failures_total{purpose="compile"} 3.0' in told
    assert 'grader_judge_phase_seconds_count{device="cpu",phase="cases"} 3.0' in told
    assert 'grader_judge_failures_total{device="cpu"} 3.0' in told


def test_files_of_dead_processes_are_removed(tmp_path: Path, settings: Settings) -> None:
    count(tmp_path)
    folder = metrics.folder_of(settings)
    alive = folder / f"counter_{os.getpid()}.db"
    alive.write_bytes(b"")
    assert host.forget_dead(folder) == 2
    assert [path.name for path in folder.iterdir()] == [alive.name]


def test_folders_of_gone_hosts_are_removed(tmp_path: Path, settings: Settings) -> None:
    count(tmp_path)
    own = metrics.folder_of(settings)
    for name, days in (("counts", 0.5), ("gone", 2)):
        file = own.with_name(name) / "counter_1.db"
        file.parent.mkdir()
        file.write_bytes(b"")
        for path in (file, file.parent):
            os.utime(path, times=(time.time() - days * 86400,) * 2)
    # A mapped file is newer than its folder.
    os.utime(own.with_name("counts"), times=(1, 1))
    assert host.forget_gone_hosts(own) == 1
    assert sorted(path.name for path in own.parent.iterdir()) == sorted([own.name, "counts"])


def test_one_worker_serves_the_metrics_of_a_host(settings: Settings) -> None:
    folder = metrics.folder_of(settings)
    folder.mkdir(parents=True)
    assert host.serve(settings, folder) is None  # no port, no server
    count(settings.data_dir.parent)
    first = host.serve(settings.model_copy(update={"metrics_port": free_port()}), folder)
    assert first is not None
    try:
        assert host.serve(settings.model_copy(update={"metrics_port": first.port}), folder) is None
        answer = call(f"http://127.0.0.1:{first.port}/metrics")
        assert (answer.status, "grader_judge_failures_total" in answer.body) == (200, True)
    finally:
        first.close()


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_a_worker_runs_on_if_metrics_cannot_be_written(tmp_path: Path, settings: Settings) -> None:
    """As on a full disk."""
    folder = metrics.folder_of(settings)
    folder.mkdir(parents=True)
    program = _COUNT.replace(
        "metrics.begin(settings)", "metrics.begin(settings); metrics.folder_of(settings).rmdir()"
    )
    program = program.replace("print(", "print('still here') or (")
    command = [sys.executable, "-c", program, str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "still here" in ran.stdout, ran.stderr
