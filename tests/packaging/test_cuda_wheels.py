"""CUDA by the extra ``cuda``: NVIDIA's wheels on a machine whose toolkit is hidden."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from grader.sandbox import toolkit
from tests.components import need

pytestmark = pytest.mark.matrix
ROOT = Path(__file__).resolve().parents[2]
# `.ci/run` puts the wheels there if the environment has a toolkit and does not need them itself.
BESIDE = Path(sys.prefix) / "cuda-wheels"
# In a separate mount namespace, so that boxes do not see the hidden folders either.
HIDE = """
for folder in "$@"; do
    [ "$folder" != -- ] || break
    if [ -d "$folder" ]; then mount -t tmpfs none "$folder"; else mount --bind /dev/null "$folder"; fi
    shift
done
shift
exec "$@"
"""


def _toolkits() -> list[str]:
    """Toolkits that precede the wheels."""
    folders = {toolkit.CONVENTIONAL, *(os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH"))}
    on_path = {found for folder in os.get_exec_path() if (found := shutil.which("nvcc", path=folder))}
    return sorted(
        {str(Path(folder).resolve()) for folder in {*folders, *on_path} if folder and Path(folder).exists()}
    )


def _hidden(*command: str) -> str:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("CUDA_HOME", "CUDA_PATH")
    }
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-ec", HIDE, "sh", *_toolkits(), "--", *command],
        env=environment | {"PYTHONPATH": str(BESIDE)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module", autouse=True)
def _wheels() -> None:
    need("cuda_wheels")
    need("netns")  # root, which may hide things


def test_a_source_is_compiled_and_judged_on_the_emulated_gpu(tmp_path: Path) -> None:
    need("emulator")
    need("bubblewrap")
    source = tmp_path / "vector_add.cu"
    source.write_bytes((ROOT / "reference" / "vector_add" / "staff" / "solution.cu").read_bytes())
    words = ["test", str(source), "--device", "emulated", "--box", "bubblewrap", "--json"]
    report = json.loads(_hidden(str(Path(sys.prefix) / "bin" / "grader"), *words))
    assert report["verdict"] == "accepted"
    assert "add" in {kernel["name"] for kernel in report["kernels"]}


def test_a_source_for_a_card_is_linked_with_the_runtime_of_the_wheels() -> None:
    code = """
        from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
        from grader.sandbox.local_box import LocalBoxes
        from grader.sandbox.toolkit import WHEELS, find_toolkit
        assert find_toolkit().found == WHEELS
        source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }"
        footer = 'extern "C" int grader_entry(void** p) { twice<<<1, 32>>>((float*)*p); return 0; }'
        made = compile_cuda(LocalBoxes(), CompileRequest(source, footer, arch="sm_90"))
        assert made.ok, made.log
        print(*[kernel.name for kernel in made.kernels])
    """
    assert _hidden(sys.executable, "-c", textwrap.dedent(code)).split() == ["twice"]
