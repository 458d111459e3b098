"""Turns a model into an answer of the API."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import IO

from flask import Response, request
from pydantic import BaseModel

from grader import __version__


def answer(model: BaseModel, status: int = 200) -> Response:
    """``model`` as JSON."""
    return Response(model.model_dump_json(), status, mimetype="application/json")


def cheap(model: BaseModel) -> Response:
    """``model`` as JSON with an ETag; 304 without a body when the caller already has just that."""
    return conditional(answer(model))


def conditional(response: Response) -> Response:
    """Add an ETag of the body and answer 304 where it matches. Only its reader may keep a copy."""
    response.add_etag()
    _kept_by_reader(response)
    response.make_conditional(request)  # in place
    return response


def conditional_on(facts: str, make: Callable[[], Response]) -> Response:
    """The same for an answer that depends on ``facts`` and the release alone: where that matches, nothing is made."""
    tag = hashlib.sha256(f"{__version__} {facts}".encode()).hexdigest()
    response = Response(status=304) if tag in request.if_none_match else make()
    response.set_etag(tag)
    _kept_by_reader(response)
    return response


def _kept_by_reader(response: Response) -> None:
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.vary.update(("Cookie", "Authorization"))


def zip_answer(file: IO[bytes], name: str) -> Response:
    """``file``, a ZIP at its beginning, to be saved as ``name.zip`` and nowhere kept on the way. Closes it."""
    with file:
        response = Response(file.read(), mimetype="application/zip")
    response.headers.set("Content-Disposition", "attachment", filename=f"{name}.zip")
    response.headers["Cache-Control"] = "private, no-store"
    return response
