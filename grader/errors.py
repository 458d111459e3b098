"""Every error that people see. One class sets the API's status and the CLI's exit code."""

from __future__ import annotations

EXIT_ACCEPTED = 0
EXIT_NOT_ACCEPTED = 1
EXIT_USAGE = 2
EXIT_NOT_ALLOWED = 3
EXIT_OUR_FAILURE = 4
EXIT_TIMED_OUT = 5
# EX_TEMPFAIL of sysexits.h: schedulers start such a job again.
EXIT_START_AGAIN = 75


class GraderError(Exception):
    """Subclasses set ``code``, ``status`` and ``exit_code``."""

    code = "error"
    status = 500
    exit_code = EXIT_OUR_FAILURE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def told(self) -> str:
        message = (
            self.message if self.message.endswith((".", "!", "?")) or not self.hint else f"{self.message}."
        )
        return f"{message} {self.hint}".strip()

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "hint": self.hint}


class BadRequest(GraderError):
    """The request cannot be used; nothing was stored."""

    code = "bad_request"
    status = 400
    exit_code = EXIT_USAGE


class BadSource(BadRequest):
    """The submitted file cannot be accepted: empty, binary, wrong encoding, too large."""

    code = "bad_source"


class BadBundle(BadRequest):
    """The uploaded archive cannot be accepted: not a ZIP, too large, paths outside it, not exactly one challenge."""

    code = "bad_bundle"


class UnknownChallenge(GraderError):
    """No challenge has this slug."""

    code = "unknown_challenge"
    status = 404
    exit_code = EXIT_USAGE


class UnknownLanguage(BadRequest):
    """No language has this name, the file name suggests none, or the challenge does not accept it."""

    code = "unknown_language"


class UnknownDevice(BadRequest):
    """The platform has no board for this device."""

    code = "unknown_device"


class LanguageNotServed(GraderError):
    """The challenge accepts this language, but no device of this platform can run it."""

    code = "language_not_served"
    status = 409
    exit_code = EXIT_NOT_ALLOWED


class NotFound(GraderError):
    """It does not exist, or the caller may not know that it does."""

    code = "not_found"
    status = 404
    exit_code = EXIT_USAGE


class NotSignedIn(GraderError):
    """No token or session, or an expired one."""

    code = "not_signed_in"
    status = 401
    exit_code = EXIT_NOT_ALLOWED


class SignOnFailed(GraderError):
    """The site that signs people in here refused, or its answer cannot be trusted."""

    code = "sign_on_failed"
    status = 403
    exit_code = EXIT_NOT_ALLOWED


class NotAllowed(GraderError):
    """The caller's role, the token's scope or this machine does not allow it."""

    code = "not_allowed"
    status = 403
    exit_code = EXIT_NOT_ALLOWED


class Conflict(GraderError):
    """The current state does not allow it."""

    code = "conflict"
    status = 409
    exit_code = EXIT_USAGE


class TooMany(GraderError):
    """A rate limit or quota is used up."""

    code = "too_many"
    status = 429
    exit_code = EXIT_NOT_ALLOWED


class ChallengeInvalid(GraderError):
    """A challenge folder breaks the format. The message names the file, the key and the expected value."""

    code = "challenge_invalid"
    status = 503
    exit_code = EXIT_USAGE


class ChallengeChanged(GraderError):
    """The folder differs from the one served under the same version, so nothing is judged with it."""

    code = "challenge_changed"
    status = 409
    exit_code = EXIT_USAGE


class Unreachable(GraderError):
    """A part of the platform does not answer."""

    code = "unreachable"
    status = 503


class TimedOut(GraderError):
    """The result did not come in time; the work continues."""

    code = "timed_out"
    status = 504
    exit_code = EXIT_TIMED_OUT


class BoxUnavailable(GraderError):
    """No box could be started: the engine, the image or the machine is at fault, never the submission."""

    code = "box_unavailable"
    status = 503


class JudgeFailure(GraderError):
    """The judge failed. The submission is judged again; it never uses up an attempt."""

    code = "judge_failure"


class AuthorizationPending(BadRequest):
    """Device code (RFC 8628): nobody has approved it on the page yet; ask again after the interval."""

    code = "authorization_pending"


class SlowDown(BadRequest):
    """Device code: asked too soon; the interval is now five seconds longer."""

    code = "slow_down"


class AccessDenied(BadRequest):
    """Device code: its owner denied it on the page."""

    code = "access_denied"
    exit_code = EXIT_NOT_ALLOWED


class ExpiredToken(BadRequest):
    """Device code: too old, already used, or never issued."""

    code = "expired_token"
    exit_code = EXIT_NOT_ALLOWED


def kinds(base: type[GraderError] = GraderError) -> dict[str, type[GraderError]]:
    """By code."""
    found = {base.code: base}
    for kind in base.__subclasses__():
        found.update(kinds(kind))
    return found
