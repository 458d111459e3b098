"""A Docker engine for one test, which can be ended and restarted without harm to other boxes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.talk import within


class OwnEngine:
    """``folder`` must be short, for its socket's path."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0 or shutil.which("dockerd") is None:
            pytest.skip("only root can start an engine of its own, where there is one")
        self.folder = folder
        self.url = f"unix://{folder}/s"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["--data-root", f"{self.folder}/data", "--exec-root", f"{self.folder}/exec", "-H", self.url]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["dockerd", *words, "--pidfile", f"{self.folder}/pid", "--bridge=none", "--iptables=false"],
                stdout=log,
                stderr=log,
            )
        if not within(60, self._answers):
            said = (self.folder / "log").read_text()[-2000:]
            self.end()
            pytest.skip(f"no second engine starts here: {said}")

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as knocking:
            return knocking.connect_ex(f"{self.folder}/s") == 0

    def end(self) -> None:
        """End it with its containers, as a host's administrator would."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None
