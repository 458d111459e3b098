"""Bytecode of what runners import, where the host's packages were installed without.

Python compiles what it imports, and keeps that beside the source where it may write there. A box may write nowhere that
lasts, so it would compile the thousands of modules that torch imports for each submission again, for four seconds. Here
they are compiled once, from the host's own files, for every box of this process to read. Python holds each against
its source by time and size.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

from grader.sandbox import image
from grader.sandbox.parent import make_folder

# Where it lies in a box that has a root of its own.
MOUNT = image.BYTECODE_MOUNT
# What takes long to import, and may have been installed without.
_PACKAGES = ("torch", "triton")
# What a runner of Triton imports when it is ready, and when it compiles its first kernel.
_IMPORTS = (
    "torch",
    "triton.language",
    "triton.compiler.code_generator",
    "triton.backends.nvidia.compiler",
    "triton.backends.nvidia.driver",
)
# Compiling takes some seconds, on a slow disk perhaps a minute.
_SECONDS = 300.0
_PROGRAM = """
import compileall, importlib, importlib.util, json, os, py_compile, sys
imports, packages, programs = json.loads(sys.argv[1])
for name in imports:
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # of another version, or not installed
for name in packages:
    if name != "torch" and (spec := importlib.util.find_spec(name)):  # torch has far more than anybody imports
        compileall.compile_dir(os.path.dirname(spec.origin), quiet=2)
for place, folder in programs.items():
    for within, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".py"):
                source = os.path.join(within, name)
                path = os.path.join(place, os.path.relpath(source, folder))
                py_compile.compile(source, importlib.util.cache_from_source(path), path)
"""


def is_missing(packages: tuple[str, ...] = _PACKAGES) -> bool:
    """Whether one of ``packages`` is installed and has no bytecode beside it."""
    specs = [importlib.util.find_spec(name) for name in packages]
    origins = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
    return any(not Path(importlib.util.cache_from_source(it)).exists() for it in origins)


def make(imports: tuple[str, ...] = _IMPORTS, packages: tuple[str, ...] = _PACKAGES) -> str:
    """Compile what runners import; returns the folder, which everybody may read and which ends with this process."""
    folder = make_folder("bytecode")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    programs = {place: str(path) for place, path in image.PROGRAMS.items()}
    command = [sys.executable, "-I", *options(str(folder)), "-c", _PROGRAM]
    # What is not compiled here is compiled where it is imported.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            [*command, json.dumps([imports, packages, programs])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return str(folder)


def options(folder: str) -> list[str]:
    """Python's words for reading bytecode from ``folder``; none without one."""
    return ["-X", f"pycache_prefix={folder}"] if folder else []
