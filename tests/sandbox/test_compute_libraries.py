"""Libraries of ready-made kernels, which the box of a CUDA submission hides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.sandbox import compute_libraries, docker_box, image
from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.bubblewrap_box import BubblewrapBoxes
from grader.sandbox.compiler.nvcc import compile_spec
from tests.components import need
from tests.sandbox.talk import ask, run

Start = Callable[..., Box]

HIDDEN = (
    "lib64/libcublas.so.13.1.0 lib64/libcublasLt.so.13 lib64/libcublas_static.a lib64/libcudnn_ops.so.9 "
    "lib64/libcufft.so.12 lib64/stubs/libcusolver.so lib64/libnppif.so.13 site-packages/torch/lib/libtorch_cuda.so "
    "site-packages/torch/lib/libc10.so site-packages/nvidia/cu13/lib/libnccl.so.2"
).split()
SHOWN = (
    "lib64/libcudart.so.13 lib64/libnvrtc.so.13 lib64/libnvJitLink.so.13 lib64/libcuda.so.1 lib64/libcudadevrt.a "
    "lib64/libcupti.so.13 include/cublas_v2.h lib64/libnpth.so.0 lib64/libcublas.txt bin/ptxas nvvm/lib64/libnvvm.so.4"
).split()


def test_compute_libraries_are_recognised_by_name() -> None:
    assert [path for path in HIDDEN if not compute_libraries.is_one(Path(path).name)] == []
    assert [path for path in SHOWN if compute_libraries.is_one(Path(path).name)] == []


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Boxes that also see a complete toolkit. Its files are programs in name only."""
    for name in [*HIDDEN, *SHOWN]:
        (tmp_path / "cuda" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cuda" / name).write_text("content")
    (tmp_path / "cuda" / "lib64" / "libcublas.so").symlink_to("libcublas.so.13.1.0")
    for folder in (tmp_path / "cuda", *tmp_path.parents):
        if folder.stat().st_mode & 0o055 != 0o055 and folder.is_relative_to("/tmp"):
            folder.chmod(0o755)
    bound = image.layout().bound
    monkeypatch.setattr(image, "_bound_paths", lambda: (*bound, str(tmp_path / "cuda")))
    for cached in (image.layout, image.image_tag):
        cached.cache_clear()
    yield tmp_path / "cuda"
    for cached in (image.layout, image.image_tag):
        cached.cache_clear()


@pytest.fixture(params=["docker", "bubblewrap"])
def maker(request: pytest.FixtureRequest, toolkit: Path) -> Iterator[BoxMaker]:
    need(request.param)
    if request.param == "bubblewrap":
        made = BubblewrapBoxes()
        yield made
        made.close()
        return
    tag = image.build_from_host()
    docker = docker_box.DockerBoxes()
    yield docker
    docker.close()
    docker.engine.client.remove_image(tag, force=True)


def test_found_libraries_are_files_not_links(toolkit: Path) -> None:
    found = compute_libraries.found((str(toolkit),))
    assert found == tuple(sorted(str(toolkit / name) for name in HIDDEN))


def test_one_that_a_challenge_allows_is_not_hidden() -> None:
    paths = ("/usr/lib/libcublas.so.13", "/usr/lib/libnccl.so.2", "/usr/lib/libnccl.so.2.28.9")
    assert compute_libraries.not_shown(paths, ()) == paths
    assert compute_libraries.not_shown(paths, ("nccl",)) == paths[:1]
    assert compute_libraries.linked(["cublas", "nccl"]) == ("libnccl.so.2",)


def test_hidden_libraries_are_empty_and_other_files_readable(
    maker: BoxMaker, toolkit: Path, start: Start
) -> None:
    paths = [str(toolkit / name) for name in [*HIDDEN, "lib64/libcublas.so", *SHOWN]]
    shown = ask(start(maker), "can_read", paths=paths)["can_read"]
    assert set(shown.values()) == {len("content")}, "whoever may use them sees them all"
    seen = ask(start(maker, compute_libraries=False), "can_read", paths=paths)["can_read"]
    read = {path for path, size in seen.items() if size == len("content")}
    assert read == {str(toolkit / name) for name in SHOWN}
    assert {size for path, size in seen.items() if path not in read} <= {0, "Permission denied"}


def test_torch_cannot_load_without_compute_libraries(walled_boxes: BoxMaker, start: Start) -> None:
    """The box of a CUDA submission sees torch's folder, like all of Python's."""
    code = """
import ctypes, glob, sys
torch = [path for folder in sys.path for path in glob.glob(f"{folder}/torch/lib/libc10.so")]
assert torch, sys.path
try:
    ctypes.CDLL(torch[0])
    print("loaded")
except OSError:
    print("refused")
"""
    assert run(start(walled_boxes), code) == "loaded\n"
    assert run(start(walled_boxes, compute_libraries=False), code) == "refused\n"


def test_compilers_boxes_have_no_compute_libraries() -> None:
    assert not compile_spec().compute_libraries
    assert BoxSpec(BoxPurpose.RUN).compute_libraries
