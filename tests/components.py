"""Components that tests need: skipped if missing, a failure if GRADER_REQUIRE names them."""

from __future__ import annotations

import os
import shutil

import pytest


def _docker() -> str | None:
    # As the boxes ask: a machine with an engine may lack the client's program.
    from grader.sandbox.choose import docker_status

    usable, sentence = docker_status()
    return None if usable else sentence


def _bubblewrap() -> str | None:
    from grader.sandbox.choose import bubblewrap_status

    usable, sentence = bubblewrap_status()
    return None if usable else sentence


def _browser() -> str | None:
    from importlib.util import find_spec

    if find_spec("playwright") is None:
        return "Playwright is not installed"
    from tests.browser import axe, visitors

    return axe.missing() if visitors.chromium() else "no chromium on the PATH"


def _postgres() -> str | None:
    return None if postgres_bin() else "no PostgreSQL server programs (initdb, postgres)"


def _gpu() -> str | None:
    return None if shutil.which("nvidia-smi") else "no NVIDIA GPU"


def _nvcc() -> str | None:
    from grader.sandbox.toolkit import cuda_home

    return None if cuda_home() else "no CUDA compiler"


def _cutlass() -> str | None:
    from grader.sandbox.kernel_headers import lacking

    found = lacking(("cutlass",))
    return found[0] if found else None


def _hip() -> str | None:
    from grader.sandbox.kernel_headers import lacking

    found = lacking(("hip_headers",))
    return found[0] if found else None


def _cutedsl() -> str | None:
    from importlib.util import find_spec

    from grader.languages import Language

    return None if find_spec(Language.CUTE.package) else f"{Language.CUTE.package} is not installed"


def _cuda_wheels() -> str | None:
    from importlib.util import find_spec
    from pathlib import Path

    from tests.packaging.test_cuda_wheels import BESIDE

    own = find_spec("nvidia")
    folders = [*(own.submodule_search_locations or () if own else ()), str(BESIDE / "nvidia")]
    there = any((Path(folder) / "cu13" / "bin" / "nvcc").exists() for folder in folders)
    return None if there else f"the extra cuda is neither installed nor in {BESIDE}"


def _emulator() -> str | None:
    from grader.sandbox.emulator import is_built

    return None if is_built() else "the emulated GPU is not built: no C compiler"


def _zig() -> str | None:
    from importlib.util import find_spec

    return None if find_spec("ziglang") else "the extra wheels is not installed"


def _wasm() -> str | None:
    from grader.web.assets import built

    return None if built("engine.wasm") else "sandbox/emulator/build.sh --wasm web/static/built was not run"


def _netns() -> str | None:
    if os.getuid() != 0 or not shutil.which("ip"):
        return "network namespaces take root and the program ip"
    import subprocess

    name = f"grader-probe-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode:
        return "no right to make network namespaces"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return None


def _images() -> str | None:
    if missing := _docker():
        return missing
    if os.getuid() != 0 or not shutil.which("debootstrap"):
        return "a base image takes root and the program debootstrap"
    return None if shutil.which("docker-compose") else "no docker-compose on the PATH"


def _slurm() -> str | None:
    from tests.queue.fleet import slurm

    return slurm.missing()


def _helm() -> str | None:
    from tests.operations import helm

    return helm.missing()


def _node() -> str | None:
    return None if shutil.which("node") and shutil.which("npm") else "no node and npm on the PATH"


def postgres_bin() -> str | None:
    """The folder of initdb and postgres: on the PATH, or Debian's."""
    from pathlib import Path

    if found := shutil.which("initdb"):
        return str(Path(found).parent)
    found_folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return str(found_folders[-1]) if found_folders else None


_CHECKS = {
    "docker": _docker,
    "bubblewrap": _bubblewrap,
    "browser": _browser,
    "postgres": _postgres,
    "gpu": _gpu,
    "nvcc": _nvcc,
    "cutlass": _cutlass,
    "hip": _hip,
    "cutedsl": _cutedsl,
    "cuda_wheels": _cuda_wheels,
    "emulator": _emulator,
    "zig": _zig,
    "wasm": _wasm,
    "netns": _netns,
    "node": _node,
    "images": _images,
    "slurm": _slurm,
    "helm": _helm,
}


def need(component: str) -> None:
    missing = _CHECKS[component]()
    if missing is None:
        return
    required = {name.strip() for name in os.environ.get("GRADER_REQUIRE", "").split(",")}
    if component in required:
        pytest.fail(f"GRADER_REQUIRE names {component}: {missing}")
    pytest.skip(missing)
