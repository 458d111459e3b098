"""The kind of boxes is a setting of the worker, wherever the setting comes from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from grader.queue import calibrate, worker
from grader.sandbox import choose, docker_box
from grader.sandbox.gpu import Gpu
from grader.sandbox.options import SandboxOptions
from grader.settings import Settings

CHOSEN = SandboxOptions(runtime="runsc", gpu_access="cdi", image="course/box")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """As in a container whose engine puts settings into files, see ``settings.SECRETS``."""
    for name, value in (("runtime", "runsc"), ("gpu_access", "cdi"), ("box_image", "course/box")):
        (tmp_path / f"grader_{name}").write_text(value)
    return Settings(_secrets_dir=tmp_path, box="docker")  # type: ignore[call-arg]


def test_settings_from_files_reach_docker_boxes(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[SandboxOptions] = []
    monkeypatch.setattr(docker_box, "DockerBoxes", made.append)
    worker._boxes(settings)
    assert made == [CHOSEN]


@pytest.mark.parametrize("gpu", [None, Gpu(0, "GPU-1", (), "NVIDIA H200")])
def test_settings_from_files_reach_the_judge(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, gpu: Gpu | None
) -> None:
    judges = [worker._judge(settings, gpu)]
    if gpu is not None:
        judges.append(calibrate._judge(settings, gpu))
    for judge in judges:
        assert SandboxOptions.of_json(judge._arguments[-1]) == CHOSEN  # type: ignore[attr-defined]
    assert judges[0]._arguments[-2] == str(settings.data_dir)  # type: ignore[attr-defined]


def test_the_judge_process_uses_the_sandbox_options(monkeypatch: pytest.MonkeyPatch) -> None:
    from grader.judge import child

    asked: list[Any] = []

    def refuse(kind: str, options: SandboxOptions) -> None:
        asked.append((kind, options))
        raise SystemExit

    monkeypatch.setattr(child, "make_boxes", refuse)
    monkeypatch.setattr(child.processor, "take", lambda _: None)
    with pytest.raises(SystemExit):
        child.JudgeServer(None, "docker", 0, "cpu", 0, CHOSEN)  # type: ignore[arg-type]
    assert asked == [("docker", CHOSEN)]


def test_no_sandbox_module_reads_settings() -> None:
    names = re.compile(r"environ.*(RUNTIME|GPU_ACCESS|BOX_IMAGE)")
    files = [*Path(choose.__file__).parent.glob("*.py")]
    assert len(files) > 20
    assert not [file.name for file in files if names.search(file.read_text())]
