"""Launch limits of sm_90."""

from __future__ import annotations

from collections.abc import Sequence

from .lower import Lowered
from .names import MOST_CLUSTER, MOST_SHARED

MOST_THREADS = 1024  # of a block
MOST_COOPERATIVE = 132 * 32
MOST_GRID = (2**31 - 1, 65535, 65535)


class LaunchRefused(ValueError):
    """``name``: CUDA's error, such as cudaErrorInvalidValue."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def check_shape(lowered: Lowered, grid: Sequence[int], block: Sequence[int], shared: int) -> None:
    threads = block[0] * block[1] * block[2]
    if (
        min(*grid, *block) < 1
        or threads > MOST_THREADS
        or block[2] > 64
        or any(size > most for size, most in zip(grid, MOST_GRID, strict=True))
    ):
        raise LaunchRefused(
            "cudaErrorInvalidValue",
            f"a grid of {tuple(grid)} blocks of {tuple(block)} threads: a grid has 1 to 2,147,483,647 blocks along x "
            "and 1 to 65,535 along y and z; a block has 1 to 1,024 threads, at most 64 along z",
        )
    if lowered.max_threads and threads > lowered.max_threads:
        raise LaunchRefused(
            "cudaErrorInvalidValue",
            f"a block has {threads} threads, but __launch_bounds__ allows {lowered.max_threads}",
        )
    if lowered.shared_bytes + shared > MOST_SHARED:
        raise LaunchRefused(
            "cudaErrorInvalidValue",
            f"a block asks for {lowered.shared_bytes + shared} bytes of shared memory, and may have {MOST_SHARED}",
        )


def cluster_of(lowered: Lowered, grid: Sequence[int], asked: Sequence[int]) -> tuple[int, int, int]:
    """Raises LaunchRefused."""
    compiled = lowered.cluster
    x, y, z = compiled if not any(asked) else (max(size, 1) for size in asked)
    if compiled != (1, 1, 1) and (x, y, z) != compiled:
        raise LaunchRefused(
            "cudaErrorInvalidClusterSize", f"the kernel was compiled for clusters of {compiled} blocks"
        )
    if x * y * z > MOST_CLUSTER or any(size % of for size, of in zip(grid, (x, y, z), strict=True)):
        raise LaunchRefused(
            "cudaErrorInvalidClusterSize",
            f"a cluster of {(x, y, z)} blocks: a cluster has at most {MOST_CLUSTER} blocks, and a grid, here "
            f"{tuple(grid)}, must be a whole number of clusters",
        )
    return x, y, z
