"""What a Docker box starts from: empty folders with the host's own bound over them (``image``), or an image that has
Python, torch and compilers in it, which ``GRADER_BOX_IMAGE`` names.

The second is for workers that are containers themselves: the engine binds folders of its host, and what lies in a
worker's container it does not know. The one folder that both must see is the one for temporary files (``TMPDIR``): a
folder of the host, mounted into the worker's container at the same place.
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

# What an image says of itself: the paths of its libraries of ready-made kernels, one in a line.
LIST = "/images/compute_libraries.txt"
# Where the driver's libraries lie in a box whose image has none: a driver belongs to its host.
DRIVER_MOUNT = "/driver"
# What of an image's own settings a box gets. Whatever else it sets could be meant for anything.
_TAKEN = ("PATH", "CUDA_HOME", "LD_LIBRARY_PATH")
# Each would start something, or be written to, that we do not know of.
_REFUSED = ("Entrypoint", "Volumes", "Healthcheck")


@dataclass(frozen=True)
class Toolchain:
    """``image`` as the engine knows it; ``binds`` are in every box. ``environment`` and ``compute_libraries``: those of
    an image; None: the host's own."""

    image: str
    python: str
    binds: tuple[str, ...]
    environment: Mapping[str, str] | None = None
    about: str = ""
    compute_libraries: tuple[str, ...] | None = None
    gpu_access: str = NODES

    def start_hint(self, runtime: str, timed_out: bool, said: str) -> str:
        """What to fix where a box was made and its program did not connect, see ``runtime.start_hint``."""
        if self.environment is None or "No such file" not in said:
            return start_hint(runtime, timed_out, said)
        return (
            f"Does the engine see the same {tempfile.gettempdir()} as this worker? It must be a folder of the "
            "engine's host, mounted here at the same place and named by TMPDIR."
        )

    def bytecode_of(self, spec: BoxSpec) -> str:
        """Where it lies on the host; nowhere for an image, which has its own."""
        return spec.bytecode if self.environment is None else ""

    def binds_of(self, spec: BoxSpec) -> list[str]:
        """Those of the box of ``spec``. Libraries that it must not see are hidden. An image lacks the driver, whose
        files are bound one by one."""
        binds = [*self.binds]
        if folder := self.bytecode_of(spec):
            binds.append(f"{folder}:{bytecode.MOUNT}:ro")
        if not spec.compute_libraries:
            # The host's are looked up when they are first asked for: it is a long walk.
            own = self.compute_libraries
            hidden = compute_libraries.found(image.layout().bound) if own is None else own
            binds += [f"/dev/null:{path}:ro" for path in hidden]
        if self.environment is not None and spec.gpu is not None and self.gpu_access == NODES:
            binds += [f"{path}:{DRIVER_MOUNT}/{path.name}:ro" for path in driver_files()]
        return binds


def find_toolchain(engine: Engine, root: Path, options: SandboxOptions) -> Toolchain:
    """The one that ``options`` name; what of it must be in files of ours is put below ``root``.

    Raises BoxUnavailable where the engine lacks the image, or it does not fit this worker.
    """
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
    # They belong to the worker's version, so they come from there and not from the image.
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
    # By its number: a name may come to mean another image while we run.
    return Toolchain(
        number,
        "python3",
        tuple(ours),
        environment,
        f", image {number.removeprefix('sha256:')[:12]}",
        tuple(engine.read_file(number, LIST).decode().splitlines()),
    )


def _check_version(name: str, built_with: str) -> None:
    """A library is kept under the version of this worker's compiler, so the box's must be the same."""
    own = nvcc_version()
    if own and built_with and own != built_with:
        raise BoxUnavailable(
            f"the image {name} has nvcc {built_with}, this worker {own}",
            "Build both images from one version of the Dockerfile.",
        )
