"""Commands of an administrator's own, and Kubernetes' API as its client speaks to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trustme
from kubernetes.config import incluster_config

from grader.queue.fleet.plan import CommandOptions, KubernetesOptions, Pool, SlurmOptions
from grader.queue.fleet.providers import Command, Kubernetes, Launch, Listed, ProviderError, Slurm
from tests.queue.fleet.kubernetes_api import kubeconfig, served

# Starts a process that a list finds by the file it leaves.
_SCRIPT = """\
#!/bin/sh
case $1 in
launch)
    sleep 300 >/dev/null 2>&1 &
    echo "$PILOT_NAME $PILOT_DEVICE $PILOT_OPTIONS" >launched
    echo "$PILOT_NAME $! running" >pilots
    echo $! ;;
list) [ "$PILOT_POOL" = own ] && cat pilots 2>/dev/null; exit 0 ;;
stop) kill $2 && rm pilots ;;
esac
"""


def pool_of(**options: Any) -> Pool:
    return Pool(device="h200", max=2, lifetime=600, idle=60, **options)


def launch_of(pool: Pool) -> Launch:
    return Launch("grader-own-1", "own", pool)


@pytest.fixture
def script(tmp_path: Path) -> CommandOptions:
    path = tmp_path / "cloud.sh"
    path.write_text(_SCRIPT)
    path.chmod(0o755)
    return CommandOptions.model_validate({each: ["./cloud.sh", each] for each in ("launch", "list", "stop")})


def test_commands_launch_list_and_stop(tmp_path: Path, script: CommandOptions) -> None:
    provider = Command(script, tmp_path)
    assert provider.list("own") == []
    handle = provider.launch(launch_of(pool_of(command=script)))
    assert (tmp_path / "launched").read_text() == (
        "grader-own-1 h200 --name grader-own-1 --lifetime 600 --idle 60\n"
    )
    assert provider.list("own") == [Listed("grader-own-1", handle, running=True)]
    assert provider.list("another") == []
    (tmp_path / "pilots").write_text(f"grader-own-big-1 {handle} running\n")
    assert provider.list("own") == []
    provider.stop(handle)
    assert not Path("/proc", handle).exists() or b"sleep" not in Path("/proc", handle, "cmdline").read_bytes()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\necho no quota >&2; exit 3\n", "cloud.sh ended with 3: no quota"),
        ("#!/bin/sh\necho one; echo two\n", "printed no handle of one line"),
        (None, "cloud.sh is not installed here"),
    ],
)
def test_what_a_command_does_wrong_is_said(
    tmp_path: Path, script: CommandOptions, text: str | None, said: str
) -> None:
    path = tmp_path / "cloud.sh"
    path.unlink()
    if text is not None:
        path.write_text(text)
        path.chmod(0o755)
    with pytest.raises(ProviderError, match=said):
        Command(script, tmp_path).launch(launch_of(pool_of(command=script)))


def test_a_line_that_is_no_pilot_is_shown(tmp_path: Path, script: CommandOptions) -> None:
    (tmp_path / "pilots").write_text("grader-own-1 17 gone\n")
    with pytest.raises(ProviderError, match="printed 'grader-own-1 17 gone'"):
        Command(script, tmp_path).list("own")


def test_a_machine_without_slurm_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ProviderError, match="squeue is not installed here"):
        Slurm(SlurmOptions()).list("own")


_JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  generateName: pilot-
  labels: {kueue.x-k8s.io/queue-name: gpus}
spec:
  template:
    spec:
      containers:
        - name: worker
          image: registry.uni.edu/grader-worker:0.1.0
          args: [worker, --gpu, all]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def test_kubernetes_runs_a_job_for_each_pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.yaml").write_text(_JOB)
    options = KubernetesOptions(job="job.yaml", namespace="grader")
    with served() as server:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(server, tmp_path)))
        provider = Kubernetes(options, tmp_path)
        pilot = launch_of(pool_of(kubernetes=options))
        assert provider.launch(pilot) == "grader-own-1"
        job = server.jobs["grader-own-1"]
        (container,) = job["spec"]["template"]["spec"]["containers"]
        assert container["args"] == [
            "worker", "--gpu", "all", "--name", "grader-own-1", "--lifetime", "600", "--idle", "60",
        ]  # fmt: skip
        assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "gpus", "grader-pool": "own"}
        assert (job["spec"]["backoffLimit"], job["spec"]["activeDeadlineSeconds"]) == (0, 660)
        with pytest.raises(ProviderError, match="Kubernetes answered 409"):
            provider.launch(pilot)
        assert provider.list("own") == [Listed("grader-own-1", "grader-own-1", running=False)]
        job["status"] = {"active": 1, "ready": 1}
        assert provider.list("own") == [Listed("grader-own-1", "grader-own-1", running=True)]
        assert provider.list("another") == []
        job["status"] = {"succeeded": 1}
        assert provider.list("own") == []
        provider.stop("grader-own-1")
        provider.stop("grader-own-1")
        assert server.jobs == {}
    with pytest.raises(ProviderError, match="Kubernetes could not be reached"):
        provider.list("own")


def test_a_pod_uses_its_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    (tmp_path / "token").write_text("of-the-pod")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    with served(authority, "of-the-pod") as server:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.server_address[1]))
        assert Kubernetes(KubernetesOptions(job="job.yaml"), tmp_path).list("own") == []
