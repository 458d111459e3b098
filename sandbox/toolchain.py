"""A Docker box's toolchain: the host's (``image``), or an image with Python, torch and compilers
(``GRADER_BOX_IMAGE``).

A worker in a container needs an image, because the engine binds its host's folders. Both must see one
``TMPDIR`` at the same path.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.errors import BoxUnavailable
from grader.sandbox import bytecode, compute_libraries, image
from grader.sandbox.box import BoxSpec
from grader.sandbox.docker_engine import Engine
from grader.sandbox.gpu import driver_files
from grader.sandbox.options import NODES, SandboxOptions, start_hint
from grader.sandbox.toolkit import nvcc_version

# One path per line, in the image.
LIST = "/images/compute_libraries.txt"
# The driver belongs to the host, not to an image.
DRIVER_MOUNT = "/driver"
# Any other variable of an image could have an unknown purpose.
_TAKEN = ("PATH", "CUDA_HOME", "LD_LIBRARY_PATH")
# These would start, or write to, something unknown.
_REFUSED = ("Entrypoint", "Volumes", "Healthcheck")


@dataclass(frozen=True)
class Toolchain:
    image: str
    python: str
    #: Mounts of every box.
    binds: tuple[str, ...]
    #: None: the host's.
    environment: Mapping[str, str] | None = None
    about: str = ""
    #: In an image. None: the host's.
    compute_libraries: tuple[str, ...] | None = None
    gpu_access: str = NODES

    def start_hint(self, runtime: str, timed_out: bool, said: str) -> str:
        if self.environment is None or "No such file" not in said:
            return start_hint(runtime, timed_out, said)
        return (
            f"Does the engine see the same {tempfile.gettempdir()} as this worker? It must be a folder of the "
            "engine's host, mounted here at the same place and named by TMPDIR."
        )

    def bytecode_of(self, spec: BoxSpec) -> str:
        return spec.bytecode if self.environment is None else ""

    def binds_of(self, spec: BoxSpec) -> list[str]:
        """Also hides libraries, and binds a driver's files, which an image lacks."""
        binds = [*self.binds]
        if folder := self.bytecode_of(spec):
            binds.append(f"{folder}:{bytecode.MOUNT}:ro")
        if not spec.compute_libraries:
            # Searched for on first use: the walk is long.
            own = self.compute_libraries
            known = compute_libraries.found(image.layout().bound) if own is None else own
            hidden = compute_libraries.not_shown(known, spec.shown_libraries)
            binds += [f"/dev/null:{path}:ro" for path in hidden]
        if self.environment is not None and spec.gpu is not None and self.gpu_access == NODES:
            binds += [f"{path}:{DRIVER_MOUNT}/{path.name}:ro" for path in driver_files()]
        return binds


def find_toolchain(engine: Engine, root: Path, options: SandboxOptions) -> Toolchain:
    """Writes below ``root``. Raises BoxUnavailable if the image is missing or does not fit."""
    found = _of_image(engine, options.image, root) if options.image else _of_host(root)
    return replace(found, gpu_access=options.gpu_access)


def _of_host(root: Path) -> Toolchain:
    what = image.layout()
    ours = [f"{folder}:{mount}:ro" for mount, folder in image.PROGRAMS.items()]
    binds = [*ours, *(f"{path}:{path}:ro" for path in what.bound)]
    for number, folder in enumerate(what.masked):
        empty = root / f"mask{number}"
        empty.mkdir(mode=0o755)
        for inner in what.below(folder):
            (empty / inner).mkdir(parents=True, mode=0o755)
        binds.append(f"{empty}:{folder}:ro")
    return Toolchain(image.image_tag(), sys.executable, tuple(binds))


def _of_image(engine: Engine, name: str, root: Path) -> Toolchain:
    number, config = engine.image_config(name)
    if unfit := [key for key in _REFUSED if config.get(key)]:
        raise BoxUnavailable(
            f"no box can start from the image {name}: it sets {', '.join(unfit)}",
            "Build it by our Dockerfile's target `box`.",
        )
    own = dict(pair.partition("=")[::2] for pair in config.get("Env") or [])
    _check_version(name, own.get("CUDA_VERSION", ""))
    # From the worker, because their version must be the worker's.
    ours = []
    for mount, folder in image.PROGRAMS.items():
        copy = root / folder.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        copy.chmod(0o755)
        ours.append(f"{copy}:{mount}:ro")
    environment = {key: own[key] for key in _TAKEN if key in own}
    environment["LD_LIBRARY_PATH"] = ":".join(
        text for text in (DRIVER_MOUNT, own.get("LD_LIBRARY_PATH")) if text
    )
    # A name may come to mean another image.
    return Toolchain(
        number,
        "python3",
        tuple(ours),
        environment,
        f", image {number.removeprefix('sha256:')[:12]}",
        tuple(engine.read_file(number, LIST).decode().splitlines()),
    )


def _check_version(name: str, built_with: str) -> None:
    """Libraries are cached under this worker's compiler version."""
    own = nvcc_version()
    if own and built_with and own != built_with:
        raise BoxUnavailable(
            f"the image {name} has nvcc {built_with}, but this worker has nvcc {own}",
            "Build both images from one version of the Dockerfile.",
        )
