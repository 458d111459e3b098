"""A real local SMTP server, which offers STARTTLS with a certificate that the test's environment trusts."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from grader.service.messages import mail
from tests.service.world import until

USER, PASSWORD = "grader", "a mail password"


@dataclass
class Postbox:
    """``most``: it answers no more mails than this, while ``asked`` counts all. ``kill``: called after it
    takes a mail, before its sender reads the answer; ``silent``: it takes mails and hangs up without an
    answer.
    """

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    asked: int = 0
    most: int | None = None
    kill: Callable[[], None] | None = None
    silent: bool = False
    farewell: str = "221 Bye"

    def settings(self, **values: Any) -> dict[str, Any]:
        given = {
            "url": "https://grader.uni.example",
            "smtp_host": f"localhost:{self.port}",
            "smtp_from": "grader@uni.example",
            "smtp_user": USER,
            "smtp_password": PASSWORD,
        }
        return given | values

    def wait(self, count: int = 1) -> EmailMessage:
        until(lambda: len(self.mails) >= count, f"{count} mails came", 60.0)
        return self.mails[-1]

    async def handle_QUIT(self, *_: Any) -> str:  # noqa: N802
        return self.farewell

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.asked += 1
        while self.most is not None and len(self.mails) >= self.most:
            await asyncio.sleep(0.02)
        self.encrypted.append(session.ssl is not None)
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.mails.append(message)
        if self.kill is not None:
            self.kill()
        if self.silent:
            server.transport.abort()
        return "250 taken"


def link_in(message: EmailMessage) -> str:
    text = message.get_content()
    return next(
        line.removeprefix("https://grader.uni.example")
        for line in text.splitlines()
        if line.startswith("https://")
    )


class _Connection(SMTP):
    """Knows when it has ended, so that none stays open after a test."""

    open: ClassVar[set[int]] = set()

    def connection_made(self, transport: Any) -> None:
        self.open.add(id(self))
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self.open.discard(id(self))


class _Server(Controller):
    def factory(self) -> SMTP:
        return _Connection(self.handler, **self.SMTP_kwargs)

    def _trigger_server(self) -> None:
        # It was given port 0; only now is its real port known.
        assert self.server
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def served(folder: Path, monkeypatch: pytest.MonkeyPatch, tls: bool = True) -> Iterator[Postbox]:
    """Without ``tls`` it offers neither STARTTLS nor signing in."""
    box = Postbox()
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
    guards = (
        {
            "tls_context": context,
            "require_starttls": True,
            "auth_required": True,
            "authenticator": _check,
        }
        if tls
        else {}
    )
    controller = _Server(box, hostname="127.0.0.1", port=0, **guards)
    controller.start()
    box.port = controller.port
    try:
        yield box
    finally:
        mail.settle()
        until(lambda: not _Connection.open, "every connection has ended", 60.0)
        controller.stop()


def _check(_: Any, __: Any, ___: Any, mechanism: str, given: Any) -> AuthResult:
    right = mechanism in ("LOGIN", "PLAIN") and (given.login, given.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    # "Handled" would mean that the server sends no answer, and the client waits for ever.
    return AuthResult(success=right, handled=right)
