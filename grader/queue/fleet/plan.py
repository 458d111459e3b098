"""A fleet's file, and how many pilots a pool wants."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from grader.errors import BadRequest
from grader.formats import seconds_of
from grader.schemas.strict import Strict

# A job's name, a label and a file name can be all of these.
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}[a-z0-9]|[a-z]")


def _seconds(value: object) -> object:
    if isinstance(value, str):
        if (found := seconds_of(value)) is None:
            raise ValueError(f"'{value[:20]}' is not a time: write seconds, or 55m, or 2h")
        return found
    return value


Seconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=30 * 86400)]
Argv = Annotated[list[str], Field(min_length=1)]


class SlurmOptions(Strict):
    # Of sbatch.
    options: list[str] = Field(default_factory=list)
    # What a job runs; the controller adds the options of `grader worker`.
    command: Argv = Field(default_factory=lambda: ["grader", "worker"])


class KubernetesOptions(Strict):
    # A Job in YAML, relative to the fleet's file.
    job: str
    namespace: str = "default"


class CommandOptions(Strict):
    launch: Argv
    list: Argv
    stop: Argv


class Pool(Strict):
    # A board, or `compile`.
    device: str
    min: int = Field(default=0, ge=0, le=1000)
    max: int = Field(ge=1, le=1000)
    target: Seconds = 300.0
    lifetime: Seconds = 3300.0
    idle: Seconds = 300.0
    # Until some are measured.
    seconds: Seconds = 30.0
    cost_per_hour: float = Field(default=0.0, ge=0)
    cost_per_day: float | None = Field(default=None, gt=0)
    slurm: SlurmOptions | None = None
    kubernetes: KubernetesOptions | None = None
    command: CommandOptions | None = None

    @model_validator(mode="after")
    def _is_possible(self) -> Pool:
        chosen = [name for name in ("slurm", "kubernetes", "command") if getattr(self, name) is not None]
        if len(chosen) != 1:
            raise ValueError(f"give one of slurm, kubernetes and command; there are {len(chosen)}")
        if self.min > self.max:
            raise ValueError(f"min is {self.min}, more than max, {self.max}")
        if self.cost_per_day is not None and not self.cost_per_hour:
            raise ValueError("cost_per_day needs cost_per_hour")
        if self.cost_per_day is not None and self.longest_cost > self.cost_per_day:
            raise ValueError(
                f"a pilot's lifetime may cost {self.longest_cost:.2f}, more than cost_per_day: it would never start"
            )
        return self

    @property
    def longest_cost(self) -> float:
        return self.lifetime / 3600 * self.cost_per_hour

    def wanted(self, waiting: int, seconds: float | None) -> int:
        """``seconds``: of a usual judgement."""
        needed = math.ceil(waiting * (seconds or self.seconds) / self.target)
        return min(max(needed, self.min), self.max)


class Fleet(Strict):
    interval: Seconds = 15.0
    pools: dict[str, Pool] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_unambiguous(self) -> Fleet:
        for name in self.pools:
            if not NAME.fullmatch(name):
                raise ValueError(
                    f"'{name[:40]}' is no name of a pool: take up to 32 small letters, digits and hyphens"
                )
        devices: dict[str, str] = {}
        for name, pool in self.pools.items():
            if pool.device in devices:
                raise ValueError(f"{devices[pool.device]} and {name} both serve {pool.device}")
            devices[pool.device] = name
        return self


def read_fleet(path: Path) -> Fleet:
    """Raises BadRequest with each wrong key."""
    hint = "docs/operating.md (A fleet of pilots) describes each key."
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text())
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}.", hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path}: not TOML: {error}", hint) from error
    try:
        return Fleet.model_validate(data)
    except ValidationError as error:
        raise BadRequest("\n".join(_problems(path, error)), hint) from error


def _problems(path: Path, error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        key = ".".join(str(part) for part in problem["loc"]) or "(the whole file)"
        yield f"{path}: {key}: {problem['msg'].removeprefix('Value error, ')}"
