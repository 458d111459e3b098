"""A provider of single sign-on, as the settings name it."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

PROVIDER_NAME = re.compile(r"[a-z][a-z0-9]{0,31}")


class OidcProvider(BaseModel):
    """``GRADER_OIDC__NAME__ISSUER`` and so on: NAME is in the addresses of the sign-in, and may not change later."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    issuer: str = Field(
        description="the provider's issuer, such as https://login.uni.edu/realms/uni; below it lies "
        "/.well-known/openid-configuration"
    )
    client_id: str = Field(min_length=1, description="what the provider calls this platform")
    client_secret: SecretStr = Field(
        default=SecretStr(""), description="its secret; empty: a public client, proven by PKCE alone"
    )
    client_secret_file: Path | None = Field(default=None, description="a file with the secret instead")
    label: str = Field(
        default="", max_length=60, description="what the button on the sign-in page says after 'Sign in with'"
    )
    scopes: str = Field(default="openid email profile", description="what is asked of the provider")
    domains: str = Field(
        default="",
        description="domains of verified addresses that may sign in, with commas between; .uni.edu takes all "
        "below it; empty: all",
    )
    name_claim: str = Field(
        default="preferred_username", min_length=1, description="the claim that new accounts are named after"
    )
    accounts: Literal["none", "roster", "anyone"] = Field(
        default="roster",
        description="who gets a new account: nobody, those on a course's roster by their verified address, or "
        "whoever the provider signs in",
    )
    trust_email: bool = Field(
        default=False,
        description="take addresses for verified where the provider does not say so; only if nobody can set "
        "their own there",
    )

    @field_validator("issuer")
    @classmethod
    def _check_issuer(cls, value: str) -> str:
        return check_endpoint(value)

    @field_validator("scopes")
    @classmethod
    def _need_openid(cls, value: str) -> str:
        if "openid" not in value.split():
            raise ValueError("openid must be one of them")
        return " ".join(value.split())

    @model_validator(mode="after")
    def _one_secret(self) -> OidcProvider:
        if self.client_secret.get_secret_value() and self.client_secret_file:
            raise ValueError("set client_secret or client_secret_file, not both")
        return self

    @property
    def domain_list(self) -> list[str]:
        return [part.strip().lower() for part in self.domains.split(",") if part.strip()]

    def secret(self) -> str:
        """Raises OSError where its file cannot be read."""
        if self.client_secret_file is not None:
            return self.client_secret_file.read_text(encoding="utf-8").strip()
        return self.client_secret.get_secret_value()


# A host is put into a policy of content, where these end a directive or a source.
_ODD = re.compile(r"[\s;,'\"\\*]")


def check_endpoint(url: str) -> str:
    """An address that secrets are sent to: over TLS, except on this very machine. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.fragment:
        raise ValueError("write it like https://login.uni.edu/realms/uni")
    if _ODD.search(parts.netloc):
        raise ValueError("its host has characters that no host has")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("it must begin with https://")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
