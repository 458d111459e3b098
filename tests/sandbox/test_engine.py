"""The engine's description of itself and of a box's end, and the runtimes that it can run boxes with."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox import container, control_groups, options
from grader.sandbox.box import Box, BoxEnd, BoxMaker, BoxPurpose, BoxSpec, EndReason
from grader.sandbox.choose import make_boxes
from grader.sandbox.docker_box import DockerBox, Supervision
from grader.sandbox.docker_engine import EngineFacts, engine
from grader.sandbox.gpu import Gpu
from grader.sandbox.processor import Share
from tests.components import need
from tests.sandbox.talk import run

Start = Callable[..., Box]
docker = pytest.mark.docker


@docker
def test_users_are_mapped_if_the_engine_does_so(docker_boxes: BoxMaker, start: Start) -> None:
    first, outside, _ = run(start(docker_boxes), "print(open('/proc/self/uid_map').readline())").split()
    assert first == "0"
    assert (outside != "0") == engine().facts().remaps_users


@docker
def test_limits_are_set_in_the_control_group(docker_boxes: BoxMaker, start: Start) -> None:
    """The same limits under either version; swap adds nothing to memory."""
    code = """
import json, os
names = {1: ["memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "pids/pids.max"],
         2: ["memory.max", "memory.swap.max", "pids.max"]}[VERSION]
paths = [f"/sys/fs/cgroup/{name}" for name in names]
print(json.dumps([open(path).read().strip() if os.path.exists(path) else None for path in paths]))
"""
    version = engine().facts().cgroup
    memory = 512 * limits.MIB
    box = start(docker_boxes, memory_bytes=memory, pids=77)
    found = json.loads(run(box, f"VERSION = {version}\n{code}"))
    if found == [None] * 3:
        pytest.skip("this runtime shows no control groups to the box")
    swap = "0" if version == 2 else str(memory)
    assert found[0] == str(memory)
    assert found[1] in (swap, None), "a kernel that does not count swap has no file for it"
    assert found[2] == "77"


@docker
def test_a_background_box_yields_to_processes_of_no_group(docker_boxes: BoxMaker, start: Start) -> None:
    """In a group of the engine's, a small share would only count against other boxes."""
    box = start(docker_boxes, share=Share.YIELDING)
    inspected = engine().client.inspect_container(box.id)
    assert inspected["HostConfig"]["CpuShares"] == Share.YIELDING
    groups = Path(f"/proc/{inspected['State']['Pid']}/cgroup").read_text().splitlines()
    if engine().client.info()["CgroupDriver"] == "cgroupfs":
        assert any(line.endswith(f":/{inspected['Id']}") for line in groups), groups


def test_the_engine_reports_its_control_groups() -> None:
    assert EngineFacts.of({"CgroupVersion": "2"}).cgroup == 2
    assert EngineFacts.of({"CgroupVersion": "1"}).cgroup == 1
    assert EngineFacts.of({}).cgroup == 1
    assert EngineFacts.of({"CgroupDriver": "cgroupfs"}).group == "/"
    assert EngineFacts.of({"CgroupDriver": "systemd"}).group is None
    facts = EngineFacts.of(
        {"SecurityOptions": ["name=seccomp,profile=default", "name=userns"], "Runtimes": {"runc": {}}}
    )
    assert facts.options == {"seccomp", "userns"}
    assert facts.remaps_users
    assert facts.runtimes == ("runc",)
    assert facts.sentence("runc") == "docker: runc, control groups 1, users remapped"


def test_limits_that_the_engine_ignores_are_known() -> None:
    assert EngineFacts.of({"MemoryLimit": True, "SwapLimit": False, "PidsLimit": False}).unbounded == (
        "swap",
        "processes",
    )
    assert EngineFacts.of({}).unbounded == ()


def ended(
    monkeypatch: pytest.MonkeyPatch,
    state: dict[str, Any],
    kills: int,
    supervision: Supervision | None = None,
) -> BoxEnd:
    """The reported end of a box with the engine's ``state``, after ``kills`` by the kernel since its start."""
    box = object.__new__(DockerBox)

    class Telling:
        def state(self, _container: str) -> dict[str, Any]:
            return state

    box._supervision = supervision
    box._engine, box._container, box._memory_kills = Telling(), "x", 5  # type: ignore[assignment]
    monkeypatch.setattr("grader.sandbox.docker_box.host_memory_kills", lambda: 5 + kills)
    return box._own_end()


@pytest.mark.parametrize(
    ("state", "kills", "reason"),
    [
        ({"ExitCode": 137, "OOMKilled": True}, 0, EndReason.OUT_OF_MEMORY),
        ({"ExitCode": 137, "OOMKilled": False}, 1, EndReason.OUT_OF_MEMORY),
        ({"ExitCode": 137, "OOMKilled": False}, 0, EndReason.SIGNALLED),
        ({"ExitCode": 139, "OOMKilled": False}, 1, EndReason.SIGNALLED),
        ({"ExitCode": 1, "OOMKilled": False}, 1, EndReason.EXITED),
    ],
)
def test_running_out_of_memory_is_reported_if_the_engine_missed_it(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], kills: int, reason: EndReason
) -> None:
    assert ended(monkeypatch, state, kills).reason is reason


@pytest.mark.parametrize(("at_limit", "outside"), [(False, True), (True, False)])
def test_another_boxs_out_of_memory_is_not_this_ones(
    monkeypatch: pytest.MonkeyPatch, at_limit: bool, outside: bool
) -> None:
    """Protects a student whose box an operator kills while the kernel kills somebody else's memory bomb."""
    ours, supervisor = socket.socketpair()
    group: Any = SimpleNamespace(out_of_memory=lambda: at_limit)
    supervision = Supervision(ours, "x", group, 5)
    supervisor.close()
    end = ended(monkeypatch, {"ExitCode": 137, "OOMKilled": False}, 1, supervision).of_supervisor()
    assert end.outside == outside
    assert (end.reason is EndReason.OUT_OF_MEMORY) == at_limit


def test_the_kernels_count_of_kills_is_read(tmp_path: Path) -> None:
    counters = tmp_path / "vmstat"
    counters.write_text("pgpgin 1\noom_kill 7\noom_kill_disable 9\n")
    assert control_groups.host_memory_kills(counters) == 7
    assert control_groups.host_memory_kills(tmp_path / "missing") == 0


FACTS = EngineFacts(runtimes=("runc", "runsc"), cgroup=2, options=frozenset())


def test_a_missing_runtime_is_refused() -> None:
    options.check_runtime("runsc", FACTS)
    with pytest.raises(BoxUnavailable, match=r"no runtime 'kata'; it has: runc, runsc") as caught:
        options.check_runtime("kata", FACTS)
    assert "GRADER_RUNTIME" in caught.value.hint


def test_a_gpu_is_refused_to_runsc() -> None:
    gpu = Gpu(0, "GPU-1", ("/dev/nvidia0",))
    for purpose in (BoxPurpose.RUN, BoxPurpose.COMPILE):
        options.check_fits("runsc", BoxSpec(purpose))
    options.check_fits("runc", BoxSpec(BoxPurpose.RUN, gpu=gpu))
    with pytest.raises(BoxUnavailable, match="'runsc' cannot give a box a GPU"):
        options.check_fits("runsc", BoxSpec(BoxPurpose.RUN, gpu=gpu))


@docker
def test_a_box_is_run_by_the_chosen_runtime(docker_boxes: BoxMaker, start: Start) -> None:
    box = start(docker_boxes)
    assert isinstance(box, DockerBox)
    made = engine().client.inspect_container(box.id)["HostConfig"]
    assert made["Runtime"] == "runc"
    assert made["IpcMode"] == "none"
    assert set(container.MASKED) == set(made["MaskedPaths"])


@docker
@pytest.mark.parametrize("kind", ["docker", "auto"])
def test_a_missing_runtime_falls_back_to_no_other_box(
    kind: str,
) -> None:
    need("docker")
    with pytest.raises(BoxUnavailable, match="no runtime 'no-such-runtime'"):
        make_boxes(kind, options.SandboxOptions(runtime="no-such-runtime"))
