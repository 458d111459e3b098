"""Wrong kernels by mutation: each has one mistake that students make, at one place of the source.

Python is changed by its syntax tree, C++ by its text without comments and strings. Nothing here runs.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.authoring.candidates import MISTAKE
from grader.challenge.model import Manifest
from grader.languages import Language

_WORDS_CHARS = 60
_MADE = re.compile(r"Made from solution\S* \(([0-9a-f]{8})\)")


@dataclass(frozen=True)
class Mutation:
    """``mistake``: a sentence. ``source`` has it in its first line."""

    name: str
    mistake: str
    source: str


@dataclass(frozen=True)
class _Change:
    """``kind``: a key of ``_MISTAKES``."""

    kind: str
    start: int
    end: int
    text: str
    needs: str = ""


# In order of preference; ``{old}`` and ``{new}`` are source texts.
_MISTAKES = {
    "bound_off_by_one": "the bound is off by one: '{new}', not '{old}'",
    "no_mask": "'{old}' is missing, so what is beyond the end is accessed",
    "no_bound": "'{old}' is missing, so spare threads go on",
    "blocks_rounded_down": "the number of blocks is rounded down: '{new}', not '{old}'",
    "wrong_stride": "steps by another size: '{new}', not '{old}'",
    "no_barrier": "a barrier is missing: '{old}'",
    "nan_rule_dropped": "does not look for NaN: '{new}', not '{old}'",
    "half_sum": "adds up in half precision: '{old}'",
    "wrong_start": "begins with a wrong value: '{new}', not '{old}'",
    "wrong_filler": "takes '{new}', not '{old}', for what is beyond the end",
    "not_added": "keeps the last part alone: '{new}', not '{old}'",
    "lost_updates": "adds without an atomic operation: '{new}', not '{old}'",
    "swapped_operands": "operands are swapped: '{new}', not '{old}'",
    "wrong_axis": "takes another dimension: '{new}', not '{old}'",
    "wrong_function": "calls another function: '{new}', not '{old}'",
    "tie": "treats equal values otherwise: '{new}', not '{old}'",
    "no_guard": "does not ask whether there is anything to do: '{old}' is missing",
    "swapped_branches": "the two branches are swapped: '{new}', not '{old}'",
    "half_a_warp": "leaves out half of a warp: '{new}', not '{old}'",
    "term_dropped": "leaves out a term: '{new}', not '{old}'",
    "wrong_constant": "a constant is wrong: '{new}', not '{old}'",
    "neighbour": "an index is off by one: '{new}', not '{old}'",
}


def mutations(source: str, language: Language, manifest: Manifest) -> list[Mutation]:
    """Different kinds first. Empty if the source cannot be parsed."""
    changes = _of_python(source, manifest) if language.python else _of_c(source, manifest)
    by_kind: dict[str, list[_Change]] = {kind: [] for kind in _MISTAKES}
    for change in changes:
        by_kind[change.kind].append(change)
    found: dict[str, Mutation] = {}
    for turn in range(max(map(len, by_kind.values()), default=0)):
        for changes_of_kind in by_kind.values():
            if turn < len(changes_of_kind):
                made = _made(source, language, changes_of_kind[turn], turn)
                found.setdefault(made.source.partition("\n")[2], made)
    return list(found.values())


def _made(source: str, language: Language, change: _Change, turn: int) -> Mutation:
    name = f"{change.kind}_{turn + 1}" if turn else change.kind
    old, new = (_short(text) for text in (source[change.start : change.end], change.text))
    line = source.count("\n", 0, change.start) + 1
    mistake = _MISTAKES[change.kind].format(old=old, new=new) + f" (line {line} of the solution)."
    spoilt = source[: change.start] + change.text + source[change.end :]
    if change.needs and change.needs not in spoilt:
        spoilt = f"{change.needs}\n{spoilt}"
    return Mutation(name, mistake, with_mistake(spoilt, language, mistake))


def with_mistake(source: str, language: Language, mistake: str) -> str:
    if not language.python:
        return f"{language.comment} {MISTAKE}{mistake}\n{source}"
    body = ast.parse(source).body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        lines = source.splitlines(keepends=True)
        source = "".join(lines[body[0].end_lineno or 0 :]).lstrip("\n")
    words = mistake.replace("\\", "/").replace('"', "'")
    return f'"""{MISTAKE}{words}"""\n\n{source}'


def marked(source: str, language: Language, solution: str) -> str:
    """The second line names the solution."""
    first, _, rest = source.partition("\n")
    origin = f"{language.comment} Made from solution{language.suffix} ({digest(solution)}). Yours to edit."
    return f"{first}\n{origin}\n{rest}"


def made_from(source: str) -> str:
    match = _MADE.search("\n".join(source.splitlines()[:2]))
    return match[1] if match else ""


def digest(solution: str) -> str:
    return hashlib.sha256(solution.encode()).hexdigest()[:8]


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(";")
    return text if len(text) <= _WORDS_CHARS else text[: _WORDS_CHARS - 3] + "..."


# ---------------------------------------------------------------------------------------------------------- Python

_OTHERS = {
    "max": "min",
    "min": "max",
    "amax": "amin",
    "amin": "amax",
    "maximum": "minimum",
    "minimum": "maximum",
    "argmax": "argmin",
    "argmin": "argmax",
    "mean": "sum",
    "sin": "cos",
    "cos": "sin",
    "tanh": "sigmoid",
    "sigmoid": "tanh",
    "relu": "abs",
    "exp": "exp2",
    "log": "log2",
    "ceil": "floor",
    "floor": "ceil",
    "any": "all",
    "all": "any",
    "cumsum": "cumprod",
    "log_softmax": "softmax",
    "tril": "triu",
    "triu": "tril",
}
_SWITCHES = ("largest", "descending", "unbiased", "right", "is_causal")
_TIES = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


class _Python:
    def __init__(self, source: str, manifest: Manifest) -> None:
        self.source = source
        self.sizes = manifest.sizes
        self.tree = ast.parse(source)
        # Bytes, because the syntax tree counts them.
        self._lines = [line.encode() for line in source.splitlines(keepends=True)]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line.decode()))
        self.kernels = [node for node in self.tree.body if _is_kernel(node)]
        self.inside = {child for kernel in self.kernels for child in ast.walk(kernel)}

    def place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.place(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.place(node.end_lineno or 0, node.end_col_offset or 0)

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.source[self.start(node) : self.end(node)]

    def change(self, kind: str, node: ast.expr | ast.stmt, text: str) -> _Change:
        return _Change(kind, self.start(node), self.end(node), text)


def _is_kernel(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        "jit" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def _of_python(source: str, manifest: Manifest) -> Iterator[_Change]:
    try:
        read = _Python(source, manifest)
    except SyntaxError:
        return
    for node in ast.walk(read.tree):
        for rule in _PYTHON:
            yield from rule(read, node)


def _comparisons(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    left, right, op = read.text(node.left), read.text(node.comparators[0]), type(node.ops[0])
    if op is ast.NotEq and left == right:
        yield read.change("nan_rule_dropped", node, f"({left} < {right})")
        return
    ordered = {ast.Lt: "<", ast.GtE: ">="}
    if op in ordered and _names_alone(node.comparators[0]):
        yield read.change("bound_off_by_one", node, f"{left} {ordered[op]} {right} - 1")
    elif op in _TIES:
        yield read.change("tie", node, f"{left} {_TIES[op]} {right}")


def _names_alone(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.BinOp) and all(
        isinstance(child, ast.Name | ast.BinOp | ast.operator | ast.expr_context | ast.Constant)
        for child in ast.walk(node)
    )


def _keywords(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if not isinstance(node, ast.Call):
        return
    for word in node.keywords:
        text = read.source[read.start(word) : read.end(word)]
        if word.arg == "mask":
            before = read.source.rfind(",", 0, read.start(word))
            others = [other for other in node.keywords if other.arg == "other"]
            end = read.end(others[0]) if others and read.start(others[0]) > before else read.end(word)
            if before > read.start(node):
                yield _Change("no_mask", before, end, "")
        elif word.arg == "other":
            wrong = "0.0" if "inf" in text else "1"
            yield _Change("wrong_filler", read.start(word), read.end(word), f"other={wrong}")
        elif word.arg in ("dim", "axis") and isinstance(word.value, ast.Constant | ast.UnaryOp):
            other = "-1" if text.endswith("=0") else "0"
            yield _Change("wrong_axis", read.start(word), read.end(word), f"{word.arg}={other}")
        elif word.arg in _SWITCHES and isinstance(word.value, ast.Constant):
            new = f"{word.arg}={not word.value.value}"
            yield _Change("wrong_constant", read.start(word), read.end(word), new)


def _calls(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = [read.text(arg) for arg in node.args]
    if name == "debug_barrier":
        yield read.change("no_barrier", node, "None")
    elif name == "cdiv" and len(given) == 2:
        yield read.change("blocks_rounded_down", node, f"({given[0]}) // ({given[1]})")
    elif name == "isnan" and len(given) == 1:
        yield read.change("nan_rule_dropped", node, f"({given[0]} < {given[0]})")
    elif name == "zeros" and node in read.inside and given:
        yield read.change("wrong_start", node, f"({read.text(node)} + 1)")
    elif name == "where" and len(given) == 3:
        text = f"{read.text(node.func)}({given[0]}, {given[2]}, {given[1]})"
        yield read.change("swapped_branches", node, text)
    elif name in ("dot", "matmul", "mm", "bmm") and len(given) >= 2 and node not in read.inside:
        rest = ", ".join([given[1], given[0], *given[2:]])
        yield read.change("swapped_operands", node, f"{read.text(node.func)}({rest})")
    elif name == "atomic_add":
        text = read.text(node).replace("atomic_add", "store", 1)
        yield read.change("lost_updates", node, text)
    if name in _OTHERS and (len(given) or isinstance(node.func, ast.Attribute)):
        end = read.end(node.func)
        yield _Change("wrong_function", end - len(name), end, _OTHERS[name])
    if name == "float" and given and "-inf" in given[0]:
        yield read.change("wrong_start", node, "0.0")
    if name == "program_id" and given == ["1"]:
        yield read.change("wrong_axis", node, read.text(node).replace("1", "0"))
    if (
        name in ("sum", "mean", "max", "amax", "softmax", "argmax", "cumsum", "sort")
        and node not in read.inside
    ):
        for arg in node.args:
            if isinstance(arg, ast.Constant | ast.UnaryOp) and re.fullmatch(r"-?\d", read.text(arg)):
                yield read.change("wrong_axis", arg, "-1" if read.text(arg) == "0" else "0")


def _sums(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
        return
    name, value = read.text(node.target), read.text(node.value)
    yield read.change("not_added", node, f"{name} = {value}")
    if node in read.inside:
        half = f"{name} = ({name} + ({value})).to(tl.float16).to({name}.dtype)"
        yield read.change("half_sum", node, half)


def _products(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if not isinstance(node, ast.BinOp):
        return
    left, right = read.text(node.left), read.text(node.right)
    if isinstance(node.op, ast.Mult) and right in read.sizes and len(read.sizes) > 1:
        other = next(size for size in read.sizes if size != right)
        if node not in read.inside or other in _parameters(read, node):
            yield read.change("wrong_stride", node, f"{left} * {other}")
    elif isinstance(node.op, ast.Sub | ast.Div | ast.MatMult) and not right.isdigit():
        sign = {ast.Sub: "-", ast.Div: "/", ast.MatMult: "@"}[type(node.op)]
        yield read.change("swapped_operands", node, f"({right}) {sign} ({left})")
    elif isinstance(node.op, ast.FloorDiv) and isinstance(node.left, ast.BinOp):
        match = re.fullmatch(r"(\w+) \+ (\w+) - 1", left)
        if match and match[2] == right:
            yield read.change("blocks_rounded_down", node, f"{match[1]} // {right}")
    elif isinstance(node.op, ast.Add) and node in read.inside:
        if left in _parameters(read, node):
            yield read.change("neighbour", node, f"{left} + {right} + 1")
    elif isinstance(node.op, ast.Add):
        yield read.change("term_dropped", node, left)


def _parameters(read: _Python, node: ast.AST) -> list[str]:
    for kernel in read.kernels:
        if isinstance(kernel, ast.FunctionDef) and node in set(ast.walk(kernel)):
            return [argument.arg for argument in kernel.args.args]
    return []


def _guards(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if not isinstance(node, ast.If) or node in read.inside:
        return
    body = node.body
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is None and not node.orelse:
        yield _Change("no_guard", read.start(node), read.end(node), "pass")


def _constants(read: _Python, node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.Constant) and type(node.value) is float and node not in read.inside:
        yield read.change("wrong_constant", node, repr(node.value * 2 if node.value else 1.0))


_PYTHON: Sequence[Callable[[_Python, ast.AST], Iterator[_Change]]] = (
    _comparisons,
    _keywords,
    _calls,
    _sums,
    _products,
    _guards,
    _constants,
)

# --------------------------------------------------------------------------------------------------------------- C

_UNSEEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_HALF = "#include <cuda_fp16.h>"
# A variable, or its element or member; and one that is no number and no constant.
_VALUE = r"\w+(?:\[[^\]\n]*\])?(?:\.\w+)?"
_VARIED = rf"(?!\d|k[A-Z]){_VALUE}"


def _blanked(source: str) -> str:
    return _UNSEEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def _of_c(source: str, manifest: Manifest) -> Iterator[_Change]:
    text = _blanked(source)
    floats = set(re.findall(r"\bfloat\s+(\w+)\s*(?:=|\{|,)", text))
    for kind, pattern, replaced in _C:
        for match in re.finditer(pattern, text):
            if (new := replaced(match)) is not None and new != match[0]:
                yield _Change(kind, match.start(), match.end(), new)
    for match in re.finditer(r"\b(\w+)\s*\+=\s*([^;]+);", text):
        if match[1] in floats:
            half = f"{match[1]} = __half2float(__float2half({match[1]} + ({match[2]})));"
            yield _Change("half_sum", match.start(), match.end(), half, _HALF)
    for size in manifest.sizes:
        other = next((name for name in manifest.sizes if name != size), None)
        for match in re.finditer(rf"\*\s*{size}\b", text) if other else ():
            begin = text.rfind("\n__global__", 0, match.start())
            head = text[begin : text.find("{", begin)]
            if begin < 0 or re.search(rf"\b{other}\b", head):
                yield _Change("wrong_stride", match.start(), match.end(), f"* {other}")


def _always(text: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match.expand(text)


def _renamed(others: Iterable[tuple[str, str]]) -> Callable[[re.Match[str]], str | None]:
    known = dict(others)
    return lambda match: known.get(match[0])


_C_NAMES = [("fmaxf", "fminf"), ("fminf", "fmaxf"), ("fmax", "fmin"), ("expf", "exp2f"), ("logf", "log2f")]
_C: Sequence[tuple[str, str, Callable[[re.Match[str]], str | None]]] = (
    ("bound_off_by_one", r"\b(\w+)\s*(<|>=)\s*(\w*[A-Za-z]\w*)\s*(?=[;)&|])", _always(r"\1 \2 \3 - 1")),
    ("no_bound", r"\bif \([^(){};]*>=[^(){};]*\) return;", _always("")),
    ("no_mask", r"\bif \([^(){};]*<[^(){};]*\)(?= ?\w)", _always("")),
    ("blocks_rounded_down", r"\(\s*(\w+)\s*\+\s*(\w+)\s*-\s*1\s*\)\s*/\s*\2\b", _always(r"\1 / \2")),
    ("no_barrier", r"__sync(?:threads|warp)\(\);", _always("")),
    ("nan_rule_dropped", r"\b(?:std::)?isnan\([^()]*\)", _always("false")),
    ("nan_rule_dropped", r"\b(\w+) != \1\b", _always("false")),
    ("wrong_start", r"-(?:INFINITY|FLT_MAX)\b(?!\s*\?)", _always("0.0f")),
    ("wrong_start", r"\bfloat (\w+)\s*=\s*0(?:\.0*)?f?(?=[;,])", _always(r"float \1 = 1.0f")),
    ("wrong_start", r"\bint (?!\w*(?:idx|index)\b)(\w+)\s*=\s*0(?=;)", _always(r"int \1 = 1")),
    ("not_added", rf"({_VALUE})\s*\+=\s*(?=[^;]*;)", _always(r"\1 = ")),
    ("lost_updates", r"\batomicAdd\(([^(),]+(?:\[[^\]]*\])?), ([^(),]+)\)(?=;)", _always(r"*(\1) += \2")),
    (
        "swapped_operands",
        rf"(?<![\w.)\]] )\b(?!\d|k[A-Z])({_VALUE}) (-|/) (?!\d|k[A-Z])({_VALUE})(?=[);,])",
        _always(r"\3 \2 \1"),
    ),
    ("swapped_branches", r"\? ([\w.\[\]]+) : ([\w.\[\]]+)(?=[;,)])", _always(r"? \2 : \1")),
    ("wrong_function", r"\b(?:fmaxf|fminf|fmax|expf|logf)\b", _renamed(_C_NAMES)),
    ("tie", rf"\b({_VALUE}) > ({_VALUE})(?=\s*(?:[)?;&|]))", _always(r"\1 >= \2")),
    ("half_a_warp", r"= 16(?=; \w+ > 0)", _always("= 8")),
    ("no_guard", r"\bif \([^(){};]*(?:== 0|<= 0)[^(){};]*\) return;", _always("")),
    ("wrong_axis", r"\b(blockIdx|threadIdx)\.y\b", _always(r"\1.x")),
    ("neighbour", r"\[(?!k[A-Z])([a-z]\w*)\](?= ?[;*+)-])", _always(r"[\1 + 1]")),
    ("wrong_constant", r"(?<![\w.])(\d+\.\d+)f\b", lambda match: f"{float(match[1]) * 2 or 1.0}f"),
)
