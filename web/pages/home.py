from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import render_template, request

from grader.schemas.challenge import ChallengeList, ChallengeSummary
from grader.schemas.progress import Best, ChallengeProgress, Mark, Progress, TrackProgress
from grader.service.challenges import catalogue, publication
from grader.service.operation import health
from grader.service.submissions.progress import progress
from grader.web.access import ANYONE, open_to
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform
from grader.web.pages.challenges import pages
from grader.web.pages.client import install_command

# A longer search finds nothing more.
_QUERY_CHARS = 100
STATES = ("open", "attempted", "solved")


@dataclass(frozen=True)
class ChallengeFilter:
    """An empty field filters nothing."""

    q: str = ""
    track: str = ""
    difficulty: str = ""
    language: str = ""
    state: str = ""

    def __bool__(self) -> bool:
        return any((self.q, self.track, self.difficulty, self.language, self.state))

    def takes(self, each: ChallengeSummary, state: str) -> bool:
        said = " ".join([each.title, each.slug, each.track, *each.tags]).replace("_", " ").lower()
        return (
            all(word in said for word in self.q.replace("_", " ").lower().split())
            and self.track in ("", each.track)
            and self.difficulty in ("", each.difficulty)
            and self.language in ("", *each.languages)
            and self.state in ("", state)
        )


@pages.get("/")
@open_to(ANYONE)
def index() -> str:
    """Every challenge by track, with marks on those that the viewer solved; ?q= and other filters narrow the list."""
    user = viewer()
    challenges = catalogue.seen_challenges(platform(), user)
    found = catalogue.list_challenges(platform(), user, challenges)
    mine = progress(platform(), user, challenges=challenges) if user is not None else None
    lines = {line.slug: line for track in mine.tracks for line in track.challenges} if mine else {}
    standing = NodeStanding(lines, mine.next if mine else None)
    narrowed = _asked()
    listed = [
        each
        for each in found.challenges
        if narrowed.takes(each, lines[each.slug].mark if each.slug in lines else "")
    ]
    return render_template(
        "challenges.html",
        tracks=[] if narrowed else _track_maps(found, standing, mine),
        listed=listed,
        total=len(found.challenges),
        lines=lines,
        standing=standing,
        progress=mine,
        filter=narrowed,
        choices=_choices(found.challenges),
        titles={each.slug: each.title for each in found.challenges},
        first=next((each for each in found.challenges if not each.prerequisites), None),
        unpublished=publication.unpublished(platform(), user) if user is not None else {},
        alerts=health.catalogue_alerts(platform()) if is_staff() else [],
        server=platform().settings.url or request.host_url.rstrip("/"),
        install=install_command(),
    )


def _asked() -> ChallengeFilter:
    given = {name: request.args.get(name, "")[:_QUERY_CHARS] for name in ChallengeFilter.__dataclass_fields__}
    if viewer() is None:
        given["state"] = ""
    return ChallengeFilter(**given)


def _track_maps(found: ChallengeList, standing: NodeStanding, mine: Progress | None) -> list[TrackMap]:
    about = {track.title: track.description for track in found.tracks}
    done = {track.title: track for track in mine.tracks} if mine else {}
    titles = {each.slug: each.title for each in found.challenges}
    return [
        track_map(title, about.get(title, ""), list(members), titles, standing, done.get(title))
        for title, members in groupby(found.challenges, key=lambda each: each.track)
    ]


def _choices(challenges: Sequence[ChallengeSummary]) -> dict[str, list[str]]:
    """Only values that occur."""
    levels = {each.difficulty for each in challenges}
    return {
        "track": list(dict.fromkeys(each.track for each in challenges)),
        "difficulty": [level for level in ("easy", "medium", "hard") if level in levels],
        "language": sorted({str(language) for each in challenges for language in each.languages}),
    }


# Pixels at 16 per rem, as in home.css.
_WIDE, _HIGH, _GAP_X, _GAP_Y = 176, 80, 36, 12
# home.css has as many classes.
COLUMNS, ROWS = 8, 16


@dataclass(frozen=True)
class Node:
    """``state``: solved, attempted, next, open, or "". ``after``: unsolved prerequisites in other tracks. ``column``
    and ``row`` from 1."""

    challenge: ChallengeSummary
    state: str
    best: Best | None
    after: list[str]
    column: int
    row: int


@dataclass(frozen=True)
class TrackMap:
    """``edges``: SVG paths in ``width`` by ``height`` pixels; ``joined``: whether the map has lines."""

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
    lines: Mapping[str, ChallengeProgress]
    following: str | None = None

    def state(self, slug: str) -> str:
        line = self.lines.get(slug)
        if line is None:
            return ""
        if line.mark is Mark.OPEN and slug == self.following:
            return "next"
        return line.mark.value


def track_map(
    title: str,
    description: str,
    members: Sequence[ChallengeSummary],
    titles: Mapping[str, str],
    standing: NodeStanding,
    progress: TrackProgress | None = None,
) -> TrackMap:
    """``titles``: of all challenges."""
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
    return TrackMap(title, description, progress, nodes, edges, joined)


def _places(members: Sequence[ChallengeSummary]) -> dict[str, tuple[int, int]]:
    """Right of its prerequisites, level with the first if possible."""
    wanted = {
        each.slug: [prerequisite for prerequisite in each.prerequisites if prerequisite != each.slug]
        for each in members
    }
    columns = {slug: _depth(slug, wanted, frozenset()) for slug in wanted}
    places: dict[str, tuple[int, int]] = {}
    taken: set[tuple[int, int]] = set()
    for slug in sorted(wanted, key=lambda slug: columns[slug]):
        row = next((places[before][1] for before in wanted[slug] if before in places), 1)
        while (columns[slug], row) in taken:
            row += 1
        places[slug] = (columns[slug], row)
        taken.add(places[slug])
    return places


def _depth(slug: str, wanted: Mapping[str, Sequence[str]], behind: frozenset[str]) -> int:
    """1 + the longest chain in the track; a circle ends it."""
    behind |= {slug}
    return 1 + max(
        (
            _depth(before, wanted, behind)
            for before in wanted[slug]
            if before in wanted and before not in behind
        ),
        default=0,
    )


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1 = (start[0] - 1) * (_WIDE + _GAP_X) + _WIDE
    x2 = (end[0] - 1) * (_WIDE + _GAP_X)
    y1, y2 = ((row - 1) * (_HIGH + _GAP_Y) + _HIGH // 2 for row in (start[1], end[1]))
    middle = x2 - _GAP_X // 2
    return f"M{x1} {y1}H{middle - 8}C{middle + 6} {y1} {middle - 6} {y2} {middle + 8} {y2}H{x2}"
