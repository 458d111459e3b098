"""Boxes that do not contain strangers' code (``local``, and ``bubblewrap`` without control groups for memory) must
not serve other machines."""

from __future__ import annotations

import ipaddress

from grader.errors import NotAllowed


def check_exposure(host: str, box: str) -> None:
    """Raises NotAllowed with such boxes, unless ``host`` is loopback."""
    if is_loopback(host) or not (why := _why_not(box)):
        return
    raise NotAllowed(
        f"Refusing to listen on {host or 'every address'}: {why}.",
        "Listen on 127.0.0.1, or run submissions in Docker boxes (GRADER_BOX=docker, see `grader doctor`).",
    )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _why_not(box: str) -> str:
    from grader.sandbox.choose import why_not_exposed

    return why_not_exposed(box)
