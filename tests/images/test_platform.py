"""The platform runs from its images: from a login through the published port to verdicts by boxes of the box image."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from tests.images.composed import Composed
from tests.images.made import ROOT, run
from tests.sandbox.talk import within

# For the first test, which has to wait until everything is built.
pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]

SOLUTION = ROOT / "reference" / "vector_add" / "staff" / "solution.py"


def test_a_right_kernel_is_accepted(composed: Composed) -> None:
    report = composed.submit(SOLUTION)
    assert report["verdict"] == "accepted"


def test_a_wrong_kernel_is_not_accepted(composed: Composed, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SOLUTION.read_text().replace("+ tl.load(b", "- tl.load(b"))
    assert wrong.read_text() != SOLUTION.read_text()
    assert composed.submit(wrong)["verdict"] == "wrong_answer"


def test_cuda_is_compiled_by_the_images_compiler(composed: Composed) -> None:
    """By the worker's command line: without a GPU no board here would take it."""
    source = 'extern "C" void solve(const float* a, const float* b, float* out, int n) { nonsense; }'
    script = f"echo '{source}' > /tmp/broken.cu; grader test /tmp/broken.cu -c vector_add --json; test $? = 1"
    said = composed.compose("exec", "-T", "worker", "sh", "-c", script)
    assert '"compile_error"' in said
    assert r"identifier \"nonsense\" is undefined" in said


def test_no_box_is_left(composed: Composed) -> None:
    """Except running ones that wait for the next submission."""
    own = f"label=grader.host={_host_identity()}"

    def ended() -> str:
        return run(
            "docker",
            "ps",
            "--all",
            "--quiet",
            "--filter",
            "status=exited",
            "--filter",
            own,
            "--filter",
            "label=grader.box=1",
        )

    assert within(60, lambda: not ended())


def _host_identity() -> str:
    from grader.sandbox.parent import host_identity

    return host_identity()


def test_the_web_container_is_healthy(composed: Composed) -> None:
    assert within(120, lambda: composed.container("web")["State"]["Health"]["Status"] == "healthy")


def test_the_page_is_served(composed: Composed) -> None:
    with urllib.request.urlopen(composed.url, timeout=30) as page:
        assert page.status == 200


@pytest.mark.parametrize("service", ["postgres", "redis", "web", "worker"])
def test_nothing_is_published_beyond_loopback(composed: Composed, service: str) -> None:
    published = composed.container(service)["HostConfig"]["PortBindings"] or {}
    assert {binding["HostIp"] for ports in published.values() for binding in ports} <= {"127.0.0.1"}


@pytest.mark.parametrize("service", ["redis", "web"])
def test_listening_services_have_no_privileges(composed: Composed, service: str) -> None:
    found = composed.container(service)
    assert found["Config"]["User"] not in ("", "root", "0", "0:0")
    assert found["HostConfig"]["ReadonlyRootfs"]
    assert found["HostConfig"]["CapDrop"] == ["ALL"]
    assert "no-new-privileges:true" in found["HostConfig"]["SecurityOpt"]
    assert not [mount for mount in found["Mounts"] if mount["Destination"].endswith("docker.sock")]


def test_redis_requires_the_password(composed: Composed) -> None:
    ask = ("exec", "-T", "redis", "sh", "-c")
    assert "PONG" in composed.compose(*ask, "redis-cli ping")
    assert "NOAUTH" in composed.compose(*ask, "REDISCLI_AUTH= redis-cli ping 2>&1")


def test_a_killed_worker_leaves_no_box(composed: Composed) -> None:
    number = composed.container("worker")["Id"]
    run("docker", "kill", number)
    run("docker", "start", number)
    assert composed.submit(SOLUTION)["verdict"] == "accepted"
    test_no_box_is_left(composed)
