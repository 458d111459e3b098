"""Choosing the kind of box."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import BadRequest, BoxUnavailable
from grader.sandbox import bubblewrap_box, docker_engine
from grader.sandbox.choose import best_kind, bubblewrap_status, docker_status, make_boxes, why_not_exposed
from grader.sandbox.control_groups import find_groups
from tests.components import need


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setattr(docker_engine, "_engine", None)


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_box, "PROGRAM", "no-such-bwrap")


@pytest.mark.docker
def test_auto_uses_docker_if_it_answers() -> None:
    need("docker")
    usable, sentence = docker_status()
    assert usable
    assert "answers" in sentence
    assert make_boxes("auto").name == "docker"


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("no_engine")
def test_auto_without_an_engine_is_bubblewrap() -> None:
    need("bubblewrap")
    assert make_boxes("auto").name == "bubblewrap"
    usable, sentence = bubblewrap_status()
    assert usable
    assert sentence.startswith("bubblewrap: by ")


@pytest.mark.usefixtures("no_engine", "no_program")
def test_auto_without_either_is_local_and_says_why() -> None:
    assert make_boxes("auto").name == "local"
    usable, sentence = docker_status()
    assert not usable
    assert "No Docker engine answers" in sentence
    kind, why = best_kind()
    assert kind == "local"
    assert "No Docker engine answers" in why
    assert "apt-get install bubblewrap" in why


@pytest.mark.usefixtures("no_program")
def test_bubblewrap_without_the_program_is_refused_with_a_fix() -> None:
    with pytest.raises(BoxUnavailable, match="bwrap is not installed") as caught:
        make_boxes("bubblewrap")
    assert "apt-get install bubblewrap" in caught.value.hint


def test_bubblewrap_that_fails_is_refused_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a host that forbids namespaces to ordinary users."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(BoxUnavailable, match="No permissions to create new namespace") as caught:
        make_boxes("bubblewrap")
    assert "user.max_user_namespaces" in caught.value.hint


@pytest.mark.parametrize(("groups", "holds"), [(True, True), (False, False)])
@pytest.mark.bubblewrap
def test_bubblewrap_may_be_exposed_if_control_groups_bound_it(
    groups: bool, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("bubblewrap")
    if not groups:
        monkeypatch.setattr(bubblewrap_box, "find_groups", lambda: None)
    elif find_groups() is None:
        pytest.skip("this process can make no control groups")
    assert (why_not_exposed("bubblewrap") == "") is holds


@pytest.mark.usefixtures("no_engine", "no_program")
def test_only_isolated_boxes_may_be_exposed() -> None:
    assert why_not_exposed("docker") == ""
    assert "plain processes" in why_not_exposed("local")
    assert "plain processes" in why_not_exposed("auto")
    assert why_not_exposed("bubblewrap") == "", "there it makes no box at all"


@pytest.mark.usefixtures("no_engine")
def test_docker_without_an_engine_is_refused_with_a_fix() -> None:
    with pytest.raises(BoxUnavailable) as caught:
        make_boxes("docker")
    assert caught.value.hint


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(BadRequest, match="'vm'"):
        make_boxes("vm")
