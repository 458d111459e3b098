"""Runs the figures of the GPU as `make test-gpu` runs its tests: with the bundle's packages and Docker Engine.

Usage: python3 benchmarks/gpu/run.py [repeatability] [trueness] [turnaround] [band] [options that each of them takes]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from test_gpu import ROOT, WORK, engine, install_wheels

ALL = ("repeatability", "trueness", "turnaround", "band")


def main() -> int:
    words = sys.argv[1:]
    names = [word for word in words if word in ALL] or list(ALL)
    options = [word for word in words if word not in ALL]
    WORK.mkdir(parents=True, exist_ok=True)
    site = install_wheels()
    paths = [str(ROOT), *([str(site)] if site else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    codes = []
    with engine() as found:
        environment = {**os.environ, **found, "PYTHONPATH": ":".join(paths), "PYTHONUNBUFFERED": "1"}
        for name in names:
            command = [sys.executable, str(ROOT / "benchmarks" / "gpu" / f"{name}.py"), *options]
            print("$", *command[1:], flush=True)
            codes.append(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
