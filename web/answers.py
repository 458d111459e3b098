from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import IO

from flask import Response, request
from pydantic import BaseModel

from grader import __version__


def answer(model: BaseModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(), status, mimetype="application/json")


def cheap(model: BaseModel) -> Response:
    """304 without a body if the caller has it."""
    return conditional(answer(model))


def conditional(response: Response) -> Response:
    """Only the browser may keep a copy."""
    response.add_etag()
    _kept_by_reader(response)
    response.make_conditional(request)  # in place
    return response


def conditional_on(facts: str, make: Callable[[], Response]) -> Response:
    """ETag of ``facts`` and release: nothing is rendered on a match."""
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
    """``file`` is at its start, and closed afterwards; uncached."""
    with file:
        return file_answer(file.read(), "application/zip", f"{name}.zip")


def file_answer(content: bytes, kind: str, name: str) -> Response:
    """A download, uncached."""
    response = Response(content, mimetype=kind)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    response.headers["Cache-Control"] = "private, no-store"
    return response
