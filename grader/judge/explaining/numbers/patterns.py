"""How a wrong result differs from the right one, by its numbers. A pattern must fit every element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.challenge.model import Kind
from grader.judge.explaining.wrong import FEWEST, TILES, Pattern, Wrong, matrix_of
from grader.judge.worst import allowed_error, index_of

if TYPE_CHECKING:
    import torch

_SAME_FACTOR = 2e-3
_SHOWN_TIMES = 1e15
# Largest relative errors of half's 11 bits: in long sums, and in short ones.
_ROUNDING = 2.0**-5
_ROUNDING_ALONE = 2.0**-9
# Largest error of rounding, relative to the largest value.
_NEARLY = 2.0**-5
# Elements that a block scans.
_GROUPS = (1024, 512, 256, 128, 64, 32)
# Relative distance from a whole number.
_SAME_MULTIPLE = 2e-5
_MOST_MULTIPLE = 4096


def pattern_of(result: Wrong) -> Pattern | None:
    for find in (
        _narrow,
        _unwritten,
        _untouched,
        _empty_places,
        _zeros,
        _capped,
        _nan_lost,
        _of_complex,
        _turned,
        _turned_tiles,
        _repeated,
        _shifted,
        _kept_sums,
        _cut_to_integers,
        _begins_again,
        _of_chunk,
        _multiple,
        _one_off,
        _of_right,
        _factor,
        _offset,
        _row_factor,
        _line_offset,
        _rounding,
        _tail,
    ):
        if (found := find(result)) is not None:
            return found
    return None


def _unwritten(result: Wrong) -> Pattern | None:
    import torch

    if result.poisoned is None or not bool(result.poisoned.any()):
        return None
    name = result.argument.name
    if bool(result.poisoned.all()):
        return Pattern("unwritten_all", f"Nothing of {name} was written.")
    places = torch.nonzero(result.poisoned).reshape(-1)
    first, count = int(places[0]), places.numel()
    total = result.poisoned.numel()
    whole_lines = len(result.shape) == 2 and (result.shape[0] == 1 or first % result.shape[1] == 0)
    if count == total - first and not whole_lines:
        place = ", ".join(map(str, index_of(first, result.shape)))
        return Pattern(
            "unwritten_tail", f"{name} is written up to its element [{place}], but not from there on.", first
        )
    if len(result.shape) == 2 and total == math.prod(result.shape):
        empty = result.poisoned.reshape(result.shape)
        for axis, word in ((0, "column"), (1, "row")):
            lost = empty.all(dim=axis)
            if bool(lost.any()) and int(lost.sum()) * result.shape[axis] == count:
                begin = int(torch.nonzero(lost)[0])
                if bool(lost[begin:].all()):
                    return Pattern(
                        f"unwritten_{word}s",
                        f"Every {word} of {name} from {begin} on was never written.",
                        begin,
                    )
    written = torch.nonzero(~result.poisoned).reshape(-1)
    if written.numel() >= 2 and int(written[0]) == 0:
        steps = written.diff()
        if int(steps.min()) == int(steps.max()) > 1:
            step = int(steps[0])
            return Pattern(
                "unwritten_steps", f"Only every {step}th element of {name} was written, from 0 on.", step
            )
    return Pattern("unwritten", f"{count:,} of {total:,} elements of {name} were never written.")


def _zeros(result: Wrong) -> Pattern | None:
    if int(result.wrong.sum()) < FEWEST or not bool((result.got == 0).all()):
        return None
    return Pattern("zeros", f"All of {result.argument.name} is 0.")


def _narrow(result: Wrong) -> Pattern | None:
    """As numbers of half the width."""
    import torch

    got, want, name = result.got.contiguous(), result.want, result.argument.name
    types = {
        torch.int64: (("int32", torch.int32),),
        torch.float64: (("float32", torch.float32),),
        torch.float32: (("float16", torch.float16), ("bfloat16", torch.bfloat16)),
    }
    if want.numel() < 2 or torch.unique(want).numel() < 2:
        return None
    for word, kind in types.get(got.dtype, ()):
        if torch.equal(got.view(kind)[: want.numel()], want.to(kind)):
            bits = 8 * got.dtype.itemsize
            return Pattern(
                "narrow",
                f"{name} holds the right values as {word}, of {bits // 2} bits, in the first half of its memory: its "
                f"elements have {bits} bits. Is its pointer cast to another type?",
            )
    return None


def _empty_places(result: Wrong) -> Pattern | None:
    import torch

    places = torch.nonzero(result.wrong).reshape(-1)
    count = places.numel()
    if result.want.is_floating_point() or not 0 < count < FEWEST or result.want.numel() < FEWEST:
        return None
    if bool(result.got[places].any()) or not bool((result.want[places] > 1).all()):
        return None
    first = ", ".join(map(str, index_of(int(places[0]), result.shape)))
    name = result.argument.name
    which = (
        f"{name}[{first}]" if count == 1 else f"{count} elements of {name}, the first of which is [{first}],"
    )
    verb = "is" if count == 1 else "are"
    text = f"Only {which} {verb} wrong, and {verb} 0: nothing is counted there. Does a condition exclude it?"
    return Pattern("empty_places", text)


def _untouched(result: Wrong) -> Pattern | None:
    """Unchanged bits in an in-out."""
    import torch

    if result.argument.kind is not Kind.INOUT or result.given is None:
        return None
    if result.given.numel() != result.got.numel():
        return None
    given = result.given.reshape(-1).to(result.got.device)
    if given.dtype is not result.got.dtype or not torch.equal(result.got[result.wrong], given[result.wrong]):
        return None
    places = torch.nonzero(result.wrong).reshape(-1)
    first, count, name = int(places[0]), places.numel(), result.argument.name
    if bool((result.got == given).all()):
        return Pattern(
            "untouched", f"Nothing of {name} was changed: it holds its values from before the call."
        )
    place = ", ".join(map(str, index_of(first, result.shape)))
    if count == 1:
        last = ", its last element," if first == given.numel() - 1 else ""
        return Pattern(
            "untouched",
            f"{name}[{place}]{last} was never updated: it still holds its value from before the call.",
        )
    where = f"From {name}[{place}] on" if count == given.numel() - first else f"Where {name} is wrong"
    return Pattern(
        "untouched", f"{where}, it was never updated: it still holds its values from before the call."
    )


def _capped(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got, result.want
    values = torch.unique(got[result.wrong])
    if values.numel() != 1 or not bool(torch.isfinite(values).all()):
        return None
    value, right = values[0], want[result.wrong]
    if torch.unique(right).numel() < 3 or not bool((~result.wrong).any()):
        return None
    for beyond, inside, word, most in (
        (right > value, got <= value, "above", "largest"),
        (right < value, got >= value, "below", "smallest"),
    ):
        if bool(beyond.all()) and bool((inside | got.isnan()).all()):
            return Pattern(
                "capped",
                f"{result.argument.name} is {value.item():.6g} wherever the right value is {word} that: it is cut off, "
                f"as if {value.item():.6g} were the {most} value.",
                value.item(),
            )
    return None


def _nan_lost(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point():
        return None
    lost = torch.isnan(result.want)
    count = int(lost.sum())
    if not count or not torch.equal(result.wrong, lost & torch.isfinite(result.got)):
        return None
    values = torch.unique(result.got[lost])
    told = f"{values[0].item():g}" if values.numel() == 1 else "a number"
    return Pattern(
        "nan_lost",
        f"Where {result.argument.name} must be NaN it is {told}, and nothing else is wrong: NaN is lost.",
    )


def _of_complex(result: Wrong) -> Pattern | None:
    """Real and imaginary parts are the last index."""
    import torch

    whole = result.want.numel() == math.prod(result.shape)
    if not (result.argument.dtype.complex and whole) or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got.reshape(result.shape), result.want.reshape(result.shape)
    name, count, places = result.argument.name, result.shape[-2], torch.arange(result.shape[-2])
    choices = [
        (
            f"{name} is the complex conjugate of the right result: an exponent or the imaginary parts have the other "
            "sign.",
            want * torch.tensor([1, -1], dtype=want.dtype, device=want.device),
        ),
        (
            f"Real and imaginary parts of {name} are exchanged.",
            want.flip(-1),
        ),
        (
            f"Each row of {name} has the right elements in the order 0, {count - 1}, {count - 2}, ..., 1: an exponent "
            "has the other sign.",
            want[..., (-places) % count, :],
        ),
    ]
    bits = count.bit_length() - 1
    if count == 1 << bits and bits > 1:
        turned = sum((places >> bit & 1) << (bits - 1 - bit) for bit in range(bits))
        text = f"Each row of {name} has the right elements in bit-reversed order: 1 is where {count // 2} belongs."
        choices.append((text, want[..., turned, :]))
    for text, other in choices:
        if result.explains(got, other, want):
            return Pattern("of_complex", text)
    return None


def _turned(result: Wrong) -> Pattern | None:
    want = matrix_of(result, result.want)
    if want is None or int(result.wrong.sum()) < FEWEST:
        return None
    if result.explains(result.got, want.transpose(1, 2), want):
        name = result.argument.name
        return Pattern(
            "turned", f"{name} holds the right values with rows and columns exchanged: it is transposed."
        )
    return None


def _turned_tiles(result: Wrong) -> Pattern | None:
    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None:
        return None
    rows, columns = result.shape[-2:]
    for size in TILES:
        if rows < size or columns < size:
            continue
        whole = slice(0, rows // size * size), slice(0, columns // size * size)
        tiles = want[:, whole[0], whole[1]].reshape(want.shape[0], rows // size, size, columns // size, size)
        turned = tiles.transpose(2, 4).reshape(want.shape[0], whole[0].stop, whole[1].stop)
        part, right = got[:, whole[0], whole[1]], want[:, whole[0], whole[1]]
        if result.explains(part, turned, right):
            return Pattern(
                "turned_tiles",
                f"Each tile of {size} x {size} of {result.argument.name} is transposed within itself: the tiles are in "
                "the right places, but in each of them rows and columns are exchanged.",
                size,
            )
    return None


def _repeated(result: Wrong) -> Pattern | None:
    import torch

    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None or int(result.wrong.sum()) < FEWEST:
        return None
    name = result.argument.name
    if got.is_floating_point() and not bool(got.isfinite().all()):
        return None
    # Nearly equal rows may have another cause.
    for axis, word in ((1, "row"), (2, "column")):
        one, right = got.narrow(axis, 0, 1), want.narrow(axis, 0, 1)
        if not torch.equal(got, one.expand_as(got)) or result.agrees(want, right.expand_as(want)):
            continue
        if torch.unique(one).numel() == 1:
            return Pattern("alike", f"All elements of {name} are {one.reshape(-1)[0].item():.6g}.")
        # An index without effect gives the first row.
        if result.explains(one, right, want.narrow(axis, 1, 1)):
            text = f"Every {word} of {name} is the right {word} 0: the {word} index has no effect."
            return Pattern(f"{word}s_repeated", text)
        return Pattern("alike", f"Every {word} of {name} is the same.")
    return None


def _kept_sums(result: Wrong) -> Pattern | None:
    """A sum that is not cleared between elements."""
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    if result.got.numel() != math.prod(result.shape) or not bool(torch.isfinite(result.want).all()):
        return None
    got, want = (values.double().reshape(result.shape or (1,)) for values in (result.got, result.want))
    for axis in range(1, min(len(result.shape), 2) + 1):
        extent = want.shape[-axis]
        for size in (2, 4, 8, 3, 16):
            if size > extent // 2:
                continue
            last = want.movedim(-axis, -1)
            room = last.new_zeros((*last.shape[:-1], -(-extent // size) * size))
            room[..., :extent] = last
            sums = room.reshape(*last.shape[:-1], -1, size).cumsum(-1).reshape(room.shape)[..., :extent]
            if result.explains(got, sums.movedim(-1, -axis), want):
                along = f" along its {('rows', 'columns')[axis - 1]}" if len(result.shape) > 1 else ""
                return Pattern(
                    "kept_sums",
                    f"In each group of {size} neighbouring elements of {result.argument.name}{along}, an element is "
                    "the sum of the right values up to it: the sum of one is not set to 0 before the next.",
                    size,
                )
    return None


def _shifted(result: Wrong) -> Pattern | None:
    if result.want.is_floating_point() and _offset(result) is not None:
        return None  # both fit 1, 2, 3, ...
    total = result.got.numel()
    row = result.shape[-1] if len(result.shape) > 1 else 0
    for by in dict.fromkeys((1, -1, 2, -2, row, -row)):
        if not by or total - abs(by) < 2 * FEWEST or int(result.wrong.sum()) < FEWEST:
            continue
        moved = result.want[by:] if by > 0 else result.want[:by]
        kept = result.got[:-by] if by > 0 else result.got[-by:]
        if result.explains(kept, moved, result.want[:-by] if by > 0 else result.want[-by:]):
            places = "1 place" if abs(by) == 1 else f"{abs(by)} places" if abs(by) != row else "1 row"
            side = "early" if by > 0 else "late"
            return Pattern(
                "shifted", f"The values of {result.argument.name} are right, but {places} too {side}.", by
            )
    return None


def _cut_to_integers(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got, result.want
    if not bool(torch.isfinite(want).all()) or torch.unique(got[result.wrong]).numel() < 3:
        return None
    if not bool((got == got.round()).all()) or not bool(((got - want).abs() <= 1).all()):
        return None
    for rounded, how in (
        (want.trunc(), "cut off"),
        (want.floor(), "rounded down"),
        (want.round(), "rounded"),
    ):
        # A value next to a whole number may be cut to either.
        near = (want - want.round()).abs() < 1e-4 * want.abs().clamp(min=1.0)
        if int((result.wrong & ~near).sum()) >= FEWEST and bool(((got == rounded) | near).all()):
            return Pattern(
                "whole",
                f"Every element of {result.argument.name} is a whole number: the right value with its fraction {how}.",
            )
    return None


def _begins_again(result: Wrong) -> Pattern | None:
    """A running total that restarts."""
    total, flat = result.got.numel(), len(result.shape) == 1
    if not flat or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got.double(), result.want.double()
    for size in _GROUPS:
        count = -(-total // size)
        if count < 2 or total < size + FEWEST or bool(result.wrong[:size].any()):
            continue
        before = want[size - 1 : total - 1 : size].repeat_interleave(size)[: total - size]
        inner = got[:size].new_tensor(want[:size].tolist())
        rebuilt = got.clone()
        rebuilt[:size], rebuilt[size:] = inner, got[size:] + before
        if result.agrees(rebuilt, want):
            return Pattern(
                "begins_again",
                f"Within each group of {size} elements {result.argument.name} is right, but from element {size} on "
                "each group begins again from 0: the total of all groups before it is missing.",
                size,
            )
        if count < 3:
            continue
        # Each group has the total of only the group before.
        left = before.clone()
        left[size:] -= before[: left.numel() - size]
        earlier = before - left
        rebuilt[size:] = got[size:] + earlier
        if result.agrees(rebuilt, want):
            return Pattern(
                "begins_again",
                f"Within each group of {size} elements {result.argument.name} is right, but each group adds only the "
                "total of the one group before it, not of all: from the third group on, the rest is missing.",
                size,
            )
    return None


def _of_chunk(result: Wrong) -> Pattern | None:
    """Indices within a chunk."""
    if result.want.is_floating_point() or result.want.dtype.itemsize < 4:
        return None
    got, want = result.got.long(), result.want.long()
    if bool((want < 0).any()) or bool((got < 0).any()):
        return None
    sizes = [size for size in reversed(_GROUPS) if bool((got == want % size).all())]
    # By chance, one in some hundred single indices fits.
    if not sizes or (want.numel() < FEWEST and int(got.max()) == 0):
        return None
    told = " or ".join(map(str, sizes))
    return Pattern(
        "of_chunk",
        f"Every element of {result.argument.name} is the right one modulo {told}: it counts from the beginning of a "
        "chunk, which must be added.",
        sizes[0],
    )


def _multiple(result: Wrong) -> Pattern | None:
    if not result.want.is_floating_point() or not 0 < result.want.numel() < FEWEST:
        return None
    ratios = []
    for got, want in zip(result.got.double().tolist(), result.want.double().tolist(), strict=True):
        if not (math.isfinite(got) and math.isfinite(want)) or not got or not want:
            return None
        ratios.append(got / want)
    ratio = ratios[0]
    if ratio <= 0 or max(abs(other / ratio - 1) for other in ratios) > _SAME_MULTIPLE:
        return None
    for factor, words in (
        (ratio, "{0} times the right value"),
        (1 / ratio, "the right value divided by {0}"),
    ):
        whole = round(factor)
        if 2 <= whole <= _MOST_MULTIPLE and abs(factor / whole - 1) < _SAME_MULTIPLE:
            subject = result.argument.name if len(ratios) == 1 else f"Every element of {result.argument.name}"
            text = f"{subject} is {words.format(whole)}."
            return Pattern("factor", text, whole if ratio > 1 else 1 / whole)
    return None


def _one_off(result: Wrong) -> Pattern | None:
    if result.want.is_floating_point() or result.want.numel() != 1:
        return None
    off = int(result.got[0]) - int(result.want[0])
    if abs(off) != 1:
        return None
    words = "1 greater than the right value: is something counted once too often?"
    if off < 0:
        words = "1 less than the right value: is something not counted?"
    return Pattern("one_off", f"{result.argument.name} is {words}", off)


def _of_right(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got.double(), result.want.double()
    if torch.unique(want[result.wrong]).numel() < FEWEST:
        return None
    for words, other in (
        ("the logarithm of the right value", want.log()),
        ("exp of the right value", want.exp()),
        ("the square of the right value", want * want),
        ("the square root of the right value", want.sqrt()),
        ("1 / the right value", 1 / want),
        ("1 - the right value", 1 - want),
        ("the right value without its sign", want.abs()),
    ):
        # Near 0 a logarithm has few right digits.
        least = 1e-5 * float(other.abs().nan_to_num(0, 0, 0).max())
        same = torch.isclose(want[result.wrong], other[result.wrong], rtol=_SAME_FACTOR, atol=least)
        if bool(same.any()):  # then it does not say what is wrong with them
            continue
        if torch.allclose(got, other, rtol=_SAME_FACTOR, atol=least):
            return Pattern("of_right", f"Every element of {result.argument.name} is {words}.")
    return None


def _factor(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point() or int(result.wrong.sum()) < FEWEST:
        return None
    got, want = result.got.double(), result.want.double()
    finite = torch.isfinite(got) & torch.isfinite(want)
    large = finite & (want.abs() > 1e-3 * want[finite].abs().max() if bool(finite.any()) else finite)
    if int(large.sum()) < FEWEST:
        return None
    ratio = got[large] / want[large]
    factor = float(ratio.median())
    if factor == 0 or abs(factor - 1) < 10 * _SAME_FACTOR:
        return None
    if float((ratio / factor - 1).abs().max()) > _SAME_FACTOR:
        return None
    if factor == -1 or abs(factor + 1) < _SAME_FACTOR:
        return Pattern("factor", f"Every element of {result.argument.name} has the wrong sign.", -1)
    return Pattern(
        "factor", f"Every element of {result.argument.name} is {factor:.4g} times the right value.", factor
    )


def _row_factor(result: Wrong) -> Pattern | None:
    import torch

    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None or not want.is_floating_point() or want.shape[-1] < FEWEST:
        return None
    got, want = got.double(), want.double()
    if not bool(torch.isfinite(got).all()) or not bool(torch.isfinite(want).all()):
        return None
    # Small elements of a row may be mostly error.
    large = want.abs() > 1e-3 * want.abs().amax(dim=-1, keepdim=True)
    if not bool((large.sum(dim=-1) >= 2).all()):
        return None
    ratio = torch.where(large, got / want, torch.nan)
    of_row = ratio.nanmedian(dim=-1, keepdim=True).values
    if bool((of_row == 0).any()) or float((ratio / of_row - 1).abs().nan_to_num().max()) > _SAME_FACTOR:
        return None
    if float((of_row - 1).abs().max()) < 10 * _SAME_FACTOR:
        return None
    low, high = float(of_row.min()), float(of_row.max())
    return Pattern(
        "row_factor",
        f"In each row of {result.argument.name} all elements are wrong by one factor, from {low:.4g} to {high:.4g}: "
        "something of the whole row, such as its sum, mean or norm, is wrong, or is not divided by.",
        high,
    )


def _line_offset(result: Wrong) -> Pattern | None:
    import torch

    got, want = matrix_of(result, result.got), matrix_of(result, result.want)
    if got is None or want is None or not want.is_floating_point() or min(result.shape[-2:]) < 4:
        return None
    off = got.double() - want.double()
    if int(result.wrong.sum()) < FEWEST or not bool(torch.isfinite(off).all()):
        return None
    scale = float(want.double().abs().max())
    for axis, word in ((-1, "row"), (-2, "column")):
        middle = off.median(dim=axis, keepdim=True).values
        least = float(off.abs().max())
        alike = want - want.median(dim=axis, keepdim=True).values
        if float(alike.abs().max()) <= 1e-3 * scale:
            continue  # a line is then off by one amount whatever the cause
        if least > 1e-4 * scale and float((off - middle).abs().max()) < _SAME_FACTOR * least:
            return Pattern(
                "line_offset",
                f"In each {word} of {result.argument.name} all elements are off by one amount, from "
                f"{float(middle.min()):.4g} to {float(middle.max()):.4g}: what is added or subtracted for the whole "
                f"{word}, such as a mean, is wrong or missing.",
            )
    return None


def _offset(result: Wrong) -> Pattern | None:
    import torch

    if int(result.wrong.sum()) < FEWEST:
        return None
    off = result.got.double() - result.want.double()
    if not bool(torch.isfinite(off).all()):
        return None
    by, scale = float(off.median()), float(result.want.double().abs().max())
    if by == 0 or abs(by) < 1e-4 * scale or float((off - by).abs().max()) > _SAME_FACTOR * abs(by):
        return None
    words = "greater" if by > 0 else "less"
    return Pattern(
        "offset",
        f"Every element of {result.argument.name} is {abs(by):.4g} {words} than the right value.",
        by,
    )


def _rounding(result: Wrong) -> Pattern | None:
    import torch

    if not result.want.is_floating_point():
        return None
    got, want = result.got.double(), result.want.double()
    if bool((got == 0).all()):
        return None
    if not bool((torch.isfinite(got) | ~result.wrong).all()) or not bool(
        torch.isfinite(want[result.wrong]).all()
    ):
        return None
    own, few = want.abs(), result.want.numel() < FEWEST
    # An element near 0 may be the sum of large terms.
    least = 0.0 if few else float(_typical(own))
    scale = (own if few or result.magnitude is None else result.magnitude.double().abs()).clamp(min=least)
    errors, scales = (got - want).abs()[result.wrong], scale[result.wrong]
    if float((errors / scales.clamp(min=1e-300)).max()) > (_ROUNDING_ALONE if few else _ROUNDING):
        return None
    if not few and float(errors.max()) > _NEARLY * float(want[torch.isfinite(want)].abs().max()):
        return None
    times = float(
        (
            errors
            / allowed_error(result.want, result.allowance, result.magnitude)[result.wrong].clamp(min=1e-300)
        ).max()
    )
    return Pattern(
        "rounding",
        f"The values are nearly right: the largest error is {times:.3g} times the allowed one."
        if times < _SHOWN_TIMES
        else "The values are nearly right, but not to the bit.",
        times,
    )


def _typical(values: torch.Tensor) -> torch.Tensor:
    import torch

    finite = values[torch.isfinite(values)]
    return finite.median() if finite.numel() else values.new_tensor(0.0)


def _tail(result: Wrong) -> Pattern | None:
    import torch

    places = torch.nonzero(result.wrong).reshape(-1)
    first, total = int(places[0]), result.wrong.numel()
    if first < FEWEST or places.numel() < 0.5 * (total - first):
        return None
    place = ", ".join(map(str, index_of(first, result.shape)))
    return Pattern(
        "tail", f"{result.argument.name} is right up to its element [{place}] and wrong from there on.", first
    )
