"""Statements of a source, without names, numbers, layout, qualifiers, integer widths and operand order.

Dependences (which statement last set each name) survive moving lines, mixing, and extracting functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Token, _TokenType

from grader.languages import Language

# Adding one changes little.
_QUALIFIERS = frozenset(
    "const constexpr volatile static inline extern __restrict__ __restrict register __forceinline__ __noinline__ "
    "typename struct global nonlocal pass".split()
)
_INTEGERS = frozenset(
    "int unsigned signed long short char auto uint size_t ssize_t ptrdiff_t int32_t int64_t uint32_t uint64_t int16_t "
    "uint16_t".split()
)
_OPENING, _CLOSING = "([{", ")]}"
_HEADS = frozenset({"for", "if", "while", "switch"})


@dataclass(frozen=True)
class Statement:
    """``shape``: sorted tokens. ``sources``: shapes of statements that last set its names. Lines from 1."""

    line: int
    shape: tuple[str, ...]
    sources: frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class _Word:
    text: str
    kind: _TokenType
    line: int

    @property
    def is_name(self) -> bool:
        return self.kind in Name or (self.text.isidentifier() and self.kind not in Keyword)


def statements(source: str, language: Language) -> list[Statement]:
    """Skips a lone brace or ``return``."""
    words = list(_words(source, language))
    split = list(_split_c(words) if not language.python else _split_python(words))
    own = _own_names(split, language)
    found: list[Statement] = []
    setters: dict[str, tuple[str, ...]] = {}
    for part in split:
        shape = _shape(part, own)
        if len(shape) < 2:
            continue
        names = {word.text for word in part if word.text in own}
        sets = _sets(part, own, language)
        read = names - sets if not _updates(part) else names
        sources = frozenset(setters[name] for name in read if name in setters)
        found.append(Statement(part[0].line, shape, sources))
        setters.update(dict.fromkeys(sets, shape))
    return found


def own_names(source: str, language: Language) -> frozenset[str]:
    """As far as its text shows."""
    words = list(_words(source, language))
    return _own_names(list(_split_c(words) if not language.python else _split_python(words)), language)


@cache
def _lexer(language: Language) -> Lexer:
    return get_lexer_by_name(language.lexer, stripnl=False, ensurenl=True)


def _words(source: str, language: Language) -> Iterator[_Word]:
    """Without blanks, comments, qualifiers, preprocessor; in Python with new lines."""
    line = 1
    for kind, text in _lexer(language).get_tokens(source):
        lines = text.count("\n")
        if kind in Comment or kind in Literal.String.Doc:
            pass
        elif not text.strip():
            if lines and language.python:
                yield _Word("\n", Token.Text, line)
        elif text not in _QUALIFIERS:
            yield _Word(text.strip(), kind, line)
        line += lines


def _split_c(words: list[_Word]) -> Iterator[list[_Word]]:
    """At semicolons, braces, commas, and brackets of ``for``, ``if``, ``while``."""
    part: list[_Word] = []
    depth = 0
    for word in words:
        if depth == 0 and word.text in ("{", "}", ";"):
            if word.text == "{" and part:
                part.append(word)
            if part:
                yield part
            part = []
            continue
        if word.text in ("(", "["):
            depth += 1
        elif word.text in (")", "]"):
            depth = max(depth - 1, 0)
        part.append(word)
        if depth == 0 and word.text == ")" and part[0].text in _HEADS:
            yield part
            part = []
        elif depth == 0 and word.text == "," and any(each.text == "=" for each in part):
            yield part[:-1]
            part = []
    if part:
        yield part


def _split_python(words: list[_Word]) -> Iterator[list[_Word]]:
    part: list[_Word] = []
    depth = 0
    for word in words:
        if word.text == "\n":
            if depth == 0 and part:
                yield part
                part = []
            continue
        depth += (word.text in _OPENING) - (word.text in _CLOSING)
        if depth == 0 and word.text == ";":
            if part:
                yield part
            part = []
            continue
        part.append(word)
    if part:
        yield part


def _own_names(split: list[list[_Word]], language: Language) -> frozenset[str]:
    """Names of CUDA, Triton and libraries have meaning."""
    own: set[str] = set()
    for part in split:
        own |= _sets(part, None, language)
        texts = [word.text for word in part]
        if not language.python:
            # A declaration: a type or a name, then a name.
            for before, word in pairwise(part):
                typed = before.kind in Keyword.Type or before.is_name or before.text in ("*", "&", ">")
                if typed and word.is_name and word.kind not in Name.Builtin:
                    own.add(word.text)
        elif texts[0] == "def":
            own |= {word.text for word in part[1:] if word.kind not in Keyword and word.is_name}
        elif texts[0] in ("for", "with", "import", "from"):
            own |= {w.text for b, w in pairwise(part) if b.text in ("for", "as", ",") and w.is_name}
    return frozenset(own - {"tl", "triton", "torch"})


def _sets(part: list[_Word], own: frozenset[str] | None, language: Language) -> set[str]:
    """Assigned or updated."""
    found: set[str] = set()
    depth = 0
    for at, word in enumerate(part):
        depth += (word.text in _OPENING) - (word.text in _CLOSING)
        following = part[at + 1].text if at + 1 < len(part) else ""
        assigned = (
            word.text == "="
            and following != "="
            and (at == 0 or part[at - 1].text not in ("=", "!", "<", ">"))
        )
        in_call = depth > 0 and (language.python or part[0].text not in _HEADS)
        if not assigned or in_call:
            continue
        found |= _targets(part[:at], language)
    if part and part[0].text == "for":
        found |= {w.text for b, w in pairwise(part[:4]) if w.is_name and b.text in ("for", "int", "(")}
    return {name for name in found if own is None or name in own}


def _targets(left: list[_Word], language: Language) -> set[str]:
    """``y`` of ``float y``, ``a`` of ``a[i].x``, ``a`` and ``b`` of ``a, b``."""
    depth = 0
    names: list[str] = []
    for before, word in pairwise([_Word("", Token.Text, 0), *left]):
        if word.text in _OPENING:
            depth += 1
        elif word.text in _CLOSING:
            depth -= 1
        elif depth == 0 and word.is_name and before.text != ".":
            names.append(word.text)
    return set(names if language.python else names[-1:])


def _updates(part: list[_Word]) -> bool:
    texts = [word.text for word in part]
    pairs = set(pairwise(texts))
    return any((sign, "=") in pairs or (sign, sign) in pairs for sign in "+-*/|&^%") or any(
        len(text) > 1 and text[-1] == "=" and text[0] in "+-*/|&^%" for text in texts
    )


def _shape(part: list[_Word], own: frozenset[str]) -> tuple[str, ...]:
    words: list[str] = []
    for before, word in pairwise([_Word("", Token.Text, 0), *part]):
        if word.text in "(),;:{}[]":
            continue
        if word.text in own and before.text != ".":
            words.append("v")
        elif word.kind in Literal.Number:
            words.append("n")
        elif word.kind in Literal.String:
            words.append("s")
        elif word.text in _INTEGERS:
            # ``unsigned long long``.
            words += ["int"] if before.text not in _INTEGERS else []
        else:
            words.append(word.text)
    return tuple(sorted(words))
