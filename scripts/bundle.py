"""Collects what a GPU host without a network lacks into `.bundle/` (`make bundle`), under 48 MiB in total.

.bundle/wheels.tar.xz     imports of the platform and its tests, for the host's Python
    .bundle/docker.tar.xz     Docker Engine from Debian's packages: dockerd, containerd, its shim, runc

Needs pip with a package index, apt-get and dpkg-deb. `scripts/test_gpu.py` uses it.
"""

from __future__ import annotations

import argparse
import importlib.metadata as metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
BUNDLE = ROOT / ".bundle"
# With the working tree, 64 MiB.
MOST_BYTES = 48 << 20

WANTED = ("kernel-grader[server,judge]", "pytest", "pytest-timeout")
# Built for the host's driver and GPU. Their own needs are not collected either.
ON_THE_HOST = {"torch", "triton", "numpy", "cuda-bindings", "nvidia-ml-py", "pip", "setuptools"}
# The wheels need glibc 2.28 at most; pip wants every version by name.
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 24, 17, 12, 5)] + ["manylinux2014_x86_64"]

DEBIAN = ("docker.io", "containerd", "runc", "libdevmapper1.02.1")
PROGRAMS = ("dockerd", "containerd", "containerd-shim-runc-v2", "runc")
LIBRARIES = ("libdevmapper.so.1.02.1",)


def our_own(extras: Iterable[str]) -> Iterator[Requirement]:
    """From the manifest, because an installed package may list an earlier version's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    texts = [*project["dependencies"], *(text for extra in extras for text in optional.get(extra, []))]
    return (Requirement(text) for text in texts)


def pins(python: str) -> list[str]:
    """``name==version`` of everything that ``WANTED`` needs on Linux."""
    environment = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    found: dict[str, str] = {}
    waiting = [Requirement(text) for text in WANTED]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in ON_THE_HOST or (name, frozenset(wanted.extras)) in seen:
            continue
        seen.add((name, frozenset(wanted.extras)))
        extras = wanted.extras or {""}
        if name == "kernel-grader":
            waiting += our_own(extras)
            continue
        installed = metadata.distribution(name)
        found[name] = installed.version
        for text in installed.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(
                needed.marker.evaluate({**environment, "extra": extra}) for extra in extras
            ):
                waiting.append(needed)
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def collect_wheels(folder: Path, python: str) -> None:
    folder.mkdir(parents=True)
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    subprocess.run(
        [
            sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *platforms,
            "--dest", str(folder), *pins(python),
        ],
        check=True,
    )  # fmt: skip


def pack_wheels(folder: Path, target: Path) -> int:
    """Returns their number. Uncompressed wheels in one xz archive take little more than half the space."""
    wheels = sorted(folder.glob("*.whl"))
    for wheel in wheels:
        loose = wheel.with_suffix(".loose")
        with zipfile.ZipFile(wheel) as packed, zipfile.ZipFile(loose, "w") as made:
            for entry in packed.infolist():
                made.writestr(entry, packed.read(entry), compress_type=zipfile.ZIP_STORED)
        loose.replace(wheel)
    plain = target.with_suffix("")
    with tarfile.open(plain, "w") as tar:
        for wheel in wheels:
            tar.add(wheel, arcname=f"wheels/{wheel.name}")
    _compress(plain)
    return len(wheels)


def _compress(file: Path) -> None:
    """By the program, which uses all cores."""
    subprocess.run(["xz", "-9", "--force", "--threads=0", file], check=True)


def collect_docker(target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="grader-bundle-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # apt downloads as another user
        subprocess.run(["apt-get", "download", "--quiet", *DEBIAN], cwd=folder, check=True)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, folder / "root"], check=True)
        files = {
            path.name: path
            for path in (folder / "root").rglob("*")
            if path.is_file() and not path.is_symlink()
        }
        plain = folder / "docker.tar"
        with tarfile.open(plain, "w") as tar:
            for wanted in (*PROGRAMS, *LIBRARIES):
                tar.add(files[wanted], arcname=wanted)
        _compress(plain)
        shutil.move(f"{plain}.xz", target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--python", default="3.12", help="the GPU host's Python (default %(default)s)")
    parser.add_argument("--no-docker", action="store_true", help="the host has an engine: leave it out")
    arguments = parser.parse_args()
    docker = BUNDLE / "docker.tar.xz"
    BUNDLE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="grader-bundle-") as name:
        collect_wheels(Path(name) / "wheels", arguments.python)
        wheels = pack_wheels(Path(name) / "wheels", BUNDLE / "wheels.tar.xz")
    if arguments.no_docker:
        docker.unlink(missing_ok=True)
    elif not docker.exists():  # takes half a minute, and changes only with Debian's packages
        collect_docker(docker)
    total = sum(path.stat().st_size for path in BUNDLE.rglob("*") if path.is_file())
    print(f"{BUNDLE}: {wheels} wheels, {total / 2**20:.1f} MiB in all")
    if total > MOST_BYTES:
        sys.exit(f"The bundle is larger than {MOST_BYTES >> 20} MiB.")


if __name__ == "__main__":
    os.umask(0o022)
    main()
