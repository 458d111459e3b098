from __future__ import annotations

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from grader.errors import GraderError
from grader.schemas.personal import DeletionBody
from grader.service.accounts import deletion, personal_data
from grader.web import throttle
from grader.web.access import PERSON, SIGNED_IN, open_to
from grader.web.answers import zip_answer
from grader.web.auth.identity import current_user
from grader.web.current import platform

pages = Blueprint("personal", __name__)


@pages.get("/account/data")
@open_to(SIGNED_IN)
def show_own() -> str:
    """Your stored data, and what deleting your account does."""
    return _page(current_user().name)


@pages.get("/account/export")
@open_to(SIGNED_IN)
@throttle.costly_limit
def export_own() -> Response:
    """All data about you, as a ZIP."""
    return _export(current_user().name)


@pages.post("/account/deletion")
@open_to(SIGNED_IN)
def delete_own() -> BaseResponse | tuple[str, int]:
    """Request the deletion of your account after the grace period; you type its name to confirm."""
    return _request(current_user().name)


@pages.post("/account/deletion/cancel")
@open_to(SIGNED_IN)
def keep_own() -> BaseResponse:
    """Cancel the deletion of your account."""
    return _take_back(current_user().name)


@pages.get("/people/<name>/data")
@open_to(PERSON)
def show(name: str) -> str:
    """A person's stored data, and what deleting the account does. For staff."""
    return _page(name)


@pages.get("/people/<name>/export")
@open_to(PERSON)
@throttle.costly_limit
def export(name: str) -> Response:
    """All data about a person, as a ZIP. For staff."""
    return _export(name)


@pages.post("/people/<name>/deletion")
@open_to(PERSON)
def delete(name: str) -> BaseResponse | tuple[str, int]:
    """Request the deletion of an account after the grace period. For staff."""
    return _request(name)


@pages.post("/people/<name>/deletion/cancel")
@open_to(PERSON)
def keep(name: str) -> BaseResponse:
    """Cancel the deletion of an account. For staff."""
    return _take_back(name)


def _export(name: str) -> Response:
    return zip_answer(personal_data.export(platform(), current_user(), name), name)


def _request(name: str) -> BaseResponse | tuple[str, int]:
    try:
        body = DeletionBody(confirm=request.form.get("confirm", "")[:64])
        deletion.request(platform(), current_user(), name, body)
    except GraderError as error:
        if error.status not in (400, 409):
            raise
        return _page(name, error), error.status
    return redirect(_address(name), 303)


def _take_back(name: str) -> BaseResponse:
    deletion.take_back(platform(), current_user(), name)
    return redirect(_address(name), 303)


def _address(name: str) -> str:
    return (
        url_for("personal.show_own") if name == current_user().name else url_for("personal.show", name=name)
    )


def _page(name: str, error: GraderError | None = None) -> str:
    found = deletion.preview(platform(), current_user(), name)
    return render_template("personal.html", found=found, own=found.name == current_user().name, error=error)
