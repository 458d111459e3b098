"""Runs another platform's problem, in a process of its own, and prints what it is as JSON.

Usage: python -I probe.py FORMAT PATH, with FORMAT one of ``FORMATS``. It imports nothing of grader. Everything is on
the CPU, or has no memory at all. A problem that cannot be said here ends with ``{"unable": why}``.

The output: ``title``, ``about`` (its own description), ``arguments`` (``name``, ``kind``, ``dtype``; for a scalar
``value``), ``samples`` (``sizes``, ``shapes`` by argument, ``bounds`` of integer inputs; ``timed`` if its speed
counts), ``tolerance`` (``atol``, ``rtol``, or null), ``reference`` (the text of ``reference.py`` without its docstring)
and ``open`` (what a person must still look at).
"""

from __future__ import annotations

import ast
import ctypes
import io
import itertools
import json
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Json = dict[str, Any]
# Samples in which every size has a value of its own show most.
_MOST_SAMPLES = 12
# Elements of one sample that is computed.
_MOST_ELEMENTS = 1 << 24


class Unable(Exception):
    """The problem cannot be said as a challenge; the message says why."""


class _OnCpu(TorchFunctionMode):
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


class _CpuGenerator:
    """In place of torch.Generator."""

    def __new__(cls, device: Any = "cpu") -> Any:
        return _GENERATOR("cpu")


_GENERATOR = torch.Generator


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _sample(sizes: Mapping[str, int], tensors: Mapping[str, torch.Tensor], timed: bool = False) -> Json:
    bounds = {
        name: [int(tensor.long().min()), int(tensor.long().max())]  # uint16 has no minimum in torch
        for name, tensor in tensors.items()
        if not tensor.is_meta
        and tensor.numel()
        and not tensor.is_floating_point()
        and not tensor.is_complex()
    }
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    return {"sizes": dict(sizes), "shapes": shapes, "bounds": bounds, "timed": timed}


def _executed(source: str, path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "imported", "__file__": str(path)}
    module = types.ModuleType("imported")
    module.__dict__.update(names)
    sys.modules["imported"] = module
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the purpose of this process
    except Exception as error:
        raise Unable(f"{path.name} does not run: {type(error).__name__}: {error}") from error
    return module.__dict__


def _is_named(node: ast.AST, names: Sequence[str]) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names


# ------------------------------------------------------------------------------------------------------ KernelBench

# Small whole numbers that name a dimension.
_MOST_DIMENSIONS = 8
_AXES = ("dim", "axis", "reduce_dim", "softmax_dim", "dim_to_reduce")
_MARKS = ("Dropout", "dropout", "bernoulli", "rand")


def kernelbench(path: Path) -> Json:
    """A file with ``Model``, ``get_inputs`` and ``get_init_inputs``. Its whole numbers at the top level become sizes,
    its weights inputs."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    base = _executed(source, path)
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
        raise Unable(f"{path.name} has no whole numbers at its top level, which could become sizes")
    samples = list(_kernelbench_samples(source, path, constants))
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
        sample["bounds"] = {named.get(name, name): bound for name, bound in sample["bounds"].items()}
    return {
        "title": path.stem.split("_", 1)[-1].replace("_", " ").strip() or path.stem,
        "about": ast.get_docstring(model) or "",
        "arguments": arguments,
        "samples": found,
        "tolerance": None,
        "reference": _kernelbench_reference(tree, constants, taken, list(weights)),
        "open": ["Its weights are drawn like inputs, not as the layers' own initialisation draws them."]
        if weights
        else [],
    }


_SAMPLE_KEYS = ("sizes", "shapes", "bounds", "timed")


def _flat(name: str) -> str:
    return name.replace(".", "_")


def inputs_of(model: ast.AST) -> Iterator[str]:
    for node in getattr(model, "body", ()):
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            yield from (arg.arg for arg in node.args.args[1:])


def _constants(tree: ast.Module) -> dict[str, int]:
    """Names at the top level with a literal whole number above 0, also in tuples."""
    found: dict[str, int] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        pairs = (
            zip(target.elts, value.elts, strict=False)
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            else [(target, value)]
        )
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
    """A literal, or a product or power of literals."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow):
        left, right = _whole(node.left), _whole(node.right)
        if left is not None and right is not None:
            return left * right if isinstance(node.op, ast.Mult) else left**right
    return None


def _kernelbench_samples(source: str, path: Path, constants: Mapping[str, int]) -> Iterator[Json]:
    """First the file's own sizes, then others with one of them changed. Without memory."""
    tries = [dict(constants)]
    for factor in (2, 3):
        tries += [{**constants, name: value * factor} for name, value in constants.items()]
    for sizes in tries:
        try:
            yield _kernelbench_sample(source, path, sizes, timed=sizes == constants)
        except Unable:
            raise
        except Exception as error:
            if sizes == constants:
                raise Unable(f"{path.name}: Model fails: {type(error).__name__}: {error}") from error


def _kernelbench_sample(source: str, path: Path, sizes: Mapping[str, int], *, timed: bool) -> Json:
    with torch.device("meta"), torch.no_grad():
        names = _executed(_with_sizes(source, sizes), path)
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
    return _sample(sizes, tensors, timed) | {
        "inputs": [_dtype(value) for value in inputs],
        "weights": {name: _dtype(value) for name, value in weights.items()},
        "results": {name: _dtype(value) for name, value in outputs.items()},
    }


def _small(source: str, path: Path, constants: Mapping[str, int]) -> list[Json]:
    """Small inputs with memory, for the bounds of integers; they need not fit the model. Empty if there are none."""
    sizes = {name: min(value, 16 + number) for number, (name, value) in enumerate(constants.items())}
    try:
        inputs = _executed(_with_sizes(source, sizes), path)["get_inputs"]()
    except Exception:
        return []
    small = _sample(sizes, {f"input {number}": value for number, value in enumerate(inputs)})
    return [{**small, "shapes": {}}]


def _with_sizes(source: str, sizes: Mapping[str, int]) -> str:
    tree = ast.parse(source)
    body: list[ast.stmt] = []
    for node in tree.body:
        body.append(node)
        if isinstance(node, ast.Assign):
            names = [leaf.id for leaf in ast.walk(node.targets[0]) if isinstance(leaf, ast.Name)]
            body += [ast.parse(f"{name} = {sizes[name]}").body[0] for name in names if name in sizes]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))


def _kernelbench_reference(
    tree: ast.Module, constants: Mapping[str, int], inputs: Sequence[str], weights: Sequence[str]
) -> str:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [
        node
        for node in tree.body
        if node not in imports
        and not _is_named(node, ("get_inputs",))
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
        + f"\n\n\ndef _model({sizes}, kind=None):\n{_indented(body)}\n"
        "    return (kind or Model)(*get_init_inputs())\n\n\n"
        f"def reference({parameters}):\n"
        f"    model = _model({sizes}).to({first}.device, {first}.dtype)\n"
        f"    return torch.func.functional_call(model, {{{named}}}, ({', '.join(inputs)},))\n"
    )


def _only_sizes(node: ast.stmt, sizes: Mapping[str, int]) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    names = [leaf.id for leaf in ast.walk(node.targets[0]) if isinstance(leaf, ast.Name)]
    return all(name in sizes for name in names)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


# --------------------------------------------------------------------------------------------------------- LeetGPU

_FLOATS = {ctypes.c_float: "float32", ctypes.c_double: "float64"}
_WHOLE_TYPES = (ctypes.c_int, ctypes.c_int64, ctypes.c_long, ctypes.c_size_t, ctypes.c_uint32)


class _Described:
    """An input that is described by its shape and perhaps numbers: RandTensor and the like."""

    usual = "float32"

    def __init__(self, shape: Sequence[int], *others: float | str, dtype: str = "", **named: float) -> None:
        given = next((other for other in others if isinstance(other, str)), self.usual)
        self.shape, self.dtype = tuple(shape), dtype or given

    def tensor(self) -> torch.Tensor:
        return torch.empty(self.shape, dtype=getattr(torch, self.dtype), device="meta")


class _DescribedWhole(_Described):
    """RandIntTensor."""

    usual = "int32"


class _Base:
    def __init__(self, device: str = "cpu") -> None:
        self.device = device


def leetgpu(path: Path) -> Json:
    """A folder with ``challenge.py``, which defines a subclass of ``ChallengeBase``."""
    path = path / "challenge.py" if path.is_dir() else path
    core, base = types.ModuleType("core"), types.ModuleType("core.challenge_base")
    described = ("RandTensor", "RandnTensor", "FullTensor", "OutTensor")
    base.__dict__.update({"ChallengeBase": _Base, "RandIntTensor": _DescribedWhole})
    base.__dict__.update(dict.fromkeys(described, _Described))
    core.__dict__["challenge_base"] = base
    sys.modules |= {"core": core, "core.challenge_base": base}
    source = path.read_text("utf-8")
    names = _executed(source, path)
    kind = names.get("Challenge")
    if kind is None:
        raise Unable(f"{path.name} defines no class Challenge")
    if getattr(kind, "num_gpus", 1) != 1:
        raise Unable(f"it is for {kind.num_gpus} GPUs")
    signature = kind("cpu").get_solve_signature()
    tests = _leetgpu_tests(kind)
    if not tests:
        raise Unable("none of its test generators runs here")
    arguments, todo = _leetgpu_arguments(signature, tests)
    sizes = [argument["name"] for argument in arguments if argument["kind"] == "size"]
    buffers = [argument["name"] for argument in arguments if argument["kind"] in ("input", "inout", "output")]
    samples = [
        _sample(
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
        "reference": _leetgpu_reference(ast.parse(source), arguments, list(signature)),
        "open": todo,
    }


def _leetgpu_tests(kind: Any) -> list[tuple[Json, bool]]:
    found: list[tuple[Json, bool]] = []
    for name, device in (
        ("generate_functional_test", "cpu"),
        ("generate_example_test", "cpu"),
        ("generate_performance_test", "meta"),
    ):
        try:
            with _OnCpu():
                made = getattr(kind(device), name)()
        except Exception:  # noqa: S112 - the others may do
            continue
        for test in made if isinstance(made, list) else [made]:
            found.append((test, name == "generate_performance_test"))
    return found


def _leetgpu_arguments(signature: Mapping[str, Any], tests: Sequence[Any]) -> tuple[list[Json], list[str]]:
    arguments: list[Json] = []
    todo: list[str] = []
    for name, (kind, way) in signature.items():
        values = [test[name] for test, _ in tests if test.get(name) is not None]
        if not values:
            raise Unable(f"'{name}' may be absent: optional arguments cannot be said")
        if hasattr(kind, "contents"):
            first = values[0]
            dtype = first.dtype if isinstance(first, _Described) else _dtype(first)
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


def _leetgpu_reference(tree: ast.Module, arguments: Sequence[Json], order: Sequence[str]) -> str:
    """The class without tests and assertions, and a function that makes the outputs and calls it."""
    imports = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core"))
    ]
    others = [
        node
        for node in tree.body
        if not isinstance(node, ast.Import | ast.ImportFrom) and not _is_named(node, ("Challenge",))
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
    challenge.body = [node for node in challenge.body if not _is_named(node, dropped)]
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


# -------------------------------------------------------------------------------------------------------- GPU MODE


def gpumode(path: Path) -> Json:
    """A folder with ``task.yml``, ``reference.py`` and, here or above, ``utils.py``."""
    import yaml

    path = path.parent if path.is_file() else path
    task = yaml.safe_load((path / "task.yml").read_text("utf-8"))
    if task.get("multi_gpu") or any("world_size" in test for test in task.get("tests") or ()):
        raise Unable("it is for several GPUs")
    for entry in task.get("files") or ():
        folder = str((path / str(entry.get("source", ""))).resolve().parent)
        if folder not in sys.path:
            sys.path.append(folder)
    torch.__dict__["Generator"] = _CpuGenerator
    torch.cuda.synchronize = lambda *_: None
    source = (path / "reference.py").read_text("utf-8")
    with _OnCpu():
        names = _executed(source, path / "reference.py")
    for name in ("generate_input", "ref_kernel"):
        if name not in names:
            raise Unable(f"reference.py defines no {name}")
    specs = [dict(spec) for spec in task.get("tests") or ()]
    timed = [dict(spec) for spec in task.get("benchmarks") or ()]
    return _gpumode(path, task, names, ast.parse(source), specs, timed)


def _gpumode(
    path: Path,
    task: Mapping[str, Any],
    names: Mapping[str, Any],
    tree: ast.Module,
    specs: Sequence[Json],
    timed: Sequence[Json],
) -> Json:
    sizes = [name for name, value in (specs or timed)[0].items() if type(value) is int and name != "seed"]
    odd = [name for name in (specs or timed)[0] if name not in (*sizes, "seed")]
    kernel = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "ref_kernel"
    )
    samples: list[Json] = []
    arguments: list[Json] = []
    layout: list[str] = []
    for spec in sorted(specs, key=lambda spec: sum(spec[name] for name in sizes))[:_MOST_SAMPLES]:
        with _OnCpu(), torch.no_grad():
            given = names["generate_input"](**spec)
            values = list(given) if isinstance(given, tuple | list) else [given]
            for value in values:
                if not isinstance(value, torch.Tensor | int | float):
                    raise Unable(f"generate_input returns a {type(value).__name__}, not only tensors")
            if sum(value.numel() for value in values if isinstance(value, torch.Tensor)) > _MOST_ELEMENTS:
                continue
            kept = [value.clone() if isinstance(value, torch.Tensor) else value for value in values]
            returned = names["ref_kernel"](
                type(given)(values) if isinstance(given, tuple | list) else values[0]
            )
        results = list(returned) if isinstance(returned, tuple | list) else [returned]
        if not all(isinstance(result, torch.Tensor) for result in results):
            raise Unable("ref_kernel returns other things than tensors")
        layout = _names_of(kernel, len(values))
        found, tensors = _gpumode_arguments(layout, kept, values, results)
        arguments = arguments or found
        samples.append(_sample({name: spec[name] for name in sizes}, tensors))
    if not samples:
        raise Unable("all its tests are too large to run here")
    samples += [
        {"sizes": {name: spec[name] for name in sizes}, "shapes": {}, "bounds": {}, "timed": True}
        for spec in timed
    ]
    tolerance, own = _gpumode_tolerance(tree)
    todo = (
        [f"Its tests also vary {', '.join(odd)}, which are no sizes: say them by recipes in cases.py."]
        if odd
        else []
    )
    if own:
        todo.append(
            "It checks results by code of its own (check_implementation): write check.py if several are right."
        )
    arguments += [{"name": name, "kind": "size"} for name in sizes]
    return {
        "title": path.name.removesuffix("_py").replace("_", " ").replace("-", " "),
        "about": str(task.get("description") or ""),
        "arguments": arguments,
        "samples": samples,
        "tolerance": tolerance,
        "reference": _gpumode_reference(tree, layout, arguments),
        "layout": layout,
        "open": todo,
    }


# How arguments are named that hold results.
_RESULTS = ("out", "result", "res", "dst")


def _names_of(kernel: ast.FunctionDef, count: int) -> list[str]:
    """The names that ``ref_kernel`` unpacks its argument into."""
    data = kernel.args.args[0].arg
    for node in ast.walk(kernel):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and node.value.id == data
            and isinstance(node.targets[0], ast.Tuple)
            and len(node.targets[0].elts) == count
        ):
            names = [leaf.id if isinstance(leaf, ast.Name) else "" for leaf in node.targets[0].elts]
            return [name.strip("_") or f"x{number}" for number, name in enumerate(names)]
    return [data] if count == 1 else [f"x{number}" for number in range(count)]


def _gpumode_arguments(
    layout: Sequence[str], before: Sequence[Any], after: Sequence[Any], results: Sequence[torch.Tensor]
) -> tuple[list[Json], dict[str, torch.Tensor]]:
    """Tensors that come back are outputs; other results become outputs of their own."""
    arguments: list[Json] = []
    tensors: dict[str, torch.Tensor] = {}
    returned = {
        name
        for name, value in zip(layout, after, strict=True)
        for result in results
        if isinstance(value, torch.Tensor) and value.data_ptr() == result.data_ptr() and result.numel()
    }
    for name, value in zip(layout, before, strict=True):
        if not isinstance(value, torch.Tensor):
            kind = {"kind": "scalar", "dtype": "float32", "value": float(value)}
            arguments.append({"name": name, **kind})
            continue
        tensors[name] = value
        arguments.append(
            {"name": name, "kind": "output" if name in returned else "input", "dtype": _dtype(value)}
        )
    fresh = [result for result in results if not any(_same(result, value) for value in after)]
    for argument in arguments:
        # Memory for the result that the reference does not use.
        if argument["kind"] == "input" and argument["name"].startswith(_RESULTS):
            value = tensors[argument["name"]]
            same = [result for result in fresh if result.shape == value.shape and result.dtype == value.dtype]
            if same:
                argument["kind"] = "output"
                fresh = [result for result in fresh if result is not same[0]]
    for number, result in enumerate(fresh):
        name = "out" if not number else f"out{number + 1}"
        tensors[name] = result
        arguments.append({"name": name, "kind": "output", "dtype": _dtype(result)})
    return arguments, tensors


def _same(result: torch.Tensor, value: Any) -> bool:
    return isinstance(value, torch.Tensor) and bool(result.numel()) and value.data_ptr() == result.data_ptr()


def _gpumode_tolerance(tree: ast.Module) -> tuple[Json | None, bool]:
    """Those that ``make_match_reference`` is given; and True if the check is code of its own."""
    for node in ast.walk(tree):
        # As our own export says it.
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "TOLERANCE":
            return ast.literal_eval(node.value), any(_is_named(other, ("check",)) for other in tree.body)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "make_match_reference":
            given = {word.arg: word.value for word in node.keywords}
            numbers = {name: ast.literal_eval(given[name]) for name in ("atol", "rtol") if name in given}
            return {"atol": 1e-8, "rtol": 1e-5} | numbers, False
    return None, True


def _gpumode_reference(tree: ast.Module, layout: Sequence[str], arguments: Sequence[Json]) -> str:
    skipped = ("generate_input", "check_implementation")
    body = [
        ast.unparse(node)
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and node.module in ("task", "utils", "__future__"))
        and not _is_named(node, skipped)
        and not (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in skipped)
    ]
    text = "\n\n\n".join(body)
    if "DeterministicContext" in text:
        text = "import contextlib\n\n\nDeterministicContext = contextlib.nullcontext\n\n\n" + text
    by_name = {argument["name"]: argument for argument in arguments}
    made = [name for name in layout if by_name[name]["kind"] == "output"]
    given = [argument["name"] for argument in arguments if argument["kind"] != "output"]
    first = next(name for name in given if by_name[name]["kind"] == "input")
    lines = [
        f"    {name} = torch.empty(({{shape:{name}}}), dtype="
        + (f"{first}.dtype if {first}.is_floating_point() else " if _floats(by_name[name]) else "")
        + f"torch.{by_name[name]['dtype']}, device={first}.device)"
        for name in made
    ]
    data = f"({', '.join(layout)})" if len(layout) > 1 else layout[0]
    return (
        f"import torch\n\ninput_t = output_t = object\n\n{text}\n\n\ndef reference({', '.join(given)}):\n"
        + "\n".join(lines)
        + f"\n    return ref_kernel({data})\n"
    )


def _floats(argument: Json) -> bool:
    return str(argument["dtype"]).startswith(("float", "bfloat"))


# Format -> how it is read.
FORMATS: dict[str, Callable[[Path], Json]] = {
    "kernelbench": kernelbench,
    "leetgpu": leetgpu,
    "gpumode": gpumode,
}


def main() -> None:
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            found = FORMATS[sys.argv[1]](Path(sys.argv[2]))
            found["samples"] = list(itertools.islice(found["samples"], 4 * _MOST_SAMPLES))
    except Unable as error:
        found = {"unable": str(error)}
    except Exception as error:  # the problem's own code
        found = {"unable": f"{type(error).__name__}: {error}"[:500]}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
