"""Reads a task of GPU MODE. See ``probe.py``."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from grader.authoring.importing.probed import (
    COMPARISONS,
    MOST_SAMPLES,
    CpuGenerator,
    Json,
    OnCpu,
    OnDevice,
    Unable,
    calls_of,
    code_of,
    compared_within,
    defined_by,
    executed,
    is_named,
    reachable,
    sample_of,
    stated_by,
    used_by,
)

_MOST_ELEMENTS = 1 << 24
# After this time, a few samples are enough.
_SECONDS, _ENOUGH_SAMPLES = 20.0, 4
_DIVISORS, _LARGE_SIZE = (16, 64), 64
_RESULTS = ("out", "result", "res", "dst")
# AMD's types -> ours: the same digits, another bias.
_SIMILAR = {"float8_e4m3fnuz": "float8_e4m3fn", "float8_e5m2fnuz": "float8_e5m2"}
_FUNCTIONS = ("generate_input", "ref_kernel")


def read(path: Path) -> Json:
    """``task.yml``, ``reference.py`` and, here or above, ``utils.py``."""
    import yaml

    path = path.parent if path.is_file() else path
    task = yaml.safe_load((path / "task.yml").read_text("utf-8"))
    if task.get("multi_gpu") or any("world_size" in test for test in task.get("tests") or ()):
        raise Unable("it is for several GPUs: say it with gpus = 2")
    for entry in task.get("files") or ():
        folder = str((path / str(entry.get("source", ""))).resolve().parent)
        if folder not in sys.path:
            sys.path.append(folder)
    torch.__dict__["Generator"] = CpuGenerator
    torch.cuda.synchronize = lambda *_: None
    source = (path / "reference.py").read_text("utf-8")
    with OnCpu():
        names = executed(source, path / "reference.py")
    for name in _FUNCTIONS:
        if name not in names:
            raise Unable(f"reference.py defines no {name}")
    return _Task(path, task, names, _whole(ast.parse(source))).said()


def _whole(tree: ast.Module) -> list[ast.stmt]:
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "utils":
            body += _of_utils([alias.name for alias in node.names])
        elif isinstance(node, ast.Expr) or getattr(node, "module", "") in ("task", "__future__"):
            continue
        else:
            body.append(node)
    return body


def _of_utils(names: Sequence[str]) -> list[ast.stmt]:
    file = next(
        (Path(folder) / "utils.py" for folder in sys.path if (Path(folder) / "utils.py").is_file()), None
    )
    return reachable(ast.parse(file.read_text("utf-8")).body, names) if file is not None else []


@dataclass
class _Data:
    """What ``generate_input`` returned. ``text`` rebuilds it, with a placeholder for each of ``numbers``.
    ``paths``: from ``given`` to each leaf.
    """

    leaves: dict[str, Any] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    numbers: list[tuple[str, float]] = field(default_factory=list)
    text: str = ""

    def take(self, given: Any, names: Sequence[str]) -> _Data:
        if isinstance(given, tuple | list):
            parts = [
                self._part(value, name, f"given[{place}]")
                for place, (value, name) in enumerate(zip(given, names, strict=True))
            ]
            self.text = f"({', '.join(parts)},)" if isinstance(given, tuple) else f"[{', '.join(parts)}]"
        else:
            self.text = self._part(given, names[0], "given")
        return self

    def _part(self, value: Any, name: str, path: str) -> str:
        if isinstance(value, torch.Tensor):
            return self._leaf(value, name, path)
        if value is None or isinstance(value, bool | str):
            return repr(value)
        if isinstance(value, int):
            self.numbers.append((name, value))
            return f"<{len(self.numbers) - 1}>"
        if isinstance(value, float):
            return self._leaf(value, name, path)
        if isinstance(value, tuple | list):
            parts = [self._part(one, f"{name}{place}", f"{path}[{place}]") for place, one in enumerate(value)]
            return f"({', '.join(parts)},)" if isinstance(value, tuple) else f"[{', '.join(parts)}]"
        if isinstance(value, dict):
            parts = [
                f"{key!r}: {self._part(one, str(key), f'{path}[{key!r}]')}" for key, one in value.items()
            ]
            return f"{{{', '.join(parts)}}}"
        if dataclasses.is_dataclass(value):
            parts = [
                f"{one.name}={self._part(getattr(value, one.name), one.name, f'{path}.{one.name}')}"
                for one in dataclasses.fields(value)
            ]
            return f"{type(value).__name__}({', '.join(parts)})"
        raise Unable(f"generate_input returns a {type(value).__name__}, not only tensors")

    def _leaf(self, value: Any, name: str, path: str) -> str:
        name = re.sub(r"\W", "_", name).strip("_") or f"x{len(self.leaves)}"
        while name in self.leaves:
            name += "_"
        self.leaves[name], self.paths[name] = value, path
        return name


@dataclass
class _Run:
    spec: Json
    data: _Data
    returned: set[str]
    results: dict[str, torch.Tensor]
    dtypes: dict[str, str]
    order: list[str]
    single: bool


@dataclass
class _Task:
    path: Path
    task: Mapping[str, Any]
    names: Mapping[str, Any]
    body: list[ast.stmt]
    open: list[str] = field(default_factory=list)

    def said(self) -> Json:
        specs = [dict(spec) for spec in self.task.get("tests") or ()]
        timed = [dict(spec) for spec in self.task.get("benchmarks") or ()]
        first = (specs or timed)[0]
        self.sizes = [name for name, value in first.items() if type(value) is int and name != "seed"]
        runs = self._runs(specs or timed)
        arguments = self._arguments(runs[0])
        data = self._data(runs)
        samples = [
            sample_of({name: run.spec[name] for name in self.sizes}, {**self._tensors(run), **run.results})
            for run in runs
        ]
        for sample, run in zip(samples, runs, strict=True):  # how PyTorch stores its results says nothing
            sample["strides"] = {
                name: strides for name, strides in sample["strides"].items() if name not in run.results
            }
        samples += [
            {**sample_of({name: spec[name] for name in self.sizes}, {}), "timed": True} for spec in timed
        ]
        for name, dtype in sorted({(name, run.dtypes[name]) for run in runs for name in run.dtypes}):
            said = next(argument for argument in arguments if argument["name"] == name)
            if said["dtype"] != dtype:
                self.open.append(f"'{name}' is {dtype} in others of its own tests.")
        for argument in arguments:
            if argument.get("dtype") in _SIMILAR:
                similar = _SIMILAR[argument["dtype"]]
                self.open.append(
                    f"'{argument['name']}' is {argument['dtype']} there, AMD's type; here {similar}."
                )
                argument["dtype"] = similar
        tolerance, stated, own = _tolerance(self.body)
        arguments += [{"name": name, "kind": "size"} for name in self.sizes]
        found = {
            "title": self.path.name.removesuffix("_py").replace("_", " ").replace("-", " "),
            "about": str(self.task.get("description") or ""),
            "arguments": arguments,
            "samples": samples,
            "tolerance": tolerance,
            "stated": stated,
            "reference": self._reference(data, arguments),
            "data": data,
            "order": runs[0].order,
            "drawn": self._drawn(runs[0], specs, timed, own),
            "open": self.open,
        }
        self._say_constant([*specs, *timed])
        if own:
            found["check"] = self._check(runs[0])
        return found

    def _say_constant(self, specs: Sequence[Json]) -> None:
        """Sizes equal in all tests: a published solution may rely on them."""
        values = {name: {spec[name] for spec in specs} for name in self.sizes}
        alike = [f"{name} = {min(found)}" for name, found in values.items() if len(found) == 1]
        if alike and len(specs) >= _ENOUGH_SAMPLES:
            self.open.append(
                f"All its tests have {', '.join(alike)}; the cases here also have others. A solution that was "
                "published for it may fail these."
            )

    def _runs(self, specs: Sequence[Json]) -> list[_Run]:
        """The smallest tests first, or smaller ones if all are too large; then two with one size changed, to
        separate equal sizes.
        """
        began = time.monotonic()
        ordered = sorted(specs, key=lambda spec: sum(spec[name] for name in self.sizes))[:MOST_SAMPLES]
        runs: list[_Run] = []
        for divisor in (1, *_DIVISORS):
            if runs:
                break
            for spec in ordered:
                if len(runs) >= _ENOUGH_SAMPLES and time.monotonic() - began > _SECONDS:
                    break
                run = self._tried(self._smaller(spec, divisor))
                runs += [run] if run is not None else []
        if not runs:
            raise Unable("all its tests are too large to run here")
        for base, name in itertools.product((runs[0], runs[-1]), self.sizes):
            if time.monotonic() - began < 2 * _SECONDS:
                with suppress(Exception):  # a size that it refuses
                    run = self._tried({**base.spec, name: 2 * base.spec[name]})
                    runs += [run] if run is not None else []
        return runs

    def _smaller(self, spec: Json, divisor: int) -> Json:
        large = [name for name in self.sizes if spec[name] > _LARGE_SIZE]
        return {**spec, **{name: spec[name] // divisor for name in large}} if divisor > 1 else spec

    def _tried(self, spec: Json) -> _Run | None:
        """None if its inputs are too large."""
        with OnCpu(), torch.no_grad():
            given = self.names["generate_input"](**spec)
            data = _Data().take(given, self._top(given))
            tensors = [value for value in data.leaves.values() if isinstance(value, torch.Tensor)]
            if sum(tensor.numel() for tensor in tensors) > _MOST_ELEMENTS:
                return None
            kept = {
                name: value.clone() if isinstance(value, torch.Tensor) else value
                for name, value in data.leaves.items()
            }
            returned = self.names["ref_kernel"](given)
        return _run(spec, data, kept, returned, self._unread())

    def _unread(self) -> list[str]:
        """Names that ``ref_kernel`` unpacks and never reads."""
        kernel = next(node for node in self.body if is_named(node, ("ref_kernel",)))
        leaves = [leaf for leaf in ast.walk(kernel) if isinstance(leaf, ast.Name)]
        read = {leaf.id for leaf in leaves if isinstance(leaf.ctx, ast.Load)}
        return [leaf.id for leaf in leaves if leaf.id not in read]

    def _top(self, given: Any) -> list[str]:
        count = len(given) if isinstance(given, tuple | list) else 1
        kernel = next(node for node in self.body if is_named(node, ("ref_kernel",)))
        assert isinstance(kernel, ast.FunctionDef)
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

    def _tensors(self, run: _Run) -> dict[str, torch.Tensor]:
        return {name: value for name, value in run.data.leaves.items() if isinstance(value, torch.Tensor)}

    def _arguments(self, run: _Run) -> list[Json]:
        """Tensors that come back are outputs, and so are other results."""
        arguments: list[Json] = []
        for name, value in run.data.leaves.items():
            if isinstance(value, torch.Tensor):
                kind = "output" if name in run.returned else "input"
                arguments.append({"name": name, "kind": kind, "dtype": run.dtypes[name]})
            else:
                arguments.append({"name": name, "kind": "scalar", "dtype": "float32", "value": float(value)})
        return arguments + [
            {"name": name, "kind": "output", "dtype": run.dtypes[name]} for name in run.results
        ]

    def _data(self, runs: Sequence[_Run]) -> str:
        texts = {run.data.text for run in runs}
        if len(texts) != 1:
            raise Unable("the number or the kind of its arrays depends on its sizes: say each as one array")
        (text,) = texts
        for place, (key, _) in enumerate(runs[0].data.numbers):
            values = [run.data.numbers[place][1] for run in runs]
            equal = [
                name
                for name in self.sizes
                if all(run.spec[name] == value for run, value in zip(runs, values, strict=True))
            ]
            equal.sort(key=lambda name: name.replace("_", "") != key.replace("_", ""))
            if not equal and len(set(values)) > 1:
                raise Unable(f"'{key}' in its data is {values[:3]}, which is no size")
            text = text.replace(f"<{place}>", equal[0] if equal else repr(values[0]))
        return text

    def _reference(self, data: str, arguments: Sequence[Json]) -> str:
        managers = _managers(self.body)
        kept = [
            node for node in reachable(self.body, ["ref_kernel"]) if not set(defined_by(node)) & set(managers)
        ]
        text = code_of(kept)
        if used := [name for name in managers if re.search(rf"\b{name}\b", text)]:
            made = "\n".join(f"{name} = contextlib.nullcontext" for name in used)
            text = f"import contextlib\n\n\n{made}\n\n\n{text}"
        made_here = [
            argument
            for argument in arguments
            if argument["kind"] == "output" and re.search(rf"\b{argument['name']}\b", data)
        ]
        given = [argument["name"] for argument in arguments if argument["kind"] != "output"]
        first = next(argument for argument in arguments if argument["kind"] == "input")["name"]
        lines = [
            f"    {each['name']} = torch.empty(({{shape:{each['name']}}}), dtype="
            + (f"{first}.dtype if {first}.is_floating_point() else " if _floats(each) else "")
            + f"torch.{each['dtype']}, device={first}.device)\n"
            for each in made_here
        ]
        return (
            f"import torch\n\ninput_t = output_t = object\n\n{text}\n\n\ndef reference({', '.join(given)}):\n"
            + "".join(lines)
            + f"    return ref_kernel({data})\n"
        )

    def _drawn(self, run: _Run, specs: Sequence[Json], timed: Sequence[Json], own: bool) -> Json:
        """``needed`` if inputs depend on each other, or on a number that is no size."""
        nodes = reachable(self.body, ["generate_input"])
        helpers = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        text = code_of(nodes, OnDevice())
        odd = sorted(
            {name for spec in [*specs, *timed] for name in spec if name not in (*self.sizes, "seed")}
        )
        return {
            "code": text,
            "call": "generate_input",
            "parameters": [name for name in specs[0] if name != "seed"],
            "paths": run.data.paths,
            "tests": [{name: value for name, value in spec.items() if name != "seed"} for spec in specs],
            "usual": _usual(timed or specs),
            "needed": bool(odd or own or len(helpers) > 1 or "torch.linalg" in text or "@" in text),
        }

    def _check(self, run: _Run) -> Json:
        nodes = reachable(self.body, ["check_implementation"])
        return {"code": code_of(nodes), "single": run.single}


def _usual(specs: Sequence[Json]) -> Json:
    counted = Counter(
        tuple(
            sorted(
                (name, value)
                for name, value in spec.items()
                if name != "seed" and not isinstance(value, list)
            )
        )
        for spec in specs
    )
    return dict(counted.most_common(1)[0][0])


def _run(spec: Json, data: _Data, kept: dict[str, Any], found: Any, unread: Sequence[str]) -> _Run:
    results = list(found) if isinstance(found, tuple | list) else [found]
    if not all(isinstance(result, torch.Tensor) for result in results):
        raise Unable("ref_kernel returns other things than tensors")
    tensors = {name: value for name, value in data.leaves.items() if isinstance(value, torch.Tensor)}
    order: list[str] = []
    fresh: dict[str, torch.Tensor] = {}
    returned: set[str] = set()
    for result in results:
        same = [name for name, value in tensors.items() if _same(result, value)]
        spare = [
            name
            for name, value in tensors.items()
            if (name.startswith(_RESULTS) or name in unread)
            and name not in returned
            and (value.shape == result.shape or value.numel() == result.numel() == 1)
            and (value.dtype == result.dtype or (value.is_floating_point() and result.is_floating_point()))
        ]
        spare.sort(key=lambda name: tensors[name].dtype != result.dtype)
        name = next(iter([*same, *spare]), "")
        if name:
            returned.add(name)
            if not result.dim():  # as the reference gives it, whatever its memory's shape
                kept[name] = tensors[name].reshape(())
        else:
            name = "out" if not fresh else f"out{len(fresh) + 1}"
            while name in tensors:
                name += "_"
            fresh[name] = result
        order.append(name)
    data.leaves.update(kept)
    dtypes = {name: str(value.dtype).removeprefix("torch.") for name, value in {**tensors, **fresh}.items()}
    return _Run(spec, data, returned, fresh, dtypes, order, not isinstance(found, tuple | list))


def _same(result: torch.Tensor, value: torch.Tensor) -> bool:
    return bool(result.numel()) and value.data_ptr() == result.data_ptr()


def _managers(body: Sequence[ast.stmt]) -> list[str]:
    """Classes used by ``with``, which only set up a GPU."""
    used = {
        ast.unparse(item.context_expr.func)
        for node in body
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.With)
        for item in leaf.items
        if isinstance(item.context_expr, ast.Call)
    }
    return sorted(used & {name for node in body if isinstance(node, ast.ClassDef) for name in [node.name]})


def _tolerance(body: Sequence[ast.stmt]) -> tuple[Json | None, list[str], bool]:
    """``atol`` and ``rtol``; which are stated; whether there is other code for checks."""
    for node in body:
        # Our export writes this.
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "TOLERANCE":
            return (
                ast.literal_eval(node.value),
                ["atol", "rtol"],
                any(is_named(other, ("check",)) for other in body),
            )
    for node in body:
        if "check_implementation" in defined_by(node):
            for call in calls_of(node, ("make_match_reference",)):
                return compared_within(call), stated_by(call), False
            compared = list(calls_of(node, COMPARISONS))
            if compared and "ref_kernel" in used_by(node):
                found = [compared_within(call) for call in compared]
                tightest = {name: min(one[name] for one in found) for name in ("atol", "rtol")}
                return tightest, [*{name for call in compared for name in stated_by(call)}], False
            return None, [], True
    return None, [], False


def _floats(argument: Json) -> bool:
    return str(argument["dtype"]).startswith(("float", "bfloat"))
