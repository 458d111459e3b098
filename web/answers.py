"""Turns a model into an answer of the API."""

from __future__ import annotations

from flask import Response, request
from pydantic import BaseModel


def answer(model: BaseModel, status: int = 200) -> Response:
    """``model`` as JSON."""
    return Response(model.model_dump_json(), status, mimetype="application/json")


def cheap(model: BaseModel) -> Response:
    """``model`` as JSON with an ETag; 304 without a body when the caller already has just that."""
    return conditional(answer(model))


def conditional(response: Response) -> Response:
    """Add an ETag of the body and answer 304 where it matches. Only its reader may keep a copy."""
    response.add_etag()
    response.cache_control.private = True
    response.cache_control.no_cache = True
    response.vary.update(("Cookie", "Authorization"))
    response.make_conditional(request)  # in place
    return response
