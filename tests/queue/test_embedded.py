from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from grader.errors import Conflict, Unreachable
from grader.queue.embedded import start_redis
from grader.settings import Settings
from grader.wakeups import WakeUps
from tests.service.world import remove, short_folder, until


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = short_folder()
    yield folder
    remove(folder)


def test_redis_uses_a_private_socket_and_saves_nothing(folder: Path) -> None:
    settings = Settings(data_dir=folder / "data", redis_url="")
    with start_redis(settings) as server:
        assert server.url == settings.queue_url
        mode = stat.S_IMODE(settings.redis_socket.stat().st_mode)
        client = Redis.from_url(server.url)
        client.set("a", "b")
        config = client.config_get()
        client.close()
        assert mode == 0o700
        assert (config["port"], config["save"], config["appendonly"]) == ("0", "", "no")
    assert server.process.returncode is not None
    assert list(settings.data_dir.iterdir()) == []
    server.close()


def test_a_second_redis_in_the_same_folder_is_refused(folder: Path) -> None:
    settings = Settings(data_dir=folder, redis_url="")
    with start_redis(settings):
        with pytest.raises(Conflict, match="Another platform"):
            start_redis(settings)
        assert WakeUps(settings.queue_url).ping()


def test_a_stale_socket_is_replaced(folder: Path) -> None:
    settings = Settings(data_dir=folder, redis_url="")
    first = start_redis(settings)
    first.process.kill()
    first.process.wait()
    assert settings.redis_socket.exists()
    with start_redis(settings) as server:
        assert WakeUps(server.url).ping()


def test_a_too_long_socket_path_is_explained(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="too long") as caught:
        start_redis(Settings(data_dir=tmp_path / ("x" * 100), redis_url=""))
    assert "GRADER_DATA_DIR" in caught.value.hint


def test_redis_dies_with_its_parent(folder: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from grader.queue.embedded import start_redis\n"
        "from grader.settings import Settings\n"
        "server = start_redis(Settings(data_dir=Path(sys.argv[1]), redis_url=''))\n"
        "print(server.process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until(lambda: not _runs(pid), "Redis ended", 10.0)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
