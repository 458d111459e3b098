"""Packs the command line from the running installation as a wheel, without challenges: anybody may fetch it."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import grader

_DISTRIBUTION = "kernel-grader"
_WHEEL = "Wheel-Version: 1.0\nGenerator: grader\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
# Each process and host packs the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)
_PACKAGE = Path(grader.__file__).parent
_LINKED = ("sandbox", "web")
# Not for clients, or for one processor, or only in a checkout.
_LEFT_OUT = ("catalogue", "docs", "__pycache__", "built", "prebuilt", "client")


class ClientWheel(NamedTuple):
    name: str
    content: bytes


def client_wheel_name() -> str:
    """Raises PackageNotFoundError if grader is not installed."""
    return f"kernel_grader-{distribution(_DISTRIBUTION).version}-py3-none-any.whl"


@cache
def client_wheel() -> ClientWheel:
    """PyPA's binary distribution format 1.0. Raises as ``client_wheel_name``."""
    name = client_wheel_name()
    folder = name.removesuffix("-py3-none-any.whl") + ".dist-info"
    installed = distribution(_DISTRIBUTION)
    about = {
        "METADATA": installed.read_text("METADATA"),
        "entry_points.txt": installed.read_text("entry_points.txt"),
    }
    if not all(about.values()):
        raise PackageNotFoundError(_DISTRIBUTION)
    buffer, record = io.BytesIO(), []
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(path: str, data: bytes) -> None:
            info = zipfile.ZipInfo(path, _TIME)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")

        for path, file in sorted(_files()):
            add(path, file.read_bytes())
        for path, text in {**about, "WHEEL": _WHEEL}.items():
            add(f"{folder}/{path}", str(text).encode())
        add(f"{folder}/RECORD", "\n".join([*record, f"{folder}/RECORD,,", ""]).encode())
    return ClientWheel(name, buffer.getvalue())


def _files() -> Iterator[tuple[str, Path]]:
    yield from _below(_PACKAGE, "grader")
    for name in _LINKED:
        if not (_PACKAGE / name).is_dir() or (_PACKAGE / name).is_symlink():
            yield from _below(_PACKAGE.parent / name, f"grader/{name}")


def _below(top: Path, target: str) -> Iterator[tuple[str, Path]]:
    for folder, folders, files in os.walk(top):  # does not follow links
        folders[:] = [name for name in folders if name not in _LEFT_OUT and not name.startswith(".")]
        for name in files:
            file = Path(folder) / name
            linked = top == file.parent == _PACKAGE and name in _LINKED
            if not (linked or name.startswith(".") or file.suffix == ".pyc"):
                yield f"{target}/{file.relative_to(top).as_posix()}", file
