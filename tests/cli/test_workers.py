"""`grader worker`: chosen GPUs, started children, refusals. A fake nvidia-smi lists the GPUs."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.cli import processes, workers
from grader.judge.round_costs import Machine, RoundCosts
from grader.queue import worker as queue_worker
from grader.queue.gpu_lock import hold
from grader.sandbox.gpu import Gpu
from grader.settings import Settings
from tests.cli.conftest import Cli
from tests.cli.stub import Stub
from tests.queue.gpus import H200, SECOND, T4, fake_smi

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a platform runs on Linux")


@pytest.fixture
def gpus(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fake three GPUs on this machine; returns the folder of their locks."""
    monkeypatch.setenv("PATH", f"{fake_smi(home / 'bin', H200, SECOND, T4)}:{os.environ['PATH']}")
    monkeypatch.setenv("GRADER_LOCK_DIR", str(home / "locks"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return home / "locks"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Gpu | None]]:
    """Records the boards, and "compile", that `grader worker` would serve."""
    calls: list[tuple[str, Gpu | None]] = []

    def run_worker(settings: Settings, gpu: Gpu | None = None, **_: Any) -> None:
        calls.append((settings.device, gpu))

    def run_compile_worker(settings: Settings, **_: Any) -> None:
        calls.append(("compile", None))

    monkeypatch.setattr(queue_worker, "run_worker", run_worker)
    monkeypatch.setattr(queue_worker, "run_compile_worker", run_compile_worker)
    return calls


def _uuids(calls: list[tuple[str, Gpu | None]]) -> list[str | None]:
    return [gpu.uuid if gpu else None for _, gpu in calls]


@pytest.mark.parametrize(
    ("args", "setting", "uuid"),
    [
        ((), "", None),
        ((), "none", None),
        (("--device", "cpu"), "all", None),
        (("--gpu", "1"), "", SECOND.uuid),
        (("--gpu", T4.uuid), "none", T4.uuid),
        ((), "0", H200.uuid),
    ],
)
def test_a_worker_serves_the_chosen_gpus(
    cli: Cli,
    gpus: Path,
    served: list[tuple[str, Gpu | None]],
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    setting: str,
    uuid: str | None,
) -> None:
    monkeypatch.setenv("GRADER_GPU", setting)
    assert cli("worker", *args).code == 0
    assert _uuids(served) == [uuid]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--gpu", "0", "--device", "h200"), "names the board"),
        (("--device", "h200"), "--gpu N"),
        (("--gpu", "7"), "There is no GPU '7'"),
    ],
)
def test_bad_options_are_refused(
    cli: Cli, gpus: Path, served: list[tuple[str, Gpu | None]], args: tuple[str, ...], said: str
) -> None:
    ran = cli("worker", *args)
    assert ran.code == 2
    assert said in ran.err
    assert served == []


def test_a_machine_without_gpus_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.queue.gpus.find_gpus", list)
    for args in (("--gpu", "all"), ("--calibrate",)):
        ran = cli("worker", *args)
        assert ran.code == 4
        assert "No NVIDIA GPU was found" in ran.err


def test_gpu_all_names_the_process_that_holds_a_gpu(cli: Cli, gpus: Path) -> None:
    with hold(SECOND.uuid, gpus):
        ran = cli("worker", "--gpu", "all")
    assert ran.code == 2
    assert f"GPU {SECOND.uuid} is already in use: process {os.getpid()} holds it." in ran.err


def test_up_takes_every_gpu_that_is_free(gpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_up(gpu: str) -> list[Gpu]:
        return workers.gpus_of_up(Settings(gpu=gpu, lock_dir=gpus))[0]

    assert [gpu.uuid for gpu in of_up("")] == [H200.uuid, SECOND.uuid, T4.uuid]
    assert [gpu.uuid for gpu in of_up("2")] == [T4.uuid]
    assert of_up("none") == []
    with hold(T4.uuid, gpus):
        found, remarks = workers.gpus_of_up(Settings(lock_dir=gpus))
    assert [gpu.uuid for gpu in found] == [H200.uuid, SECOND.uuid]
    assert re.search(rf"{T4.uuid} is already in use: process {os.getpid()}", remarks[0])
    monkeypatch.setattr("grader.sandbox.gpu.find_gpus", list)
    assert of_up("") == []


def test_hidden_gpus_are_not_served(
    cli: Cli, gpus: Path, served: list[tuple[str, Gpu | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert cli("worker", "--gpu", "all").code == 0
    assert _uuids(served) == [SECOND.uuid]
    assert [gpu.uuid for gpu in workers.gpus_of_up(Settings(lock_dir=gpus))[0]] == [SECOND.uuid]
    ran = cli("worker", "--gpu", "0")
    assert ran.code == 2
    assert "CUDA_VISIBLE_DEVICES hides others" in ran.err


def test_calibrate_prints_the_ceilings(cli: Cli, gpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def calibrate(_settings: Settings, gpu: Gpu) -> dict[str, float]:
        measured.append(gpu.uuid)
        return {"bandwidth": 4.1e12, "rate:float16": 7.57e14}

    monkeypatch.setattr("grader.queue.calibrate.calibrate", calibrate)
    ran = cli("worker", "--calibrate", "--gpu", "0,2")
    assert (ran.code, measured) == (0, [H200.uuid, T4.uuid])
    for line in (
        "0 NVIDIA H200",
        "copy bandwidth",
        "4.1 TB/s",
        "matmul, float16",
        "757 Tflop/s",
        "2 Tesla T4",
    ):
        assert line in ran.out


def test_round_costs_are_shown_and_can_be_forgotten(cli: Cli, home: Path, gpus: Path) -> None:
    def kept(gpu: Gpu, *strays: float) -> RoundCosts:
        costs = RoundCosts(Machine(gpu.uuid, gpu.name, "570.86"), home / "data")
        for cost in [305e-6] * 6 + list(strays):
            costs.note("vector_add 1: 2^28", cost)
        return costs

    def shown() -> list[tuple[str, str]]:
        findings = json.loads(cli("doctor", "--json").out)["findings"]
        return [
            (finding["level"], finding["text"])
            for finding in findings
            if finding["name"] == "cost of a round"
        ]

    assert "No cost of a round is stored" in cli("worker", "--forget-costs").err
    judges = kept(H200, 445e-6), kept(SECOND)
    (ill, first), (well, second) = shown()
    assert (well, ill) == ("ok", "missing")
    assert f"{SECOND.uuid}: 305.0 us; a time is ranked from 290 to 320 us" in second
    assert first.endswith("the last 1 were outside this range")
    assert H200.uuid in cli("worker", "--forget-costs", "--gpu", "0").err
    assert [text for _, text in shown()] == [second]
    assert [judge.is_usual(445e-6) for judge in judges] == [True, False]


def test_doctor_shows_alerts_of_an_unhealthy_server(cli: Cli, server: Stub) -> None:
    alert = {"text": "The h200 GPU is out of service: Xid 79", "hint": "See what nvidia-smi says."}
    parts = {"workers": {"ok": False, "detail": "h200: 0 alive"}}
    server.answers["GET /api/v1/health"] = (
        503,
        json.dumps({"ok": False, "version": "1", "parts": parts, "devices": [], "alerts": [alert]}).encode(),
        {},
    )
    findings = json.loads(cli("doctor", "--json").out)["findings"]
    (found,) = [finding for finding in findings if finding["name"] == "alert"]
    assert (found["mark"], found["text"], found["hint"]) == ("missing", alert["text"], alert["hint"])
    (itself,) = [finding for finding in findings if finding["name"] == "server"]
    assert "h200: 0 alive" in itself["text"]
    assert "Xid 79" in cli("doctor").out


@pytest.mark.parametrize(("args", "setting"), [((), ""), ((), "none"), (("--gpu", "none"), "all")])
def test_a_host_can_compile_only(
    cli: Cli,
    served: list[tuple[str, Gpu | None]],
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    setting: str,
) -> None:
    monkeypatch.setenv("GRADER_GPU", setting)
    assert cli("worker", "--compile", "1", *args).code == 0
    assert served == [("compile", None)]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("--gpu", "0", "--compile", "2"), ["worker of GPU 0", "compile worker 1", "compile worker 2"]),
        (("--device", "cpu", "--compile", "1"), ["worker 1", "compile worker 1"]),
        (("--compile", "2"), ["compile worker 1", "compile worker 2"]),
        (("--gpu", "0,2"), ["worker of GPU 0", "worker of GPU 2"]),
    ],
)
def test_several_compilers_are_separate_processes(
    cli: Cli, gpus: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], expected: list[str]
) -> None:
    started: list[str] = []

    class Ended:
        returncode = 0

        def poll(self) -> int:
            return 0

    class Started(processes.ChildProcess):
        def __init__(self, name: str, start: Any) -> None:
            started.append(name)
            self.process = Ended()  # type: ignore[assignment]

        def ask_to_end(self) -> None: ...

        def end(self, deadline: float) -> None: ...

    monkeypatch.setattr(workers, "ChildProcess", Started)
    assert cli("worker", "--burst", *args).code == 0
    assert started == expected


@pytest.mark.parametrize(
    ("gpus_here", "cores", "nvcc", "expected"),
    [(0, 16, "13.0", 0), (1, 12, "13.0", 2), (1, 1, "13.0", 1), (4, 48, "13.0", 8), (2, 12, None, 0)],
)
def test_the_number_of_compilers_suits_gpus_and_cores(
    monkeypatch: pytest.MonkeyPatch, gpus_here: int, cores: int, nvcc: str | None, expected: int
) -> None:
    monkeypatch.setattr("grader.sandbox.processor.background_cores", lambda: tuple(range(cores)))
    monkeypatch.setattr("grader.sandbox.toolkit.nvcc_version", lambda: nvcc)
    assert workers.default_compilers(gpus_here) == expected


def test_a_host_without_a_compiler_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_worker, "nvcc_version", lambda: None)
    ran = cli("worker", "--compile", "1")
    assert ran.code == 4
    assert "no CUDA compiler" in ran.err


def test_help_lists_gpu_options(cli: Cli) -> None:
    assert "--gpu" in cli("worker", "--help").out
    assert "--calibrate" in cli("worker", "--help").out
    assert "--gpu" in cli("up", "--help").out
    for command in ("worker", "up"):
        assert "--compile" in cli(command, "--help").out
