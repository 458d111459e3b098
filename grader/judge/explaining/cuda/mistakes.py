"""Names mistakes in CUDA sources: wrong numbers, or an error, must fit the code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader.challenge.cases import Case, Category
from grader.challenge.model import Kind, Manifest
from grader.judge.explaining.cuda.indices import IndexRules
from grader.judge.explaining.cuda.shapes import ShapeRules
from grader.judge.explaining.cuda.source import Arguments, Function, names_in, read
from grader.judge.explaining.cuda.updates import UpdateRules
from grader.judge.explaining.cuda.values import ValueRules
from grader.judge.explaining.wrong import Pattern
from grader.judge.messages import Failure
from grader.schemas.report import Mismatch

if TYPE_CHECKING:
    import torch

_RACES = ("shared_race", "global_race", "warp_race")
_NOT_FINITE = ("nan", "inf", "-inf")
# Patterns that a wrong address does not explain.
_RIGHT_PLACES = (
    "rounding", "rounded_inputs", "factor", "offset", "zeros", "nan_lost", "whole", "ties", "begins_again", "of_chunk",
    "inverted", "related", "row_factor", "replaced", "negated", "inverse",
    "scaled_input", "nan_ignored", "clamped", "one_off", "of_right", "capped", "line_offset", "padded", "other_type",
    "rows_counted", "step", "kept_sums",
)  # fmt: skip
_ENDS = ("tail", "untouched", "last_tile", "unwritten_tail", "unwritten_rows", "unwritten_columns")
# Patterns that leave only the line unknown.
_EXPLAINED = (
    "turned", "turned_tiles", "read_turned", "reversed", "exchanged", "ignored", "other_axis", "by_row", "nan_lost",
    "ties", "whole", "shifted", "begins_again", "rounded_inputs", "first_for_all", "twice", "scaled",
    "of_chunk", "inverted", "related", "copied",
    "replaced", "negated", "inverse", "fewer", "scaled_input", "nan_ignored", "clamped", "one_off", "of_right",
    "capped", "padded", "groups_again", "strides", "tile_steps", "read_shifted", "other_type", "rows_counted",
    "step", "kept_sums",
)  # fmt: skip


# For rules that look at the source alone.
NO_NUMBERS = Mismatch(argument="", kind="value", wrong=1, total=2)


class CudaMistakes:
    """Places first: a wrong place explains wrong values, not the other way round."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.indices = IndexRules(arguments)
        self.updates = UpdateRules(arguments)
        self.values = ValueRules(arguments)
        self.shapes = ShapeRules(arguments, self.indices)

    @classmethod
    def of(cls, manifest: Manifest, text: str) -> CudaMistakes | None:
        """None if too long."""
        source = read(text)
        return cls(Arguments(manifest, source)) if source is not None else None

    def suspicions(self) -> list[str]:
        sayings = [
            self.indices.order_of_solve(),
            self.indices.order_of_launch(),
            self.indices.block_index(),
            self.indices.unused_blocks(),
            self.indices.axes_of_blocks(),
            self.indices.step_of_block(),
            next(self.indices.wrong_strides(), ""),
            *(self.updates.update(update.function, update.access) for update in self.updates.updates()),
            next((said for _, _, said in self.values.starts_of_extremes()), ""),
            self.values.unshifted_exponential(),
            self.values.sum_in_half(),
            self.values.variance(),
            self.values.zero_quotient(),
            self.values.divides_by_one_less(),
            self.values.epsilon_outside_root(),
            self.values.short_constant(NO_NUMBERS),
            self.values.approximation_of_gelu(),
            next((said for _, _, said in self.values.of_shared_extremes()), ""),
            self.updates.added_by_all(),
            self.updates.left_behind(),
            self.updates.stored_by_other_lane(),
            self.shapes.rounded_grid(),
            self.shapes.step_between_blocks(),
            self.shapes.unset_local(),
            *(self.shapes.unset_shared(kernel.line) for kernel in self.arguments.source.kernels),
            *(
                self.shapes.rounded_loop(Case("", Category.BASIC, dict.fromkeys(self._sizes, extent)))
                for extent in (1, 1021)
            ),
        ]
        return [saying for saying in sayings if saying]

    @property
    def _sizes(self) -> list[str]:
        return [argument.name for argument in self.arguments.manifest.args if argument.kind is Kind.SIZE]

    def of_result(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str:
        if mismatch.kind in ("late", "not_cleared"):
            return ""
        if said := self.indices.order_of_solve():
            return said
        if mismatch.kind == "input_changed":
            return ""
        if mismatch.kind == "out_of_bounds":
            return (
                self.indices.order_of_launch()
                or next(self.indices.wrong_strides(), "")
                or self.indices.block_index()
            )
        kind = pattern.kind if pattern is not None else ""
        said = ""
        if kind not in _RIGHT_PLACES:
            said = self._of_places(pattern, mismatch)
        if not said and (mismatch.kind == "unwritten" or kind in _ENDS):
            said = self.shapes.rounded_grid() or self.shapes.step_between_blocks() or self.shapes.one_block()
            if not said and pattern is not None and kind in ("tail", "unwritten_tail"):
                said = self.shapes.rounded_size(pattern, case)
            if not said and pattern is not None:
                said = self.shapes.beyond_block(pattern)
        if not said and kind not in _EXPLAINED:
            said = self.shapes.rounded_loop(case)
        if not said and mismatch.kind in ("nan", "inf", "value"):
            said = self._of_values(pattern, mismatch, case, inputs)
        if not said and kind in ("", "rounding", "tail", "factor", "row_factor", "offset"):
            said = self.shapes.unset_local()
        if not said and kind == "unwritten_all":
            said = self.indices.never_passed(mismatch.argument)
        if not said and pattern is not None and kind in ("ignored", "replaced"):
            said = self.indices.never_used(pattern.names[0])
        if not said and mismatch.kind == "value" and kind not in _EXPLAINED:
            said = self.updates.left_behind() or self.updates.stored_by_other_lane()
        if (
            not said
            and pattern is not None
            and kind
            in (
                "by_row",
                "reversed",
                "first_for_all",
                "read_turned",
                "groups_again",
                "strides",
                "read_shifted",
            )
        ):
            said = self.indices.read_in(pattern.names[0])
        return said

    def of_place(self, pattern: Pattern) -> str:
        if pattern.kind == "reordered":
            return self.updates.ordered_by_atomic()
        if pattern.kind in _ENDS:
            return self.shapes.rounded_grid() or self.shapes.beyond_block(pattern)
        return ""

    def _of_places(self, pattern: Pattern | None, mismatch: Mismatch) -> str:
        if said := self.indices.order_of_launch():
            return said
        if mismatch.kind == "unwritten":
            said = self.indices.block_index() or self.indices.unused_blocks() or self.indices.axes_of_blocks()
            if said:
                return said
        strides = self.indices.wrong_strides()
        if pattern is not None and pattern.kind in ("read_turned", "strides"):
            strides = (saying for saying in strides if f" row of {pattern.names[0]} " in saying)
        if said := next(strides, ""):
            return said
        if mismatch.kind == "value" and (said := self.indices.block_index() or self.indices.step_of_block()):
            return said
        if mismatch.kind == "value" and (pattern is None or pattern.kind == "tail"):
            return self.indices.unused_blocks() or next(
                (
                    self.updates.update(update.function, update.access)
                    for update in self.updates.updates()
                    if update.everywhere
                ),
                "",
            )
        return ""

    def _of_values(
        self,
        pattern: Pattern | None,
        mismatch: Mismatch,
        case: Case,
        inputs: Mapping[str, torch.Tensor],
    ) -> str:
        kind = pattern.kind if pattern is not None else ""
        finite = mismatch.expected not in _NOT_FINITE
        if kind == "nan_lost":
            return self.values.drops_nan()
        if not finite:
            return ""
        if kind == "whole":
            return self.values.cuts_fractions()
        if kind == "factor" and pattern is not None and pattern.number >= 2:
            return self.updates.added_by_all()
        if said := self.values.extreme_of_zero(mismatch, inputs) or self.values.zero_quotient():
            return said
        if (
            mismatch.kind != "value"
            and self.values.may_overflow(inputs)
            and (said := self.values.unshifted_exponential())
        ):
            return said
        if self.values.cancels(mismatch, inputs) and (said := self.values.variance()):
            return said
        if kind in ("", "rounding", "rounded_inputs", "row_factor"):
            if (said := self.values.sum_in_half()) and self.values.rounds_in_half(mismatch, case):
                return said
            if kind == "rounding":
                if (said := self.values.computes_in_half()) and self.values.rounds_in_half(mismatch, case):
                    return said
                said = self.values.short_constant(mismatch) or self.values.approximation_of_gelu()
                if said:
                    return said
            if said := self.values.divides_by_one_less() or self.values.epsilon_outside_root():
                return said
            if mismatch.kind == "value" and (said := self.values.long_sum(kind, mismatch, case)):
                return said
            return self.values.fast_function() if kind == "rounding" else ""
        return ""

    def of_failure(self, failure: Failure) -> str:
        line = failure.line or 0
        if failure.kind == "cuda" and "ILLEGAL_ADDRESS" in failure.type:
            return (
                self.indices.order_of_solve()
                or self.indices.order_of_launch()
                or next(self.indices.wrong_strides(), "")
                or self.indices.block_index()
            )
        if failure.kind != "checker":
            return ""
        if failure.type == "unwritten":
            return (
                self.indices.order_of_solve()
                or self.shapes.unset_shared(line)
                or self.shapes.early_return(line)
            )
        if failure.type == "read_only":
            return self.indices.order_of_solve()
        if failure.type in _RACES:
            found = failure.message.split("\n")[0]
            both_write = "reads" not in found or "same index" in found
            return (
                self.indices.order_of_solve()
                or (self.indices.unused_blocks() if both_write else "")
                or self.updates.of_race(line, failure.message)
                or (self.shapes.step_between_blocks() if both_write else "")
                or self.indices.order_of_launch()
                or next(self.indices.wrong_strides(line), "")
                or self.indices.block_index()
                or self.indices.step_of_block()
            )
        if failure.type == "out_of_bounds":
            return (
                self.indices.order_of_solve()
                or self.indices.order_of_launch()
                or self.shapes.dynamic_shared(failure.message.split("\n")[0])
                or next(self.indices.wrong_strides(line), "")
                or self.indices.guard(line, failure.message)
            )
        return ""

    def adds_to(self, result: str) -> bool:
        """True if a kernel reads it, or its use is unknown."""
        solve = self.arguments.source.solve
        own = [parameter.name for parameter in solve.parameters] if solve is not None else []
        names = [argument.name for argument in self.arguments.manifest.args]
        if solve is None or len(own) != len(names) or result not in names:
            return True
        name = own[names.index(result)]
        plain = 0
        for launch in self.arguments.source.launches:
            for parameter, value in launch.given.items():
                if value == name:
                    plain += 1
                    if not _only_stores(launch.kernel, parameter):
                        return True
        uses = len(re.findall(rf"\b{name}\b", solve.body))
        return plain != uses or not plain


def _only_stores(kernel: Function, name: str) -> bool:
    stores = [
        access
        for access in kernel.accesses
        if access.array == name and access.operator == "=" and name not in names_in(access.value)
    ]
    return len(stores) == len(re.findall(rf"\b{name}\b", kernel.body))
