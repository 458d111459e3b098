"""Asks a new challenge's reference, in a box, which usual cases it answers."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.authoring.calibrate import HEADROOM
from grader.authoring.scaffold import suite, texts
from grader.authoring.scaffold.suite import Planned
from grader.challenge.cases import Case, Filling
from grader.challenge.checker import CHECKER
from grader.challenge.draw import draw_inputs
from grader.challenge.expression import parse
from grader.challenge.model import Argument, Kind, Manifest
from grader.challenge.numbers import of_reference, rounded
from grader.errors import BadRequest, GraderError
from grader.judge.boxed_reference import ReferenceBox
from grader.judge.checker import BoxedChecker
from grader.judge.oracle import arguments, natives
from grader.sandbox.box import BoxPurpose, BoxSpec
from grader.sandbox.local_box import LocalBoxes

_ENV = {"GRADER_PRELOAD": "torch", "OMP_NUM_THREADS": "1"}
# One seed alone may show an index or an overflow.
_SEEDS = (3, 11)
_MORE_SEEDS, _FEW_ELEMENTS = (1, 2, 5, 7), 1 << 12
_MOST_ELEMENTS = 1 << 22
_CASE_SECONDS = 20.0
# Relative, in float64: sums of pieces may have another order.
_SAME = 1e-9
_MOST_ORDERS = 6


@dataclass
class Answers:
    """Set ``manifest`` and ``source`` first. Close it in the end."""

    slug: str
    manifest: Manifest | None = None
    source: str = ""
    # : One size may have to be smaller than another.
    other_sizes: bool = False
    # : The reference's own precision must keep to it, or to ``checker``.
    tolerance: Mapping[str, float] | None = None
    checker: str = ""
    # : Recipes of ``inputs()``, and names for their texts.
    usual: Mapping[str, Filling] = field(default_factory=dict)
    names: Mapping[str, object] = field(default_factory=dict)
    # : Its own errors and the right values, without a tolerance or checker.
    errors: list[tuple[Any, Any]] = field(default_factory=list)
    # : Name -> category and reason. ``why``: the last question's.
    left_out: dict[str, tuple[str, str]] = field(default_factory=dict)
    why: str = ""
    _known: dict[str, Planned | None] = field(default_factory=dict)
    _box: ReferenceBox | None = None
    _check: BoxedChecker | None = None

    def ask_about(self, manifest: Manifest, source: str) -> None:
        if source != self.source and self._box is not None:
            self._box.close()
            self._box = None
        self.manifest, self.source = manifest, source
        self._known.clear()
        self.left_out.clear()

    def of(self, cases: Sequence[Planned], *, some: bool = False) -> list[Planned]:
        """Raises BadRequest if there should be ``some``."""
        found = [answered for case in cases if (answered := self._answered(case)) is not None]
        if some and not found:
            raise BadRequest(f"The reference answers no case: {self.why}.")
        return found

    @property
    def dropped(self) -> list[str]:
        return list(self.left_out)

    def _answered(self, case: Planned) -> Planned | None:
        if case.name not in self._known:
            fitting = next(
                (each for each in self._variants(case) if self._is_answered(each, chosen=each != case)), None
            )
            self._known[case.name] = fitting
            if fitting is None:
                self.left_out[case.name] = (case.category, self.why)
        return self._known[case.name]

    def _variants(self, case: Planned) -> Iterator[Planned]:
        yield case
        if len(case.inputs) > 1:  # with all together, sums and products overflow
            yield from (replace(case, inputs={name: recipe}) for name, recipe in case.inputs.items())
        if not self.other_sizes or not case.sizes:
            return
        tried = [tuple(case.sizes.values())]
        most = max(case.sizes.values())
        # Keeps the case's size, and raises few others to it.
        if case.category in ("block_edge", "empty"):
            named = next((name for name in case.sizes if case.name.startswith(f"{name}_")), None)
            others = [
                tuple(most if name in raised else size for name, size in case.sizes.items())
                for number in range(1, len(case.sizes))
                for raised in itertools.combinations([name for name in case.sizes if name != named], number)
            ]
        else:
            others = list(itertools.islice(itertools.permutations(case.sizes.values()), _MOST_ORDERS))
            others += [tuple(sorted(case.sizes.values(), reverse=True))]
        for values in others:
            sizes = dict(zip(case.sizes, values, strict=True))
            if values not in tried and suite.is_possible(self._shown, sizes):
                tried.append(values)
                yield replace(case, sizes=sizes)
        if case.category == "huge":
            yield from less_huge(case)

    @property
    def _shown(self) -> Manifest:
        assert self.manifest is not None
        return self.manifest

    def _is_answered(self, case: Planned, *, chosen: bool = False) -> bool:
        """``chosen`` among several, it needs more seeds: one could pass by luck."""
        elements = sum(math.prod(self._shown.shape(arg, case.sizes)) for arg in self._shown.buffers)
        if elements > _MOST_ELEMENTS:
            self.why = "its arrays are too large for an edge case"
            return False
        planned = case.case(self.names)
        planned = replace(planned, inputs={**self.usual, **planned.inputs})
        seeds = (*_SEEDS, *_MORE_SEEDS) if elements <= _FEW_ELEMENTS or chosen else _SEEDS
        try:
            self.why = next(filter(None, (self._problem(planned, seed) for seed in seeds)), "")
        except GraderError as error:
            self.why = error.message.rstrip(".")
        except (RuntimeError, ValueError) as error:
            self.why = str(error)
        return not self.why

    def _problem(self, case: Case, seed: int) -> str:
        """Why the answer is of no use, or ""."""
        given = arguments(self._shown, case, draw_inputs(self._shown, case, seed))
        results, usual = self._call(given), self._call(given, wide=False)
        shapes = [tuple(result.shape) for result in results]
        wanted = [self._shown.shape(arg, case.sizes) for arg in self._shown.results]
        if shapes != wanted:
            return f"its results have the shapes {shapes} instead of {wanted}"
        right, own = self._rounded(results), self._rounded(usual)
        for arg in self._shown.results:
            exact, single = right[arg.name], own[arg.name]
            if not arg.dtype.floating:
                if not self.checker and not exact.equal(single):
                    return f"'{arg.name}' differs in the inputs' own precision"
            elif not _kinds(exact).equal(_kinds(single)):
                return f"'{arg.name}' overflows in {arg.dtype.value} alone"
            elif said := self._inexact(arg, exact, single):
                return said
        return self._refused(case, given, right, own) if self.checker else ""

    def _rounded(self, results: Sequence[Any]) -> dict[str, Any]:
        return {
            arg.name: rounded(of_reference(values.detach(), arg.dtype), arg.dtype)
            for arg, values in zip(self._shown.results, results, strict=True)
        }

    def _inexact(self, arg: Argument, exact: Any, single: Any) -> str:
        """Why PyTorch's precision leaves too little of the tolerance to a kernel."""
        finite = exact.isfinite()
        right = exact[finite].double()
        error = (single[finite].double() - right).abs()
        if self.checker:
            return ""
        if self.tolerance is None:
            self.errors.append((error, right.abs()))
            return ""
        allowed = self.tolerance["atol"] + self.tolerance["rtol"] * right.abs()
        if bool((error * HEADROOM > allowed).any()):
            return f"PyTorch itself is too inexact in '{arg.name}' there for the tolerance"
        return ""

    def _refused(
        self, case: Case, given: Mapping[str, Any], right: Mapping[str, Any], own: Mapping[str, Any]
    ) -> str:
        """Why the problem's check refuses its answer, in float64 or its own precision."""
        if self._check is None:
            spec = BoxSpec(BoxPurpose.BASELINE, env=_ENV)
            box = ReferenceBox(LocalBoxes(), spec, self.slug, self.checker, lambda: None, part="checker")
            self._check = BoxedChecker(box, self._shown)
        wanted = natives(self._shown, right)
        for found in (right, own):
            if (said := self._check(given, natives(self._shown, found), wanted)) is not None:
                return f"{CHECKER} refuses the reference's own answer: {said.why}"
        return ""

    def divided(self) -> str:
        """A size along which the reference can be split, as small sizes proved; or ""."""
        manifest = self._shown
        tried = next((case for case in self._known.values() if case and case.category == "odd"), None)
        if (
            tried is None
            or manifest.gpus > 1
            or any(arg.layout or arg.dtype.packed for arg in manifest.buffers)
        ):
            return ""
        case = tried.case(self.names)
        case = replace(case, inputs={**self.usual, **case.inputs})
        given = arguments(manifest, case, draw_inputs(manifest, case, _SEEDS[0]))
        names = [name for name in manifest.sizes if self._may_divide(name) and case.sizes[name] > 1]
        return next((name for name in names if self._divides(name, given)), "")

    def _may_divide(self, name: str) -> bool:
        texts = [text for arg in self._shown.buffers for text in arg.shape]
        alone = all(text == name or name not in parse(text).names for text in texts)
        return alone and all(name in arg.shape for arg in self._shown.results)

    def _divides(self, name: str, given: Mapping[str, Any]) -> bool:
        import torch

        places = {arg.name: arg.shape.index(name) for arg in self._shown.buffers if name in arg.shape}
        middle, end = given[name] // 2, given[name]
        try:
            whole = self._call(given)
            parts = [
                self._call(
                    {
                        arg: value.narrow(places[arg], start, stop - start).clone()
                        if arg in places
                        else value
                        for arg, value in given.items()
                    }
                    | {name: stop - start}
                )
                for start, stop in ((0, middle), (middle, end))
            ]
            return all(
                torch.allclose(
                    torch.cat([part[number] for part in parts], places[arg.name]).double(),
                    whole[number].double(),
                    rtol=_SAME,
                    atol=0.0,
                    equal_nan=True,
                )
                for number, arg in enumerate(self._shown.results)
            )
        except (GraderError, RuntimeError):
            return False

    def _call(self, arguments: Mapping[str, Any], *, wide: bool = True) -> tuple[Any, ...]:
        """``wide``: in float64."""
        if self._box is None:
            spec = BoxSpec(BoxPurpose.BASELINE, env=_ENV)
            self._box = ReferenceBox(LocalBoxes(), spec, self.slug, self.source, lambda: None)
            self._box.patience_s = _CASE_SECONDS
        given = {
            name: value.double() if wide and getattr(value, "is_floating_point", bool)() else value
            for name, value in arguments.items()
        }
        found = self._box.call("reference", given)
        return found if isinstance(found, tuple) else (found,)

    def example(self, most: float = math.inf) -> str:
        """With sizes of 1 if it would exceed ``most`` characters; "" if no small size fits."""
        found = self._example(texts.example_sizes(self._shown))
        if len(found) <= most:
            return found
        ones = dict.fromkeys(self._shown.sizes, 1)
        return self._example(ones, first=1) if suite.is_possible(self._shown, ones) else ""

    def _example(self, sizes: Mapping[str, int], first: int = 0) -> str:
        import torch

        inputs: dict[str, Any] = {}
        for arg in self._shown.given:
            shape = arg.dtype.held_shape(self._shown.shape(arg, sizes))
            numbers = (torch.arange(math.prod(shape)) + first) % (4 if arg.dtype.floating else 2)
            if arg.dtype.floating and not arg.dtype.as_float.signed:
                numbers = numbers + 1
            inputs[arg.name] = rounded(numbers, arg.dtype).reshape(shape)
        scalars = {arg.name: arg.value for arg in self._shown.scalars}
        try:
            results = self._call({**natives(self._shown, inputs), **scalars, **sizes})
        except GraderError:
            return ""
        lines = [f"{name} = {value}" for name, value in [*sizes.items(), *scalars.items()]]
        lines += [f"{name} = {json.dumps(values.tolist())}" for name, values in inputs.items()]
        for arg, values in zip(self._shown.results, results, strict=True):
            name = f"{arg.name}_after" if arg.kind is Kind.INOUT else arg.name
            printed = rounded(of_reference(values, arg.dtype), arg.dtype).tolist()
            lines.append(f"{name} = {json.dumps(printed)}")
        return "\n".join(lines)

    def close(self) -> None:
        if self._box is not None:
            self._box.close()
        if self._check is not None:
            self._check.close()


def less_huge(case: Planned) -> Iterator[Planned]:
    """A thousandth of each value, because sums overflow."""
    less = {
        name: re.sub(r"[\d.]+e3\d", lambda number: f"{float(number[0]) / 1000:g}".replace("+", ""), recipe)
        for name, recipe in case.inputs.items()
    }
    if less != dict(case.inputs):
        yield replace(case, inputs=less)


def _kinds(values: Any) -> Any:
    """0 for finite numbers, others for NaN and either infinity."""
    return values.isnan() * 2 + values.isinf() * values.nan_to_num(0, 1, -1).sign()
