"""A run of one public case with its author's sizes and inputs."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictInt, field_validator

from grader import limits
from grader.schemas.card_tool import CardTool
from grader.schemas.strict import Strict

# No argument has as many dimensions.
_DEPTH = 8
# As long as an expression may be.
_SIZE_CHARS = 200


def _plain(value: Any, depth: int = 0) -> Any:
    """JSON has no NaN and infinity: they become ``nan``, ``inf`` and ``-inf``."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        if depth >= _DEPTH:
            raise ValueError(f"values are nested more than {_DEPTH} deep")
        return [_plain(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool | dict):
        raise ValueError("write a recipe, a number, or a list of numbers")
    return value


def _size(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("a size is a whole number, or an expression as text")
    if isinstance(value, str) and len(value) > _SIZE_CHARS:
        raise ValueError(f"an expression has at most {_SIZE_CHARS} characters")
    return value


Size = Annotated[StrictInt | str, BeforeValidator(_size)]
Values = Annotated[str | StrictInt | float | list[Any], BeforeValidator(_plain)]


class StepChoice(Strict):
    """The block that a page steps through."""

    launch: int | None = Field(
        default=None,
        ge=0,
        le=1 << 20,
        description="of the call, from 0; by default the one that goes wrong or, if none does, the first",
    )
    block: tuple[int, int, int] = Field(default=(0, 0, 0), description="x, y, z, each from 0")

    @field_validator("block")
    @classmethod
    def _positive(cls, block: tuple[int, int, int]) -> tuple[int, int, int]:
        if any(not 0 <= number < 1 << 31 for number in block):
            raise ValueError("a block's numbers are 0 or more")
        return block


class OwnCase(Strict):
    """A public case, run alone. ``grader.challenge.own_case`` checks it."""

    name: str = Field(min_length=1, max_length=100, description="the name of a public case")
    sizes: dict[str, Size] = Field(
        default_factory=dict,
        description="size -> a whole number, or an expression in the case's own sizes, such as '2 * n + 1'",
    )
    inputs: dict[str, Values] = Field(
        default_factory=dict,
        description="input -> a recipe such as 'ramp' or 'uniform(0, 1)', a list of numbers (also as text: "
        "'[1, 2, nan]'), or a number for a scalar",
    )
    seed: int | None = Field(
        default=None, ge=0, lt=1 << 48, description="draws random inputs; by default the same for each run"
    )
    version: int | None = Field(
        default=None, description="of the challenge, as you saw it; 409 if it has another one now"
    )

    step: StepChoice | None = Field(
        default=None,
        description="record this block of a CUDA kernel, to step through it on the run's page (emulated GPU only)",
    )

    tool: CardTool | None = Field(
        default=None,
        description="call it once more under Nsight Compute (counters) or a tool of compute-sanitizer (GPUs only)",
    )

    @property
    def changes(self) -> bool:
        """True if sizes or inputs differ from the case's."""
        return bool(self.sizes or self.inputs)

    def stored(self) -> str:
        """The same text for equal requests."""
        return json.dumps(self.model_dump(exclude={"version"}, exclude_defaults=True), sort_keys=True)


class OutputRecord(Strict):
    """A result of the kernel, to compare it with that of another run."""

    argument: str
    shape: list[int]
    sha256: str
    head: list[str] = Field(
        max_length=limits.OWN_HEAD,
        description="the first elements, row-major, exactly as a number or nan, inf",
    )
    parts: list[str] = Field(
        max_length=limits.OWN_PARTS, description="checksums of equal parts of the elements, in order"
    )
    part_elements: int = Field(ge=1, description="elements of a part; the last one may have fewer")


class OwnRun(Strict):
    """The case with its sizes and inputs, and the kernel's results."""

    case: str
    sizes: dict[str, int] = Field(description="all sizes that it ran with")
    inputs: dict[str, str] = Field(description="input -> a description of its values")
    own: list[str] = Field(description="names of sizes and inputs that the request set")
    seed: int
    inputs_sha256: str = Field(default="", description="of all inputs' values; empty if none were drawn")
    outputs: list[OutputRecord] = Field(
        default_factory=list, description="empty if the kernel did not return"
    )


class OutputChange(Strict):
    """How a result differs from the earlier run's."""

    argument: str
    same: bool
    where: str = Field(default="", description="the first changed element, or the range that holds it")
    then: str = Field(default="", description="its value in the earlier run, if both keep it")
    now: str = ""
    changed: int = Field(default=0, ge=0, description="changed elements among the first ones that both keep")
    of: int = Field(default=0, ge=0, description="elements that both keep")

    @property
    def sentence(self) -> str:
        if self.same:
            return f"{self.argument}: no change."
        if not self.changed:
            return f"{self.argument} changed{f' first within {self.where}' if self.where else ''}."
        first = f"the first is {self.where}, {self.then} then and {self.now} now"
        return f"{self.argument}: {self.changed:,} of the first {self.of:,} elements changed; {first}."


class RunChanges(Strict):
    """A run compared with the author's last run of the same case, sizes and inputs."""

    run: str = Field(description="the earlier run's id")
    verdict_then: str
    verdict_now: str
    source_changed: bool
    same_inputs: bool = Field(
        description="false: the challenge draws other inputs now, so results are not compared"
    )
    outputs: list[OutputChange] = Field(default_factory=list)
    sentence: str
