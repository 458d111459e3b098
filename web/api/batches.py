from __future__ import annotations

from flask import Response, request
from flask_openapi3.models import RawModel
from pydantic import BaseModel, ConfigDict, Field

from grader import limits
from grader.schemas.batch import BatchList, BatchQuery, BatchReceipt, BatchView
from grader.schemas.submission import ErrorEnvelope
from grader.service.submissions import batches
from grader.web import throttle
from grader.web.access import OWNER, SIGNED_IN, open_to
from grader.web.answers import answer, cheap
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

JSON_LINES = "application/x-ndjson"

api = resource("batches", "Submissions in bulk")


class BatchPath(BaseModel):
    batch: str


class ResultsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    after: int = Field(
        default=0, ge=0, le=limits.BATCH_ENTRIES, description="the `number` of the last result that you have"
    )
    limit: int = Field(default=limits.BATCH_RESULTS, ge=1, le=limits.BATCH_RESULTS)
    wait: float = Field(
        default=0.0,
        ge=0.0,
        le=limits.BATCH_WAIT_SECONDS,
        description="seconds to wait for one; a busy server answers at once all the same",
    )


class JsonLines(RawModel):
    mimetypes: list[str] = [JSON_LINES]  # noqa: RUF012 - the library's own declaration


@api.post("/batches", responses={201: BatchReceipt, 409: ErrorEnvelope})
@open_to(SIGNED_IN)
@throttle.batch_limit
def create_batch(query: BatchQuery, raw: JsonLines) -> Response:
    """Send JSON lines to be judged, each a `BatchLine`: {"id": ..., "challenge": ..., "language": ..., "source": ...}.
    A larger file is sent in parts under one `name`; lines that the batch has are skipped. They enter the queue behind
    what people submit, within your limits. A bad line is refused by its result. 409: the batch was cancelled."""
    received = batches.receive(platform(), current_user(), query, request.get_data())
    response = answer(received, 201)
    response.headers["Location"] = f"/api/v1/batches/{received.batch.id}"
    return response


@api.get("/batches", responses={200: BatchList})
@open_to(SIGNED_IN)
def list_batches() -> Response:
    """Your batches, the newest 50."""
    return cheap(batches.list_batches(platform(), current_user()))


@api.get("/batches/<batch>", responses={200: BatchView})
@open_to(OWNER)
def get_batch(path: BatchPath) -> Response:
    """How far a batch is."""
    return cheap(batches.get_batch(platform(), current_user(), path.batch))


@api.get("/batches/<batch>/results", responses={200: {"content": {JSON_LINES: {}}}})
@open_to(OWNER)
@throttle.batch_limit
def get_batch_results(path: BatchPath, query: ResultsQuery) -> Response:
    """Results as JSON lines, each a `BatchResult`, in the order in which they ended. Ask again with `after`; there are
    no more once the batch has `finished_at` and you have `ended` of them."""
    found = batches.results(
        platform(), current_user(), path.batch, query.after, limit=query.limit, wait_s=query.wait
    )
    response = Response("".join(f"{line}\n" for line in found), mimetype=JSON_LINES)
    response.headers["Cache-Control"] = "private, no-store"
    return response


@api.post("/batches/<batch>/cancel", responses={200: BatchView})
@open_to(OWNER)
def cancel_batch(path: BatchPath) -> Response:
    """Cancel all lines that have not begun. Repeating it is not an error."""
    return answer(batches.cancel(platform(), current_user(), path.batch))
