"""Reads a challenge of LeetGPU. See ``probe.py``."""

from __future__ import annotations

import ast
import ctypes
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from grader.authoring.importing.probed import Json, OnCpu, Unable, dtype_of, executed, is_named, sample_of

_FLOATS = {ctypes.c_float: "float32", ctypes.c_double: "float64"}
_WHOLE_TYPES = (ctypes.c_int, ctypes.c_int64, ctypes.c_long, ctypes.c_size_t, ctypes.c_uint32)


class _Described:
    """Replaces RandTensor and the like."""

    usual = "float32"

    def __init__(self, shape: Sequence[int], *others: float | str, dtype: str = "", **named: float) -> None:
        given = next((other for other in others if isinstance(other, str)), self.usual)
        self.shape, self.dtype = tuple(shape), dtype or given

    def tensor(self) -> torch.Tensor:
        return torch.empty(self.shape, dtype=getattr(torch, self.dtype), device="meta")


class _DescribedWhole(_Described):
    usual = "int32"


class _Base:
    def __init__(self, device: str = "cpu") -> None:
        self.device = device


def read(path: Path) -> Json:
    """``challenge.py`` defines a subclass of ``ChallengeBase``."""
    path = path / "challenge.py" if path.is_dir() else path
    core, base = types.ModuleType("core"), types.ModuleType("core.challenge_base")
    described = ("RandTensor", "RandnTensor", "FullTensor", "OutTensor")
    base.__dict__.update({"ChallengeBase": _Base, "RandIntTensor": _DescribedWhole})
    base.__dict__.update(dict.fromkeys(described, _Described))
    core.__dict__["challenge_base"] = base
    sys.modules |= {"core": core, "core.challenge_base": base}
    source = path.read_text("utf-8")
    names = executed(source, path)
    kind = names.get("Challenge")
    if kind is None:
        raise Unable(f"{path.name} defines no class Challenge")
    if getattr(kind, "num_gpus", 1) != 1:
        raise Unable(f"it is for {kind.num_gpus} GPUs")
    signature = kind("cpu").get_solve_signature()
    tests = _tests(kind)
    if not tests:
        raise Unable("none of its test generators runs here")
    arguments, todo = _arguments(signature, tests)
    sizes = [argument["name"] for argument in arguments if argument["kind"] == "size"]
    buffers = [argument["name"] for argument in arguments if argument["kind"] in ("input", "inout", "output")]
    samples = [
        sample_of(
            {name: int(test[name]) for name in sizes},
            {
                name: test[name].tensor() if isinstance(test[name], _Described) else test[name]
                for name in buffers
            },
            timed,
        )
        for test, timed in tests
    ]
    return {
        "title": str(getattr(kind, "name", path.parent.name)),
        "about": "",
        "arguments": arguments,
        "samples": samples,
        "tolerance": {"atol": float(getattr(kind, "atol", 0.0)), "rtol": float(getattr(kind, "rtol", 0.0))},
        "stated": [name for name in ("atol", "rtol") if hasattr(kind, name)],
        "reference": _reference(ast.parse(source), arguments, list(signature)),
        "open": todo,
    }


def _tests(kind: Any) -> list[tuple[Json, bool]]:
    found: list[tuple[Json, bool]] = []
    for name, device in (
        ("generate_functional_test", "cpu"),
        ("generate_example_test", "cpu"),
        ("generate_performance_test", "meta"),
    ):
        try:
            with OnCpu():
                made = getattr(kind(device), name)()
        except Exception:  # noqa: S112 - the others may do
            continue
        for test in made if isinstance(made, list) else [made]:
            found.append((test, name == "generate_performance_test"))
    return found


def _arguments(signature: Mapping[str, Any], tests: Sequence[Any]) -> tuple[list[Json], list[str]]:
    arguments: list[Json] = []
    todo: list[str] = []
    for name, (kind, way) in signature.items():
        values = [test[name] for test, _ in tests if test.get(name) is not None]
        if not values:
            raise Unable(f"'{name}' may be absent: optional arguments cannot be said")
        if hasattr(kind, "contents") or kind is torch.Tensor:
            first = values[0]
            dtype = first.dtype if isinstance(first, _Described) else dtype_of(first)
            role = {"in": "input", "out": "output", "inout": "inout"}.get(way, "input")
            arguments.append({"name": name, "kind": role, "dtype": dtype})
        elif kind in _WHOLE_TYPES:
            arguments.append({"name": name, "kind": "size"})
        elif kind in _FLOATS:
            number = float(values[-1])
            arguments.append({"name": name, "kind": "scalar", "dtype": _FLOATS[kind], "value": number})
            if len({float(value) for value in values}) > 1:
                todo.append(f"'{name}' is {number:g} everywhere; its own tests also use other values.")
        else:
            raise Unable(f"'{name}' has a C type that cannot be said: {kind.__name__}")
    return arguments, todo


def _reference(tree: ast.Module, arguments: Sequence[Json], order: Sequence[str]) -> str:
    """Without tests and assertions."""
    imports = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core"))
    ]
    others = [
        node
        for node in tree.body
        if not isinstance(node, ast.Import | ast.ImportFrom) and not is_named(node, ("Challenge",))
    ]
    challenge = next(
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Challenge"
    )
    dropped = (
        "generate_example_test",
        "generate_functional_test",
        "generate_performance_test",
        "get_solve_signature",
    )
    challenge.bases = []
    challenge.body = [node for node in challenge.body if not is_named(node, dropped)]
    body = ast.unparse(_WithoutAssertions().visit(challenge))
    given = [argument for argument in arguments if argument["kind"] != "output"]
    outputs = [argument for argument in arguments if argument["kind"] == "output"]
    results = [argument for argument in arguments if argument["kind"] == "inout"] + outputs
    floats = [
        argument["name"] for argument in given if argument.get("dtype", "").startswith(("float", "bfloat"))
    ]
    buffers = [argument["name"] for argument in given if argument["kind"] in ("input", "inout")]
    kind = f"{floats[0]}.dtype" if floats else "torch.float32"
    lines = []
    for output in outputs:
        dtype = kind if output["dtype"].startswith(("float", "bfloat")) else f"torch.{output['dtype']}"
        lines.append(
            f"    {output['name']} = torch.empty(({{shape:{output['name']}}}), dtype={dtype}, "
            f"device={buffers[0]}.device)"
        )
    returned = ", ".join(result["name"] for result in results)
    return (
        "\n".join(imports)
        + ("" if "import torch" in imports else "\nimport torch")
        + "\n\n\n"
        + "\n".join(ast.unparse(node) for node in others)
        + f"\n\n\n{body}\n\n\n"
        f"def reference({', '.join(argument['name'] for argument in given)}):\n"
        f"    challenge = Challenge()\n    challenge.device = {buffers[0]}.device\n"
        + "\n".join(lines)
        + f"\n    challenge.reference_impl({', '.join(order)})\n    return {returned}\n"
    )


class _WithoutAssertions(ast.NodeTransformer):
    """They check dtypes, and a reference runs in float64."""

    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        return ast.Pass()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = [line for line in node.body if not isinstance(line, ast.Pass)] or [ast.Pass()]
        return node
