"""Links words to the glossary, each once per text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

from grader.errors import NotFound
from grader.manual.pages import Manual
from grader.web.pages import markdown
from grader.web.pages.api_reference import manual

_PAGE = "glossary"
# The level of a term's heading.
_TERM = 3
# Other forms, and explained words; lower case.
_FORMS = {
    "atomics": ("atomic", "atomically"),
    "bank conflict": ("bank conflicts",),
    "cache": ("l1", "l2"),
    "coalescing": ("coalesced", "uncoalesced", "sectors per request"),
    "deadlock": ("deadlocks",),
    "grid-stride loop": ("grid-stride loops",),
    "launch overhead": ("cost of launching kernels",),
    "misaligned access": ("misaligned",),
    "nan and infinity": ("nan", "infinity", "infinities"),
    "race": ("races", "data race", "race condition"),
    "rounding": ("rounding errors", "rounding error", "ulp", "ulps"),
    "spill": ("spills", "spilled"),
    "vectorised access": ("vectorised", "float4"),
    "warp": ("warps",),
    "warp divergence": ("divergence", "diverge", "diverges", "divergent"),
}


class Words:
    def __init__(self, known: Manual) -> None:
        self._addresses = dict(_addresses(known))
        longest_first = sorted(self._addresses, key=len, reverse=True)
        listed = "|".join(re.escape(word) for word in longest_first)
        # Not within names such as `warp_size`, nor paths.
        self._pattern = re.compile(rf"(?<![\w./-])(?:{listed})(?![\w/-])", re.IGNORECASE) if listed else None

    def split(self, text: str, seen: set[str]) -> Iterator[tuple[str, str]]:
        """Parts of ``text`` with their address or "". ``seen``: addresses already linked; it grows."""
        end = 0
        for found in self._pattern.finditer(text) if self._pattern else ():
            address = self._addresses[found[0].lower()]
            if address in seen:
                continue
            seen.add(address)
            yield text[end : found.start()], ""
            yield found[0], address
            end = found.end()
        yield text[end:], ""


def _addresses(known: Manual) -> Iterator[tuple[str, str]]:
    try:
        sections = known.page(_PAGE).sections
    except NotFound:  # an operator's docs may have no glossary
        return
    for section in sections:
        if section.level == _TERM:
            for word in (section.title.lower(), *_FORMS.get(section.title.lower(), ())):
                yield word, f"/docs/{_PAGE}#{section.anchor}"


@lru_cache(maxsize=4)
def _words(known: Manual) -> Words:
    return Words(known)


def explained(text: str) -> Markup:
    """``text``: escaped here, or safe HTML."""
    seen: set[str] = set()
    words = _words(manual())
    pieces = re.split(r"(<a .*?</a>|<[^>]*>)", str(escape(text)), flags=re.DOTALL)
    # Every second piece is a tag or a link.
    parts = [piece if number % 2 else _linked(words, piece, seen) for number, piece in enumerate(pieces)]
    return Markup("".join(parts))  # noqa: S704 - escaped above; the glossary's words need no escaping


def _linked(words: Words, text: str, seen: set[str]) -> str:
    parts = words.split(text, seen)
    return "".join(f'<a href="{address}">{part}</a>' if address else part for part, address in parts)


def spec(text: str) -> Markup:
    """Safe HTML."""
    return _spec(text, _words(manual()))


@lru_cache(maxsize=256)
def _spec(text: str, words: Words) -> Markup:
    parser = markdown.parser()
    parser.core.ruler.push("glossary", _rule(words))
    return markdown.clean(parser.render(text))


def _rule(words: Words) -> Callable[[StateCore], None]:
    def link(state: StateCore) -> None:
        seen: set[str] = set()
        before = ""
        for token in state.tokens:
            if token.type == "inline" and token.children and before != "heading_open":
                token.children = list(_with_links(words, token.children, seen))
            before = token.type

    return link


def _with_links(words: Words, tokens: list[Token], seen: set[str]) -> Iterator[Token]:
    within = 0
    for token in tokens:
        within += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        if token.type != "text" or within:
            yield token
            continue
        for part, address in words.split(token.content, seen):
            written = Token("text", "", 0, content=part)
            if not address:
                yield written
                continue
            yield Token("link_open", "a", 1, attrs={"href": address})
            yield written
            yield Token("link_close", "a", -1)
