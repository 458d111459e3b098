from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from grader.schemas.strict import Strict


class Construct(StrEnum):
    """Named as in ``sandbox/emulator/constructs.py``."""

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


class Share(Strict):
    """A use whose result nobody needs is not enough."""

    what: Construct
    share: float = Field(gt=0, lt=1, description="of the operations that `cost.flops` names")

    @property
    def sentence(self) -> str:
        words = self.what.words.capitalize()
        return f"{words} must do {self.share:.0%} of the operations ({self.what.meaning})."


class Constructs(Strict):
    require: list[Construct | Share] = Field(default_factory=list)
    forbid: list[Construct] = Field(default_factory=list)
    launches: Launches | None = None

    @model_validator(mode="after")
    def _rules_agree(self) -> Self:
        names = [*self.required, *self.forbid]
        if twice := sorted({name.value for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice} appear more than once in require and forbid")
        if others := [each.what.value for each in self.shares if each.what is not Construct.TENSOR_CORES]:
            raise ValueError(f"{others} cannot have a share: only operations of tensor cores are counted")
        if Construct.LIBRARY_CALLS in self.required:
            raise ValueError("library_calls can only be forbidden: boards without a GPU have no such library")
        if Construct.SPILLS in self.required:
            raise ValueError("spills can only be forbidden: which registers spill is the assembler's choice")
        return self

    @property
    def required(self) -> list[Construct]:
        return [each.what if isinstance(each, Share) else each for each in self.require]

    @property
    def shares(self) -> list[Share]:
        return [each for each in self.require if isinstance(each, Share)]

    @property
    def any(self) -> bool:
        return bool(self.require or self.forbid or self.launches)

    @property
    def sentences(self) -> list[str]:
        found = [
            each.sentence if isinstance(each, Share) else f"It must use {each.words} ({each.meaning})."
            for each in self.require
        ]
        found += [f"It must not use {each.words} ({each.meaning})." for each in self.forbid]
        if self.launches is not None:
            kernels = "one kernel" if self.launches.most == 1 else f"{self.launches.most} kernels"
            found.append(f"A call may launch at most {kernels}.")
        return found
