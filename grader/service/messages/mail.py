"""Mail over SMTP, sent after the answer, so response times reveal nothing."""

from __future__ import annotations

import functools
import smtplib
import ssl
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Any

from grader import limits
from grader.errors import Conflict, GraderError, Unreachable
from grader.logs import get_logger
from grader.settings import Settings

log = get_logger(__name__)


class NoAnswer(Unreachable):
    """The server may have taken the mail."""


# Mail servers dislike many connections from one site.
_SENDERS = 2


class _Post:
    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_SENDERS, thread_name_prefix="mail")
        self._room = threading.BoundedSemaphore(limits.MAILS_WAITING)
        self._idle = threading.Condition()
        self._jobs = 0

    def put(self, job: Callable[[], None]) -> None:
        if not self._room.acquire(blocking=False):
            log.error("mail_dropped", reason="too many are waiting to be sent")
            return
        with self._idle:
            self._jobs += 1
        self._pool.submit(self._run, job)

    def _run(self, job: Callable[[], None]) -> None:
        try:
            job()
        except GraderError as error:
            log.error("mail_not_sent", reason=error.message)
        except Exception:  # only the log can report it
            log.exception("mail_not_sent")
        finally:
            self._room.release()
            with self._idle:
                self._jobs -= 1
                self._idle.notify_all()

    def settle(self, seconds: float) -> bool:
        with self._idle:
            return self._idle.wait_for(lambda: self._jobs == 0, seconds)


@functools.cache
def _post() -> _Post:
    # Made after the fork.
    return _Post()


def later(job: Callable[[], None]) -> None:
    """Runs in a thread; exceptions are logged."""
    _post().put(job)


def settle(seconds: float = limits.MAIL_SECONDS) -> bool:
    """Waits for all jobs; False if one is unfinished."""
    return _post().settle(seconds)


def configured(settings: Settings) -> bool:
    return bool(settings.smtp_host)


def need(settings: Settings) -> None:
    """Raises Conflict."""
    if not configured(settings):
        raise Conflict("This platform sends no mail.", "Ask the staff: they can make a link for you.")


def send(
    settings: Settings,
    to: str,
    subject: str,
    text: str,
    headers: Mapping[str, str] | None = None,
    *,
    message_id: str | None = None,
    taken: Callable[[], None] = lambda: None,
) -> None:
    """``taken``: called once the server took it. Raises NoAnswer, Unreachable (not taken, or no TLS)."""
    message = EmailMessage()
    message["From"] = settings.smtp_from
    message["To"] = Address(addr_spec=to)
    # A line break in a course's name would begin a header.
    message["Subject"] = f"grader: {' '.join(subject.split())}"
    message["Date"] = formatdate()
    message["Message-ID"] = message_id or make_msgid(domain=domain(settings))
    message["Auto-Submitted"] = "auto-generated"
    for name, value in (headers or {}).items():
        message[name] = value
    message.set_content(text)
    server: _Connection | None = None
    try:
        server = _connect(settings)
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
        server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        unsure = (
            server is not None and server.gave_all and not isinstance(error, smtplib.SMTPResponseException)
        )
        if server is not None:
            _part(server)
        # Servers may repeat what they were sent.
        raise (NoAnswer if unsure else Unreachable)(
            f"{':'.join(map(str, settings.mail_server))} "
            f"{'did not say whether it took' if unsure else 'did not take'} a mail: {type(error).__name__}.",
            "See the GRADER_SMTP_* settings.",
        ) from error
    try:
        taken()
    finally:
        _part(server)
    log.info("mail_sent", subject=subject)


def domain(settings: Settings) -> str | None:
    return settings.smtp_from.rpartition("@")[2].rstrip(">") or None


class _Connection(smtplib.SMTP):
    """``gave_all``: the server may have the mail."""

    gave_all = False

    def data(self, msg: Any) -> tuple[int, bytes]:
        self.gave_all = True
        return super().data(msg)


class _TlsConnection(_Connection, smtplib.SMTP_SSL):
    """TLS from the first byte."""


def _part(server: smtplib.SMTP) -> None:
    """Whatever QUIT answers, the server took the mail."""
    try:
        server.quit()
    except (OSError, smtplib.SMTPException):
        server.close()


def _connect(settings: Settings) -> _Connection:
    (host, port), seconds = settings.mail_server, limits.MAIL_SECONDS
    if settings.smtp_security == "tls":
        return _TlsConnection(host, port, timeout=seconds, context=ssl.create_default_context())
    server = _Connection(host, port, timeout=seconds)
    if settings.smtp_security == "starttls":
        try:
            # Raises without STARTTLS: never in the clear.
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server
