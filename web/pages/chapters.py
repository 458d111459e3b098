"""Chapters to read between challenges, with drawings and exercises."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from grader.challenge.chapters import EXERCISE, Chapter
from grader.errors import BadRequest, GraderError
from grader.schemas.chapter import ChapterView, ExerciseAnswerBody, ExerciseView
from grader.service.challenges import catalogue, chapters
from grader.web import throttle
from grader.web.access import ANYONE, SIGNED_IN, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages import code, glossary, markdown

pages = Blueprint("chapters", __name__)


@dataclass(frozen=True)
class Piece:
    """A part of a chapter: text with drawings, or an exercise."""

    text: Markup | None = None
    exercise: ExerciseView | None = None


@pages.get("/learn")
@open_to(ANYONE)
def index() -> str:
    """The chapters in order, with the viewer's progress."""
    return render_template("chapters.html", chapters=chapters.list_chapters(platform(), viewer()))


@pages.get("/learn/<slug>")
@open_to(ANYONE)
def show(slug: str) -> str:
    """A chapter with its drawings and exercises."""
    return _page(slug, None)


@pages.post("/learn/<slug>/<exercise>")
@open_to(SIGNED_IN)
@throttle.editor_limit
def answer(slug: str, exercise: str) -> Response | tuple[str, int]:
    """Mark an answer; a refused one is explained at its exercise."""
    try:
        chapters.answer(platform(), current_user(), slug, exercise, ExerciseAnswerBody(answer=_given()))
    except BadRequest as error:
        return _page(slug, (exercise, error)), error.status
    return redirect(url_for("chapters.show", slug=slug, _anchor=f"exercise-{exercise}"), 303)


def _given() -> int:
    text = request.form.get("answer", "").replace(",", "").strip()
    # Python would take signs, underscores and other scripts' digits.
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadRequest(f"'{text[:20]}' is not a number.", "Answer with digits alone, such as 32.")
    return int(text)


def _page(slug: str, problem: tuple[str, GraderError] | None) -> str:
    chapter = chapters.show(platform(), viewer(), slug)
    listed = chapters.list_chapters(platform(), viewer())
    places = [each.slug for each in listed]
    place = places.index(slug)
    return render_template(
        "chapter.html",
        chapter=chapter,
        pieces=_pieces(chapter),
        needs=[each for each in listed if each.slug in chapter.needs],
        following=listed[place + 1] if place + 1 < len(listed) else None,
        titles=catalogue.titles(platform(), chapter.challenges, viewer()),
        numbered=code.numbered,
        rendered=markdown.render,
        nonce=secrets.token_urlsafe(16),
        problem=problem,
    )


def _pieces(chapter: ChapterView) -> list[Piece]:
    """The text, cut at its exercises."""
    source = chapters.find(platform(), chapter.slug)
    exercises = {exercise.name: exercise for exercise in chapter.exercises}
    text = markdown.without_title(chapter.text, chapter.title)
    found, end = [], 0
    for place in EXERCISE.finditer(text):
        found.append(_text(source, text[end : place.start()]))
        found.append(Piece(exercise=exercises[place[1]]))
        end = place.end()
    return [*found, _text(source, text[end:])]


def _text(source: Chapter, text: str) -> Piece:
    return Piece(markdown.with_drawings(text, source.drawings, glossary.spec))
