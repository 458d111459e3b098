"""Signed certificates of results, which anyone can check without the platform.

JSON: ``certificate``, the content; ``digests``, the SHA-256 of each value by its path, to name changed
values; ``signature``, the platform's Ed25519 signature (RFC 8032) of the digests.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.errors import BadRequest

FORMAT = "grader certificate 1"
_PARTS = {"certificate", "digests", "signature"}
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
# Nobody finds another key of the same name by trying.
_ID_CHARS = 32


@dataclass(frozen=True)
class Checked:
    certificate: Mapping[str, Any]
    problems: tuple[str, ...]
    key_id: str
    key_known: bool

    @property
    def genuine(self) -> bool:
        return not self.problems and self.key_known


def sign(certificate: Mapping[str, Any], secret: bytes) -> dict[str, Any]:
    """``secret``: 32 bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(secret)
    digests = digests_of(certificate)
    return {
        "certificate": certificate,
        "digests": digests,
        "signature": {
            "algorithm": "Ed25519",
            "key": text_of(key.public_key().public_bytes_raw()),
            "value": text_of(key.sign(_signed(digests))),
        },
    }


def public_key(secret: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def key_id(key: bytes) -> str:
    """Of its SHA-256, hex."""
    return hashlib.sha256(key).hexdigest()[:_ID_CHARS]


def pem(key: bytes) -> str:
    """RFC 8410."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    found = Ed25519PublicKey.from_public_bytes(key).public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return found.decode("ascii")


def read_key(text: str) -> bytes:
    """From PEM, the API's JSON, or its 32 bytes in base64 or hex. Raises BadRequest."""
    given = text.strip()
    if given.startswith("-----"):
        return _of_pem(given)
    if given.startswith("{"):
        try:
            given = str(json.loads(given)["key"])
        except (ValueError, KeyError, TypeError) as error:
            raise _invalid_key() from error
    if len(given) == 2 * _KEY_BYTES:
        try:
            return bytes.fromhex(given)
        except ValueError as error:
            raise _invalid_key() from error
    return _bytes(given, _KEY_BYTES)


def _of_pem(text: str) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _invalid_key() from error
    if not isinstance(key, Ed25519PublicKey):
        raise _invalid_key()
    return key.public_bytes_raw()


def _invalid_key() -> BadRequest:
    return BadRequest(
        "This is not an Ed25519 public key.", "Use the file that the platform serves at /signing-key.pem."
    )


def check(text: str, trusted: bytes | None = None) -> Checked:
    """``trusted``: 32 bytes. Without it, the certificate's own key is used, which anybody could have made.
    Raises BadRequest if the text is not a certificate.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    whole = _read(text)
    certificate, digests = whole["certificate"], whole["digests"]
    signature = whole["signature"]
    named = _bytes(signature["key"], _KEY_BYTES)
    problems = []
    try:
        Ed25519PublicKey.from_public_bytes(named).verify(
            _bytes(signature["value"], _SIGNATURE_BYTES), _signed(digests)
        )
    except InvalidSignature:
        problems.append("The signature does not match: the digests or the signature were changed.")
    if trusted is not None and named != trusted:
        problems.append(
            f"It was signed by the key {key_id(named)}, not by the one that you trust ({key_id(trusted)})."
        )
    try:
        found = digests_of(certificate)
    except RecursionError as error:
        raise BadRequest("It is nested too deeply to be a certificate.") from error
    problems += [f"{path} was changed." for path in found if path in digests and digests[path] != found[path]]
    problems += [f"{path} was added." for path in found if path not in digests]
    problems += [f"{path} was removed." for path in digests if path not in found]
    known = trusted is not None and named == trusted
    return Checked(certificate, tuple(problems), key_id(named), known)


def _read(text: str) -> dict[str, Any]:
    try:
        whole = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        # 1e400 is read as infinite, and half a surrogate pair ("\ud800") has no UTF-8.
        json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            f"It is not JSON: {error}.", "Use the file exactly as the platform gave it."
        ) from error
    if (
        not isinstance(whole, dict)
        or set(whole) != _PARTS
        or not all(isinstance(part, dict) for part in whole.values())
    ):
        raise BadRequest(
            "It is not a certificate.", f"A certificate has the parts {', '.join(sorted(_PARTS))}."
        )
    if whole["certificate"].get("format") != FORMAT or whole["signature"].get("algorithm") != "Ed25519":
        raise BadRequest(
            f"Its format is not '{FORMAT}'.", "A newer release of grader may be able to read it."
        )
    if not all(isinstance(digest, str) for digest in whole["digests"].values()):
        raise BadRequest("Its digests are not text.")
    missing = [name for name in ("key", "value") if not isinstance(whole["signature"].get(name), str)]
    if missing:
        raise BadRequest(
            f"Its signature has no {' and no '.join(missing)}.",
            "Use the file exactly as the platform gave it.",
        )
    return whole


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse repeated names: readers would disagree about the value."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"'{name}' occurs twice")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


# Others describe the measurement.
_OF_RESULT = ("rank", "finalists", "score")
_OF_CHALLENGE = ("submission", "version", "time_us", "speedup", "points")


def superseded(given: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Differences from the platform's present certificate for the same team, a sentence each."""
    found = [
        f"The {name} is {_word(now['result'][name])} now; the certificate says {_word(given['result'][name])}."
        for name in _OF_RESULT
        if given["result"][name] != now["result"][name]
    ]
    present = {challenge["challenge"]: challenge for challenge in now["challenges"]}
    for challenge in given["challenges"]:
        other = present.get(challenge["challenge"])
        if other is None:
            found.append(f"{challenge['challenge']} is no longer part of the result.")
        elif other["failed"] != challenge["failed"]:
            found.append(f"{challenge['challenge']}: {other['failed'] or 'it counts again'}.")
        elif any(challenge[name] != other[name] for name in _OF_CHALLENGE):
            found.append(f"{challenge['challenge']} now has another result.")
    return tuple(found)


def _word(value: Any) -> str:
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def digests_of(certificate: Mapping[str, Any]) -> dict[str, str]:
    """By path: SHA-256 (hex) of path and value."""
    return {path: _digest(path, value) for path, value in _leaves(certificate, "")}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            # A name with a dot must not give the path of another value.
            yield from _leaves(each, f"{path}.{_escaped(name)}" if path else _escaped(name))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(each, f"{path}[{number}]")
    else:
        yield path, value


def _escaped(name: str) -> str:
    return name if name.replace("_", "").isalnum() else json.dumps(name)


def _digest(path: str, value: Any) -> str:
    return hashlib.sha256(_canonical([path, value])).hexdigest()


def _signed(digests: Mapping[str, str]) -> bytes:
    return FORMAT.encode() + b"\n" + _canonical(digests)


def _canonical(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode()


def text_of(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _bytes(text: Any, length: int) -> bytes:
    try:
        found = base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _invalid_key() from error
    if len(found) != length:
        raise _invalid_key()
    return found
