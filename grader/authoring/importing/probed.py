"""Shared by readers of other platforms' problems, see ``probe.py``."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Json = dict[str, Any]
# Samples with different sizes show most.
MOST_SAMPLES = 12
# Too few to say how they are drawn.
_FEW_ELEMENTS = 32
COMPARISONS = ("verbose_allclose", "allclose", "assert_close", "verbose_allequal")


class Unable(Exception):
    """The problem cannot be a challenge; the message says why."""


class OnCpu(TorchFunctionMode):
    """Everything that asks for a GPU gets the CPU."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        if _is_gpu(given.get("device")):
            given["device"] = "cpu"
        if function is torch.Tensor.cuda:
            return args[0]
        return function(*["cpu" if _is_gpu(arg) else arg for arg in args], **given)


def _is_gpu(value: Any) -> bool:
    return str(value).startswith("cuda") if isinstance(value, str | torch.device) else False


class CpuGenerator:
    def __new__(cls, device: Any = "cpu") -> Any:
        return _GENERATOR("cpu")


_GENERATOR = torch.Generator


def dtype_of(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def sample_of(sizes: Mapping[str, int], tensors: Mapping[str, torch.Tensor], timed: bool = False) -> Json:
    """``strides`` of tensors not stored row by row; ``spread`` of floats: least, most, deviation, count."""
    held = {name: tensor for name, tensor in tensors.items() if not tensor.is_meta and tensor.numel()}
    bounds = {
        name: [int(tensor.long().min()), int(tensor.long().max())]  # uint16 has no minimum in torch
        for name, tensor in held.items()
        if not tensor.is_floating_point() and not tensor.is_complex()
    }
    spread = {
        name: [float(value.min()), float(value.max()), float(value.std()), value.numel()]
        for name, tensor in held.items()
        if tensor.is_floating_point() and tensor.numel() >= _FEW_ELEMENTS and "float4" not in dtype_of(tensor)
        for value in [tensor.detach().double()]
    }
    return {
        "sizes": dict(sizes),
        "shapes": {name: list(tensor.shape) for name, tensor in tensors.items()},
        "strides": {
            name: list(tensor.stride()) for name, tensor in held.items() if not tensor.is_contiguous()
        },
        "bounds": bounds,
        "spread": spread,
        "timed": timed,
    }


def executed(source: str, path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "imported", "__file__": str(path)}
    module = types.ModuleType("imported")
    module.__dict__.update(names)
    sys.modules["imported"] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the purpose of this process
    except Exception as error:
        raise Unable(f"{path.name} does not run: {type(error).__name__}: {error}") from error
    return module.__dict__


def is_named(node: ast.AST, names: Sequence[str]) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names


def defined_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [
        leaf.id for target in targets if target for leaf in ast.walk(target) if isinstance(leaf, ast.Name)
    ]


def reachable(body: Sequence[ast.stmt], roots: Iterable[str]) -> list[ast.stmt]:
    """Statements that define ``roots`` and all that these use, in order."""
    by_name: dict[str, list[ast.stmt]] = {}
    for node in body:
        for name in defined_by(node):
            by_name.setdefault(name, []).append(node)
    found: list[ast.stmt] = []
    wanted = list(roots)
    while wanted:
        for node in by_name.pop(wanted.pop(), []):
            if node not in found:
                found.append(node)
                wanted += used_by(node)
    return [node for node in body if node in found]


def used_by(node: ast.AST) -> Iterator[str]:
    for leaf in ast.walk(node):
        if isinstance(leaf, ast.Name):
            yield leaf.id
        elif isinstance(leaf, ast.Constant) and isinstance(leaf.value, str) and leaf.value.isidentifier():
            yield leaf.value  # an annotation


class OnDevice(ast.NodeTransformer):
    """A GPU's code for the device ``_device``, without annotations."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name("_device", ast.Load()) if node.value == "cuda" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        said = ast.unparse(node.func)
        if said == "torch.cuda.is_available":
            return ast.parse("_device != 'cpu'", mode="eval").body
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not node.args:
            return ast.Call(
                ast.Attribute(node.func.value, "to", ast.Load()), [ast.Name("_device", ast.Load())], []
            )
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        for arg in [*node.args.args, *node.args.kwonlyargs]:
            arg.annotation = None
        return node


def code_of(nodes: Iterable[ast.stmt], change: ast.NodeTransformer | None = None) -> str:
    said: list[str] = []
    for node in nodes:
        copy = ast.parse(ast.unparse(node)).body[0]
        changed = change.visit(copy) if change is not None else copy
        text = ast.unparse(ast.fix_missing_locations(changed))
        wide = isinstance(node, ast.FunctionDef | ast.ClassDef)
        said.append(f"\n\n{text}\n\n" if wide else text)
    return "\n".join(said).strip("\n")


def indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


def calls_of(node: ast.AST, names: Iterable[str]) -> list[ast.Call]:
    return [
        leaf
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.Call) and ast.unparse(leaf.func).rpartition(".")[2] in names
    ]


def stated_by(call: ast.Call) -> list[str]:
    if "allequal" in ast.unparse(call.func):
        return ["atol", "rtol"]
    return [word.arg for word in call.keywords if word.arg in ("atol", "rtol")]


def compared_within(call: ast.Call) -> Json:
    if "allequal" in ast.unparse(call.func):
        return {"atol": 0.0, "rtol": 0.0}
    found = {"atol": 1e-8, "rtol": 1e-5}
    for word in call.keywords:
        if word.arg in found:
            found[word.arg] = float(ast.literal_eval(word.value))
    return found


Reader = Callable[[Path], Json]
