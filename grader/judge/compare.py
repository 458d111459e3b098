"""Compares what a submission wrote with what is right, every element of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.model import Argument, Kind, Manifest, Tolerance
from grader.judge.arena import Arena, Buffer
from grader.judge.oracle import Question
from grader.judge.worst import Suspects, allowed_error, index_of, text_of, worst_elements
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

# The kind of a mismatch that was there when the call was "done", and no more a moment later.
LATE = "late"
# The kind of a mismatch where a kernel computed with the poison: it added to an output that it had not set.
NOT_CLEARED = "not_cleared"
# Elements that have to agree before a maximum or minimum with the poison is no chance.
_TELLING = 8
# To compare so much at a time takes as much again.
_PIECE_BYTES = 1 << 26
# Of a result that is compared piece by piece: float64 copies and masks of a piece take a dozen times as much.
_LARGE_PIECE_BYTES = 1 << 27


@dataclass(frozen=True)
class _Compared:
    """One result, flat and cut to what counts, with which elements are wrong and which were never written."""

    got: torch.Tensor
    want: torch.Tensor
    wrong: torch.Tensor
    poisoned: torch.Tensor | None
    magnitude: torch.Tensor | None


def compare(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> Mismatch | None:
    """The first result that differs, or None. ``snapshot`` is a private copy of in-outs and outputs."""
    for arg in arena.manifest.results:
        if _same_bits(snapshot[arg.name], question.outputs[arg.name]):
            continue
        compared = _compare(arena, arg, snapshot, question)
        if compared.wrong.any():
            return _explain(arena.buffers[arg.name], compared, arena.manifest.tolerance)
    return None


def compare_in_pieces(arena: Arena, question: Question) -> Mismatch | None:
    """As ``compare``, on what the arena holds now: a private copy of one piece after the other, so that a large result
    needs no copy of the whole. What is found in the first wrong piece is explained, ``wrong`` counts all of them."""
    for arg in arena.manifest.results:
        buffer, found, wrong = arena.buffers[arg.name], None, 0
        want = question.outputs[arg.name].reshape(-1)
        scale = question.magnitudes.get(arg.name)
        number = counted(arena.manifest, arg, question, want.numel())
        step = _LARGE_PIECE_BYTES // want.element_size()
        for start in range(0, number, step):
            piece = slice(start, min(start + step, number))
            of_piece = want[piece], None if scale is None else scale.reshape(-1)[piece]
            got, right = _taken(buffer, piece, arena.manifest.tolerance, *of_piece)
            if right:
                continue
            compared = _wrong_in(buffer, arena.manifest.tolerance, got, *of_piece)
            if found is None and compared.wrong.any():
                found = _explain(buffer, compared, arena.manifest.tolerance, first_place=start)
            wrong += int(compared.wrong.sum())
        if found is not None:
            return found.model_copy(update={"wrong": wrong, "total": number})
    return None


def _taken(
    buffer: Buffer, piece: slice, tolerance: Tolerance, want: torch.Tensor, scale: torch.Tensor | None
) -> tuple[torch.Tensor, bool]:
    """A private copy of a piece of a result, and whether it is right for certain: of what is not, some may be wrong."""
    import torch

    values = buffer.values[piece]
    if not values.is_cuda:
        got = values.clone()
        return got, _same_bits(got, want)
    from grader.judge.cuda import kernels

    got = torch.empty_like(values)
    suspects = torch.zeros(kernels.check_blocks(values.numel()), dtype=torch.int32, device=values.device)
    bounds = tolerance.atol, tolerance.rtol
    kernels.full_check(values, values.numel(), want, scale, got, suspects, bounds, buffer.never_written)
    return got, not suspects.any().item()


def differs(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> bool:
    """Whether any element of any result is wrong: as long as ``compare`` takes for a right one, right or wrong."""
    found = [_compare(arena, arg, snapshot, question).wrong.any() for arg in arena.manifest.results]
    return any(bool(it) for it in found)


def _same_bits(got: torch.Tensor, want: torch.Tensor) -> bool:
    """Whether two tensors of one dtype agree bit for bit: most right answers do, and one pass shows it."""
    import torch

    word = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[got.element_size()]
    return torch.equal(got.reshape(-1).view(word), want.reshape(-1).view(word))


def _same_in_place(got: torch.Tensor, want: torch.Tensor) -> bool:
    """As ``_same_bits`` of flat tensors of any size, without a copy of them."""
    if got.is_cuda and got.nbytes > _PIECE_BYTES:
        from grader.judge.cuda.kernels import same_bits

        return same_bits(got, want)
    step = _PIECE_BYTES // got.element_size()
    pieces = (slice(start, start + step) for start in range(0, got.numel(), step))
    return all(_same_bits(got[piece], want[piece]) for piece in pieces)


def _compare(
    arena: Arena, arg: Argument, snapshot: Mapping[str, torch.Tensor], question: Question
) -> _Compared:
    manifest = arena.manifest
    got, want = snapshot[arg.name].reshape(-1), question.outputs[arg.name].reshape(-1)
    number = counted(manifest, arg, question, want.numel())
    magnitude = question.magnitudes.get(arg.name)
    scale = magnitude.reshape(-1)[:number] if magnitude is not None else None
    return _wrong_in(arena.buffers[arg.name], manifest.tolerance, got[:number], want[:number], scale)


def _wrong_in(
    buffer: Buffer, tolerance: Tolerance, got: torch.Tensor, want: torch.Tensor, scale: torch.Tensor | None
) -> _Compared:
    """Flat elements of a result, or of a piece of one."""
    poisoned = buffer.poisoned(got) if buffer.argument.kind is Kind.OUTPUT else None
    wrong = wrong_elements(got, want, tolerance, scale)
    if poisoned is not None and buffer.holds_nan:
        wrong |= poisoned
    return _Compared(got, want, wrong, poisoned, scale)


def wrong_elements(
    got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance, magnitude: torch.Tensor | None = None
) -> torch.Tensor:
    """Which elements are wrong (bool, flat). Integers must be equal. A float passes when
    ``|got - want| <= atol + rtol * magnitude``; NaN passes where and only where NaN is right; infinities need the
    same sign. ``magnitude`` is ``|want|`` unless given."""
    import torch

    if not want.is_floating_point():
        return got != want
    got64, want64 = got.double(), want.double()
    finite = torch.isfinite(got64) & torch.isfinite(want64)
    near = finite & ((got64 - want64).abs() <= allowed_error(want64, tolerance, magnitude))
    return ~(near | (got64 == want64) | (torch.isnan(got64) & torch.isnan(want64)))


def trespass(arena: Arena, question: Question) -> Mismatch | None:
    """What was written where nothing may be: around a buffer, or into an input."""
    return broken_guard(arena) or changed_input(arena, question)


def changed_input(arena: Arena, question: Question) -> Mismatch | None:
    """The first input that no longer holds, bit for bit, what was revealed."""
    import torch

    for buffer in arena.of_kind(Kind.INPUT):
        whole = question.inputs[buffer.argument.name].reshape(-1)
        if _same_in_place(buffer.values, whole):
            continue
        found, wrong, step = None, 0, _LARGE_PIECE_BYTES // whole.element_size()
        for start in range(0, buffer.count, step):
            before, now = whole[start : start + step], buffer.values[start : start + step].clone()
            differs = (now.view(torch.uint8) != before.view(torch.uint8)).view(now.numel(), -1).any(dim=1)
            wrong += int(differs.sum())
            if found is None and differs.any():
                first = int(differs.nonzero()[0])
                found = Mismatch(
                    argument=buffer.argument.name,
                    kind="input_changed",
                    index=index_of(start + first, buffer.shape),
                    expected=text_of(before[first]),
                    got=text_of(now[first]),
                    wrong=wrong,
                    total=buffer.count,
                    worst=worst_elements(Suspects(now, before, differs), buffer.shape, first_place=start),
                )
        # Seen once, it counts, also where it was put back before it was looked at again.
        found = found or Mismatch(
            argument=buffer.argument.name, kind="input_changed", wrong=1, total=buffer.count
        )
        return found.model_copy(update={"wrong": max(1, wrong)})
    return None


def broken_guard(arena: Arena) -> Mismatch | None:
    """The first buffer around which something was written."""
    for buffer in arena.buffers.values():
        if not buffer.guards_intact():
            outside = buffer.written_outside()
            return Mismatch(
                argument=buffer.argument.name,
                kind="out_of_bounds",
                wrong=max(1, len(outside)),
                total=buffer.count,
                outside=outside[: limits.WORST_ELEMENTS],
            )
    return None


def counted(manifest: Manifest, arg: Argument, question: Question, total: int) -> int:
    """How many leading elements count: all, unless ``[compare]`` names an output that says so."""
    rule = manifest.compare.get(arg.name)
    if rule is None or rule.first is None:
        return total
    return min(total, int(question.outputs[rule.first].reshape(-1)[0]))


def _explain(buffer: Buffer, compared: _Compared, tolerance: Tolerance, first_place: int = 0) -> Mismatch:
    """``first_place``: where what was compared begins in the result, flat."""
    got, want, wrong, poisoned = compared.got, compared.want, compared.wrong, compared.poisoned
    on_poison = _computed_from_poison(buffer, compared)
    not_cleared = bool(on_poison.any())
    first = int((on_poison if not_cleared else wrong).nonzero()[0])
    suspects = Suspects(got, want, wrong, poisoned, compared.magnitude)
    unwritten = poisoned is not None and bool(poisoned[first]) and not not_cleared
    kind = _kind(float(got[first].double()), float(want[first].double()))
    return Mismatch(
        argument=buffer.argument.name,
        kind=NOT_CLEARED if not_cleared else "unwritten" if unwritten else kind,
        index=index_of(first_place + first, buffer.shape),
        expected=text_of(want[first]),
        got="never written" if unwritten else text_of(got[first]),
        wrong=int(wrong.sum()),
        total=want.numel(),
        max_error=_largest(suspects),
        worst=worst_elements(suspects, buffer.shape, tolerance, first_place),
    )


def _computed_from_poison(buffer: Buffer, compared: _Compared) -> torch.Tensor:
    """Which wrong elements hold the poison with something added to it, or a maximum or minimum taken with it
    (bool, flat). Of integers only where that explains most of what is wrong; the poison alone explains nothing. Of
    floats only where the poison is a NaN."""
    import torch

    got, want, wrong = compared.got, compared.want, compared.wrong
    if buffer.holds_nan and compared.poisoned is not None:
        return wrong & buffer.computed_from_poison(got)
    if compared.poisoned is None or want.is_floating_point():
        # A large number is the same when something is added to it, and when nothing is written.
        return torch.zeros_like(wrong)
    # In 64 bits: torch does not add every unsigned type.
    want, poison = want.long(), buffer.poison_elements(got.numel()).long()
    added = wrong & (got == (want + poison).to(got.dtype))
    sums = added & (want != 0)
    if 2 * int(added.sum()) > int(wrong.sum()) and bool(sums.any()):
        return sums
    for extreme in (torch.maximum, torch.minimum):
        enough = min(int(wrong.sum()), int((~wrong).sum())) >= _TELLING
        if enough and torch.equal(got.long(), extreme(want, poison)):
            return wrong
    return torch.zeros_like(wrong)


def _largest(suspects: Suspects) -> float | None:
    """The largest error among pairs of finite numbers."""
    errors = suspects.errors()[suspects.comparable()]
    return float(errors.max()) if errors.numel() else None


def _kind(got: float, want: float) -> str:
    if got != got or want != want:
        return "nan"
    return "inf" if abs(got) == float("inf") or abs(want) == float("inf") else "value"
