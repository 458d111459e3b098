"""A Triton source with its challenge's signature."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from grader.challenge.dtypes import DType
from grader.challenge.model import Argument, Manifest
from grader.judge.explaining.triton.source import Kernel, Launch, TritonSource, walk
from grader.judge.explaining.triton.tile_reader import Finding, constants_of, findings_of
from grader.schemas.report import Mismatch

# For rules that look at the source alone.
NO_MISMATCH = Mismatch(argument="", kind="unwritten", wrong=1, total=2)


@dataclass(frozen=True)
class Program:
    manifest: Manifest
    source: TritonSource

    def parameter_of(self, argument: str) -> str:
        names = [given.name for given in self.manifest.args]
        solve = self.source.solve
        own = [parameter.arg for parameter in solve.args.args] if solve is not None else []
        return own[names.index(argument)] if argument in names and len(own) == len(names) else argument

    def grid_of(self, launch: Launch) -> ast.expr:
        grid = launch.grid
        if isinstance(grid, ast.Name) and self.source.solve is not None:
            for node in walk(*self.source.solve.body):
                if isinstance(node, ast.Assign) and any(
                    isinstance(target, ast.Name) and target.id == grid.id for target in node.targets
                ):
                    return node.value
        return grid

    def findings(self, *kinds: str) -> list[Finding]:
        constants = constants_of(self.source.tree)
        found = []
        for kernel in self.source.kernels.values():
            found += findings_of(kernel, self.pointers_of(kernel), constants)
        return [finding for finding in found if finding.kind in kinds]

    def given(self, kernel: Kernel) -> dict[str, Argument]:
        arguments = {self.parameter_of(argument.name): argument for argument in self.manifest.args}
        found = {}
        for launch in self.source.launches:
            for parameter, value in launch.given.items() if launch.kernel is kernel else ():
                if isinstance(value, ast.Name) and value.id in arguments:
                    found[parameter] = arguments[value.id]
        return found

    def pointers_of(self, kernel: Kernel) -> dict[str, DType | None]:
        found: dict[str, DType | None] = {
            access.parameter: None for access in kernel.accesses if access.parameter
        }
        given = self.given(kernel)
        return found | {name: argument.dtype for name, argument in given.items() if argument.kind.buffer}
