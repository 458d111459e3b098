"""A box's /tmp: libraries compiled there can be loaded in Triton's boxes, but not in a compiler's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.sandbox.box import Box, BoxMaker, BoxPurpose, BoxSpec
from tests.sandbox.talk import ask, run

Start = Callable[..., Box]

# Triton does this for every kernel's launcher: C, with the host's compiler and Python's headers, into its
# cache.
LAUNCHER = """
import ctypes, importlib.util, os, subprocess, sysconfig
os.makedirs("/tmp/triton/cache")
source = '''
#include <Python.h>
static PyObject* launch(PyObject* self, PyObject* args) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"launch", launch, METH_VARARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "launcher", 0, -1, methods};
PyMODINIT_FUNC PyInit_launcher(void) { return PyModule_Create(&module); }
'''
open("/tmp/launcher.c", "w").write(source)
library = "/tmp/triton/cache/launcher.so"
include = sysconfig.get_paths()["include"]
done = subprocess.run(
    ["gcc", "/tmp/launcher.c", "-O3", "-shared", "-fPIC", "-Wno-psabi", f"-I{include}", "-o", library],
    capture_output=True, text=True)
assert done.returncode == 0, done.stderr
spec = importlib.util.spec_from_file_location("launcher", library)
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
print(made.launch())
"""
PROGRAM = """
import os, shutil, subprocess
shutil.copy("/bin/true", "/tmp/mine")
try:
    print(subprocess.run(["/tmp/mine"]).returncode)
except PermissionError:
    print("refused")
"""


def test_a_launcher_is_compiled_and_loaded(walled_boxes: BoxMaker, start: Start) -> None:
    assert run(start(walled_boxes), LAUNCHER) == "42\n"


@pytest.mark.parametrize(("purpose", "ends"), [(BoxPurpose.RUN, "0\n"), (BoxPurpose.COMPILE, "refused\n")])
def test_programs_in_tmp_run_only_outside_compiler_boxes(
    walled_boxes: BoxMaker, purpose: BoxPurpose, ends: str
) -> None:
    box = walled_boxes.start(BoxSpec(purpose, program="probe.py"))
    try:
        assert run(box, PROGRAM) == ends
    finally:
        box.kill()


def test_tritons_launcher_compiler_works(walled_boxes: BoxMaker, start: Start) -> None:
    """Triton itself, as far as it goes without a GPU."""
    code = """
import os
os.environ["TRITON_CACHE_DIR"] = "/tmp/triton"
from triton.runtime.build import compile_module_from_src
source = '''
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "made", 0, -1, 0};
PyMODINIT_FUNC PyInit_made(void) { return PyModule_Create(&module); }
'''
made = compile_module_from_src(src=source, name="made")
print(made.__file__.startswith("/tmp/triton/"))
"""
    found = ask(start(walled_boxes), "python", code=code)
    assert found["out"] == "True\n", found
