"""Small disks that can be filled: a tmpfs if we may mount one."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

MIB = 1024 * 1024


class SmallDisk:
    """``folder`` on its own disk, a tmpfs. Not ``real`` if we may not mount one, which takes root."""

    def __init__(self, folder: Path, mebibytes: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        options = f"size={mebibytes}m,mode=0755"
        command = ["mount", "-t", "tmpfs", "-o", options, "faults", str(folder)]
        self.real = subprocess.run(command, check=False, capture_output=True).returncode == 0
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        descriptor = os.open(self._ballast, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            with contextlib.suppress(OSError):
                while True:
                    os.write(descriptor, bytes(MIB))
            with contextlib.suppress(OSError):
                while True:
                    os.write(descriptor, bytes(512))
        finally:
            os.close(descriptor)

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        self.free()
        if self.real:
            subprocess.run(["umount", "-l", str(self.folder)], check=False, capture_output=True)
