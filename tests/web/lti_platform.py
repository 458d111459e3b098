"""A local learning platform like Canvas and Moodle: signs people in by LTI 1.3, gives tokens for its services
to tools that prove themselves with a signed assertion, and keeps grades.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import requests
from flask import Flask, Response, jsonify, request
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import make_server

CLIENT, DEPLOYMENT = "10000000000001", "1:abc"
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/"
DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
ASSISTANT = "http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant"

# Shared by all sites: making one takes as long as a test.
_KEY = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)


@dataclass
class Emulator:
    """``people``: claims by login hint. ``spoilt``: false claims for the token. ``scores`` by line item and
    user; ``posted`` counts them; ``refuses``: statuses for the next scores, None closes the connection.
    """

    tool_keys: Callable[[], dict[str, Any]]
    base: str = ""
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    spoilt: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: _KEY)
    signs_with: RSAKey | None = None
    line_items: set[str] = field(default_factory=lambda: {"1"})
    scores: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    posted: list[dict[str, Any]] = field(default_factory=list)
    refuses: list[int | None] = field(default_factory=list)
    tokens: dict[str, float] = field(default_factory=dict)
    asked_tokens: int = 0
    launches: dict[str, dict[str, Any]] = field(default_factory=dict)

    def claims(self, who: str, hint: str) -> dict[str, Any]:
        launch = self.launches.get(hint, {})
        selects = launch.get("selects", False)
        found: dict[str, Any] = {
            "iss": self.base,
            "aud": CLIENT,
            "sub": who,
            "iat": int(time.time()),
            "exp": int(time.time()) + 300,
            f"{CLAIM}deployment_id": DEPLOYMENT,
            f"{CLAIM}version": "1.3.0",
            f"{CLAIM}message_type": "LtiDeepLinkingRequest" if selects else "LtiResourceLinkRequest",
            f"{CLAIM}target_link_uri": launch.get("target", ""),
            f"{CLAIM}context": {"id": "course-7", "title": "GPU programming"},
            **self.people[who],
        }
        if selects:
            found[f"{DEEP}deep_linking_settings"] = {
                "deep_link_return_url": f"{self.base}/chosen",
                "accept_types": ["ltiResourceLink"],
                "accept_presentation_document_targets": ["window"],
                "data": "keep this",
            }
        else:
            found[f"{CLAIM}resource_link"] = {"id": launch.get("resource", "menu"), "title": "Week 1"}
            found[f"{CLAIM}custom"] = {"assignment": launch.get("assignment", "")}
            if item := launch.get("line_item"):
                found[f"{AGS}claim/endpoint"] = {
                    "scope": [f"{AGS}scope/score", f"{AGS}scope/lineitem.readonly"],
                    "lineitem": f"{self.base}/line_items/{item}",
                }
        return found | self.spoilt

    def answer(self, url: str) -> dict[str, str]:
        """The form that a browser signed in there sends back after a redirect to ``url``."""
        answered = requests.get(url, timeout=10)
        assert answered.status_code == 200, answered.text
        found: dict[str, str] = answered.json()
        return found

    @contextmanager
    def served(self) -> Iterator[Self]:
        server = make_server("127.0.0.1", 0, _application(self), threaded=True)
        self.base = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _application(site: Emulator) -> Flask:
    app = Flask("platform")

    @app.get("/auth")
    def auth() -> Response | tuple[str, int]:
        given = request.args
        wanted = {
            "scope": "openid",
            "response_type": "id_token",
            "response_mode": "form_post",
            "prompt": "none",
        }
        if (
            any(given.get(name) != value for name, value in wanted.items())
            or given.get("client_id") != CLIENT
        ):
            return "no such request", 400
        hint = given.get("lti_message_hint", "")
        claims = {"nonce": given["nonce"]} | site.claims(given["login_hint"], hint)
        header = {"alg": "RS256", "kid": site.key.kid}
        token = jwt.encode(header, claims, site.signs_with or site.key)
        return jsonify(state=given["state"], id_token=token)

    @app.get("/keys")
    def keys() -> Response:
        return jsonify(KeySet([site.key]).as_dict(private=False))

    @app.post("/token")
    def token() -> tuple[Response, int] | Response:
        site.asked_tokens += 1
        form = request.form
        known = form["grant_type"] == "client_credentials"
        known &= form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        signed = jwt.decode(form["client_assertion"], KeySet.import_key_set(site.tool_keys()), ["RS256"])  # type: ignore[arg-type]
        said = signed.claims
        known &= (said["iss"], said["sub"], said["aud"]) == (CLIENT, CLIENT, f"{site.base}/token")
        known &= said["exp"] > time.time() >= said["iat"] - 1 and bool(said["jti"])
        if not known or f"{AGS}scope/score" not in form["scope"].split():
            return jsonify(error="invalid_client"), 400
        made = f"token-{site.asked_tokens}"
        site.tokens[made] = time.time() + 3600
        return jsonify(access_token=made, token_type="Bearer", expires_in=3600, scope=form["scope"])

    @app.post("/line_items/<item>/scores")
    def score(item: str) -> tuple[Any, int]:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if site.tokens.get(given, 0) < time.time():
            return jsonify(error="invalid_token"), 401
        if site.refuses:
            status = site.refuses.pop(0)
            if status is None:
                raise ConnectionAbortedError
            return "broken", status
        if item not in site.line_items:
            return jsonify(error="no such line item"), 404
        if request.content_type != "application/vnd.ims.lis.v1.score+json":
            return jsonify(error="content type"), 415
        body = request.get_json(force=True)
        site.posted.append(body)
        before = site.scores.get((item, body["userId"]))
        at = datetime.fromisoformat(body["timestamp"])
        if before is not None and datetime.fromisoformat(before["timestamp"]) >= at:
            return jsonify(error="older than what is known"), 409
        site.scores[item, body["userId"]] = body
        return "", 204

    @app.post("/line_items/<item>/<path:_>")
    def wrong(item: str, _: str) -> tuple[str, int]:
        return "no such address", 404

    return app


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
