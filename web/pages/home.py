"""The first page: the course as a map, and as a list that can be filtered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import render_template, request

from grader.schemas.challenge import ChallengeList, ChallengeSummary
from grader.schemas.progress import Progress
from grader.service import catalogue, health
from grader.service.progress import progress
from grader.web.auth.identity import is_staff, viewer
from grader.web.current import platform
from grader.web.pages.challenges import pages
from grader.web.pages.course_map import Lane, NodeStanding, lane

# What is typed into a search; more says nothing.
_QUERY_CHARS = 100
STATES = ("open", "attempted", "solved")


@dataclass(frozen=True)
class Filter:
    """What the list is narrowed to; empty fields narrow nothing."""

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
def index() -> str:
    """Every challenge by track, with marks on what the viewer has solved; ?q= and others narrow the list."""
    challenges = catalogue.valid_challenges(platform().course)
    found = catalogue.list_challenges(platform(), challenges)
    user = viewer()
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
        lanes=[] if narrowed else _lanes(found, standing, mine),
        listed=listed,
        total=len(found.challenges),
        lines=lines,
        standing=standing,
        progress=mine,
        filter=narrowed,
        choices=_choices(found.challenges),
        titles={each.slug: each.title for each in found.challenges},
        first=next((each for each in found.challenges if not each.prerequisites), None),
        alerts=health.course_alerts(platform()) if is_staff() else [],
        server=platform().settings.url or request.host_url.rstrip("/"),
        install=platform().settings.client_install,
    )


def _asked() -> Filter:
    given = {name: request.args.get(name, "")[:_QUERY_CHARS] for name in Filter.__dataclass_fields__}
    if viewer() is None:
        given["state"] = ""
    return Filter(**given)


def _lanes(found: ChallengeList, standing: NodeStanding, mine: Progress | None) -> list[Lane]:
    about = {track.title: track.description for track in found.tracks}
    done = {track.title: track for track in mine.tracks} if mine else {}
    titles = {each.slug: each.title for each in found.challenges}
    return [
        lane(title, about.get(title, ""), list(members), titles, standing, done.get(title))
        for title, members in groupby(found.challenges, key=lambda each: each.track)
    ]


def _choices(challenges: Sequence[ChallengeSummary]) -> dict[str, list[str]]:
    """What each menu of the filter offers: only what the course has."""
    levels = {each.difficulty for each in challenges}
    return {
        "track": list(dict.fromkeys(each.track for each in challenges)),
        "difficulty": [it for it in ("easy", "medium", "hard") if it in levels],
        "language": sorted({str(language) for each in challenges for language in each.languages}),
    }
