"""The planned GPU memory covers drawing inputs: by arithmetic, compared with the tensors that drawing makes.
Nothing here needs a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from grader.challenge import cases
from grader.challenge.cases import Case, Category, Filling, drawing_bytes
from grader.challenge.catalogue import find_catalogue
from grader.challenge.draw import draw_inputs
from grader.challenge.model import Workload
from grader.challenge.overlays import overlays
from grader.judge.cuda.memory import CudaMemories, Staging
from grader.judge.cuda.memory_needs import case_bytes, drawing_by_buffer, workload_bytes
from grader.judge.cuda.memory_plan import CudaMemoryPlan
from grader.judge.oracle import workload_case
from grader.limits import GIB

CATALOGUE = find_catalogue()
# Tensors of a few numbers, which no plan names.
SMALL = 4096


class Height(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The most bytes of tensors that live at once."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = 0
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(made):
            if isinstance(leaf, torch.Tensor):
                storage = leaf.untyped_storage()
                self._alive[storage._cdata] = (
                    StorageWeakRef(storage),  # type: ignore[no-untyped-call]
                    storage.nbytes(),
                )
        self._alive = {key: pair for key, pair in self._alive.items() if not _gone(pair[0])}
        self.most = max(self.most, sum(size for _, size in self._alive.values()))
        return made


def _gone(storage: StorageWeakRef) -> bool:
    return bool(storage.expired())  # type: ignore[no-untyped-call]


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random values in float32, and pieces as small relative to the arrays as on a GPU."""
    monkeypatch.setattr(cases, "_is_gpu", lambda _: True)
    monkeypatch.setattr(cases, "_PIECE", 1 << 10)
    monkeypatch.setattr(cases, "_FEW", 1 << 12)


@pytest.mark.usefixtures("as_on_a_gpu")
@pytest.mark.parametrize("slug", CATALOGUE.slugs())
def test_no_round_takes_more_to_draw_than_its_recipes_say(slug: str) -> None:
    challenge = CATALOGUE.load(slug)
    workload = next(workload for workload in challenge.manifest.workloads if workload.on == "cpu")
    for overlay in (None, *overlays(challenge, workload)):
        case = workload_case(challenge, workload, overlay)
        with Height() as height:
            drawn = draw_inputs(challenge.manifest, case, 5)
        inputs = sum(tensor.nbytes for tensor in drawn.values())
        beside = max(needed for _, needed in drawing_by_buffer(challenge, case.sizes, case.inputs))
        assert height.most <= inputs + beside + SMALL, case.name
        assert inputs + beside <= workload_bytes(challenge, workload)


def test_special_rounds_that_need_more_than_the_oracle_are_planned() -> None:
    """NaN are strewn by a permutation up to 2^16 elements: 48 bytes for each; the oracle takes 24."""
    challenge, n = CATALOGUE.load("reduce_sum"), 1 << 16
    of_x, of_result = 3 * 4 * n, 4 * 4
    assert workload_bytes(challenge, Workload(name="w", sizes={"n": n})) == of_x + of_result + 48 * n
    more = n + 1  # no longer: places in pieces
    assert workload_bytes(challenge, Workload(name="w", sizes={"n": more})) == 36 * more + 16 + 24


def test_large_cases_plan_for_random_values_of_float16() -> None:
    """They are drawn in float32, all at once: more than a piece takes."""
    challenge = CATALOGUE.load("matmul_fp16")
    sizes = {"m": 1, "n": 1, "k": 1 << 31}
    drawn = 2 * 2 * (1 << 31)
    assert case_bytes(challenge, Case("wide", Category.LARGE, sizes, on="gpu")) >= 2 * drawn + 4 * (1 << 31)


@dataclass(frozen=True)
class Hungry:
    """A staff recipe that does not state its memory. A GPU has no room for it."""

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        raise torch.OutOfMemoryError

    def words(self) -> str:
        return "a lot"


def test_a_recipe_without_a_size_counts_as_three_float64_copies() -> None:
    hungry: Filling = Hungry()
    assert drawing_bytes(hungry, 100, 4, {"x": 100}) == 2400
    assert drawing_bytes(cases.Sprinkle(1.0, base=Hungry()), 1 << 25, 4, {}) == 24 << 25


def test_too_little_memory_is_not_the_fault_of_a_case() -> None:
    """What does not fit a workload's sizes is left out of its rounds; a full GPU must not leave out anything."""
    challenge = CATALOGUE.load("relu")
    with pytest.raises(torch.OutOfMemoryError):
        draw_inputs(challenge.manifest, Case("full", Category.NAN, {"n": 5}, {"x": Hungry()}), 1)


class Kept:
    def __init__(self, kept_bytes: int) -> None:
        self.kept_bytes, self.given_back = kept_bytes, 0

    def give_back(self) -> None:
        self.given_back, self.kept_bytes = self.kept_bytes, 0


@pytest.mark.parametrize(
    ("needed", "free", "held", "fits", "given_back"),
    [
        (44, 66, 12, True, False),  # there is room next to the kept memory
        (52, 62, 16, False, False),  # there never is, so kept memory stays
        (44, 46, 32, True, True),  # of earlier challenges
        (44, 78, 0, True, False),
        (64, 78, 0, False, False),
    ],
)
def test_kept_memory_is_freed_only_if_that_makes_room(
    monkeypatch: pytest.MonkeyPatch, needed: int, free: int, held: int, fits: bool, given_back: bool
) -> None:
    shared, private = Kept(held * GIB // 2), Kept(held * GIB // 2)
    plan = CudaMemoryPlan(cast(CudaMemories, shared), cast(Staging, private))
    in_all = (free + held) * GIB
    monkeypatch.setattr(
        torch.cuda, "mem_get_info", lambda: (in_all - shared.kept_bytes - private.kept_bytes, 80 * GIB)
    )
    for name in ("memory_reserved", "memory_allocated"):
        monkeypatch.setattr(torch.cuda, name, lambda: held * GIB // 2)
    lacking = plan._lacks(needed * GIB, 12 * GIB)
    assert (not lacking) == fits
    assert bool(shared.given_back and private.given_back) == given_back
    assert fits or "GiB, and 63 are free" in lacking


def test_fits_alone_depends_on_the_gpus_total_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """28 GiB never fit on 24 GB, and always on 80 GB, unless something holds them."""
    plan = CudaMemoryPlan.__new__(CudaMemoryPlan)
    challenge = CATALOGUE.load("vector_add")
    largest = next(workload for workload in challenge.manifest.workloads if workload.name == "2^28")
    for total, alone in ((24, False), (39, True), (80, True)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda gib=total: (GIB, gib * GIB))
        assert plan.fits_alone(challenge, largest) == alone
