"""A device is served while a worker serves it, and if the settings name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import LanguageNotServed, UnknownDevice
from grader.languages import Language
from grader.records import workers
from grader.records.engine import writing
from grader.records.models import utcnow
from grader.service.accounts.accounts import User
from grader.service.boards.leaderboard import leaderboard
from grader.service.challenges.catalogue import get_challenge
from grader.service.devices import in_order, served_devices
from grader.service.operation.health import health
from grader.service.platform import Platform, open_platform
from grader.service.submissions.submit import submit
from tests.service.world import body, make_settings

pytestmark = pytest.mark.both_databases


def _start(platform: Platform, device: str, gpu: str | None = None) -> None:
    with writing(platform.sessions) as session:
        workers.register(session, f"worker of {device}", device, list(Language), utcnow(), gpu)


def test_a_live_gpu_worker_serves_its_board(platform: Platform, student: User) -> None:
    with pytest.raises(LanguageNotServed):
        submit(platform, student, body(filename="a.cu"))
    _start(platform, "cpu")
    _start(platform, "h200", "GPU-1")
    assert served_devices(platform) == ["h200", "cpu"]
    assert submit(platform, student, body(filename="a.cu")).device == "h200"
    assert submit(platform, student, body(filename="a.py")).device == "h200"
    assert submit(platform, student, body(filename="a.py", device="cpu")).device == "cpu"
    assert get_challenge(platform, "only_cuda").served == [Language.CUDA]
    board = leaderboard(platform, "scale")
    assert (board.device, board.devices, board.representative) == ("h200", ["h200", "cpu"], True)
    seen = health(platform)
    assert (seen.ok, seen.devices) == (True, ["h200", "cpu"])


def test_a_worker_that_left_or_lost_its_gpu_serves_nothing(platform: Platform, student: User) -> None:
    _start(platform, "h200", "GPU-1")
    _start(platform, "t4", "GPU-2")
    with writing(platform.sessions) as session:
        workers.leave(session, "worker of h200", utcnow())
        workers.take_out_of_service(session, "worker of t4", "GPU-2", "it is hot")
    assert served_devices(platform) == ["cpu"]
    with pytest.raises(UnknownDevice):
        submit(platform, student, body(filename="a.cu", device="t4"))
    with writing(platform.sessions) as session:
        workers.beat(session, "worker of t4", utcnow())
        assert [row.name for row in workers.out_of_service(session)] == ["worker of t4"]
    assert served_devices(platform) == ["cpu"]


def test_a_named_device_takes_submissions_without_a_worker(
    tmp_path: Path, redis_url: str, student: User
) -> None:
    platform = open_platform(make_settings(tmp_path, redis_url, devices="h200,cpu"))
    assert submit(platform, student, body(filename="a.cu")).device == "h200"
    assert not health(platform).ok
    platform.close()


@pytest.mark.parametrize(
    ("named", "alive", "expected"),
    [
        (["cpu"], [], ["cpu"]),
        (["cpu"], ["cpu", "t4", "t4"], ["t4", "cpu"]),
        (["cpu", "h200"], ["h200", "cpu"], ["cpu", "h200"]),
        (["h200"], ["cpu"], ["h200", "cpu"]),
        (["h200", "cpu"], ["t4"], ["h200", "t4", "cpu"]),
    ],
)
def test_devices_have_a_fixed_order(
    named: list[str], alive: list[str], expected: list[str], platform: Platform
) -> None:
    rows = [workers.WorkerRow(name=str(number), device=device) for number, device in enumerate(alive)]
    assert in_order(named, rows) == expected
