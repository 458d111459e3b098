"""Finding GPUs, and what of one a box is given. (Boxes that really have one are in tests/gpu.)"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.errors import BoxUnavailable
from grader.sandbox import container, gpu, gpu_access, local_box
from grader.sandbox.box import BoxSpec, Purpose
from grader.sandbox.engine_facts import EngineFacts
from grader.sandbox.gpu import Gpu, find_gpus

ONE = Gpu(1, "GPU-b", ("/dev/nvidia1", "/dev/nvidiactl"), "NVIDIA H200")


def fake_driver(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_gpus_are_found_by_number_and_uuid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "0, GPU-a, NVIDIA H200\\n1, GPU-b, NVIDIA H200, with a comma\\nNo devices were found\\n"
    fake_driver(tmp_path, monkeypatch, f"printf '{lines}'")
    monkeypatch.setattr(gpu, "_minors", lambda: {"GPU-a": 1, "GPU-b": 0})
    monkeypatch.setattr(Path, "exists", lambda path: path.name in ("nvidia0", "nvidia1", "nvidiactl"))
    assert find_gpus() == [
        Gpu(0, "GPU-a", ("/dev/nvidia1", "/dev/nvidiactl"), "NVIDIA H200"),
        Gpu(1, "GPU-b", ("/dev/nvidia0", "/dev/nvidiactl"), "NVIDIA H200, with a comma"),
    ]


@pytest.mark.parametrize("script", ["exit 9", "echo No devices were found; exit 6", "echo"])
def test_a_driver_that_does_not_answer_means_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    fake_driver(tmp_path, monkeypatch, script)
    assert find_gpus() == []


def test_no_driver_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", missing)
    assert find_gpus() == []


def test_a_box_is_given_one_gpu_or_none() -> None:
    with_one, without = BoxSpec(Purpose.RUN, gpu=ONE), BoxSpec(Purpose.COMPILE)
    assert gpu_access.device_files(with_one) == [
        "/dev/nvidia1:/dev/nvidia1:rw",
        "/dev/nvidiactl:/dev/nvidiactl:rw",
    ]
    assert gpu_access.device_files(without) == []
    for environment in (container.environment, lambda spec: local_box.environment(spec, "/home")):
        assert environment(with_one)["CUDA_VISIBLE_DEVICES"] == "GPU-b"
        assert environment(without)["CUDA_VISIBLE_DEVICES"] == ""


def test_by_cdi_a_box_asks_for_its_gpu_by_uuid_and_gets_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gpu_access.VARIABLE, "cdi")
    with_one = BoxSpec(Purpose.RUN, gpu=ONE)
    assert gpu_access.device_files(with_one) == []
    (request,) = gpu_access.device_requests(with_one)
    assert (request["Driver"], request["DeviceIDs"]) == ("cdi", ["nvidia.com/gpu=GPU-b"])
    assert gpu_access.device_requests(BoxSpec(Purpose.COMPILE)) == []


def test_an_engine_without_cdi_is_refused_with_a_fix() -> None:
    old, new = EngineFacts.of({}), EngineFacts.of({"CDISpecDirs": ["/etc/cdi"]})
    gpu_access.check_access("nodes", old)
    gpu_access.check_access("cdi", new)
    with pytest.raises(BoxUnavailable, match="Container Device Interface"):
        gpu_access.check_access("cdi", old)
    with pytest.raises(BoxUnavailable, match="toolkit"):
        gpu_access.check_access("toolkit", new)
