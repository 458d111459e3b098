"""A run of one case with its author's sizes and inputs."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.cases import Case
from grader.challenge.draw import filling_of
from grader.challenge.loader import Challenge
from grader.challenge.own_case import own_case, seed_of
from grader.challenge.scalars import text_of
from grader.challenge.views import LEFT_OUT
from grader.device_kinds import kind_of
from grader.errors import ChallengeInvalid, GraderError
from grader.schemas.own_case import OutputRecord, OwnCase, OwnRun
from grader.schemas.report import ThreadPrints

if TYPE_CHECKING:
    import torch

# Precedes a print, or counts dropped ones, see sandbox/emulator/engine/print.c.
_TAG = re.compile(
    rb"\x1e(?:(\d{1,10}),(\d{1,10}),(\d{1,10});(\d{1,10}),(\d{1,10}),(\d{1,10})|!(\d{1,19}))\x1f"
)


class Unanswered(GraderError):
    """The reference has no answer for these sizes and inputs."""


@dataclass
class KeptResults:
    """Checksums of the last call that returned."""

    inputs_sha256: str = ""
    outputs: list[OutputRecord] = field(default_factory=list)

    def keep(self, inputs: Mapping[str, torch.Tensor], results: Mapping[str, torch.Tensor]) -> None:
        digest = hashlib.sha256()
        for name in sorted(inputs):
            digest.update(name.encode() + b"\0" + _bytes(inputs[name]))
        self.inputs_sha256 = digest.hexdigest()
        self.outputs = [_record(name, values) for name, values in results.items()]


def _bytes(values: torch.Tensor) -> bytes:
    import torch

    flat = values.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def _record(name: str, values: torch.Tensor) -> OutputRecord:
    data, count = _bytes(values), values.numel()
    step = max(1, -(-count // limits.OWN_PARTS))
    width = step * values.element_size()
    return OutputRecord(
        argument=name,
        shape=list(values.shape),
        sha256=hashlib.sha256(data).hexdigest(),
        head=_words(values.reshape(-1)[: limits.OWN_HEAD]),
        parts=[f"{zlib.crc32(data[at : at + width]):08x}" for at in range(0, len(data), width)],
        part_elements=step,
    )


def _words(values: torch.Tensor) -> list[str]:
    """The shortest texts that the type reads back."""
    import torch

    if values.is_floating_point() and values.dtype is not torch.float64:
        values = values.float()
    return [str(value) for value in values.cpu().numpy()]


def case_and_seed(challenge: Challenge, asked: OwnCase, device: str) -> tuple[Case, int]:
    """Raises BadRequest, Conflict."""
    return own_case(challenge, asked, kind_of(device)), seed_of(challenge, asked)


def own_run(challenge: Challenge, asked: OwnCase, case: Case, seed: int, kept: KeptResults) -> OwnRun:
    return OwnRun(
        case=case.name,
        sizes=dict(case.sizes),
        inputs=_described(challenge, case),
        own=[*asked.sizes, *asked.inputs],
        seed=seed,
        inputs_sha256=kept.inputs_sha256,
        outputs=kept.outputs,
    )


def _described(challenge: Challenge, case: Case) -> dict[str, str]:
    manifest, found = challenge.manifest, {}
    for arg in manifest.buffers:
        if arg.name in challenge.readable:
            if arg.name in case.without:
                found[arg.name] = LEFT_OUT
                continue
            try:
                found[arg.name] = filling_of(manifest, case, arg).words()
            except ChallengeInvalid as error:
                found[arg.name] = error.message
    return found | {name: text_of(value) for name, value in case.scalars.items()}


@dataclass(frozen=True)
class Printed:
    """``by_thread``: the kernels' part. ``left_out``: dropped prints of kernels."""

    text: str = ""
    by_thread: list[ThreadPrints] = field(default_factory=list)
    left_out: int = 0


def of_threads(printed: bytes) -> tuple[bytes, list[ThreadPrints], int]:
    """The output without marks, each thread's first bytes, and the number of dropped prints. A print ends at the
    next mark, or with its line."""
    plain = bytearray()
    threads: dict[tuple[int, ...], bytearray] = {}
    left_out, kept, end = 0, 0, 0
    marks = list(_TAG.finditer(printed))
    for number, mark in enumerate(marks):
        plain += printed[end : mark.start()]
        end = mark.end()
        if mark[7] is not None:
            left_out += int(mark[7])
            continue
        until = marks[number + 1].start() if number + 1 < len(marks) else len(printed)
        said = printed[end:until]
        if kept + len(said) > limits.OWN_OUTPUT_KEPT_BYTES:
            left_out += 1
            continue
        kept += len(said)
        block, thread = (tuple(int(mark[group]) for group in groups) for groups in ((1, 2, 3), (4, 5, 6)))
        threads.setdefault((*block[::-1], *thread[::-1]), bytearray()).extend(said)
    plain += printed[end:]
    found = [
        ThreadPrints(block=place[2::-1], thread=place[:2:-1], text=_text(bytes(said)))
        for place, said in sorted(threads.items())
    ]
    return bytes(plain), found, left_out


def _text(said: bytes) -> str:
    return said.decode("utf-8", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
