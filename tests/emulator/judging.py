"""Runs a CUDA source on a challenge's cases on the emulated GPU, and reports failed cases, without the
judge's processes.
"""

from __future__ import annotations

import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.challenge.signature import cuda_footer
from grader.judge.arena import Arena
from grader.judge.compare import compare, forbidden_write
from grader.judge.oracle import Question, ask, scalar_values
from grader.sandbox.emulator.device import Device, HostEnded, HostProcess, Returned
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.explain import line_of, message_of
from grader.sandbox.toolkit import cuda_home

# Additional nvcc flags for PTX that runs on the emulated GPU.
NVCC_FLAGS = ["-cudart", "none", "--compress-mode=none", "-gencode=arch=compute_90a,code=compute_90a"]
# In the order of hopper.cu's cases.
HOPPER_PROGRAMS = (
    "library_barrier", "library_pipeline", "group_copy", "producer_consumer", "counted", "cluster_sum", "cluster_shape",
    "remote_arrival", "bulk_pipeline", "bulk_sum", "tensor_tiles", "tensor_cube", "multicast", "block_to_block",
    "product_f16", "product_f16_along_n", "product_f16_along_m_and_n", "product_tf32", "product_bytes",
    "product_halves", "group_sums", "warp_sums", "made_map", "tensor_tail",
)  # fmt: skip
SEED = 1


@dataclass
class Outcome:
    """``wrong``: failed case -> reason; ``seconds``: of each case's calls."""

    wrong: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    instructions: int = 0


def compile_source(challenge: Challenge, source: Path, folder: Path) -> Path:
    """The library of a source with the judge's footer. Raises RuntimeError if nvcc refuses it."""
    home = cuda_home()
    assert home is not None
    text, library = source.read_text(), folder / f"{challenge.slug}-{source.stem}.so"
    whole = library.with_suffix(".cu")
    whole.write_text(f"{text}\n\n{cuda_footer(challenge.manifest)}")
    flags = ["-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-lineinfo", *NVCC_FLAGS]
    if "// grader: rdc" in text:
        flags.append("-rdc=true")
    ran = subprocess.run(
        [home / "bin" / "nvcc", *flags, "-o", library, whole], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    return library


def judge(challenge: Challenge, library: Path, threads: int = 2) -> Outcome:
    """All public cases in turn; after a case that loses the device, the next one gets a new device."""
    outcome, table = Outcome(), None
    for case in challenge.suite("cpu", hidden=False):
        if table is None:
            table = Table(library, threads, gpus=challenge.manifest.gpus)
        question = ask(challenge, case, SEED)
        arena = Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
        arena.reveal(question.inputs)
        began = time.perf_counter()
        try:
            returned = table.call(arena)
        except HostEnded as ended:
            outcome.wrong[case.name], returned = str(ended), None
        outcome.seconds[case.name] = time.perf_counter() - began
        if returned is not None:
            outcome.instructions += returned.instructions
            if reason := reason_of(returned, arena, question):
                outcome.wrong[case.name] = reason
        if returned is None or returned.fault:
            table.close()
            table = None
        arena.close()
    if table is not None:
        table.close()
    return outcome


class Table:
    def __init__(self, library: Path, threads: int, *, gpus: int = 1) -> None:
        self.engine = Engine(threads, gpus=gpus)
        self.device = Device(self.engine)
        self.host = HostProcess(self.device, library)

    def close(self) -> None:
        self.host.close()
        self.engine.close()

    def call(self, arena: Arena, *, counted: bool = False) -> Returned:
        values, addresses = [], []
        buffers = {buffer.label: buffer for buffer in arena.pieces()}
        for entry in arena.entries():
            if entry["kind"] == "value":
                values.append(bytes.fromhex(entry["data"]))
                continue
            buffer = buffers[entry["name"]]
            data = buffer.values.data_ptr() if entry["nbytes"] else 0
            written = buffer.argument.kind is not Kind.OUTPUT
            addresses.append(
                self.device.adopt(
                    data, entry["nbytes"], entry["name"], written=written, gpu=entry.get("gpu", 0)
                )
            )
            values.append(struct.pack("<Q", addresses[-1]))
        try:
            return self.host.call(values, counted=counted)
        finally:
            for address in addresses:
                self.device.forget(address)


def reason_of(returned: Returned, arena: Arena, question: Question) -> str:
    if returned.unsupported is not None:
        return str(returned.unsupported)
    for found in [returned.fault, *returned.findings]:
        if found is not None:
            return f"line {line_of(found)}: {message_of(found)}"
    if returned.code:
        return returned.refused or f"error {returned.code}"
    mismatch = compare(arena, arena.snapshot(), question) or forbidden_write(arena, question)
    return (
        f"{mismatch.argument}{mismatch.index} is {mismatch.got}, not {mismatch.expected}" if mismatch else ""
    )
