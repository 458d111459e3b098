"""Libraries of ready-made GPU kernels on this host: what a CUDA submission must not open instead of writing a kernel.

A library that a source brings along in itself is not among them, and none is hidden that a kernel is made or started
with: the CUDA runtime, the driver, the compilers.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

# Linear algebra, transforms, random numbers, neural networks, image filters, communication; torch, which has them all.
# Each is the beginning of a name: libcublasLt and libnppif are meant as well.
NAMES = (
    "cublas cudnn cudss cufft curand cusolver cusparse cutensor custatevec nvblas nccl nvinfer nvjpeg nvtiff nvshmem "
    "npp cudf cuvs raft cutlass magma torch caffe2 c10 xla tensorflow onnxruntime arrayfire"
).split()
PATTERN = re.compile(rf"lib(?:{'|'.join(NAMES)}).*\.(?:so|a)(?:\.[0-9.]+)?")
# Folders without libraries and with many files.
SKIPPED = frozenset(("share", "include", "doc", "__pycache__", "man", "locale", "src"))


def is_one(name: str) -> bool:
    """Whether a file of this name is such a library, shared or static."""
    return PATTERN.fullmatch(name) is not None


@functools.cache
def found(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Paths below ``folders`` of such libraries, without links (who hides what they lead to hides them). Looked up
    once: it is a walk through a hundred thousand files."""
    return tuple(sorted({path for folder in folders for path in _below(folder)}))


def _below(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in names:
            if is_one(name) and not (path := Path(parent, name)).is_symlink():
                yield str(path)
