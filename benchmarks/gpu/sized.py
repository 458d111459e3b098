"""The catalogue's right sources (solutions and benchmarks/variants) at two sets of sizes. No mutant passes all of its
challenge's cases, so none is among them.

``sized``: a card can tell the work from the launch, and the emulated GPU counts every block in seconds. ``board``: the
sizes that the emulated board times.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agreement import Subject, of_catalogue

from grader.challenge.cases import Case
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Workload
from grader.judge.compilation import compile_source, request_of
from grader.judge.oracle import Question, ask, workload_case
from grader.languages import Language
from grader.sandbox.box import BoxMaker

SEED = 18
FAMILIES = {
    "elementwise": ("vector_add", "saxpy", "relu", "gelu"),
    "reduction": ("reduce_sum", "dot", "argmax_rows"),
    "scan": ("inclusive_scan", "stream_compact"),
    "transpose": ("transpose",),
    "matmul": ("matmul", "matmul_fp16", "matmul_bf16", "masked_scaled_matmul"),
    "rows": ("softmax", "layernorm", "rmsnorm", "layernorm_backward"),
    "attention": ("attention", "causal_attention_fp16"),
    "stencil": ("conv1d", "conv2d"),
    "sparse": ("histogram", "spmv_csr"),
}
NAMES = SIZED_SET, BOARD = "sized", "board"
SIZED: dict[str, dict[str, int]] = {
    "vector_add": {"n": 1 << 23},
    "saxpy": {"n": 1 << 23},
    "relu": {"n": 1 << 23},
    "gelu": {"n": 1 << 22},
    "reduce_sum": {"n": 1 << 24},
    "dot": {"n": 1 << 23},
    "argmax_rows": {"rows": 4096, "cols": 2048},
    "inclusive_scan": {"n": 1 << 22},
    "stream_compact": {"n": 1 << 22},
    "transpose": {"rows": 4096, "cols": 2048},
    "matmul": {"m": 512, "n": 512, "k": 512},
    "matmul_fp16": {"m": 1024, "n": 1024, "k": 256},
    "matmul_bf16": {"m": 1024, "n": 1024, "k": 256},
    "masked_scaled_matmul": {"m": 512, "n": 512, "k": 512},
    "softmax": {"rows": 4096, "cols": 1024},
    "layernorm": {"rows": 4096, "cols": 1024},
    "rmsnorm": {"rows": 4096, "cols": 1024},
    "layernorm_backward": {"rows": 4096, "cols": 1024},
    "attention": {"heads": 8, "seq": 256, "dim": 64},
    "causal_attention_fp16": {"heads": 8, "seq": 512, "dim": 64},
    "conv1d": {"n": 1 << 22, "k": 7},
    "conv2d": {"h": 2048, "width": 2048, "kh": 3, "kw": 3},
    "histogram": {"n": 1 << 23, "bins": 256},
    "spmv_csr": {"rows": 1 << 17, "cols": 1 << 17, "nnz": 1 << 21},
}


def family_of(slug: str) -> str:
    return next(family for family, slugs in FAMILIES.items() if slug in slugs)


def right(catalogue: Catalogue, wanted: Sequence[str]) -> list[Subject]:
    """Solutions and variants; ``wanted``: slugs or names of subjects; all if empty."""
    every = (
        subject
        for subject in of_catalogue(catalogue)
        if subject.path.parent.name != "mutants" and subject.slug in SIZED
    )
    return [subject for subject in every if not wanted or {subject.name, subject.slug} & set(wanted)]


def sizes_of(challenge: Challenge, sizes: str) -> dict[str, int]:
    """``sizes``: a name of NAMES."""
    if sizes == BOARD:
        return dict(challenge.manifest.timed_on("emulated")[0].sizes)
    return SIZED[challenge.slug]


def sized_case(challenge: Challenge, sizes: str = "sized") -> Case:
    """``sizes``: a name of NAMES."""
    return workload_case(challenge, Workload(name=sizes, on="gpu", sizes=sizes_of(challenge, sizes)))


class Questions:
    """Inputs and right answers of the challenge asked for last: sources of one come one after the other."""

    def __init__(self, sizes: str = "sized") -> None:
        self._sizes = sizes
        self._lock = threading.Lock()
        self._slug = ""
        self._question: Question | None = None

    def of(self, challenge: Challenge) -> Question:
        with self._lock:
            if self._question is None or self._slug != challenge.slug:
                self._slug = challenge.slug
                self._question = ask(challenge, sized_case(challenge, self._sizes), SEED)
            return self._question


def compiled(
    subjects: Sequence[Subject],
    catalogue: Catalogue,
    boxes: BoxMaker,
    architecture: str,
    threads: int,
    folder: Path,
) -> Iterator[tuple[Subject, Path | None]]:
    """What runs of each, as soon as it is there and in order: a library of a CUDA source, in ``folder`` unless it is
    there already; a Triton source as it is; None where nvcc refuses it, which is printed."""

    def one(subject: Subject) -> Path | None:
        if not subject.language.compiled:
            return subject.path
        request = request_of(catalogue.load(subject.slug), Language.CUDA, subject.source, architecture)
        library = folder / f"{subject.slug}-{subject.path.stem}-{request.key()[:16]}.so"
        if library.exists():
            return library
        made = compile_source(boxes, request)
        if made.artefact is None:
            print(f"{subject.name}: nvcc: {made.log[-400:]}", flush=True)
            return None
        library.write_bytes(made.artefact)
        return library

    with ThreadPoolExecutor(threads) as pool:
        yield from zip(subjects, pool.map(one, subjects), strict=True)
