from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, render_template, request

from grader import limits
from grader.schemas.submission import SubmissionView
from grader.service.submissions.difference import Block, Difference, difference, earlier
from grader.service.submissions.submissions import get_submission
from grader.web import assets
from grader.web.access import AUTHOR, open_to
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, titles

pages = Blueprint("differences", __name__)

# Unchanged lines next to a change.
_NEAR = 4


@dataclass(frozen=True)
class SourceSide:
    """``count`` lines from number ``first``; ``lines``: the shown ones."""

    first: int
    count: int
    lines: list[str]

    @property
    def more(self) -> int:
        return self.count - len(self.lines)


@dataclass(frozen=True)
class Hunk:
    """``folded``: far from every change."""

    same: bool
    folded: bool
    before: SourceSide
    after: SourceSide


@pages.get("/submissions/<submission>/diff")
@open_to(AUTHOR)
def show(submission: str) -> str:
    """What changed since an earlier submission: ?against= names it, else the previous one."""
    user = current_user()
    view = get_submission(platform(), user, submission)
    others = earlier(platform(), user, submission)
    against = request.args.get("against", "").strip() or _before(view, others)
    found = difference(platform(), user, submission, against) if against else None
    return render_template(
        "difference.html",
        title=titles.of(view.challenge),
        view=view,
        others=others,
        found=found,
        hunks=hunks(found) if found else [],
        highlighter=assets.built("listing.js"),
    )


def _before(view: SubmissionView, others: Sequence[SubmissionView]) -> str:
    """By the same person, else by anyone; "" if there is none."""
    own = [other for other in others if other.user == view.user]
    return next((each.id for each in [*own, *others]), "")


def hunks(found: Difference) -> list[Hunk]:
    before, after = (code.lines(side.source.source) for side in (found.before, found.after))
    split = [
        part for place, block in enumerate(found.blocks) for part in _split(block, place, len(found.blocks))
    ]
    return [
        Hunk(block.same, folded, _side(before, block.before), _side(after, block.after))
        for block, folded in split
    ]


def _side(lines: Sequence[str], bounds: tuple[int, int]) -> SourceSide:
    start, end = bounds
    return SourceSide(start + 1, end - start, list(lines[start : min(end, start + limits.DIFF_LINES)]))


def _split(block: Block, place: int, blocks: int) -> list[tuple[Block, bool]]:
    """After the last change, far from any, before the next."""
    length = block.before[1] - block.before[0]
    head = _NEAR if place else 0
    tail = _NEAR if place < blocks - 1 else 0
    if not block.same or blocks == 1 or length <= head + tail + 1:
        return [(block, False)]
    cuts = [(0, head, False), (head, length - tail, True), (length - tail, length, False)]
    return [(_part(block, start, end), folded) for start, end, folded in cuts if end > start]


def _part(block: Block, start: int, end: int) -> Block:
    (old, _), (new, _) = block.before, block.after
    return Block(True, (old + start, old + end), (new + start, new + end))
