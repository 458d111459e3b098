"""Reads a problem of Tensara. See ``probe.py``."""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from grader.authoring.importing.probed import (
    COMPARISONS,
    CpuGenerator,
    Json,
    OnCpu,
    OnDevice,
    Unable,
    calls_of,
    code_of,
    compared_within,
    dtype_of,
    executed,
    is_named,
    sample_of,
    stated_by,
)

_TYPES = {"double": torch.float64, "float16": torch.float16, "int": torch.int32, "uint32_t": torch.int32}
_TYPES |= {"size_t": torch.int64, "uint64_t": torch.int64, "uint8_t": torch.uint8}
_METHODS = ("__init__", "generate_sample", "generate_test_cases", "verify_result", "get_flops")
# A larger test has no memory.
_MOST_ELEMENTS = 1 << 22


class _Problem:
    parameters: Any = None

    def __init__(self, name: str = "", **_: Any) -> None:
        self.name = name

    def param_dtype(self, key: int | str) -> torch.dtype:
        said = next(one for place, one in enumerate(self.parameters) if key in (place, one["name"]))
        return _TYPES.get(said["type"], torch.float32)

    def get_extra_params(self, case: Json) -> list[Any]:
        return []

    @staticmethod
    def get_seed(text: str) -> int:
        return len(text)


class _WithoutMemory(OnCpu):
    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = {name: value for name, value in (kwargs or {}).items() if name != "generator"}
        if "device" in given:
            given["device"] = "meta"
        return super().__torch_function__(function, types, args, given)


def read(path: Path) -> Json:
    """``def.py`` defines a subclass of ``Problem``; with ``problem.md``."""
    file = path / "def.py" if path.is_dir() else path
    module = types.ModuleType("problem")
    module.__dict__["Problem"] = _Problem
    sys.modules["problem"] = module
    torch.__dict__["Generator"] = CpuGenerator
    source = file.read_text("utf-8")
    tree = ast.parse(source)
    kinds = [value for value in executed(source, file).values() if isinstance(value, type)]
    problem: Any = next(
        (kind() for kind in kinds if issubclass(kind, _Problem) and kind is not _Problem), None
    )
    if problem is None or not problem.parameters:
        raise Unable(f"{file.name} defines no Problem with parameters")
    samples: list[Json] = []
    arguments: list[Json] = []
    called = ""
    for case, timed in _tests(problem):
        found = _sample(problem, case, timed)
        if found is not None:
            sample, arguments, called = found
            samples.append(sample)
    if not samples:
        raise Unable("Its reference runs at none of its own tests without memory or a GPU")
    node = next(each for each in tree.body if is_named(each, (type(problem).__name__,)))
    assert isinstance(node, ast.ClassDef)
    verify = [each for each in node.body if is_named(each, ("verify_result",))]
    compared = [call for each in verify for call in calls_of(each, (*COMPARISONS, "equal"))]
    exact = not compared or any("equal" in ast.unparse(call.func) for call in compared)
    within = [{"atol": 0.0, "rtol": 0.0} if exact else compared_within(call) for call in compared]
    text = (file.parent / "problem.md").read_text("utf-8") if (file.parent / "problem.md").is_file() else ""
    title = re.search(r'^title: "(.*)"$', text, re.MULTILINE)
    return {
        "title": title[1] if title else problem.name,
        "about": text.rpartition("---\n")[2].strip(),
        "arguments": arguments,
        "samples": samples,
        "tolerance": {name: min(one[name] for one in within) for name in ("atol", "rtol")}
        if within
        else None,
        "stated": ["atol", "rtol"]
        if exact and within
        else [name for call in compared for name in stated_by(call)],
        "reference": _reference(tree, node, arguments, called),
        "open": ["Inputs are drawn like those of its tests, one by one."],
    }


def _tests(problem: Any) -> Iterator[tuple[Json, bool]]:
    yield problem.generate_sample(), False
    for case in problem.generate_test_cases():
        yield case, True


def _sample(problem: Any, case: Json, timed: bool) -> tuple[Json, list[Json], str] | None:
    """None if it does not run."""
    try:
        with _WithoutMemory(), torch.no_grad():
            inputs = case["create_inputs"]()
        small = sum(value.numel() for value in inputs if isinstance(value, torch.Tensor)) <= _MOST_ELEMENTS
        with OnCpu() if small else _WithoutMemory(), torch.no_grad():
            inputs = case["create_inputs"]()
            extra = problem.get_extra_params(case)
            found = problem.reference_solution(*inputs)
    except Exception:
        return None
    results = list(found) if isinstance(found, tuple | list) else [found]
    tensors = iter(value for value in [*inputs, *extra] if isinstance(value, torch.Tensor))
    numbers = iter(value for value in [*inputs, *extra] if not isinstance(value, torch.Tensor))
    arguments: list[Json] = []
    values: dict[str, Any] = {}
    written = iter(results)
    for said in problem.parameters:
        name, output = said["name"], said["pointer"] and not said["const"]
        value = next(written if output else tensors if said["pointer"] else numbers, None)
        if value is None:
            raise Unable(f"'{name}' has no value in its tests")
        if said["pointer"] and any(value is one for one in extra):
            raise Unable(f"'{name}' holds a shape: the number of dimensions may differ from call to call")
        if said["pointer"]:
            kind: Json = {"kind": "output" if output else "input", "dtype": dtype_of(value)}
        elif isinstance(value, float):
            kind = {"kind": "scalar", "dtype": "float32", "value": value}
        else:
            kind = {"kind": "size"}
        arguments.append({"name": name, **kind})
        values[name] = value
    sizes = {one["name"]: int(values[one["name"]]) for one in arguments if one["kind"] == "size"}
    arrays = {name: value for name, value in values.items() if isinstance(value, torch.Tensor)}
    given = [one["name"] for one in arguments if one["kind"] != "output"]
    called = ", ".join(next(name for name in given if values[name] is value) for value in inputs)
    return sample_of(sizes, arrays, timed), arguments, called


def _reference(tree: ast.Module, node: ast.ClassDef, arguments: list[Json], called: str) -> str:
    node.bases = []
    node.body = [each for each in node.body if not is_named(each, (*_METHODS, "get_extra_params"))]
    others = [
        each
        for each in tree.body
        if each is not node and getattr(each, "module", "") not in ("problem", "__future__", "typing")
    ]
    given = ", ".join(one["name"] for one in arguments if one["kind"] != "output")
    text = code_of([*others, node], OnDevice()).replace("torch.autocast(_device,", "torch.autocast('cpu',")
    return (
        f"import torch\n\n{text}\n\n\ndef reference({given}):\n"
        f"    return {node.name}().reference_solution({called})\n"
    )
