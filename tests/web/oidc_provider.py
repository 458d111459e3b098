"""A real local OpenID provider: Authlib's authorization server with PKCE, discovery and rotating keys.

Everyone at its authorization endpoint is signed in with ``claims``; ``spoilt`` replaces claims in the token.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

import requests
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, Response, jsonify, request
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import make_server

from grader.oidc_settings import OidcProvider

CLIENT, SECRET = "grader", "a client's secret"


class _Client(ClientMixin):  # type: ignore[misc]
    """The registered client: this platform."""

    def __init__(self, redirect_uri: str) -> None:
        self.redirect_uri = redirect_uri

    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == self.redirect_uri

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_basic"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class _Code(AuthorizationCodeMixin):  # type: ignore[misc]
    redirect_uri: str
    scope: str
    nonce: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str:
        return self.nonce

    def get_auth_time(self) -> None:
        return None

    get_acr = get_amr = get_auth_time


@dataclass
class Provider:
    """``asked``: requests other than for codes and tokens; ``at_userinfo``: its answer there, if any; the
    last of ``keys`` signs; ``shows``: keys published instead of them.
    """

    redirect_uri: str
    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    spoilt: dict[str, Any] = field(default_factory=dict)
    keys: list[RSAKey] = field(default_factory=list)
    shows: list[RSAKey] | None = None
    at_userinfo: dict[str, Any] | None = None
    codes: dict[str, _Code] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    token_redirects_to: str = ""

    def __post_init__(self) -> None:
        self.rotate()

    def rotate(self) -> None:
        self.keys = [RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)]

    def settings(self, **values: Any) -> OidcProvider:
        given = {"issuer": self.issuer, "client_id": CLIENT, "client_secret": SECRET, "label": "Uni"}
        return OidcProvider(**(given | values))

    def visit(self, url: str) -> str:
        """The path to which a browser at ``url`` is sent back."""
        answer = requests.get(url, allow_redirects=False, timeout=10)
        assert answer.status_code == 302, answer.text
        back = urlsplit(answer.headers["Location"])
        return f"{back.path}?{back.query}"

    @contextmanager
    def served(self) -> Iterator[Self]:
        server = make_server("127.0.0.1", 0, _application(self), threaded=True)
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _application(provider: Provider) -> Flask:
    app = Flask("provider")
    client = _Client(provider.redirect_uri)
    server = AuthorizationServer(
        app,
        query_client=lambda client_id: client if client_id == CLIENT else None,
        save_token=lambda token, request: None,
    )

    class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

        def save_authorization_code(self, code: str, request: Any) -> None:
            data = request.payload.data
            provider.codes[code] = _Code(
                redirect_uri=request.payload.redirect_uri,
                scope=request.payload.scope,
                nonce=data["nonce"],
                code_challenge=data["code_challenge"],
                code_challenge_method=data["code_challenge_method"],
            )

        def query_authorization_code(self, code: str, client: Any) -> _Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: _Code) -> None:
            provider.codes = {
                key: entry for key, entry in provider.codes.items() if entry is not authorization_code
            }

        def authenticate_user(self, authorization_code: _Code) -> dict[str, Any]:
            return provider.claims

    class Identity(OpenIDCode):  # type: ignore[misc]
        def exists_nonce(self, nonce: str, request: Any) -> bool:
            return False

        def resolve_client_private_key(self, client: Any) -> RSAKey:
            return provider.keys[-1]

        def get_client_algorithm(self, client: Any) -> str:
            return "RS256"

        def get_encode_header(self, client: Any) -> dict[str, Any]:
            return {"alg": "RS256", "kid": provider.keys[-1].kid}

        def get_client_claims(self, client: Any) -> dict[str, Any]:
            return {"iss": provider.issuer, "aud": [CLIENT]}

        def generate_user_info(self, user: dict[str, Any], scope: str) -> dict[str, Any]:
            return user | provider.spoilt

    server.register_grant(CodeGrant, [CodeChallenge(required=True), Identity(require_nonce=True)])

    @app.get("/.well-known/openid-configuration")
    def discovery() -> Response:
        return jsonify(
            issuer=provider.issuer,
            authorization_endpoint=f"{provider.issuer}/authorize",
            token_endpoint=f"{provider.issuer}/token",
            jwks_uri=f"{provider.issuer}/keys",
            id_token_signing_alg_values_supported=["RS256"],
            **(
                {"userinfo_endpoint": f"{provider.issuer}/userinfo"}
                if provider.at_userinfo is not None
                else {}
            ),
        )

    @app.get("/keys")
    def keys() -> Response:
        provider.asked.append("keys")
        return jsonify(KeySet(list(provider.shows or provider.keys)).as_dict(private=False))

    @app.get("/userinfo")
    def userinfo() -> Response:
        assert request.headers["Authorization"].startswith("Bearer ")
        return jsonify(provider.at_userinfo)

    @app.get("/authorize")
    def authorize() -> Any:
        grant = server.get_consent_grant(end_user=provider.claims)
        return server.create_authorization_response(grant_user=provider.claims, grant=grant)

    @app.post("/token")
    def token() -> Any:
        if provider.token_redirects_to:
            return "", 307, {"Location": provider.token_redirects_to}
        return server.create_token_response()

    return app
