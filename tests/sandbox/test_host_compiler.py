"""Triton's C code for the host becomes a Python module, with precompiled headers or without."""

from __future__ import annotations

import importlib.util
import shutil
import sysconfig
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton

from grader.sandbox.image import PROGRAMS, RUNNER_MOUNT

INCLUDE = Path(triton.__file__).parent / "backends" / "nvidia" / "include"
SOURCE = """
#include "cuda.h"
#include <dlfcn.h>
#include <stdbool.h>
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject* words(PyObject* self, PyObject* args) { return PyLong_FromLong(sizeof(CUdeviceptr)); }
static PyMethodDef methods[] = {{"words", words, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "launcher", NULL, -1, methods};
PyMODINIT_FUNC PyInit_launcher(void) { return PyModule_Create(&module); }
"""
# Without these, Triton builds nothing either.
HAS_COMPILER = (
    shutil.which("gcc") is not None
    and Path(sysconfig.get_paths("posix_prefix")["include"], "Python.h").exists()
)


@pytest.mark.skipif(not HAS_COMPILER, reason="no gcc, or no headers of Python's")
@pytest.mark.parametrize("include", [INCLUDE, "/nowhere"], ids=["read ahead", "not read"])
def test_a_python_module_is_built(
    include: Path | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))
    import host_compiler

    gcc = shutil.which("gcc")
    assert gcc is not None
    compiler = host_compiler.HostCompiler(gcc, str(tmp_path))
    compiler.read_headers(str(include))
    assert (tmp_path / "host.h").exists() == (include == INCLUDE)
    source = tmp_path / "launcher.c"
    source.write_text(SOURCE)
    # Triton passes the name, the source, its folder, and the folders of libraries and headers.
    made = compiler.build("launcher", str(source), str(tmp_path), [], [str(INCLUDE)], ["dl"])
    spec = importlib.util.spec_from_file_location("launcher", made)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.words() == 8


def test_a_launcher_is_built_once_along_with_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROGRAMS[RUNNER_MOUNT]))
    import host_compiler

    kept: dict[str, str] = {}
    built: list[tuple[str, str]] = []
    go_on = threading.Event()

    def build(src: str, **_: Any) -> str:
        if src not in kept:
            assert go_on.wait(60)
            if "broken" in src:
                raise RuntimeError(src)
            kept[src] = f"module of {src}"
            built.append((threading.current_thread().name, src))
        return kept[src]

    driver = SimpleNamespace(
        make_launcher=lambda constants, types, meta: f"{types}",
        compile_module_from_src=build,
        library_dirs=list,
        include_dirs=[],
        libraries=[],
    )
    ahead = host_compiler.LaunchersAhead(driver)
    for types in (
        {"x": "*fp32", "n": "i32"},
        {"x": "*fp32", "n": "i32"},
        {"x": "broken"},
        {"x": "tensordesc<fp32[8]>"},
    ):
        ahead.begin(key="", compile={"signature": types})
    ahead.begin(other="version")
    threading.Timer(0.05, go_on.set).start()
    assert driver.compile_module_from_src(src="{0: '*fp32', 1: 'i32'}") == "module of {0: '*fp32', 1: 'i32'}"
    with pytest.raises(RuntimeError):
        driver.compile_module_from_src(src="{0: 'broken'}")
    driver.compile_module_from_src(src="{0: 'tensordesc<fp32[8]>'}")
    assert [src for name, src in built if name != "MainThread"] == ["{0: '*fp32', 1: 'i32'}"]
    assert len(built) == 2
