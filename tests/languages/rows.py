"""Two languages that the product does not have: one that Triton's loader loads, and one that is compiled."""

from __future__ import annotations

from dataclasses import replace

from grader.challenge.model import Manifest
from grader.judge.compilation import COMPILERS, SourceCompiler
from grader.languages import LANGUAGES, ON_HOST, Language, Running
from grader.sandbox.box import BoxMaker
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult

PEBBLE = Language(
    value="pebble",
    display_name="Pebble++",
    suffixes=(".peb", ".pebble"),
    comment="#",
    lexer="python",
    fences=("gravel",),
    editor="python",
    python=True,
    declaration="def solve($parameters)",
    starter='"""Pebbles for $title."""\n\n\n$declaration:\n    # $argument\n    pass\n',
    torch=True,
    programs=True,
    running={ON_HOST: Running("triton_loader", preload="triton")},
)
SLATE = replace(
    PEBBLE,
    value="slate",
    display_name="Slate",
    suffixes=(".slt",),
    python=False,
    torch=False,
    declaration="solve($parameters)",
    compiler="chisel",
)


class Chisel:
    """Refuses every source, and remembers the requests."""

    def __init__(self) -> None:
        self.asked: list[CompileRequest] = []

    def run(self, boxes: BoxMaker, request: CompileRequest, interrupt: object) -> CompileResult:
        self.asked.append(request)
        return CompileResult(False, None, "solution.slt: error: too hard", 0.1)

    @staticmethod
    def request(manifest: Manifest, source: str, architecture: str) -> CompileRequest:
        return CompileRequest(source, "", arch=architecture, compiler="chisel")

    def entry(self) -> SourceCompiler:
        return SourceCompiler(self.request, self.run, lambda: "1.0", "Chiselling", "there is no chisel here")


def add() -> None:
    """For a separate process, before it imports the rest of the product."""
    LANGUAGES[PEBBLE.value] = PEBBLE
    LANGUAGES[SLATE.value] = SLATE
    COMPILERS["chisel"] = Chisel().entry()
