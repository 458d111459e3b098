"""Rewords the compiler's messages about a CUDA source, and adds hints. No verdict depends on it.

Messages about appended lines (``grader.challenge.signature.cuda_footer``) become messages about ``solve``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader import limits
from grader.sandbox.compiler.outline import Function, Outline, outline_of, parameter_count

GUIDE = "Coming from LeetGPU, Tensara or KernelBot? See /docs/coming-from-other-platforms."
HEADERS = (
    "the CUDA toolkit (cuda_runtime.h, cuda_fp16.h, cuda_bf16.h, mma.h, cooperative_groups.h, cub, thrust, cuda/std) "
    "and the C++ standard library"
)

# `solution.cu(3): error: ...` is nvcc's, `solution.cu:3:8: error: ...` the host compiler's.
_PLACE = re.compile(
    r"(?P<file>At end of source(?=:)|[^\s():]+(?=[(:]\d))(?:\(\d{1,9}\)|:\d{1,9}(?::\d{1,9})?)?: "
    r"(?:(?:catastrophic |fatal |internal )?error|warning|note|remark)\b(?: #[\w-]+)?: ?(?P<text>.*)"
)
_PYTHON = re.compile(
    r"^(?:import [a-z][\w., ]*|from [a-z][\w.]* import\b.*|def \w+\(.*|@(?:triton|torch)\.\w+.*)$",
    re.MULTILINE,
)
_CPLUSPLUS = re.compile(r"^#[ \t]*include\b|__global__", re.MULTILINE)
_TOTAL = re.compile(r"\d+ (?:catastrophic )?errors? detected in the compilation of ")
# Appended code, as #line names it.
_END = "At end of source"
_OURS = re.compile(rf"grader-(?:footer|trailer|words)|{_END}")
_OUR_LINE = re.compile(
    r'(?:line \d{1,9} of )?"?grader-(?:footer|trailer|words)"?(?:\(\d{1,9}\)|:\d{1,9}(?::\d{1,9})?)?'
)
_ASSERTED = re.compile(r'static assertion failed with "(.*)"$')
_DECLARED = re.compile(r"\(declared at line (\d{1,9})(?: of [^)]{0,300})?\)")
_WANTED = re.compile(r'extern "C" void solve\((.*)\)')
# A crash, or gcc's advice to file a bug.
_CRASH = re.compile(
    r"internal compiler error|^Internal error: |internal error: assertion failed|[Ss]egmentation fault|"
    r"died due to signal|terminated program|Please submit a full bug report|See <\S*> for instructions|"
    r"^with preprocessed source|^Please include the complete backtrace|^(?:Compilation aborted|Aborted|Killed)\b"
)
_SMALLER = "make the source smaller"
_TOO_LARGE = "[the compiler's output is larger than a file may be: make the source's tables smaller]"
_CRASHED = (
    "[the compiler crashed on this source: it is too large, or nests templates, macros or terms too deeply]"
)


@dataclass(frozen=True)
class Explained:
    """``log`` names only lines of the source."""

    log: str
    hint: str = ""


@dataclass(frozen=True)
class _Block:
    """A message with all its lines; before the first one, ``file`` and ``text`` are empty."""

    file: str
    text: str
    lines: tuple[str, ...]

    @property
    def ours(self) -> bool:
        return _OURS.fullmatch(self.file) is not None


def explain(log: str, source: str, filename: str) -> Explained:
    """``log``: from ``clean_log``."""
    if not log:
        return Explained(log)
    if line := _python_line(source):
        finding = _Finding("this is Python, but a CUDA source is expected", line)
        text = _message(finding, filename, source.split("\n")).strip("\n")
        return Explained(
            text, "If it is a Triton kernel, choose Triton as the language, or call the file .py."
        )
    outline = outline_of(source)
    blocks = list(_blocks(_without_crash(log)))
    of_source = [block for block in blocks if not block.ours]
    findings = list(dict.fromkeys(_findings([block for block in blocks if block.ours], of_source, outline)))
    kept = [line for block in of_source for line in block.lines]
    if len(of_source) < len(blocks):  # its count includes the omitted messages
        kept = [line for line in kept if not _TOTAL.match(line)]
    shown = [_OUR_LINE.sub("the grader's call of solve", line) for line in kept]
    lines = source.split("\n")
    text = "\n".join([*shown, *(_message(finding, filename, lines) for finding in findings)]).strip("\n")
    hint = _hint(text, outline)
    if "__shared__ arrays" in hint and (places := _shared_lines(lines)):
        hint = f"{hint} They are in line{'s' if len(places) > 1 else ''} {' and '.join(map(str, places))}."
    return Explained(text, hint)


def _shared_lines(lines: list[str]) -> list[int]:
    """Lines of shared arrays of a fixed size; none if there are many."""
    found = [
        number
        for number, line in enumerate(lines, 1)
        if re.match(r"\s*(?:static\s+)?(?:__align__\(\d+\)\s*)?__shared__\s", line)
    ]
    return found if len(found) <= 3 else []


def _python_line(source: str) -> int:
    """0 if the source is not Python."""
    found = _PYTHON.search(source)
    if found is None or _CPLUSPLUS.search(source):
        return 0
    return source.count("\n", 0, found.start()) + 1


def _blocks(log: str) -> Iterator[_Block]:
    file, text = "", ""
    lines: list[str] = []
    for line in log.split("\n"):
        begins, total = _PLACE.match(line), _TOTAL.match(line)
        if (begins or total) and lines:
            yield _Block(file, text, tuple(lines))
            lines = []
        if begins or total:
            file, text = (begins["file"], begins["text"]) if begins else ("", "")
        lines.append(line)
    yield _Block(file, text, tuple(lines))


def _without_crash(log: str) -> str:
    """Replace a crash report by its cause and remedy."""
    gib = f"{limits.COMPILE_MEMORY_BYTES / limits.GIB:.3g} GiB"
    log = log.replace("used more memory than it may]", f"used more memory than it may, {gib}: {_SMALLER}]")
    log = re.sub(r"^(\[the compiler took longer than .{1,40} and was stopped)\]", rf"\1: {_SMALLER}]", log)
    lines = log.split("\n")
    kept = [line for line in lines if not _CRASH.search(line)]
    if len(kept) == len(lines) or any(line.startswith("[the compiler ") for line in kept):
        return "\n".join(kept)
    return "\n".join([_TOO_LARGE if "File size limit" in log else _CRASHED, *kept])


@dataclass(frozen=True)
class _Finding:
    """``line`` is 0 if unknown."""

    text: str
    line: int = 0


def _findings(ours: list[_Block], others: list[_Block], outline: Outline) -> Iterator[_Finding]:
    solve = outline.named("solve")
    line = solve.line if solve else 0
    known = False
    if outline.open_brace and ours and not any(_ASSERTED.search(block.text) for block in ours):
        yield _Finding("the brace { that this line opens is never closed", outline.open_brace)
        return
    for block in ours:
        if asserted := _ASSERTED.search(block.text):
            known = True
            yield _of_assertion(asserted[1], outline, line)
        elif "more than one instance of overloaded function" in block.text:
            known = True
            places = sorted({int(found) for text in block.lines for found in _DECLARED.findall(text)})
            where = f", in lines {' and '.join(map(str, places))}" if len(places) > 1 else ""
            yield _Finding(
                f"solve is defined more than once{where}: keep one", places[-1] if places else line
            )
        elif "__global__ function call must be configured" in block.text:
            known = True
            yield _Finding(
                "solve is a kernel (__global__); it must be a host function that launches kernels", line
            )
        elif '"solve" is ambiguous' in block.text:
            known = True
            yield _Finding("solve must be one function, and nothing else may have its name", line)
    if known or any("error" in block.lines[0] for block in others):
        return
    for block in [block for block in ours if "warning" not in block.lines[0]][:1]:
        if block.file == _END:
            yield _Finding(f"the source ends too early: {block.text}")
        else:
            yield _Finding(f"solve cannot be called by the grader: {block.text}", line)


def _of_assertion(text: str, outline: Outline, line: int) -> _Finding:
    if not text.startswith("there is no function solve"):
        return _Finding(text, line)
    solve = outline.named("solve")
    if solve is None:
        other = _renamed(text, outline)
        return _Finding(text, other.line if other else 0)
    _, _, wanted = text.partition(": ")
    if solve.kernel:
        return _Finding(
            "solve is a kernel (__global__); it must be a host function that launches kernels", line
        )
    if solve.namespace:
        return _Finding(f"solve is inside a namespace, where the grader does not find it: {wanted}", line)
    return _Finding(f"solve cannot be called with the arguments of the challenge: {wanted}", line)


def _renamed(text: str, outline: Outline) -> Function | None:
    """The only host function with as many parameters as ``solve``."""
    wanted = _WANTED.search(text)
    if wanted is None:
        return None
    count = parameter_count(wanted[1])
    fitting = [
        function
        for function in outline.functions
        if function.host and function.parameters == count and function.name != "main"
    ]
    return fitting[0] if len(fitting) == 1 else None


def _message(finding: _Finding, filename: str, lines: list[str]) -> str:
    """In the compiler's form."""
    if not 0 < finding.line <= len(lines):
        return f"{filename}: error: {finding.text}\n"
    line = lines[finding.line - 1]
    column = max(line.find("solve"), 0)
    pointer = "".join("\t" if letter == "\t" else " " for letter in line[:column])
    return f"{filename}({finding.line}): error: {finding.text}\n  {line}\n  {pointer}^\n"


def _missing_header(found: re.Match[str], _: Outline) -> str:
    name = found[1] or found[2]
    if re.match(r"torch/|ATen/|c10/|pybind11|Python\.h", name):
        return (
            "A CUDA source here cannot use PyTorch: solve gets plain device pointers and sizes. Extensions are for "
            f"challenges that allow them, on boards with a GPU. {GUIDE}"
        )
    if re.match(r"cublas|cudnn|cusparse|cusolver|cufft|cutlass/|cute/", name):
        return (
            f"A submission brings its own kernels: {name} belongs to a library that is not available. "
            f"Available are {HEADERS}."
        )
    return (
        f"A submission is one file: paste the contents of {name} into it. Headers that are available: those of "
        f"{HEADERS}. {GUIDE}"
    )


def _no_solve(found: re.Match[str], outline: Outline) -> str:
    if other := _renamed(found[0], outline):
        return f"Rename '{other.name}' to 'solve'."
    if any(function.kernel for function in outline.functions):
        return f"Add the host function that launches the kernel: {found[1]} {{ kernel<<<blocks, threads>>>(...); }}"
    return f"Define: {found[1]}"


def _signature(_: re.Match[str], outline: Outline) -> str:
    """A macro that redefines a type makes the signature differ from its text."""
    types = ("float", "double", "int", "long", "unsigned", "const", "void")
    if named := [name for name in outline.macros if name in types]:
        line = outline.macros[named[0]]
        return f"Line {line} defines '{named[0]}' as a macro, so the signature is not what it looks like: remove it."
    return GUIDE


def _too_much_shared(found: re.Match[str], _: Outline) -> str:
    return (
        f"Its __shared__ arrays have {int(found[1], 16):,} bytes; a block has {int(found[2], 16):,} (48 KiB) for them. "
        "More must be dynamic: declare it as extern __shared__ float tile[];, give the launch its size, and "
        "allow it with cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)."
    )


# The first match counts.
_HINTS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str], Outline], str]], ...] = (
    (
        re.compile(r'fatal error: (\S+): No such file or directory|cannot open source file "([^"]+)"'),
        _missing_header,
    ),
    (re.compile(r'identifier "(?:half2?|__half2?)" is undefined'), "Add: #include <cuda_fp16.h>"),
    (
        re.compile(r'identifier "(?:nv_bfloat162?|__nv_bfloat162?)" is undefined'),
        "Add: #include <cuda_bf16.h>",
    ),
    (re.compile(r'identifier "u?int(?:8|16|32|64)_t" is undefined'), "Add: #include <cstdint>"),
    (re.compile(r'there is no function solve; the challenge calls: (extern "C" .*\))'), _no_solve),
    (re.compile(r"solve is inside a namespace"), "Move solve out of the namespace."),
    (
        re.compile(r'solve is a kernel|overloaded function "solve" has "C" linkage'),
        lambda found, _: (
            "Give the kernel another name, and launch it from a host function solve."
            if "kernel" in found[0]
            else "Keep one solve, with the challenge's signature."
        ),
    ),
    (re.compile(r"solve is defined more than once"), "Keep the solve that has the challenge's signature."),
    (re.compile(r"parameter \d+ of solve|solve takes \d+ arg|solve cannot be called"), _signature),
    (
        re.compile(r"uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)"),
        _too_much_shared,
    ),
    (
        re.compile(r"^\[the compiler (?:used more memory|took longer|crashed)", re.MULTILINE),
        "Unroll fewer loops, instantiate fewer templates, and fill large tables at run time.",
    ),
)


def _hint(log: str, outline: Outline) -> str:
    for pattern, hint in _HINTS:
        if found := pattern.search(log):
            return hint if isinstance(hint, str) else hint(found, outline)
    return ""


# nvcc's intermediate files: tmpxft_00000007_00000000-6_solution.ptx.
_STEP = re.compile(r"tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")
_FOLDER = re.compile(r"/tmp/(?:[\w.+-]+/)*")  # noqa: S108 - the box's
# Hides folders of our headers and programs. Indented lines repeat the source and stay.
_ABSOLUTE = re.compile(r"(?<![^\s\"'(`])/(?:[\w.+-]+/)+(?=[\w.+-])")
_NAMES_A_FILE = re.compile(r"^\S|\b(?:of|from) \"?/")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean_log(text: str) -> str:
    """Printable UTF-8, at most ``limits.COMPILE_LOG_BYTES`` bytes."""
    for pattern in (_ESCAPE, _FOLDER, _STEP, _CONTROL):
        text = pattern.sub("", text)
    text = "\n".join(
        _ABSOLUTE.sub("", line) if _NAMES_A_FILE.search(line) else line for line in text.split("\n")
    )
    encoded = text.strip().encode("utf-8", "replace")
    return encoded[: limits.COMPILE_LOG_BYTES].decode("utf-8", "ignore")
