"""The languages of submissions.

No other module compares a language with a particular one. A new one needs a row here, a loader in
``sandbox/runner`` and perhaps a compiler in ``grader.sandbox.compiler`` and
``grader.judge.compilation.COMPILERS``. Import nothing heavy: the command line reads the table at start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

ON_HOST, ON_GPU, ON_EMULATED = "cpu", "gpu", "emulated"


@dataclass(frozen=True)
class Running:
    # In ``sandbox/runner``. Its ``load_submission(message, descriptors)`` returns a function that makes a
    # call from a binding.
    loader: str
    # See ``sandbox/runner/preload.py``.
    preload: str


class _Rows(type):
    def __iter__(cls) -> Iterator[Language]:
        return iter([*LANGUAGES.values()])

    def __len__(cls) -> int:
        return len(LANGUAGES)


@dataclass(frozen=True, eq=False, repr=False)
class Language(str, metaclass=_Rows):
    """As a string, the word in requests, reports and the database."""

    # At most 16 characters, see ``grader.records.models``.
    value: str
    display_name: str
    # Of files; we write the first.
    suffixes: tuple[str, ...]
    comment: str
    # Pygments' name.
    lexer: str
    # Info strings of Markdown code blocks.
    fences: tuple[str, ...]
    # The parser in ``web/client/src/languages.js``.
    editor: str
    # Parameters have no types, and ``ast`` finds syntax errors.
    python: bool
    # ``$parameters`` are the challenge's.
    declaration: str
    # Loads but does nothing. It may use ``$title``, ``$parameters`` and ``$declaration``; a line with
    # ``$argument`` is repeated per argument, one with ``$header`` per needed header.
    starter: str
    # The judge looks for work by torch's kernels, and cannot hide its libraries.
    torch: bool
    # By kind of device.
    running: Mapping[str, Running]
    # In ``grader.judge.compilation.COMPILERS``; None: the source itself is judged.
    compiler: str | None = None
    # Kernels work on blocks of elements, not threads.
    programs: bool = False
    # Imported by its runner, and how to install it.
    package: str = ""
    install: str = ""
    # Kernels that compile at their first call; ``grader.sandbox.compiler.triton`` does it ahead.
    kernels_ahead: bool = False
    # With ``[autograd]``; empty: the usual one. It may also use ``$forward``, ``$results``, ``$upstream`` and
    # ``$gradients``.
    function_starter: str = ""
    # A pattern of line starts that only this language has.
    signs: str = ""
    # False: many installations lack its packages.
    usual: bool = True
    colours: tuple[str, str] = ("#68707d", "#9aa3b2")

    CUDA: ClassVar[Language]
    TRITON: ClassVar[Language]
    HIP: ClassVar[Language]
    CUTE: ClassVar[Language]

    def __new__(cls, value: str, *_: object, **__: object) -> Language:
        return str.__new__(cls, value)

    @staticmethod
    def named(value: str) -> Language:
        """Raises ValueError."""
        try:
            return LANGUAGES[value]
        except (KeyError, TypeError):
            raise ValueError(f"There is no language '{value}'.") from None

    @staticmethod
    def of_file(filename: str) -> Language | None:
        """By the longest ending: ``.torch.py`` comes before ``.py``."""
        name = PurePath(filename).name.lower()
        fitting = [
            (len(suffix), language)
            for language in Language
            for suffix in language.suffixes
            if name.endswith(suffix) and name != suffix
        ]
        return max(fitting, key=lambda found: found[0])[1] if fitting else None

    @property
    def suffix(self) -> str:
        return self.suffixes[0]

    @property
    def compiled(self) -> bool:
        return self.compiler is not None

    def begins_in(self, source: str) -> bool:
        return bool(self.signs) and re.search(rf"^\s*(?:{self.signs})", source, re.MULTILINE) is not None

    def runs_on(self, kind: str) -> bool:
        """``kind``: ON_HOST, ON_GPU or ON_EMULATED."""
        return kind in self.running

    def preload_on(self, kind: str) -> str:
        """ "" if the language does not run there."""
        return self.running[kind].preload if kind in self.running else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies are the table's own row, also from other processes.
        return Language.named, (self.value,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            _validated,
            ref="grader.languages.Language",
            serialization=core_schema.to_string_ser_schema(when_used="json"),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"enum": [language.value for language in cls], "title": "Language", "type": "string"}


def _validated(value: object) -> Language:
    """Rows added later count."""
    from pydantic_core import PydanticCustomError

    try:
        return LANGUAGES[value]  # type: ignore[index]
    except (KeyError, TypeError):
        quoted = [f"'{language.value}'" for language in Language]
        expected = " or ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)
        raise PydanticCustomError("enum", "Input should be {expected}", {"expected": expected}) from None


def usual() -> list[Language]:
    return [language for language in Language if language.usual]


def names() -> str:
    return ", ".join(language.value for language in Language)


def compiled_name() -> str:
    """A pattern of compiled files in compilers' messages."""
    endings = "|".join(re.escape(language.suffix) for language in Language if language.compiled)
    return f"solution(?:{endings})"


def filled(template: str, values: Mapping[str, str], **repeated: list[str]) -> str:
    """A line with a name of ``repeated`` is repeated for each of its texts."""
    lines: list[str] = []
    for line in template.splitlines(keepends=True):
        each = next((name for name in repeated if f"${name}" in line), None)
        for text in repeated[each] if each else [""]:
            lines.append(Template(line).substitute({**values, each: text} if each else values))
    return "".join(lines)


Language.CUDA = Language(
    value="cuda",
    display_name="CUDA C++",
    suffixes=(".cu", ".cuh"),
    comment="//",
    lexer="cuda",
    fences=("cpp", "c++", "c", "cu"),
    editor="cuda",
    python=False,
    declaration='extern "C" void solve($parameters)',
    starter="""\
// $title
//
//   $argument
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise.
#include <cstdint>
#include <cuda_runtime.h>
#include <$header>

__global__ void kernel($parameters) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

$declaration {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
""",
    torch=False,
    running=MappingProxyType(
        {
            ON_GPU: Running("cuda_loader", preload="cuda"),
            ON_EMULATED: Running("emulated_loader", preload="emulated"),
        }
    ),
    compiler="nvcc",
    signs=r'#\s*include\s*[<"]|__global__\b|extern\s+"C"',
    colours=("#5d9412", "#86c232"),
)

Language.TRITON = Language(
    value="triton",
    display_name="Triton",
    suffixes=(".py",),
    comment="#",
    lexer="python",
    fences=("py", "python"),
    editor="python",
    python=True,
    declaration="def solve($parameters)",
    starter='''\
"""$title."""

import triton
import triton.language as tl


@triton.jit
def kernel($parameters, BLOCK: tl.constexpr):
    # One program's work. The numbers of its elements, in 64 bits:
    # offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    pass


$declaration:
    """Write the result into the output; return nothing.

    $argument
    """
    # kernel[(blocks,)](..., BLOCK=1024)
    # Sizes may be 0: ask before launching, and leave nothing unwritten that the output holds.
''',
    function_starter='''\
"""$title."""

import torch
import triton
import triton.language as tl


class Solution(torch.autograd.Function):
    """The judge calls it, asks autograd for the gradients, and compares everything with its own.

    $argument
    """

    @staticmethod
    def forward(ctx, $forward):
        """Return $results, in new tensors on the inputs' device."""
        # Save what backward needs: ctx.save_for_backward(...)

    @staticmethod
    def backward(ctx, $upstream):
        """Return one value for each argument of forward: $gradients."""
''',
    torch=True,
    programs=True,
    kernels_ahead=True,
    running=MappingProxyType(
        {
            ON_HOST: Running("triton_loader", preload="triton"),
            ON_GPU: Running("triton_loader", preload="triton-gpu"),
            ON_EMULATED: Running("triton_loader", preload="emulated-triton"),
        }
    ),
    signs=r"import triton\b|from triton\b|@triton\.",
    colours=("#7461ee", "#9d8fff"),
)

Language.HIP = replace(
    Language.CUDA,
    value="hip",
    display_name="HIP",
    suffixes=(".hip", ".hip.cpp"),
    fences=("hip",),
    starter="""\
// $title
//
//   $argument
//
// Pointers are device pointers. Launch on the default stream; there is no need to synchronise. Warps have 32 lanes.
#include <cstdint>
#include <hip/hip_runtime.h>
#include <$header>

__global__ void kernel($parameters) {
    // One thread's work. Its number, in 64 bits:
    // int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

$declaration {
    // kernel<<<blocks, threads>>>(...);
    // Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
}
""",
    compiler="nvcc_hip",
    signs=r"#\s*include\s*[<\"]hip/",
    usual=False,
    colours=("#c2410c", "#fb923c"),
)

Language.CUTE = Language(
    value="cutedsl",
    display_name="CuTe DSL",
    suffixes=(".cute.py",),
    comment="#",
    lexer="python",
    fences=("cutedsl", "cute"),
    editor="python",
    python=True,
    declaration="def solve($parameters)",
    starter='''\
"""$title."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack


@cute.kernel
def kernel(result: cute.Tensor, total: cutlass.Int64):
    # One thread's work. Its number, in 64 bits:
    # thread, block = cute.arch.thread_idx()[0], cute.arch.block_idx()[0]
    # i = cutlass.Int64(block) * 256 + thread
    pass


@cute.jit
def launch(result: cute.Tensor, total: cutlass.Int64):
    kernel(result, total).launch(grid=[(total + 255) // 256, 1, 1], block=[256, 1, 1])


$declaration:
    """Write the result into the output; return nothing.

    $argument
    """
    # launch(from_dlpack(...).mark_layout_dynamic(), ...)
    # Sizes may be 0, and a grid of 0 blocks is a launch error: ask before launching.
    # Keep what cute.compile returns, and call that: launch itself traces its kernel each time.
''',
    torch=True,
    package="nvidia_cutlass_dsl",
    install="Run `pip install 'nvidia-cutlass-dsl[cu13]==4.8.1'` in the environment of the workers and their boxes.",
    running=MappingProxyType(
        {
            ON_GPU: Running("cute_loader", preload="cute-gpu"),
            ON_EMULATED: Running("cute_loader", preload="emulated-cute"),
        }
    ),
    usual=False,
    signs=r"import cutlass\b|from cutlass\b|@cute\.",
    colours=("#0e7490", "#22b8cf"),
)

LANGUAGES: dict[str, Language] = {
    language.value: language for language in (Language.CUDA, Language.TRITON, Language.HIP, Language.CUTE)
}
