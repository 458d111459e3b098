"""Every error a person can meet, with one shape: what was wrong (message), its code, and how to fix it (hint).

``status`` is the HTTP status the API answers with; ``exit_code`` is what the CLI ends with. Both views of one error
come from the same class, so the API and the CLI cannot disagree.
"""

from __future__ import annotations

EXIT_ACCEPTED = 0
EXIT_NOT_ACCEPTED = 1
EXIT_USAGE = 2
EXIT_NOT_ALLOWED = 3
EXIT_OUR_FAILURE = 4
EXIT_TIMED_OUT = 5


class GraderError(Exception):
    """Base of every error that is shown to a person. Subclasses set ``code``, ``status`` and ``exit_code``."""

    code = "error"
    status = 500
    exit_code = EXIT_OUR_FAILURE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def told(self) -> str:
        """Message and hint as sentences, one behind the other."""
        message = (
            self.message if self.message.endswith((".", "!", "?")) or not self.hint else f"{self.message}."
        )
        return f"{message} {self.hint}".strip()

    def as_dict(self) -> dict[str, str]:
        """The one error shape: ``code``, ``message``, ``hint``."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class BadRequest(GraderError):
    """What was sent cannot be used; nothing was stored."""

    code = "bad_request"
    status = 400
    exit_code = EXIT_USAGE


class BadSource(BadRequest):
    """The submitted file itself cannot be taken: empty, binary, wrong encoding, too large."""

    code = "bad_source"


class BadBundle(BadRequest):
    """An uploaded archive cannot be taken: not a ZIP, too large, paths that lead out, not one challenge."""

    code = "bad_bundle"


class UnknownChallenge(GraderError):
    """There is no challenge of that slug."""

    code = "unknown_challenge"
    status = 404
    exit_code = EXIT_USAGE


class UnknownLanguage(BadRequest):
    """No language has that name, the file's suffix names none, or the challenge does not accept it."""

    code = "unknown_language"


class UnknownDevice(BadRequest):
    """The platform has no board for that device."""

    code = "unknown_device"


class LanguageNotServed(GraderError):
    """The challenge takes this language, but no device of this platform can run it."""

    code = "language_not_served"
    status = 409
    exit_code = EXIT_NOT_ALLOWED


class NotFound(GraderError):
    """There is no such thing, or none that the caller may know of."""

    code = "not_found"
    status = 404
    exit_code = EXIT_USAGE


class NotSignedIn(GraderError):
    """No token or session, or one that has ended."""

    code = "not_signed_in"
    status = 401
    exit_code = EXIT_NOT_ALLOWED


class SignOnFailed(GraderError):
    """Another site, which signs people in here, did not do so, or its answer cannot be believed."""

    code = "sign_on_failed"
    status = 403
    exit_code = EXIT_NOT_ALLOWED


class NotAllowed(GraderError):
    """The caller's role, the token's scope or this machine does not allow it."""

    code = "not_allowed"
    status = 403
    exit_code = EXIT_NOT_ALLOWED


class Conflict(GraderError):
    """The thing is not in a state in which that can be done."""

    code = "conflict"
    status = 409
    exit_code = EXIT_USAGE


class TooMany(GraderError):
    """A limit on how often or how much was reached."""

    code = "too_many"
    status = 429
    exit_code = EXIT_NOT_ALLOWED


class ChallengeInvalid(GraderError):
    """A challenge folder breaks the format. The message names file, key and what was expected."""

    code = "challenge_invalid"
    status = 503
    exit_code = EXIT_USAGE


class ChallengeChanged(GraderError):
    """What a folder is judged by differs from what was served under the same version: nothing is judged by it."""

    code = "challenge_changed"
    status = 409
    exit_code = EXIT_USAGE


class Unreachable(GraderError):
    """A part of the platform did not answer."""

    code = "unreachable"
    status = 503


class TimedOut(GraderError):
    """What was waited for did not come in time; it continues."""

    code = "timed_out"
    status = 504
    exit_code = EXIT_TIMED_OUT


class BoxUnavailable(GraderError):
    """No box could be made: the engine, the image or the machine is at fault, never the submission."""

    code = "box_unavailable"
    status = 503


class JudgeFailure(GraderError):
    """The judge itself failed. Becomes ``internal_error`` and is retried; it never uses up an attempt."""

    code = "judge_failure"


class AuthorizationPending(BadRequest):
    """Of a device code (RFC 8628): nobody has answered on the page yet; ask again after the interval."""

    code = "authorization_pending"


class SlowDown(BadRequest):
    """Of a device code: asked too soon; the interval is five seconds longer from now on."""

    code = "slow_down"


class AccessDenied(BadRequest):
    """Of a device code: its owner said no on the page."""

    code = "access_denied"
    exit_code = EXIT_NOT_ALLOWED


class ExpiredToken(BadRequest):
    """Of a device code: too old, used, or never given."""

    code = "expired_token"
    exit_code = EXIT_NOT_ALLOWED
