"""Queues, quotas, keys and reuse over the API."""

from __future__ import annotations

from flask.testing import FlaskClient

from grader.schemas.queue import ChallengeKind, QueueList
from grader.schemas.submission import JudgingReason, SubmissionView, WaitReason
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.quotas import get_quotas
from tests.web import builders
from tests.web.conftest import Visit
from tests.web.refusals import refused

API = "/api/v1"
BODY = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "add.py"}


def _post(client: FlaskClient, status: int = 201, key: str = "", **values: object) -> SubmissionView:
    headers = {"Idempotency-Key": key} if key else {}
    answer = client.post(f"{API}/submissions", json=BODY | values, headers=headers)
    assert answer.status_code == status, answer.text
    return SubmissionView.model_validate_json(answer.data)


def test_a_key_reused_for_another_request_is_a_conflict(call: Visit, ada: User, bob: User) -> None:
    client = call(ada)
    first = _post(client, key="once")
    assert _post(client, key="once").id == first.id
    answer = client.post(
        f"{API}/submissions", json=BODY | {"source": "import triton\n"}, headers={"Idempotency-Key": "once"}
    )
    refused(answer, 409, "conflict")
    assert first.id in answer.text
    assert _post(call(bob), key="once").id != first.id


def test_a_reused_result_is_a_200(call: Visit, platform: Platform, ada: User) -> None:
    client = call(ada)
    first = builders.judged(platform, ada, builders.accepted())
    again = _post(client, status=200, reuse=True)
    assert (again.id, again.reused) == (first.id, True)
    assert not SubmissionView.model_validate_json(client.get(f"{API}/submissions/{first.id}").data).reused
    assert _post(client).id != first.id


def test_a_request_cannot_set_its_priority(call: Visit, ada: User) -> None:
    for field in ("kind", "priority"):
        refused(call(ada).post(f"{API}/submissions", json=BODY | {field: "competition"}), 400, "bad_request")


def test_the_remaining_quota_is_reported(call: Visit, platform: Platform, ada: User) -> None:
    client = call(ada)
    assert _post(client).remaining == platform.settings.quota - 1
    found = get_quotas(platform, ada, builders.SLUG)
    assert (found.submissions.used, found.waiting.used) == (1, 1)
    assert found.submissions.remaining == platform.settings.quota - 1


def test_a_queue_is_paused_and_resumed(call: Visit, platform: Platform, ada: User, teacher: User) -> None:
    staff = call(teacher)
    answer = staff.post(f"{API}/queues/cpu/pause", json={"reason": "an exam"})
    paused = QueueList.model_validate_json(answer.data).queues[0].paused
    assert paused is not None
    assert paused.reason == "an exam"
    view = _post(call(ada))
    assert view.waits_for is not None
    assert view.waits_for.reason is WaitReason.PAUSED
    seen = QueueList.model_validate_json(call(ada).get(f"{API}/queues").data).queues[0]
    assert (seen.waiting, seen.paused) == (1, paused)
    found = QueueList.model_validate_json(staff.post(f"{API}/queues/cpu/resume").data)
    assert found.queues[0].paused is None
    refused(staff.post(f"{API}/queues/tpu/pause", json={}), 404, "not_found")
    refused(staff.post(f"{API}/queues/cpu/pause", json={"reason": "x" * 501}), 400, "bad_request")


def test_a_challenges_kind_is_set(call: Visit, ada: User, teacher: User) -> None:
    answer = call(teacher).post(f"{API}/challenges/{builders.SLUG}/kind", json={"kind": "competition"})
    assert ChallengeKind.model_validate_json(answer.data).kind is JudgingReason.COMPETITION
    assert _post(call(ada)).kind is JudgingReason.COMPETITION
    refused(
        call(teacher).post(f"{API}/challenges/{builders.SLUG}/kind", json={"kind": "rejudge"}),
        400,
        "bad_request",
    )
