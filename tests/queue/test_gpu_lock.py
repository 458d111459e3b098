from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.device_kinds import board_name, board_of, takes
from grader.errors import BadRequest, BoxUnavailable, Conflict
from grader.queue.gpu_lock import hold, holder, lock_folder
from grader.queue.gpus import ALL, chosen_gpus
from grader.sandbox.gpu import has_mps, together
from grader.settings import Settings
from tests.queue.gpus import H200, SECOND, T4
from tests.service.world import until

_HOLDER = """
import sys
from pathlib import Path
from grader.queue.gpu_lock import hold
with hold(sys.argv[1], Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


def _hold_elsewhere(gpu: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _HOLDER, gpu, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def test_a_locked_gpu_names_its_holder(tmp_path: Path) -> None:
    process = _hold_elsewhere(H200.uuid, tmp_path)
    try:
        assert holder(H200.uuid, tmp_path) == process.pid
        with (
            pytest.raises(Conflict, match=f"process {process.pid} holds it") as caught,
            hold(H200.uuid, tmp_path),
        ):
            pass
        assert caught.value.hint
        with hold(SECOND.uuid, tmp_path):
            assert holder(SECOND.uuid, tmp_path) == os.getpid()
    finally:
        _end(process)


def test_the_death_of_a_holder_frees_the_gpu(tmp_path: Path) -> None:
    process = _hold_elsewhere(H200.uuid, tmp_path)
    process.send_signal(signal.SIGKILL)
    _end(process)
    until(lambda: holder(H200.uuid, tmp_path) is None, "the kernel let go")
    with hold(H200.uuid, tmp_path):
        assert holder(H200.uuid, tmp_path) == os.getpid()


def test_an_ended_holder_is_not_named(tmp_path: Path) -> None:
    with hold(H200.uuid, tmp_path / "new"):
        pass
    assert holder(H200.uuid, tmp_path / "new") is None
    (file,) = (tmp_path / "new").iterdir()
    assert file.read_bytes() == b""
    # Everybody's, whatever the umask: another user's worker must be able to lock it.
    assert file.stat().st_mode & 0o777 == 0o666
    assert (tmp_path / "new").stat().st_mode & 0o1777 == 0o1777


def test_a_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    with hold(H200.uuid, tmp_path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert holder(H200.uuid, tmp_path) is None
    finally:
        _end(child)


def test_a_symbolic_link_as_lock_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / f"{H200.uuid}.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Conflict, match="cannot be locked"), hold(H200.uuid, tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_gpu_locks_are_per_machine(tmp_path: Path) -> None:
    one, other = Settings(data_dir=tmp_path / "a"), Settings(data_dir=tmp_path / "b")
    assert lock_folder(one) == lock_folder(other)
    assert not lock_folder(one).is_relative_to(tmp_path)
    assert lock_folder(Settings(lock_dir=tmp_path)) == tmp_path


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (ALL, [H200, SECOND, T4]),
        ("0", [H200]),
        ("2,0", [T4, H200]),
        ("1, 1", [SECOND]),
        (T4.uuid, [T4]),
        ("1+0, 2", [together([SECOND, H200]), T4]),
    ],
)
def test_gpus_are_named_by_number_or_uuid(wanted: str, found: list[object]) -> None:
    assert chosen_gpus(wanted, lambda: [H200, SECOND, T4]) == found


def test_joined_gpus_serve_a_board_of_their_own() -> None:
    (both,) = chosen_gpus("0+1", lambda: [H200, SECOND, T4])
    assert board_of(both) == "h200-x2"
    assert chosen_gpus(both.label, lambda: [H200, SECOND]) == [both]
    boards = ("h200-x2", "h200-x4", "h200", "rtx-4090", "emulated", "cpu")
    assert [board for board in boards if not takes(board, 2)] == ["h200", "rtx-4090"]
    assert [board for board in boards if not takes(board, 1)] == ["h200-x2", "h200-x4"]
    with pytest.raises(BadRequest, match="different models"):
        chosen_gpus("0+2", lambda: [H200, SECOND, T4])


@pytest.mark.parametrize("wanted", ["3", "-1", "h200", "GPU-"])
def test_an_unknown_gpu_is_refused_with_the_known_ones(wanted: str) -> None:
    with pytest.raises(BadRequest, match=re.escape(f"no GPU '{wanted}'")) as caught:
        chosen_gpus(wanted, lambda: [H200])
    assert H200.uuid in caught.value.hint


def test_the_error_without_gpus_has_a_hint() -> None:
    with pytest.raises(BoxUnavailable, match="No NVIDIA GPU") as caught:
        chosen_gpus(ALL, list)
    assert "nvidia-smi" in caught.value.hint


def test_a_shared_gpu_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-5b0c7f1c")
    with pytest.raises(BoxUnavailable, match="names a part of a GPU"):
        chosen_gpus(ALL, list)
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{H200.uuid}, [N/A]\\n{SECOND.uuid}, Enabled\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert chosen_gpus("0", lambda: [H200, SECOND]) == [H200]
    for wanted in (ALL, "1", "0+1"):
        with pytest.raises(BoxUnavailable, match=r"GPU 1 .* is divided by MIG"):
            chosen_gpus(wanted, lambda: [H200, SECOND])
    process = tmp_path / "proc" / "4711"
    process.mkdir(parents=True)
    (process / "comm").write_text("bash\n")
    assert not has_mps(tmp_path / "proc")
    (process / "comm").write_text("nvidia-cuda-mps\n")
    assert has_mps(tmp_path / "proc")
    monkeypatch.setattr("grader.queue.gpus.has_mps", lambda: True)
    with pytest.raises(BoxUnavailable, match="Multi-Process Service runs"):
        chosen_gpus("0", lambda: [H200])


@pytest.mark.parametrize(
    ("model", "board"),
    [
        ("NVIDIA H200", "h200"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("NVIDIA", "gpu"),
    ],
)
def test_a_board_is_named_after_the_model(model: str, board: str) -> None:
    assert board_name(model) == board
