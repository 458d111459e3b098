from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from grader import limits
from grader.challenge.loader import Challenge
from grader.errors import BadRequest, NotFound
from grader.records import forecast, order, queues, workers
from grader.records.engine import clock, writing
from grader.records.models import PauseRow, SubmissionRow, WorkerRow, utcnow
from grader.records.order import pending, runnable
from grader.records.states import ACTIVE
from grader.schemas.queue import (
    ChallengeKind,
    Pause,
    QueueList,
    QueueView,
    WorkerList,
    WorkerState,
    WorkerView,
)
from grader.schemas.submission import JudgingReason, State
from grader.service import audit
from grader.service.accounts.accounts import User, check_staff
from grader.service.courses.permissions import Action
from grader.service.devices import in_order
from grader.service.platform import Platform
from grader.service.submissions.waiting import compilers_of, judges_of
from grader.wakeups import run_queue

# Workers that ended earlier are not shown.
_RECENTLY = timedelta(hours=1)


def list_queues(platform: Platform) -> QueueList:
    """Served, configured or with waiting submissions."""
    with platform.sessions() as session:
        paused = queues.pauses(session)
        devices = _devices(platform, session)
        now, silent_s = clock(session), platform.settings.lease_s
        compiling = QueueView(
            name=queues.COMPILE,
            paused=_pause(paused.of(queues.COMPILE)),
            waiting=order.uncompiled(session),
            running=_compiling(session),
            workers=len(compilers_of(session, now, silent_s).serving),
        )
        found = [
            QueueView(
                name=device,
                paused=_pause(paused.of(device)),
                waiting=order.pending_on(session, device),
                running=len(forecast.running(session, device, now)),
                workers=len(judges_of(session, device, now, silent_s).serving),
            )
            for device in devices
        ]
        return QueueList(paused=_pause(paused.rows.get(queues.ALL)), queues=[*found, compiling])


def pause_queue(platform: Platform, user: User, queue: str, reason: str) -> QueueList:
    """``queue``: a device, ``compile`` or ``all``. Running submissions continue. Raises NotAllowed, NotFound,
    BadRequest."""
    check_staff(user)
    reason = " ".join(reason.split())
    if len(reason) > limits.REASON_CHARS:
        raise BadRequest(f"The reason is longer than {limits.REASON_CHARS} characters.", "Shorten it.")
    with writing(platform.sessions) as session:
        _check_queue(platform, session, queue)
        queues.pause(session, queue, reason, user.name, utcnow())
        audit.note(session, user, Action.QUEUE_PAUSE, f"/queues/{queue}", reason=reason)
    return list_queues(platform)


def resume_queue(platform: Platform, user: User, queue: str) -> QueueList:
    """Idempotent. Raises NotAllowed, NotFound."""
    check_staff(user)
    with writing(platform.sessions) as session:
        if not queues.resume(session, queue):
            _check_queue(platform, session, queue)
        else:
            audit.note(session, user, Action.QUEUE_RESUME, f"/queues/{queue}")
    # Without Redis the sweeper does it later.
    if platform.wakeups.ping():
        issue_missing_wakeups(platform)
    return list_queues(platform)


def list_workers(platform: Platform, user: User) -> WorkerList:
    """Alive, drained, out of service, or recently ended. Raises NotAllowed."""
    check_staff(user)
    with platform.sessions() as session:
        now = clock(session)
        held = session.execute(
            select(SubmissionRow.worker, SubmissionRow.public_id).where(SubmissionRow.state.in_(ACTIVE))
        )
        in_hand = {claim.worker: claim.public_id for claim in held}
        found = [
            _worker(worker, in_hand.get(worker.name), now, platform.settings.lease_s)
            for worker in workers.everyone(session, now - _RECENTLY)
        ]
    return WorkerList(workers=found)


def drain_worker(platform: Platform, user: User, name: str) -> WorkerList:
    """It finishes its submission and ends. Raises NotAllowed, NotFound."""
    check_staff(user)
    with writing(platform.sessions) as session:
        known = workers.drain(session, name, utcnow())
        if known:
            audit.note(session, user, Action.WORKER_DRAIN, f"/workers/{name}")
    return _known(platform, user, name, known)


def resume_worker(platform: Platform, user: User, name: str) -> WorkerList:
    """Now or when next started. Raises NotAllowed, NotFound."""
    check_staff(user)
    with writing(platform.sessions) as session:
        known = workers.resume(session, name)
        if known:
            audit.note(session, user, Action.WORKER_RESUME, f"/workers/{name}")
    return _known(platform, user, name, known)


def kind_of(platform: Platform, challenge: Challenge) -> JudgingReason:
    """Chosen by staff, else by the track."""
    with platform.sessions() as session:
        return queues.kind_of(session, challenge.slug) or _of_track(platform, challenge)


def get_kind(platform: Platform, user: User, slug: str) -> ChallengeKind:
    """Raises NotAllowed, UnknownChallenge."""
    check_staff(user)
    challenge = platform.catalogue.load(slug)
    with platform.sessions() as session:
        chosen = queues.kind_of(session, challenge.slug)
    kind = chosen or _of_track(platform, challenge)
    return ChallengeKind(challenge=challenge.slug, kind=kind, chosen=chosen is not None)


def set_kind(platform: Platform, user: User, slug: str, kind: JudgingReason | None) -> ChallengeKind:
    """For new submissions; None: by the track. Raises NotAllowed, UnknownChallenge, BadRequest."""
    check_staff(user)
    challenge = platform.catalogue.load(slug)
    if kind is not None and not kind.chosen:
        raise BadRequest(
            "This kind is only for rejudges, runs and finals.", "Choose competition, course or practice."
        )
    with writing(platform.sessions) as session:
        before = {"kind": queues.kind_of(session, challenge.slug)}
        queues.set_kind(session, challenge.slug, kind)
        path = f"/challenges/{challenge.slug}/kind"
        audit.note(session, user, Action.CHALLENGE_KIND, path, before=before, after={"kind": kind})
    return get_kind(platform, user, slug)


def issue_missing_wakeups(platform: Platform) -> int:
    """Returns their number. Skips paused queues. Raises redis.RedisError."""
    with platform.sessions() as session:
        paused = queues.pauses(session)
        waiting = session.execute(
            select(SubmissionRow.device, func.count()).where(runnable()).group_by(SubmissionRow.device)
        )
        wanted = {run_queue(device): count for device, count in waiting if not paused.of(device)}
        if not paused.of(queues.COMPILE):
            wanted[queues.COMPILE] = order.uncompiled(session)
    issued = 0
    for queue, count in wanted.items():
        missing = count - platform.wakeups.waiting(queue)
        if missing > 0 and platform.wakeups.enqueue(queue, missing):
            issued += missing
    return issued


def _of_track(platform: Platform, challenge: Challenge) -> JudgingReason:
    return platform.catalogue.known_curriculum.kind(challenge.manifest.track)


def _devices(platform: Platform, session: Session) -> list[str]:
    alive = workers.alive(session, clock(session), platform.settings.lease_s)
    served = in_order(platform.settings.device_list, alive)
    wanted = session.scalars(select(SubmissionRow.device).where(pending()).distinct())
    paused = [row for row in queues.pauses(session).rows if row not in (queues.ALL, queues.COMPILE)]
    return list(dict.fromkeys([*served, *sorted(wanted), *sorted(paused)]))


def _check_queue(platform: Platform, session: Session, queue: str) -> None:
    known = [*_devices(platform, session), queues.COMPILE, queues.ALL]
    if queue not in known:
        raise NotFound(f"There is no queue '{queue[:32]}'.", f"Queues: {', '.join(known)}.")


def _compiling(session: Session) -> int:
    """Counts also those that the same worker runs next."""
    return session.scalar(select(func.count()).where(SubmissionRow.state == State.COMPILING)) or 0


def _pause(row: PauseRow | None) -> Pause | None:
    return None if row is None else Pause(reason=row.reason, since=row.since)


def _known(platform: Platform, user: User, name: str, known: bool) -> WorkerList:
    if not known:
        raise NotFound(f"There is no worker '{name[:128]}'.", "`grader admin worker list` lists the workers.")
    return list_workers(platform, user)


def _worker(row: WorkerRow, in_hand: str | None, now: datetime, silent_s: float) -> WorkerView:
    return WorkerView(
        name=row.name,
        device=row.device,
        compiles=row.compiles,
        host=row.host,
        state=_state(row, in_hand is not None, now - timedelta(seconds=silent_s)),
        submission=in_hand,
        started_at=row.started_at,
        heard_of_at=row.heartbeat,
        drained_at=row.drained_at,
    )


def _state(row: WorkerRow, works: bool, silent_since: datetime) -> WorkerState:
    if row.out_of_service:
        return WorkerState.OUT_OF_SERVICE
    gone = row.ended_at is not None or row.heartbeat <= silent_since
    if row.drained_at is not None:
        return WorkerState.DRAINING if works and not gone else WorkerState.DRAINED
    if row.ended_at is not None:
        return WorkerState.ENDED
    if gone:
        return WorkerState.SILENT
    return WorkerState.WORKING if works else WorkerState.IDLE
