"""This host's libraries of ready-made GPU kernels, which a CUDA submission must not open instead of writing a kernel.

Libraries inside a source are not covered. The CUDA runtime, the driver and the compilers stay visible.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
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
