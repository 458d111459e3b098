"""The map of the course: each track a lane, its challenges in columns by what they build on, joined by lines. All
places are computed here, since pages carry no inline style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.schemas.challenge import ChallengeSummary
from grader.schemas.progress import Best, ChallengeProgress, Mark, TrackProgress

# Pixels at the usual size of type, where 16 are a rem: the same as in home.css.
_WIDE, _HIGH, _GAP_X, _GAP_Y = 176, 80, 36, 12
# The classes for columns and rows that home.css has; what needs more is shown without lines.
COLUMNS, ROWS = 8, 16


@dataclass(frozen=True)
class Node:
    """One challenge. ``state``: solved, attempted, next, open; empty for who is not signed in. ``after`` are titles of
    other tracks' challenges that it builds on and that are not solved. ``column`` and ``row`` count from 1.
    """

    challenge: ChallengeSummary
    state: str
    best: Best | None
    after: list[str]
    column: int
    row: int


@dataclass(frozen=True)
class Lane:
    """``edges`` are paths of SVG in a picture of ``width`` by ``height`` pixels; ``joined`` is false where the nodes
    simply follow one another.
    """

    title: str
    description: str
    progress: TrackProgress | None
    nodes: list[Node]
    edges: list[str]
    joined: bool

    @property
    def width(self) -> int:
        return max(node.column for node in self.nodes) * (_WIDE + _GAP_X) - _GAP_X

    @property
    def height(self) -> int:
        return max(node.row for node in self.nodes) * (_HIGH + _GAP_Y) - _GAP_Y


@dataclass(frozen=True)
class NodeStanding:
    """What is known of the viewer: lines by slug, and what to do next. Both empty for who is not signed in."""

    lines: Mapping[str, ChallengeProgress]
    following: str | None = None

    def state(self, slug: str) -> str:
        line = self.lines.get(slug)
        if line is None:
            return ""
        if line.mark is Mark.OPEN and slug == self.following:
            return "next"
        return line.mark.value


def lane(
    title: str,
    description: str,
    members: Sequence[ChallengeSummary],
    titles: Mapping[str, str],
    standing: NodeStanding,
    progress: TrackProgress | None = None,
) -> Lane:
    """``titles`` are those of the whole course."""
    places = _places(members)
    inside = {each.slug for each in members}
    joins = [(wanted, each.slug) for each in members for wanted in each.prerequisites if wanted in inside]
    columns, rows = (max(place[at] for place in places.values()) for at in (0, 1))
    joined = bool(joins) and columns <= COLUMNS and rows <= ROWS
    nodes = []
    for each in members:
        line = standing.lines.get(each.slug)
        left = line.missing if line else each.prerequisites
        after = [titles[slug] for slug in left if slug in titles and slug not in inside]
        best = line.best if line else None
        nodes.append(Node(each, standing.state(each.slug), best, after, *places[each.slug]))
    edges = [_edge(places[start], places[end]) for start, end in joins] if joined else []
    return Lane(title, description, progress, nodes, edges, joined)


def _places(members: Sequence[ChallengeSummary]) -> dict[str, tuple[int, int]]:
    """Slug -> column and row: right of all that it builds on, beside the first of these where that place is free."""
    wanted = {each.slug: [it for it in each.prerequisites if it != each.slug] for each in members}
    columns = {slug: _depth(slug, wanted, frozenset()) for slug in wanted}
    places: dict[str, tuple[int, int]] = {}
    taken: set[tuple[int, int]] = set()
    for slug in sorted(wanted, key=lambda it: columns[it]):
        row = next((places[it][1] for it in wanted[slug] if it in places), 1)
        while (columns[slug], row) in taken:
            row += 1
        places[slug] = (columns[slug], row)
        taken.add(places[slug])
    return places


def _depth(slug: str, wanted: Mapping[str, Sequence[str]], behind: frozenset[str]) -> int:
    """1 + the longest way back to a challenge that builds on nothing in the track; a circle ends it."""
    behind |= {slug}
    return 1 + max(
        (_depth(it, wanted, behind) for it in wanted[slug] if it in wanted and it not in behind), default=0
    )


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From the right side of one node to the left side of another."""
    x1 = (start[0] - 1) * (_WIDE + _GAP_X) + _WIDE
    x2 = (end[0] - 1) * (_WIDE + _GAP_X)
    y1, y2 = ((row - 1) * (_HIGH + _GAP_Y) + _HIGH // 2 for row in (start[1], end[1]))
    middle = x2 - _GAP_X // 2
    return f"M{x1} {y1}H{middle - 8}C{middle + 6} {y1} {middle - 6} {y2} {middle + 8} {y2}H{x2}"
