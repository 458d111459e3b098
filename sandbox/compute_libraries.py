"""This host's libraries of ready-made GPU kernels, which a CUDA submission must not open instead of writing a kernel.

Libraries inside a source are not covered. The CUDA runtime, the driver and the compilers stay visible.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Linear algebra, transforms, random numbers, neural networks, image filters, communication, and torch, which has all.
# Beginnings of names, so libcublasLt and libnppif are included.
NAMES = (
    "cublas cudnn cudss cufft curand cusolver cusparse cutensor custatevec nvblas nccl nvinfer nvjpeg nvtiff nvshmem "
    "npp cudf cuvs raft cutlass magma torch caffe2 c10 xla tensorflow onnxruntime arrayfire"
).split()
PATTERN = re.compile(rf"lib(?:{'|'.join(NAMES)}).*\.(?:so|a)(?:\.[0-9.]+)?")
# Folders of many files, without libraries.
SKIPPED = frozenset(("share", "include", "doc", "__pycache__", "man", "locale", "src"))


# What a challenge may allow besides all of them: its header, its library, and the sentence for boards without it. The
# compiler leaves its symbols open, and the runner loads it before the submission.
@dataclass(frozen=True)
class Linked:
    header: str
    library: str
    #: Folders in ``site-packages/nvidia`` of the wheels that have them.
    wheel: str
    #: Of the sentence for a source that includes it where it is not.
    title: str


LINKED = {"nccl": Linked("nccl.h", "libnccl.so.2", "nccl", "NCCL")}


def linked(allow: Iterable[str]) -> tuple[str, ...]:
    """Names of the libraries to load for a challenge that allows these."""
    return tuple(LINKED[name].library for name in allow if name in LINKED)


@functools.cache
def include_of(name: str) -> str:
    """The folder with the header of a linked library on this host, from NVIDIA's wheels; empty: the compiler finds it
    itself, or there is none."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / LINKED[name].wheel / "include"
        if (path / LINKED[name].header).exists():
            return str(path)
    return ""


def hidden(folders: tuple[str, ...], shown: Iterable[str]) -> tuple[str, ...]:
    """Those of ``found`` to hide in a box that sees ``shown``."""
    return not_shown(found(folders), shown)


def not_shown(paths: Iterable[str], shown: Iterable[str]) -> tuple[str, ...]:
    beginnings = tuple(LINKED[name].library.partition(".")[0] for name in shown if name in LINKED)
    return tuple(path for path in paths if not (beginnings and Path(path).name.startswith(beginnings)))


def is_one(name: str) -> bool:
    return PATTERN.fullmatch(name) is not None


@functools.cache
def found(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Paths below ``folders``, without links: hiding the target hides them. Cached: it walks through a hundred thousand
    files."""
    return tuple(sorted({path for folder in folders for path in _below(folder)}))


def _below(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            if is_one(name) and not (path := Path(parent, name)).is_symlink():
                yield str(path)
