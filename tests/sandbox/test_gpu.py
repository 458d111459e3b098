"""Finding GPUs, and the part of one that a box gets. (Boxes with a real one are in tests/gpu.)"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.errors import BoxUnavailable
from grader.sandbox import container, enclosure, gpu, local_box, options
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.docker_engine import EngineFacts
from grader.sandbox.gpu import Gpu, GpuKind, find_gpus

ONE = Gpu(1, "GPU-b", ("/dev/nvidia1", "/dev/nvidiactl"), "NVIDIA H200")


def fake_driver(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_gpus_are_found_by_number_and_uuid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "0, GPU-a, NVIDIA H200\\n1, GPU-b, NVIDIA H200, with a comma\\nNo devices were found\\n"
    fake_driver(tmp_path, monkeypatch, f"printf '{lines}'")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpu, "_minors", lambda: {"GPU-a": 1, "GPU-b": 0})
    monkeypatch.setattr(Path, "exists", lambda path: path.name in ("nvidia0", "nvidia1", "nvidiactl"))
    assert find_gpus() == [
        Gpu(0, "GPU-a", ("/dev/nvidia1", "/dev/nvidiactl"), "NVIDIA H200"),
        Gpu(1, "GPU-b", ("/dev/nvidia0", "/dev/nvidiactl"), "NVIDIA H200, with a comma"),
    ]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, [0, 1, 2]),
        ("2,0", [2, 0]),
        ("GPU-b", [1]),
        ("GPU-aa", [0]),
        ("GPU-a", []),  # the beginning of two names
        ("0,7,1", [0]),
        ("-1,0", []),
        ("", []),
        ("MIG-GPU-b/1/2", []),
    ],
)
def test_only_visible_gpus_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str | None, found: list[int]
) -> None:
    """Protects other people's GPUs on a shared host."""
    lines = "0, GPU-aa, NVIDIA H200\\n1, GPU-b, NVIDIA H200\\n2, GPU-ac, NVIDIA H200\\n"
    fake_driver(tmp_path, monkeypatch, f"printf '{lines}'")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if wanted is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", wanted)
    assert [gpu.index for gpu in find_gpus()] == found


@pytest.mark.parametrize("script", ["exit 9", "echo No devices were found; exit 6", "echo"])
def test_a_silent_driver_means_no_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    fake_driver(tmp_path, monkeypatch, script)
    assert find_gpus() == []


def test_no_driver_means_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", missing)
    assert find_gpus() == []


def test_a_box_is_given_one_gpu_or_none() -> None:
    with_one, without = BoxSpec(BoxPurpose.RUN, gpu=ONE), BoxSpec(BoxPurpose.COMPILE)
    assert options.device_files(options.NODES, with_one) == [
        "/dev/nvidia1:/dev/nvidia1:rw",
        "/dev/nvidiactl:/dev/nvidiactl:rw",
    ]
    assert options.device_files(options.NODES, without) == []
    for environment in (container.environment, lambda spec: local_box.environment(spec, "/home")):
        assert environment(with_one)["CUDA_VISIBLE_DEVICES"] == "GPU-b"
        assert environment(without)["CUDA_VISIBLE_DEVICES"] == ""


def test_by_cdi_a_box_asks_for_its_gpu_by_uuid_and_gets_no_files() -> None:
    with_one = BoxSpec(BoxPurpose.RUN, gpu=ONE)
    assert options.device_files(options.CDI, with_one) == []
    (request,) = options.device_requests(options.CDI, with_one)
    assert (request["Driver"], request["DeviceIDs"]) == ("cdi", ["nvidia.com/gpu=GPU-b"])
    assert options.device_requests(options.CDI, BoxSpec(BoxPurpose.COMPILE)) == []


def test_a_box_is_given_several_gpus_that_are_used_together() -> None:
    other = Gpu(2, "GPU-c", ("/dev/nvidia2", "/dev/nvidiactl"), "NVIDIA H200")
    both = BoxSpec(BoxPurpose.RUN, gpu=gpu.together([ONE, other]))
    nodes = ["/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia2"]
    assert options.device_files(options.NODES, both) == [f"{node}:{node}:rw" for node in nodes]
    (request,) = options.device_requests(options.CDI, both)
    assert request["DeviceIDs"] == ["nvidia.com/gpu=GPU-b", "nvidia.com/gpu=GPU-c"]
    assert container.environment(both)["CUDA_VISIBLE_DEVICES"] == "GPU-b,GPU-c"
    bound = list(enclosure._dev(both.gpu, 0))
    assert [bound[place + 1] for place, word in enumerate(bound) if word == "--dev-bind"][-3:] == nodes


def test_an_engine_without_cdi_is_refused_with_a_fix() -> None:
    old, new = EngineFacts.of({}), EngineFacts.of({"CDISpecDirs": ["/etc/cdi"]})
    options.check_gpu_access("nodes", old)
    options.check_gpu_access("cdi", new)
    with pytest.raises(BoxUnavailable, match="Container Device Interface"):
        options.check_gpu_access("cdi", old)
    with pytest.raises(BoxUnavailable, match="toolkit"):
        options.check_gpu_access("toolkit", new)


OTHER = GpuKind(
    name="other",
    find=lambda: [Gpu(0, "OTHER-1", ("/dev/other0",), "Other X1", "other")],
    driver_version=lambda: "1.2",
    visible="OTHER_VISIBLE_DEVICES",
    cdi="other.example/gpu",
    system=("/sys/module/other",),
    owns=lambda folder, gpu: False,
    library="libother.so.1",
    libraries=("libother*.so*",),
)


def test_boxes_support_another_gpu_kind_from_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(gpu._table, "other", OTHER)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError))
    (found,) = find_gpus()
    spec = BoxSpec(BoxPurpose.RUN, gpu=found)
    assert options.device_files(options.NODES, spec) == ["/dev/other0:/dev/other0:rw"]
    for given, nvidia, other in ((found, "", "OTHER-1"), (ONE, "GPU-b", ""), (None, "", "")):
        told = gpu.box_environment(given)
        assert told == {"CUDA_VISIBLE_DEVICES": nvidia, "OTHER_VISIBLE_DEVICES": other}
    assert "/sys/module/other" in enclosure._gpu_paths(found)
    assert "/sys/module/nvidia" not in enclosure._gpu_paths(found)
    assert "/sys/module/nvidia" in enclosure._gpu_paths(ONE)
