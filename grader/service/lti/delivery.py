"""Sends grades (LTI Assignment and Grade Services). Repeating is safe: the latest timestamp wins."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit, urlunsplit

from joserfc import jwt
from sqlalchemy import select, update

from grader import limits
from grader.errors import Unreachable
from grader.logs import get_logger
from grader.records.engine import changed, writing
from grader.records.models import LtiContextRow, LtiLinkRow, LtiPlatformRow, LtiScoreRow, utcnow
from grader.schemas.lti import LtiScoreState
from grader.service import outbound
from grader.service.lti import platforms as lti_platforms
from grader.service.lti.passback import subject_digest, subjects_of
from grader.service.lti.platforms import SCORE_SCOPE
from grader.service.outbound import Refused
from grader.service.platform import Platform

log = get_logger(__name__)

_SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_SECONDS = 60
# A token is unused in its last seconds.
_TOKEN_MARGIN_SECONDS = 30
# Worth another try. 409: the platform has a later timestamp.
_AGAIN = frozenset({408, 409, 425, 429})
_GONE = frozenset({404, 410})


@dataclass(frozen=True)
class _Score:
    """Held by this process."""

    id: int
    user: int
    points: float
    most: float
    tries: int
    sent_at: datetime | None
    line_item: str
    learning: LtiPlatformRow
    subject: str | None


def deliver(platform: Platform) -> int:
    """Returns how many were taken; concurrent calls are safe. If a platform does not answer, its other grades wait."""
    taken, away = 0, set()
    for number, learning in _due(platform):
        if learning in away:
            continue
        score = _hold(platform, number)
        if score is None:
            continue
        error: Unreachable | None = None
        sent_at = _timestamp(score)
        try:
            _send(platform, score, sent_at)
        except Unreachable as failure:
            error = failure
            if not isinstance(failure, Refused):
                away.add(learning)
        _settle(platform, score, sent_at, error)
        taken += error is None
    return taken


def _due(platform: Platform) -> Sequence[tuple[int, int]]:
    now = utcnow()
    query = (
        select(LtiScoreRow.id, LtiContextRow.platform_id)
        .join(LtiLinkRow, LtiLinkRow.id == LtiScoreRow.link_id)
        .join(LtiContextRow, LtiContextRow.id == LtiLinkRow.context_id)
        .where(
            LtiScoreRow.state == LtiScoreState.PENDING.value,
            LtiScoreRow.next_at <= now,
            LtiScoreRow.held_until.is_(None) | (LtiScoreRow.held_until < now),
            LtiLinkRow.released_at.is_not(None),
            LtiLinkRow.line_item != "",
        )
        .order_by(LtiScoreRow.next_at, LtiScoreRow.id)
        .limit(limits.SCORES_AT_ONCE)
    )
    with platform.sessions() as session:
        return [(number, learning) for number, learning in session.execute(query)]


def _hold(platform: Platform, number: int) -> _Score | None:
    """None if another process holds it."""
    now = utcnow()
    free = (
        LtiScoreRow.id == number,
        LtiScoreRow.state == LtiScoreState.PENDING.value,
        LtiScoreRow.held_until.is_(None) | (LtiScoreRow.held_until < now),
    )
    held = now + timedelta(seconds=limits.SCORE_HELD_SECONDS)
    with writing(platform.sessions) as session:
        take = update(LtiScoreRow).where(*free).values(held_until=held)
        if not changed(session, take.execution_options(synchronize_session=False)):
            return None
        found = session.get_one(LtiScoreRow, number)
        link = session.get_one(LtiLinkRow, found.link_id)
        context = session.get_one(LtiContextRow, link.context_id)
        learning = session.get_one(LtiPlatformRow, context.platform_id)
        return _Score(
            found.id,
            found.user_id,
            found.points,
            found.most,
            found.tries,
            found.sent_at,
            link.line_item,
            learning,
            subjects_of(session, learning).get(found.user_id),
        )


def _timestamp(score: _Score) -> datetime:
    """Increases even if the clock goes back."""
    now = utcnow()
    return now if score.sent_at is None else max(now, score.sent_at + timedelta(milliseconds=1))


class _Hopeless(Refused):
    """Another try would not help."""


def _send(platform: Platform, score: _Score, at: datetime) -> None:
    """Raises Unreachable, Refused."""
    name = score.learning.name
    if score.subject is None:
        raise _Hopeless(
            f"{name} does not know this student. They have to follow its link to this course once.", 0
        )
    if score.most <= 0:
        raise _Hopeless("The assignment has no points, so no grade can be sent.", 0)
    if not lti_platforms.is_its_own(score.learning, score.line_item):
        raise _Hopeless(
            f"{urlsplit(score.line_item).netloc} is no longer among the hosts that admins named for {name}.",
            0,
        )
    body = {
        "userId": score.subject,
        "scoreGiven": score.points,
        "scoreMaximum": score.most,
        "timestamp": at.isoformat(timespec="milliseconds"),
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
    }
    for last in (False, True):
        token = TOKENS.of(platform, score.learning, fresh=last)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": _SCORE_TYPE}
        try:
            outbound.post(_scores_url(score.line_item), json.dumps(body).encode(), headers)
        except Refused as error:
            if error.answered == 401 and not last:  # the token ended early
                continue
            raise
        return


def _scores_url(line_item: str) -> str:
    """A query must stay last (Moodle)."""
    parts = urlsplit(line_item)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/scores"))


class _Tokens:
    """Access tokens, cached for their lifetime."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], tuple[float, str]] = {}

    def of(self, platform: Platform, known: LtiPlatformRow, fresh: bool = False) -> str:
        """Raises Unreachable, Refused."""
        at = (known.token_url, known.client_id)
        with self._lock:
            kept = self._kept.get(at)
        if kept is not None and not fresh and time.monotonic() < kept[0]:
            return kept[1]
        answer = outbound.send("POST", known.token_url, form=_asked(platform, known))
        token = answer.get("access_token")
        lives = answer.get("expires_in", 0)
        if not isinstance(token, str) or not isinstance(lives, int | float):
            raise Unreachable(f"{known.name} did not issue an access token.")
        with self._lock:
            self._kept[at] = (time.monotonic() + lives - _TOKEN_MARGIN_SECONDS, token)
        return token

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()


def _asked(platform: Platform, known: LtiPlatformRow) -> dict[str, str]:
    key, now = lti_platforms.signing_key(platform), int(time.time())
    claims = {
        "iss": known.client_id,
        "sub": known.client_id,
        "aud": known.token_audience or known.token_url,
        "iat": now,
        "exp": now + _ASSERTION_SECONDS,
        "jti": secrets.token_urlsafe(24),
    }
    return {
        "grant_type": "client_credentials",
        "client_assertion_type": _ASSERTION_TYPE,
        "client_assertion": jwt.encode({"alg": "RS256", "kid": str(key.kid)}, claims, key),
        "scope": SCORE_SCOPE,
    }


TOKENS = _Tokens()


def _settle(platform: Platform, score: _Score, sent_at: datetime, error: Unreachable | None) -> None:
    """A grade that changed meanwhile goes again."""
    now = utcnow()
    with writing(platform.sessions) as session:
        row = session.scalar(select(LtiScoreRow).where(LtiScoreRow.id == score.id).with_for_update())
        if row is None:
            return
        row.held_until = None
        same = (row.points, row.most) == (score.points, score.most)
        if error is None:
            row.sent_points, row.sent_most, row.sent_at = score.points, score.most, sent_at
            if score.subject is not None:
                row.subject_sha256 = subject_digest(score.learning, score.subject)
            if same:
                row.state, row.error, row.tries = LtiScoreState.SENT.value, "", 0
        elif same:
            row.tries = score.tries + 1
            row.error = _explained(score, error)
            lost = _hopeless(error) or row.tries >= limits.SCORE_TRIES
            row.state = LtiScoreState.FAILED.value if lost else LtiScoreState.PENDING.value
            row.next_at = now + _pause(row.tries)
    if error is not None:
        log.warning("score_not_sent", score=score.id, platform=score.learning.name, error=error.message)


def _hopeless(error: Unreachable) -> bool:
    if isinstance(error, _Hopeless):
        return True
    return isinstance(error, Refused) and error.answered < 500 and error.answered not in _AGAIN


def _explained(score: _Score, error: Unreachable) -> str:
    if isinstance(error, Refused) and not isinstance(error, _Hopeless) and error.answered in _GONE:
        name = score.learning.name
        return (
            f"The gradebook column no longer exists in {name} ({error.answered}). Follow the "
            "link there, or make a new one."
        )
    said = f" Its answer: {error.text}" if isinstance(error, Refused) and error.text.strip() else ""
    return f"{error.message}{said}"[:500]


def _pause(tries: int) -> timedelta:
    seconds = limits.SCORE_RETRY_SECONDS * 2 ** min(tries - 1, 30)
    return timedelta(seconds=min(seconds, limits.SCORE_RETRY_MOST_SECONDS))
