"""The engine's own rounding and functions, which need neither the processor's modes nor the C library's."""

from __future__ import annotations

import subprocess
from pathlib import Path


def test_directed_rounding_is_the_processors_and_functions_are_within_their_errors(tmp_path: Path) -> None:
    """On 200,000 random and edge operands for each operation and mode, bit for bit."""
    program = tmp_path / "rounding"
    source = Path(__file__).with_name("rounding.c")
    flags = ["-O2", "-frounding-math", "-ffp-contract=off"]
    subprocess.run(["cc", *flags, "-o", program, source, "-lm"], check=True)
    ran = subprocess.run([program, "200000"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
