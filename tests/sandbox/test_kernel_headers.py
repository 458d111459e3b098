"""Libraries of headers: within reach of a source whose challenge allows them, and of no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.errors import BoxUnavailable
from grader.judge.compilation import request_of
from grader.languages import Language
from grader.sandbox import image, kernel_headers
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda
from tests.judge.conftest import CATALOGUE
from tests.sandbox.test_nvcc import FOOTER, SOURCE

VERSION = "#define CUTLASS_MAJOR 4\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 1\n"
INCLUDING = '#include <cutlass/version.h>\nstatic_assert(CUTLASS_MAJOR == 4, "");\n' + SOURCE


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "include" / "cutlass").mkdir(parents=True)
    (tmp_path / "include" / "cutlass" / "version.h").write_text(VERSION)
    monkeypatch.setenv("CUTLASS_PATH", str(tmp_path))
    return tmp_path / "include"


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTLASS_PATH", raising=False)
    monkeypatch.setattr(kernel_headers.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]


def test_a_named_folder_is_found_with_its_version(library: Path) -> None:
    found = kernel_headers.HEADER_LIBRARIES["cutlass"]
    assert (found.folder(), found.version()) == (library, "4.2.1")
    assert str(library) in image._bound_paths(), "boxes see it"


@pytest.mark.needs("nvcc")
def test_only_a_challenge_that_allows_headers_reaches_them(library: Path, local_boxes: BoxMaker) -> None:
    allowed = compile_cuda(local_boxes, CompileRequest(INCLUDING, FOOTER, headers=("cutlass",)))
    assert allowed.ok, allowed.log
    refused = compile_cuda(local_boxes, CompileRequest(INCLUDING, FOOTER))
    assert not refused.ok
    assert "belongs to a library that is not available" in refused.hint


@pytest.mark.needs("nvcc")
@pytest.mark.usefixtures("without")
def test_a_machine_without_them_says_so_before_it_compiles(local_boxes: BoxMaker) -> None:
    with pytest.raises(BoxUnavailable, match="this machine has no CUTLASS headers") as refused:
        compile_cuda(local_boxes, CompileRequest(INCLUDING, FOOTER, headers=("cutlass",)))
    assert "pip install --no-deps nvidia-cutlass" in refused.value.hint


def test_a_challenges_allow_is_in_the_request_and_its_key() -> None:
    loaded = Catalogue(CATALOGUE).load("twice")
    allowing = replace(loaded, manifest=loaded.manifest.model_copy(update={"allow": ["cublas", "cutlass"]}))
    plain, wanted = (request_of(each, Language.CUDA, SOURCE, "sm_90") for each in (loaded, allowing))
    assert (plain.headers, wanted.headers) == ((), ("cutlass",))
    assert plain.key("13") != wanted.key("13")
