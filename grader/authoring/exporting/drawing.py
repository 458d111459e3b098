"""Python that draws a challenge's inputs without this platform."""

from __future__ import annotations

import math
from dataclasses import fields

from grader.authoring.scaffold.texts import python_of
from grader.challenge.cases import (
    At,
    Case,
    Choice,
    Constant,
    Filling,
    Integers,
    Normal,
    Rows,
    Sprinkle,
    Uniform,
)
from grader.challenge.draw import default_recipe
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Workload
from grader.errors import BadRequest


def public_cases(challenge: Challenge) -> list[Case]:
    return [case for case in challenge.cases if case.on is None]


def timed_workloads(challenge: Challenge) -> list[Workload]:
    found = [workload for workload in challenge.manifest.workloads if workload.on == "gpu"]
    return sorted(found, key=lambda workload: math.prod(workload.sizes.values()))


def arrays_given(challenge: Challenge) -> list[Argument]:
    return [arg for arg in challenge.manifest.buffers if arg.kind.given]


# In float64 on the processor.
DRAWING = """
def _normal(shape, g, mean=0.0, std=1.0):
    return torch.randn(shape, generator=g, dtype=torch.float64) * std + mean


def _uniform(shape, g, low=0.0, high=1.0):
    share = torch.rand(shape, generator=g, dtype=torch.float64)
    return (share * (high / 2 - low / 2) + low / 2) * 2


def _integers(shape, g, low, high):
    return torch.randint(low, max(high, low + 1), shape, generator=g)


def _constant(shape, g, value):
    return torch.full(shape, value, dtype=torch.float64)


def _choice(shape, g, values):
    return torch.tensor(values, dtype=torch.float64)[torch.randint(len(values), shape, generator=g)]


def _sprinkle(shape, g, value, share, base):
    flat = base.reshape(-1)
    count = max(1, round(flat.numel() * share))
    flat[torch.randperm(flat.numel(), generator=g)[:count]] = value
    return flat.reshape(shape)


def _rows(shape, g, value, step, base):
    base[::step] = value
    return base


def _at(shape, g, value, places, base):
    for place in places:
        if -shape[-1] <= place < shape[-1]:
            base[..., place] = value
    return base
"""


def python_of_recipe(recipe: Filling) -> str | None:
    """For ``shape`` and ``g``; None for a recipe of the challenge."""
    if not isinstance(recipe, Normal | Uniform | Integers | Constant | Choice | Sprinkle | Rows | At):
        return None
    values = []
    for parameter in fields(recipe):
        value = getattr(recipe, parameter.name)
        text = python_of_recipe(value) if parameter.name == "base" else python_of_number(value)
        if text is None:
            return None
        values.append(f"{parameter.name}={text}")
    return f"_{type(recipe).__name__.lower()}(shape, g, {', '.join(values)})"


def python_of_number(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(python_of_number, value))},)"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def fillings_of(challenge: Challenge, case: Case) -> dict[str, str] | None:
    """None if an input has no such form."""
    found = {}
    for arg in arrays_given(challenge):
        recipe = case.inputs.get(arg.name) or default_recipe(challenge.manifest, arg, case.sizes)
        text = python_of_recipe(recipe)
        if text is None:
            return None
        found[arg.name] = text
    return found


def python_of_shape(arg: Argument) -> str:
    return f"({', '.join(map(python_of, arg.shape))},)"


def sizes_of(challenge: Challenge) -> dict[str, str]:
    """From the shapes of arrays. Raises BadRequest."""
    found = {}
    for size in challenge.manifest.sizes:
        places = [
            f"{arg.name}.shape[{place}]"
            for arg in challenge.manifest.buffers
            for place, text in enumerate(arg.shape)
            if text == size
        ]
        if not places:
            raise BadRequest(
                f"'{size}' is no dimension of an array.",
                "This form passes arrays and numbers alone, no sizes.",
            )
        found[size] = places[0]
    return found


def usual_filling(challenge: Challenge, arg: Argument) -> str:
    """Bounds may be sizes."""
    if arg.name in challenge.inputs:
        text = python_of_recipe(challenge.inputs[arg.name])
        if text is None:
            raise BadRequest(
                f"'{arg.name}' has a recipe of its own.", "This form draws inputs without the platform."
            )
        return text
    values = arg.values
    low, high = (
        python_of(bound) if isinstance(bound, str) else python_of_number(bound)
        for bound in (values.low, values.high)
    )
    if values.dist == "normal":
        return "_normal(shape, g)"
    if values.dist == "uniform":
        return f"_uniform(shape, g, {low}, {high})"
    return f"_integers(shape, g, int({low}), int({high}))"
