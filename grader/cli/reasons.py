"""Why a server cannot be reached, in words, and what to do about it."""

from __future__ import annotations

import errno
import http.client
import socket
import ssl

from grader.errors import Unreachable

USUAL = "`grader up` starts a server here; `grader login --server URL` or GRADER_SERVER names another."
_NO_NETWORK = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
# OpenSSL's numbers (X509_V_ERR_*), which `ssl` has no names for.
_EXPIRED, _OTHER_NAME = (10,), (62, 64)


def unreachable(server: str, error: Exception, seconds: float, proxy: str | None) -> Unreachable:
    """The error for what the connection ended with. ``proxy``: the one that was asked, as ``host:port``."""
    if isinstance(error, TimeoutError):
        return Unreachable(
            f"{server} did not answer within {seconds:g} s.",
            f"It may be busy, or a firewall drops what you send; try again. {USUAL}",
        )
    why, mend = _by_proxy(error, proxy) if proxy else ("", "")
    if not why:
        why, mend = _reason(error)
    return Unreachable(f"{server} cannot be reached: {why}.", mend)


def _by_proxy(error: Exception, proxy: str) -> tuple[str, str]:
    mend = "HTTPS_PROXY and HTTP_PROXY name it; NO_PROXY names hosts that need none, with commas between."
    if "Tunnel connection failed" in str(error):
        return f"the proxy {proxy} refused ({str(error).partition(': ')[2]})", mend
    if isinstance(error, (ConnectionError, socket.gaierror)):
        return f"the proxy {proxy} does not answer ({_reason(error)[0]})", mend
    return "", ""


def _reason(error: Exception) -> tuple[str, str]:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _of_certificate(error)
    if isinstance(error, ssl.SSLError):
        return (
            f"no TLS connection came about ({_words(error.reason)})",
            "Does it speak plain http:// there? Check scheme and port of the address.",
        )
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there", USUAL
    if isinstance(error, socket.gaierror):
        return (
            "there is no such host, or no name server that knows it",
            f"Check the name, your network, and a VPN that it may need. {USUAL}",
        )
    if isinstance(error, (ConnectionResetError, http.client.RemoteDisconnected)):
        return (
            "it closed the connection without an answer",
            "It may be starting again, or want https://; try again in a moment.",
        )
    if isinstance(error, OSError) and error.errno in _NO_NETWORK:
        return "no network leads there", "Check your network, and a VPN that it may need."
    return str(error) or type(error).__name__, USUAL


def _of_certificate(error: ssl.SSLCertVerificationError) -> tuple[str, str]:
    told = f"its certificate is not trusted ({error.verify_message.rstrip('.')})"
    if error.verify_code in _EXPIRED:
        return told, "Its staff must renew it; check this machine's date, too."
    if error.verify_code in _OTHER_NAME:
        return told, "Use the name that the certificate is for, or have its staff add this one."
    return told, "If its staff gave you their authority's file: set SSL_CERT_FILE to it."


def _words(reason: str | None) -> str:
    return (reason or "unknown").replace("_", " ").lower()
