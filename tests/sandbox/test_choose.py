"""Choosing the kind of box."""

from __future__ import annotations

import pytest

from grader.errors import BadRequest, BoxUnavailable
from grader.sandbox import docker_engine
from grader.sandbox.choose import docker_status, make_boxes
from tests.components import need


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setattr(docker_engine, "_engine", None)


@pytest.mark.docker
def test_auto_takes_docker_where_it_answers() -> None:
    need("docker")
    usable, sentence = docker_status()
    assert usable
    assert "answers" in sentence
    assert make_boxes("auto").name == "docker"


@pytest.mark.usefixtures("no_engine")
def test_auto_without_an_engine_is_local() -> None:
    assert make_boxes("auto").name == "local"
    usable, sentence = docker_status()
    assert not usable
    assert "No Docker engine answers" in sentence


@pytest.mark.usefixtures("no_engine")
def test_docker_without_an_engine_is_refused_with_a_mend() -> None:
    with pytest.raises(BoxUnavailable) as caught:
        make_boxes("docker")
    assert caught.value.hint


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(BadRequest, match="'vm'"):
        make_boxes("vm")
