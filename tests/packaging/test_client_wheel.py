"""The client that a server offers: built from the running installation, and really installed by pip."""

from __future__ import annotations

import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

from grader.client_wheel import client_wheel
from tests.packaging.test_wheel import build, install

ROOT = Path(__file__).resolve().parents[2]


def test_a_servers_client_installs_and_has_no_secrets(tmp_path: Path) -> None:
    made = client_wheel()
    wheel = tmp_path / made.name
    wheel.write_bytes(made.content)
    venv.create(tmp_path / "venv", symlinks=True)
    install(tmp_path / "venv" / "bin" / "python", wheel)
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
    assert made.name.split("-")[1] in ran.stdout
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith((".toml", ".so", ".pyc")) or "solution" in name] == []


def test_the_servers_client_has_the_files_of_a_built_wheel(tmp_path: Path) -> None:
    with zipfile.ZipFile(build(ROOT, tmp_path / "out", "--wheel")) as archive:
        built = set(archive.namelist())
    (tmp_path / "ours.whl").write_bytes(client_wheel().content)
    ours = set(zipfile.ZipFile(tmp_path / "ours.whl").namelist())
    left_out = ("grader/catalogue/", "grader/manual/docs/", "grader/web/static/built/")
    assert {
        name for name in built - ours if not name.startswith(left_out) and "/licenses/" not in name
    } == set()
    assert ours - built == set()
