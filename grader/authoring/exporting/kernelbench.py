"""KernelBench's form: one size, no edge cases, no tolerance."""

from __future__ import annotations

from grader.authoring.exporting.drawing import (
    DRAWING,
    arrays_given,
    python_of_shape,
    timed_workloads,
    usual_filling,
)
from grader.authoring.exporting.exported import Exported
from grader.challenge.loader import Challenge
from grader.challenge.model import Argument, Kind


def kernelbench(challenge: Challenge) -> Exported:
    """At the smallest timed workload."""
    manifest = challenge.manifest
    workload = (timed_workloads(challenge) or manifest.workloads)[0]
    sizes = _sizes_of_given(challenge)
    given = arrays_given(challenge)
    lines = [f"{name} = {size}" for name, size in workload.sizes.items()]
    drawn = []
    for arg in given:
        drawn.append(f"    shape = {python_of_shape(arg)}")
        drawn.append(f"    {arg.name} = {usual_filling(challenge, arg)}.to(torch.{arg.dtype.value})")
    passed = ", ".join(
        f"{arg.name}={f'{arg.name}.clone()' if arg.kind is Kind.INOUT else sizes.get(arg.name) or _value(arg)}"
        for arg in manifest.args
        if arg.kind.passed
    )
    names = ", ".join(arg.name for arg in given)
    text = (
        "import torch\nimport torch.nn as nn\n\n"
        f"{challenge.reference_source.strip()}\n\n\n"
        f'class Model(nn.Module):\n    """{manifest.title}."""\n\n'
        f"    def forward(self, {names}):\n        return reference({passed})\n\n\n"
        + "\n".join(lines)
        + f"\n\n{DRAWING}\n\ndef get_inputs():\n    g = None\n"
        + "\n".join(drawn)
        + f"\n    return [{names}]\n\n\ndef get_init_inputs():\n    return []\n"
    )
    lost = [
        "KernelBench has one size, no edge cases and its own tolerance: "
        f"{len(challenge.cases)} public cases and the workloads but '{workload.name}' stay here."
    ]
    if any(arg.kind is Kind.INOUT for arg in manifest.args):
        lost.append("What is changed in place here is returned there.")
    if challenge.checker_source is not None:
        lost.append("Its check.py stays here: there the reference's answer is the only right one.")
    return Exported({f"{challenge.slug}.py": text}, lost)


def _value(arg: Argument) -> str:
    return arg.name if arg.kind.buffer else repr(arg.value)


def _sizes_of_given(challenge: Challenge) -> dict[str, str]:
    """From inputs; a size of results alone is a number of the problem."""
    found = {}
    for size in challenge.manifest.sizes:
        places = [
            f"{arg.name}.shape[{place}]"
            for arg in arrays_given(challenge)
            for place, text in enumerate(arg.shape)
            if text == size
        ]
        found[size] = places[0] if places else size
    return found
