"""Every route of the API: what it answers, to whom, and how it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from grader import limits
from grader.schemas.challenge import ChallengeDetail, ChallengeList
from grader.schemas.report import Report
from grader.schemas.submission import (
    Health,
    Leaderboard,
    Me,
    SourceView,
    State,
    SubmissionList,
    SubmissionView,
)
from grader.schemas.token import TokenView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from tests.web import builders
from tests.web.conftest import Visit
from tests.web.refusals import API, BODY, refused


class TestReadByAnyone:
    def test_challenges_are_listed(self, call: Visit) -> None:
        found = ChallengeList.model_validate_json(call(None).get(f"{API}/challenges").data)
        assert builders.SLUG in [each.slug for each in found.challenges]

    def test_a_challenge_is_described(self, call: Visit) -> None:
        found = ChallengeDetail.model_validate_json(call(None).get(f"{API}/challenges/{builders.SLUG}").data)
        assert set(found.starters) == {"cuda", "triton"}
        assert found.served == ["triton"]

    def test_an_unknown_challenge_is_not_found(self, call: Visit) -> None:
        refused(call(None).get(f"{API}/challenges/nothing"), 404, "unknown_challenge")

    def test_a_leaderboard_is_returned(self, call: Visit, platform: Platform, ada: User) -> None:
        builders.judged(platform, ada, builders.accepted())
        board = Leaderboard.model_validate_json(call(ada).get(f"{API}/leaderboards/{builders.SLUG}").data)
        assert [entry.user for entry in board.entries] == ["ada"]
        cuda = call(ada).get(f"{API}/leaderboards/{builders.SLUG}?language=cuda&device=cpu")
        assert Leaderboard.model_validate_json(cuda.data).entries == []

    @pytest.mark.parametrize(
        ("query", "status"), [("language=perl", 400), ("device=abacus", 400), ("nonsense=1", 400)]
    )
    def test_a_bad_leaderboard_query_is_refused(
        self, call: Visit, ada: User, query: str, status: int
    ) -> None:
        assert call(ada).get(f"{API}/leaderboards/{builders.SLUG}?{query}").status_code == status

    def test_health_names_what_is_down(self, call: Visit) -> None:
        answer = call(None).get(f"{API}/health")
        found = Health.model_validate_json(answer.data)
        assert answer.status_code == 503
        assert not found.ok
        assert found.parts["database"].ok
        assert not found.parts["queue"].ok


class TestAccounts:
    def test_a_password_yields_a_token_that_can_be_revoked(self, app: Flask, ada: User) -> None:
        client = app.test_client()
        answer = client.post(
            f"{API}/tokens", json={"name": "ada", "password": builders.PASSWORD, "label": "laptop"}
        )
        assert answer.status_code == 201
        view = TokenView.model_validate_json(answer.data)
        headers = {"Authorization": f"Bearer {view.token}"}
        me = Me.model_validate_json(client.get(f"{API}/me", headers=headers).data)
        assert (me.name, me.role) == ("ada", "student")
        assert client.delete(f"{API}/tokens/current", headers=headers).status_code == 204
        refused(client.get(f"{API}/me", headers=headers), 401, "not_signed_in")

    def test_a_wrong_password_is_refused(self, call: Visit, ada: User) -> None:
        answer = call(None).post(f"{API}/tokens", json={"name": "ada", "password": "wrong"})
        assert "wrong" in refused(answer, 401, "not_signed_in")

    def test_guessing_is_limited(self, call: Visit, ada: User) -> None:
        client = call(None)
        body = {"name": "ada", "password": "guess"}
        for _ in range(limits.SIGN_IN_PER_ADDRESS_AND_ACCOUNT):
            assert client.post(f"{API}/tokens", json=body).status_code == 401
        right = client.post(f"{API}/tokens", json={"name": "ada", "password": builders.PASSWORD})
        refused(right, 429, "too_many")
        assert int(right.headers["Retry-After"]) > 0

    @pytest.mark.parametrize("header", ["Bearer grd_wrong", "Bearer", "Basic YWRhOmFkYQ==", ""])
    def test_a_bad_token_is_refused_even_on_public_routes(self, app: Flask, header: str) -> None:
        answer = app.test_client().get(f"{API}/challenges", headers={"Authorization": header})
        refused(answer, 401, "not_signed_in")

    def test_a_bad_token_is_refused_despite_a_good_cookie(self, visit: Visit, ada: User) -> None:
        answer = visit(ada).get(f"{API}/me", headers={"Authorization": "Bearer grd_wrong"})
        refused(answer, 401, "not_signed_in")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/me"),
        ("GET", "/submissions"),
        ("POST", "/submissions"),
        ("GET", "/submissions/abc"),
        ("GET", "/submissions/abc/source"),
        ("GET", "/submissions/abc/report"),
        ("POST", "/submissions/abc/cancel"),
        ("DELETE", "/tokens/current"),
    ],
)
def test_private_routes_need_signing_in(call: Visit, method: str, path: str) -> None:
    refused(call(None).open(f"{API}{path}", method=method, json=BODY), 401, "not_signed_in")


class TestSubmissions:
    def test_a_submission_is_stored_and_returned(self, call: Visit, ada: User) -> None:
        client = call(ada)
        answer = client.post(f"{API}/submissions", json=BODY)
        assert answer.status_code == 201, answer.text
        view = SubmissionView.model_validate_json(answer.data)
        assert (view.state, view.position, view.language) == (State.QUEUED, 1, "triton")
        assert answer.headers["Location"] == f"{API}/submissions/{view.id}"
        assert SubmissionView.model_validate_json(client.get(answer.headers["Location"]).data).id == view.id
        source = SourceView.model_validate_json(client.get(f"{API}/submissions/{view.id}/source").data)
        assert source.source == builders.SOURCE

    def test_a_repeated_key_returns_the_same_submission(self, call: Visit, ada: User) -> None:
        client = call(ada)
        headers = {"Idempotency-Key": "once"}
        first, second = (client.post(f"{API}/submissions", json=BODY, headers=headers) for _ in range(2))
        assert first.get_json()["id"] == second.get_json()["id"]

    def test_students_list_only_own_submissions(
        self, call: Visit, platform: Platform, ada: User, bob: User, teacher: User
    ) -> None:
        mine = builders.hand_in(platform, ada).id
        builders.hand_in(platform, bob)

        def ids(user: User, query: str = "") -> list[str]:
            found = SubmissionList.model_validate_json(call(user).get(f"{API}/submissions{query}").data)
            return [each.id for each in found.submissions]

        assert ids(ada) == [mine]
        assert ids(ada, "?everyone=true") == [mine]
        assert len(ids(teacher, "?everyone=true")) == 2
        assert ids(teacher) == []
        assert ids(ada, "?challenge=matmul") == []

    def test_an_unchanged_poll_is_not_modified(self, call: Visit, platform: Platform, ada: User) -> None:
        client = call(ada)
        path = f"{API}/submissions/{builders.hand_in(platform, ada).id}"
        headers = {"If-None-Match": client.get(path).headers["ETag"]}
        same = client.get(path, headers=headers)
        assert (same.status_code, same.data) == (304, b"")
        held = builders.take(platform)
        builders.move(platform, held, State.TESTING, 1, 9)
        changed = client.get(path, headers=headers)
        assert changed.status_code == 200
        assert changed.json
        assert changed.json["progress"] == {"done": 1, "total": 9, "label": "", "since": None}

    def test_a_report_hides_hidden_data_from_students(
        self, call: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        path = f"{API}/submissions/{builders.judged(platform, ada, builders.wrong()).id}/report"
        answer = call(ada).get(path)
        assert "n was 31" not in answer.text
        assert "secret" not in answer.text
        Report.model_validate_json(answer.data)
        assert "n was 31" in call(teacher).get(path).text

    def test_an_unfinished_submission_has_no_report(self, call: Visit, platform: Platform, ada: User) -> None:
        view = builders.hand_in(platform, ada)
        refused(call(ada).get(f"{API}/submissions/{view.id}/report"), 409, "conflict")

    def test_a_submission_can_be_cancelled(self, call: Visit, platform: Platform, ada: User) -> None:
        client = call(ada)
        path = f"{API}/submissions/{builders.hand_in(platform, ada).id}/cancel"
        for _ in range(2):
            assert SubmissionView.model_validate_json(client.post(path).data).state is State.CANCELLED

    def test_cancelling_a_done_submission_is_a_conflict(
        self, call: Visit, platform: Platform, ada: User
    ) -> None:
        view = builders.judged(platform, ada, builders.accepted())
        refused(call(ada).post(f"{API}/submissions/{view.id}/cancel"), 409, "conflict")

    @pytest.mark.parametrize("part", ["", "/source", "/report", "/cancel"])
    def test_anothers_submission_is_not_found(
        self, call: Visit, platform: Platform, ada: User, bob: User, teacher: User, part: str
    ) -> None:
        view = builders.judged(platform, ada, builders.accepted())
        method = "POST" if part == "/cancel" else "GET"
        theirs = call(bob).open(f"{API}/submissions/{view.id}{part}", method=method)
        nobodys = call(bob).open(f"{API}/submissions/0000000000{part}", method=method)
        assert refused(theirs, 404, "not_found").replace(view.id, "0000000000") == refused(
            nobodys, 404, "not_found"
        )
        assert call(teacher).open(f"{API}/submissions/{view.id}{part}", method=method).status_code != 404

    @pytest.mark.parametrize(
        ("change", "status", "code"),
        [
            ({"source": ""}, 400, "bad_source"),
            ({"source": "a\0b"}, 400, "bad_source"),
            ({"source": "\ud800"}, 400, "bad_source"),
            ({"source": "x" * (limits.SOURCE_BYTES + 1)}, 400, "bad_source"),
            ({"challenge": "nothing"}, 404, "unknown_challenge"),
            ({"language": "perl"}, 400, "unknown_language"),
            ({"language": "cuda"}, 409, "language_not_served"),
            ({"filename": "a.txt"}, 400, "unknown_language"),
            ({"device": "abacus"}, 400, "unknown_device"),
            ({"surprise": 1}, 400, "bad_request"),
            ({"source": 5}, 400, "bad_request"),
        ],
    )
    def test_a_bad_submission_is_refused(
        self, call: Visit, ada: User, change: dict[str, Any], status: int, code: str
    ) -> None:
        refused(call(ada).post(f"{API}/submissions", json=BODY | change), status, code)

    def test_too_many_waiting_submissions_are_refused(
        self, call: Visit, platform: Platform, ada: User
    ) -> None:
        for _ in range(limits.WAITING_PER_USER):
            builders.hand_in(platform, ada)
        refused(call(ada).post(f"{API}/submissions", json=BODY), 429, "too_many")

    def test_too_many_requests_a_minute_are_refused(self, call: Visit, ada: User, bob: User) -> None:
        client = call(ada)
        for _ in range(limits.SUBMIT_PER_MINUTE):
            assert client.post(f"{API}/submissions", json=BODY | {"source": ""}).status_code == 400
        refused(client.post(f"{API}/submissions", json=BODY), 429, "too_many")
        assert call(bob).post(f"{API}/submissions", json=BODY).status_code == 201


def test_costly_requests_are_limited_by_user(call: Visit, ada: User, bob: User) -> None:
    client = call(ada)
    for _ in range(limits.COSTLY_PER_MINUTE):
        assert client.get(f"{API}/me/export").status_code == 200
    refused(client.get(f"{API}/me/export"), 429, "too_many")
    assert call(bob).get(f"{API}/me/export").status_code == 200
