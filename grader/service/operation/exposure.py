"""Servers whose boxes do not contain strangers' code must not be reachable from other machines: ``local`` boxes, and
``bubblewrap`` boxes without control groups for memory."""

from __future__ import annotations

import ipaddress

from grader.errors import NotAllowed


def check_exposure(host: str, box: str) -> None:
    """Raises NotAllowed if the boxes are unfit for strangers' code and ``host`` is not a loopback address."""
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
