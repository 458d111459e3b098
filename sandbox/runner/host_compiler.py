"""Builds a kernel's launcher, Triton's C code, while the kernel compiles.

Some Tritons do that afterwards, with -O3 and all headers each time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sysconfig
import threading
from collections.abc import Sequence
from typing import Any

# Precompiled once in the box.
_HEADERS = """#include "cuda.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#define PY_SSIZE_T_CLEAN
#include <Python.h>
"""
_FLAGS = ("-O0", "-fPIC", "-Wno-psabi")
_DRIVER = "libcuda.so.1"


class HostCompiler:
    """``folder``: in the box."""

    def __init__(self, gcc: str, folder: str) -> None:
        self._gcc = gcc
        self._header = os.path.join(folder, "host.h")
        self._python = sysconfig.get_paths("posix_prefix")["include"]

    def read_headers(self, include: str) -> None:
        """``include``: of Triton's cuda.h. If gcc fails, each source reads its headers itself."""
        with open(self._header, "w", encoding="ascii") as file:
            file.write(_HEADERS)
        made = [
            *_FLAGS,
            "-x",
            "c-header",
            self._header,
            "-o",
            f"{self._header}.gch",
            *self._included([include]),
        ]
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run([self._gcc, *made], check=True, capture_output=True)
            return
        os.unlink(self._header)

    def build(
        self,
        name: str,
        source: str,
        folder: str,
        library_dirs: Sequence[str],
        include_dirs: Sequence[str],
        libraries: Sequence[str],
    ) -> str:
        """As ``triton.knobs.build.impl``. Returns the library's path. Raises subprocess.CalledProcessError,
        like Triton.
        """
        made = os.path.join(folder, name + sysconfig.get_config_var("EXT_SUFFIX"))
        prefix = ["-include", self._header] if os.path.exists(self._header) else []
        # A missing driver must be a dependency too (``without_driver``).
        links = ["-Wl,--no-as-needed"]
        links += [f"-l:{name}" if ".so" in name or name.endswith(".a") else f"-l{name}" for name in libraries]
        links += [f"-L{path}" for path in library_dirs]
        command = [self._gcc, *_FLAGS, *prefix, source, "-shared", "-o", made, *links]
        command += self._included([*include_dirs, folder])
        subprocess.check_call(command, stdout=subprocess.DEVNULL)
        return made

    def _included(self, folders: Sequence[str]) -> list[str]:
        return [f"-I{path}" for path in (*folders, self._python) if path]


class LaunchersAhead:
    """Starts with a kernel's compilation. ``driver``, Triton's module, then waits for it."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._build = driver.compile_module_from_src
        driver.compile_module_from_src = self._built
        self._known: set[str] = set()
        self._threads: list[threading.Thread] = []

    def begin(self, **asked: Any) -> None:
        """As ``triton.knobs.runtime.jit_cache_hook``."""
        with contextlib.suppress(Exception):  # another Triton builds it itself
            types = dict(enumerate(asked["compile"]["signature"].values()))
            if "tensordesc" in str(types):
                return  # these launchers need the compiled kernel
            source = self._driver.make_launcher({}, types, None)
            if source not in self._known:
                self._known.add(source)
                thread = threading.Thread(target=self._one, args=(source,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _one(self, source: str) -> None:
        driver = self._driver
        with contextlib.suppress(Exception):
            self._build(
                src=source,
                name="__triton_launcher",
                library_dirs=driver.library_dirs(),
                include_dirs=driver.include_dirs,
                libraries=driver.libraries,
            )

    def _built(self, *args: Any, **kwargs: Any) -> Any:
        self.finish()
        return self._build(*args, **kwargs)

    def finish(self) -> None:
        while self._threads:
            self._threads.pop().join()


def use(*, without_driver: bool = False) -> LaunchersAhead | None:
    """Needs gcc and a Triton that allows it. ``without_driver``: for Triton's cache; such a launcher cannot
    be loaded here.
    """
    from triton import knobs
    from triton.backends.nvidia import driver

    gcc, folder = shutil.which("gcc"), os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - the box's own
    asks = hasattr(driver, "make_launcher") and hasattr(driver, "compile_module_from_src")
    if gcc is None or "CC" in os.environ or not asks:
        return None
    if without_driver and not knobs.nvidia.libcuda_path:
        knobs.nvidia.libcuda_path = _empty_driver(gcc, folder)
    compiler = HostCompiler(gcc, folder)
    compiler.read_headers(os.path.join(os.path.dirname(driver.__file__), "include"))
    knobs.build.impl = compiler.build
    ahead = LaunchersAhead(driver)
    knobs.runtime.jit_cache_hook = ahead.begin
    return ahead


def _empty_driver(gcc: str, folder: str) -> str:
    """An empty library in place of NVIDIA's driver. Returns its folder."""
    made = os.path.join(folder, "driver")
    os.makedirs(made, exist_ok=True)
    command = [gcc, "-shared", "-nostdlib", f"-Wl,-soname,{_DRIVER}", "-o", os.path.join(made, _DRIVER)]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        subprocess.run([*command, "-x", "c", os.devnull], check=True, capture_output=True)
    return made
