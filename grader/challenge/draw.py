"""The same (manifest, case, seed) gives the same inputs on every machine with the same kind of device; CPU
and GPU differ. Does not import torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from grader.challenge.cases import (
    Ascending,
    Case,
    Derived,
    Filling,
    Integers,
    Normal,
    Offsets,
    Part,
    PartRecipe,
    PowersOfTwo,
    Recipe,
    Uniform,
    drawn_into,
)
from grader.challenge.dtypes import DType
from grader.challenge.expression import ExpressionError, parse
from grader.challenge.model import Argument, Manifest
from grader.challenge.numbers import held_type, missing_special, rounded
from grader.errors import ChallengeInvalid

if TYPE_CHECKING:
    import torch

_SEED_BYTES = 8
# With the shape and dtype of the given tensor.
Room = Callable[[str, "torch.Tensor"], "torch.Tensor"]


def default_recipe(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> Recipe:
    """Bounds at ``sizes``. Raises ChallengeInvalid."""
    values = arg.values
    if values.dist == "normal":
        return Normal()
    try:
        low, high = (_bound(bound, sizes) for bound in (values.low, values.high))
    except ExpressionError as error:
        raise ChallengeInvalid(f"{manifest.title}: args '{arg.name}' values: {error}") from error
    if values.dist == "uniform":
        return Uniform(low, high)
    if values.dist == "powers":
        return PowersOfTwo(int(low), int(high))
    if values.dist == "offsets":
        return Offsets(int(low), int(high))
    if not arg.dtype.floating:  # a type may hold less than the sizes allow
        high = min(high, arg.dtype.as_integer.high + 1)
    if values.dist == "sorted":
        return Ascending(int(low), int(high))
    return Integers(int(low), int(high))


def strict_bounds(arg: Argument, sizes: Mapping[str, int]) -> tuple[int, int] | None:
    """None without strict bounds, or without any value. Raises ExpressionError."""
    if not arg.values.strict:
        return None
    low, high = (int(_bound(bound, sizes)) for bound in (arg.values.low, arg.values.high))
    last = high if arg.values.dist == "offsets" else min(high - 1, arg.dtype.as_integer.high)
    return (low, last) if low <= last else None


def input_role(name: str) -> str:
    return f"input {name}"


def draw_inputs(
    manifest: Manifest,
    case: Case,
    seed: int,
    device: str = "cpu",
    room: Room | None = None,
    without: Collection[str] = (),
) -> dict[str, torch.Tensor]:
    """Contiguous tensors of held values (``grader.challenge.numbers``) on ``device`` for every input and
    in-out except ``without``, in signature order.

    Each argument has its own generator: adding one does not change another.

    Raises ChallengeInvalid with case and argument if a recipe fails or gives another shape or dtype, and
    torch's OutOfMemoryError.
    """
    readable = [arg for arg in manifest.given if arg.name not in {*without, *case.without}]
    fillings = {arg.name: case.inputs.get(arg.name) for arg in readable}
    drawn: dict[str, torch.Tensor] = {}
    for arg in sorted(readable, key=lambda arg: isinstance(fillings[arg.name], Derived)):
        drawn[arg.name] = _draw(manifest, case, arg, drawn, seed, device, room)
    return {arg.name: drawn[arg.name] for arg in readable}


def draw_recipe(
    manifest: Manifest, case: Case, arg: Argument, recipe: Recipe, shape: tuple[int, ...], seed: int
) -> torch.Tensor:
    """On the CPU. Raises ChallengeInvalid."""
    dtype = held_type(arg.dtype)
    generator = _generator(f"{seed}:{arg.name}", "cpu")
    return _checked(lambda: recipe.draw(shape, dtype, generator), manifest, case, arg, shape, "cpu")


def _draw(
    manifest: Manifest,
    case: Case,
    arg: Argument,
    drawn: Mapping[str, torch.Tensor],
    seed: int,
    device: str,
    room: Room | None,
) -> torch.Tensor:
    import torch

    shape = arg.dtype.held_shape(manifest.shape(arg, case.sizes))
    dtype = held_type(arg.dtype)
    filling = filling_of(manifest, case, arg)
    generator = _generator(f"{seed}:{arg.name}", device)

    def place(wanted: tuple[int, ...], type: torch.dtype) -> torch.Tensor | None:
        if room is None or (wanted, type) != (shape, dtype):
            return None
        return room(input_role(arg.name), torch.empty(wanted, dtype=type, device="meta"))

    def draw() -> torch.Tensor:
        if isinstance(filling, Derived):
            return filling.derive(drawn, case.sizes, shape, dtype, generator)
        with drawn_into(place):
            return filling.draw(shape, dtype, generator)

    return _checked(draw, manifest, case, arg, shape, device)


def _checked(
    draw: Callable[[], torch.Tensor],
    manifest: Manifest,
    case: Case,
    arg: Argument,
    shape: tuple[int, ...],
    device: str,
) -> torch.Tensor:
    """Rounded to numbers that the dtype has. Raises ChallengeInvalid."""
    import torch

    dtype = held_type(arg.dtype)
    where = f"{manifest.title}: case '{case.name}', input '{arg.name}'"
    try:
        values = draw()
    # Blaming the case would spare the submission this round.
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # staff's recipe: the case is at fault
        words = filling_of(manifest, case, arg).words()
        raise ChallengeInvalid(f"{where}: {words}: {type(error).__name__}: {error}") from error
    if not isinstance(values, torch.Tensor):
        raise ChallengeInvalid(f"{where}: its recipe gives {type(values).__name__}, not a tensor")
    if tuple(values.shape) != shape or values.dtype is not dtype or values.device.type != device:
        got = f"{values.dtype} {list(values.shape)} on {values.device.type}"
        raise ChallengeInvalid(f"{where}: its recipe gives {got}, expected {dtype} {list(shape)} on {device}")
    if missing := missing_special(values, arg.dtype):
        words = filling_of(manifest, case, arg).words()
        raise ChallengeInvalid(
            f"{where}: {words}: {arg.dtype} has no {missing}",
            f"Give '{arg.name}' other `inputs` in this case, or other `values` in challenge.toml.",
        )
    if arg.dtype.encoded or arg.dtype is DType.BOOL:
        values = rounded(values.contiguous(), arg.dtype, overwrite=True)
    _check_bounds(values, arg, case, where)
    return values.contiguous()


def _check_bounds(values: torch.Tensor, arg: Argument, case: Case, where: str) -> None:
    """Raises ChallengeInvalid."""
    if not values.numel() or (ends := strict_bounds(arg, case.sizes)) is None:
        return
    wide = values.long()
    least, most = int(wide.min()), int(wide.max())
    problem = ""
    if least < ends[0] or most > ends[1]:
        wrong = most if most > ends[1] else least
        problem = f"the value {wrong:,} is not from {ends[0]:,} to {ends[1]:,}"
    elif arg.values.dist != "integers":
        steps = wide.diff(dim=-1)
        if steps.numel() and int(steps.min()) < (1 if arg.values.dist == "sorted" else 0):
            problem = "its values do not increase"
        elif arg.values.dist == "offsets" and (
            int(wide[..., 0].max()) != ends[0] or int(wide[..., -1].min()) != ends[1]
        ):
            problem = f"its offsets do not go from {ends[0]:,} to {ends[1]:,}"
    if problem:
        raise ChallengeInvalid(
            f"{where}: {problem}, as `values` of challenge.toml promises",
            "Draw other values, or leave strict out there if the contract allows these.",
        )


def filling_of(manifest: Manifest, case: Case, arg: Argument) -> Filling:
    """Raises ChallengeInvalid."""
    return case.inputs.get(arg.name) or default_recipe(manifest, arg, case.sizes)


def drawn_in_parts(manifest: Manifest, case: Case, arg: Argument) -> bool:
    """True if ``arg`` can be an ``InputInParts``. Raises ChallengeInvalid."""
    filling = filling_of(manifest, case, arg)
    return isinstance(filling, PartRecipe) and filling.in_parts


class InputInParts:
    """Never wholly in memory: parts of ``rows`` rows, each with its own generator. Differs from
    ``draw_inputs``.
    """

    def __init__(
        self, manifest: Manifest, case: Case, arg: Argument, seed: int, device: str, rows: int
    ) -> None:
        self._manifest, self._case, self.arg = manifest, case, arg
        self._seed, self._device, self._rows = seed, device, rows
        self._whole = arg.dtype.held_shape(manifest.shape(arg, case.sizes))
        self._drawn: dict[int, torch.Tensor] = {}

    def parts(self) -> Iterator[torch.Tensor]:
        """In order. Raises ChallengeInvalid, and torch's OutOfMemoryError."""
        for number in range(-(-self._whole[0] // self._rows)):
            yield self._draw(number)

    def rows(self, start: int, length: int) -> torch.Tensor:
        """Fast in ascending order. Raises as ``parts``."""
        import torch

        first, last = start // self._rows, (start + max(1, length) - 1) // self._rows
        self._drawn = {number: part for number, part in self._drawn.items() if first <= number <= last}
        for number in range(first, last + 1):
            if number not in self._drawn:
                self._drawn[number] = self._draw(number)
        found = [self._drawn[number] for number in range(first, last + 1)]
        joined = found[0] if len(found) == 1 else torch.cat(found)
        return joined.narrow(0, start - first * self._rows, length)

    def forget(self) -> None:
        self._drawn.clear()

    def _draw(self, number: int) -> torch.Tensor:

        start = number * self._rows
        part = Part(self._whole, start, max(0, min(self._rows, self._whole[0] - start)))
        filling = filling_of(self._manifest, self._case, self.arg)
        generator = _generator(f"{self._seed}:{self.arg.name}:{number}", self._device)
        dtype = held_type(self.arg.dtype)

        def draw() -> torch.Tensor:
            assert isinstance(filling, PartRecipe)
            return filling.draw_part(part, dtype, generator)

        return _checked(draw, self._manifest, self._case, self.arg, part.shape, self._device)


def _generator(text: str, device: str) -> torch.Generator:
    import torch

    digest = hashlib.sha256(text.encode()).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest[:_SEED_BYTES], "big"))


def _bound(bound: str | float, sizes: Mapping[str, int]) -> float:
    return parse(bound)(sizes) if isinstance(bound, str) else bound
