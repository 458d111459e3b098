"""Arrays too large for this machine, for the emulated GPU: pages are filled when touched."""

from __future__ import annotations

import math
import mmap
import os
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.challenge.cases import Case
from grader.challenge.draw import draw_inputs
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument
from grader.challenge.pattern import (
    Pattern,
    draw_pattern,
    is_large,
)
from grader.judge.arena import PAGE, Arena, Buffer, BufferLayout, Poison
from grader.judge.oracle import scalar_values

if TYPE_CHECKING:
    import torch

# Indices from here on need more than 32 bits.
BEYOND = 1 << 31
# Chosen elements: among all, and among those beyond 32 bits.
_DRAWN, _DRAWN_BEYOND = 10, 6


class LargeBuffer(Buffer):
    """The array, its pages' pattern, and a byte for each filled page. No guard zones: the emulated GPU refuses
    accesses outside."""

    def __init__(self, argument: Argument, shape: tuple[int, ...], targets: list[int], seed: int) -> None:
        import torch

        self._describe(argument, shape)
        self.label = argument.name
        self.targets, self._seed = targets, seed
        nbytes = self._nbytes
        self._pages = -(-nbytes // PAGE)
        self._pattern_at = self._pages * PAGE
        # At most, see ``draw_pattern``.
        self._drawn_at = self._pattern_at + (argument.dtype.itemsize << 20)
        mapped = self._drawn_at + -(-self._pages // PAGE) * PAGE
        self.layout = BufferLayout(nbytes, mapped, 0)
        self.descriptor = os.memfd_create(f"large-{argument.name}", os.MFD_CLOEXEC)
        os.ftruncate(self.descriptor, mapped)
        self.memory_number = 0
        self._map = mmap.mmap(self.descriptor, mapped)
        everything = torch.frombuffer(self._map, dtype=torch.uint8)
        self._bytes = everything[:nbytes]
        self._everything = everything
        self._guards = []
        self.poison()

    def poison(self, poison: Poison = Poison.NAN) -> None:
        self._poison = poison
        self._fill(self.poison_elements(PAGE // self.words.element_size()), ())

    def hold(self, pattern: Pattern) -> None:
        import torch

        overlays = []
        for overlay in pattern.overlays:
            value = torch.tensor([overlay.value], dtype=torch.float64).to(self.dtype)
            bits = int.from_bytes(value.view(torch.uint8).numpy().tobytes(), "little")
            overlays.append((overlay.first, overlay.step, bits))
        self._fill(pattern.values, overlays)

    def _fill(self, values: torch.Tensor, overlays: Sequence[tuple[int, int, int]]) -> None:
        import torch

        data = values.contiguous().view(torch.uint8)
        self._everything[self._pattern_at : self._pattern_at + data.numel()] = data
        self.how = {
            "pattern": self._pattern_at,
            "period": data.numel(),
            "element": self.argument.dtype.itemsize,
            "overlays": [list(overlay) for overlay in overlays],
            "drawn": self._drawn_at,
            "targets": self.targets,
            "seed": self._seed,
        }

    def touched(self) -> torch.Tensor:
        import torch

        drawn = self._everything[self._drawn_at : self._drawn_at + self._pages]
        pages = drawn.nonzero().reshape(-1)
        each = PAGE // self.argument.dtype.itemsize
        places = (pages[:, None] * each + torch.arange(each)).reshape(-1)
        return places[places < self.count]

    def close(self) -> None:
        del self._bytes, self._everything
        self._map.close()
        os.close(self.descriptor)


class LargeArena(Arena):
    """``inputs``: ordinary ones; ``patterns``: large ones."""

    def __init__(self, challenge: Challenge, case: Case, seed: int) -> None:
        manifest = challenge.manifest
        self.manifest, self.sizes = manifest, dict(case.sizes)
        self.scalars = scalar_values(manifest, case)
        self.poison = Poison.NAN
        large = [argument for argument in manifest.buffers if is_large(manifest, argument, case.sizes)]
        self.inputs = draw_inputs(manifest, case, seed, without=[argument.name for argument in large])
        self.patterns: dict[str, Pattern] = {}
        self.buffers = {}
        for arg in manifest.buffers:
            if arg.name in case.without:
                continue
            shape = manifest.shape(arg, case.sizes)
            if arg not in large:
                self.buffers[arg.name] = Buffer(arg, shape, strides=manifest.strides(arg, case.sizes))
                continue
            buffer = LargeBuffer(arg, shape, _targets(math.prod(shape), seed), seed)
            self.buffers[arg.name] = buffer
            if arg.kind.given:
                self.patterns[arg.name] = draw_pattern(manifest, case, arg, seed)
                buffer.hold(self.patterns[arg.name])
        self._allow(case.sizes)

    def _entry(self, arg: Argument, buffer: Buffer | None) -> dict[str, Any]:
        entry = super()._entry(arg, buffer)
        return {**entry, "large": buffer.how} if isinstance(buffer, LargeBuffer) else entry

    def initial(self, name: str, places: torch.Tensor) -> torch.Tensor:
        if name in self.patterns:
            return self.patterns[name].at(places)
        return self.inputs[name].reshape(-1)[places]

    def touched(self, name: str) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        buffer = self.buffers[name]
        places = buffer.touched() if isinstance(buffer, LargeBuffer) else torch.arange(buffer.count)
        return places, buffer.values[places]


def _targets(count: int, seed: int) -> list[int]:
    dice = random.Random(f"{seed} {count}")  # noqa: S311 - its seed is secret
    # 2^29 and 2^30: byte offsets of 4-byte elements no longer fit 31 and 32 bits.
    found = [count - 1, BEYOND, BEYOND - 1, BEYOND + 1, 0, count // 2, 1 << 30, 1 << 29]
    found += [dice.randrange(count) for _ in range(_DRAWN)]
    if count > BEYOND:
        found += [dice.randrange(BEYOND, count) for _ in range(_DRAWN_BEYOND)]
    return [place for place in dict.fromkeys(found) if place < count]
