"""Compares every element that a submission wrote with the right answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.dtypes import BITS, DType
from grader.challenge.model import Argument, Kind, Manifest, Tolerance
from grader.challenge.numbers import comparable, encode, native, rounded, shown
from grader.judge.arena import Arena, Buffer
from grader.judge.evidence import Wrong
from grader.judge.oracle import Question
from grader.judge.pieces import Piece
from grader.judge.worst import Suspects, index_of, text_of, worst_elements, wrong_elements
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

# The kind of a mismatch that was there when the call was "done" but not a moment later.
LATE = "late"
# The kind of a mismatch if a kernel computed with the poison: it added to an output that it had not set.
NOT_CLEARED = "not_cleared"
# The kind of a mismatch that the challenge's checker found.
REFUSED = "refused"
# The least number of elements that show a maximum or minimum with the poison, and not chance.
_TELLING = 8
# Comparing this much at a time takes as much memory again.
_PIECE_BYTES = 1 << 26
# For results that are compared piece by piece: float64 copies and masks of a piece take a dozen times as much.
_LARGE_PIECE_BYTES = 1 << 27
# Alignment of an address: others need a variant of the kernels, which takes longer to compile than to copy the data.
_ALIGNED = 16


@dataclass(frozen=True)
class Compared:
    """One result, or a piece of it, flat and cut to the elements that count."""

    got: torch.Tensor
    want: torch.Tensor
    #: True for each wrong element.
    wrong: torch.Tensor
    #: True for each element that was never written.
    poisoned: torch.Tensor | None
    magnitude: torch.Tensor | None
    #: The flat place of the first element.
    first: int = 0


def compare(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> Mismatch | None:
    """The first result that differs, or None. ``snapshot`` is a private copy of in-outs and outputs."""
    for arg in arena.manifest.results:
        if _same_bits(snapshot[arg.name], question.outputs[arg.name]):
            continue
        compared = _compare(arena, arg, snapshot, question)
        if compared.wrong.any():
            if question.check is not None and not _unwritten(arena, snapshot, question):
                return _checked(arena, arg, snapshot, question)
            buffer = arena.buffers[arg.name]
            return explain(buffer, compared, arena.manifest.tolerance, buffer.shape)
    return None


def _unwritten(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> bool:
    """True if a result has a wrong element that was never written: no other answer has it."""
    every = [_compare(arena, arg, snapshot, question) for arg in arena.manifest.results]
    return any(
        compared.poisoned is not None and bool((compared.poisoned & compared.wrong).any())
        for compared in every
    )


def _checked(
    arena: Arena, arg: Argument, snapshot: Mapping[str, torch.Tensor], question: Question
) -> Mismatch | None:
    """What the challenge's checker says. ``arg``: a result that differs from the reference's."""
    assert question.check is not None
    shaped = {name: values.reshape(arena.buffers[name].shape) for name, values in snapshot.items()}
    refused = question.check(shaped)
    if refused is None:
        return None
    name = refused.result or arg.name
    dtype = arena.buffers[name].argument.dtype
    got, want = (native(values, dtype) for values in (shaped[name], question.outputs[name]))
    index = refused.index
    inside = index is not None and all(
        0 <= place < size for place, size in zip(index, got.shape, strict=True)
    )
    return Mismatch(
        argument=name,
        kind=REFUSED,
        index=list(index) if index is not None and inside else None,
        expected=text_of(want[index]) if inside else None,
        got=text_of(got[index]) if inside else None,
        wrong=1,
        total=got.numel(),
        why=refused.why,
    )


def compare_written(
    arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question
) -> tuple[Mismatch | None, float]:
    """As ``compare``, of the elements that were written (of an in-out: that changed). Also the share that was written
    of the result that has least of it."""
    import torch

    found, least = None, 1.0
    for arg in arena.manifest.results:
        buffer = arena.buffers[arg.name]
        compared = _compare(arena, arg, snapshot, question)
        if arg.kind is Kind.OUTPUT:
            left = compared.poisoned
            assert left is not None
        else:
            before = question.inputs[arg.name].reshape(-1)[: compared.got.numel()]
            before = comparable(before, arg.dtype)
            each = (compared.got.numel(), compared.got.element_size())
            bits = [values.contiguous().view(torch.uint8).view(each) for values in (before, compared.got)]
            left = (bits[0] == bits[1]).all(dim=1) & wrong_elements(
                before, compared.want, arena.manifest.tolerance, compared.magnitude
            )
        if left.numel():
            least = min(least, 1.0 - float(left.double().mean()))
        wrong = compared.wrong & ~left
        if found is None and wrong.any():
            found = explain(buffer, replace(compared, wrong=wrong), arena.manifest.tolerance, buffer.shape)
    return found, least


class Tally:
    """The first mismatch in pieces of one array, and the number of wrong elements."""

    def __init__(self) -> None:
        self._found: Mismatch | None = None
        self._wrong = self._total = 0

    def add(self, found: Mismatch | None, total: int) -> None:
        self._total += total
        if found is not None:
            self._found = self._found or found
            self._wrong += found.wrong

    def mismatch(self) -> Mismatch | None:
        if self._found is None:
            return None
        return self._found.model_copy(update={"wrong": self._wrong, "total": self._total})


def wrong_result(arena: Arena, name: str, snapshot: Mapping[str, torch.Tensor], question: Question) -> Wrong:
    buffer = arena.buffers[name]
    found = _compare(arena, buffer.argument, snapshot, question)
    return Wrong(
        buffer.argument,
        buffer.shape,
        found.got,
        found.want,
        found.wrong,
        found.poisoned,
        found.magnitude,
        arena.manifest.tolerance,
    )


def compare_in_pieces(arena: Arena, question: Question) -> Mismatch | None:
    """As ``compare``, one piece at a time: a whole copy takes too much memory. Explains the first wrong piece;
    ``wrong`` counts all."""
    for arg in arena.manifest.results:
        tally = Tally()
        want = question.outputs[arg.name].reshape(-1)
        scale = question.magnitudes.get(arg.name)
        number = counted(arena.manifest, arg, question, want.numel())
        step = _LARGE_PIECE_BYTES // want.element_size()
        for start in range(0, number, step):
            part = slice(start, min(start + step, number))
            its_scale = None if scale is None else scale.reshape(-1)[part]
            piece = Piece(arg, want[part], its_scale, None, start)
            tally.add(
                compare_piece(arena.buffers[arg.name], arena.manifest.tolerance, piece), piece.want.numel()
            )
        if (found := tally.mismatch()) is not None:
            return found
    return None


def compare_piece(buffer: Buffer, tolerance: Tolerance, piece: Piece) -> Mismatch | None:
    want = piece.want.reshape(-1)
    scale = None if piece.scale is None else piece.scale.reshape(-1)
    number, along = want.numel(), piece.dimension
    if not number:
        return None
    if along is None:
        values, shape, first = buffer.values_from(piece.start, number), buffer.shape, piece.start
    else:
        shape = tuple(piece.want.shape)
        values = buffer.values.view(buffer.shape).narrow(along, piece.start, shape[along])
        first = piece.start * math.prod(shape[1:]) if along == 0 else 0
    got, right = _taken(buffer, values, tolerance, want, scale)
    if right:
        return None
    compared = wrong_in(buffer, tolerance, got, want, scale, first)
    if not compared.wrong.any():
        return None
    if along is None:
        return explain(buffer, compared, tolerance, shape, first)
    found = explain(buffer, compared, tolerance, shape)
    return _moved(found, along, piece.start)


def _moved(found: Mismatch, dimension: int, by: int) -> Mismatch:
    def moved(index: Sequence[int]) -> list[int]:
        return [at + by if place == dimension else at for place, at in enumerate(index)]

    worst = [element.model_copy(update={"index": moved(element.index)}) for element in found.worst]
    index = None if found.index is None else moved(found.index)
    return found.model_copy(update={"index": index, "worst": worst})


def _taken(
    buffer: Buffer,
    values: torch.Tensor,
    tolerance: Tolerance,
    want: torch.Tensor,
    scale: torch.Tensor | None,
) -> tuple[torch.Tensor, bool]:
    """A private flat copy of ``values``, and True if it is certainly right."""
    import torch

    values = comparable(values, buffer.argument.dtype)
    if not values.is_cuda:
        got = values.clone(memory_format=torch.contiguous_format).reshape(-1)
        return got, _same_bits(got, want)
    from grader.judge.cuda import kernels

    if not values.is_contiguous() or values.data_ptr() % _ALIGNED:
        values = values.clone(memory_format=torch.contiguous_format)
    values = values.reshape(-1)
    got = torch.empty_like(values)
    suspects = torch.zeros(kernels.check_blocks(values.numel()), dtype=torch.int32, device=values.device)
    bounds = tolerance.atol, tolerance.rtol
    kernels.full_check(values, values.numel(), want, scale, got, suspects, bounds, buffer.never_written)
    return got, not suspects.any().item()


def differs(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> bool:
    """True if any element is wrong. Takes as long as ``compare`` of a right result."""
    found = [_compare(arena, arg, snapshot, question).wrong.any() for arg in arena.manifest.results]
    return any(bool(wrong) for wrong in found)


def _same_bits(got: torch.Tensor, want: torch.Tensor) -> bool:
    """As most right answers agree: one pass shows it."""
    import torch

    word: torch.dtype = getattr(torch, BITS[got.element_size()])
    return torch.equal(got.reshape(-1).view(word), want.reshape(-1).view(word))


def _same_in_place(got: torch.Tensor, want: torch.Tensor) -> bool:
    if got.is_cuda and got.nbytes > _PIECE_BYTES:
        from grader.judge.cuda.kernels import same_bits

        return same_bits(got, want)
    step = _PIECE_BYTES // got.element_size()
    pieces = (slice(start, start + step) for start in range(0, got.numel(), step))
    return all(_same_bits(got[piece], want[piece]) for piece in pieces)


def _compare(
    arena: Arena, arg: Argument, snapshot: Mapping[str, torch.Tensor], question: Question
) -> Compared:
    manifest = arena.manifest
    got, want = snapshot[arg.name].reshape(-1), question.outputs[arg.name].reshape(-1)
    number = counted(manifest, arg, question, want.numel())
    magnitude = question.magnitudes.get(arg.name)
    scale = magnitude.reshape(-1)[:number] if magnitude is not None else None
    return wrong_in(arena.buffers[arg.name], manifest.tolerance, got[:number], want[:number], scale)


def wrong_in(
    buffer: Buffer,
    tolerance: Tolerance,
    got: torch.Tensor,
    want: torch.Tensor,
    scale: torch.Tensor | None,
    first: int = 0,
) -> Compared:
    poisoned = buffer.poisoned(got, first) if buffer.argument.kind is Kind.OUTPUT else None
    wrong = wrong_elements(got, want, tolerance, scale)
    if poisoned is not None and buffer.holds_nan:
        wrong |= poisoned
    return Compared(got, want, wrong, poisoned, scale, first)


def forbidden_write(arena: Arena, question: Question) -> Mismatch | None:
    """A write where nothing may be written: around a buffer, or into an input."""
    return broken_guard(arena) or changed_input(arena, question)


def changed_input(arena: Arena, question: Question) -> Mismatch | None:
    found = (
        changed_part(buffer, question.inputs[buffer.argument.name].reshape(-1))
        for buffer in arena.of_kind(Kind.INPUT)
    )
    return next((mismatch for mismatch in found if mismatch is not None), None)


def changed_part(buffer: Buffer, revealed: torch.Tensor, first: int = 0) -> Mismatch | None:
    if buffer.encoded:
        each = buffer.argument.dtype.facts.packed
        words = encode(revealed, buffer.argument.dtype)
        if _same_in_place(buffer.words[first // each : first // each + words.numel()], words):
            return None
    part = buffer.values_from(first, revealed.numel())
    if not buffer.encoded and _same_in_place(part, revealed):
        return None
    tally, step = Tally(), _LARGE_PIECE_BYTES // revealed.element_size()
    for start in range(0, revealed.numel(), step):
        before, now = revealed[start : start + step], part[start : start + step].clone()
        tally.add(_changed(buffer, before, now, first + start), before.numel())
    # A change counts even if it was undone before the second look.
    put_back = Mismatch(argument=buffer.argument.name, kind="input_changed", wrong=1, total=1)
    return (tally.mismatch() or put_back).model_copy(update={"total": buffer.count})


def _changed(buffer: Buffer, before: torch.Tensor, now: torch.Tensor, first: int) -> Mismatch | None:
    import torch

    differs = (now.view(torch.uint8) != before.view(torch.uint8)).view(now.numel(), -1).any(dim=1)
    if not differs.any():
        return None
    place = int(differs.nonzero()[0])
    now, before = (shown(values, buffer.argument.dtype) for values in (now, before))
    return Mismatch(
        argument=buffer.argument.name,
        kind="input_changed",
        index=index_of(first + place, buffer.shape),
        expected=text_of(before[place]),
        got=text_of(now[place]),
        wrong=int(differs.sum()),
        total=now.numel(),
        worst=worst_elements(Suspects(now, before, differs), buffer.shape, first_place=first),
    )


def broken_guard(arena: Arena) -> Mismatch | None:
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
    """How many leading elements count: all, unless ``[compare]`` names an output that holds the number."""
    rule = manifest.compare.get(arg.name)
    if rule is None or rule.first is None:
        return total
    return min(total, int(question.outputs[rule.first].reshape(-1)[0]))


def explain(
    buffer: Buffer,
    compared: Compared,
    tolerance: Tolerance,
    shape: tuple[int, ...],
    first_place: int = 0,
) -> Mismatch:
    """``first_place``: the flat place of the first compared element in a tensor of that ``shape``."""
    got, want, wrong, poisoned = compared.got, compared.want, compared.wrong, compared.poisoned
    on_poison = _computed_from_poison(buffer, compared)
    not_cleared = bool(on_poison.any())
    first = int((on_poison if not_cleared else wrong).nonzero()[0])
    if buffer.argument.dtype.complex and poisoned is not None and bool((poisoned & wrong).any()):
        first = int((poisoned & wrong).nonzero()[0])  # the other part is NaN only because of it
    got, want = (shown(values, buffer.argument.dtype) for values in (got, want))
    suspects = Suspects(got, want, wrong, poisoned, compared.magnitude)
    unwritten = poisoned is not None and bool(poisoned[first]) and not not_cleared
    kind = _kind(float(got[first].double()), float(want[first].double()))
    return Mismatch(
        argument=buffer.argument.name,
        kind=NOT_CLEARED if not_cleared else "unwritten" if unwritten else kind,
        index=index_of(first_place + first, shape),
        expected=text_of(want[first]),
        got="never written" if unwritten else _text(got[first], buffer.argument.dtype),
        wrong=int(wrong.sum()),
        total=want.numel(),
        max_error=_largest(suspects),
        worst=worst_elements(suspects, shape, tolerance, first_place),
    )


def _text(value: torch.Tensor, dtype: DType) -> str:
    text = text_of(value)
    return f"{text} (a bool is 0 or 1)" if dtype is DType.BOOL and int(value) > 1 else text


def _computed_from_poison(buffer: Buffer, compared: Compared) -> torch.Tensor:
    """True for each wrong element (flat) that is the poison plus something, or an extreme with it. Integers: only if
    that explains most wrong elements, not by the poison alone. Floats: only a NaN poison."""
    import torch

    got, want, wrong = compared.got, compared.want, compared.wrong
    if buffer.holds_nan and compared.poisoned is not None:
        return wrong & buffer.computed_from_poison(got)
    if compared.poisoned is None or want.is_floating_point():
        # Adding to a large number leaves it as if nothing was written.
        return torch.zeros_like(wrong)
    # In 64 bits: torch does not add every unsigned type.
    want, poison = want.long(), buffer.poison_elements(got.numel(), compared.first).long()
    dtype = buffer.argument.dtype
    added = wrong & (got == (want + poison if dtype is DType.BOOL else rounded(want + poison, dtype)))
    sums = added & (want != 0)
    if 2 * int(added.sum()) > int(wrong.sum()) and bool(sums.any()):
        return sums
    for extreme in (torch.maximum, torch.minimum):
        enough = min(int(wrong.sum()), int((~wrong).sum())) >= _TELLING
        if enough and torch.equal(got.long(), extreme(want, poison)):
            return wrong
    return torch.zeros_like(wrong)


def _largest(suspects: Suspects) -> float | None:
    errors = suspects.errors()[suspects.comparable()]
    return float(errors.max()) if errors.numel() else None


def _kind(got: float, want: float) -> str:
    if got != got or want != want:
        return "nan"
    return "inf" if abs(got) == float("inf") or abs(want) == float("inf") else "value"
