"""Ready-made GPU kernels on this host, which a CUDA submission must not use.

Libraries inside a source are not covered.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Beginnings of names, so libcublasLt and libnppif are included. torch has all of them.
NAMES = (
    "cublas cudnn cudss cufft curand cusolver cusparse cutensor custatevec nvblas nccl nvinfer nvjpeg nvtiff nvshmem "
    "npp cudf cuvs raft cutlass magma torch caffe2 c10 xla tensorflow onnxruntime arrayfire"
).split()
PATTERN = re.compile(rf"lib(?:{'|'.join(NAMES)}).*\.(?:so|a)(?:\.[0-9.]+)?")
SKIPPED = frozenset(("share", "include", "doc", "__pycache__", "man", "locale", "src"))


# Libraries that a challenge may allow one by one. The compiler leaves their symbols open, and the runner
# loads them before the submission.
@dataclass(frozen=True)
class Linked:
    header: str
    library: str
    #: Folders in ``site-packages/nvidia``.
    wheel: str
    #: For the error about a source that includes it without permission.
    title: str


LINKED = {"nccl": Linked("nccl.h", "libnccl.so.2", "nccl", "NCCL")}


def linked(allow: Iterable[str]) -> tuple[str, ...]:
    """Libraries to load for a challenge with this ``allow``."""
    return tuple(LINKED[name].library for name in allow if name in LINKED)


@functools.cache
def include_of(name: str) -> str:
    """The header's folder in NVIDIA's wheels; empty if the compiler must find it itself."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / LINKED[name].wheel / "include"
        if (path / LINKED[name].header).exists():
            return str(path)
    return ""


def hidden(folders: tuple[str, ...], shown: Iterable[str]) -> tuple[str, ...]:
    """Paths in ``found`` to hide from a box that sees ``shown``."""
    return not_shown(found(folders), shown)


def not_shown(paths: Iterable[str], shown: Iterable[str]) -> tuple[str, ...]:
    beginnings = tuple(LINKED[name].library.partition(".")[0] for name in shown if name in LINKED)
    return tuple(path for path in paths if not (beginnings and Path(path).name.startswith(beginnings)))


def is_one(name: str) -> bool:
    return PATTERN.fullmatch(name) is not None


@functools.cache
def found(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Paths below ``folders``, without links, because hiding a target hides them. Cached: it walks through
    100,000 files.
    """
    return tuple(sorted({path for folder in folders for path in _below(folder)}))


def _below(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            if is_one(name) and not (path := Path(parent, name)).is_symlink():
                yield str(path)
