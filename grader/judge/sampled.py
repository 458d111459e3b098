"""GPU-only cases on the emulated GPU: a sample of blocks, on arrays whose pages are filled when touched.

Blocks that most likely work on chosen elements run (``sandbox/emulator/sample.py``); what they wrote is compared.
Unwritten chosen elements mean that the kernel leaves some out.
"""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.expression import parse
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.pattern import (
    MOST_ASKED,
    elements_along,
)
from grader.judge.arena import Buffer
from grader.judge.channel import ChannelError
from grader.judge.compare import Compared, broken_guard, explain, wrong_in
from grader.judge.faults import CaseFault, of_broken_channel, of_exception, of_mismatch
from grader.judge.messages import Sampled
from grader.judge.oracle import results_of
from grader.judge.runner_client import Answer, RunnerClient
from grader.judge.sampled_arena import BEYOND, LargeArena, LargeBuffer
from grader.judge.scales import scales_of
from grader.judge.worst import index_of, text_of
from grader.schemas.report import CaseVerdict, Mismatch

if TYPE_CHECKING:
    import torch

# Blocks that take elements in order write at least this share of the chosen ones below 2^31.
_IN_ORDER = 0.75
# If less is written, elements are left out. If threads take equal numbers of elements, up to half of all blocks are
# idle.
_FAIR_SHARE = 0.5


_IN_64_BITS = (
    "A 32-bit index ends at 2,147,483,647, and a product of two may exceed that: compute it in 64 bits "
    "(long long or size_t in CUDA, .to(tl.int64) in Triton)."
)
_WHOLE_GRID = (
    "A grid has up to 2,147,483,647 blocks along x, and 65,535 along y and z. If it has fewer blocks than the work "
    "needs, each thread must go on with the next element."
)


_DISTANCE = re.compile(r"([\d,]+) bytes (before|behind|past)")
_FAR_BYTES = 1 << 28


def _is_far(message: str) -> bool:
    found = _DISTANCE.search(message)
    return found is not None and (found[2] == "before" or int(found[1].replace(",", "")) >= _FAR_BYTES)


def not_covered(why: str) -> CaseFault:
    return CaseFault(CaseVerdict.NOT_COVERED, f"Not covered here: {why}. A real GPU runs this case in full.")


def examine(
    challenge: Challenge, case: Case, arena: LargeArena, answer: Answer, memory_bytes: int
) -> tuple[CaseFault | None, Mismatch | None]:
    """The fault that the sample shows, if any."""
    sampled, failure = answer.sampled or Sampled(), answer.failure
    if failure is not None and failure.kind == "checker":
        fault = of_exception(failure, "solve ran", memory_bytes)
        if failure.type == "out_of_bounds" and not fault.hint and _is_far(failure.message):
            fault = replace(fault, hint=_IN_64_BITS)
        return fault, None
    if failure is not None and (sampled.incomplete or failure.kind == "memory"):
        return not_covered(sampled.incomplete or "it needs more memory than there is here"), None
    if failure is not None:
        return of_exception(failure, "solve ran", memory_bytes), None
    mismatch = broken_guard(arena) or _changed_input(arena)
    if mismatch is not None:
        return of_mismatch(mismatch, case, answer.empty_launches), mismatch
    if sampled.incomplete:
        return not_covered(sampled.incomplete), None
    if not values_are_compared(challenge):
        return (None if sampled.guessed else _unread(challenge.manifest, arena, sampled)), None
    written = {arg.name: _written(arena, arg) for arg in challenge.manifest.results}
    finding: CaseFault | None
    if (mismatch := _wrong(challenge, case, arena, written)) is not None:
        finding = of_mismatch(mismatch, case, answer.empty_launches)
    else:
        finding = _left_out(challenge.manifest, arena, written, sampled)
    if finding is not None and (sampled.guessed or sampled.combined):
        return not_covered("a result that several blocks or launches combine needs all of them"), None
    return finding, mismatch


def values_are_compared(challenge: Challenge) -> bool:
    """True if pieces are contiguous and no checker needs whole ones."""
    return challenge.manifest.has_checked_results and challenge.checker is None


def of_lost_box(client: RunnerClient, error: ChannelError, seconds: float) -> CaseFault:
    """A real GPU might have succeeded: it has more time and memory, and shares arrays with the host. Raises
    BoxKilled."""
    found = of_broken_channel(client, error, "solve ran", seconds)
    end = client.box.end()
    if end is not None and end.signal == signal.SIGBUS:
        return not_covered("solve uses the arrays outside its kernels, for example in torch's operations")
    if found.verdict in (CaseVerdict.TIME_LIMIT, CaseVerdict.MEMORY_LIMIT):
        return not_covered(found.detail.partition("\n")[0].rstrip("."))
    return found


def _changed_input(arena: LargeArena) -> Mismatch | None:
    import torch

    for buffer in arena.of_kind(Kind.INPUT):
        name = buffer.argument.name
        places, now = arena.touched(name)
        for some, held in zip(torch.split(places, MOST_ASKED), torch.split(now, MOST_ASKED), strict=True):
            before = arena.initial(name, some)
            each = (some.numel(), buffer.argument.dtype.itemsize)
            changed = (held.view(torch.uint8).view(each) != before.view(torch.uint8).view(each)).any(dim=1)
            if changed.any():
                first = int(changed.nonzero()[0])
                return Mismatch(
                    argument=name,
                    kind="input_changed",
                    index=index_of(int(some[first]), buffer.shape),
                    expected=text_of(before[first]),
                    got=text_of(held[first]),
                    wrong=int(changed.sum()),
                    total=places.numel(),
                )
    return None


def _written(arena: LargeArena, arg: Argument) -> tuple[torch.Tensor, torch.Tensor]:
    """Flat places written (of an in-out: changed), and their values."""
    import torch

    places, values = arena.touched(arg.name)
    if arg.kind is Kind.OUTPUT:
        kept = ~arena.buffers[arg.name].poisoned(values)
    else:
        each = (places.numel(), arg.dtype.itemsize)
        before = arena.initial(arg.name, places)
        kept = (values.view(torch.uint8).view(each) != before.view(torch.uint8).view(each)).any(dim=1)
    return places[kept], values[kept]


def _along(manifest: Manifest, arg: Argument) -> int | None:
    assert manifest.pieces is not None
    along = manifest.pieces.along
    return next((place for place, text in enumerate(arg.shape) if along in parse(text).names), None)


def _thinned(values: torch.Tensor, most: int) -> torch.Tensor:
    import torch

    if values.numel() <= most:
        return values
    return values[torch.linspace(0, values.numel() - 1, most, dtype=torch.float64).long()]


class _Asked:
    """Joins wanted places along ``[pieces]`` to one piece for the reference."""

    def __init__(self, challenge: Challenge, case: Case, arena: LargeArena, wanted: torch.Tensor) -> None:
        """``wanted``: distinct, ascending."""
        import torch

        manifest = challenge.manifest
        assert manifest.pieces is not None
        overlap = parse(manifest.pieces.overlap).integer(case.sizes)
        first = torch.ones(wanted.numel(), dtype=torch.bool)
        first[1:] = wanted[1:] != wanted[:-1] + 1
        self._starts = wanted[first]
        run = first.cumsum(0) - 1
        lengths = torch.bincount(run) + overlap
        self._offsets = lengths.cumsum(0) - lengths
        total = int(lengths.sum())
        read = torch.arange(total) + (self._starts - self._offsets).repeat_interleave(lengths)
        given = {}
        for arg in manifest.buffers:
            if arg.name not in arena.inputs and arg.name not in arena.patterns:
                continue
            shape = arena.buffers[arg.name].shape
            if _along(manifest, arg) is None:
                given[arg.name] = arena.inputs[arg.name]
                continue
            stride = math.prod(shape[1:])
            places = (read[:, None] * stride + torch.arange(stride)).reshape(-1)
            given[arg.name] = arena.initial(arg.name, places).view(total, *shape[1:])
        sizes = {**case.sizes, manifest.pieces.along: total}
        reference = challenge.reference
        self._right = results_of(challenge, case, reference.compute, given, sizes)
        self._scale: Mapping[str, torch.Tensor] = {}
        if (scales := scales_of(challenge)) is not None:
            self._scale = results_of(challenge, case, scales, given, sizes)

    def at(
        self, name: str, shape: tuple[int, ...], along: int, places: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Right values and scales of errors at flat places."""
        import torch

        stride = math.prod(shape[along + 1 :])
        wanted = places // stride % shape[along]
        run = torch.searchsorted(self._starts, wanted, right=True) - 1
        position = self._offsets[run] + wanted - self._starts[run]
        right = self._right[name]
        outer = places // (stride * shape[along])
        flat = (outer * right.shape[along] + position) * stride + places % stride
        scale = self._scale.get(name)
        return right.reshape(-1)[flat], None if scale is None else scale.reshape(-1)[flat]


def _wrong(
    challenge: Challenge,
    case: Case,
    arena: LargeArena,
    written: Mapping[str, tuple[torch.Tensor, torch.Tensor]],
) -> Mismatch | None:
    """Of many places, only some are checked."""
    import torch

    manifest = challenge.manifest
    most = max(1, MOST_ASKED // elements_along(manifest, case.sizes))
    for arg in manifest.results:
        places, got = written[arg.name]
        if not places.numel():
            continue
        buffer, along = arena.buffers[arg.name], _along(manifest, arg)
        assert along is not None
        kept = _thinned(torch.arange(places.numel()), MOST_ASKED)
        places, got = places[kept], got[kept]
        of_each = places // math.prod(buffer.shape[along + 1 :]) % buffer.shape[along]
        asked = _thinned(torch.unique(of_each), most)
        kept = torch.isin(of_each, asked)
        places, got = places[kept], got[kept]
        right, scale = _Asked(challenge, case, arena, asked).at(arg.name, buffer.shape, along, places)
        compared = wrong_in(buffer, got, right.to(buffer.dtype), scale)
        if compared.wrong.any():
            return _explained(buffer, compared, places)
    return None


def _explained(buffer: Buffer, compared: Compared, places: torch.Tensor) -> Mismatch:
    import torch

    first = int(compared.wrong.nonzero()[0])
    beside = places[first:] - places[first] == torch.arange(places.numel() - first)
    run = slice(first, first + (int(beside.long().argmin()) or beside.numel()))
    part = replace(
        compared,
        got=compared.got[run],
        want=compared.want[run],
        wrong=compared.wrong[run],
        poisoned=None if compared.poisoned is None else compared.poisoned[run],
        magnitude=None if compared.magnitude is None else compared.magnitude[run],
    )
    found = explain(buffer, part, buffer.shape, first_place=int(places[first]))
    return found.model_copy(update={"wrong": int(compared.wrong.sum()), "total": places.numel()})


def _left_out(
    manifest: Manifest,
    arena: LargeArena,
    written: Mapping[str, tuple[torch.Tensor, torch.Tensor]],
    sampled: Sampled,
) -> CaseFault | None:
    for arg in manifest.results:
        # Writing an in-out's old value does not show: touched places count.
        places = written[arg.name][0] if arg.kind is Kind.OUTPUT else arena.touched(arg.name)[0]
        finding = _left_out_of(manifest, arena, arg, places, sampled)
        if finding is not None:
            return finding
    return None


def _unread(manifest: Manifest, arena: LargeArena, sampled: Sampled) -> CaseFault | None:
    for arg in manifest.buffers:
        if arg.name in arena.patterns:
            places = arena.touched(arg.name)[0]
            finding = _left_out_of(manifest, arena, arg, places, sampled, verb="read")
            if finding is not None:
                return finding
    return None


def _left_out_of(
    manifest: Manifest,
    arena: LargeArena,
    arg: Argument,
    places: torch.Tensor,
    sampled: Sampled,
    *,
    verb: str = "written",
) -> CaseFault | None:
    """``places``: elements that were ``verb``, ascending."""
    import torch

    buffer = arena.buffers[arg.name]
    targets, beyond = _targets_of(manifest, arena, buffer)
    if places.numel() and beyond < buffer.count and int(places[-1]) >= beyond:
        return None
    wanted = torch.tensor(sorted(place for place in targets if place < beyond))
    in_order = float(torch.isin(wanted, places).double().mean()) >= _IN_ORDER
    if in_order and beyond < buffer.count:
        detail = f"Element {beyond:,} of {arg.name} and those after it were never {verb}."
        return CaseFault(CaseVerdict.WRONG_ANSWER, detail, _IN_64_BITS)
    # Any launch may do the work: the largest factor is safe.
    factor = max((launch.blocks / launch.ran for launch in sampled.launches if launch.ran), default=0.0)
    share = places.numel() * factor / buffer.count
    most = max(
        (launch.blocks / launch.fair if launch.fair else math.inf for launch in sampled.launches), default=0.0
    )
    if not places.numel() or places.numel() * most / buffer.count < _FAIR_SHARE:
        part = f"about {share:.2%}" if share else "nothing"
        detail = f"{part} of {arg.name} is {verb} by all blocks of the grid together."
        return CaseFault(CaseVerdict.WRONG_ANSWER, detail[0].upper() + detail[1:], _WHOLE_GRID)
    if beyond < buffer.count:
        return not_covered(
            f"none of the blocks that ran works on element {beyond:,} of {arg.name} or later ones"
        )
    return None


def _targets_of(manifest: Manifest, arena: LargeArena, buffer: Buffer) -> tuple[list[int], int]:
    """Also the first element that needs an index of more than 32 bits."""
    if isinstance(buffer, LargeBuffer):
        return buffer.targets, BEYOND
    # A small result: elements that correspond to the inputs' targets.
    assert manifest.pieces is not None
    large = max(
        (buffer for buffer in arena.buffers.values() if isinstance(buffer, LargeBuffer)),
        key=lambda buffer: buffer.count,
    )
    each = elements_along(manifest, arena.sizes)
    own = max(1, buffer.count // arena.sizes[manifest.pieces.along])
    return sorted({place // each * own for place in large.targets}), -(-BEYOND // each) * own
