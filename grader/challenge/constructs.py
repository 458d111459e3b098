"""``[constructs]`` of ``challenge.toml``: what a submission's compiled code must do, and must not do."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from grader.schemas.strict import Strict


class Construct(StrEnum):
    """The names are those of ``sandbox/emulator/constructs.py``."""

    TENSOR_CORES = "tensor_cores"
    SHARED_MEMORY = "shared_memory"
    ATOMICS = "atomics"
    WARP_SHUFFLES = "warp_shuffles"
    ASYNC_COPIES = "async_copies"
    LIBRARY_CALLS = "library_calls"
    SPILLS = "spills"
    DOUBLE_PRECISION = "double_precision"

    @property
    def words(self) -> str:
        """As in "this challenge forbids ..."."""
        return self.value.replace("_", " ")

    @property
    def meaning(self) -> str:
        """The instructions that count, for students."""
        return _MEANINGS[self]


_MEANINGS = {
    Construct.TENSOR_CORES: "mma, wmma, wgmma; tl.dot in Triton",
    Construct.SHARED_MEMORY: "any access to it",
    Construct.ATOMICS: "atom and red, on global or shared memory",
    Construct.WARP_SHUFFLES: "shfl and redux",
    Construct.ASYNC_COPIES: "cp.async, and bulk copies (TMA)",
    Construct.LIBRARY_CALLS: "kernels of PyTorch or of a library",
    Construct.SPILLS: "registers that the assembler keeps in local memory",
    Construct.DOUBLE_PRECISION: "arithmetic in float64",
}


class Launches(Strict):
    most: int = Field(ge=1, description="launches of kernels in a call of solve")


class Constructs(Strict):
    require: list[Construct] = Field(default_factory=list)
    forbid: list[Construct] = Field(default_factory=list)
    launches: Launches | None = None

    @model_validator(mode="after")
    def _rules_agree(self) -> Self:
        names = [*self.require, *self.forbid]
        if twice := sorted({name.value for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice} appear more than once in require and forbid")
        if Construct.LIBRARY_CALLS in self.require:
            raise ValueError("library_calls can only be forbidden: boards without a GPU have no such library")
        if Construct.SPILLS in self.require:
            raise ValueError("spills can only be forbidden: which registers spill is the assembler's choice")
        return self

    @property
    def any(self) -> bool:
        return bool(self.require or self.forbid or self.launches)

    @property
    def sentences(self) -> list[str]:
        """The rules for students, one each."""
        found = [f"It must use {each.words} ({each.meaning})." for each in self.require]
        found += [f"It must not use {each.words} ({each.meaning})." for each in self.forbid]
        if self.launches is not None:
            kernels = "one kernel" if self.launches.most == 1 else f"{self.launches.most} kernels"
            found.append(f"A call may launch at most {kernels}.")
        return found
