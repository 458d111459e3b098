"""Runs the GPU's tests on a GPU host, with or without a network (`make test-gpu`). Needs Python and CUDA
only.

A `.bundle/` (`make bundle`) brings wheels, and a Docker Engine if none answers. Arguments go to pytest; a
script of this folder as the first one runs instead.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUNDLE = ROOT / ".bundle"
WORK = Path("/tmp/grader-gpu")  # noqa: S108 - a host without a home worth keeping
SOCKET = Path("/tmp/docker.sock")  # noqa: S108
START_SECONDS = 60.0
STOP_SECONDS = 20.0
ENGINE_FLAGS = ("--iptables=false", "--ip6tables=false", "--ip-masq=false", "--bridge=none")


def install_wheels() -> Path | None:
    """For PYTHONPATH; None without a bundle."""
    packed = BUNDLE / "wheels.tar.xz"
    if not packed.exists():
        return None
    site = WORK / "site"
    for earlier in (site, WORK / "wheels"):
        shutil.rmtree(earlier, ignore_errors=True)
    with tarfile.open(packed) as tar:
        tar.extractall(WORK, filter="data")
    wheels = list((WORK / "wheels").glob("*.whl"))
    subprocess.run(
        [
            sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile",
            "--no-cache-dir", "--disable-pip-version-check", "--root-user-action=ignore", "--target", str(site),
            *map(str, wheels),
        ],
        check=True,
    )  # fmt: skip
    return site


def answers(path: Path) -> bool:
    connection = http.client.HTTPConnection("docker", timeout=10)
    connection.sock = socket.socket(socket.AF_UNIX)
    try:
        connection.sock.connect(str(path))
        connection.request("GET", "/_ping")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def engine() -> Iterator[dict[str, str]]:
    """The environment of the host's engine, or of the bundle's, which ends here."""
    packed = BUNDLE / "docker.tar.xz"
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if answers(Path(host.removeprefix("unix://"))) or not packed.exists():
        yield {}
        return
    programs = WORK / "docker"
    programs.mkdir(parents=True, exist_ok=True)
    with tarfile.open(packed) as tar:
        tar.extractall(programs, filter="data")
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), str(programs)])),
    }
    process = start_engine(programs / "dockerd", environment)
    try:
        # Tests must not load the engine's libraries.
        yield {"DOCKER_HOST": f"unix://{SOCKET}", "PATH": environment["PATH"]}
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def start_engine(program: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Without a network. Copies if the file system takes no layers."""
    log = WORK / "dockerd.log"
    for storage in ([], ["--storage-driver=vfs"]):
        with log.open("ab") as output:
            process = subprocess.Popen(
                [
                    program, *ENGINE_FLAGS, *storage, "-H", f"unix://{SOCKET}", "--data-root", str(WORK / "images"),
                    "--exec-root", str(WORK / "run"), "--pidfile", str(WORK / "dockerd.pid"),
                ],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )  # fmt: skip
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            if answers(SOCKET):
                return process
            time.sleep(0.2)
        process.kill()
        process.wait()
    sys.exit(f"The Docker Engine did not start:\n{log.read_text(errors='replace')[-4000:]}")


def main() -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    site = install_wheels()
    paths = [str(site)] if site else []
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    with engine() as found:
        environment = {
            "GRADER_REQUIRE": "docker,gpu",
            # A foreign plugin's warning is an error here.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **os.environ,
            **found,
        }
        if paths:
            environment["PYTHONPATH"] = ":".join(paths)
        wanted = sys.argv[1:] or ["tests/gpu"]
        pytest = ["-m", "pytest", "-p", "pytest_timeout", "-q"]
        command = [sys.executable, *([] if wanted[0].startswith("scripts/") else pytest), *wanted]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
