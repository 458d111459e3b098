from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.checker import Refused
from grader.challenge.dtypes import BITS, DType
from grader.challenge.expression import parse
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.numbers import comparable, encode, native, rounded, shown
from grader.judge.arena import Arena, Buffer
from grader.judge.explaining import Wrong
from grader.judge.oracle import Question
from grader.judge.pieces import Piece
from grader.judge.worst import Suspects, index_of, text_of, worst_elements, wrong_elements
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

# Wrong when the call was "done", right a moment later.
LATE = "late"
# A kernel added to an output that it had not set.
NOT_CLEARED = "not_cleared"
UNWRITTEN = "unwritten"
REFUSED = "refused"
PADDING = "padding"
# With fewer elements, chance may look like an extreme with the poison.
_TELLING = 8
# Comparing a piece takes as much memory again.
_PIECE_BYTES = 1 << 26
# float64 copies and masks take a dozen times as much.
_LARGE_PIECE_BYTES = 1 << 27
# For other addresses, compiling kernels takes longer than copying the data.
_ALIGNED = 16


@dataclass(frozen=True)
class Compared:
    """Tensors are flat and cut to the elements that count."""

    got: torch.Tensor
    want: torch.Tensor
    wrong: torch.Tensor
    poisoned: torch.Tensor | None
    magnitude: torch.Tensor | None
    first: int = 0
    #: The shape that flat places index, if not the whole result's.
    shape: tuple[int, ...] | None = None

    @property
    def unwritten(self) -> torch.Tensor:
        import torch

        return torch.zeros_like(self.wrong) if self.poisoned is None else self.poisoned & self.wrong


def compare(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> Mismatch | None:
    """``snapshot``: a private copy of in-outs and outputs."""
    for arg in arena.manifest.results:
        if _same_bits(snapshot[arg.name], question.outputs[arg.name]):
            continue
        compared = _compare(arena, arg, snapshot, question)
        if compared.wrong.any():
            if question.check is not None and not _unwritten(arena, snapshot, question):
                return _checked(arena, arg, snapshot, question)
            buffer = arena.buffers[arg.name]
            return explain(buffer, compared, buffer.shape)
    return None


def _unwritten(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> bool:
    every = [_compare(arena, arg, snapshot, question) for arg in arena.manifest.results]
    return any(bool(compared.unwritten.any()) for compared in every)


def _checked(
    arena: Arena, arg: Argument, snapshot: Mapping[str, torch.Tensor], question: Question
) -> Mismatch | None:
    """``arg``: a result that differs from the reference's."""
    assert question.check is not None
    shaped = {name: values.reshape(arena.buffers[name].shape) for name, values in snapshot.items()}
    refused = question.check(shaped)
    if refused is None:
        return None
    name = refused.result or arg.name
    dtype = arena.buffers[name].argument.dtype
    return refusal(refused, name, native(shaped[name], dtype), native(question.outputs[name], dtype))


def refusal(
    refused: Refused, name: str, got: torch.Tensor, want: torch.Tensor, along: int = 0, start: int = 0
) -> Mismatch:
    """``along``, ``start``: the dimension that a piece cuts, and where it begins."""
    index = refused.index
    inside = index is not None and all(
        0 <= place < size for place, size in zip(index, got.shape, strict=True)
    )
    return Mismatch(
        argument=name,
        kind=REFUSED,
        index=[at + start * (place == along) for place, at in enumerate(index)]
        if index is not None and inside
        else None,
        expected=text_of(want[index]) if inside else None,
        got=text_of(got[index]) if inside else None,
        wrong=1,
        total=got.numel(),
        why=refused.why,
    )


def compare_written(
    arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question
) -> tuple[Mismatch | None, float]:
    """Only elements that were written (of an in-out: changed). Also returns the least written share of any result."""
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
                before, compared.want, buffer.allowance, compared.magnitude
            )
        if left.numel():
            least = min(least, 1.0 - float(left.double().mean()))
        wrong = compared.wrong & ~left
        if found is None and wrong.any():
            found = explain(buffer, replace(compared, wrong=wrong), buffer.shape)
    return found, least


class Tally:
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
        found.shape or buffer.shape,
        found.got,
        found.want,
        found.wrong,
        found.poisoned,
        found.magnitude,
        buffer.allowance,
    )


def compare_in_pieces(arena: Arena, question: Question) -> Mismatch | None:
    """A whole copy takes too much memory. Explains the first wrong piece; ``wrong`` counts all."""
    for arg in arena.manifest.results:
        buffer, extent = arena.buffers[arg.name], valid_extent(arena.manifest, arg, question)
        if extent is not None and extent[1:] != buffer.shape[1:]:
            compared = _compare_part(buffer, buffer.snapshot(), question, extent)
            if compared.wrong.any():
                return explain(buffer, compared, buffer.shape)
            continue
        tally = Tally()
        want = question.outputs[arg.name].reshape(-1)
        scale = question.magnitudes.get(arg.name)
        number = counted(arena.manifest, arg, question, want.numel())
        step = _LARGE_PIECE_BYTES // want.element_size()
        for start in range(0, number, step):
            part = slice(start, min(start + step, number))
            its_scale = None if scale is None else scale.reshape(-1)[part]
            piece = Piece(arg, want[part], its_scale, None, start)
            tally.add(compare_piece(arena.buffers[arg.name], piece), piece.want.numel())
        if (found := tally.mismatch()) is not None:
            return found
    return None


def compare_piece(buffer: Buffer, piece: Piece) -> Mismatch | None:
    want = piece.want.reshape(-1)
    scale = None if piece.scale is None else piece.scale.reshape(-1)
    if not want.numel():
        return None
    got, right = _taken(buffer, _values_of(buffer, piece), want, scale)
    if right:
        return None
    compared = wrong_in(buffer, got, want, scale, _first_of(buffer, piece))
    return explained_part(buffer, compared, piece) if compared.wrong.any() else None


def part_of(buffer: Buffer, piece: Piece) -> torch.Tensor:
    """A private copy, in the piece's shape."""
    import torch

    return _values_of(buffer, piece).clone(memory_format=torch.contiguous_format)


def compared_part(buffer: Buffer, got: torch.Tensor, piece: Piece) -> Compared:
    scale = None if piece.scale is None else piece.scale.reshape(-1)
    first = _first_of(buffer, piece)
    return wrong_in(buffer, got.reshape(-1), piece.want.reshape(-1), scale, first)


def explained_part(buffer: Buffer, compared: Compared, piece: Piece) -> Mismatch:
    if piece.dimension is None:
        return explain(buffer, compared, buffer.shape, piece.start)
    found = explain(buffer, compared, tuple(piece.want.shape))
    return _moved(found, piece.dimension, piece.start)


def _values_of(buffer: Buffer, piece: Piece) -> torch.Tensor:
    along = piece.dimension
    if along is None:
        return buffer.values_from(piece.start, piece.want.numel())
    return buffer.values.view(buffer.shape).narrow(along, piece.start, piece.want.shape[along])


def _first_of(buffer: Buffer, piece: Piece) -> int:
    if piece.dimension is None:
        return piece.start
    return piece.start * math.prod(buffer.shape[1:]) if piece.dimension == 0 else 0


def _moved(found: Mismatch, dimension: int, by: int) -> Mismatch:
    def moved(index: Sequence[int]) -> list[int]:
        return [at + by if place == dimension else at for place, at in enumerate(index)]

    worst = [element.model_copy(update={"index": moved(element.index)}) for element in found.worst]
    index = None if found.index is None else moved(found.index)
    return found.model_copy(update={"index": index, "worst": worst})


def _taken(
    buffer: Buffer,
    values: torch.Tensor,
    want: torch.Tensor,
    scale: torch.Tensor | None,
) -> tuple[torch.Tensor, bool]:
    """A private flat copy, and True if certainly right."""
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
    kernels.full_check(
        values, values.numel(), want, scale, got, suspects, buffer.allowance, buffer.never_written
    )
    return got, not suspects.any().item()


def differs(arena: Arena, snapshot: Mapping[str, torch.Tensor], question: Question) -> bool:
    """Takes as long as ``compare`` of a right result."""
    found = [_compare(arena, arg, snapshot, question).wrong.any() for arg in arena.manifest.results]
    return any(bool(wrong) for wrong in found)


def _same_bits(got: torch.Tensor, want: torch.Tensor) -> bool:
    """Enough for most right answers."""
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
    buffer, extent = arena.buffers[arg.name], valid_extent(manifest, arg, question)
    if extent is not None and extent[1:] != buffer.shape[1:]:
        return _compare_part(buffer, snapshot[arg.name], question, extent)
    got, want = snapshot[arg.name].reshape(-1), question.outputs[arg.name].reshape(-1)
    number = counted(manifest, arg, question, want.numel())
    magnitude = question.magnitudes.get(arg.name)
    scale = magnitude.reshape(-1)[:number] if magnitude is not None else None
    return wrong_in(buffer, got[:number], want[:number], scale)


def _compare_part(buffer: Buffer, got: torch.Tensor, question: Question, extent: tuple[int, ...]) -> Compared:
    part, name = tuple(slice(end) for end in extent), buffer.argument.name

    def cut(values: torch.Tensor) -> torch.Tensor:
        return values.reshape(buffer.shape)[part].reshape(-1)

    magnitude = question.magnitudes.get(name)
    scale = None if magnitude is None else cut(magnitude)
    found = wrong_in(buffer, cut(got), cut(question.outputs[name]), scale)
    if found.poisoned is None:
        return replace(found, shape=extent)
    # An integer's poison depends on its place in the whole result.
    poisoned = cut(buffer.poisoned(got))
    wrong = wrong_elements(found.got, found.want, buffer.allowance, scale)
    return replace(
        found, wrong=wrong | poisoned if buffer.holds_nan else wrong, poisoned=poisoned, shape=extent
    )


def valid_extent(manifest: Manifest, arg: Argument, question: Question) -> tuple[int, ...] | None:
    """The part of a result that counts, from ``valid`` with the right counts; None: all of it."""
    if not arg.valid:
        return None
    known: dict[str, float] = dict(question.sizes)
    for result in manifest.results:
        values = question.outputs[result.name]
        if not result.dtype.floating and values.numel():
            known[result.name] = int(values.reshape(-1)[0])
    shape = arg.dtype.held_shape(manifest.shape(arg, question.sizes))
    ends = [max(0, min(size, int(parse(text)(known)))) for size, text in zip(shape, arg.valid, strict=False)]
    return (*ends, *shape[len(ends) :])


def wrong_in(
    buffer: Buffer,
    got: torch.Tensor,
    want: torch.Tensor,
    scale: torch.Tensor | None,
    first: int = 0,
) -> Compared:
    poisoned = buffer.poisoned(got, first) if buffer.argument.kind is Kind.OUTPUT else None
    wrong = wrong_elements(got, want, buffer.allowance, scale)
    if poisoned is not None and buffer.holds_nan:
        wrong |= poisoned
    return Compared(got, want, wrong, poisoned, scale, first)


def forbidden_write(arena: Arena, question: Question) -> Mismatch | None:
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
    # A write counts even if it was undone before the second look.
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


def written_padding(buffer: Buffer) -> Mismatch | None:
    changed = buffer.changed_padding()
    if changed is None:
        return None
    assert buffer.strides is not None
    place, index = int(changed[0]), [0] * len(buffer.shape)
    for stride, dimension in sorted(zip(buffer.strides, range(len(index)), strict=True), reverse=True):
        index[dimension], place = divmod(place, max(1, stride))
    return Mismatch(
        argument=buffer.argument.name, kind=PADDING, index=index, wrong=changed.numel(), total=buffer.count
    )


def broken_guard(arena: Arena) -> Mismatch | None:
    for buffer in arena.pieces():
        if (found := written_padding(buffer)) is not None:
            return found
        if not buffer.guards_intact():
            outside = buffer.written_outside()
            return Mismatch(
                argument=buffer.label,
                kind="out_of_bounds",
                wrong=max(1, len(outside)),
                total=buffer.count,
                outside=outside[: limits.WORST_ELEMENTS],
            )
    return None


def counted(manifest: Manifest, arg: Argument, question: Question, total: int) -> int:
    """The number of leading elements that count."""
    extent = valid_extent(manifest, arg, question)
    if extent is not None:
        whole = extent[1:] == manifest.shape(arg, question.sizes)[1:]
        return math.prod(extent) if whole else total
    rule = manifest.compare.get(arg.name)
    if rule is None or rule.first is None:
        return total
    return min(total, int(question.outputs[rule.first].reshape(-1)[0]))


def other_count(
    manifest: Manifest, name: str, snapshot: Mapping[str, torch.Tensor], question: Question
) -> str:
    """Empty unless the output is wrong that counts the elements of ``name``."""

    import torch

    rule = manifest.compare.get(name)
    if rule is None or rule.first is None:
        return ""
    got, right = (int(values[rule.first].reshape(-1)[0]) for values in (snapshot, question.outputs))
    if got == right or not 0 <= got <= question.outputs[name].numel():
        return ""
    off = abs(got - right)
    kept, wanted = snapshot[name].reshape(-1)[:got], question.outputs[name].reshape(-1)[:right]
    words = ""
    if got < right and bool(torch.isin(kept, wanted).all()):
        words = f": {off:,} of the elements that belong in {name} {'is' if off == 1 else 'are'} left out"
    elif got > right and bool(torch.isin(wanted, kept).all()):
        words = f": {off:,} too many {'is' if off == 1 else 'are'} kept"
    return f"{rule.first} is {got:,}, and {right:,} is right{words}."


def explain(
    buffer: Buffer,
    compared: Compared,
    shape: tuple[int, ...],
    first_place: int = 0,
) -> Mismatch:
    """``first_place``: the flat place of the first compared element."""
    got, want, wrong, poisoned = compared.got, compared.want, compared.wrong, compared.poisoned
    on_poison = _computed_from_poison(buffer, compared)
    not_cleared = bool(on_poison.any())
    first = int((on_poison if not_cleared else wrong).nonzero()[0])
    if buffer.argument.dtype.complex and poisoned is not None and bool((poisoned & wrong).any()):
        first = int((poisoned & wrong).nonzero()[0])  # the other part is NaN only because of it
    got, want = (shown(values, buffer.argument.dtype) for values in (got, want))
    suspects = Suspects(got, want, wrong, poisoned, compared.magnitude)
    shape = compared.shape or shape
    unwritten = poisoned is not None and bool(poisoned[first]) and not not_cleared
    kind = _kind(float(got[first].double()), float(want[first].double()))
    return Mismatch(
        argument=buffer.argument.name,
        kind=NOT_CLEARED if not_cleared else UNWRITTEN if unwritten else kind,
        index=index_of(first_place + first, shape),
        expected=text_of(want[first]),
        got="never written" if unwritten else _text(got[first], buffer.argument.dtype),
        wrong=int(wrong.sum()),
        total=want.numel(),
        max_error=_largest(suspects),
        unit=buffer.allowance.unit,
        worst=worst_elements(suspects, shape, buffer.allowance, first_place),
    )


def _text(value: torch.Tensor, dtype: DType) -> str:
    text = text_of(value)
    return f"{text} (a bool is 0 or 1)" if dtype is DType.BOOL and int(value) > 1 else text


def _computed_from_poison(buffer: Buffer, compared: Compared) -> torch.Tensor:
    """True for each wrong element that is the poison plus something, or an extreme with it. Integers: only if that
    explains most wrong elements. Floats: only NaN poison."""
    import torch

    got, want, wrong = compared.got, compared.want, compared.wrong
    if buffer.holds_nan and compared.poisoned is not None:
        return wrong & buffer.computed_from_poison(got)
    if compared.poisoned is None or want.is_floating_point():
        # Adding to a large number leaves it as if nothing was written.
        return torch.zeros_like(wrong)
    # torch does not add every unsigned type.
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
