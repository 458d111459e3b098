"""The conformance suite: kernels, one for each instruction family and feature, and whole programs with a ``main``, each
run unmodified on a card and on the emulated GPU, and what their results have in common.

``*.cu`` here are families of kernels, ``programs/*.cu`` the programs; ``conformance.cuh`` says what a kernel is.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent
PROGRAMS = FOLDER / "programs"
# The file of a card's results, without its machine.
CARD = "conformance_card"
RUN_SECONDS = 120.0
_CONTRACTED = "the card's assembler makes one fma of a product and a sum in float16 that PTX lets it contract"
# Kernels and programs whose results differ, and why.
EXPECTED = {
    "mul_f16x2": _CONTRACTED,
    "round_f16": _CONTRACTED,
}
# Results are compared as these; bfloat16 has no type of NumPy's.
_TYPES: dict[str, np.dtype[Any]] = {
    "bf": np.dtype("u2"),
    "f2": np.dtype("f2"),
    "f4": np.dtype("f4"),
    "f8": np.dtype("f8"),
}


class CompileFailed(RuntimeError):
    """nvcc refused a file of the suite; the text is what it said."""


@dataclass(frozen=True)
class Family:
    """``flags``: more words for nvcc; ``architecture``: of the PTX, which both devices run; ``alone``: each kernel
    ends its process."""

    name: str
    flags: tuple[str, ...] = ()
    architecture: int = 80
    alone: bool = False

    @property
    def source(self) -> Path:
        return FOLDER / f"{self.name}.cu"


FAMILIES = (
    Family("integers"), Family("bits"), Family("floats"), Family("flush", ("-ftz=true",)), Family("compare"),
    Family("conversions"), Family("approximations"), Family("mathematics"), Family("fast_math", ("-use_fast_math",)),
    Family("halves"), Family("fp8", architecture=90), Family("types", architecture=90),
    Family("hopper", architecture=90),
    Family("atomics"), Family("warps"), Family("blocks"),
    Family("memory"), Family("control"), Family("matrices"), Family("host"), Family("libraries"),
    Family("faults", alone=True),
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """Of one kernel. ``type``: NumPy's short name of an element, or ``bf`` for bfloat16; ``error``: CUDA's name;
    ``data``: the buffer; ``said``: what it printed, or on the emulated GPU why it was refused."""

    name: str
    family: str
    type: str
    rule: str
    error: str
    data: bytes
    said: str = ""

    def kept(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "family": self.family,
            "type": self.type,
            "rule": self.rule,
            "error": self.error,
            "said": self.said,
            "sha256": hashlib.sha256(self.data).hexdigest(),
            "data": base64.b64encode(zlib.compress(self.data, 9)).decode(),
        }

    @classmethod
    def of(cls, row: dict[str, Any]) -> Result:
        """What ``kept`` made."""
        data = zlib.decompress(base64.b64decode(row["data"]))
        return cls(
            row["name"], row["family"], row["type"], row["rule"], row["error"], data, row.get("said", "")
        )


@dataclass(frozen=True)
class CardResults:
    """What a card computed. ``programs``: exit code and output, by name."""

    kernels: list[Result]
    programs: dict[str, tuple[int, str]]


def kept_of_card(folder: Path) -> CardResults | None:
    """The newest among the kept figures; None where no card has run the suite yet."""
    kept = [json.loads(path.read_text()) for path in folder.glob(f"{CARD}-*.json")]
    if not kept:
        return None
    figures = max(kept, key=lambda run: str(run["measured"]))["figures"]
    ran = {row["name"]: (row["code"], row["output"]) for row in figures["programs"]}
    return CardResults([Result.of(row) for row in figures["kernels"]], ran)


# ---- compiling ----


def programs() -> list[Path]:
    return sorted(PROGRAMS.glob("*.cu"))


def compile_for_card(
    nvcc: Path, source: Path, folder: Path, code: int, *, architecture: int, flags: Sequence[str] = ()
) -> Path:
    """A program over CUDA's own runtime, as machine code for ``code`` (90: sm_90). Raises CompileFailed."""
    made = folder / source.stem
    gencode = f"-gencode=arch=compute_{architecture},code=sm_{code}"
    _run(nvcc, ["-O3", "-std=c++17", gencode, *flags, "-o", made, source])
    return made


def compile_for_emulator(
    nvcc: Path, source: Path, folder: Path, *, architecture: int, flags: Sequence[str] = ()
) -> Path:
    """A library for the emulated GPU's host process. Raises CompileFailed."""
    made = folder / f"{source.stem}.so"
    gencode = f"-gencode=arch=compute_{architecture},code=compute_{architecture}"
    shared = ["-shared", "-Xcompiler", "-fPIC", "-std=c++17", "-lineinfo"]
    _run(
        nvcc,
        [*shared, "-cudart", "none", "--compress-mode=none", gencode, *flags, "-o", made, source],
    )
    return made


def with_entries(wanted: Sequence[Path], folder: Path) -> Path:
    """A source whose library entry point calls the ``main`` of the program that its first argument numbers.

    The programs are unchanged: each is included in its own namespace, after all headers.
    """
    headers = {
        line for path in wanted for line in path.read_text().splitlines() if line.startswith("#include <")
    }
    lines = sorted(headers)
    for path in wanted:
        lines += [
            f"#define main main_of_{path.stem}",
            f"namespace in_{path.stem} {{",
            f'#include "{path}"',
            "}",
        ]
        lines += ["#undef main"]
    lines += ['extern "C" int grader_entry(void** values) {', "switch (*static_cast<int*>(values[0])) {"]
    for number, path in enumerate(wanted):
        lines.append(f"case {number}: return in_{path.stem}::main_of_{path.stem}();")
    lines += ["default: return -1;", "}", "}"]
    wrapped = folder / (f"{wanted[0].stem}.cu" if len(wanted) == 1 else "programs.cu")
    wrapped.write_text("\n".join(lines) + "\n")
    return wrapped


def _run(nvcc: Path, words: Sequence[str | Path]) -> None:
    ran = subprocess.run([nvcc, *words], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CompileFailed(ran.stderr[-4000:])


# ---- running ----


def run_on_card(program: Path, gpu: int, only: str | None = None) -> tuple[int, str]:
    """Exit code and output. Raises subprocess.TimeoutExpired."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)}
    if only:
        environment["CONFORMANCE_ONLY"] = only
    ran = subprocess.run(
        [program], capture_output=True, text=True, check=False, env=environment, timeout=RUN_SECONDS
    )
    return ran.returncode, ran.stdout


@dataclass(frozen=True)
class Emulated:
    """What a program came to: its exit code, its output with that of its kernels, what the checker found, and why an
    instruction was refused."""

    code: int
    output: str
    found: list[str]
    refused: str


def run_on_emulator(library: Path, only: str | None = None, program: int = 0) -> Emulated:
    """``only``: that kernel of a family; ``program``: which of ``with_entries``. Raises what HostProcess does."""
    from grader.sandbox.emulator.device import Device, HostProcess
    from grader.sandbox.emulator.engine import Engine

    engine = Engine()
    os.environ.pop("CONFORMANCE_ONLY", None)
    if only:
        os.environ["CONFORMANCE_ONLY"] = only
    try:
        with tempfile.TemporaryFile() as output:
            host = HostProcess(Device(engine), library, output=output.fileno())
            try:
                returned = host.call([struct.pack("<i", program)])
            finally:
                host.close()
            output.seek(0)
            text = (returned.printed + output.read()).decode("utf-8", "replace")
    finally:
        os.environ.pop("CONFORMANCE_ONLY", None)
        engine.close()
    found = [
        f"{finding.kernel}: {finding.kind} at line {finding.place.line}" for finding in returned.findings
    ]
    return Emulated(returned.code, text, found, str(returned.unsupported or returned.refused or ""))


def results_in(output: str, family: str) -> Iterator[Result]:
    """The kernels in a program's output. Text between two of them is what they printed."""
    said: list[str] = []
    for line in output.splitlines():
        if not line.startswith("kernel|"):
            said.append(line)
            continue
        _, name, kind, rule, error, data = line.split("|")
        yield Result(name, family, kind, rule, error, bytes.fromhex(data), "\n".join(said))
        said = []


def kernel_names(family: Family) -> list[str]:
    """Of a family whose kernels run alone: as its source has them, in a macro's first word."""
    lines = family.source.read_text().splitlines()
    return [line.partition("(")[2].partition(")")[0] for line in lines if line.startswith("FAULT(")]


def in_threads(work: Any, items: Sequence[Any], threads: int) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


# ---- comparing ----


@dataclass(frozen=True)
class Comparison:
    """``verdict``: equal, within (its bound) or differs; ``detail``: how far at most, or the first that differs;
    ``nans``: elements that are NaN on both, with other bits."""

    name: str
    family: str
    verdict: str
    detail: str = ""
    nans: int = 0


def compare(card: Result, emulated: Result) -> Comparison:
    """Each result of a card's against the emulated GPU's, by the rule that the kernel has now."""

    def differs(detail: str) -> Comparison:
        return Comparison(card.name, card.family, "differs", detail)

    if card.error != emulated.error:
        return differs(f"card {card.error}, emulated {emulated.error} {emulated.said}".strip())
    if card.error == "cudaSuccess" and card.said != emulated.said:
        return differs(f"card prints {card.said!r}, emulated {emulated.said!r}")
    if (card.type, len(card.data)) != (emulated.type, len(emulated.data)):
        return differs("the suite has changed since the card ran")
    if card.error != "cudaSuccess" or card.data == emulated.data:
        return Comparison(card.name, card.family, "equal")
    kind = _TYPES[card.type] if card.type in _TYPES else np.dtype(card.type)
    bits = [np.frombuffer(part.data, f"u{kind.itemsize}") for part in (card, emulated)]
    values = [_numbers(part, card.type) for part in bits]
    both_nan = np.isnan(values[0]) & np.isnan(values[1])
    off = (bits[0] != bits[1]) & ~both_nan
    nans = int((both_nan & (bits[0] != bits[1])).sum())
    if not off.any():
        return Comparison(card.name, card.family, "equal", nans=nans)
    allowed = _allowed(emulated.rule, bits, values, kind) if card.type[0] in "fb" else ~off
    distance = _distances(bits)
    wrong = off & ~allowed
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        shown = [f"{float(value[at])!r} ({int(bit[at]):#x})" for value, bit in zip(values, bits, strict=True)]
        return differs(
            f"{int(wrong.sum())} of {len(wrong)} elements; the first, {at}: card {shown[0]}, emulated {shown[1]}"
        )
    return Comparison(card.name, card.family, "within", f"at most {int(distance[off].max())} ulp", nans)


def compare_programs(name: str, card: tuple[int, str], emulated: Emulated) -> Comparison:
    """A program's exit code and output, which must be equal."""
    if card == (emulated.code, emulated.output):
        return Comparison(name, "programs", "equal")
    lines = zip([*card[1].splitlines(), ""], [*emulated.output.splitlines(), ""], strict=False)
    first = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
    detail = (
        f"code {card[0]} and {emulated.code}; card {first[0]!r}, emulated {first[1]!r} {emulated.refused}"
    )
    return Comparison(name, "programs", "differs", detail)


def _numbers(bits: np.ndarray, kind: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of a NaN that signals
        if kind == "bf":
            return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return bits.view(kind).astype(np.float64)


def _distances(bits: Sequence[np.ndarray]) -> np.ndarray:
    """How many representable numbers apart; the two zeros count as two."""
    width = 8 * bits[0].itemsize
    ordered = []
    for encoded in bits:
        words = [int(word) for word in encoded]
        ordered.append(
            [(1 << width) - 1 - word if word >> (width - 1) else word + (1 << (width - 1)) for word in words]
        )
    return np.array([abs(a - b) for a, b in zip(*ordered, strict=True)], dtype=object)


def _allowed(
    rule: str, bits: Sequence[np.ndarray], values: Sequence[np.ndarray], kind: np.dtype[Any]
) -> np.ndarray:
    """Where one of the rule's bounds holds."""
    words = rule.split()
    allowed = np.zeros(len(bits[0]), bool)
    finite = np.isfinite(values[0]) & np.isfinite(values[1])
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(values[0] - values[1])
        for what, bound in zip(words[::2], words[1::2], strict=False):
            limit = float.fromhex(bound)
            if what == "ulp":
                allowed |= (
                    (_distances(bits) <= limit).astype(bool) & ~np.isnan(values[0]) & ~np.isnan(values[1])
                )
            elif what == "absolute":
                allowed |= finite & (apart <= limit + _half_ulp(values[0], kind))
            elif what == "relative":
                allowed |= finite & (apart <= limit * np.abs(values[0]) + _half_ulp(values[0], kind))
    return allowed


def _half_ulp(values: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    """What the emulated GPU's own rounding takes."""
    digits = {"f2": 11, "f4": 24, "f8": 53}.get(kind.str[1:], 8)
    return np.asarray(np.abs(values) * 2.0**-digits)
