"""Bounded requests to sites that admins configure. Redirects are errors: requests may contain secrets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import requests
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError, MissingKeyError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from grader import limits
from grader.errors import SignOnFailed, Unreachable
from grader.oidc_settings import check_endpoint

TIMEOUT = (limits.OUTBOUND_CONNECT_SECONDS, limits.OUTBOUND_READ_SECONDS)
# No shared secrets, and not "none".
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class Refused(Unreachable):
    """The other site answered with an error. ``text``: the beginning of its answer."""

    def __init__(self, message: str, answered: int, text: str = "") -> None:
        super().__init__(message)
        self.answered = answered
        self.text = text


def get_json(url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Raises Unreachable, Refused."""
    return send("GET", url, headers=headers)


def post(url: str, content: bytes, headers: Mapping[str, str]) -> None:
    """Ignores the answer's body. Raises Unreachable, Refused."""
    _ask("POST", url, headers=headers, content=content)


def send(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The answer's JSON object, empty without a body. Raises Unreachable, Refused."""
    body, host = _ask(method, url, headers=headers, form=form), urlsplit(url).hostname
    if not body.strip():
        return {}
    try:
        found = json.loads(body)
    except ValueError as error:
        raise Unreachable(f"{host} did not answer with JSON.") from error
    if not isinstance(found, dict):
        raise Unreachable(f"{host} did not answer with a JSON object.")
    return found


def _ask(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> bytes:
    with reached(url):
        answer = requests.request(
            method,
            checked(url),
            headers={"Accept": "application/json", **(headers or {})},
            data=form if form is not None else content,
            timeout=TIMEOUT,
            allow_redirects=False,
            stream=True,
        )
        with answer:
            body = _bounded(answer)
    said = body[:200].decode("utf-8", "replace")
    host = urlsplit(url).hostname
    if 300 <= answer.status_code < 400:
        raise Refused(f"{host} answered with a redirect; configure its final address.", answer.status_code)
    if answer.status_code >= 400:
        raise Refused(f"{host} answered with status {answer.status_code}.", answer.status_code, said)
    return body


def checked(url: str) -> str:
    """Raises Unreachable unless it is an https address (or on this machine)."""
    try:
        return check_endpoint(url)
    except ValueError as error:
        raise Unreachable(f"'{url[:100]}' is not an address to send requests to: {error}.") from error


@contextmanager
def reached(url: str) -> Iterator[None]:
    """Turns network errors into Unreachable without their texts, which may contain secrets that were sent."""
    try:
        yield
    except requests.Timeout as error:
        raise Unreachable(f"{urlsplit(url).hostname} did not answer in time.") from error
    except requests.exceptions.SSLError as error:
        raise Unreachable(
            f"The certificate of {urlsplit(url).hostname} is not trusted.",
            "Set REQUESTS_CA_BUNDLE to trust another authority.",
        ) from error
    except (requests.RequestException, OSError) as error:
        raise Unreachable(f"{urlsplit(url).hostname} cannot be reached: {type(error).__name__}.") from error


def _bounded(answer: requests.Response) -> bytes:
    found = b""
    began = time.monotonic()
    for piece in answer.iter_content(16 * limits.KIB):
        found += piece
        if len(found) > limits.OUTBOUND_BYTES:
            raise Unreachable(f"{urlsplit(answer.url).hostname} sent too much.")
        if time.monotonic() - began > limits.OUTBOUND_TOTAL_SECONDS:
            raise Unreachable(f"{urlsplit(answer.url).hostname} did not answer in time.")
    return found


class KeySets:
    """Public keys of other sites, cached for an hour. An unknown key (after a rotation) is fetched at once, but not
    repeatedly."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, KeySet]] = {}

    def of(self, url: str, newer_than_s: float = limits.KEYS_KEPT_SECONDS) -> KeySet:
        """Raises Unreachable."""
        with self._lock:
            kept = self._kept.get(url)
        now = time.monotonic()
        if kept is not None and now - kept[0] < newer_than_s:
            return kept[1]
        answer = get_json(url)
        try:
            keys = KeySet.import_key_set({"keys": [key for key in answer.get("keys", []) if _signs(key)]})
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise Unreachable(f"{urlsplit(url).hostname} publishes keys that cannot be read.") from error
        with self._lock:
            self._kept[url] = (now, keys)
        return keys

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()

    def verify(self, url: str, token: str, algorithms: tuple[str, ...] = ALGORITHMS) -> jwt.Token:
        """The token with verified signature; its claims are not checked. Raises SignOnFailed, Unreachable."""
        if len(token) > limits.OUTBOUND_TOKEN_CHARS:
            raise SignOnFailed("The other site's token is too long.")
        for newer_than_s in (limits.KEYS_KEPT_SECONDS, limits.KEYS_AGAIN_SECONDS):
            keys = self.of(url, newer_than_s)
            try:
                return jwt.decode(
                    token, keys, registry=JWSRegistry(algorithms=list(algorithms), strict_check_header=False)
                )
            except (InvalidKeyIdError, MissingKeyError, BadSignatureError) as error:
                failure: Exception = error  # perhaps signed by a newer key
            except (JoseError, ValueError, TypeError, UnicodeError) as error:
                raise SignOnFailed("The other site's token cannot be read.", str(error)[:100]) from error
        raise SignOnFailed("The other site's token is not signed by any of its keys.") from failure


def _signs(key: Any) -> bool:
    return isinstance(key, dict) and key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig"


KEYS = KeySets()
