"""A Docker box's image: empty folders, over which the host's toolchain is bound read-only.

Box and host have the same compiler and Python. A box sees no home folder and no /etc; masks hide our package,
with references and hidden cases, wherever it is.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import shutil
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import grader
from grader.errors import BoxUnavailable
from grader.sandbox import kernel_headers
from grader.sandbox.docker_engine import Engine, engine
from grader.sandbox.gpu import driver_folders
from grader.sandbox.toolkit import cuda_home

REPOSITORY = "grader-host"
NOBODY = 65534

RUNNER_MOUNT = "/runner"
SOCKET_MOUNT = "/sock"
# The runner expects the emulator next to its own folder.
_OURS = Path(__file__).resolve().parent
PROGRAMS = {RUNNER_MOUNT: _OURS / "runner", "/emulator": _OURS / "emulator"}

BYTECODE_MOUNT = "/bytecode"

_TOP_FOLDERS = (
    "proc", "sys", "dev", "tmp", "etc", "var", "run", SOCKET_MOUNT[1:], BYTECODE_MOUNT[1:],
    *(mount[1:] for mount in PROGRAMS),
)  # fmt: skip
# Links into /usr on most systems.
_MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
HOST_PATH = "/usr/local/bin:/usr/bin:/bin"
# A box sees only its toolchain's part.
ADD_ONS = "/opt"
# The toolkit's bin/ncu looks for Nsight Compute here.
NSIGHT_COMPUTE = "/opt/nvidia/nsight-compute"
# The linker's cache and Debian's links to the chosen compiler.
_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
PASSWD = f"root:x:0:0::/:/usr/sbin/nologin\nnobody:x:{NOBODY}:{NOBODY}::/tmp:/usr/sbin/nologin\n"
GROUP = f"root:x:0:\nnogroup:x:{NOBODY}:\n"


@dataclass(frozen=True)
class HostLayout:
    """``masked``: hidden folders below ``bound`` ones."""

    bound: tuple[str, ...]
    masked: tuple[str, ...]

    def below(self, folder: str) -> list[str]:
        """Bound paths below ``folder``, relative to it, which its mask must keep reachable."""
        return [str(Path(path).relative_to(folder)) for path in self.bound if _is_below(path, folder)]


def _is_below(path: str, folder: str) -> bool:
    return path != folder and Path(path).is_relative_to(folder)


def _bound_paths() -> tuple[str, ...]:
    wanted = ["/usr", *_ETC, sys.prefix, sys.base_prefix]
    wanted += [str(Path(sys.prefix).resolve()), str(Path(sys.base_prefix).resolve())]
    # A virtual environment links to an interpreter elsewhere.
    wanted.append(str(Path(sys.executable).resolve().parent.parent))
    wanted += [
        f"/{name}" for name in _MERGED if Path(f"/{name}").is_dir() and not Path(f"/{name}").is_symlink()
    ]
    if cuda := cuda_home():
        wanted.append(str(cuda))
    wanted += [
        *driver_folders(),
        *_compiler_folders(),
        *_library_folders(),
        *kernel_headers.folders(),
        NSIGHT_COMPUTE,
    ]
    there = sorted({path for path in wanted if path != "/" and Path(path).exists()})
    return tuple(path for path in there if not any(_is_below(path, other) for other in there))


def _compiler_folders() -> list[str]:
    found = {shutil.which(name, path=HOST_PATH) for name in ("gcc", "g++", "cc", "c++")}
    prefixes = {Path(path).resolve().parent.parent for path in found if path}
    # A link into somebody's home must not expose the home.
    return [
        str(prefix)
        for prefix in prefixes
        if any((prefix / library / "gcc").is_dir() for library in ("lib", "lib64", "libexec"))
    ]


def _library_folders() -> list[str]:
    """Add-ons in ``LD_LIBRARY_PATH``, which boxes get too."""
    named = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [path for path in named if Path(path).is_dir() and _is_below(path, ADD_ONS)]


def _secret_folders() -> set[Path]:
    package = Path(grader.__file__).parent
    folders = {package, package.resolve(), Path(__file__).resolve().parent}
    checkout = package.resolve().parent
    if (checkout / "pyproject.toml").exists():
        folders.add(checkout)
    folders |= {
        Path(os.environ[name]) for name in ("GRADER_DATA_DIR", "GRADER_CHALLENGES") if os.environ.get(name)
    }
    for base in (os.environ.get("XDG_DATA_HOME"), str(Path.home() / ".local" / "share")):
        if base:
            folders.add(Path(base) / "grader")
    return folders | {folder.resolve() for folder in folders}


def _masked_paths(bound: tuple[str, ...]) -> tuple[str, ...]:
    found = _secret_folders()
    for path in bound:
        for pattern in ("lib*/python*/*-packages/grader", "local/lib*/python*/*-packages/grader"):
            found |= set(Path(path).glob(pattern))
    texts = {str(folder) for folder in found if folder.is_dir()}
    visible = {text for text in texts if any(_is_below(text, path) for path in bound)}
    # A mask hides everything below except bound folders, such as an environment in a checkout.
    return tuple(sorted(visible))


@functools.cache
def layout() -> HostLayout:
    bound = _bound_paths()
    return HostLayout(bound, _masked_paths(bound))


def _folders_of(paths: tuple[str, ...]) -> list[str]:
    """Mount points, parents first, without the leading slash."""
    folders = {*_TOP_FOLDERS}
    for text in paths:
        path = Path(text)
        folders |= {str(parent)[1:] for parent in path.parents if str(parent) != "/"}
        if path.is_dir():
            folders.add(text[1:])
    return sorted(folders)


def image_tar(what: HostLayout) -> bytes:
    """The only layer, reproducible to the byte."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for folder in _folders_of(what.bound):
            tar.addfile(_entry(folder, tarfile.DIRTYPE, 0o755))
        for name in _MERGED:
            if Path(f"/{name}").is_symlink():
                link = _entry(name, tarfile.SYMTYPE, 0o777)
                link.linkname = str(Path(f"/{name}").readlink())
                tar.addfile(link)
        files = {"etc/passwd": PASSWD, "etc/group": GROUP}
        files |= {path[1:]: "" for path in what.bound if Path(path).is_file()}
        for name, text in sorted(files.items()):
            entry = _entry(name, tarfile.REGTYPE, 0o644)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = kind, mode
    return entry


@functools.cache
def image_tag() -> str:
    return f"{REPOSITORY}:{hashlib.sha256(image_tar(layout())).hexdigest()[:12]}"


def has_image(using: Engine) -> bool:
    return using.has_image(image_tag())


def build_from_host() -> str:
    """Returns the tag. Raises BoxUnavailable if the engine refuses."""
    using = engine()
    repository, _, tag = image_tag().partition(":")
    using.import_image(image_tar(layout()), repository, tag)
    if not has_image(using):
        raise BoxUnavailable(f"the Docker engine imported the image {image_tag()} but does not list it")
    return image_tag()
