"""A library compiled ahead runs only if it is intact and of this very source, architecture and compiler."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.challenge.catalogue import Catalogue
from grader.device_kinds import EMULATED
from grader.errors import LanguageNotServed
from grader.judge import session as session_module
from grader.judge.compilation import (
    COMPILERS,
    artefact_of,
    kernels_of,
    kernels_request,
    request_of,
    result_of,
)
from grader.judge.host_device import EmulatedDevice, HostDevice
from grader.judge.job import Job, JudgingProgress
from grader.judge.request import CPU, Request
from grader.judge.session import Session
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler import nvcc
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult
from grader.sandbox.compiler.triton import packed
from grader.schemas.artefact import Artefact
from grader.schemas.hardware import KernelUsage
from grader.schemas.report import Report, Verdict
from grader.schemas.submission import State
from tests.components import need
from tests.judge.test_cuda import RIGHT

USAGE = KernelUsage(name="twice", registers=24, stack_bytes=8)


@pytest.fixture
def asked(catalogue: Catalogue) -> CompileRequest:
    need("nvcc")
    return request_of(catalogue.load("twice"), Language.CUDA, RIGHT, EmulatedDevice.architecture)


@pytest.fixture
def made(asked: CompileRequest) -> Artefact:
    return artefact_of(asked, CompileResult(True, b"\x7fELF library", "a warning", 1.0, (USAGE,)))


def test_an_artefact_equals_a_local_compilation(asked: CompileRequest, made: Artefact) -> None:
    assert result_of(made, asked) == CompileResult(True, b"\x7fELF library", "a warning", 0.0, (USAGE,))


@pytest.mark.parametrize(
    "change",
    [
        {"source": RIGHT + " "},
        {"footer": "other"},
        {"arch": "sm_90a"},
    ],
)
def test_an_artefact_of_another_request_is_ignored(
    asked: CompileRequest, made: Artefact, change: dict[str, str]
) -> None:
    assert result_of(made, replace(asked, **change)) is None


def test_a_damaged_library_is_ignored(asked: CompileRequest, made: Artefact) -> None:
    assert result_of(made.model_copy(update={"library": made.library + b"!"}), asked) is None


def test_a_library_under_another_key_is_ignored(
    catalogue: Catalogue, asked: CompileRequest, made: Artefact
) -> None:
    other = request_of(catalogue.load("twice"), Language.CUDA, RIGHT + "// other\n", HostDevice.architecture)
    assert result_of(made.model_copy(update={"key": other.key()}), asked) is None


def test_another_compilers_artefact_is_used_only_without_a_local_compiler(
    asked: CompileRequest, made: Artefact, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = made.model_copy(update={"toolkit": "12.4.0", "key": asked.key("12.4.0")})
    assert result_of(older, asked) is None
    monkeypatch.setitem(COMPILERS, "nvcc", replace(COMPILERS["nvcc"], version=lambda: None))
    assert result_of(older, asked) is not None
    assert result_of(made, asked) is not None
    assert result_of(made.model_copy(update={"toolkit": "12.4.0"}), asked) is None, "its key says otherwise"


def test_a_new_compile_recipe_invalidates_old_artefacts(
    asked: CompileRequest, made: Artefact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvcc, "recipe", lambda: "other flags")
    assert result_of(made, asked) is None


class TestInASession:
    @pytest.fixture(autouse=True)
    def _empty_cache(self) -> Iterator[None]:
        need("nvcc")
        nvcc.cache.clear()
        yield
        nvcc.cache.clear()

    def _judge(
        self, catalogue: Catalogue, boxes: BoxMaker, artefact: Artefact | None
    ) -> tuple[Report, list[State]]:
        challenge, states = catalogue.load("twice"), []

        def listen(news: JudgingProgress) -> None:
            if news.state not in states:
                states.append(news.state)

        request = Request(
            challenge,
            Language.CUDA,
            RIGHT,
            EMULATED,
            b"key",
            challenge.cases,
            timing=False,
            artefact=artefact,
        )
        return Session(request, EmulatedDevice(), boxes, listen, lambda: None).run().report, states

    def test_the_report_is_the_same_with_and_without_an_artefact(
        self, catalogue: Catalogue, boxes: BoxMaker
    ) -> None:
        within, states = self._judge(catalogue, boxes, None)
        assert states == [State.COMPILING, State.TESTING]
        request = request_of(catalogue.load("twice"), Language.CUDA, RIGHT, EmulatedDevice.architecture)
        made = artefact_of(request, nvcc.compile_cuda(boxes, request))
        travelled = Artefact.model_validate_json(made.model_dump_json())
        ahead, states = self._judge(catalogue, boxes, travelled)
        assert states == [State.TESTING]
        timeless = {"breakdown_s": {}, "cases": [], "hidden": None}
        assert [case.verdict for case in ahead.cases] == [case.verdict for case in within.cases]
        assert ahead.model_copy(update=timeless) == within.model_copy(update=timeless)
        assert [kernel.name for kernel in ahead.kernels] == ["twice"]
        assert "compile" in within.breakdown_s
        assert "compile" not in ahead.breakdown_s

    def test_a_strangers_library_is_never_loaded(
        self, catalogue: Catalogue, boxes: BoxMaker, made: Artefact, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compiled: list[str] = []

        def compile_cuda(boxes: BoxMaker, request: CompileRequest, interrupt: object) -> CompileResult:
            compiled.append(request.source)
            return CompileResult(False, None, "error: here", 0.0)

        monkeypatch.setattr(session_module, "compile_source", compile_cuda)
        stranger = made.model_copy(update={"key": hashlib.sha256(b"other").hexdigest()})
        report, _ = self._judge(catalogue, boxes, stranger)
        assert compiled == [RIGHT]
        assert (report.verdict, report.detail) == (Verdict.COMPILE_ERROR, "error: here")


def test_an_artefact_reaches_the_judges_process(made: Artefact) -> None:
    job = Job(
        submission="s",
        catalogue="/",
        challenge="twice",
        fingerprint="f",
        language=Language.CUDA,
        source=RIGHT,
        device=CPU,
        seed_key="00",
        artefact=made,
    )
    assert Job.model_validate(job.model_dump(mode="json")) == job


def test_at_home_a_source_that_compiles_is_reported_as_such(catalogue: Catalogue, boxes: BoxMaker) -> None:
    need("nvcc")
    challenge = catalogue.load("twice")
    request = Request(challenge, Language.CUDA, RIGHT, CPU, b"key", challenge.cases, timing=False)
    with pytest.raises(LanguageNotServed, match="It compiles"):
        Session(request, HostDevice(), boxes, lambda _: None, lambda: None).run()


def test_compiling_needs_no_torch() -> None:
    code = "import sys, grader.queue.compile_executor, grader.judge.compilation; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kernels_of_another_source_or_architecture_are_ignored(catalogue: Catalogue) -> None:
    twice = catalogue.load("twice")
    asked = kernels_request(twice, Language.TRITON, "a source", "sm_90a")
    # Every public size once, and no hidden one.
    sizes = [call[-1]["value"] for call in asked.calls]
    hidden = {case.sizes["n"] for case in twice.hidden_cases}
    assert len(sizes) == len(set(sizes)) > 2
    assert hidden
    assert not hidden & set(sizes)
    library = packed(b"a file")
    made = Artefact(
        key=asked.key(),
        arch="sm_90a",
        toolkit="",
        library=library,
        sha256=hashlib.sha256(library).hexdigest(),
    )
    assert kernels_of(made, asked) == b"a file"
    assert kernels_of(made, kernels_request(twice, Language.TRITON, "another", "sm_90a")) is None
    assert kernels_of(made, replace(asked, arch="sm_100a")) is None
    assert kernels_of(made.model_copy(update={"library": packed(b"other")}), asked) is None
