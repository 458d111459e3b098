"""Puts the emulated GPU's engine into a wheel for Linux: what ``sandbox/emulator/build.sh`` makes, for every processor
of the wheel's kind.

The compiler is zig where the package ``ziglang`` is installed, which also builds for the other kind of processor
(``_PYTHON_HOST_PLATFORM=linux-aarch64``) and for older systems; else the system's. With neither, it has no engine.
CFLAGS adds flags to ours.

zig also makes the engine as WebAssembly, which every wheel then has: pages step through a failing block with it.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The oldest C library that a wheel made by zig runs with: Debian 10, Ubuntu 20.04, RHEL 8.
GLIBC = "2.28"
# Library -> architecture: the loader takes the best that the processor has.
LIBRARIES = {
    "x86_64": {"libengine.so": "x86-64", "libengine-v3.so": "x86-64-v3"},
    "aarch64": {"libengine.so": "armv8-a"},
}
INSIDE = "grader/sandbox/emulator/prebuilt"
FOR_PAGES = "grader/web/static/built/engine.wasm"


class EngineHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        system, _, machine = sysconfig.get_platform().partition("-")
        compiler = _compiler(machine) if system == "linux" and machine in LIBRARIES else None
        if version == "editable":
            return
        self._made = tempfile.TemporaryDirectory(prefix="grader-engine-")
        if importlib.util.find_spec("ziglang"):
            made = _build_for_pages(Path(self.root), Path(self._made.name))
            build_data["force_include"][str(made)] = FOR_PAGES
        if compiler is None:
            return
        files = _build(Path(self.root), Path(self._made.name), machine, compiler)
        build_data["force_include"].update({str(path): f"{INSIDE}/{name}" for name, path in files.items()})
        build_data["pure_python"] = False
        kind = f"manylinux_{GLIBC.replace('.', '_')}" if "ziglang" in compiler else "linux"
        build_data["tag"] = f"py3-none-{kind}_{machine}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if made := getattr(self, "_made", None):
            made.cleanup()


def _compiler(machine: str) -> list[str] | None:
    """Raises RuntimeError where only another kind of processor can be built for."""
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{GLIBC}"]
    if machine != os.uname().machine:
        raise RuntimeError(f"a wheel for {machine} takes zig: pip install 'kernel-grader[wheels]'")
    found = shutil.which(os.environ.get("CC", "cc"))
    return [found] if found else None


def _build_for_pages(root: Path, into: Path) -> Path:
    script = root / "sandbox" / "emulator" / "build.sh"
    environment = os.environ | {"ZIG": shlex.join([sys.executable, "-m", "ziglang"])}
    subprocess.run(["sh", str(script), "--wasm", str(into)], env=environment, check=True)
    return into / "engine.wasm"


def _build(root: Path, into: Path, machine: str, compiler: list[str]) -> dict[str, Path]:
    """Name in the wheel -> file."""
    script = root / "sandbox" / "emulator" / "build.sh"
    files: dict[str, Path] = {}
    for name, architecture in LIBRARIES[machine].items():
        if "ziglang" in compiler:  # which has names of its own for them
            choice = f"-mcpu={'generic' if machine == 'aarch64' else architecture.replace('-', '_')}"
        else:
            choice = f"-march={architecture}"
        environment = {"CC": shlex.join(compiler), "CFLAGS": f"{choice} -g0 {os.environ.get('CFLAGS', '')}"}
        folder = into / name
        subprocess.run(["sh", str(script), str(folder)], env=os.environ | environment, check=True)
        files |= {name: folder / "libengine.so", "host": folder / "host"}
    return files
