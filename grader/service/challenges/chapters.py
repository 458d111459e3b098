"""Chapters: what a reader sees of them, and the marking of their exercises."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

from grader.challenge.chapters import Answer, Chapter, Exercise
from grader.errors import BadRequest, GraderError, NotFound
from grader.languages import Language
from grader.records import attempts, exercises
from grader.records.engine import writing
from grader.records.models import ExerciseAnswerRow
from grader.schemas.chapter import (
    ChapterSummary,
    ChapterView,
    ExerciseAnswerBody,
    ExerciseKind,
    ExerciseView,
)
from grader.service.accounts.accounts import User
from grader.service.challenges.catalogue import seen_challenges
from grader.service.platform import Platform


def list_chapters(platform: Platform, user: User | None) -> list[ChapterSummary]:
    solved, rows = _solved(platform, user), _answered(platform, user)
    return [
        _summary(chapter, _done(chapter, solved, rows.get(chapter.slug, {})))
        for chapter in platform.catalogue.chapters()
    ]


def show(platform: Platform, user: User | None, slug: str) -> ChapterView:
    """Raises NotFound."""
    chapter = find(platform, slug)
    solved, rows = _solved(platform, user), _answered(platform, user).get(slug, {})
    views = [
        _view(chapter, exercise, solved, rows.get(exercise.name)) for exercise in chapter.manifest.exercises
    ]
    return ChapterView(
        **_summary(chapter, sum(view.done for view in views)).model_dump(),
        text=chapter.text,
        needs=chapter.manifest.needs,
        exercises=views,
        challenges=[each.slug for each in chapter.challenges(seen_challenges(platform, user))],
    )


def answer(platform: Platform, user: User, slug: str, name: str, body: ExerciseAnswerBody) -> ExerciseView:
    """Mark an answer and keep it. Raises NotFound, BadRequest (a kernel is submitted to its challenge)."""
    chapter, exercise = find_exercise(platform, slug, name)
    key = chapter.answers.get(name)
    if exercise.kind is ExerciseKind.KERNEL:
        raise BadRequest(
            "This exercise is a kernel.",
            f"Submit it to the challenge: `grader submit {exercise.challenge} FILE`.",
        )
    if key is None:
        raise NotFound(f"The answer to '{name}' is not on this server.", "Staff's folder `reference` has it.")
    with writing(platform.sessions) as session:
        exercises.keep(session, user.id, slug, name, body.answer, right=body.answer in key.answer)
        row = exercises.of_chapter(session, user.id, slug)[name]
        return _view(chapter, exercise, frozenset(), row)


def explaining(platform: Platform, slugs: Collection[str]) -> dict[str, str]:
    """Slug -> title of the chapters that explain these challenges' ideas, in order. Takes only challenges that the
    caller may see."""
    tags: set[str] = set()
    for slug in slugs:
        with suppress(GraderError):
            tags.update(platform.catalogue.load(slug).manifest.tags)
    return {
        chapter.slug: chapter.manifest.title
        for chapter in platform.catalogue.chapters()
        if tags & set(chapter.manifest.explains)
    }


def find(platform: Platform, slug: str) -> Chapter:
    """Raises NotFound."""
    chapters = platform.catalogue.chapters()
    found = next((chapter for chapter in chapters if chapter.slug == slug), None)
    if found is None:
        known = ", ".join(chapter.slug for chapter in chapters) or "none"
        raise NotFound(f"There is no chapter '{slug[:64]}'.", f"There are: {known}.")
    return found


def find_exercise(platform: Platform, slug: str, name: str) -> tuple[Chapter, Exercise]:
    """Raises NotFound."""
    chapter = find(platform, slug)
    exercise = chapter.exercise(name)
    if exercise is None:
        raise NotFound(f"The chapter '{slug}' has no exercise '{name[:64]}'.")
    return chapter, exercise


def _summary(chapter: Chapter, done: int) -> ChapterSummary:
    manifest = chapter.manifest
    return ChapterSummary(
        slug=chapter.slug,
        title=manifest.title,
        summary=manifest.summary,
        minutes=manifest.minutes,
        done=done,
        total=len(manifest.exercises),
    )


def _solved(platform: Platform, user: User | None) -> frozenset[str]:
    if user is None:
        return frozenset()
    with platform.sessions() as session:
        return frozenset(tried.challenge for tried in attempts.of_user(session, user.id) if tried.accepted)


def _answered(platform: Platform, user: User | None) -> dict[str, dict[str, ExerciseAnswerRow]]:
    """By chapter and exercise."""
    found: dict[str, dict[str, ExerciseAnswerRow]] = {}
    if user is not None:
        with platform.sessions() as session:
            for row in exercises.of_user(session, user.id):
                found.setdefault(row.chapter, {})[row.exercise] = row
    return found


def _done(chapter: Chapter, solved: frozenset[str], rows: Mapping[str, ExerciseAnswerRow]) -> int:
    return sum(_is_done(exercise, solved, rows.get(exercise.name)) for exercise in chapter.manifest.exercises)


def _is_done(exercise: Exercise, solved: frozenset[str], row: ExerciseAnswerRow | None) -> bool:
    if exercise.kind is ExerciseKind.KERNEL:
        return exercise.challenge in solved
    return row is not None and row.is_right


def _view(
    chapter: Chapter, exercise: Exercise, solved: frozenset[str], row: ExerciseAnswerRow | None
) -> ExerciseView:
    key = chapter.answers.get(exercise.name)
    return ExerciseView(
        name=exercise.name,
        kind=exercise.kind,
        title=exercise.title,
        text=exercise.text,
        source=chapter.source(exercise),
        language=str(Language.of_file(exercise.source)),
        challenge=exercise.challenge,
        sizes=exercise.sizes,
        given=list(row.given) if row else [],
        done=_is_done(exercise, solved, row),
        said=_said(exercise, key, row) if key and row and row.given else "",
    )


def _said(exercise: Exercise, key: Answer, row: ExerciseAnswerRow) -> str:
    if row.is_right:
        return key.why
    last = row.given[-1]
    known = next((wrong.says for wrong in key.wrong if wrong.answer == last), "")
    return known or ("Not this line." if exercise.kind is ExerciseKind.LINE else f"Not {last:,}.")
