"""Reads a problem of KernelBench. See ``probe.py``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import torch

from grader.authoring.importing.probed import (
    Json,
    OnCpu,
    OnDevice,
    Unable,
    code_of,
    dtype_of,
    executed,
    indented,
    is_named,
    reachable,
    sample_of,
)

_MOST_DIMENSIONS = 8
_AXES = ("dim", "axis", "reduce_dim", "softmax_dim", "dim_to_reduce")
_MARKS = ("Dropout", "dropout", "bernoulli", "rand")


def read(path: Path) -> Json:
    """Top-level whole numbers become sizes, weights inputs."""
    source = path.read_text("utf-8")
    tree = _hoisted(ast.parse(source))
    source = ast.unparse(tree)
    base = executed(source, path)
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if name not in base:
            raise Unable(f"{path.name} defines no {name}")
    model = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model")
    used = {node.attr for node in ast.walk(model) if isinstance(node, ast.Attribute)} | {
        node.id for node in ast.walk(model) if isinstance(node, ast.Name)
    }
    if marks := sorted(used & set(_MARKS)):
        raise Unable(f"its result is random ({', '.join(marks)})")
    constants = _constants(tree)
    if not constants:
        tree = _with_constants(tree)
        source, constants = ast.unparse(tree), _constants(tree)
    if not constants:
        raise Unable(
            f"{path.name} has no whole numbers at its top level or in get_inputs, which could become sizes"
        )
    samples = list(_samples(source, path, constants))
    if not samples:
        raise Unable(f"{path.name}: Model does not run on its own inputs")
    first = samples[0]
    weights = first["weights"]
    taken = list(inputs_of(model))[: len(first["inputs"])]
    arguments = [
        {"name": name, "kind": "input", "dtype": dtype}
        for name, dtype in zip(taken, first["inputs"], strict=True)
    ]
    arguments += [
        {"name": _flat(name), "kind": "input", "dtype": dtype, "weight": name}
        for name, dtype in weights.items()
    ]
    arguments += [
        {"name": name, "kind": "output", "dtype": dtype} for name, dtype in first["results"].items()
    ]
    arguments += [{"name": name, "kind": "size"} for name in constants]
    samples += _small(source, path, constants)
    found = [{key: value for key, value in sample.items() if key in _SAMPLE_KEYS} for sample in samples]
    for sample in found:
        named = dict(zip((f"input {number}" for number in range(len(taken))), taken, strict=True))
        named |= {f"weight {name}": _flat(name) for name in weights}
        sample["shapes"] = {named.get(name, name): shape for name, shape in sample["shapes"].items()}
        for part in ("bounds", "spread"):
            sample[part] = {named.get(name, name): values for name, values in sample[part].items()}
    plain = all(
        any(name in sample["spread"] or name in sample["bounds"] for sample in found) for name in taken
    )
    found_here = {
        "title": path.stem.split("_", 1)[-1].replace("_", " ").strip() or path.stem,
        "about": ast.get_docstring(model) or "",
        "arguments": arguments,
        "samples": found,
        # KernelBench's for float32, whatever the problem.
        "tolerance": {"atol": 1e-4, "rtol": 1e-4},
        "stated": ["atol", "rtol"],
        "reference": _reference(tree, constants, taken, list(weights)),
        "open": ["Its weights are drawn like inputs, not as the layers' own initialisation draws them."]
        if weights
        else [],
    }
    if not plain or not _is_plain(tree):
        found_here["drawn"] = {
            "code": code_of(
                [node for node in reachable(tree.body, ["get_inputs"]) if not _only_sizes(node, constants)],
                OnDevice(),
            ),
            "call": "get_inputs",
            "parameters": [],
            "paths": {name: f"given[{place}]" for place, name in enumerate(taken)},
            "tests": [],
            "usual": {},
            "needed": True,
        }
    return found_here


_SAMPLE_KEYS = ("sizes", "shapes", "strides", "bounds", "spread", "timed")
_PLAIN_DRAWS = ("torch.rand", "torch.randn", "torch.randint")


def _is_plain(tree: ast.Module) -> bool:
    """``get_inputs`` only draws independent elements."""
    body = reachable(tree.body, ["get_inputs"])
    calls = {ast.unparse(node.func) for part in body for node in ast.walk(part) if isinstance(node, ast.Call)}
    maths = any(isinstance(node, ast.BinOp | ast.Subscript) for part in body for node in ast.walk(part))
    return not maths and all(call in _PLAIN_DRAWS or call.endswith(".cuda") for call in calls)


def _hoisted(tree: ast.Module) -> ast.Module:
    body: list[ast.stmt] = []
    for node in tree.body:
        values = node.value.elts if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) else []
        numbers = [number or 0 for number in map(_whole, values)]
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and numbers
            and min(numbers) > _MOST_DIMENSIONS
        ):
            name = node.targets[0].id
            names = [f"{name}_{place}" for place in range(1, len(numbers) + 1)]
            made = [f"{each} = {number}" for each, number in zip(names, numbers, strict=True)]
            body += ast.parse("\n".join([*made, f"{name} = ({', '.join(names)},)"])).body
        else:
            body.append(node)
    return ast.Module(body, [])


def _with_constants(tree: ast.Module) -> ast.Module:
    names: dict[int, str] = {}

    class Named(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            self.generic_visit(node)
            if ast.unparse(node.func) in _PLAIN_DRAWS:
                for place, arg in enumerate(node.args):
                    if isinstance(arg, ast.Constant) and type(arg.value) is int and arg.value > 1:
                        name = names.setdefault(arg.value, f"size{len(names) + 1}")
                        node.args[place] = ast.Name(name, ast.Load())
            return node

    body = [Named().visit(node) if is_named(node, ("get_inputs",)) else node for node in tree.body]
    made: list[ast.stmt] = [ast.parse(f"{name} = {value}").body[0] for value, name in names.items()]
    return ast.fix_missing_locations(ast.Module([*made, *body], []))


def _flat(name: str) -> str:
    return name.replace(".", "_")


def inputs_of(model: ast.AST) -> Iterator[str]:
    for node in getattr(model, "body", ()):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            yield from (arg.arg for arg in node.args.args[1:])


def _constants(tree: ast.Module) -> dict[str, int]:
    """Top-level whole numbers above 0, also in tuples."""
    found: dict[str, int] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        pairs = [
            pair
            for target in node.targets
            for pair in (
                zip(target.elts, node.value.elts, strict=False)
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                else [(target, node.value)]
            )
        ]
        for name, given in pairs:
            number = _whole(given)
            if (
                isinstance(name, ast.Name)
                and number is not None
                and number > 0
                and not (name.id in _AXES and number < _MOST_DIMENSIONS)
            ):
                found[name.id] = number
    return found


def _whole(node: ast.AST) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow):
        left, right = _whole(node.left), _whole(node.right)
        if left is not None and right is not None:
            return left * right if isinstance(node.op, ast.Mult) else left**right
    return None


def _samples(source: str, path: Path, constants: Mapping[str, int]) -> Iterator[Json]:
    """The file's sizes, then others with one changed. Without memory."""
    tries = [dict(constants)]
    for factor in (2, 3):
        tries += [{**constants, name: value * factor} for name, value in constants.items()]
    for sizes in tries:
        try:
            yield _sample(source, path, sizes, timed=sizes == constants)
        except Unable:
            raise
        except Exception as error:
            if sizes == constants:
                raise Unable(f"{path.name}: Model fails: {type(error).__name__}: {error}") from error


def _sample(source: str, path: Path, sizes: Mapping[str, int], *, timed: bool) -> Json:
    with torch.device("meta"), torch.no_grad(), OnCpu():
        names = executed(_with_sizes(source, sizes), path)
        model = names["Model"](*names["get_init_inputs"]())
        inputs = names["get_inputs"]()
        if not all(isinstance(value, torch.Tensor) for value in inputs):
            raise Unable("get_inputs() returns other things than tensors")
        result = model(*inputs)
    weights = {name: value for name, value in model.state_dict().items() if value.is_floating_point()}
    results = list(result) if isinstance(result, tuple) else [result]
    outputs = {"out" if not number else f"out{number + 1}": value for number, value in enumerate(results)}
    tensors = {f"input {number}": value for number, value in enumerate(inputs)}
    tensors |= {f"weight {name}": value for name, value in weights.items()} | outputs
    return sample_of(sizes, tensors, timed) | {
        "inputs": [dtype_of(value) for value in inputs],
        "weights": {name: dtype_of(value) for name, value in weights.items()},
        "results": {name: dtype_of(value) for name, value in outputs.items()},
    }


def _small(source: str, path: Path, constants: Mapping[str, int]) -> list[Json]:
    """With memory, for the bounds of integers; they need not fit the model."""
    sizes = {name: min(value, 16 + number) for number, (name, value) in enumerate(constants.items())}
    try:
        with OnCpu():
            inputs = executed(_with_sizes(source, sizes), path)["get_inputs"]()
    except Exception:
        return []
    small = sample_of(sizes, {f"input {number}": value for number, value in enumerate(inputs)})
    return [{**small, "shapes": {}}]


def _with_sizes(source: str, sizes: Mapping[str, int]) -> str:
    tree = ast.parse(source)
    body: list[ast.stmt] = []
    for node in tree.body:
        body.append(node)
        if isinstance(node, ast.Assign):
            names = [
                leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)
            ]
            body += [ast.parse(f"{name} = {sizes[name]}").body[0] for name in names if name in sizes]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def _reference(
    tree: ast.Module, constants: Mapping[str, int], inputs: Sequence[str], weights: Sequence[str]
) -> str:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [
        node
        for node in tree.body
        if node not in imports
        and not is_named(node, ("get_inputs",))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    sized = [node for node in rest if not _only_sizes(node, constants)]
    body = "\n".join(ast.unparse(node) for node in sized)
    sizes = ", ".join(constants)
    parameters = ", ".join([*inputs, *map(_flat, weights), *constants])
    named = ", ".join(f"{name!r}: {_flat(name)}" for name in weights)
    first = inputs[0] if inputs else _flat(weights[0])
    return (
        "\n".join(ast.unparse(node) for node in imports)
        + ("" if any(ast.unparse(node) == "import torch" for node in imports) else "\nimport torch")
        + f"\n\n\ndef _model({sizes}, kind=None):\n{indented(body)}\n"
        "    return (kind or Model)(*get_init_inputs())\n\n\n"
        f"def reference({parameters}):\n"
        f"    model = _model({sizes}).to({first}.device, {first}.dtype)\n"
        f"    return torch.func.functional_call(model, {{{named}}}, ({', '.join(inputs)},))\n"
    )


def _only_sizes(node: ast.stmt, sizes: Mapping[str, int]) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    names = [leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)]
    return all(name in sizes for name in names)
