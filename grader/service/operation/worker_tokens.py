"""Tokens by which workers on hosts without the database's password serve queues over HTTPS. They are no users' tokens:
they open the routes for workers and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import find_kind
from grader.errors import BadRequest, Conflict, NotFound, NotSignedIn
from grader.logs import get_logger
from grader.records import claims, leases, queues, worker_tokens, workers
from grader.records.engine import clock, writing
from grader.records.models import WorkerRow, WorkerTokenRow
from grader.schemas.submission import State
from grader.schemas.worker_token import (
    KeptWorkerToken,
    NewWorkerToken,
    WorkerTokenBody,
    WorkerTokenList,
)
from grader.service import audit
from grader.service.accounts.accounts import User, check_staff
from grader.service.accounts.keys import digest, new_key
from grader.service.accounts.tokens import check_lifetime
from grader.service.courses.permissions import Action
from grader.service.platform import Platform

log = get_logger(__name__)

# So secret scanners recognise them, and nobody takes one for a user's.
PREFIX = "grw_"


@dataclass(frozen=True)
class WorkerToken:
    number: int
    name: str
    devices: frozenset[str]

    def serves(self, queue: str) -> bool:
        """``queue``: a board, or ``compile``."""
        return not self.devices or queue in self.devices


def issue(platform: Platform, user: User, body: WorkerTokenBody) -> NewWorkerToken:
    """Raises NotAllowed, BadRequest (device, days), Conflict (name)."""
    check_staff(user)
    for device in body.devices:
        if device != queues.COMPILE and find_kind(device) is None:
            raise BadRequest(
                f"There is no board '{device[:32]}'.", "`grader admin queue list` lists the boards."
            )
    lifetime = check_lifetime(platform, timedelta(days=body.days) if body.days is not None else None)
    token = new_key(PREFIX)
    with writing(platform.sessions) as session:
        if worker_tokens.named(session, body.name) is not None:
            raise Conflict(
                f"There is already a worker token '{body.name}'.",
                f"Choose another name, or revoke it: grader admin worker revoke {body.name}",
            )
        now = clock(session)
        row = WorkerTokenRow(
            name=body.name,
            sha256=digest(token),
            devices=",".join(dict.fromkeys(body.devices)),
            created_at=now,
            expires_at=now + lifetime,
        )
        session.add(row)
        session.flush()
        audit.note(
            session,
            user,
            Action.WORKER_TOKEN,
            f"/worker-tokens/{body.name}",
            after={"devices": row.devices, "expires_at": row.expires_at.isoformat()},
        )
        return NewWorkerToken(**_view(row, 0).model_dump(), token=token)


def list_tokens(platform: Platform, user: User) -> WorkerTokenList:
    """Raises NotAllowed."""
    check_staff(user)
    with platform.sessions() as session:
        serving = select(WorkerRow.token_id, func.count().label("serving")).where(
            WorkerRow.ended_at.is_(None)
        )
        counts = {row.token_id: row.serving for row in session.execute(serving.group_by(WorkerRow.token_id))}
        rows = worker_tokens.everyone(session)
        return WorkerTokenList(tokens=[_view(row, counts.get(row.id, 0)) for row in rows])


def revoke(platform: Platform, user: User, name: str) -> WorkerTokenList:
    """What its workers hold goes back to the queue, uncounted. Raises NotAllowed, NotFound."""
    check_staff(user)
    with writing(platform.sessions) as session:
        row = worker_tokens.named(session, name)
        if row is None:
            raise NotFound(
                f"There is no worker token '{name[:64]}'.", "`grader admin worker tokens` lists them."
            )
        names, now = workers.of_token(session, row.id), clock(session)
        held = claims.all_held_by(session, names)
        back = [claim for claim in held if _give_back(session, claim, now)]
        for each in names:
            workers.leave(session, each, now)
        worker_tokens.remove(session, row.id)
        audit.note(session, user, Action.WORKER_TOKEN, f"/worker-tokens/{name}", after={"revoked": True})
    for claim in back:
        platform.wakeups.announce(claim.device, claim.language)
    return list_tokens(platform, user)


def let_go(platform: Platform, worker: str) -> None:
    """A worker that ends holds nothing, even if an answer to it was lost."""
    with writing(platform.sessions) as session:
        now = clock(session)
        held = claims.all_held_by(session, [worker])
        back = [claim for claim in held if _give_back(session, claim, now)]
        workers.leave(session, worker, now)
    for claim in back:
        platform.wakeups.announce(claim.device, claim.language)


def _give_back(session: Session, claim: claims.Claim, now: datetime) -> bool:
    return leases.give_back(session, claim.id, claim.attempt, now) is State.QUEUED


def find(platform: Platform, token: str) -> WorkerToken:
    """Raises NotSignedIn."""
    with platform.sessions() as session:
        row = worker_tokens.find(session, digest(token))
        now = clock(session)
    if row is None:
        raise NotSignedIn(
            "This is not a valid worker token.", "Staff issue one: grader admin worker token NAME"
        )
    if row.expires_at <= now:
        raise NotSignedIn(
            f"The worker token '{row.name}' has expired.", "Staff issue one: grader admin worker token NAME"
        )
    if row.last_used_at is None or (now - row.last_used_at).total_seconds() > limits.TOKEN_USE_SECONDS:
        _note_use(platform, row.id, now)
    return WorkerToken(row.id, row.name, _devices(row))


def _note_use(platform: Platform, number: int, now: datetime) -> None:
    try:
        with writing(platform.sessions) as session:
            worker_tokens.note_use(session, number, now)
    except OperationalError:  # requests still work on a full disk
        log.warning("token_use_not_noted")


def _devices(row: WorkerTokenRow) -> frozenset[str]:
    return frozenset(filter(None, row.devices.split(",")))


def _view(row: WorkerTokenRow, serving: int) -> KeptWorkerToken:
    return KeptWorkerToken(
        id=row.id,
        name=row.name,
        devices=sorted(_devices(row)),
        workers=serving,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
    )
