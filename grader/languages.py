"""The languages of submissions: a table, one row per language.

No other part of the product names a particular language: it asks the row. To add one, add its row here, its loader to
``sandbox/runner`` and, if it is compiled, its compiler to ``grader.sandbox.compiler`` and to
``grader.judge.compilation.COMPILERS``.

Imports nothing heavy: the command line reads the table at start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

# The kinds of device that a row names: the host's processor, which interprets kernels, a GPU, and the emulated GPU.
ON_HOST, ON_GPU, ON_EMULATED = "cpu", "gpu", "emulated"


@dataclass(frozen=True)
class Running:
    # The module in ``sandbox/runner`` that loads a source, or what it was compiled to. Its
    # ``load_submission(message, descriptors)`` returns a function that makes a call from a binding.
    loader: str
    # What a runner imports before it has a submission, see ``sandbox/runner/preload.py``.
    preload: str


class _Rows(type):
    """Makes ``Language`` iterable: over its rows, in the table's order."""

    def __iter__(cls) -> Iterator[Language]:
        return iter([*LANGUAGES.values()])

    def __len__(cls) -> int:
        return len(LANGUAGES)


@dataclass(frozen=True, eq=False, repr=False)
class Language(str, metaclass=_Rows):
    """A row. It is a string, equal to its ``value``: the word for it in requests, reports and the database."""

    # At most 16 characters, see ``grader.records.models``.
    value: str
    display_name: str
    suffixes: tuple[str, ...]
    comment: str
    lexer: str
    # Markdown code blocks with these names are marked as this language.
    fences: tuple[str, ...]
    # The editor's parser for it, see ``web/client/src/languages.js``.
    editor: str
    # True if a source is a Python module: parameters have no types, and ``ast`` finds its syntax errors.
    python: bool
    # The line that a student implements; ``$parameters`` are the challenge's.
    declaration: str
    # A source that loads and does nothing yet. It may use ``$title``, ``$parameters`` and ``$declaration``; a line with
    # ``$argument`` is repeated for each argument, one with ``$header`` for each header that the types need.
    starter: str
    # True if its runner has torch. Then torch's kernels might do the work: the judge looks for that, and cannot remove
    # the libraries that torch needs.
    torch: bool
    # How it runs, by kind of device; it runs on no other kind.
    running: Mapping[str, Running]
    # Its name in ``grader.judge.compilation.COMPILERS``; None if the source itself is judged.
    compiler: str | None = None
    # True if a GPU's runner compiles its kernels at their first call, which can also be done ahead, see
    # ``grader.sandbox.compiler.triton``.
    kernels_ahead: bool = False
    # A regular expression for starts of lines that occur only in this language; empty if there are none.
    signs: str = ""

    CUDA: ClassVar[Language]
    TRITON: ClassVar[Language]

    def __new__(cls, value: str, *_: object, **__: object) -> Language:
        return str.__new__(cls, value)

    @staticmethod
    def named(value: str) -> Language:
        """The row with that name. Raises ValueError."""
        try:
            return LANGUAGES[value]
        except (KeyError, TypeError):
            raise ValueError(f"There is no language '{value}'.") from None

    @staticmethod
    def of_file(filename: str) -> Language | None:
        """The language of the file name's ending, if there is one."""
        suffix = PurePath(filename).suffix.lower()
        return next((language for language in Language if suffix in language.suffixes), None)

    @property
    def suffix(self) -> str:
        return self.suffixes[0]

    @property
    def compiled(self) -> bool:
        return self.compiler is not None

    def begins_in(self, source: str) -> bool:
        """True if a line begins as only this language's do."""
        return bool(self.signs) and re.search(rf"^\s*(?:{self.signs})", source, re.MULTILINE) is not None

    def runs_on(self, kind: str) -> bool:
        """``kind``: ON_HOST, ON_GPU or ON_EMULATED."""
        return kind in self.running

    def preload_on(self, kind: str) -> str:
        """What a runner imports beforehand; empty if it does not run there."""
        return self.running[kind].preload if kind in self.running else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies, and rows sent by other processes, are the table's own row.
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
    """Looks up the table at each call, so rows added later count."""
    from pydantic_core import PydanticCustomError

    try:
        return LANGUAGES[value]  # type: ignore[index]
    except (KeyError, TypeError):
        quoted = [f"'{language.value}'" for language in Language]
        expected = " or ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)
        raise PydanticCustomError("enum", "Input should be {expected}", {"expected": expected}) from None


def names() -> str:
    return ", ".join(language.value for language in Language)


def compiled_name() -> str:
    """A regular expression for the name of a compiled source in compilers' messages."""
    endings = "|".join(re.escape(language.suffix) for language in Language if language.compiled)
    return f"solution(?:{endings})"


def filled(template: str, values: Mapping[str, str], **repeated: list[str]) -> str:
    """``template`` with ``values``; a line that names one of ``repeated`` is repeated for each of its texts."""
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
    torch=True,
    kernels_ahead=True,
    running=MappingProxyType(
        {
            ON_HOST: Running("triton_loader", preload="triton"),
            ON_GPU: Running("triton_loader", preload="triton-gpu"),
            ON_EMULATED: Running("triton_loader", preload="emulated-triton"),
        }
    ),
    signs=r"import triton\b|from triton\b|@triton\.",
)

LANGUAGES: dict[str, Language] = {language.value: language for language in (Language.CUDA, Language.TRITON)}
