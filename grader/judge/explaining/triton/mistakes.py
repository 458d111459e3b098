"""Names mistakes in Triton sources: wrong numbers, or an error, must fit the code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Category
from grader.challenge.model import Kind, Manifest
from grader.judge.explaining.triton.addresses import (
    bounds_of_one_index,
    checker_error,
    stores_outside,
    strides,
)
from grader.judge.explaining.triton.arguments import (
    missing_argument,
    parameter_order,
    result_not_written,
    unused_argument,
)
from grader.judge.explaining.triton.compiler_errors import by_message, indexed_pointer, not_constant
from grader.judge.explaining.triton.grids import (
    axes_of_programs,
    grid_not_a_tuple,
    grid_too_small,
    no_grid,
    offset_of_program,
)
from grader.judge.explaining.triton.loops import ordered_by_atomic, rounded_loop, sum_not_rescaled
from grader.judge.explaining.triton.numerics import (
    axes_of_tiles,
    cuts_fractions,
    divided_by_block,
    divides_by_one_less,
    drops_nan,
    few_digits,
    neutral_elements,
    reduced_axis,
    reduced_precision,
    sums_in_half,
    unshifted_exponential,
)
from grader.judge.explaining.triton.program import NO_MISMATCH, Program
from grader.judge.explaining.triton.source import read, walk
from grader.judge.explaining.wrong import Pattern
from grader.judge.messages import Failure
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch


@dataclass
class TritonMistakes:
    program: Program

    @classmethod
    def of(cls, manifest: Manifest, text: str) -> TritonMistakes | None:
        """None if unreadable."""
        source = read(text)
        return cls(Program(manifest, source)) if source is not None else None

    def suspicions(self) -> list[str]:
        rules = (
            result_not_written,
            grid_too_small,
            offset_of_program,
            bounds_of_one_index,
            axes_of_programs,
            axes_of_tiles,
            strides,
            neutral_elements,
            unused_argument,
        )
        half = [finding.text for finding in self.program.findings("half_sum")]
        sizes = [argument.name for argument in self.program.manifest.args if argument.kind is Kind.SIZE]
        values = Mismatch(argument="", kind="value", wrong=1, total=2)
        own = [
            rounded_loop(self.program, None, Case("", Category.BASIC, dict.fromkeys(sizes, 1021))),
            sum_not_rescaled(self.program, None, values),
            divides_by_one_less(self.program, None),
            divided_by_block(self.program, None),
            few_digits(self.program, Pattern("rounding", "")),
        ]
        said = [said for rule in rules if (said := rule(self.program, None, NO_MISMATCH))]
        return said + half + [saying for saying in own if saying]

    def of_result(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str:
        if mismatch.kind == "out_of_bounds":
            return stores_outside(self.program, mismatch.argument)
        if mismatch.kind in ("late", "input_changed", "not_cleared"):
            return ""
        rules = (
            result_not_written,
            grid_too_small,
            offset_of_program,
            bounds_of_one_index,
            axes_of_programs,
            axes_of_tiles,
            strides,
            reduced_axis,
            neutral_elements,
            unshifted_exponential,
            sums_in_half,
            reduced_precision,
            unused_argument,
        )
        own: tuple[Callable[[], str], ...] = (
            lambda: rounded_loop(self.program, pattern, case),
            lambda: cuts_fractions(self.program, pattern),
            lambda: drops_nan(self.program, pattern),
            lambda: few_digits(self.program, pattern),
            lambda: sum_not_rescaled(self.program, pattern, mismatch),
            lambda: divides_by_one_less(self.program, pattern),
            lambda: divided_by_block(self.program, pattern),
        )
        said = next((said for rule in rules if (said := rule(self.program, pattern, mismatch))), "")
        return said or next((said for rule in own if (said := rule())), "")

    def of_place(self, pattern: Pattern) -> str:
        return ordered_by_atomic(self.program) if pattern.kind == "reordered" else ""

    def of_failure(self, failure: Failure) -> str:
        line = failure.line or 0
        if failure.kind == "checker":
            return checker_error(self.program, failure, line)
        rules = (
            no_grid,
            grid_not_a_tuple,
            parameter_order,
            indexed_pointer,
            missing_argument,
            not_constant,
            by_message,
        )
        return next((said for rule in rules if (said := rule(self.program, failure, line))), "")

    def adds_to(self, result: str) -> bool:
        """True if loaded, or changed in place."""
        name = self.program.parameter_of(result)
        for launch in self.program.source.launches:
            for access in launch.kernel.accesses:
                value = launch.given.get(access.parameter)
                if access.operation != "store" and isinstance(value, ast.Name) and value.id == name:
                    return True
        solve = self.program.source.solve
        return solve is None or any(
            isinstance(node, ast.AugAssign) or (isinstance(node, ast.Attribute) and node.attr.endswith("_"))
            for node in walk(*solve.body)
        )
