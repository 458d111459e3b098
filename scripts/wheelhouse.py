"""Packages of the images. ``--pin`` writes ``images/*.txt`` from the installed and tested packages.

Otherwise it collects their wheels into a folder, for builds without a package index; run it with the base
image's Python (Debian 12: 3.11). See docs/deploying.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "images"
HEADER = "# Written by `scripts/wheelhouse.py --pin` from an environment that was tested.\n"
# The CPU's build has a tenth of the size.
TORCH = "2.13.0+cpu"
# Importable by submissions; the rest of ``judge`` talks to the engine.
IN_A_BOX = ("numpy", "torch", "triton")
# For the box that checks an uploaded challenge.
IN_A_CHECK = ("cachetools", "pydantic", "structlog")
# It demangles C++ names without binutils.
ALSO_CUDA = "nvidia-cuda-cuxxfilt"
# For redis on Python before 3.11.3, such as Debian 12's.
ALSO = "async-timeout>=4.0.3"


def wanted() -> dict[str, list[str]]:
    """What each file of pins is for.

    ``toolchain``: what untrusted code sees (the judge, too); ``platform``: the rest of web and worker;
    ``build``: for our own wheel.
    """
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = table["project"]
    extras = project["optional-dependencies"]
    in_a_box = [requirement for requirement in extras["judge"] if Requirement(requirement).name in IN_A_BOX]
    in_a_check = [
        dependency for dependency in project["dependencies"] if Requirement(dependency).name in IN_A_CHECK
    ]
    others = [requirement for requirement in extras["judge"] if requirement not in in_a_box]
    return {
        "toolchain": [*in_a_box, *in_a_check, *extras["cu13"], *extras["cuda"], ALSO_CUDA],
        "platform": [
            *project["dependencies"],
            *extras["server"],
            *extras["postgres"],
            *extras["pdf"],
            *extras["kubernetes"],
            *others,
            ALSO,
        ],
        # Headers alone, without the package's needs.
        "headers": [Requirement(line).name for line in extras["cutlass"]],
        "build": [
            *table["build-system"]["requires"],
            *(wheel for wheel in extras["wheels"] if wheel.startswith("ziglang")),
        ],
    }


def plain(name: str) -> str:
    """One for all spellings of a distribution."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(part: str) -> dict[str, str]:
    """By name."""
    lines = (IMAGES / f"{part}.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def _closure(names: list[str]) -> Iterator[Distribution]:
    """With all that they need."""
    waiting = [
        requirement
        for requirement in map(Requirement, names)
        if not requirement.marker or requirement.marker.evaluate()
    ]
    seen = set()
    while waiting:
        one = waiting.pop()
        for extra in ("", *one.extras):
            if (plain(one.name), extra) in seen:
                continue
            seen.add((plain(one.name), extra))
            try:
                found = distribution(one.name)
            except PackageNotFoundError:  # pinned by hand: the compiler's parts and the GPU's bindings
                continue
            yield found
            needs = [Requirement(text) for text in found.requires or []]
            waiting += [
                requirement
                for requirement in needs
                if not requirement.marker or requirement.marker.evaluate({"extra": extra})
            ]


def pin(part: str, requirements: list[str]) -> None:
    """Keeps lines of packages that are not installed here."""
    kept = {name: pin for name, pin in pins(part).items() if not _installed(name)}
    here = {
        plain(requirement.metadata["Name"]): requirement.version for requirement in _closure(requirements)
    }
    lines = (f"{name}=={pin}\n" for name, pin in sorted({**kept, **here}.items()) if name != "torch")
    (IMAGES / f"{part}.txt").write_text(HEADER + "".join(lines))


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def fetch(part: str, folder: Path, torch: str) -> None:
    """Builds wheels that the index has only as source."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [
        "--requirement",
        str(IMAGES / f"{part}.txt"),
        *([f"torch=={torch}"] if part == "toolchain" else []),
    ]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--wheel-dir", str(folder), *names], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the wheels go")
    parser.add_argument("--pin", action="store_true", help="write images/*.txt instead")
    parser.add_argument("--torch", default=TORCH, help=f"which build (default: {TORCH})")
    chosen = parser.parse_args()
    if not chosen.pin and chosen.folder is None:
        parser.error("name a folder for the wheels, or --pin")
    for part, requirements in wanted().items():
        if chosen.pin and part != "headers":
            pin(part, requirements)
        elif not chosen.pin:
            fetch(part, chosen.folder, chosen.torch)


if __name__ == "__main__":
    main()
