from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.device_kinds import resolution_of
from grader.languages import Language
from grader.records.grades import Judgement
from grader.records.models import AssignmentRow, OverrideRow
from grader.schemas.gradebook import GradeLine
from grader.schemas.report import CaseGroup
from grader.service.courses import points as pointing
from grader.service.courses.grading import ACCEPTED, Assignment, Grade, Part, Scores

# Submissions that do not count: named up to this number, then counted.
_LISTED = 3


def lines_of(
    assignment: Assignment,
    part: Part,
    grade: Grade,
    given: OverrideRow | None,
    most_by_staff: float | None,
    scores: Scores,
    voids: Mapping[str, str],
    groups: Sequence[CaseGroup] = (),
) -> list[GradeLine]:
    """One line per sum. ``groups``: of the counted judgement, for partial credit."""
    choice = grade.choice
    if part.broken:
        lines = [
            pointing.Line(
                "The challenge's folder is broken: points appear once staff have fixed it", 0.0, 0.0
            )
        ]
    elif choice is None:
        text = (
            "No submission counts" if grade.outside else "Nothing was submitted while the assignment was open"
        )
        lines = [pointing.Line(text, 0.0, part.computed)]
    else:
        counted = choice.counted
        resolution = resolution_of(counted.device)
        accepted = counted.verdict == ACCEPTED
        lines = pointing.explain(part.scheme, accepted, counted.speedup, resolution, groups)
        if part.questions:
            lines.append(pointing.questions(part.questions, accepted, choice.asked))
        late = pointing.lateness(choice.raw, choice.late_days, grade.grace, assignment.row.late_percent)
        lines += [late] if late is not None else []
    lines += [
        pointing.Line(f"Submission {voided} was voided by staff: {voids.get(voided, '')}", 0.0)
        for voided in grade.voided
    ]
    lines += _of_other_languages(assignment.row, grade.outside)
    lines += pointing.by_rubric(
        [
            pointing.Criterion(criterion.title, criterion.points, *scores.get(criterion.id, (None, "")))
            for criterion in part.rubric
        ]
    )
    if given is not None:
        computed = sum(line.points for line in lines)
        points = limited(given.points, most_by_staff)
        cut = f" ({given.points:g}, more than the course allows)" if points < given.points else ""
        lines.append(pointing.Line(f"Set by staff{cut}: {given.reason}", points - computed))
    return [GradeLine(text=line.text, points=line.points, most=line.most) for line in lines]


def limited(points: float, most: float | None) -> float:
    return points if most is None else min(points, most)


def _of_other_languages(assignment: AssignmentRow, rows: Sequence[Judgement]) -> Iterator[pointing.Line]:
    taken = ", ".join(Language.named(language).display_name for language in assignment.languages)
    by_language: dict[str, list[str]] = {}
    for row in rows:
        by_language.setdefault(row.language, []).append(row.public_id)
    for language, ids in by_language.items():
        newest = ", ".join(ids[: -_LISTED - 1 : -1])
        more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
        name = Language.named(language).display_name
        yield pointing.Line(f"Does not count: {newest}{more}, in {name}; the assignment takes {taken}", 0.0)
