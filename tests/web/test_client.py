"""pip installs the command line from the address on the page, over HTTP."""

from __future__ import annotations

import re
import subprocess
import sysconfig
import threading
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from grader.client_wheel import client_wheel
from grader.service.platform import open_platform
from grader.web.app import create_app
from tests.packaging.test_wheel import install
from tests.web import builders


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    platform = open_platform(builders.make_settings(tmp_path / "data"))
    server = make_server("127.0.0.1", 0, create_app(platform), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()
    platform.close()


def test_pip_installs_the_client_from_the_servers_page(address: str, tmp_path: Path) -> None:
    from urllib.request import urlopen

    page = urlopen(address).read().decode()
    found = re.search(rf"pip install ({address}/client/[\w.-]+\.whl)<", page)
    assert found, "the first page shows the command"
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    install(python, found[1])
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (site / "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    ran = subprocess.run(
        [str(tmp_path / "venv" / "bin" / "grader"), "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert found[1].split("-")[1] in ran.stdout


def test_the_client_has_no_secrets(tmp_path: Path) -> None:
    (tmp_path / "client.whl").write_bytes(client_wheel().content)
    with zipfile.ZipFile(tmp_path / "client.whl") as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith((".toml", ".so", ".pyc")) or "solution" in name] == []


def test_an_older_wheel_name_redirects_to_the_current_one(tmp_path: Path) -> None:
    platform = open_platform(builders.make_settings(tmp_path))
    browser = create_app(platform).test_client()
    answer = browser.get("/client/kernel_grader-0.0.1-py3-none-any.whl")
    assert answer.status_code == 404
    present = re.search(r"pip install http://localhost(/client/[\w.-]+\.whl)", answer.text)
    assert present, "the error names the present one"
    first = browser.get(present[1])
    again = browser.get(present[1], headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    platform.close()
