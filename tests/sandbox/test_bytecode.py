"""Bytecode that boxes read instead of compiling their imports."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from grader.sandbox import bytecode
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from tests.sandbox.talk import run


@pytest.fixture(scope="module")
def folder() -> str:
    return bytecode.make(imports=("colorsys", "no_such_module"), packages=())


def test_the_bytecode_folder_holds_imports_and_runner(folder: str) -> None:
    source = importlib.util.find_spec("colorsys")
    assert source is not None
    assert source.origin is not None
    name = Path(importlib.util.cache_from_source("colorsys.py")).name
    made = Path(folder) / Path(source.origin).parent.relative_to("/") / name
    assert made.stat().st_mode & 0o777 == 0o644
    assert list(Path(folder, "runner").glob("main.*.pyc"))


def test_a_box_reads_it_and_cannot_write_it(walled_boxes: BoxMaker, folder: str) -> None:
    box = walled_boxes.start(BoxSpec(BoxPurpose.RUN, program="probe.py", bytecode=folder))
    try:
        code = (
            "import os; print(open('/proc/1/cmdline').read().split(chr(0)), os.access('/bytecode', os.W_OK))"
        )
        said = run(box, code)
        assert "pycache_prefix=/bytecode" in said
        assert said.rstrip().endswith("False")
        assert "main." in run(box, "import os; print(os.listdir('/bytecode/runner'))")
    finally:
        box.kill()


def test_bytecode_is_missing_only_if_a_package_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "bare_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert bytecode.is_missing(("bare_package",))
    assert not bytecode.is_missing(("no_such_package",))
    compiled = Path(importlib.util.cache_from_source(str(package / "__init__.py")))
    compiled.parent.mkdir()
    compiled.touch()
    assert not bytecode.is_missing(("bare_package",))
