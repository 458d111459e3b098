"""Draws the inputs of a case: the same (manifest, case, seed) gives the same tensors on every machine, as long as they
are drawn on the same kind of device (a CPU's generator and a GPU's differ).

Importing this module does not import torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Derived, Filling, Integers, Normal, Recipe, Uniform, drawn_into
from grader.challenge.expression import ExpressionError, parse
from grader.challenge.model import Argument, Kind, Manifest
from grader.errors import ChallengeInvalid

if TYPE_CHECKING:
    import torch

_SEED_BYTES = 8
# Memory for a role, of the shape and dtype of a tensor.
Room = Callable[[str, "torch.Tensor"], "torch.Tensor"]


def default_recipe(manifest: Manifest, arg: Argument, sizes: Mapping[str, int]) -> Recipe:
    """What fills ``arg`` where a case says nothing: its ``values`` in ``challenge.toml``, bounds
    at ``sizes``.

    Raises ChallengeInvalid where a bound cannot be computed.
    """
    values = arg.values
    if values.dist == "normal":
        return Normal()
    try:
        low, high = (_bound(bound, sizes) for bound in (values.low, values.high))
    except ExpressionError as error:
        raise ChallengeInvalid(f"{manifest.title}: args '{arg.name}' values: {error}") from error
    if values.dist == "uniform":
        return Uniform(low, high)
    return Integers(int(low), int(high))


def input_role(name: str) -> str:
    """What an input's room is for."""
    return f"input {name}"


def draw_inputs(
    manifest: Manifest, case: Case, seed: int, device: str = "cpu", room: Room | None = None
) -> dict[str, torch.Tensor]:
    """Contiguous tensors on ``device`` for every input and in-out, in signature order.

    Each argument has its own generator: two inputs are independent, and adding one does not change another. Plain
    recipes are drawn first, then derived ones in signature order. ``room``, of memory on ``device``: where they lie, as
    far as a recipe can draw them there.
    Raises ChallengeInvalid naming case and argument where a recipe fails or gives another shape or dtype, and torch's
    OutOfMemoryError.
    """
    readable = [arg for arg in manifest.buffers if arg.kind is not Kind.OUTPUT]
    fillings = {arg.name: case.inputs.get(arg.name) for arg in readable}
    drawn: dict[str, torch.Tensor] = {}
    for arg in sorted(readable, key=lambda it: isinstance(fillings[it.name], Derived)):
        drawn[arg.name] = _draw(manifest, case, arg, drawn, seed, device, room)
    return {arg.name: drawn[arg.name] for arg in readable}


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

    where = f"{manifest.title}: case '{case.name}', input '{arg.name}'"
    shape = manifest.shape(arg, case.sizes)
    dtype: torch.dtype = getattr(torch, arg.dtype.value)
    filling: Filling = case.inputs.get(arg.name) or default_recipe(manifest, arg, case.sizes)
    generator = _generator(seed, arg.name, device)

    def place(wanted: tuple[int, ...], type: torch.dtype) -> torch.Tensor | None:
        if room is None or (wanted, type) != (shape, dtype):
            return None
        return room(input_role(arg.name), torch.empty(wanted, dtype=type, device="meta"))

    try:
        if isinstance(filling, Derived):
            values = filling.derive(drawn, case.sizes, shape, dtype, generator)
        else:
            with drawn_into(place):
                values = filling.draw(shape, dtype, generator)
    # The machine's fault: taken for the case's, it would spare a submission the round.
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # staff's own recipe: whatever it raises, the case is at fault
        raise ChallengeInvalid(f"{where}: {filling.words()}: {type(error).__name__}: {error}") from error
    if not isinstance(values, torch.Tensor):
        raise ChallengeInvalid(f"{where}: its recipe gives {type(values).__name__}, not a tensor")
    if tuple(values.shape) != shape or values.dtype is not dtype or values.device.type != device:
        got = f"{values.dtype} {list(values.shape)} on {values.device.type}"
        raise ChallengeInvalid(f"{where}: its recipe gives {got}, expected {dtype} {list(shape)} on {device}")
    return values.contiguous()


def _generator(seed: int, name: str, device: str) -> torch.Generator:
    import torch

    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest[:_SEED_BYTES], "big"))


def _bound(bound: str | float, sizes: Mapping[str, int]) -> float:
    return parse(bound)(sizes) if isinstance(bound, str) else bound
