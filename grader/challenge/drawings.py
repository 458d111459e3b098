"""Drawings of chapters and specs: SVG whose groups with ``data-frame`` are shown one after the other. A line
``{drawing: NAME}`` of a text puts one there.

Each frame becomes a picture of its own, so that a page without scripts shows all. The style sheet gives colours by
class, so a drawing has neither styles nor ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree as Xml

from grader.errors import ChallengeInvalid

_SVG = "http://www.w3.org/2000/svg"
_SHAPES = {"circle", "ellipse", "g", "line", "path", "polygon", "polyline", "rect", "svg", "text", "tspan"}
_ATTRIBUTES = {
    *("class", "cx", "cy", "d", "dx", "dy", "height", "points", "r", "rx", "ry", "text-anchor"),
    *("transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2", "data-frame", "data-caption"),
}
_HINT = "See docs/chapters.md."
PLACED = re.compile(r"^\{drawing: ([a-z0-9_]+)\}$", re.MULTILINE)

Xml.register_namespace("", _SVG)


@dataclass(frozen=True)
class Frame:
    """``picture``: SVG of plain shapes, safe in a page."""

    picture: str
    caption: str


@dataclass(frozen=True)
class Drawing:
    title: str
    frames: tuple[Frame, ...]


@lru_cache(maxsize=128)
def read(text: str) -> Drawing:
    """Raises ChallengeInvalid for anything but plain shapes: a drawing becomes part of a page."""
    root = _parse(text)
    title = next((child.text or "" for child in root if child.tag == f"{{{_SVG}}}title"), "")
    groups = [child for child in root if "data-frame" in child.attrib]
    if not title or not groups:
        raise ChallengeInvalid("a drawing needs a <title> and groups with data-frame", _HINT)
    numbers = [int(group.attrib["data-frame"]) for group in groups]
    captions = {
        number: group.attrib.get("data-caption", "") for number, group in zip(numbers, groups, strict=True)
    }
    return Drawing(
        title, tuple(Frame(_picture(root, number), captions[number]) for number in sorted(captions))
    )


def placed_in(text: str, folder: Path) -> dict[str, str]:
    """The SVG of the drawings that ``text`` places, by name. Raises ChallengeInvalid."""
    return {name: _checked(folder / f"{name}.svg") for name in PLACED.findall(text)}


def _checked(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ChallengeInvalid(f"{path}: the file is missing", _HINT) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ChallengeInvalid(f"{path}: it cannot be read: {error}", _HINT) from error
    try:
        read(text)
    except ChallengeInvalid as error:
        raise ChallengeInvalid(f"{path}: {error.message}", error.hint) from error
    return text


def in_words(text: str, drawings: Mapping[str, str]) -> str:
    """``text`` with titles and captions in place of its drawings, SVG by name."""

    def words(place: re.Match[str]) -> str:
        if place[1] not in drawings:
            return ""
        drawing = read(drawings[place[1]])
        captions = "\n".join(f"{n}. {frame.caption}" for n, frame in enumerate(drawing.frames, 1))
        return f"**{drawing.title}**\n\n{captions}"

    return PLACED.sub(words, text)


def _parse(text: str) -> Xml.Element:
    if "<!" in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL):
        raise ChallengeInvalid("a drawing has no DOCTYPE, entities or CDATA", _HINT)
    try:
        root = Xml.fromstring(text)  # noqa: S314 - without a DOCTYPE there are no entities
    except Xml.ParseError as error:
        raise ChallengeInvalid(f"a drawing is not XML: {error}", _HINT) from error
    for element in root.iter():
        name = element.tag.removeprefix(f"{{{_SVG}}}")
        if name not in _SHAPES | {"title"}:
            raise ChallengeInvalid(f"a drawing has no <{name}>", f"Use {', '.join(sorted(_SHAPES))}. {_HINT}")
        if strange := sorted(set(element.attrib) - _ATTRIBUTES):
            raise ChallengeInvalid(f"<{name}> has no attributes {strange} in a drawing", _HINT)
    return root


def _picture(root: Xml.Element, number: int) -> str:
    svg = Xml.Element(root.tag, {"viewBox": root.attrib.get("viewBox", ""), "aria-hidden": "true"})
    for child in root:
        shown = child.attrib.get("data-frame", str(number)) == str(number)
        if shown and child.tag != f"{{{_SVG}}}title":
            svg.append(child)
    return Xml.tostring(svg, encoding="unicode")
