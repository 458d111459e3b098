"""compose.yaml with our own images and free ports, used as a person would, by commands alone."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.images.made import ROOT, Images, run

# For the database with its tables, and for the web, on a busy machine.
UP_SECONDS = 300
PASSWORD = "correct horse battery"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Composed:
    """``folder`` holds the login; ``url`` is the published address."""

    def __init__(self, images: Images, folder: Path) -> None:
        self.images = images
        self.folder = folder
        self.project = f"grader-test-{os.getpid()}"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        # The engine's folder for sockets, short enough for their paths, and removed afterwards.
        self.boxes = Path(tempfile.mkdtemp(prefix="grader-boxes-"))
        self.environment = {
            "COMPOSE_PROJECT_NAME": self.project,
            "POSTGRES_PASSWORD": secrets.token_hex(16),
            "REDIS_PASSWORD": secrets.token_hex(16),
            "POSTGRES_IMAGE": images.postgres,
            "REDIS_IMAGE": images.redis,
            "WEB_IMAGE": images.server,
            "WORKER_IMAGE": images.worker,
            "BOX_IMAGE": images.box,
            "BOX_FOLDER": str(self.boxes),
            "WEB_PORT": str(self.port),
            "POSTGRES_PORT": str(free_port()),
            "REDIS_PORT": str(free_port()),
        }

    def compose(self, *words: str) -> str:
        return run("docker-compose", "--profile", "worker", *words, **self.environment)

    def start(self) -> None:
        self.compose("up", "--detach", "--no-build")
        made = self.compose("exec", "-T", "web", "grader", "user", "add", "ada", "--json")
        self.cli(
            "login",
            "--server",
            self.url,
            "--name",
            "ada",
            "--password-stdin",
            stdin=json.loads(made)["password"],
        )

    def stop(self) -> None:
        self.compose("down", "--volumes", "--timeout", "20")
        shutil.rmtree(self.boxes, ignore_errors=True)

    def container(self, service: str) -> dict[str, Any]:
        (number,) = self.compose("ps", "--quiet", service).split()
        return dict(json.loads(run("docker", "inspect", number))[0])

    def cli(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """The student's command line, from outside."""
        return subprocess.run(
            [sys.executable, "-m", "grader.cli.main", *words],
            cwd=ROOT,
            env={**os.environ, "XDG_CONFIG_HOME": str(self.folder)},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=UP_SECONDS,
        )

    def submit(self, file: Path) -> dict[str, Any]:
        ran = self.cli("submit", str(file), "--challenge", "vector_add", "--wait", "--json")
        assert ran.stdout, ran.stderr + self.compose("logs", "--no-color", "worker", "web")[-6000:]
        return dict(json.loads(ran.stdout))
