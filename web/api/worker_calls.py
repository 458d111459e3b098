"""Workers on hosts without the database's password: see ``grader.queue.remote``."""

from __future__ import annotations

import io
import zlib
from contextlib import suppress

from flask import Response, request
from redis import RedisError

from grader import limits
from grader.challenge import bundle
from grader.device_kinds import find_kind
from grader.errors import BadRequest, Conflict, GraderError, NotAllowed, NotFound, Unreachable
from grader.queue import loop, worker_calls
from grader.queue.direct import DirectCoordinator
from grader.queue.worker_calls import Done, Fence, HeldCall, WorkerCall
from grader.records import claims, leases, queues, workers
from grader.records.baselines import BaselineKey
from grader.records.claims import Claim
from grader.records.models import WorkerRow
from grader.schemas.artefact import Artefact
from grader.service.operation import worker_tokens
from grader.wakeups import COMPILE, KERNELS, run_queue
from grader.web import waiting
from grader.web.access import WORKER, open_to
from grader.web.answers import answer, file_answer
from grader.web.api.resource import resource
from grader.web.auth.identity import current_worker
from grader.web.current import platform

api = resource("worker", "What workers on other hosts ask, with a worker's token and no other")


@api.before_request
def _unpack() -> None:
    """Reports are sent compressed. Raises BadRequest."""
    if request.headers.get("Content-Encoding") != "gzip":
        return
    current_worker()  # no stranger makes us unpack
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        data = unpacker.decompress(request.get_data(), limits.WORKER_BODY_BYTES)
    except zlib.error as error:
        raise BadRequest("The body is not compressed by gzip.") from error
    if not unpacker.eof:
        raise BadRequest(f"The body is cut off, or has more than {limits.WORKER_BODY_BYTES:,} bytes.")
    request.environ["wsgi.input"] = io.BytesIO(data)
    request.environ["CONTENT_LENGTH"] = str(len(data))
    request.max_content_length = limits.WORKER_BODY_BYTES
    for name in ("stream", "content_length", "_cached_data", "_cached_json"):
        request.__dict__.pop(name, None)  # of the packed body


def _row(call: WorkerCall) -> WorkerRow:
    """Raises NotAllowed for another's worker."""
    with platform().sessions() as session:
        row = workers.find(session, call.worker)
    if row is None or row.token_id != current_worker().number:
        raise NotAllowed(f"'{call.worker[:128]}' is not a worker of this token.", "Register it first.")
    return row


def _coordinator(call: WorkerCall) -> DirectCoordinator:
    return DirectCoordinator(platform(), _row(call).name)


def _held(coordinator: DirectCoordinator, fence: Fence) -> Claim | None:
    """From the rows: a worker says only which one it means."""
    with platform().sessions() as session:
        return claims.held_by(session, coordinator.name, fence.id, fence.attempt)


def _still_held(call: HeldCall) -> tuple[DirectCoordinator, Claim]:
    """Raises Conflict."""
    coordinator = _coordinator(call)
    held = _held(coordinator, call.held)
    if held is None:
        raise Conflict("This worker no longer holds the submission.")
    return coordinator, held


@api.post("/worker/register", responses={200: worker_calls.Registered})
@open_to(WORKER)
def register(body: worker_calls.RegisterCall) -> Response:
    """Begin to serve. A worker of the same name and token is replaced; 409 while another's is alive."""
    token, wanted = current_worker(), body.registration
    if wanted.device and (find_kind(wanted.device) is None or not token.serves(wanted.device)):
        raise NotAllowed(f"The worker token '{token.name}' does not serve the board '{wanted.device[:32]}'.")
    if not wanted.device and not (wanted.compiles and token.serves(queues.COMPILE)):
        raise NotAllowed(f"The worker token '{token.name}' does not serve the compile queue.")
    with platform().sessions() as session:
        row = workers.find(session, body.worker)
    if row is not None and row.token_id != token.number and row.ended_at is None:
        raise Conflict("Another worker has this name.", "Start it with another --name.")
    coordinator = DirectCoordinator(platform(), body.worker, body.process, token.number)
    draining = coordinator.register(wanted)
    return answer(
        worker_calls.Registered(
            draining=draining, heartbeat_s=coordinator.heartbeat_s, attempts=coordinator.attempts
        )
    )


@api.post("/worker/leave", responses={200: Done})
@open_to(WORKER)
def leave(body: WorkerCall) -> Response:
    """End. What it holds goes back to the queue."""
    worker_tokens.let_go(platform(), _row(body).name)
    return answer(Done(done=True))


@api.post("/worker/look", responses={200: worker_calls.Looked})
@open_to(WORKER)
def look(body: worker_calls.LookCall) -> Response:
    """Whether staff drain the worker, and whether its submission is still its own."""
    coordinator = _coordinator(body)
    held = _held(coordinator, body.held) if body.held is not None else None
    standing = coordinator.look(held, body.beat, body.reading)
    return answer(worker_calls.Looked(standing=standing))


@api.post("/worker/sandbox-fault", responses={200: Done})
@open_to(WORKER)
def set_sandbox_fault(body: worker_calls.FaultCall) -> Response:
    """Why the host starts no boxes."""
    _coordinator(body).set_sandbox_fault(body.reason)
    return answer(Done(done=True))


@api.post("/worker/gpu", responses={200: Done})
@open_to(WORKER)
def put_in_service(body: worker_calls.GpuCall) -> Response:
    """The worker's GPU works."""
    row = _row(body)
    if (body.gpu.uuid, body.gpu.device) != (row.gpu, row.device):
        raise NotAllowed("This is not the worker's GPU.")
    DirectCoordinator(platform(), row.name).put_in_service(body.gpu)
    return answer(Done(done=True))


@api.post("/worker/bad-gpu", responses={200: Done})
@open_to(WORKER)
def take_out_of_service(body: worker_calls.BadGpuCall) -> Response:
    """The worker's GPU is bad."""
    row = _row(body)
    if row.gpu is None:
        raise NotAllowed("This worker has no GPU.")
    DirectCoordinator(platform(), row.name).take_out_of_service(row.gpu, body.reason)
    return answer(Done(done=True))


@api.post("/worker/ceilings", responses={200: Done})
@open_to(WORKER)
def keep_ceilings(body: worker_calls.CeilingsCall) -> Response:
    """A calibration: what a GPU reaches."""
    if not current_worker().serves(body.gpu.device) or body.key.gpu != body.gpu.uuid:
        raise NotAllowed("This token does not serve that GPU's board.")
    DirectCoordinator(platform(), "").keep_ceilings(body.key, body.found, body.gpu)
    return answer(Done(done=True))


@api.post("/worker/compilers", responses={200: Done})
@open_to(WORKER)
def others_compile(body: WorkerCall) -> Response:
    """`done`: a worker that only compiles serves."""
    return answer(Done(done=_coordinator(body).others_compile()))


@api.post("/worker/wait", responses={200: worker_calls.Woken})
@open_to(WORKER)
def wait(body: worker_calls.WaitCall) -> Response:
    """Wait for a wake-up of these queues, the first ones first."""
    row = _row(body)
    wanted, deferred = (
        [queue for queue in given if _serves(row, queue)] for given in (body.queues, body.deferred)
    )
    if not wanted and not deferred:
        raise NotAllowed("This worker serves none of these queues.")
    try:
        url = platform().settings.queue_url
        queue = loop.next_wakeup(url, wanted, deferred, body.seconds, waiting.ending.is_set)
    except (RedisError, OSError) as error:
        raise Unreachable("Redis does not answer.", "Nothing is lost; try again in a moment.") from error
    if queue is not None and _ended(row.name):
        platform().wakeups.enqueue(queue)  # nobody reads this answer
        queue = None
    return answer(worker_calls.Woken(queue=queue))


def _serves(row: WorkerRow, queue: str) -> bool:
    if queue in (COMPILE, KERNELS):
        return row.compiles and current_worker().serves(queues.COMPILE)
    return bool(row.device) and queue == run_queue(row.device)


def _ended(name: str) -> bool:
    with platform().sessions() as session:
        row = workers.find(session, name)
    return row is None or row.ended_at is not None


@api.post("/worker/wake", responses={200: Done})
@open_to(WORKER)
def wake(body: worker_calls.WakeCall) -> Response:
    """Somebody else serves a submission of this queue."""
    if not _serves(_row(body), body.queue):
        raise NotAllowed("This worker does not serve that queue.")
    if body.hint:
        platform().wakeups.hint(body.queue)
    else:
        platform().wakeups.enqueue(body.queue)
    return answer(Done(done=True))


@api.post("/worker/announce", responses={200: Done})
@open_to(WORKER)
def announce(body: worker_calls.AnnounceCall) -> Response:
    """A submission that the worker gave back waits again."""
    _row(body)
    if find_kind(body.device) is None:
        raise NotFound("There is no such board.")
    platform().wakeups.announce(body.device, body.language)
    return answer(Done(done=True))


@api.post("/worker/claim", responses={200: worker_calls.Claimed})
@open_to(WORKER)
def claim(body: worker_calls.ClaimCall) -> Response:
    """Take the next submission of the worker's board."""
    row = _row(body)
    if not row.device:
        raise NotAllowed("This worker only compiles.")
    coordinator = DirectCoordinator(platform(), row.name)
    held = coordinator.claim(row.device, body.toolkit, body.machine, body.key)
    served = None
    if held is not None:
        with suppress(GraderError):
            served = _served(coordinator, held.challenge)
    return answer(worker_calls.Claimed(claim=held, served=served))


@api.post("/worker/claim-to-compile", responses={200: worker_calls.ToCompile})
@open_to(WORKER)
def claim_to_compile(body: worker_calls.CompileCall) -> Response:
    """Take the next submission to compile."""
    row = _row(body)
    found = None
    if _serves(row, COMPILE):
        found = DirectCoordinator(platform(), row.name).claim_to_compile(body.key)
    return answer(worker_calls.ToCompile(compilation=found))


@api.post("/worker/challenge", responses={200: worker_calls.Served})
@open_to(WORKER)
def serve(body: worker_calls.ChallengeCall) -> Response:
    """The served version of a challenge."""
    return answer(_served(_coordinator(body), body.slug))


def _served(coordinator: DirectCoordinator, slug: str) -> worker_calls.Served:
    served = coordinator.serve(slug)
    return worker_calls.Served(version=served.version, digest=bundle.snapshot(served.challenge).digest)


@api.post("/worker/archive", responses={200: {"content": {"application/zip": {}}}})
@open_to(WORKER)
def get_archive(body: worker_calls.ArchiveCall) -> Response:
    """A challenge's files as a ZIP: its reference and hidden cases, too. 409 if they no longer have this digest."""
    packed = bundle.snapshot(_coordinator(body).load(body.slug))
    if packed.digest != body.digest:
        raise Conflict("The challenge's files have changed.", "Ask for the served version again.")
    return file_answer(packed.packed(), "application/zip", f"{packed.slug}.zip")


@api.post("/worker/draws", responses={200: worker_calls.Drawn})
@open_to(WORKER)
def draw(body: worker_calls.DrawsCall) -> Response:
    """What the platform adds to a judgement: frozen baselines, ceilings, a competition's data."""
    coordinator, held = _still_held(body)
    key = BaselineKey(held.challenge, body.version, body.device_model, body.torch)
    found = coordinator.draws(held, key, body.ceilings)
    return answer(
        worker_calls.Drawn(
            seed_key=found.seed_key,
            workloads=[*found.workloads],
            baselines=found.baselines,
            ceilings={**found.ceilings},
        )
    )


@api.post("/worker/progress", responses={200: worker_calls.Progressed})
@open_to(WORKER)
def put_progress(body: worker_calls.ProgressCall) -> Response:
    """How far the judgement is."""
    coordinator = _coordinator(body)
    held = _held(coordinator, body.held)
    if held is None:
        return answer(worker_calls.Progressed(since=body.view.since))
    stored = coordinator.progress(held, body.state, body.view, body.begins)
    return answer(worker_calls.Progressed(since=stored.since))


@api.post("/worker/baselines", responses={200: Done})
@open_to(WORKER)
def freeze(body: worker_calls.FreezeCall) -> Response:
    """The first times of a challenge's references on this model. Existing ones stay."""
    coordinator, held = _still_held(body)
    key = BaselineKey(held.challenge, body.version, body.device_model, body.torch)
    if body.served.challenge != held.challenge:
        raise BadRequest("This is not the submission's challenge.")
    coordinator.freeze(held, key, body.times, body.served)
    return answer(Done(done=True))


@api.post("/worker/finish", responses={200: Done})
@open_to(WORKER)
def finish(body: worker_calls.FinishCall) -> Response:
    """Store the verdict. `done`: false if the worker lost the submission; a repeated call stores nothing more."""
    coordinator = _coordinator(body)
    held = _held(coordinator, body.held)
    if held is None:
        with platform().sessions() as session:
            return answer(Done(done=leases.finished(session, body.held.id, body.held.attempt)))
    if {body.served.challenge, body.report.challenge} != {held.challenge}:
        raise BadRequest("This is not the submission's challenge.")
    return answer(Done(done=coordinator.finish(held, body.report, body.served, body.quiz)))


@api.post("/worker/give-back", responses={200: worker_calls.LetGo})
@open_to(WORKER)
def give_back(body: worker_calls.GiveBackCall) -> Response:
    """Let the submission go without counting an attempt."""
    coordinator = _coordinator(body)
    held = _held(coordinator, body.held)
    state = coordinator.give_back(held, body.why) if held is not None else None
    return answer(worker_calls.LetGo(state=state))


@api.post("/worker/fail", responses={200: worker_calls.LetGo})
@open_to(WORKER)
def fail(body: worker_calls.FailCall) -> Response:
    """Let the submission go after a failure of the platform, which counts as an attempt."""
    coordinator = _coordinator(body)
    held = _held(coordinator, body.held)
    state = coordinator.fail(held, body.error, body.report) if held is not None else None
    return answer(worker_calls.LetGo(state=state))


@api.post("/worker/hand-on", responses={200: Done})
@open_to(WORKER)
def hand_on(body: worker_calls.HandOnCall) -> Response:
    """It is compiled: to the workers that run it."""
    coordinator = _coordinator(body)
    held = _held(coordinator, body.held)
    return answer(Done(done=held is not None and coordinator.hand_on(held, body.artefact)))


@api.post("/worker/artefact", responses={200: worker_calls.FoundArtefact})
@open_to(WORKER)
def get_artefact(body: worker_calls.KeyCall) -> Response:
    """A compiled library by the hash of its input."""
    return answer(worker_calls.FoundArtefact(artefact=_coordinator(body).artefact(body.key)))


@api.post("/worker/artefact/use", responses={200: Done})
@open_to(WORKER)
def use_artefact(body: worker_calls.KeyCall) -> Response:
    """Whether a compiled library exists. It is then kept longer."""
    return answer(Done(done=_coordinator(body).use_artefact(body.key)))


@api.post("/worker/artefact/part", responses={200: Done})
@open_to(WORKER)
def keep_part(body: worker_calls.PartCall) -> Response:
    """Store a part of a large library, until the whole one is stored."""
    # Among the artefacts: a part that nobody comes back for makes room like any of them.
    part = Artefact(key=body.sha256, arch="", toolkit="", library=body.library, sha256=body.sha256)
    if not part.intact:
        raise BadRequest("The part does not have its hash.")
    _compiling(body).keep_artefact(part)
    return answer(Done(done=True))


@api.post("/worker/artefact/keep", responses={200: Done})
@open_to(WORKER)
def keep_artefact(body: worker_calls.ArtefactCall) -> Response:
    """Store a compiled library."""
    coordinator = _compiling(body)
    artefact = body.artefact
    if body.parts:
        found = [coordinator.artefact(part) for part in body.parts]
        if None in found:
            raise Conflict("A part of the library is no longer here.", "Send all its parts again.")
        library = b"".join(part.library for part in found if part is not None)
        artefact = artefact.model_copy(update={"library": library})
    if not artefact.intact:
        raise BadRequest("The library does not have its hash.")
    if body.reserved:
        coordinator.fill_kernels(artefact)
    else:
        coordinator.keep_artefact(artefact)
    for part in body.parts:
        coordinator.forget_artefact(part)
    return answer(Done(done=True))


@api.post("/worker/kernels", responses={200: worker_calls.WaitingKernels})
@open_to(WORKER)
def waiting_kernels(body: WorkerCall) -> Response:
    """Submissions behind busy GPUs whose kernels can be compiled before their turn."""
    return answer(worker_calls.WaitingKernels(sources=_compiling(body).waiting_kernels()))


@api.post("/worker/kernels/reserve", responses={200: Done})
@open_to(WORKER)
def reserve_kernels(body: worker_calls.ReserveCall) -> Response:
    """`done`: nobody else compiles them."""
    return answer(Done(done=_compiling(body).reserve_kernels(body.key, body.user)))


@api.post("/worker/kernels/release", responses={200: Done})
@open_to(WORKER)
def release_kernels(body: worker_calls.KeyCall) -> Response:
    """Leave them to others."""
    _compiling(body).release_kernels(body.key)
    return answer(Done(done=True))


def _compiling(call: WorkerCall) -> DirectCoordinator:
    row = _row(call)
    if not _serves(row, COMPILE):
        raise NotAllowed("This worker does not compile.")
    return DirectCoordinator(platform(), row.name)
