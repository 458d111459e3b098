from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace

from flask import Blueprint, Response, redirect, render_template, request, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as BaseResponse

from grader import limits
from grader.errors import BadBundle, GraderError, NotAllowed, NotFound
from grader.schemas.upload import SpecBody, UploadBody, UploadView, UseBody
from grader.service.challenges import ownership, upload_effects, uploads
from grader.service.courses.permissions import Action
from grader.web import forms, throttle
from grader.web.access import STAFF, TEACHERS, on_challenge, open_to
from grader.web.answers import conditional
from grader.web.api.uploads import archive
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages import code, markdown

pages = Blueprint("uploads", __name__)

Page = tuple[str, int]


@pages.get("/uploads")
@open_to(STAFF)
def index() -> Page:
    """Every upload, and a form for another."""
    return _index(None)


@pages.post("/uploads")
@open_to(STAFF)
@throttle.upload_limit
def upload() -> BaseResponse | Page:
    """Store an archive and let a worker check it."""
    user = current_user()
    file = request.files.get("archive")
    data = file.read(limits.BUNDLE_ARCHIVE_BYTES + 1) if file is not None else b""
    try:
        if not data:
            raise BadBundle("No file was chosen.", "Choose a ZIP archive of the challenge's two folders.")
        note = request.form.get("note", "")[: limits.REASON_CHARS]
        view = uploads.upload(platform(), user, UploadBody(archive=base64.b64encode(data), note=note))
    except NotAllowed:
        raise
    except GraderError as error:
        return _index(error)
    return _to(view)


def _index(error: GraderError | None) -> Page:
    found = uploads.list_uploads(platform(), current_user()).uploads
    most = limits.BUNDLE_ARCHIVE_BYTES // limits.KIB
    page = render_template("upload/index.html", found=found, error=error, most=most)
    # A mistake in a manifest is the uploader's.
    return page, 200 if error is None else error.status if error.status < 500 else 400


def _to(view: UploadView) -> BaseResponse:
    return redirect(url_for("uploads.show", slug=view.challenge, number=view.number), 303)


@pages.get("/uploads/<slug>/<int:number>")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def show(slug: str, number: int) -> Page:
    """One upload: its check, findings, changes, and buttons."""
    return _show(slug, number, None)


@pages.get("/uploads/<slug>/<int:number>/panel")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def panel(slug: str, number: int) -> Response:
    """The part of that page that changes during the check; 304 while it does not."""
    found = uploads.get_upload(platform(), current_user(), slug, number)
    return conditional(Response(render_template("upload/_panel.html", it=found.upload, found=found)))


def _show(slug: str, number: int, error: GraderError | None) -> Page:
    found = uploads.get_upload(platform(), current_user(), slug, number)
    others = uploads.list_uploads(platform(), current_user(), slug).uploads
    page = render_template(
        "upload/show.html", it=found.upload, found=found, others=others, error=error, course=_course(slug)
    )
    return page, error.status if error is not None else 200


def _do(slug: str, number: int, act: Callable[[], object]) -> BaseResponse | Page:
    try:
        act()
    except (NotAllowed, NotFound):
        raise
    except GraderError as error:
        return _show(slug, number, error)
    return redirect(url_for("uploads.show", slug=slug, number=number), 303)


@pages.post("/uploads/<slug>/<int:number>/check")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_CHECK))
def check(slug: str, number: int) -> BaseResponse | Page:
    """Check an upload again."""
    return _do(slug, number, lambda: uploads.check_again(platform(), current_user(), slug, number))


@pages.post("/uploads/<slug>/<int:number>/stop")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_CHECK))
def stop(slug: str, number: int) -> BaseResponse | Page:
    """Stop a check."""
    return _do(slug, number, lambda: uploads.stop_check(platform(), current_user(), slug, number))


@pages.post("/uploads/<slug>/<int:number>/use")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_USE))
def use(slug: str, number: int) -> BaseResponse | Page:
    """Show and judge with this upload from now on."""
    unproven = UseBody(unproven=forms.ticked("unproven"))
    return _do(slug, number, lambda: uploads.use(platform(), current_user(), slug, number, unproven))


@pages.post("/uploads/<slug>/<int:number>/withdraw")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_USE))
def withdraw(slug: str, number: int) -> BaseResponse | Page:
    """Use the challenge of the server's folder again."""
    return _do(slug, number, lambda: uploads.withdraw(platform(), current_user(), slug))


@pages.get("/uploads/<slug>/<int:number>/preview")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def preview(slug: str, number: int) -> str:
    """The challenge as students would see it."""
    challenge = uploads.preview(platform(), current_user(), slug, number)
    return render_template(
        "upload/preview.html",
        challenge=challenge,
        number=number,
        course=_course(slug),
        spec=markdown.with_drawings(
            markdown.without_title(challenge.spec, challenge.title), challenge.drawings
        ),
        mark=code.inline,
    )


@pages.get("/uploads/<slug>/<int:number>/archive.zip")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def download(slug: str, number: int) -> Response:
    """The upload's files."""
    return archive(uploads.get_archive(platform(), current_user(), slug, number), slug, number)


@pages.get("/uploads/<slug>/spec")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def edit(slug: str) -> Page:
    """The newest text of a challenge's spec, in a form; ?file= of another of its files, which may be new."""
    files, base = uploads.get_files(platform(), current_user(), slug)
    path = request.args.get("file", "") or _spec_path(slug)
    return _edit(slug, Draft(path, files.get(path, ""), base), None)


@pages.post("/uploads/<slug>/spec")
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_EDIT_SPEC))
@throttle.upload_limit
def save(slug: str) -> BaseResponse | Page:
    """Preview a file's text, or save it. A change that somebody else saved meanwhile is shown next to it; nothing is
    lost."""
    text = request.form.get("text", "").replace("\r\n", "\n")
    base = request.form.get("base", "0")
    draft = Draft(
        request.form.get("file", "") or _spec_path(slug),
        text,
        int(base) if base.isdecimal() and len(base) < 10 else 0,
        request.form.get("note", ""),
    )
    if request.form.get("action") == "preview":
        return _edit(slug, draft, None)
    try:
        body = SpecBody(text=text, note=draft.note, base=draft.base)
        view = uploads.edit_file(platform(), current_user(), slug, draft.path, body)
    except (NotAllowed, NotFound):
        raise
    except ValidationError:
        short = replace(draft, text=text[: limits.SOURCE_BYTES], note="")
        return _edit(slug, short, BadBundle("The text or the note is too long."))
    except GraderError as error:
        return _edit(slug, draft, error)
    return _to(view)


@dataclass(frozen=True)
class Draft:
    """``base``: the upload that it was made from."""

    path: str
    text: str
    base: int
    note: str = ""


def _spec_path(slug: str) -> str:
    return f"challenges/{slug}/spec.md"


def _edit(slug: str, draft: Draft, error: GraderError | None) -> Page:
    files, newest = uploads.get_files(platform(), current_user(), slug)
    stale = newest != draft.base
    page = render_template(
        "upload/spec.html",
        slug=slug,
        course=_course(slug),
        draft=draft,
        spec=_spec_path(slug),
        files=list(files),
        rendered=markdown.render(draft.text) if draft.path.endswith(".md") else None,
        # It overwrites theirs, which is shown.
        base=newest,
        theirs=upload_effects.text_diff(files.get(draft.path, ""), draft.text) if stale else [],
        error=error,
    )
    # A mistake in a manifest is the writer's.
    return page, 200 if error is None else error.status if error.status < 500 else 400


def _course(slug: str) -> str | None:
    return ownership.course_of(platform(), slug)
