"""`assignment` and `gradebook`: a course's assignments and their points."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from grader import formats, spreadsheet
from grader.cli import options
from grader.cli.client import Client, connect, segment, understood
from grader.cli.command import make_app
from grader.cli.terminal import moment, put_json, put_table, safe, say, table, tell, write
from grader.errors import BadRequest, NotFound
from grader.schemas.assignment import AssignmentList, AssignmentView, ExtensionList
from grader.schemas.gradebook import (
    POINT_COLUMNS,
    AssignmentGrade,
    ExportRow,
    Gradebook,
    GradebookExport,
    StudentGrades,
)
from grader.schemas.policy import CurvePreview
from grader.schemas.similarity import Decision, SimilarityReport, SimilarSide, SimilarSources

app = make_app(remote=True)
assignment = make_app(remote=True)
app.add_typer(assignment, name="assignment", help="Manage assignments.")
gradebook = make_app(remote=True)
app.add_typer(gradebook, name="gradebook", help="Show and export grades.")

Course = Annotated[
    str, typer.Argument(metavar="COURSE", help="The course, as `grader course list` names it.")
]
Slug = Annotated[
    str, typer.Argument(metavar="ASSIGNMENT", help="The assignment, as `grader assignment list` names it.")
]
_TIME = "in the course's zone, as 2026-10-31 18:00, or with an offset"


@assignment.command(name="list")
def list_assignments(course: Course, json: options.Json = False) -> int:
    """List a course's assignments by deadline, in your time zone."""
    found = understood(AssignmentList, connect().get(f"/courses/{segment(course)}/assignments"))
    if json:
        put_json(found)
        return 0
    rows = table("assignment", "title", "opens", "due", "late until", "now", "points")
    for each in found.assignments:
        state = each.phase.value if each.published_at else "draft"
        rows.add_row(
            safe(each.slug, "cyan"),
            safe(each.title),
            moment(each.open_at),
            moment(each.due_at) + (" (extended)" if each.extended else ""),
            moment(each.late_until),
            state,
            formats.points(sum(part.points or 0 for part in each.parts)),
        )
    put_table(rows)
    return 0


@assignment.command()
def show(course: Course, slug: Slug, json: options.Json = False) -> int:
    """Show an assignment: its challenges, its times in your time zone, and the attempts that you have left."""
    return _show(understood(AssignmentView, connect().get(_path(course, slug))), json)


@assignment.command(name="set")
def set_assignment(
    course: Course,
    slug: Slug,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    challenge: Annotated[
        list[str] | None,
        typer.Option("--challenge", "-c", metavar="SLUG[:WEIGHT]", help="A challenge. Repeatable."),
    ] = None,
    opens: Annotated[
        str | None, typer.Option("--open", metavar="TIME", help=f"When it opens: {_TIME}.")
    ] = None,
    due: Annotated[
        str | None, typer.Option("--due", metavar="TIME", help=f"When it is due: {_TIME}.")
    ] = None,
    late_until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The end of late submissions; none: no late submissions."),
    ] = None,
    late_percent: Annotated[
        float | None, typer.Option(min=0, max=100, help="How many percent of the points each late day costs.")
    ] = None,
    grace_days: Annotated[
        int | None, typer.Option(min=0, max=365, help="How many grace days students may use here.")
    ] = None,
    attempts_day: Annotated[int | None, typer.Option(min=0, help="Submissions a day; 0: no limit.")] = None,
    attempts_total: Annotated[
        int | None, typer.Option(min=0, help="Submissions in all; 0: no limit.")
    ] = None,
    attempts_pending: Annotated[
        int | None, typer.Option(min=0, help="Submissions that wait or run at once; 0: no limit.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option("--language", "-l", metavar="NAME", help="A language; `all` for all.")
    ] = None,
    device: Annotated[
        list[str] | None, typer.Option("--device", "-d", metavar="NAME", help="A device; `all` for all.")
    ] = None,
    counts: Annotated[
        Literal["best", "last"] | None, typer.Option(help="Which submission counts (a new one: best).")
    ] = None,
    question_points: Annotated[
        float | None,
        typer.Option(
            min=0, max=1000, help="Points of each challenge for the questions on the kernel; 0: none."
        ),
    ] = None,
    reveal_hidden: Annotated[
        bool | None,
        typer.Option(
            "--reveal-hidden/--keep-hidden", help="Show hidden cases to students once it is over, or not."
        ),
    ] = None,
    partial_credit: Annotated[
        bool | None,
        typer.Option(
            "--partial-credit/--all-or-nothing",
            help="Groups of cases earn their points even if others fail, or not.",
        ),
    ] = None,
    open_solutions: Annotated[
        bool | None,
        typer.Option(
            "--open-solutions/--close-solutions",
            help="Once it is over, show who solved a challenge staff's solution and kernels that others share, or not.",
        ),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="How many members a group may have; 1: everyone hands in alone."),
    ] = None,
    groups_until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Until when students may change groups; none: until the group hands in."
        ),
    ] = None,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its category in the course's policy; none: without.")
    ] = None,
    out_of: Annotated[
        float | None,
        typer.Option(min=0, help="What all of its points are worth; 0: as many as its challenges give."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Create an assignment as a draft, or change the given settings of one."""
    client = connect()
    body = _present(client, course, slug)
    body |= _given(title=title, open_at=opens, due_at=due, late_percent=late_percent, grace_days=grace_days)
    body |= _given(counts=counts, reveal_hidden=reveal_hidden, question_points=question_points)
    body |= _given(partial_credit=partial_credit, open_solutions=open_solutions)
    for name, at in (("late_until", late_until), ("groups_until", groups_until)):
        if at is not None:
            body[name] = None if at == "none" else at
    body |= _given(group_size=groups)
    if category is not None:
        body["category"] = "" if category == "none" else category
    if out_of is not None:
        body["out_of"] = out_of or None
    if challenge:
        body["parts"] = [_part(text) for text in challenge]
    for name, chosen in (("languages", language), ("devices", device)):
        if chosen:
            body[name] = [] if chosen == ["all"] else chosen
    attempts = {"day": attempts_day, "total": attempts_total, "pending": attempts_pending}
    body["attempts"] |= {name: most or None for name, most in attempts.items() if most is not None}
    missing = [name for name in ("title", "parts", "open_at", "due_at") if name not in body]
    if missing:
        raise BadRequest(
            f"A new assignment needs: {', '.join(missing)}.",
            "Name them with --title, --challenge, --open and --due.",
        )
    return _show(understood(AssignmentView, client.put(_path(course, slug), body)), json)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _present(client: Client, course: str, slug: str) -> dict[str, Any]:
    """A new assignment has only limits yet."""
    try:
        view = understood(AssignmentView, client.get(_path(course, slug)))
    except NotFound as error:
        if "assignment" not in error.message:
            raise
        return {"attempts": {}}
    kept = (
        "title",
        "late_percent",
        "grace_days",
        "attempts",
        "languages",
        "devices",
        "counts",
        "question_points",
        "reveal_hidden",
        "partial_credit",
        "open_solutions",
        *(recent := ("group_size", "groups_until", "category", "out_of")),
    )
    body = view.model_dump(mode="json", include={*kept, "open_at", "due_at", "late_until", "revision"})
    for name in ("question_points", "partial_credit", "open_solutions", *recent):
        if name not in view.model_fields_set:
            del body[name]  # an older server refuses the field
    return body | {"parts": [{"challenge": part.challenge, "weight": part.weight} for part in view.parts]}


def _part(text: str) -> dict[str, Any]:
    slug, _, weight = text.partition(":")
    try:
        return {"challenge": slug, "weight": float(weight or 1)}
    except ValueError as error:
        raise BadRequest(f"'{weight}' is not a weight.", "Write a challenge as SLUG or SLUG:2.5.") from error


@assignment.command()
def publish(
    course: Course,
    slug: Slug,
    hide: Annotated[
        bool, typer.Option("--hide", help="Make it a draft again, while nobody has submitted.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Show an assignment to students."""
    found = connect().post(f"{_path(course, slug)}/publish", {"published": not hide})
    return _show(understood(AssignmentView, found), json)


@assignment.command()
def remove(course: Course, slug: Slug, json: options.Json = False) -> int:
    """Remove a draft."""
    connect().delete(_path(course, slug))
    if json:
        put_json({"removed": slug})
    else:
        say(f"Removed {slug}.", "green")
    return 0


@assignment.command()
def extend(
    course: Course,
    slug: Slug,
    due: Annotated[
        str | None, typer.Option("--due", metavar="TIME", help=f"The new deadline: {_TIME}.")
    ] = None,
    student: Annotated[str | None, typer.Option(metavar="NAME", help="For this student.")] = None,
    section: Annotated[str | None, typer.Option(metavar="NAME", help="For everyone of this section.")] = None,
    group: Annotated[
        str | None, typer.Option(metavar="NAME", help="For each present member of this group.")
    ] = None,
    late_until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The end of late submissions (default: as long after the deadline as before).",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    remove: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Remove the extension with this number.")
    ] = None,
    json: options.Json = False,
) -> int:
    """Give a student, section or group a new deadline, even after the old one. Without options: list extensions."""
    client, path = connect(), f"{_path(course, slug)}/extensions"
    new = due or student or section or group or late_until or reason
    if remove is not None and new:
        raise BadRequest("--remove excludes the options of a new extension.", "Use --remove N alone.")
    if remove is not None:
        return _show_extensions(understood(ExtensionList, client.delete(f"{path}/{remove}")), json)
    if not new:
        return _show_extensions(understood(ExtensionList, client.get(path)), json)
    if due is None:
        raise BadRequest("The new deadline is missing.", "Name it with --due TIME.")
    body = _given(student=student, section=section, group=group, due_at=due, late_until=late_until)
    body["reason"] = reason
    found = client.put(path, body)
    return _show_extensions(understood(ExtensionList, found), json)


def _show_extensions(found: ExtensionList, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    rows = table("number", "for", "due", "late until", "why", "by")
    for each in found.extensions:
        whom = each.student or f"section {each.section}"
        times = moment(each.due_at), moment(each.late_until)
        rows.add_row(str(each.id), safe(whom), *times, safe(each.reason), safe(each.made_by or ""))
    put_table(rows)
    return 0


def _show(found: AssignmentView, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    tell(
        f"{found.title} ({found.course}/{found.slug}), {found.phase.value if found.published_at else 'draft'}",
        "bold",
    )
    extended = ", extended for you" if found.extended else ""
    tell(
        f"opens {moment(found.open_at, zone=True)}; due {moment(found.due_at, zone=True)}{extended}; "
        f"course zone {found.time_zone}"
    )
    if found.late_until:
        late = f"late until {moment(found.late_until, zone=True)}: {found.late_percent:g} % less a day"
        tell(f"{late}; {found.grace_days} grace days may be used")
    revealed = "; hidden cases are shown once nobody can submit for points" if found.reveal_hidden else ""
    opened = "; solutions are opened then" if found.open_solutions else ""
    tell(f"the {found.counts} submission counts{revealed}{opened}")
    if found.question_points:
        tell(
            f"questions on the kernel: up to {formats.points(found.question_points)} points of each challenge"
        )
    if found.group_size > 1:
        until = f" or {moment(found.groups_until, zone=True)}" if found.groups_until else ""
        who = f"; you hand in as {', '.join(found.group)}" if found.group else ""
        tell(f"groups of at most {found.group_size}, fixed by the first submission{until}{who}")
    rows = table("challenge", "title", "points", "left today", "left in all", "at once")
    left = {limit.challenge: limit for limit in found.left}
    for part in found.parts:
        of_it = left.get(part.challenge)
        numbers = (of_it.day, of_it.total, of_it.pending) if of_it else (None, None, None)
        rows.add_row(
            safe(part.challenge, "cyan"),
            safe(part.title),
            formats.points(part.points) if part.points is not None else "?",
            *("" if number is None else str(number) for number in numbers),
        )
    put_table(rows)
    for part in found.parts:
        for group in part.groups:
            needs = f", not without {' and '.join(group.needs)}" if group.needs else ""
            tell(f"{part.challenge}, {group.name}: {formats.points(group.points)} points{needs}")
    if found.languages:
        tell(f"languages: {', '.join(language.value for language in found.languages)}")
    if found.devices:
        tell(f"devices: {', '.join(found.devices)}")
    return 0


@assignment.command()
def similar(
    course: Course,
    slug: Slug,
    pair: Annotated[
        int | None,
        typer.Argument(metavar="[PAIR]", min=1, help="Show the matching lines of this pair, side by side."),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Compare again first.")] = False,
    decide: Annotated[
        Decision | None,
        typer.Option(help="Decide on PAIR; confirmed marks both students' reports, open undoes a decision."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; required to confirm.")] = "",
    json: options.Json = False,
) -> int:
    """Show similar submissions, and decide on a pair (staff only)."""
    if decide is not None and pair is None:
        raise BadRequest("Which pair?", "Write its number after the assignment.")
    client, path = connect(), f"{_path(course, slug)}/similarity"
    if compare:
        client.post(path, {})
    if decide is not None:
        client.put(f"{path}/{pair}", {"decision": decide, "reason": reason})
    elif pair is not None:
        return _side_by_side(understood(SimilarSources, client.get(f"{path}/{pair}")), json)
    found = understood(SimilarityReport, client.get(path))
    if json:
        put_json(found)
        return 0
    if found.made_at is None:
        say("Nothing was compared yet. Compare with: --compare", "yellow")
        return 0
    rows = table("pair", "challenge", "one", "shared", "other", "shared", "bits", "decision")
    for each in found.pairs:
        rows.add_row(
            str(each.number),
            safe(each.challenge),
            safe(_side(each.left), "cyan"),
            f"{each.left.share:.0%}",
            safe(_side(each.right), "cyan"),
            f"{each.right.share:.0%}",
            f"{each.bits:.0f}",
            each.decision.value,
        )
    put_table(rows)
    for group in found.clusters:
        tell(f"group: {', '.join(group)}")
    say(f"Compared {found.sources} sources on {moment(found.made_at)}: {len(found.pairs)} pairs.", "green")
    return 0


def _side_by_side(found: SimilarSources, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    left, right = found.left.splitlines(), found.right.splitlines()
    rows = table("line", _side(found.pair.left), "line", _side(found.pair.right))
    for match in sorted(found.matches, key=lambda match: (match.left, match.right)):
        rows.add_row(
            str(match.left), safe(left[match.left - 1]), str(match.right), safe(right[match.right - 1])
        )
    put_table(rows)
    of_it = len({match.left for match in found.matches})
    say(f"{of_it} of {len(left)} lines; both in full: `--json`, or the page.", "dim")
    return 0


def _side(side: SimilarSide) -> str:
    if side.user is None:
        return "something from outside this course" if side.earlier else "the staff's solution"
    return f"{side.user}{' (earlier)' if side.earlier else ''}"


@assignment.command()
def sources(
    course: Course,
    slug: Slug,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The ZIP (default: COURSE-ASSIGNMENT-sources.zip)."
        ),
    ] = None,
    counted: Annotated[
        bool, typer.Option("--counted", help="Only the submissions that count for points.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Write everyone's sources to one ZIP, with a manifest as CSV and JSON (staff only)."""
    path = f"{_path(course, slug)}/sources.zip"
    file = output or Path(f"{course}-{slug}-sources.zip")
    size = connect().download(path, file, counted="true" if counted else None)
    if json:
        put_json({"file": str(file), "bytes": size})
    else:
        say(f"Wrote {size} bytes to {file}.", "green")
    return 0


@gradebook.command(name="show")
def show_gradebook(
    course: Course,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="FORMULA",
            help="Show what a formula makes of the points, such as 'min(most, p * 1.1 + 5)'; "
            "none, with --apply: take the curve back.",
        ),
    ] = None,
    of: Annotated[
        str | None, typer.Option(metavar="ASSIGNMENT", help="The curve's (default: the course's total).")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Apply the curve.")] = False,
    json: options.Json = False,
) -> int:
    """Show everyone's points and progress, and who may need help; or what a curve does (staff only)."""
    if curve is not None:
        body = {"assignment": of, "formula": None if curve == "none" else curve, "apply": apply}
        found_curve = connect().put(f"/courses/{segment(course)}/curve", body)
        return _show_curve(understood(CurvePreview, found_curve), json)
    if of is not None or apply:
        raise BadRequest("Which curve?", "Write it with --curve FORMULA.")
    found = understood(Gradebook, connect().get(f"/courses/{segment(course)}/gradebook"))
    if json:
        put_json(found)
        return 0
    slugs = [given.assignment for given in found.students[0].assignments] if found.students else []
    rows = table("student", "name", "section", "group", *slugs, "total", "of")
    for student in found.students:
        earned = [_earned(given) for given in student.assignments]
        whom = [safe(student.name, "cyan"), safe(student.full_name)]
        whom += [safe(student.section), safe(student.group)]
        rows.add_row(*whom, *earned, *_total(student))
    put_table(rows)
    parts = table("assignment", "challenge", "not started", "stuck", "done", "median speedup")
    for part in found.statistics:
        middle = f"{part.speedups[len(part.speedups) // 2]:.3g}" if part.speedups else ""
        numbers = (str(part.not_started), str(part.stuck), str(part.done))
        parts.add_row(safe(part.assignment), safe(part.challenge), *numbers, middle)
    put_table(parts)
    for slug in found.broken:
        say(
            f"The folder of {slug} cannot be read on the server: its points are missing until the folder is fixed.",
            "red",
        )
    for each in found.at_risk:
        say(f"{each.name} {'; '.join(each.reasons)}.", "yellow")
    return 0


def _earned(given: AssignmentGrade) -> str:
    """In brackets if it does not count for the total."""
    points = formats.points(given.points if given.counted is None else given.counted)
    return f"({points})" if given.left_out else points


def _total(found: StudentGrades) -> tuple[str, str]:
    """An older server only adds the points up."""
    if found.total is None or found.total_most is None:
        return formats.points(found.points), formats.points(found.most)
    return formats.points(found.total), formats.points(found.total_most)


def _show_curve(found: CurvePreview, json: bool) -> int:
    if json:
        put_json(found)
        return 0
    if found.formula is None:
        say(f"{found.title} has no curve now.", "yellow")
        return 0
    rows = table("student", "name", "before", "after")
    for each in found.students:
        rows.add_row(
            safe(each.name, "cyan"),
            safe(each.full_name),
            formats.points(each.before),
            formats.points(each.after),
        )
    put_table(rows)
    numbers = f"mean {formats.points(found.mean)}, highest {formats.points(found.highest)}"
    tell(f"{found.title}, of {formats.points(found.most)} points: {numbers}")
    if found.lowered or found.swapped:
        say(f"{found.lowered} lose points; {found.swapped} fall behind somebody who had fewer.", "yellow")
    if found.applied:
        say(f"The curve {found.formula} is applied.", "green")
    else:
        say("Nothing has changed yet. To apply it: --apply", "dim")
    return 0


@gradebook.command()
def grades(
    course: Course,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A student (default: yourself).")
    ] = None,
    json: options.Json = False,
) -> int:
    """Show a student's points with an explanation of each."""
    path = f"/courses/{segment(course)}/grades"
    found = understood(StudentGrades, connect().get(path if name is None else f"{path}/{segment(name)}"))
    if json:
        put_json(found)
        return 0
    for given in found.assignments:
        tell(f"{given.title}: {formats.points(given.points)} of {formats.points(given.most)}", "bold")
        if given.counted is not None and given.counted_most is not None and _differs(given):
            curve = f", by the curve {given.formula}" if given.formula else ""
            tell(
                f"  counts as {formats.points(given.counted)} of {formats.points(given.counted_most)}{curve}"
            )
        if given.left_out:
            tell(f"  {given.left_out}")
        for part in given.parts:
            which = f", submission {part.submission}" if part.submission else ""
            which += f" on {part.device}" if part.device else ""
            tell(f"  {part.challenge}: {formats.points(part.points)} of {formats.points(part.most)}{which}")
            for line in part.lines:
                most = f" of {formats.points(line.most)}" if line.most is not None else ""
                tell(f"    {'+' if line.points >= 0 else ''}{formats.points(line.points)}{most}  {line.text}")
    for category in found.categories:
        earned = f"{formats.points(category.points)} of {formats.points(category.most)}"
        tell(f"{category.name}, weight {category.weight:g}: {earned}")
    if found.formula and found.uncurved is not None:
        tell(f"The curve {found.formula} is applied to {formats.points(found.uncurved)} points.")
    earned = " of ".join(_total(found))
    tell(f"Altogether {earned}; {found.grace_left} grace days left.", "green")
    return 0


def _differs(given: AssignmentGrade) -> bool:
    return bool(given.formula) or (given.counted, given.counted_most) != (given.points, given.most)


@gradebook.command()
def export(
    course: Course,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The CSV file (default: standard output)."),
    ] = None,
    bom: options.Bom = False,
    json: options.Json = False,
) -> int:
    """Write one row for each student and challenge, as CSV that is safe in spreadsheets, or with --json as JSON."""
    found = understood(GradebookExport, connect().get(f"/courses/{segment(course)}/gradebook/export"))
    if json:
        put_json(found)
        return 0
    text = "".join(spreadsheet.table(ExportRow, found.rows, POINT_COLUMNS))
    mark = spreadsheet.BOM if bom else ""
    if output is None:
        sys.stdout.write(mark)
        tell(text.replace("\r\n", "\n").rstrip("\n"))
        return 0
    write(output, mark + text)
    say(f"Wrote {len(found.rows)} rows to {output}.", "green")
    return 0


@gradebook.command()
def override(
    course: Course,
    slug: Slug,
    student: Annotated[str, typer.Argument(metavar="NAME", help="The student.")],
    challenge: Annotated[str, typer.Argument(metavar="SLUG", help="The challenge of the assignment.")],
    points: Annotated[
        str, typer.Argument(metavar="POINTS|none", help="The points; none: use the computed points again.")
    ],
    reason: Annotated[str, typer.Option(help="Why; the student reads it.")],
    extra: Annotated[bool, typer.Option("--extra", help="Allow more points than the challenge has.")] = False,
    json: options.Json = False,
) -> int:
    """Replace computed points."""
    try:
        number = None if points == "none" else float(points)
    except ValueError as error:
        raise BadRequest(f"'{points}' is not a number of points.", "Write a number, or none.") from error
    body = {"student": student, "challenge": challenge, "points": number, "reason": reason, "extra": extra}
    found = understood(StudentGrades, connect().put(f"{_path(course, slug)}/overrides", body))
    if json:
        put_json(found)
    else:
        say(
            f"{found.name} has {formats.points(found.points)} of {formats.points(found.most)} points now.",
            "green",
        )
    return 0


def _path(course: str, slug: str) -> str:
    return f"/courses/{segment(course)}/assignments/{segment(slug)}"
