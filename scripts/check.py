"""`make check`: what a change most often forgets, in two minutes. Runs every tool and names all findings."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
EMULATOR = ROOT / "sandbox" / "emulator"
C_FILES = sorted(str(path.relative_to(ROOT)) for path in EMULATOR.glob("*/*.[ch]"))
RUNNER = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "sandbox" / "runner").glob("*.py"))
TESTS = [
    "tests/test_structure.py",
    "tests/docs",
    "tests/cli/test_registry.py",
    "tests/web/test_openapi.py",
    "tests/web/security/test_access.py",
]
# Name -> command, and the remedy.
STEPS = {
    "types": ([BIN / "mypy"], ""),
    "tests": ([BIN / "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *TESTS], ""),
    "format": ([BIN / "ruff", "format", "--check", "."], "make format"),
    "format of C": ([BIN / "clang-format", "--dry-run", "-Werror", *C_FILES], "make format"),
    "lint": ([BIN / "ruff", "check", "--output-format=concise", "."], "make format repairs some"),
    "types of the runner": (
        ["env", "MYPYPATH=sandbox/runner", BIN / "mypy", "--explicit-package-bases", *RUNNER],
        "",
    ),
    "layers": ([BIN / "lint-imports"], ""),
    "reference": ([BIN / "python", "scripts/reference.py", "--check"], "make reference"),
}


def main() -> int:
    failed = []
    with ThreadPoolExecutor(2) as pool:
        for name, repair, code, seconds, output in pool.map(_run, STEPS):
            print(f"{'ok' if code == 0 else 'FAILED':<8}{name} ({seconds:.0f} s)", flush=True)
            if code:
                failed.append(name)
                print(output.strip())
                if repair:
                    print(f"Repair: {repair}")
    if failed:
        print(f"\n{len(failed)} of {len(STEPS)} checks failed: {', '.join(failed)}")
    return int(bool(failed))


def _run(name: str) -> tuple[str, str, int, float, str]:
    command, repair = STEPS[name]
    began = time.monotonic()
    ran = subprocess.run(
        [str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return name, repair, ran.returncode, time.monotonic() - began, ran.stdout + ran.stderr


if __name__ == "__main__":
    sys.exit(main())
