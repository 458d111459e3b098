"""Compiles the bytecode of packages that were installed without it.

A box cannot write next to the source, so each would spend four seconds on torch's modules. Python checks the
bytecode against the source's time and size.
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

MOUNT = image.BYTECODE_MOUNT
# Slow to import, and possibly installed without bytecode.
_PACKAGES = ("torch", "triton")
# Imported by a Triton runner's start and first compilation.
_IMPORTS = (
    "torch",
    "triton.language",
    "triton.compiler.code_generator",
    "triton.backends.nvidia.compiler",
    "triton.backends.nvidia.driver",
)
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
    specs = [importlib.util.find_spec(name) for name in packages]
    origins = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
    return any(not Path(importlib.util.cache_from_source(origin)).exists() for origin in origins)


def make(imports: tuple[str, ...] = _IMPORTS, packages: tuple[str, ...] = _PACKAGES) -> str:
    """A folder for all users, removed when this process ends."""
    folder = make_folder("bytecode")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    programs = {place: str(path) for place, path in image.PROGRAMS.items()}
    command = [sys.executable, "-I", *options(str(folder)), "-c", _PROGRAM]
    # The rest is compiled when imported.
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
    return ["-X", f"pycache_prefix={folder}"] if folder else []
