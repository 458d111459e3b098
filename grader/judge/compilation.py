"""Compiles a submission, ahead or during judging. Imports no torch: compile workers have none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from grader.challenge.autograd import form
from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument as Declared
from grader.challenge.model import Manifest
from grader.challenge.signature import cuda_footer, declaration
from grader.challenge.tensor_form import is_extension, tensor_footer
from grader.device_kinds import EMULATED_ARCHITECTURE, kind_of
from grader.judge.oracle import plain_values, workload_case
from grader.languages import ON_GPU, Language
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_cuda
from grader.sandbox.compiler.triton import Argument, KernelsRequest, compile_ahead, unpacked
from grader.sandbox.compute_libraries import LINKED
from grader.sandbox.kernel_headers import HEADER_LIBRARIES, lacking
from grader.sandbox.toolkit import nvcc_version
from grader.schemas.artefact import Artefact
from grader.schemas.own_case import OwnCase
from grader.schemas.report import Report, Score, Verdict


@dataclass(frozen=True)
class SourceCompiler:
    #: Takes manifest, source and architecture. Adds the footer that checks the signature.
    request: Callable[[Manifest, str, str], CompileRequest]
    run: Callable[[BoxMaker, CompileRequest, Callable[[], None]], CompileResult]
    version: Callable[[], str | None]
    #: Shown to students.
    progress: str
    #: Shown if ``version`` is None.
    missing: str


def _nvcc_request(manifest: Manifest, source: str, architecture: str) -> CompileRequest:
    # torch's headers take half a minute; an emulated GPU's host has no torch.
    extension = is_extension(manifest, source) and architecture != EMULATED_ARCHITECTURE
    allowed = [name for name in HEADER_LIBRARIES if name in manifest.allow and (name != "torch" or extension)]
    linked = [name for name in manifest.allow if name in LINKED]
    footer = tensor_footer(manifest) if extension else cuda_footer(manifest)
    return CompileRequest(source, footer, arch=architecture, headers=tuple(allowed), libraries=tuple(linked))


def _hip_request(manifest: Manifest, source: str, architecture: str) -> CompileRequest:
    plain = _nvcc_request(manifest.model_copy(update={"allow": []}), source, architecture)
    return replace(plain, filename="solution.hip", compiler="nvcc_hip", headers=("hip_headers",))


def _hip_version() -> str | None:
    return None if lacking(("hip_headers",)) else nvcc_version()


def with_names(request: CompileRequest, asked: OwnCase | None) -> CompileRequest:
    """Stepping through a block needs variables' names."""
    return replace(request, names=True) if asked is not None and asked.step is not None else request


# Keys are the names in ``grader.languages`` and in requests.
COMPILERS = {
    "nvcc": SourceCompiler(
        request=_nvcc_request,
        run=compile_cuda,
        version=nvcc_version,
        progress="Compiling with nvcc",
        missing="there is no CUDA compiler here",
    ),
    "nvcc_hip": SourceCompiler(
        request=_hip_request,
        run=compile_cuda,
        version=_hip_version,
        progress="Compiling with nvcc and HIP's headers",
        missing="there are no HIP headers here, or no CUDA compiler",
    ),
}


def compiler_of(language: Language) -> SourceCompiler:
    assert language.compiler is not None
    return COMPILERS[language.compiler]


def request_of(challenge: Challenge, language: Language, source: str, architecture: str) -> CompileRequest:
    return compiler_of(language).request(challenge.manifest, source, architecture)


def compile_source(
    boxes: BoxMaker, request: CompileRequest, interrupt: Callable[[], None] = lambda: None
) -> CompileResult:
    return COMPILERS[request.compiler].run(boxes, request, interrupt)


def artefact_of(request: CompileRequest, result: CompileResult) -> Artefact:
    assert result.artefact is not None
    return Artefact(
        key=request.key(),
        arch=request.arch,
        toolkit=str(COMPILERS[request.compiler].version()),
        library=result.artefact,
        sha256=hashlib.sha256(result.artefact).hexdigest(),
        log=result.log,
        kernels=list(result.kernels),
    )


def result_of(artefact: Artefact, request: CompileRequest) -> CompileResult | None:
    """None if damaged, or if compiling here would give another library. A driver may not run a newer compiler's
    output; a machine without a compiler accepts any version."""
    here = COMPILERS[request.compiler].version()
    fits = artefact.arch == request.arch and (here is None or artefact.toolkit == here)
    if not (fits and artefact.key == request.key(artefact.toolkit) and artefact.intact):
        return None
    return CompileResult(True, artefact.library, artefact.log, 0.0, tuple(artefact.kernels))


def kernels_request(
    challenge: Challenge, language: Language, source: str, architecture: str
) -> KernelsRequest:
    """Calls at all sizes of public cases and workloads on a GPU. ``architecture``: such as sm_90a."""
    manifest = challenge.manifest
    cases = challenge.suite(ON_GPU, hidden=False)
    cases += [workload_case(challenge, workload) for workload in manifest.workloads if workload.on == ON_GPU]
    if manifest.gpus > 1:
        cases = []  # these calls take lists of tensors
    calls = {json.dumps(call): call for call in (_arguments(manifest, case) for case in cases)}
    return KernelsRequest(
        source=source,
        parameters=tuple(arg.name for arg in manifest.parameters),
        declaration=declaration(manifest, language),
        autograd=form(manifest),
        calls=tuple(calls.values()),
        arch=architecture,
    )


def _arguments(manifest: Manifest, case: Case) -> tuple[Argument, ...]:
    values = plain_values(manifest, case)
    return tuple(
        {"value": values[arg.name]} if arg.name in values else _tensor(manifest, arg, case)
        for arg in manifest.args
    )


def _tensor(manifest: Manifest, arg: Declared, case: Case) -> Argument:
    strides = manifest.strides(arg, case.sizes)
    said = {"dtype": arg.dtype.given, "shape": list(arg.dtype.given_shape(manifest.shape(arg, case.sizes)))}
    return said if strides is None else {**said, "strides": list(strides)}


def compile_kernels(
    boxes: BoxMaker, request: KernelsRequest, interrupt: Callable[[], None] = lambda: None
) -> Artefact:
    """The library is empty after a failure."""
    found = compile_ahead(boxes, request, interrupt)
    sha256 = hashlib.sha256(found).hexdigest()
    return Artefact(key=request.key(), arch=request.arch, toolkit="", library=found, sha256=sha256)


def kernels_of(artefact: Artefact, request: KernelsRequest) -> bytes | None:
    """None if damaged, or for another source, architecture or challenge."""
    fits = artefact.key == request.key() and artefact.intact
    return (unpacked(artefact.library) if fits else b"") or None


def compile_error(
    challenge: Challenge,
    language: Language,
    device: str,
    result: CompileResult,
    cases: int,
    environment: Mapping[str, str],
) -> Report:
    """``cases``: the number to pass."""
    return Report(
        verdict=Verdict.COMPILE_ERROR,
        challenge=challenge.slug,
        version=challenge.manifest.version,
        language=language,
        device=device,
        representative=kind_of(device).representative,
        score=Score(passed=0, total=cases),
        reward=0.0,
        compiler_log=result.log,
        detail=_first_error(result.log),
        hint=result.hint,
        environment=dict(environment),
    )


def _first_error(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line]
    return next(iter([*errors, *lines]), "It does not compile.")
