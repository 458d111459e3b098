from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from grader.challenge.catalogue import Catalogue
from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Kind
from grader.challenge.numbers import rounded
from grader.judge.arena import ALIGNMENT, PAGE, Arena, Buffer, HostMemories, Poison, lay_out


@pytest.mark.parametrize("nbytes", [0, 1, 4, 255, 256, 257, 4095, 4096, 4097, 3840, 100_003])
def test_the_layout_is_aligned_guarded_and_ends_with_the_mapping(nbytes: int) -> None:
    layout = lay_out(nbytes)
    assert layout.mapped % PAGE == 0
    assert layout.offset % ALIGNMENT == 0
    assert layout.offset >= ALIGNMENT
    assert 0 <= layout.mapped - (layout.offset + nbytes) < ALIGNMENT


@pytest.fixture
def buffer() -> Iterator[Buffer]:
    made = Buffer(Argument(name="out", kind=Kind.OUTPUT, dtype=DType.FLOAT32, shape=["n"]), (100,))
    yield made
    made.close()


def test_the_runner_cannot_shrink_or_grow_a_buffer(buffer: Buffer) -> None:
    with pytest.raises(PermissionError):
        os.ftruncate(buffer.descriptor, 0)
    with pytest.raises(PermissionError):
        os.ftruncate(buffer.descriptor, buffer.layout.mapped * 2)
    with pytest.raises(PermissionError):
        fcntl.fcntl(buffer.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)


@pytest.mark.parametrize("place", ["before", "after"])
def test_one_byte_outside_the_array_breaks_the_guard(buffer: Buffer, place: str) -> None:
    assert buffer.guards_intact()
    layout = buffer.layout
    at = layout.offset - 1 if place == "before" else layout.offset + layout.nbytes
    with mmap.mmap(buffer.descriptor, layout.mapped) as other_side:
        other_side[at] ^= 0xFF
    assert not buffer.guards_intact()


def test_everything_mapped_before_an_array_is_guard() -> None:
    """A GPU maps megabytes at a time: otherwise a row too early would hit unused memory unnoticed."""

    class Memories(HostMemories):
        page = 1 << 21

    arg = Argument(name="out", kind=Kind.OUTPUT, dtype=DType.FLOAT32, shape=["n"])
    buffer = Buffer(arg, (1 << 10,), Memories())
    with mmap.mmap(buffer.descriptor, buffer.layout.mapped) as other_side:
        other_side[buffer.layout.offset - 4 * 5000] ^= 0xFF
    assert not buffer.guards_intact()
    assert buffer.written_outside() == [-5000]
    buffer.close()


@pytest.mark.parametrize("dtype", list(DType))
def test_poison_is_distinguished_from_results_of_arithmetic(dtype: DType) -> None:
    buffer = Buffer(Argument(name="out", kind=Kind.OUTPUT, dtype=dtype, shape=["n"]), (8,))
    buffer.poison()
    assert bool(buffer.poisoned(buffer.snapshot()).all())
    if dtype.floating and dtype.as_float.nan_poison:
        assert bool(torch.isnan(buffer.snapshot()).all())
        buffer.write(torch.full(buffer.shape, float("nan"), dtype=buffer.dtype))
        assert not bool(buffer.poisoned(buffer.snapshot()).any())
    elif dtype.value.startswith("int") and not dtype.packed:
        values = buffer.snapshot()
        assert bool((values[::2] > 0).all())
        assert bool((values[1::2] < 0).all()), "a minimum with it is wrong at one, a maximum at the other"
    buffer.close()


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.floating and dtype.as_float.nan_poison])
def test_a_maximum_or_minimum_with_numeric_poison_is_recognised(dtype: DType) -> None:
    buffer = Buffer(Argument(name="out", kind=Kind.OUTPUT, dtype=dtype, shape=["n"]), (7,))
    least = {DType.FLOAT8_E4M3: 300.0, DType.FLOAT8_E5M2: 5e4}.get(dtype, 60_000.0)
    values = rounded(torch.full(buffer.shape, least), dtype)
    for poison, extreme in ((Poison.LARGE, torch.fmax), (Poison.LOW, torch.fmin)):
        buffer.poison(poison)
        held = buffer.snapshot()
        assert bool(torch.isfinite(held).all())
        buffer.write(extreme(held, values if poison is Poison.LARGE else -values))
        assert bool(buffer.poisoned(buffer.snapshot()).all())
    buffer.close()


def test_a_snapshot_does_not_follow_later_writes(buffer: Buffer) -> None:
    buffer.write(torch.ones(100))
    snapshot = buffer.snapshot()
    buffer.write(torch.zeros(100))
    assert bool((snapshot == 1).all())


def test_an_arena_gives_back_its_descriptors(catalogue: Catalogue) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        Arena(catalogue.load("twice").manifest, {"n": 1000}, {}).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("strides", [(6, 1), (1, 5)], ids=["pitch", "columns"])
@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.INT64])
@pytest.mark.parametrize("kind", [Kind.INPUT, Kind.OUTPUT])
def test_padding_is_kept_apart_from_the_elements(kind: Kind, dtype: DType, strides: tuple[int, int]) -> None:
    made = Buffer(Argument(name="x", kind=kind, dtype=dtype, shape=["r", "c"]), (3, 4), strides=strides)
    values = torch.arange(12).view(3, 4).to(made.dtype)
    made.poison()
    assert bool(made.poisoned(made.snapshot()).all())
    made.pad(Poison.LARGE)
    made.write(values)
    assert torch.equal(made.snapshot(), values)
    assert made.values.tolist() == list(range(12))
    assert made.words[made.held_at(torch.arange(12))].tolist() == list(range(12))
    assert made.changed_padding() is None
    first = 4 if strides == (6, 1) else 3
    with mmap.mmap(made.descriptor, made.layout.mapped) as other_side:
        other_side[made.layout.offset + first * dtype.itemsize] ^= 0xFF
    changed = made.changed_padding()
    assert changed is not None
    assert changed.tolist() == [first]
    assert torch.equal(made.snapshot(), values)
    made.close()
