"""Triton finds the kernels that were compiled ahead, and nothing depends on how a source treats that box."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from grader import limits
from grader.judge.runner_client import sealed
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.triton import KernelsRequest, compile_ahead, packed, unpacked
from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT

# Two kernels for each kind of n.
SOURCE = """
import os
import torch
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, 2 * tl.load(x + places, places < n), places < n)

def solve(x, out, n):
    if n == 0:
        raise ValueError("nothing to do")
    if n == 13:
        os._exit(1)
    own = torch.empty(n, dtype=x.dtype, device="cuda")
    twice[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, own, n)
    torch.cuda.synchronize()
"""
# Loads the source like a runner on a GPU, and fails if a kernel of ``calls`` is not in the cache.
FINDS = """
import json, sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
source, calls = json.loads(sys.argv[2])
import compile_triton
compile_triton.prepare()
compile_triton.use_driver(90)
from triton.backends.nvidia.compiler import CUDABackend
from triton_loader import load_submission
def compiled(*_, **__):
    raise SystemExit("a kernel was compiled")
CUDABackend.make_ttir = staticmethod(compiled)
message = {"source": source, "parameters": ["x", "out", "n"], "declaration": ""}
make = load_submission(message, [int(sys.argv[3])])
with compile_triton.on_host():
    for call in calls:
        make(SimpleNamespace(tensors=lambda: dict(enumerate(compile_triton.arguments(call)))))()
"""


def request(*sizes: int) -> KernelsRequest:
    def call(size: int) -> tuple[dict[str, object], ...]:
        array = {"dtype": "float32", "shape": [size]}
        return (array, array, {"value": size})

    return KernelsRequest(SOURCE, ("x", "out", "n"), "", tuple(map(call, sizes)), "sm_90a")


@pytest.fixture
def runner_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make them importable, as in a box."""
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))


def _find(
    program: str, archive: int, known: KernelsRequest, folder: Path
) -> subprocess.CompletedProcess[str]:
    box = {"TMPDIR": str(folder), "TRITON_CACHE_DIR": str(folder / "elsewhere")}
    words = [str(PROGRAMS[RUNNER_MOUNT]), json.dumps([SOURCE, known.calls]), str(archive)]
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(
        command, env=box, pass_fds=[archive], check=False, timeout=120, capture_output=True, text=True
    )


@pytest.mark.docker
def test_kernels_compiled_before_a_crash_are_found(
    docker_boxes: BoxMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "KERNELS_SECONDS", 60.0)  # on a busy host
    # One size fails, each of the others has two kernels, and 13 ends the box.
    found = unpacked(compile_ahead(docker_boxes, request(0, 1000, 1024, 1, 13, 2048)))
    assert found
    with sealed(found) as archive:
        run = _find(FINDS, archive, request(1000, 1024, 1, 500, 2048), tmp_path)
    assert run.returncode == 0, run.stderr


# Catches the exception that ends its calls.
DEAF = """
def solve(x, out, n):
    while n == 13:
        try:
            time.sleep(60)
        except BaseException:
            pass
    call(x, out, n)
"""


def test_an_endless_source_is_stopped(local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KERNELS_SECONDS", 0.2)
    endless = replace(request(1000), source="while True:\n    pass\n")
    assert compile_ahead(local_boxes, endless) == b""


def test_a_source_that_ignores_signals_is_stopped(
    local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects a CUDA source that waits behind it. Kernels compiled before that are kept."""
    monkeypatch.setattr(limits, "KERNELS_SECONDS", 5.0)
    source = "import time\n" + SOURCE.replace("def solve", "def call") + DEAF
    began = time.monotonic()
    assert unpacked(compile_ahead(local_boxes, replace(request(1000, 13), source=source)))
    assert time.monotonic() - began < 60


@pytest.mark.docker
def test_leftover_processes_are_not_waited_for(docker_boxes: BoxMaker) -> None:
    """A forked process holds the pipe, and has no time limit of ours."""
    source = SOURCE.replace("    own = torch", "    os.fork() or time.sleep(600)\n    own = torch")
    began = time.monotonic()
    assert unpacked(compile_ahead(docker_boxes, replace(request(1000), source="import time\n" + source)))
    assert time.monotonic() - began < 120


def test_a_file_that_vanishes_while_packing_is_left_out(
    runner_modules: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triton's temporary files: a launcher has another name until it is complete."""
    import kernel_cache

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "it.cubin").write_bytes(b"code")
    names = ["half.so", "it.cubin", "unreadable"]
    (tmp_path / "kernel" / "unreadable").mkdir()
    monkeypatch.setattr(kernel_cache.os, "walk", lambda _: [(str(tmp_path / "kernel"), [], names)])
    packed = io.BytesIO()
    pack = kernel_cache.Pack(packed, 1000)
    pack.add_new()
    pack.close()
    with tarfile.open(fileobj=io.BytesIO(packed.getvalue())) as archive:
        assert archive.getnames() == ["kernel/it.cubin"]


def test_a_damaged_archive_fails_nothing(
    runner_modules: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kernel_cache

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("kernel/..", "kernel/it.cubin"):
            archive.addfile(tarfile.TarInfo(name))
    packed.seek(0)
    kernel_cache.unpack(packed)
    assert (tmp_path / "kernel" / "it.cubin").exists()


def test_another_triton_version_ignores_the_kernels(local_boxes: BoxMaker, tmp_path: Path) -> None:
    """Stored kernels are keyed without Triton's version: boxes of one platform may have different ones."""
    made = unpacked(compile_ahead(local_boxes, request(1000)))
    with sealed(made) as archive:
        run = _find("import triton; triton.__version__ = '3.0'\n" + FINDS, archive, request(1000), tmp_path)
    assert "a kernel was compiled" in run.stderr


def test_tuning_results_without_a_gpu_are_not_kept(local_boxes: BoxMaker) -> None:
    """Otherwise a kernel that caches its tuning would get its first configuration on the GPU, fastest or not."""
    source = SOURCE.replace('key=["n"]', 'key=["n"], cache_results=True')
    found = unpacked(compile_ahead(local_boxes, replace(request(1000), source=source)))
    with tarfile.open(fileobj=io.BytesIO(found)) as archive:
        names = archive.getnames()
    assert sum(name.endswith(".cubin") for name in names) == 2
    assert not [name for name in names if "autotune" in name]


def test_the_stored_archive_is_bounded() -> None:
    assert packed(b"\0" * 10240) == b""
    assert unpacked(packed(b"some files")) == b"some files"
    assert unpacked(b"no archive") == b""
    assert unpacked(packed(b"1" + b"\0" * limits.ARTEFACT_BYTES)) == b""
