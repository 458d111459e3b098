"""The images, built as by an operator without a registry: a base from Debian's archive, wheels from a folder."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST_IMAGES = "grader-test/"
# Label of every image of ours, even unnamed ones: Dockerfile and images/services.Dockerfile set it.
MARK = "org.opencontainers.image.vendor=kernel-grader"
# Part of a layer's cache key: with a new port each time nothing would come from the cache.
WHEEL_PORT = 18765
# A full build takes about three minutes on two cores; only a failure waits this long.
BUILD_SECONDS = 1500
VERSION, REVISION = "1.2.3", "0123abc"


@dataclass(frozen=True)
class Images:
    base: str = f"{TEST_IMAGES}base"
    server: str = f"{TEST_IMAGES}server"
    worker: str = f"{TEST_IMAGES}worker"
    box: str = f"{TEST_IMAGES}box"
    postgres: str = f"{TEST_IMAGES}postgres"
    redis: str = f"{TEST_IMAGES}redis"


def run(*command: str, given: str = "", **environment: str) -> str:
    """Returns the output of ``command``, whose input is ``given``. Fails with all of it."""
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "DOCKER_BUILDKIT": "0", **environment},
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_SECONDS,
    )
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout[-6000:]}\n{ran.stderr[-6000:]}"
    return ran.stdout


def exists(tag: str) -> bool:
    return bool(run("docker", "images", "--quiet", tag).strip())


def build_all(folder: Path) -> Images:
    """Build missing images; ``folder`` holds the wheels."""
    made = Images()
    with ThreadPoolExecutor() as beside:
        # Both wait for the network.
        wheels = beside.submit(run, sys.executable, "scripts/wheelhouse.py", str(folder))
        _make_base(made.base)
        services = beside.submit(_build_services, made)
        wheels.result()
        with _served(folder):
            # The classic builder makes one stage after the other. The worker's build finds the box's stage in
            # the cache, since it has the same lines.
            text = (ROOT / "Dockerfile").read_text()
            _build("base")
            box = beside.submit(_build, "box", text=_only(text, "base", "box"))
            _build("server", made.server)
            box.result()
            for target in ("worker", "box"):
                _build(target, getattr(made, target))
        services.result()
    return made


def _only(text: str, *stages: str) -> str:
    before, *all_of_it = re.split(r"^(?=FROM )", text, flags=re.MULTILINE)
    return before + "".join(stage for stage in all_of_it if stage.split(maxsplit=4)[3] in stages)


def _make_base(tag: str) -> None:
    if not exists(tag):
        run("scripts/base_image", tag)


def _build_services(made: Images) -> None:
    for target in ("postgres", "redis"):
        arguments = ("--build-arg", f"BASE={made.base}", "--target", target, "--tag", getattr(made, target))
        run("docker", "build", "--network", "host", *arguments, "-f", "images/services.Dockerfile", "images")


def _build(target: str, tag: str | None = None, text: str | None = None) -> None:
    """``text``: another Dockerfile than ours."""
    arguments = {
        "BASE": Images.base,
        "WHEELS": f"http://127.0.0.1:{WHEEL_PORT}",
        "TORCH": "2.13.0+cpu",
        "VERSION": VERSION,
        "REVISION": REVISION,
        # Compiles in half the time, and judges small challenges here.
        "CFLAGS": "-O1",
    }
    words = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
    words += ["--target", target, *(["--tag", tag] if tag else []), *(["--file", "-"] if text else [])]
    run("docker", "build", "--network", "host", *words, ".", given=text or "")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served(folder: Path) -> Iterator[None]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", WHEEL_PORT), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def remove_all() -> None:
    made = Images()
    tags = [tag for tag in vars(made).values() if exists(tag)]
    if tags:
        run("docker", "rmi", "--force", *tags)
    run("docker", "image", "prune", "--force", "--filter", f"label={MARK}")
