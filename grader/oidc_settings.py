"""Settings of a provider of single sign-on."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

PROVIDER_NAME = re.compile(r"[a-z][a-z0-9]{0,31}")


class OidcProvider(BaseModel):
    """``GRADER_OIDC__NAME__ISSUER`` and so on. NAME is part of the sign-in's URLs and must not change later."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    issuer: str = Field(
        description="the provider's issuer, such as https://login.uni.edu/realms/uni, which serves "
        "/.well-known/openid-configuration"
    )
    client_id: str = Field(min_length=1, description="this platform's client id at the provider")
    client_secret: SecretStr = Field(
        default=SecretStr(""), description="the client's secret; empty: a public client, with PKCE only"
    )
    client_secret_file: Path | None = Field(default=None, description="a file that holds the secret instead")
    label: str = Field(
        default="", max_length=60, description="text of the button on the sign-in page after 'Sign in with'"
    )
    scopes: str = Field(default="openid email profile", description="scopes requested from the provider")
    domains: str = Field(
        default="",
        description="domains of verified addresses that may sign in, separated by commas; .uni.edu accepts all "
        "its subdomains; empty: all",
    )
    name_claim: str = Field(
        default="preferred_username", min_length=1, description="the claim that names new accounts"
    )
    accounts: Literal["none", "roster", "anyone"] = Field(
        default="roster",
        description="who gets a new account: nobody, people on a course's roster with their verified address, or "
        "everyone whom the provider signs in",
    )
    trust_email: bool = Field(
        default=False,
        description="treat addresses as verified even if the provider does not say so; safe only if people cannot "
        "set their own address there",
    )

    @field_validator("issuer")
    @classmethod
    def _check_issuer(cls, value: str) -> str:
        return check_endpoint(value)

    @field_validator("scopes")
    @classmethod
    def _need_openid(cls, value: str) -> str:
        if "openid" not in value.split():
            raise ValueError("scopes must contain openid")
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
        """Raises OSError if its file cannot be read."""
        if self.client_secret_file is not None:
            return self.client_secret_file.read_text(encoding="utf-8").strip()
        return self.client_secret.get_secret_value()


# These end a directive or a source of the content security policy.
_ODD = re.compile(r"[\s;,'\"\\*]")


def check_endpoint(url: str) -> str:
    """TLS, except on this machine, because secrets go there. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.fragment:
        raise ValueError("write it like https://login.uni.edu/realms/uni")
    if _ODD.search(parts.netloc):
        raise ValueError("its host has characters that no host name may have")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("it must begin with https://")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
