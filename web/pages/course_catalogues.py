from __future__ import annotations

import base64

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader import limits
from grader.errors import BadBundle, GraderError, NotAllowed, NotFound
from grader.schemas.course_catalogue import HookView, RepositoryBody
from grader.schemas.upload import UploadBody
from grader.service.challenges import course_catalogue, uploads
from grader.service.courses.permissions import Action
from grader.web import throttle
from grader.web.access import PARTY, open_to
from grader.web.api.courses import base
from grader.web.auth.identity import current_user
from grader.web.current import platform
from grader.web.pages.courses import body, given
from grader.web.pages.keys import Page, private

pages = Blueprint("course_catalogues", __name__)


@pages.get("/courses/<course>/catalogue")
@open_to(PARTY, action=Action.CATALOGUE_READ)
def show(course: str) -> Page:
    """The course's challenges, a form for an archive, and the repository."""
    return _page(course)


@pages.post("/courses/<course>/catalogue")
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
@throttle.upload_limit
def upload(course: str) -> BaseResponse | Page:
    """Store the challenges of an archive and let a worker check them."""
    try:
        found = uploads.upload_to_course(platform(), current_user(), course, read_upload())
    except (NotAllowed, NotFound):
        raise
    except GraderError as error:
        return _page(course, error)
    if len(found.uploads) == 1:
        (only,) = found.uploads
        return redirect(url_for("uploads.show", slug=only.challenge, number=only.number), 303)
    return redirect(url_for("course_catalogues.show", course=course), 303)


def read_upload() -> UploadBody:
    """Raises BadBundle."""
    file = request.files.get("archive")
    data = file.read(limits.BUNDLE_ARCHIVE_BYTES + 1) if file is not None else b""
    if not data:
        raise BadBundle("No file was chosen.", "Choose a ZIP archive of the challenges' folders.")
    note = request.form.get("note", "")[: limits.REASON_CHARS]
    return UploadBody(archive=base64.b64encode(data), note=note)


@pages.post("/courses/<course>/catalogue/source")
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
@throttle.upload_limit
def source(course: str) -> Response | BaseResponse | Page:
    """Name the repository, forget it, fetch it, or make an address for its webhook."""
    user, action = current_user(), request.form.get("action", "save")
    try:
        match action:
            case "remove":
                course_catalogue.remove_source(platform(), user, course)
            case "sync":
                course_catalogue.synchronise(platform(), user, course)
            case "hook":
                made = course_catalogue.make_hook(platform(), user, course, base())
                return private(_page(course, hook=made))
            case _:
                course_catalogue.set_source(
                    platform(), user, course, body(RepositoryBody, given("url", "branch", "prefix"))
                )
    except (NotAllowed, NotFound):
        raise
    except GraderError as error:
        return _page(course, error)
    return redirect(url_for("course_catalogues.show", course=course, _anchor="repository"), 303)


def _page(course: str, error: GraderError | None = None, hook: HookView | None = None) -> Page:
    found = course_catalogue.get_catalogue(platform(), current_user(), course)
    page = render_template(
        "course/catalogue.html",
        found=found,
        error=error,
        hook=hook,
        form=request.form if error is not None else {},
        most=limits.BUNDLE_ARCHIVE_BYTES // limits.KIB,
    )
    # A mistake in a manifest is the uploader's.
    return page, 200 if error is None else error.status if error.status < 500 else 400
