"""Discussions of challenges and chapters, and the form that reports an error on their pages."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from grader.errors import BadRequest
from grader.schemas.discussion import About, ErrorReportBody, HideBody, PostBody, PostChange
from grader.service.challenges import discussion, error_reports
from grader.web import forms
from grader.web.access import SIGNED_IN, open_to
from grader.web.auth.identity import current_user, viewer
from grader.web.current import platform
from grader.web.pages import markdown
from grader.web.pages.courses import body, given

pages = Blueprint("discussions", __name__)

# One set of views: ``url_for(..., about=..., slug=...)`` chooses the address.
_CHALLENGE, _CHAPTER = "/challenges/<slug>", "/learn/<slug>"
_OF_CHALLENGE, _OF_CHAPTER = {"about": About.CHALLENGE.value}, {"about": About.CHAPTER.value}


@pages.get(f"{_CHALLENGE}/discussion", defaults=_OF_CHALLENGE)
@pages.get(f"{_CHAPTER}/discussion", defaults=_OF_CHAPTER)
@open_to(SIGNED_IN)
def show(about: str, slug: str) -> str:
    """The threads, newest first, or the one that ``thread`` names."""
    older_than = request.args.get("older_than", type=int)
    thread = request.args.get("thread", type=int)
    return render_template(
        "discussion.html",
        found=discussion.read(platform(), current_user(), About(about), slug, older_than, thread),
        page=discussion.page_of(About(about), slug),
        rendered=markdown.remark,
        older_than=older_than,
        only=thread,
    )


@pages.post(f"{_CHALLENGE}/discussion", defaults=_OF_CHALLENGE)
@pages.post(f"{_CHAPTER}/discussion", defaults=_OF_CHAPTER)
@open_to(SIGNED_IN)
def add(about: str, slug: str) -> Response:
    """Begin a thread or reply to one."""
    asked = body(PostBody, given("text", "thread") | {"spoiler": str(forms.ticked("spoiler"))})
    made = discussion.add(platform(), current_user(), About(about), slug, asked)
    return _back(about, slug, made.thread if asked.thread else None, made.number)


@pages.post(f"{_CHALLENGE}/discussion/<int:number>", defaults=_OF_CHALLENGE)
@pages.post(f"{_CHAPTER}/discussion/<int:number>", defaults=_OF_CHAPTER)
@open_to(SIGNED_IN)
def change(about: str, slug: str, number: int) -> Response:
    """Edit or delete your post; staff hide or restore it."""
    at, action = (platform(), current_user(), About(about), slug, number), request.form.get("action", "")
    if action == "delete":
        discussion.remove(*at)
        return _back(about, slug)
    if action in ("hide", "restore"):
        asked = {"hidden": str(action == "hide")} | given("reason")
        post = discussion.hide(*at, body(HideBody, asked))
    elif action == "save":
        changed = given("text") | {"spoiler": str(forms.ticked("spoiler"))}
        post = discussion.change(*at, body(PostChange, changed))
    else:
        raise BadRequest("Choose an action.")
    return _back(about, slug, post.thread, number)


@pages.post(f"{_CHALLENGE}/discussion/report", defaults=_OF_CHALLENGE)
@pages.post(f"{_CHAPTER}/discussion/report", defaults=_OF_CHAPTER)
@open_to(SIGNED_IN)
def report(about: str, slug: str) -> Response:
    """Report an error of the page to staff."""
    asked = body(ErrorReportBody, given("text"))
    error_reports.report(platform(), current_user(), About(about), slug, asked)
    return redirect(f"{discussion.page_of(About(about), slug)}#{error_reports.ANCHOR}", 303)


def _back(about: str, slug: str, thread: int | None = None, number: int | None = None) -> Response:
    anchor = f"post-{number}" if number is not None else None
    return redirect(url_for("discussions.show", about=about, slug=slug, thread=thread, _anchor=anchor), 303)


@pages.app_template_global("posts_about")
def posts_about(about: str, slug: str) -> int | None:
    """None: the viewer may not read them."""
    return discussion.count(platform(), viewer(), About(about), slug)


@pages.app_template_global("own_error_reports")
def own_error_reports(about: str, slug: str) -> list[object]:
    return [*error_reports.own(platform(), viewer(), About(about), slug)]
