"""Computed from records whenever a profile is shown."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import representative
from grader.languages import usual
from grader.records import activity
from grader.records.activity import BoardBest, SubmissionEvent
from grader.schemas.profile import Badge, BadgeKind, BestRank
from grader.schemas.progress import ChallengeProgress, Mark, Progress

_ROUND = (100, 50, 25, 10)


@dataclass(frozen=True)
class BadgeCase:
    """``firsts``: challenges that nobody solved before."""

    session: Session
    firsts: Collection[str]
    done: Progress
    events: Sequence[SubmissionEvent]
    entries: Sequence[BoardBest]
    ranks: Sequence[BestRank]

    @property
    def solved(self) -> list[ChallengeProgress]:
        lines = (line for track in self.done.tracks for line in track.challenges)
        return [line for line in lines if line.mark is Mark.SOLVED]


def award(case: BadgeCase) -> list[Badge]:
    """The rarest first."""
    return [*_first(case), *_lead(case), *_compile(case), *_tracks(case), *_both(case), *_count(case)]


def _first(case: BadgeCase) -> Iterator[Badge]:
    for line in case.solved:
        if line.slug in case.firsts:
            yield Badge(
                kind=BadgeKind.FIRST, title="First to solve it", about=line.title, challenge=line.slug
            )


def _lead(case: BadgeCase) -> Iterator[Badge]:
    """GPUs only."""
    led = [rank for rank in case.ranks if rank.rank == 1 and rank.representative]
    if led:
        about = led[0].title if len(led) == 1 else f"{len(led)} boards"
        yield Badge(kind=BadgeKind.LEAD, title="First rank", about=about, challenge=led[0].challenge)


def _compile(case: BadgeCase) -> Iterator[Badge]:
    titles = {line.slug: line.title for line in case.solved}
    candidates = [
        entry
        for entry in case.entries
        if representative(entry.device) and entry.speedup and entry.challenge in titles
    ]
    candidates.sort(key=lambda event: -(event.speedup or 0.0))
    for entry in candidates[: limits.PROFILE_REPORTS]:
        if beats_compile(activity.workloads(case.session, entry.id)):
            yield Badge(
                kind=BadgeKind.COMPILE,
                title="Faster than torch.compile",
                about=titles[entry.challenge],
                challenge=entry.challenge,
            )
            return


def beats_compile(workloads: Sequence[dict[str, Any]]) -> bool:
    """Geometric mean over ``workloads``."""
    ratios = [
        workload["baselines_us"]["compile"] / workload["time_us"]
        for workload in workloads
        if workload.get("ranked")
        and "compile" in workload.get("baselines_us", {})
        and (workload["time_us"] or 0) > 0
    ]
    return bool(ratios) and sum(math.log(ratio) for ratio in ratios) > 0


def _tracks(case: BadgeCase) -> Iterator[Badge]:
    for track in case.done.tracks:
        if track.total and track.solved == track.total:
            yield Badge(kind=BadgeKind.TRACK, title="All of a track", about=track.title)


def _both(case: BadgeCase) -> Iterator[Badge]:
    accepted = {(event.challenge, event.language) for event in case.events if event.accepted}
    for line in case.solved:
        if all((line.slug, language) in accepted for language in usual()):
            yield Badge(kind=BadgeKind.BOTH, title="In both languages", about=line.title, challenge=line.slug)
            return


def _count(case: BadgeCase) -> Iterator[Badge]:
    reached = next((number for number in _ROUND if case.done.solved >= number), None)
    if reached is not None:
        yield Badge(kind=BadgeKind.SOLVED, title=f"{reached} solved", about="challenges")
