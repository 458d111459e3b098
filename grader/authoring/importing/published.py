"""Lets a published solution run unchanged: appends a ``solve`` that copies its result into ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from grader.authoring.importing.forms import FORMS
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.errors import BadRequest

_MODULES = """import contextlib
import sys
import types

sys.modules["task"] = types.SimpleNamespace(input_t=object, output_t=object)
sys.modules["utils"] = types.SimpleNamespace(
    make_match_reference=lambda *_, **__: None, DeterministicContext=contextlib.nullcontext
)

"""
_COPIED = '''

def _copied(found, results):
    """``found``: a tensor or several; None if the results were written."""
    for value, result in zip(found if isinstance(found, tuple | list) else (found,), results):
        if value is not None and value.data_ptr() != result.data_ptr():
            result.copy_(value.reshape(result.shape))

'''


def check_solution(text: str, form: str) -> None:
    """Raises BadRequest."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise BadRequest(
            f"The solution is no Python: {error}.", "Only solutions in Python run unchanged."
        ) from error
    defined = {getattr(node, "name", "") for node in body}
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    if FORMS[form].solution not in defined:
        raise BadRequest(
            f"The solution defines no {FORMS[form].solution}.", "That is what its platform calls."
        )


def renamed(code: str, names: Mapping[str, str], ours: Sequence[str]) -> str:
    pairs = [
        (theirs, name)
        for theirs, name in names.items()
        if theirs != name and name in ours and re.search(rf"\b{theirs}\b", code)
    ]
    left, right = (", ".join(side) for side in zip(*pairs, strict=True)) if pairs else ("", "")
    return f"    {left} = {right}\n" if pairs else ""


def check_text(problem: Mapping[str, Any], names: Mapping[str, str], source: str) -> str:
    said, data = problem["check"], problem["data"]
    given = [each["name"] for each in problem["arguments"] if each["kind"] != Kind.OUTPUT]
    lines = "".join(
        f'    {name} = given["{names[name]}"]\n' for name in given if re.search(rf"\b{name}\b", data)
    )
    spare = [
        each["name"]
        for each in problem["arguments"]
        if each["kind"] == Kind.OUTPUT and re.search(rf"\b{each['name']}\b", data)
    ]
    lines += "".join(f'    {name} = want["{names[name]}"]\n' for name in spare)
    results = ", ".join(f'got["{names[name]}"]' for name in problem["order"])
    output = results if said["single"] else f"({results},)"
    return (
        f"{source}import torch\n\ninput_t = output_t = object\n\n{said['code']}\n\n\n"
        f"def check(given, got, want):\n{lines}    found = check_implementation({data}, {output})\n"
        "    right, why = found if isinstance(found, tuple) else (found, '')\n"
        "    return None if right else why or 'the check of its source refuses it'\n"
    )


def with_solve(
    text: str, problem: Mapping[str, Any], form: str, challenge: Challenge, names: Mapping[str, str]
) -> str:
    """``text`` passed ``check_solution``. ``names``: theirs -> ours."""
    ours = ", ".join(arg.name for arg in challenge.manifest.args)
    results = "".join(f"{arg.name}, " for arg in challenge.manifest.results)
    if form == "gpumode":
        return f"{_MODULES}\n{text.rstrip()}\n{_COPIED}\n{_of_gpumode(problem, names, ours)}"
    if form != "kernelbench":  # it gets pointers, in its own order
        order = ", ".join(names[said["name"]] for said in problem["arguments"] if said["name"] in names)
        theirs = FORMS[form].solution
        return f"{text.rstrip()}\n\n\n_theirs = {theirs}\n\n\ndef solve({ours}):\n    _theirs({order})\n"
    return f"{text.rstrip()}\n{_COPIED}\n{_of_kernelbench(problem, challenge, names, ours, results)}"


def _of_gpumode(problem: Mapping[str, Any], names: Mapping[str, str], ours: str) -> str:
    data = problem["data"]
    ordered = ", ".join(names[name] for name in problem["order"])
    lines = renamed(data, names, [name.strip() for name in ours.split(",")])
    return f"def solve({ours}):\n    outputs = ({ordered},)\n{lines}    _copied(custom_kernel({data}), outputs)\n"


def _of_kernelbench(
    problem: Mapping[str, Any], challenge: Challenge, names: Mapping[str, str], ours: str, results: str
) -> str:
    """The model is the problem's; its weights are our inputs."""
    said: Sequence[Mapping[str, Any]] = problem["arguments"]
    weights = {one["weight"]: names[one["name"]] for one in said if one.get("weight")}
    inputs = [names[one["name"]] for one in said if one["kind"] == Kind.INPUT and not one.get("weight")]
    sizes = ", ".join(names[one["name"]] for one in said if one["kind"] == Kind.SIZE and one["name"] in names)
    device = (inputs or list(weights.values()))[0]
    named = ", ".join(f"{name!r}: {value}" for name, value in weights.items())
    key = f"({sizes},)" if sizes else "()"
    return (
        f"{challenge.reference_source.strip()}\n\n\n_models = {{}}\n\n\n"
        f"def solve({ours}):\n"
        f"    if {key} not in _models:\n"
        f"        _models[{key}] = _model({sizes + ', ' if sizes else ''}kind=ModelNew).to({device}.device)\n"
        f"    model = _models[{key}]\n"
        f"    with torch.no_grad():\n"
        f"        found = torch.func.functional_call(model, {{{named}}}, ({', '.join(inputs)},))\n"
        f"    _copied(found, ({results}))\n"
    )
