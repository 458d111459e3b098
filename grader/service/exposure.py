"""``local`` boxes hold nobody back, so with them the server must not be reachable from other machines."""

from __future__ import annotations

import ipaddress

from grader.errors import NotAllowed


def check_exposure(host: str, box: str) -> None:
    """Raises NotAllowed where submissions would run in ``local`` boxes and ``host`` is not this machine
    alone.
    """
    if is_loopback(host) or not _is_local(box):
        return
    raise NotAllowed(
        f"Refusing to listen on {host or 'every address'}: submissions would run as plain processes here.",
        "Listen on 127.0.0.1, or run submissions in Docker boxes (GRADER_BOX=docker, see `grader doctor`).",
    )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_local(box: str) -> bool:
    if box != "auto":
        return box == "local"
    from grader.sandbox.choose import docker_status

    usable, _ = docker_status()
    return not usable
