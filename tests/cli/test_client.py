"""The HTTP client against a stub: every kind of answer, and none."""

from __future__ import annotations

import json
import socket

import pytest

from grader import errors
from grader.cli import quick
from grader.cli.client import Client, connect
from tests.cli.conftest import Cli
from tests.cli.stub import Stub


def test_get_and_post_send_and_receive_json(server: Stub) -> None:
    server.answer("GET /things", {"all": []})
    server.answer("POST /things", {"id": "1"}, 201)
    client = Client(server.url, "grd_secret")
    assert client.get("/things", limit=5, challenge=None) == {"all": []}
    assert client.post("/things", {"a": "ü"}, {"Idempotency-Key": "k"}) == {"id": "1"}
    first, second = server.asked
    assert first.path == "/api/v1/things?limit=5"
    assert first.headers["Authorization"] == "Bearer grd_secret"
    assert json.loads(second.body) == {"a": "ü"}
    assert second.headers["Idempotency-Key"] == "k"


def test_an_empty_answer_is_none(server: Stub) -> None:
    server.answer("DELETE /tokens/current", b"", 204)
    assert Client(server.url).delete("/tokens/current") is None


def test_the_server_address_may_have_a_path(server: Stub) -> None:
    server.answers["GET /course/api/v1/health"] = (200, b"{}", {})
    assert Client(f"{server.url}/course/").get("/health") == {}


@pytest.mark.parametrize(
    "kind", [errors.UnknownChallenge, errors.TooMany, errors.NotSignedIn, errors.BadSource]
)
def test_server_errors_are_raised_again_by_their_class(server: Stub, kind: type[errors.GraderError]) -> None:
    server.answer("GET /x", {"error": kind("What?", "Why.").as_dict()}, kind.status)
    with pytest.raises(kind, match=r"What\?") as caught:
        Client(server.url).get("/x")
    assert type(caught.value) is kind
    assert caught.value.hint == "Why."


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.BadRequest),
        (401, errors.NotSignedIn),
        (403, errors.NotAllowed),
        (404, errors.NotFound),
        (418, errors.BadRequest),
        (429, errors.TooMany),
        (500, errors.Unreachable),
    ],
)
def test_unknown_error_codes_are_classed_by_status(
    server: Stub, status: int, kind: type[errors.GraderError]
) -> None:
    server.answer("GET /x", {"error": {"code": "from_the_future", "message": "Hm."}}, status)
    with pytest.raises(errors.GraderError, match="Hm") as caught:
        Client(server.url).get("/x")
    assert type(caught.value) is kind


@pytest.mark.parametrize("status", [200, 404, 502])
@pytest.mark.parametrize("body", [b"<html>hello</html>", b"", b"\xff\xfe"])
def test_an_answer_of_another_program_is_reported(server: Stub, status: int, body: bytes) -> None:
    server.answer("GET /x", body, status)
    with pytest.raises(errors.Unreachable, match="not as a grader server does"):
        Client(server.url).get("/x")


@pytest.mark.parametrize("body", [[], {"error": "text"}, "text"])
def test_a_malformed_error_is_reported(server: Stub, body: object) -> None:
    server.answer("GET /x", body, 500)
    with pytest.raises(errors.Unreachable):
        Client(server.url).get("/x")


def test_redirect_is_reported_not_followed(server: Stub) -> None:
    server.answer("GET /x", b"", 301, {"Location": "https://elsewhere.example/"})
    with pytest.raises(errors.Unreachable, match=r"elsewhere\.example"):
        Client(server.url, "grd_secret").get("/x")


def _unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_a_refused_connection_is_reported() -> None:
    with pytest.raises(errors.Unreachable, match="nothing listens there") as caught:
        Client(f"http://127.0.0.1:{_unused_port()}").get("/x")
    assert "grader up" in caught.value.hint


def test_a_silent_server_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        client = Client(f"http://127.0.0.1:{mute.getsockname()[1]}", seconds=0.05)
        with pytest.raises(errors.Unreachable, match="did not answer within"):
            client.get("/x")


@pytest.mark.parametrize(
    "address", ["", "localhost", "ftp://x", "http://", "http://x:notaport", "http://[::1"]
)
def test_a_malformed_address_is_refused(address: str) -> None:
    with pytest.raises(errors.BadRequest, match="is not a server address"):
        Client(address)


def test_the_token_goes_only_to_its_server(server: Stub, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.cli import login

    login.keep("http://other.example", "ada", "grd_secret")
    server.answer("GET /health", {})
    connect().get("/health")
    assert "Authorization" not in server.asked[-1].headers
    monkeypatch.setenv("GRADER_TOKEN", "grd_mine")
    connect().get("/health")
    assert server.asked[-1].headers["Authorization"] == "Bearer grd_mine"


LIST = {"challenges": []}


def test_the_quick_list_prints_the_servers_answer(server: Stub, cli: Cli) -> None:
    server.answer("GET /challenges", LIST)
    ran = cli("challenges", "--json")
    assert (ran.code, json.loads(ran.out), ran.err) == (0, LIST, "")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("body", "status", "headers"),
    [
        (LIST, 500, {}),
        (b"<html>", 200, {"Content-Type": "text/html"}),
        (b"{}", 200, {"Content-Type": "application/json", "Content-Encoding": "br"}),
        (b"", 302, {"Location": "/"}),
    ],
)
def test_the_quick_path_gives_up_on_odd_answers(
    server: Stub, body: object, status: int, headers: dict[str, str]
) -> None:
    server.answer("GET /challenges", body, status, headers)
    assert quick.get("/api/v1/challenges") is None


@pytest.mark.parametrize(
    "address", ["https://x", "http://x/path", "http://[::1]:1", "nonsense", "http://127.0.0.1:x"]
)
def test_the_quick_path_skips_odd_addresses(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("GRADER_SERVER", address)
    assert quick.get("/api/v1/challenges") is None


def test_the_quick_path_reports_an_unreachable_server(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SERVER", f"http://127.0.0.1:{_unused_port()}")
    ran = cli("challenges", "--json")
    assert ran.code == 4
    assert json.loads(ran.out)["error"]["code"] == "unreachable"
    assert "--local" in ran.err


def test_an_answer_of_another_version_is_reported(server: Stub, cli: Cli) -> None:
    server.answer("GET /challenges", {"challenges": [{"slug": "x"}]})
    ran = cli("challenges")
    assert ran.code == 4
    assert "ChallengeList.challenges.0.title" in ran.err
