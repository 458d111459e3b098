"""Who may read the figures: they name challenges, hosts and GPUs, and say when a course is busy."""

from __future__ import annotations

import hmac
from ipaddress import ip_address, ip_network

from grader.errors import BadRequest, NotFound, NotSignedIn
from grader.settings import Settings


def check_scraper(settings: Settings, address: str | None, token: str | None) -> None:
    """``address`` asks, and shows ``token`` (None: none).

    Raises NotFound where nobody but others may know of the figures, NotSignedIn for a wrong token, BadRequest where the
    settings name what is no network.
    """
    if address is not None and _is_named(settings.metrics_allow, address):
        return
    if not settings.metrics_token or token is None:
        raise NotFound("There is nothing at this address.")
    if not hmac.compare_digest(settings.metrics_token.encode(), token.encode("utf-8", "replace")):
        raise NotSignedIn("This token may not read the figures.", "It is in GRADER_METRICS_TOKEN.")


def _is_named(networks: str, address: str) -> bool:
    """Raises BadRequest."""
    named = [name.strip() for name in networks.split(",") if name.strip()]
    try:
        return any(ip_address(address) in ip_network(name, strict=False) for name in named)
    except ValueError as error:
        raise BadRequest(
            f"GRADER_METRICS_ALLOW cannot be used: {error}.", "Such as 127.0.0.1,10.0.0.0/8."
        ) from error
