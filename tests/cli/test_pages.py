"""`open`: the page, and printing its address instead."""

from __future__ import annotations

import pytest

from grader import errors
from grader.cli import browser, names
from tests.cli.conftest import Cli

SERVER = "http://grader.example/course"


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SERVER", f"{SERVER}/")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def take(address: str) -> bool:
        found.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", take)
    monkeypatch.setattr(browser, "has_browser", lambda: True)
    return found


@pytest.mark.parametrize(
    ("args", "page"),
    [
        ([], "/"),
        (["vector_add"], "/challenges/vector_add"),
        (["softmax"], "/challenges/softmax"),
        (["3m9xk0w2qz"], "/submissions/3m9xk0w2qz"),
        (["vector_add", "--leaderboard"], "/leaderboards/vector_add"),
        (["../x y"], "/challenges/..%2Fx%20y"),
    ],
)
def test_the_page_is_opened_or_printed(cli: Cli, opened: list[str], args: list[str], page: str) -> None:
    ran = cli("open", *args)
    assert (ran.code, ran.out, opened) == (0, "", [SERVER + page])
    ran = cli("open", *args, "--print")
    assert (ran.code, ran.out, ran.err, len(opened)) == (0, f"{SERVER}{page}\n", "", 1)


def test_a_challenge_slug_that_looks_like_an_id_opens_the_challenge(cli: Cli, opened: list[str]) -> None:
    names.keep(names.CHALLENGES, ["gemmsparse"])
    assert cli("open", "gemmsparse", "--print").out == f"{SERVER}/challenges/gemmsparse\n"
    assert cli("open", "gemmsparsf", "--print").out == f"{SERVER}/submissions/gemmsparsf\n"


def test_ids_are_reported_by_the_platforms_alphabet() -> None:
    from grader.cli.commands.pages import page_of
    from grader.records.models import base

    letters = base.ID_LETTERS
    for start in range(0, len(letters), 4):
        name = (letters[start:] + letters)[: base.PUBLIC_ID_CHARS]
        assert page_of(name) == f"/submissions/{name}"
    assert all(page_of(letter * 10).startswith("/challenges/") for letter in "ilou_")


@pytest.mark.parametrize("why", ["settings", "no browser", "it fails", "it raises"])
def test_without_a_browser_the_address_is_printed(
    cli: Cli, opened: list[str], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    def fail(address: str) -> bool:
        raise OSError("no such program")

    if why == "settings":
        monkeypatch.setenv("GRADER_BROWSER", "false")
    elif why == "no browser":
        monkeypatch.setattr(browser, "has_browser", lambda: False)
    else:
        monkeypatch.setattr("webbrowser.open", fail if why == "it raises" else lambda _: False)
    ran = cli("open", "softmax")
    assert (ran.code, ran.out, opened) == (0, f"{SERVER}/challenges/softmax\n", [])


def test_a_malformed_server_address_is_not_opened(cli: Cli, opened: list[str]) -> None:
    ran = cli("open", "softmax", "--server", "file:///etc/passwd")
    assert (ran.code, opened) == (errors.EXIT_USAGE, [])
