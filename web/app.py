from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from flask import Response, make_response
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI

from grader import limits
from grader.schemas.submission import ErrorEnvelope
from grader.web import (
    access,
    api,
    appearance,
    assets,
    errors,
    forms,
    headers,
    navigation,
    pages,
    probes,
    proxies,
    throttle,
    trace,
)
from grader.web.access import ANYONE, open_to
from grader.web.answers import conditional
from grader.web.auth import csrf, identity, sessions

if TYPE_CHECKING:
    from grader.service.platform import Platform

API_PREFIX = "/api/v1"
# Safe, because addresses of static files carry a hash.
STATIC_SECONDS = 365 * 24 * 3600

_SECURITY_SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API token: `Authorization: Bearer grd_...`",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": sessions.COOKIE,
        "description": "The pages' session cookie; unsafe methods also need the header X-CSRFToken.",
    },
}


def create_app(platform: Platform) -> OpenAPI:
    """Asks neither database nor queue; pings Redis for rate limits."""
    app = OpenAPI(
        "grader.web",
        info=Info(
            title="grader", version=_version(), description="Submit GPU kernels, read verdicts and boards."
        ),
        security_schemes=_SECURITY_SCHEMES,
        validation_error_status=400,
        validation_error_model=ErrorEnvelope,
        validation_error_callback=errors.invalid_request,
        doc_ui=False,
    )
    app.config.update(
        SECRET_KEY=platform.settings.secret("web"),
        MAX_CONTENT_LENGTH=limits.REQUEST_BYTES,
        MAX_FORM_MEMORY_SIZE=limits.REQUEST_BYTES,
        SESSION_COOKIE_NAME=sessions.COOKIE,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=sessions.LIFETIME,
        SEND_FILE_MAX_AGE_DEFAULT=STATIC_SECONDS,
        RATELIMIT_STORAGE_URI=throttle.storage_uri(platform.settings),
    )
    proxies.init_app(app, platform.settings)
    app.extensions["grader"] = platform
    app.session_interface = sessions.Sessions()
    trace.init_app(app)
    errors.init_app(app)
    headers.init_app(app)
    assets.init_app(app)
    forms.init_app(app)
    throttle.limiter.init_app(app)
    identity.init_app(app)
    csrf.init_app(app)
    access.init_app(app)
    appearance.init_app(app)
    navigation.init_app(app)
    add_routes(app)
    return app


def add_routes(app: OpenAPI) -> None:
    """Needs no platform."""
    api.register(app)
    pages.register(app)
    assets.add_routes(app)
    app.register_blueprint(probes.probes)

    @app.route(f"{API_PREFIX}/openapi.json", endpoint="openapi_document")
    @open_to(ANYONE)
    def _document() -> Response:
        return conditional(make_response(app.api_doc))


@cache
def _version() -> str:
    try:
        return version("kernel-grader")
    except PackageNotFoundError:  # a checkout that is not installed
        return "0"
