from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from grader.errors import NotFound
from grader.manual.sections import Section, plain, split

INDEX = "index"
_ENTRY = re.compile(r"- \[([^\]]+)\]\(([\w./-]+)\.md\): (.+)")
_ROOT = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Page:
    """``name``: such as ``reference/cli``."""

    name: str
    title: str
    about: str
    role: str
    text: str = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)


@dataclass(frozen=True)
class Audience:
    title: str
    pages: tuple[Page, ...]


class Manual:
    """In the order of ``index.md``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = self._read(INDEX, "", "")
        self.files = frozenset(path.name for path in folder.glob("*.yml"))
        self.roles = tuple(self._roles())
        self._pages = {page.name: page for role in self.roles for page in role.pages}

    @property
    def pages(self) -> list[Page]:
        return [self.index, *self._pages.values()]

    def page(self, name: str) -> Page:
        """Raises NotFound."""
        found = self.index if name == INDEX else self._pages.get(name)
        if found is None:
            raise NotFound(f"There is no page '{name[:80]}' in the docs.")
        return found

    def has(self, name: str) -> bool:
        return name == INDEX or name in self._pages

    def extended(self, name: str, text: str) -> Manual:
        """Raises NotFound."""
        page = self.page(name)
        whole = f"{page.text.rstrip()}\n\n{text}"
        longer = replace(page, text=whole, sections=tuple(split(whole)))
        made = copy(self)
        made.roles = tuple(
            replace(role, pages=tuple(longer if each is page else each for each in role.pages))
            for role in self.roles
        )
        made._pages = {**self._pages, name: longer}
        return made

    def beside(self, page: Page) -> tuple[Page | None, Page | None]:
        order = self.pages
        at = order.index(page)
        return (order[at - 1] if at else None, order[at + 1] if at + 1 < len(order) else None)

    def close_to(self, name: str) -> list[Page]:
        """Likeliest first."""
        asked = name.strip("/").removesuffix(".md").lower()[:80]
        known = {each.lower(): page for page in self._pages.values() for each in (page.name, page.title)}
        known |= {page.name.rpartition("/")[2]: page for page in self._pages.values()}
        found = [
            known[each]
            for word in (asked, asked.rpartition("/")[2])
            for each in get_close_matches(word, known, n=4, cutoff=0.5)
        ]
        return list({page.name: page for page in found}.values())

    def _roles(self) -> list[Audience]:
        roles = []
        for section in self.index.sections:
            named = _ENTRY.findall(section.text)
            pages = tuple(self._read(name, section.title, plain(about)) for _, name, about in named)
            if pages:
                roles.append(Audience(section.title, pages))
        return roles

    def _read(self, name: str, role: str, about: str) -> Page:
        text = (self.folder / f"{name}.md").read_text(encoding="utf-8")
        sections = tuple(split(text))
        return Page(name, sections[0].title, about, role, text, sections)


def find_docs() -> Path:
    """A checkout's, else the wheel's. Raises NotFound."""
    for folder in (_ROOT.parents[1] / "docs", _ROOT / "docs"):
        if (folder / f"{INDEX}.md").is_file():
            return folder
    raise NotFound("This installation has no docs.", "Install it again; a wheel carries them.")


@cache
def manual() -> Manual:
    return Manual(find_docs())
