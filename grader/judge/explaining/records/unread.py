"""Input elements that kernels never read, though the result depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader.challenge.cases import Case
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.errors import GraderError
from grader.judge.explaining.wrong import FEWEST, Pattern, Wrong
from grader.judge.messages import Writers
from grader.judge.oracle import right_answers
from grader.judge.worst import index_of, wrong_elements
from grader.schemas.error_map import unpacked

if TYPE_CHECKING:
    import torch

_PERIODS = (2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def read_of(said: Writers, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """True for each read element, flat."""
    import torch

    found = {}
    for name, packed in said.unread.items():
        total = inputs[name].numel() if name in inputs else 0
        try:
            data = unpacked(packed, total)
        except ValueError:
            continue
        if total and len(data) == total:
            found[name] = torch.frombuffer(bytearray(data), dtype=torch.uint8) != 0
    return found


def never_read(
    result: Wrong, challenge: Challenge, case: Case, inputs: Mapping[str, torch.Tensor], *, programs: bool
) -> Pattern | None:
    """``programs``: say "program" for Triton."""
    needed = []
    for arg in challenge.manifest.given:
        read = result.read.get(arg.name)
        if arg.name not in inputs or read is None:
            continue
        # PyTorch may read it before Triton's kernels; many mistakes skip small arrays.
        if not bool(read.any()) and (programs or read.numel() < FEWEST):
            continue
        if _matters(result, challenge, case, inputs, arg.name, ~read):
            needed.append((arg, ~read))
    if not needed:
        return None
    # An unread value explains an unread index.
    arg, absent = min(
        needed, key=lambda one: (not one[1].all(), not one[0].dtype.floating, int(one[1].sum()))
    )
    if bool(absent.all()):
        text = f"No thread reads {arg.name}, and the result depends on it."
        return Pattern("ignored", text, names=(arg.name,))
    which = _which(arg, absent, inputs)
    alike = [
        each.name
        for each, other in needed
        if each is not arg and other.shape == absent.shape and bool((other == absent).all())
    ]
    also = f", nor those of {' and '.join(alike)}" if alike else ""
    who = "program" if programs else "thread"
    pronoun = "it" if int(absent.sum()) == 1 and not alike else "them"
    text = f"No {who} reads {which}{also}, and the result depends on {pronoun}."
    return Pattern("never_read", text, names=(arg.name, *alike))


def _matters(
    result: Wrong,
    challenge: Challenge,
    case: Case,
    inputs: Mapping[str, torch.Tensor],
    name: str,
    absent: torch.Tensor,
) -> bool:
    """True if other values there change the right result at wrong places."""
    import torch

    given = {each: values.cpu() for each, values in inputs.items()}
    flat, places = given[name].reshape(-1).clone(), torch.nonzero(absent).reshape(-1)
    values = flat[places]
    if flat.is_floating_point():
        flat[places] = torch.where(values.isfinite(), 0.75 - 1.5 * values, torch.ones_like(values))
    elif bool(((given[name] == 0) | (given[name] == 1)).all()):
        flat[places] = 1 - values
    else:
        flat[places] = values.roll(1)  # other values may lead out of an array
    try:
        other = right_answers(challenge, case, {**given, name: flat.reshape(given[name].shape)})
    except (GraderError, RuntimeError):
        return False
    want = result.want.cpu()
    answer = other[result.argument.name].reshape(-1)[: want.numel()]
    if answer.numel() != want.numel():
        return False
    scale = result.magnitude.cpu() if result.magnitude is not None else None
    changed = wrong_elements(answer, want, result.allowance, scale)
    return bool((changed & result.wrong.cpu()).any())


def _which(arg: Argument, absent: torch.Tensor, inputs: Mapping[str, torch.Tensor]) -> str:
    import torch

    shape, name = tuple(inputs[arg.name].shape), arg.name
    count, total = int(absent.sum()), absent.numel()
    places = torch.nonzero(absent).reshape(-1)
    first = int(places[0])
    if count == 1:
        last = ", its last element" if first == total - 1 else ", its first element" if first == 0 else ""
        return f"{name}{index_of(first, shape)}{last}"
    if len(shape) > 1:
        for axis, extent in enumerate(shape):
            lines = absent.reshape(shape).movedim(axis, 0).reshape(extent, -1)
            if bool((lines.all(dim=1) == lines.any(dim=1)).all()):
                places_of_lines = torch.nonzero(lines.all(dim=1)).reshape(-1).tolist()
                found = _of_line(name, places_of_lines, extent, _word(axis, len(shape), arg))
                if found:
                    return found
    elif found := _of_line(name, places.tolist(), total, ("element", "")):
        return found
    if found := _of_segments(name, places, inputs):
        return found
    return f"{count:,} of the {total:,} elements of {name} (the first is {name}{index_of(first, shape)})"


def _word(axis: int, dimensions: int, arg: Argument) -> tuple[str, str]:
    if dimensions == 2:
        return ("row", "column")[axis], ""
    return "index", f" along {arg.shape[axis]}"


def _of_line(name: str, lost: list[int], extent: int, words: tuple[str, str]) -> str:
    """Empty if not simple to say."""
    word, along = words
    plural = "indices" if word == "index" else f"{word}s"
    first, last, count = lost[0], lost[-1], len(lost)
    if count == 1:
        place = " (the last)" if first == extent - 1 else " (the first)" if first == 0 else ""
        return f"{word} {first}{along}{place} of {name}"
    if last - first + 1 == count:
        if last == extent - 1:
            only = f"{word} 0" if first == 1 else f"the first {first:,} {plural}"
            return f"{name} from {word} {first:,}{along} on (only {only})"
        return f"{plural} {first:,} to {last:,}{along} of {name}"
    for period in _PERIODS:
        within = sorted({place % period for place in lost})
        if len(within) == period or count != sum(len(range(rest, extent, period)) for rest in within):
            continue
        if within[-1] - within[0] + 1 == len(within):
            rest = f"{within[0]}" if len(within) == 1 else f"{within[0]} to {within[-1]}"
            return f"{plural}{along} of {name} whose number modulo {period} is {rest}"
    return ""


def _of_segments(array: str, places: torch.Tensor, inputs: Mapping[str, torch.Tensor]) -> str:
    """Parts of segments that an input of increasing offsets bounds."""
    import torch

    for name, bounds in inputs.items():
        if bounds.is_floating_point() or bounds.dim() != 1 or bounds.numel() < 3:
            continue
        steps = bounds.diff()
        if bool((steps < 0).any()) or int(bounds[0]) != 0:
            continue
        begins, ends = bounds[:-1][steps > 0], bounds[1:][steps > 0] - 1
        for expected, word in ((ends, "last"), (begins, "first")):
            if torch.equal(torch.unique(expected.long().cpu()), places):
                return f"the {word} element of {array} in each segment that {name} bounds"
    return ""
