"""Secrets that are shown once and kept as hashes."""

from __future__ import annotations

import hashlib
import secrets

# 256 random bits cannot be searched through, so a plain hash of them will do.
_KEY_BYTES = 32
# 20 consonants: no word comes of them, none is taken for a digit, and 8 of them are 34 random bits.
_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_CODE_HALF = 4


def new_key(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(_KEY_BYTES)


def new_code() -> str:
    """A code that a person types, such as ``WDJB-MJHT``."""
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(2 * _CODE_HALF))
    return f"{letters[:_CODE_HALF]}-{letters[_CODE_HALF:]}"


def tidy_code(typed: str) -> str:
    """A code as it was given, however it was typed: lower case, without the dash, with spaces."""
    letters = "".join(letter for letter in typed.upper() if letter in _CODE_LETTERS)[: 2 * _CODE_HALF]
    return f"{letters[:_CODE_HALF]}-{letters[_CODE_HALF:]}"


def digest(key: str) -> str:
    """What is kept of a secret. Found by its hash: how long the search takes depends on the hash's first letters, and
    nothing of the secret.
    """
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
