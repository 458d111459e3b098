"""The contents of the images, and the boxes that start from one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.errors import BoxUnavailable
from grader.sandbox import docker_box
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.compiler.nvcc import CompileRequest, cache, compile_cuda
from grader.sandbox.options import SandboxOptions
from grader.sandbox.toolkit import nvcc_version
from tests.images.made import REVISION, VERSION, Images, run
from tests.sandbox import talk
from tests.sandbox.talk import ask

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]

Start = Callable[..., Box]
OURS = ("server", "worker", "box")


def settings_of(tag: str) -> dict[str, Any]:
    return dict(json.loads(run("docker", "inspect", tag))[0]["Config"])


def shell(tag: str, script: str) -> str:
    safe = (
        "--rm",
        "--read-only",
        "--network",
        "none",
        "--cap-drop",
        "ALL",
        "--tmpfs",
        "/tmp",
        "--entrypoint",
        "sh",
    )
    return run("docker", "run", *safe, tag, "-c", script)


@pytest.mark.parametrize("which", OURS)
def test_images_are_labelled_and_do_not_run_as_root(images: Images, which: str) -> None:
    config = settings_of(getattr(images, which))
    labels = config["Labels"]
    assert labels["org.opencontainers.image.title"] == f"grader {which}"
    assert labels["org.opencontainers.image.version"] == VERSION
    assert labels["org.opencontainers.image.revision"] == REVISION
    assert config["User"] not in ("", "root", "0")


@pytest.mark.parametrize("which", ["server", "worker"])
def test_images_have_the_command_line(images: Images, which: str) -> None:
    assert "leaderboard" in shell(getattr(images, which), "grader --help")


def test_the_web_image_has_neither_torch_nor_a_compiler(images: Images) -> None:
    found = shell(images.server, "python3 -c 'import torch' 2>&1; command -v gcc nvcc; true")
    assert found.strip().splitlines()[-1] == "ModuleNotFoundError: No module named 'torch'"


def test_the_worker_image_has_the_emulated_gpu_and_a_compiler(images: Images) -> None:
    code = (
        "from grader.sandbox import emulator, toolkit; from grader.sandbox.emulator.engine import Engine; "
        "Engine(1).close(); print(toolkit.nvcc_version(), emulator.origin())"
    )
    version, _, origin = shell(images.worker, f"python3 -c '{code}'").partition(" ")
    assert f"CUDA_VERSION={version}" in settings_of(images.box)["Env"]
    assert origin.startswith("prebuilt")


def test_a_box_has_nothing_of_the_platform(images: Images) -> None:
    script = "find / -xdev \\( -name 'grader*' -o -name hidden_cases.py -o -name challenge.toml \\) 2>/dev/null; true"
    assert shell(images.box, script) == ""
    assert "No module named" in shell(images.box, "python3 -c 'import grader' 2>&1; true")
    assert "No module named" in shell(images.box, "python3 -c 'import flask' 2>&1; true")


def test_images_hold_no_private_file_of_the_checkout(images: Images) -> None:
    script = "find / -xdev \\( -name .git -o -name '*.sqlite3' -o -name '.env' \\) 2>/dev/null; true"
    for which in OURS:
        assert shell(getattr(images, which), script) == ""


@pytest.fixture(scope="module")
def image_boxes(images: Images) -> Iterator[BoxMaker]:
    """A worker's boxes on this host that start from the image."""
    maker = docker_box.DockerBoxes(SandboxOptions(image=images.box))
    yield maker
    maker.close()


@pytest.fixture
def start(image_boxes: BoxMaker) -> Iterator[Start]:
    started: list[Box] = []

    def start_probe(**changes: Any) -> Box:
        started.append(image_boxes.start(BoxSpec(BoxPurpose.RUN, program="probe.py", **changes)))
        return started[-1]

    yield start_probe
    for box in started:
        box.kill()


def test_a_box_from_an_image_is_hardened(start: Start) -> None:
    box = start()
    seen = ask(box, "see")
    assert (seen["uid"], seen["gid"]) == (65534, 65534)
    assert {int(value, 16) for value in seen["capabilities"].values()} == {0}
    assert seen["no_new_privileges"]
    assert seen["seccomp"] == "2"
    assert seen["interfaces"] == ["lo"]
    folders = ["/", "/usr", "/opt", "/runner", "/sock", "/images", "/etc", "/dev/shm", "/tmp"]
    writable = ask(box, "can_write", folders=folders)["can_write"]
    assert [folder for folder, able in writable.items() if able is True] == ["/tmp"]


def test_a_box_can_build_and_load_tritons_launcher(start: Start) -> None:
    """Its launcher: a module for this Python, compiled by gcc into /tmp and loaded from there."""
    code = """
import importlib.util, subprocess, sysconfig
open("/tmp/one.c", "w").write('''
#include <Python.h>
static struct PyModuleDef made = {PyModuleDef_HEAD_INIT, "one", 0, -1, 0};
PyMODINIT_FUNC PyInit_one(void) { return PyModule_Create(&made); }
''')
include = sysconfig.get_paths()["include"]
subprocess.run(["gcc", "-shared", "-fPIC", f"-I{include}", "/tmp/one.c", "-o", "/tmp/one.so"], check=True)
spec = importlib.util.spec_from_file_location("one", "/tmp/one.so")
print(importlib.util.module_from_spec(spec).__name__)
"""
    assert talk.run(start(), code) == "one\n"


def test_compute_libraries_are_hidden_on_request(start: Start) -> None:
    code = """
import ctypes, glob
(library,) = glob.glob("/opt/toolchain/lib/python3*/site-packages/torch/lib/libc10.so")
try:
    ctypes.CDLL(library)
    print("loaded")
except OSError:
    print("refused")
"""
    assert talk.run(start(), code) == "loaded\n"
    assert talk.run(start(compute_libraries=False), code) == "refused\n"


def test_nvcc_compiles_in_the_image(image_boxes: BoxMaker) -> None:
    if nvcc_version() is None:
        pytest.skip("no nvcc beside the image's to hold it against")
    cache.clear()
    source = "__global__ void twice(float* x) { *x *= 2; }"
    entry = 'extern "C" __attribute__((visibility("default"))) int grader_entry() { return 0; }'
    result = compile_cuda(image_boxes, CompileRequest(source, entry))
    assert result.ok, result.log
    cache.clear()


def test_reports_name_the_image(image_boxes: BoxMaker) -> None:
    assert ", image " in image_boxes.about


def test_an_image_with_volumes_or_health_checks_is_refused(images: Images) -> None:
    """The server's image has a health check and a volume."""
    with pytest.raises(BoxUnavailable, match="Volumes, Healthcheck"):
        docker_box.DockerBoxes(SandboxOptions(image=images.server))


def test_a_missing_image_is_reported_by_name(images: Images) -> None:
    with pytest.raises(BoxUnavailable, match="grader-test/nobody"):
        docker_box.DockerBoxes(SandboxOptions(image="grader-test/nobody"))


def test_a_setting_can_come_from_a_file(images: Images, tmp_path: Path) -> None:
    (tmp_path / "grader_redis_url").write_text("redis://:word@redis:6379/0\n")
    (tmp_path / "grader_redis_url").chmod(0o444)
    tmp_path.chmod(0o755)
    code = "from grader.settings import Settings; print(Settings().redis_url)"
    mount = ("--volume", f"{tmp_path}:/run/secrets:ro")
    assert run(
        "docker", "run", "--rm", "--network", "none", *mount, images.server, "python3", "-c", code
    ) == ("redis://:word@redis:6379/0\n")
