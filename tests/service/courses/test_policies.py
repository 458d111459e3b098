"""From points to grades: scales, what is dropped, categories, limits of overrides, curves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from grader.errors import BadRequest, NotAllowed, NotFound
from grader.schemas.assignment import PartBody
from grader.schemas.course import CourseChange, CourseView
from grader.schemas.gradebook import OverrideBody, StudentGrades
from grader.schemas.policy import Category, CurveBody, GradePolicy
from grader.service.accounts.accounts import User
from grader.service.courses import assignments, courses, curves, gradebook, overrides
from grader.service.platform import Platform
from tests.service.courses.scenes import assign, enrol, grading, judged

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def _scene(platform: Platform, course: CourseView, staff: User, student: User, other: User) -> None:
    """Three homeworks of 100, 100 and 50 points. Ada has 100, 60 and 25 points, Bob 60, nothing and 50."""
    enrol(platform, staff, student, other)
    grading(platform, "correctness_points = 60\ntiers = [{ speedup = 2.0, points = 40 }]")
    for number, weight, speeds in ((1, 1.0, (2.5, 1.0)), (2, 1.0, (1.0, None)), (3, 0.5, (None, 2.5))):
        opens, due = -(5 - number) * DAY, -(5 - number) * DAY + HOUR
        slug = f"hw{number}"
        assign(
            platform,
            staff,
            slug,
            title=f"Homework {number}",
            open_at=opens,
            due_at=due,
            parts=[PartBody(challenge="scale", weight=weight)],
        )
        for user, speedup in zip((student, other), speeds, strict=True):
            if speedup is not None:
                judged(platform, user, opens + HOUR / 2, speedup=speedup)
    give(platform, staff, "hw3", "ada", 25)


def give(platform: Platform, staff: User, slug: str, name: str, points: float, **more: Any) -> None:
    body = OverrideBody(student=name, challenge="scale", points=points, reason="seen", **more)
    overrides.override(platform, staff, "gpu", slug, body)


def policy(platform: Platform, staff: User, **values: Any) -> None:
    courses.change_course(platform, staff, "gpu", CourseChange(policy=GradePolicy(**values)))


def put(platform: Platform, staff: User, slug: str, **values: Any) -> None:
    view = assignments.get_assignment(platform, staff, "gpu", slug)
    parts = [PartBody(challenge=part.challenge, weight=part.weight) for part in view.parts]
    times = {"open_at": view.open_at.isoformat(), "due_at": view.due_at.isoformat()}
    assign(platform, staff, slug, title=view.title, parts=parts, **{**times, **values})


def of(platform: Platform, staff: User, name: str) -> StudentGrades:
    """The same in the gradebook, which caches grades, and on the student's page."""
    book = {each.name: each for each in gradebook.get_gradebook(platform, staff, "gpu").students}
    own = gradebook.get_grades(platform, staff, "gpu", name)
    assert (own.total, own.total_most, own.categories) == (
        book[name].total,
        book[name].total_most,
        book[name].categories,
    )
    assert [each.left_out for each in own.assignments] == [each.left_out for each in book[name].assignments]
    return own


def totals(platform: Platform, staff: User) -> list[tuple[float | None, float | None]]:
    return [
        (found.total, found.total_most) for found in (of(platform, staff, name) for name in ("ada", "bob"))
    ]


def test_without_a_policy_points_are_added_up(platform: Platform, staff: User) -> None:
    found = of(platform, staff, "ada")
    assert (found.total, found.total_most, found.points, found.most) == (185, 250, 185, 250)
    assert [each.counted for each in found.assignments] == [100, 60, 25]


def test_the_lowest_share_is_dropped_and_the_rest_scaled(platform: Platform, staff: User) -> None:
    policy(platform, staff, drop=1)
    assert totals(platform, staff) == [(160, 200), (110, 150)]
    assert [each.left_out for each in of(platform, staff, "ada").assignments] == [
        "",
        "",
        "dropped: the fewest points",
    ]
    policy(platform, staff, drop=1, scale=20)
    assert totals(platform, staff) == [(16, 20), (pytest.approx(44 / 3), 20)]
    policy(platform, staff, drop=9)
    assert totals(platform, staff) == [(100, 100), (50, 50)]


def test_categories_weigh_shares_and_drop_within_themselves(platform: Platform, staff: User) -> None:
    both = [Category(name="homework", weight=3, drop=1), Category(name="exam", weight=1)]
    policy(platform, staff, categories=both)
    put(platform, staff, "hw1", category="homework")
    put(platform, staff, "hw2", category="homework")
    found = of(platform, staff, "ada")
    # The exam has no assignment yet.
    assert (found.total, found.total_most) == (100, 100)
    assert [each.left_out for each in found.assignments] == [
        *("", "dropped: the fewest points of homework"),
        "in no category of the course",
    ]
    put(platform, staff, "hw3", category="exam", out_of=8)
    found = of(platform, staff, "ada")
    assert found.total == pytest.approx(100 * (3 * 1.0 + 0.5) / 4)
    assert [(each.name, each.points, each.most) for each in found.categories] == [
        ("homework", 100, 100),
        ("exam", 4, 8),
    ]
    hw3 = found.assignments[2]
    assert (hw3.points, hw3.most, hw3.counted, hw3.counted_most) == (25, 50, 4, 8)
    rows = [row for row in gradebook.export(platform, staff, "gpu") if row.student == "ada"]
    assert [(row.points, row.assignment_counted, row.left_out != "", row.total) for row in rows] == [
        *((100, 100, False, 87.5), (60, 60, True, 87.5)),
        (25, 4, False, 87.5),
    ]
    with pytest.raises(BadRequest, match="category exam appears twice"):
        policy(platform, staff, categories=[both[1], both[1]])


def test_overrides_reach_the_courses_limit_at_most(platform: Platform, staff: User) -> None:
    give(platform, staff, "hw1", "bob", 150, extra=True)
    policy(platform, staff, override_percent=110)
    found = of(platform, staff, "bob").assignments[0].parts[0]
    assert found.points == pytest.approx(110)
    assert found.lines[-1].text == "Set by staff (150, more than the course allows): seen"
    assert sum(line.points for line in found.lines) == pytest.approx(found.points)
    with pytest.raises(BadRequest, match="at most 110 points for 'scale', not 120"):
        give(platform, staff, "hw1", "ada", 120, extra=True)
    give(platform, staff, "hw1", "ada", 110, extra=True)


def test_a_curve_is_previewed_applied_noted_and_taken_back(
    platform: Platform, staff: User, student: User
) -> None:
    def curve(**values: Any) -> Any:
        return curves.curve(platform, staff, "gpu", CurveBody(**values))

    wanted: dict[str, Any] = {"assignment": "hw1", "formula": "min(most, p + (highest - mean))"}
    seen = curve(**wanted)
    assert (seen.mean, seen.highest, seen.applied) == (80, 100, False)
    assert [(each.name, each.before, each.after) for each in seen.students] == [
        ("bob", 60, 80),
        ("ada", 100, 100),
    ]
    assert totals(platform, staff) == [(185, 250), (110, 250)]
    assert curve(**wanted, apply=True).applied
    assert totals(platform, staff) == [(185, 250), (130, 250)]
    hw1 = of(platform, staff, "bob").assignments[0]
    assert (hw1.points, hw1.worth, hw1.counted, hw1.formula) == (60, 60, 80, wanted["formula"])
    # The class's values stay those of that time.
    give(platform, staff, "hw1", "ada", 0)
    assert of(platform, staff, "bob").assignments[0].counted == 80
    assert curve(assignment=None, formula="p / 2", apply=True).title == "GPU programming"
    bob = of(platform, staff, "bob")
    assert (bob.uncurved, bob.total, bob.formula) == (130, 65, "p / 2")
    shown = curve(assignment="hw1", formula=None)
    assert (shown.formula, shown.applied) == (wanted["formula"], True)
    curve(assignment="hw1", formula=None, apply=True)
    curve(assignment=None, formula=None, apply=True)
    assert of(platform, staff, "bob").total == 110
    with pytest.raises(NotFound, match="no curve"):
        curve(assignment=None, formula=None, apply=True)
    log = [
        each for each in courses.get_audit(platform, staff, "gpu").entries if each.action == "grades.curve"
    ]
    assert [each.subject for each in log[:2]] == ["/courses/gpu/curve", "/courses/gpu/assignments/hw1/curve"]
    assert (log[-1].before, log[-1].after) == ({}, {"formula": wanted["formula"], "mean": 80, "highest": 100})
    with pytest.raises(NotAllowed):
        curves.curve(platform, student, "gpu", CurveBody(**wanted))


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("p ** 2", "BinOp is not allowed"),
        ("__import__('os')", "Call is not allowed"),
        ("p + max", "names 'max'"),
        ("100 / (p - 60)", "has no value for 60 of 100 points"),
        ("p * 1e9", "at most 1,000,000"),
        ("", "cannot be read"),
    ],
)
def test_a_wrong_formula_is_refused(platform: Platform, staff: User, formula: str, words: str) -> None:
    with pytest.raises(BadRequest) as refused:
        curves.curve(platform, staff, "gpu", CurveBody(assignment="hw1", formula=formula, apply=True))
    assert words in f"{refused.value.message} {refused.value.hint}"


def test_an_unfair_curve_says_so(platform: Platform, staff: User) -> None:
    found = curves.curve(platform, staff, "gpu", CurveBody(assignment="hw1", formula="100 - p"))
    assert (found.lowered, found.swapped) == (2, 1)
