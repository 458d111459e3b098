from __future__ import annotations

from typing import Any

from flask import Response
from pydantic import BaseModel

from grader.schemas.challenge import ChallengeDetail
from grader.schemas.strict import Strict
from grader.schemas.submission import ErrorEnvelope
from grader.schemas.upload import (
    Number,
    SpecBody,
    UploadBody,
    UploadDetail,
    UploadList,
    UploadView,
    UseBody,
)
from grader.service.accounts.accounts import User
from grader.service.challenges import uploads
from grader.service.courses.permissions import Action
from grader.web import throttle
from grader.web.access import STAFF, TEACHERS, Check, on_challenge, open_to
from grader.web.answers import answer, cheap
from grader.web.api.challenges import ChallengePath
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("uploads", "Uploaded challenges (their staff only)")


class UploadPath(BaseModel):
    slug: str
    number: Number


class SpecText(Strict):
    """``base``: the upload that has this text; 0 for the course's folder."""

    text: str
    base: int


def _may(action: Action) -> Check:
    def check(user: User, _: dict[str, Any]) -> None:
        uploads.check(platform(), user, action)

    return check


@api.get("/uploads", responses={200: UploadList})
@open_to(STAFF, _may(Action.CHALLENGE_UPLOADS))
def list_uploads() -> Response:
    """Every upload, newest first."""
    return cheap(uploads.list_uploads(platform(), current_user()))


@api.post("/uploads", responses={201: UploadView, 409: ErrorEnvelope})
@open_to(STAFF, _may(Action.CHALLENGE_UPLOAD))
@throttle.upload_limit
def upload_challenge(body: UploadBody) -> Response:
    """Upload a challenge: a ZIP archive of its two folders. A worker checks it."""
    view = uploads.upload(platform(), current_user(), body)
    response = answer(view, 201)
    response.headers["Location"] = f"/api/v1/uploads/{view.challenge}/{view.number}"
    return response


@api.get("/uploads/<slug>", responses={200: UploadList})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def list_uploads_of_challenge(path: ChallengePath) -> Response:
    """The uploads of one challenge, newest first."""
    return cheap(uploads.list_uploads(platform(), current_user(), path.slug))


@api.get("/uploads/<slug>/spec", responses={200: SpecText})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def get_spec(path: ChallengePath) -> Response:
    """The newest text of a challenge's spec.md, for editing."""
    text, base = uploads.get_spec(platform(), current_user(), path.slug)
    return answer(SpecText(text=text, base=base))


@api.put("/uploads/<slug>/spec", responses={201: UploadView, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_EDIT_SPEC))
@throttle.upload_limit
def put_spec(path: ChallengePath, body: SpecBody) -> Response:
    """Save a new text of spec.md as a new upload. 409 if there is a newer upload than `base`."""
    return answer(uploads.edit_spec(platform(), current_user(), path.slug, body), 201)


@api.post("/uploads/<slug>/withdraw", responses={200: UploadList, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_USE))
def withdraw_uploads(path: ChallengePath) -> Response:
    """Use the challenge of the server's folder again."""
    return answer(uploads.withdraw(platform(), current_user(), path.slug))


@api.get("/uploads/<slug>/<number>", responses={200: UploadDetail})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def get_upload(path: UploadPath) -> Response:
    """One upload: its findings, and what using it would change."""
    return cheap(uploads.get_upload(platform(), current_user(), path.slug, path.number))


@api.get("/uploads/<slug>/<number>/preview", responses={200: ChallengeDetail, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def preview_upload(path: UploadPath) -> Response:
    """The challenge as students would see it."""
    return answer(uploads.preview(platform(), current_user(), path.slug, path.number))


@api.get("/uploads/<slug>/<number>/archive", responses={200: {"content": {"application/zip": {}}}})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_UPLOADS))
def get_upload_archive(path: UploadPath) -> Response:
    """The files as a ZIP archive, with solutions, mutants and hidden cases."""
    data = uploads.get_archive(platform(), current_user(), path.slug, path.number)
    return archive(data, path.slug, path.number)


def archive(data: bytes, slug: str, number: int) -> Response:
    named = {"Content-Disposition": f'attachment; filename="{slug}-{number}.zip"'}
    return Response(data, mimetype="application/zip", headers=named)


@api.post("/uploads/<slug>/<number>/check", responses={200: UploadView, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_CHECK))
def check_upload(path: UploadPath) -> Response:
    """Let a worker check it again."""
    return answer(uploads.check_again(platform(), current_user(), path.slug, path.number))


@api.post("/uploads/<slug>/<number>/stop", responses={200: UploadView, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_CHECK))
def stop_check(path: UploadPath) -> Response:
    """Stop a waiting or running check."""
    return answer(uploads.stop_check(platform(), current_user(), path.slug, path.number))


@api.post("/uploads/<slug>/<number>/use", responses={200: UploadDetail, 409: ErrorEnvelope})
@open_to(TEACHERS, on_challenge(Action.CHALLENGE_USE))
def use_upload(path: UploadPath, body: UseBody) -> Response:
    """Show and judge with this upload from now on; an earlier one brings its board back."""
    return answer(uploads.use(platform(), current_user(), path.slug, path.number, body))
